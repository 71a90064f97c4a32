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
    product: Vec<f64>,
    touched: Vec<(u32, u32)>,
    /// Right side, then solution.
    pub vector: Vec<f64>,
    /// Multiplications made since it was reset.
    pub work: u64,
    /// Rows found redundant in the last factorization.
    pub redundant: u32,
    /// Whether all rows give way, so that none is redundant.
    pub gives_way: bool,
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
        let inverse = &mut self.inverse[start..start + n];
        let (taken, pivots) = (&mut self.column, &mut self.product);
        pivots.clear();
        let sign = if link { -1.0 } else { 1.0 };
        for k in 0..n {
            // row k of L Δ
            taken.clear();
            taken.extend(d[k * n..k * n + k].iter().zip(pivots.iter()).map(|(l, p)| l * p));
            let pivot = d[k * n + k] - dot(&d[k * n..k * n + k], taken);
            let wants = link && !self.gives_way;
            let enough = if wants { RANK * self.scale[start + k] } else { 0.0 };
            // a NaN is no pivot either
            if sign * pivot <= enough || pivot.is_nan() {
                self.redundant += u32::from(link && self.scale[start + k] > 0.0);
                inverse[k] = 0.0;
                pivots.push(0.0);
                for i in k + 1..n {
                    d[i * n + k] = 0.0;
                }
                continue;
            }
            inverse[k] = 1.0 / pivot;
            pivots.push(pivot);
            for i in k + 1..n {
                let row = &mut d[i * n..i * n + k + 1];
                row[k] = (row[k] - dot(&row[..k], taken)) * inverse[k];
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
            let diagonal = &self.values[at..at + n * n];
            solve_rows(diagonal, &self.inverse[start..start + n], &mut self.column);
            self.work += (rows * n * n) as u64;
            for &(earlier, other) in &entries[..=i] {
                let columns = order.size[earlier as usize] as usize;
                let into = order.targets[target] as usize;
                target += 1;
                // entries before i already hold X; D times that is B again, so both are kept apart:
                // A −= B_i · X_jᵀ for j < i, and A_ii −= X_i · B_iᵀ
                let same = other == place;
                self.product.clear();
                self.product.resize(rows * columns, 0.0);
                let right = if same {
                    &self.column[..]
                } else {
                    &self.values[other as usize..][..columns * n]
                };
                let left = &self.values[place as usize..][..rows * n];
                multiply(left, right, n, &mut self.product);
                let into = &mut self.values[into..into + rows * columns];
                into.iter_mut().zip(&self.product).for_each(|(x, sum)| *x -= sum);
                if same && !link && is_link(later) {
                    let scale = &mut self.scale[order.start[later as usize] as usize..][..rows];
                    let squares = self.product.iter().step_by(columns + 1);
                    scale.iter_mut().zip(squares).for_each(|(x, sum)| *x += sum);
                }
                self.work += (rows * columns * n) as u64;
            }
            self.values[place as usize..][..rows * n].copy_from_slice(&self.column);
        }
    }

    /// x ← L⁻¹x; `touched` become the vertices at which it is not zero.
    pub fn forward(&self, order: &Order, x: &mut [f64], touched: &mut Vec<(u32, u32)>) -> u64 {
        touched.clear();
        let mut work = 0;
        for &v in &order.sequence {
            let n = order.size[v as usize] as usize;
            let start = order.start[v as usize] as usize;
            // what is zero pushes nothing on: a load on one body goes only its way to the root
            if x[start..start + n].iter().all(|&x| x == 0.0) {
                continue;
            }
            touched.push((v, n as u32));
            let (first, count) = order.range[v as usize];
            for &(later, place) in &order.below[first as usize..][..count as usize] {
                let rows = order.size[later as usize] as usize;
                let into = order.start[later as usize] as usize;
                let block = &self.values[place as usize..][..rows * n];
                let (x, y) = two(x, (start, n), (into, rows));
                subtract(block, x, y);
                work += rows * n;
            }
        }
        work as u64
    }

    /// x ← D⁻¹x at the vertices touched, which become (start, length).
    pub fn divide(&self, order: &Order, x: &mut [f64], touched: &mut [(u32, u32)]) {
        for touched in touched {
            let (v, n) = (touched.0 as usize, touched.1 as usize);
            let (start, at) = (order.start[v] as usize, order.diagonal[v] as usize);
            let inverse = &self.inverse[start..start + n];
            solve_rows(&self.values[at..at + n * n], inverse, &mut x[start..start + n]);
            touched.0 = start as u32;
        }
    }

    /// Solves for the right side in `vector`, in place.
    pub fn solve(&mut self, order: &Order) {
        let (mut vector, mut touched) =
            (std::mem::take(&mut self.vector), std::mem::take(&mut self.touched));
        let mut work = self.forward(order, &mut vector, &mut touched);
        for &v in order.sequence.iter().rev() {
            let n = order.size[v as usize] as usize;
            let start = order.start[v as usize] as usize;
            let at = order.diagonal[v as usize] as usize;
            let x = &mut vector[start..start + n];
            solve_rows(&self.values[at..at + n * n], &self.inverse[start..start + n], x);
            work += (n * n) as u64;
            let (first, count) = order.range[v as usize];
            for &(later, place) in &order.below[first as usize..][..count as usize] {
                let rows = order.size[later as usize] as usize;
                let from = order.start[later as usize] as usize;
                let block = &self.values[place as usize..][..rows * n];
                let (x, y) = two(&mut vector, (start, n), (from, rows));
                subtract_transposed(block, y, x);
                work += (rows * n) as u64;
            }
        }
        (self.vector, self.touched) = (vector, touched);
        self.work += work;
    }
}

