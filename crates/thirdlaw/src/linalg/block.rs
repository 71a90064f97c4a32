//! A sparse matrix of 3×3 blocks with a fixed pattern.

use super::rows::Rows;
use crate::math::{Mat3, Vec3};
use crate::parallel::loops::each;
use std::ops::Range;

/// A number of a kernel: `f64`, or `f32` where it is measured to be enough.
pub trait Scalar:
    Copy
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + 'static
{
    /// Rounded from `x`.
    fn of(x: f64) -> Self;
    /// As `f64`.
    fn wide(self) -> f64;
}

impl Scalar for f64 {
    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// A vector padded to four numbers, so that it fills a register.
pub type Lane<T> = [T; 4];
/// A block by columns, each padded.
pub type Block<T> = [Lane<T>; 3];

/// `v`, padded.
#[inline(always)]
pub fn lane<T: Scalar>(v: Vec3) -> Lane<T> {
    [T::of(v.x), T::of(v.y), T::of(v.z), T::default()]
}

/// The vector in a lane.
#[inline(always)]
pub fn vector<T: Scalar>(v: &Lane<T>) -> Vec3 {
    Vec3::new(v[0].wide(), v[1].wide(), v[2].wide())
}

/// The matrix in a block.
pub fn matrix<T: Scalar>(block: &Block<T>) -> Mat3 {
    Mat3::from_cols(vector(&block[0]), vector(&block[1]), vector(&block[2]))
}

/// `m` as a block.
pub fn block_of<T: Scalar>(m: &Mat3) -> Block<T> {
    [lane(m.x_axis), lane(m.y_axis), lane(m.z_axis)]
}

/// y += block · x.
#[inline(always)]
pub fn multiply_add<T: Scalar>(y: &mut Lane<T>, block: &Block<T>, x: &Lane<T>) {
    for k in 0..4 {
        y[k] += block[0][k] * x[0] + block[1][k] * x[1] + block[2][k] * x[2];
    }
}

/// Sum of the products.
#[inline(always)]
pub fn dot<T: Scalar>(a: &Lane<T>, b: &Lane<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Which blocks are there: compressed rows with ascending columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Where each row begins; one more than rows.
    pub row_start: Vec<u32>,
    /// Column of each block.
    pub column: Vec<u32>,
    /// Place of each row's diagonal block.
    pub diagonal: Vec<u32>,
}

impl Pattern {
    /// The pattern whose rows have the columns that `columns(row, out)` names, in any order and as
    /// often as it likes, and the diagonal.
    pub fn new(rows: usize, mut columns: impl FnMut(usize, &mut Vec<u32>)) -> Pattern {
        let Rows { start, entries } = Rows::made(rows, |i, row| {
            row.push(i as u32);
            columns(i, row);
            row.sort_unstable();
            row.dedup();
        });
        let mut pattern = Pattern { row_start: start, column: entries, diagonal: Vec::new() };
        pattern.diagonal = (0..rows).map(|i| pattern.find(i, i as u32).unwrap_or(0)).collect();
        pattern
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.row_start.len().saturating_sub(1)
    }

    /// Where the blocks of a row are.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.row_start[row] as usize..self.row_start[row + 1] as usize
    }

    /// Place of block (row, column).
    pub fn find(&self, row: usize, column: u32) -> Option<u32> {
        let range = self.range(row);
        let found = self.column[range.clone()].binary_search(&column).ok()?;
        Some((range.start + found) as u32)
    }
}

/// y = A x.
pub fn multiply<T: Scalar>(
    pattern: &Pattern,
    blocks: &[Block<T>],
    x: &[Lane<T>],
    y: &mut [Lane<T>],
) {
    each(pattern.rows(), y, &|rows, y: &mut [Lane<T>]| {
        multiply_rows(pattern, blocks, x, rows, y);
    });
}

/// Some rows of A x.
#[inline]
pub fn multiply_rows<T: Scalar>(
    pattern: &Pattern,
    blocks: &[Block<T>],
    x: &[Lane<T>],
    rows: Range<usize>,
    y: &mut [Lane<T>],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for
        return unsafe { multiply_rows_avx2(pattern, blocks, x, rows, y) };
    }
    multiply_rows_any(pattern, blocks, x, rows, y);
}

/// The same operations in the same order with wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_rows_avx2<T: Scalar>(
    pattern: &Pattern,
    blocks: &[Block<T>],
    x: &[Lane<T>],
    rows: Range<usize>,
    y: &mut [Lane<T>],
) {
    multiply_rows_any(pattern, blocks, x, rows, y);
}

/// [`multiply_rows`] for any machine.
#[inline(always)]
pub(super) fn multiply_rows_any<T: Scalar>(
    pattern: &Pattern,
    blocks: &[Block<T>],
    x: &[Lane<T>],
    rows: Range<usize>,
    y: &mut [Lane<T>],
) {
    for (row, y) in rows.zip(y) {
        let range = pattern.range(row);
        // four sums side by side: one alone would wait for every addition
        let mut sums = [[T::default(); 4]; 4];
        let (blocks, columns) = (&blocks[range.clone()], &pattern.column[range]);
        let (fours, rest) = (blocks.chunks_exact(4), columns.chunks_exact(4));
        let last = fours.remainder().iter().zip(rest.remainder());
        for (blocks, columns) in fours.zip(rest) {
            for k in 0..4 {
                multiply_add(&mut sums[k], &blocks[k], &x[columns[k] as usize]);
            }
        }
        for ((block, &column), sum) in last.zip(&mut sums) {
            multiply_add(sum, block, &x[column as usize]);
        }
        for k in 0..4 {
            y[k] = (sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]);
        }
    }
}
