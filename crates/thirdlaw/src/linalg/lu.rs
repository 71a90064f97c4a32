//! Dense LU factors with partial pivoting, for the small unsymmetric systems of the direct solver.

/// Factors P A = L U of a square matrix, kept in place; memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Lu {
    /// Row-major; U on and above the diagonal, L without its unit diagonal below.
    pub matrix: Vec<f64>,
    size: usize,
    pivots: Vec<u32>,
}

impl Lu {
    /// A zero matrix to be filled in.
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
    }

    /// Row `i` of the matrix.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.matrix[i * self.size..(i + 1) * self.size]
    }

    /// Replaces the matrix by its factors; false if a pivot is zero or not finite.
    pub fn factor(&mut self) -> bool {
        let n = self.size;
        self.pivots.clear();
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if self.matrix[i * n + k].abs() > self.matrix[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            let value = self.matrix[pivot * n + k];
            if value == 0.0 || !value.is_finite() {
                return false;
            }
            self.pivots.push(pivot as u32);
            let (above, below) = self.matrix.split_at_mut((k + 1) * n);
            let top = &mut above[k * n..];
            if pivot > k {
                let at = (pivot - k - 1) * n;
                top.swap_with_slice(&mut below[at..at + n]);
            }
            let inverse = 1.0 / value;
            for row in below.chunks_exact_mut(n) {
                let factor = row[k] * inverse;
                row[k] = factor;
                if factor != 0.0 {
                    for (x, t) in row[k + 1..].iter_mut().zip(&top[k + 1..]) {
                        *x -= factor * t;
                    }
                }
            }
        }
        true
    }

    /// x ← A⁻¹x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.size;
        for k in 0..n {
            x.swap(k, self.pivots[k] as usize);
        }
        for i in 0..n {
            let row = &self.matrix[i * n..(i + 1) * n];
            let sum: f64 = row[..i].iter().zip(&x[..i]).map(|(a, x)| a * x).sum();
            x[i] -= sum;
        }
        for i in (0..n).rev() {
            let row = &self.matrix[i * n..(i + 1) * n];
            let sum: f64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(a, x)| a * x).sum();
            x[i] = (x[i] - sum) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_needs_pivoting() {
        let a = [0.0, 2.0, 1.0, 1.0, 1e-20, 0.0, 3.0, 1.0, -2.0];
        let mut lu = Lu::default();
        lu.reset(3);
        lu.matrix.copy_from_slice(&a);
        assert!(lu.factor());
        let x = [1.0, -2.0, 0.5];
        let mut b = [0, 1, 2].map(|i| (0..3).map(|k| a[3 * i + k] * x[k]).sum::<f64>());
        lu.solve(&mut b);
        for (x, b) in x.iter().zip(b) {
            assert!((x - b).abs() < 1e-14);
        }
    }

    #[test]
    fn refuses_a_singular_matrix() {
        let mut lu = Lu::default();
        lu.reset(2);
        lu.matrix.copy_from_slice(&[1.0, 1.0, 1.0, 1.0]);
        assert!(!lu.factor());
    }
}
