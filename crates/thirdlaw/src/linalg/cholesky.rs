//! Dense symmetric systems of moderate size: the coarsest level of the preconditioner.

/// A = L Lᵀ.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    size: usize,
    /// Rows of L, each of full length; the diagonal holds its inverse.
    rows: Vec<f64>,
}

impl Cholesky {
    /// Becomes a zero matrix of this size, to be filled by `add`.
    pub fn reset(&mut self, size: usize) {
        self.size = size;
        self.rows.clear();
        self.rows.resize(size * size, 0.0);
    }

    /// Adds to an entry; only those on and below the diagonal count.
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.rows[i * self.size + j] += value;
    }

    /// Factors in place. Directions without stiffness get no answer instead of a wild one.
    pub fn factor(&mut self) {
        let n = self.size;
        for i in 0..n {
            let (above, below) = self.rows.split_at_mut(i * n);
            let row = &mut below[..n];
            let own = row[i];
            for j in 0..i {
                let other = &above[j * n..j * n + j + 1];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) * other[j];
            }
            let pivot = own - dot(&row[..i], &row[..i]);
            row[i] = if pivot > 1e-10 * own { 1.0 / pivot.sqrt() } else { 0.0 };
        }
    }

    /// x ← A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = self.size;
        for i in 0..n {
            let row = &self.rows[i * n..i * n + i + 1];
            x[i] = (x[i] - dot(&row[..i], &x[..i])) * row[i];
        }
        for i in (0..n).rev() {
            let row = &self.rows[i * n..i * n + i + 1];
            x[i] *= row[i];
            let (before, at) = x.split_at_mut(i);
            for (x, l) in before.iter_mut().zip(row) {
                *x -= l * at[0];
            }
        }
    }
}

/// Sum of products, in four interleaved parts: one long sum would wait for every addition.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut parts = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        for k in 0..4 {
            parts[k] += a[k] * b[k];
        }
    }
    (parts[0] + parts[1]) + (parts[2] + parts[3]) + rest
}
