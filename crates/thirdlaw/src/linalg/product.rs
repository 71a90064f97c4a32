//! The cloth matrix and its product with a vector; search directions take the one of `narrow`.

use super::block::{self, Block, Lane, Pattern, Scalar};
use std::ops::Range;

/// The matrix.
#[derive(Debug, Clone, Copy)]
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
        block::multiply(self.pattern, self.blocks, x, y);
    }

    /// Some rows of A x.
    #[inline]
    pub fn multiply_rows(&self, x: &[Lane<T>], rows: Range<usize>, y: &mut [Lane<T>]) {
        block::multiply_rows(self.pattern, self.blocks, x, rows, y);
    }
}
