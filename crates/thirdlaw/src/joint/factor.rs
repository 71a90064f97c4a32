//! Sparse block LDLᵀ of the system of bodies and joints (Baraff96)
//!
//!   ( M   Jᵀ ) (  δv )   (  0 )
//!   ( J  −Γ  ) ( −δz ) = ( −w )
//!
//! which gives the impulses δz that take the defects w away, and what they do to the velocities. The
//! pivots of bodies are positive definite, those of joints negative definite, so no exchange of rows is
//! needed for any order in which a joint follows a body of its.
//!
//! Loops may hold the same motion twice. Such a row has no pivot left when its turn comes: what the
//! bodies gave it (their sum is kept in `scale`) has been taken away again by the rows before it. It
//! then carries no impulse, and the rows before it carry all. On a tree nothing is ever taken away, so
//! that no mass ratio is mistaken for redundancy.

use super::order::Order;

/// Part of what bodies gave to a row that must be left for a pivot.
const RANK: f64 = 1e-9;

/// The numbers of a factorization, and working memory.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    /// All blocks, placed by the order. Blocks below become L D⁻¹ … by `factor`.
    pub values: Vec<f64>,
    /// Inverse pivots.
    inverse: Vec<f64>,
    /// Sum of what bodies gave to each diagonal entry of a link.
    pub scale: Vec<f64>,
    column: Vec<f64>,
    /// Right side, then solution.
    pub vector: Vec<f64>,
    /// Multiplications made since it was reset.
    pub work: u64,
    /// Rows found redundant in the last factorization.
    pub redundant: u32,
}

impl Factor {
    /// Makes all blocks zero.
    pub fn clear(&mut self, order: &Order) {
        self.values.clear();
        self.values.resize(order.numbers, 0.0);
        self.scale.clear();
        self.scale.resize(order.scalars, 0.0);
        self.inverse.clear();
        self.inverse.resize(order.scalars, 0.0);
        self.vector.clear();
        self.vector.resize(order.scalars, 0.0);
    }

    /// Factors the blocks; `is_link` tells which vertices have negative pivots.
    pub fn factor(&mut self, order: &Order, is_link: impl Fn(u32) -> bool) {
        self.redundant = 0;
        for &v in &order.sequence {
            let link = is_link(v);
            self.factor_diagonal(order, v, link);
            self.eliminate(order, v, link, &is_link);
        }
    }

    /// D = L Δ Lᵀ in place (unit lower triangle; Δ in `inverse`, as its inverse with sign).
    fn factor_diagonal(&mut self, order: &Order, v: u32, link: bool) {
        let n = order.size[v as usize] as usize;
        let at = order.diagonal[v as usize] as usize;
        let start = order.start[v as usize] as usize;
        let d = &mut self.values[at..at + n * n];
        let sign = if link { -1.0 } else { 1.0 };
        for k in 0..n {
            let mut pivot = d[k * n + k];
            for j in 0..k {
                if self.inverse[start + j] != 0.0 {
                    pivot -= d[k * n + j] * d[k * n + j] / self.inverse[start + j];
                }
            }
            let enough = if link { RANK * self.scale[start + k] } else { 0.0 };
            // a NaN is no pivot either
            if sign * pivot <= enough || pivot.is_nan() {
                self.redundant += u32::from(link && self.scale[start + k] > 0.0);
                self.inverse[start + k] = 0.0;
                for i in k + 1..n {
                    d[i * n + k] = 0.0;
                }
                continue;
            }
            self.inverse[start + k] = 1.0 / pivot;
            for i in k + 1..n {
                let mut x = d[i * n + k];
                for j in 0..k {
                    if self.inverse[start + j] != 0.0 {
                        x -= d[i * n + j] * d[k * n + j] / self.inverse[start + j];
                    }
                }
                d[i * n + k] = x / pivot;
            }
        }
        self.work += (n * n * n / 3 + n) as u64;
    }