/// Two parts of a vector, each (start, length), that do not overlap.
fn two(vector: &mut [f64], a: (usize, usize), b: (usize, usize)) -> (&mut [f64], &mut [f64]) {
    if a.0 < b.0 {
        let (low, high) = vector.split_at_mut(b.0);
        (&mut low[a.0..a.0 + a.1], &mut high[..b.1])
    } else {
        let (low, high) = vector.split_at_mut(a.0);
        (&mut high[..a.1], &mut low[b.0..b.0 + b.1])
    }
}

/// Calls a kernel with the width of its blocks known to the compiler where it is a usual one: 6 for
/// a body, 3 for a ball joint or a point, 5 for a hinge, and hinges with limits and drives.
macro_rules! by_width {
    ($n:expr, $kernel:ident($($argument:expr),*)) => {
        match $n {
            3 => $kernel($($argument,)* 3),
            5 => $kernel($($argument,)* 5),
            6 => $kernel($($argument,)* 6),
            7 => $kernel($($argument,)* 7),
            8 => $kernel($($argument,)* 8),
            n => $kernel($($argument,)* n),
        }
    };
}

/// Σ a_k b_k, in order.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// out ← A Bᵀ, with rows of n numbers.
fn multiply(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    #[inline(always)]
    fn kernel(a: &[f64], b: &[f64], out: &mut [f64], n: usize) {
        let columns = b.len() / n;
        for (row, out) in a.chunks_exact(n).zip(out.chunks_exact_mut(columns)) {
            for (column, out) in b.chunks_exact(n).zip(out) {
                *out = dot(row, column);
            }
        }
    }
    if !out.is_empty() && n > 0 {
        by_width!(n, kernel(a, b, out));
    }
}

/// y ← y − B x.
fn subtract(block: &[f64], x: &[f64], y: &mut [f64]) {
    #[inline(always)]
    fn kernel(block: &[f64], x: &[f64], y: &mut [f64], n: usize) {
        let x = &x[..n];
        for (row, y) in block.chunks_exact(n).zip(y) {
            *y -= dot(row, x);
        }
    }
    if !x.is_empty() {
        by_width!(x.len(), kernel(block, x, y));
    }
}

/// x ← x − Bᵀy.
fn subtract_transposed(block: &[f64], y: &[f64], x: &mut [f64]) {
    #[inline(always)]
    fn kernel(block: &[f64], y: &[f64], x: &mut [f64], n: usize) {
        let x = &mut x[..n];
        for (row, y) in block.chunks_exact(n).zip(y) {
            x.iter_mut().zip(row).for_each(|(x, b)| *x -= b * y);
        }
    }
    if !x.is_empty() {
        by_width!(x.len(), kernel(block, y, x));
    }
}

/// D⁻¹ on every row of a block, with D = L Δ Lᵀ; scalars without a pivot become 0.
fn solve_rows(d: &[f64], inverse: &[f64], rows: &mut [f64]) {
    #[inline(always)]
    fn kernel(d: &[f64], inverse: &[f64], rows: &mut [f64], n: usize) {
        let (d, inverse) = (&d[..n * n], &inverse[..n]);
        for row in rows.chunks_exact_mut(n) {
            solve_row(d, inverse, row);
        }
    }
    if !inverse.is_empty() {
        by_width!(inverse.len(), kernel(d, inverse, rows));
    }
}

/// x ← D⁻¹x.
#[inline(always)]
fn solve_row(d: &[f64], inverse: &[f64], x: &mut [f64]) {
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
