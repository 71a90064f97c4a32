//! The product of the cloth matrix with a vector.
//!
//! Stiffness acts on differences alone, so that the blocks of a row sum to its mass and drag, and
//!
//!   y_i = own_i x_i + Σ_j A_ij (x_j − x_i)
//!
//! rounds relative to differences and not to the speed of the whole cloth: with `f32` a sheet that flies
//! as a whole flies as exactly as one at rest. `f64` has the digits, and takes the blocks as they are.

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
        each(x.len(), y, &|rows, y: &mut [Lane<T>]| T::multiply_rows(self, x, rows, y));
    }
}

/// Some rows of A x by differences.
#[inline]
pub fn narrow_rows(
    matrix: &Matrix<'_, f32>,
    x: &[Lane<f32>],
    rows: Range<usize>,
    y: &mut [Lane<f32>],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for
        return unsafe { narrow_rows_avx2(matrix, x, rows, y) };
    }
    narrow_rows_any(matrix, x, rows, y);
}

/// [`narrow_rows`] for any machine.
///
/// Two blocks are six columns of four numbers, three registers of eight: each has a sum of its own.
pub(super) fn narrow_rows_any(
    matrix: &Matrix<'_, f32>,
    x: &[Lane<f32>],
    rows: Range<usize>,
    y: &mut [Lane<f32>],
) {
    for (row, y) in rows.zip(y) {
        let range = matrix.pattern.range(row);
        let at = x[row];
        let from = |column: u32| {
            let x = x[column as usize];
            [x[0] - at[0], x[1] - at[1], x[2] - at[2]]
        };
        let (blocks, columns) = (&matrix.blocks[range.clone()], &matrix.pattern.column[range]);
        let mut sums = [[0.0_f32; 8]; 3];
        let mut add = |sum: usize, one: (&Lane<f32>, f32), other: (&Lane<f32>, f32)| {
            for k in 0..4 {
                sums[sum][k] += one.0[k] * one.1;
                sums[sum][k + 4] += other.0[k] * other.1;
            }
        };
        for (block, column) in blocks.chunks(2).zip(columns.chunks(2)) {
            let a = from(column[0]);
            add(0, (&block[0][0], a[0]), (&block[0][1], a[1]));
            if let ([one, other], [_, column]) = (block, column) {
                let b = from(*column);
                add(1, (&one[2], a[2]), (&other[0], b[0]));
                add(2, (&other[1], b[1]), (&other[2], b[2]));
            } else {
                add(1, (&block[0][2], a[2]), (&[0.0; 4], 0.0));
            }
        }
        let sum = |k: usize| (sums[0][k] + sums[1][k]) + sums[2][k];
        *y = std::array::from_fn(|k| sum(k) + sum(k + 4));
        multiply_add(y, &matrix.own[row], &at);
    }
}

/// The same operations in the same order in registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn narrow_rows_avx2(
    matrix: &Matrix<'_, f32>,
    x: &[Lane<f32>],
    rows: Range<usize>,
    y: &mut [Lane<f32>],
) {
    use std::arch::x86_64::*;
    // both halves of a register as the vector of a row
    let both = |x: &Lane<f32>| {
        // SAFETY: four numbers are read where there are four
        let x = unsafe { _mm_loadu_ps(x.as_ptr()) };
        _mm256_set_m128(x, x)
    };
    let columns = |blocks: &[Block<f32>], k: usize| {
        let numbers = blocks.as_flattened().as_flattened();
        let eight: &[f32; 8] = numbers[8 * k..].first_chunk().unwrap_or(&[0.0; 8]);
        // SAFETY: eight numbers are read where there are eight
        unsafe { _mm256_loadu_ps(eight.as_ptr()) }
    };
    let first = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    let second = _mm256_setr_epi32(2, 2, 2, 2, 0, 0, 0, 0);
    let third = _mm256_setr_epi32(1, 1, 1, 1, 2, 2, 2, 2);
    for (row, y) in rows.zip(y) {
        let range = matrix.pattern.range(row);
        let at = both(&x[row]);
        let from = |column: u32| _mm256_sub_ps(both(&x[column as usize]), at);
        let (blocks, column) = (&matrix.blocks[range.clone()], &matrix.pattern.column[range]);
        let mut sums = [_mm256_setzero_ps(); 3];
        let (pairs, ends) = (blocks.chunks_exact(2), column.chunks_exact(2));
        let last = pairs.remainder().first().zip(ends.remainder().first());
        for (pair, ends) in pairs.zip(ends) {
            let (a, b) = (from(ends[0]), from(ends[1]));
            let mixed = _mm256_blend_ps::<0b1111_0000>(a, b);
            let x = [
                _mm256_permutevar_ps(a, first),
                _mm256_permutevar_ps(mixed, second),
                _mm256_permutevar_ps(b, third),
            ];
            for k in 0..3 {
                sums[k] = _mm256_add_ps(sums[k], _mm256_mul_ps(columns(pair, k), x[k]));
            }
        }
        if let Some((block, &end)) = last {
            let a = from(end);
            let block = std::slice::from_ref(block);
            let x = _mm256_permutevar_ps(a, first);
            sums[0] = _mm256_add_ps(sums[0], _mm256_mul_ps(columns(block, 0), x));
            // SAFETY: four numbers are read where there are four
            let third = _mm256_zextps128_ps256(unsafe { _mm_loadu_ps(block[0][2].as_ptr()) });
            let x = _mm256_permutevar_ps(a, second);
            let x = _mm256_blend_ps::<0b1111_0000>(x, _mm256_setzero_ps());
            sums[1] = _mm256_add_ps(sums[1], _mm256_mul_ps(third, x));
        }
        let sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), sums[2]);
        let sum = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps::<1>(sum));
        // SAFETY: four numbers are written where there are four
        unsafe { _mm_storeu_ps(y.as_mut_ptr(), sum) };
        multiply_add(y, &matrix.own[row], &x[row]);
    }
}
