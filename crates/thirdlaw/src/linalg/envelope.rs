//! Cholesky factors of a symmetric matrix within its envelope: each row is kept from its first entry to
//! the diagonal, and so is its row of L, which fills nothing outside. Cheap where neighbours have near
//! numbers: a chain of n bodies costs n·12³.

/// The lower half of a symmetric matrix, then its factor in place; memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    /// Column of the first entry of each row.
    first: Vec<u32>,
    /// Where each row begins among the values, and the end.
    start: Vec<usize>,
    values: Vec<f64>,
}

impl Envelope {
    /// A matrix whose rows begin at these columns. Its entries have no place before they are cleared.
    pub fn reset(&mut self, first: impl Iterator<Item = u32>) {
        self.first.clear();
        self.start.clear();
        let mut end = 0;
        for (row, first) in first.enumerate() {
            self.first.push(first);
            self.start.push(end);
            end += row + 1 - first as usize;
        }
        self.start.push(end);
    }

    /// All entries 0.
    pub fn clear(&mut self) {
        self.values.clear();
        self.values.resize(self.start.last().copied().unwrap_or(0), 0.0);
    }

    /// Multiplications that a factorization takes.
    pub fn work(&self) -> usize {
        let widths = self.start.windows(2).map(|w| w[1] - w[0]);
        widths.map(|width| width * width / 2).sum()
    }

    /// Adds to entry (i, j), j ≤ i, which lies in the envelope.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.values[self.start[i] + j - self.first[i] as usize] += value;
    }

    /// A = L Lᵀ; false if A is not positive definite.
    pub fn factor(&mut self) -> bool {
        for i in 0..self.first.len() {
            let (first, start) = (self.first[i] as usize, self.start[i]);
            let (above, own) = self.values.split_at_mut(start);
            for j in first..=i {
                let from = first.max(self.first[j] as usize);
                let row = &own[from - first..j - first];
                if j == i {
                    let pivot = own[i - first] - dot(row, row);
                    if pivot.is_nan() || pivot <= 0.0 {
                        return false;
                    }
                    own[i - first] = pivot.sqrt();
                } else {
                    let other = &above[self.start[j] + from - self.first[j] as usize..];
                    let sum = dot(row, &other[..j - from]);
                    own[j - first] = (own[j - first] - sum) / other[j - from];
                }
            }
        }
        true
    }

    /// x ← A⁻¹x, once factored.
    pub fn solve(&self, x: &mut [f64]) {
        for i in 0..x.len() {
            let (first, row) = self.row(i);
            x[i] = (x[i] - dot(&row[..i - first], &x[first..i])) / row[i - first];
        }
        for i in (0..x.len()).rev() {
            let (first, row) = self.row(i);
            let value = x[i] / row[i - first];
            x[i] = value;
            for (x, l) in x[first..i].iter_mut().zip(row) {
                *x -= l * value;
            }
        }
    }

    fn row(&self, i: usize) -> (usize, &[f64]) {
        (self.first[i] as usize, &self.values[self.start[i]..self.start[i + 1]])
    }
}

/// With four sums, in a fixed order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = a.split_at(a.len() / 4 * 4);
    for (a, b) in fours.chunks_exact(4).zip(b.chunks_exact(4)) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = rest.iter().zip(&b[fours.len()..]).map(|(a, b)| a * b).sum();
    sums[0] + sums[1] + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_solved_gives_the_right_side_again() {
        // a tree of stiff links with one long one
        let (n, far) = (40_usize, 17);
        let first = |i: usize| if i == 39 { far } else { i.saturating_sub(1 + i % 3) } as u32;
        let mut dense = vec![0.0; n * n];
        let mut envelope = Envelope::default();
        envelope.reset((0..n).map(first));
        envelope.clear();
        for i in 0..n {
            for j in first(i) as usize..=i {
                let value = if i == j { 9.0 } else { 1.0 / (1 + i + 2 * j) as f64 };
                envelope.add(i, j, value);
                (dense[i * n + j], dense[j * n + i]) = (value, value);
            }
        }
        let right: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut x = right.clone();
        assert!(envelope.factor());
        envelope.solve(&mut x);
        for i in 0..n {
            let sum: f64 = (0..n).map(|j| dense[i * n + j] * x[j]).sum();
            assert!((sum - right[i]).abs() < 1e-13, "{i}: {sum} for {}", right[i]);
        }
        envelope.clear();
        (0..n).for_each(|i| envelope.add(i, i, -1.0));
        assert!(!envelope.factor());
    }
}
