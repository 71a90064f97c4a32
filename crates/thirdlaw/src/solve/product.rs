//! The product of the cloth matrix with a vector.
//!
//! Stiffness acts on differences alone, so that the blocks of a row sum to its mass and drag, and
//!
//!   y_i = own_i x_i + Σ_j A_ij (x_j − x_i)
//!
//! rounds relative to differences and not to the speed of the whole cloth: with `f32` inside, a sheet
//! that flies as a whole flies as exactly as one at rest. `f64` has the digits, and takes the blocks as
//! they are.

use super::block::{Block, Lane, Pattern, Scalar, multiply_add};
use super::parallel::each;
use std::ops::Range;

/// The matrix.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    /// Which blocks.
    pub pattern: &'a Pattern,
    /// A_ij.
    pub blocks: &'a [Block<T>],
    /// Sum of the blocks of each row.
    pub own: &'a [Block<T>],
}

impl<T: Scalar> Matrix<'_, T> {
    /// y = A x.
    pub fn multiply(&self, x: &[Lane<T>], y: &mut [Lane<T>]) {
        each(x.len(), y, &|rows, y: &mut [Lane<T>]| self.multiply_rows(x, rows, y));
    }

    /// Some rows of A x.
    #[inline]
    pub fn multiply_rows(&self, x: &[Lane<T>], rows: Range<usize>, y: &mut [Lane<T>]) {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has what the function was compiled for
            return unsafe { self.rows_avx2(x, rows, y) };
        }
        self.rows_any(x, rows, y);
    }

    /// The same operations in the same order with wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn rows_avx2(&self, x: &[Lane<T>], rows: Range<usize>, y: &mut [Lane<T>]) {
        self.rows_any(x, rows, y);
    }

    /// [`Matrix::multiply_rows`] for any machine.
    #[inline(always)]
    pub(super) fn rows_any(&self, x: &[Lane<T>], rows: Range<usize>, y: &mut [Lane<T>]) {
        for (row, y) in rows.zip(y) {
            let range = self.pattern.range(row);
            let at = x[row];
            let from = |column: u32| {
                let mut x = x[column as usize];
                if T::NARROW {
                    for k in 0..4 {
                        x[k] = x[k] - at[k];
                    }
                }
                x
            };
            // four sums side by side: one alone would wait for every addition
            let mut sums = [[T::default(); 4]; 4];
            if T::NARROW {
                multiply_add(&mut sums[3], &self.own[row], &at);
            }
            let (blocks, columns) = (&self.blocks[range.clone()], &self.pattern.column[range]);
            let (fours, rest) = (blocks.chunks_exact(4), columns.chunks_exact(4));
            let last = fours.remainder().iter().zip(rest.remainder());
            for (blocks, columns) in fours.zip(rest) {
                for k in 0..4 {
                    multiply_add(&mut sums[k], &blocks[k], &from(columns[k]));
                }
            }
            for ((block, &column), sum) in last.zip(&mut sums) {
                multiply_add(sum, block, &from(column));
            }
            for k in 0..4 {
                y[k] = (sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]);
            }
        }
    }
}