    /// Takes a vertex out of those after it: A_ij −= B_i D⁻¹ B_jᵀ; B_i becomes B_i D⁻¹.
    fn eliminate(&mut self, order: &Order, v: u32, link: bool, is_link: &impl Fn(u32) -> bool) {
        let n = order.size[v as usize] as usize;
        let at = order.diagonal[v as usize] as usize;
        let start = order.start[v as usize] as usize;
        let (first, count) = order.range[v as usize];
        let entries = &order.below[first as usize..][..count as usize];
        let mut target = order.target_start[v as usize] as usize;
        for (i, &(later, place)) in entries.iter().enumerate() {
            let rows = order.size[later as usize] as usize;
            // X = B_i D⁻¹
            self.column.clear();
            self.column.extend_from_slice(&self.values[place as usize..][..rows * n]);
            for row in self.column.chunks_exact_mut(n) {
                solve_block(&self.values[at..at + n * n], &self.inverse[start..start + n], row);
            }
            self.work += (rows * n * n) as u64;
            for &(earlier, other) in &entries[..=i] {
                let columns = order.size[earlier as usize] as usize;
                let into = order.targets[target] as usize;
                target += 1;
                // entries before i already hold X; D times that is B again, so both are kept apart:
                // A −= B_i · X_jᵀ for j < i, and A_ii −= X_i · B_iᵀ
                let same = other == place;
                for r in 0..rows {
                    for c in 0..columns {
                        let mut sum = 0.0;
                        let (left, right) = (
                            &self.values[place as usize + r * n..][..n],
                            if same {
                                &self.column[c * n..][..n]
                            } else {
                                &self.values[other as usize + c * n..][..n]
                            },
                        );
                        for k in 0..n {
                            sum += left[k] * right[k];
                        }
                        self.values[into + r * columns + c] -= sum;
                        if same && r == c && !link && is_link(later) {
                            self.scale[order.start[later as usize] as usize + r] += sum;
                        }
                    }
                }
                self.work += (rows * columns * n) as u64;
            }
            self.values[place as usize..][..rows * n].copy_from_slice(&self.column);
        }
    }

    /// Solves for the right side in `vector`, in place.
    pub fn solve(&mut self, order: &Order) {
        for &v in &order.sequence {
            let n = order.size[v as usize] as usize;
            let start = order.start[v as usize] as usize;
            let (first, count) = order.range[v as usize];
            for &(later, place) in &order.below[first as usize..][..count as usize] {
                let rows = order.size[later as usize] as usize;
                let into = order.start[later as usize] as usize;
                for r in 0..rows {
                    let mut sum = 0.0;
                    for k in 0..n {
                        sum += self.values[place as usize + r * n + k] * self.vector[start + k];
                    }
                    self.vector[into + r] -= sum;
                }
                self.work += (rows * n) as u64;
            }
        }
        for &v in order.sequence.iter().rev() {
            let n = order.size[v as usize] as usize;
            let start = order.start[v as usize] as usize;
            let at = order.diagonal[v as usize] as usize;
            let x = &mut self.vector[start..start + n];
            solve_block(&self.values[at..at + n * n], &self.inverse[start..start + n], x);
            self.work += (n * n) as u64;
            let (first, count) = order.range[v as usize];
            for &(later, place) in &order.below[first as usize..][..count as usize] {
                let rows = order.size[later as usize] as usize;
                let from = order.start[later as usize] as usize;
                for r in 0..rows {
                    let y = self.vector[from + r];
                    for k in 0..n {
                        self.vector[start + k] -= self.values[place as usize + r * n + k] * y;
                    }
                }
                self.work += (rows * n) as u64;
            }
        }
    }
}

/// x ← D⁻¹x with D = L Δ Lᵀ; rows without a pivot give 0.
fn solve_block(d: &[f64], inverse: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let mut sum = x[i];
        for j in 0..i {
            sum -= d[i * n + j] * x[j];
        }
        x[i] = sum;
    }
    for i in 0..n {
        x[i] *= inverse[i];
    }
    for i in (0..n).rev() {
        let mut sum = x[i];
        for j in i + 1..n {
            sum -= d[j * n + i] * x[j];
        }
        x[i] = if inverse[i] == 0.0 { 0.0 } else { sum };
    }
}
