//! The product of the cloth matrix with a search direction, in single precision.
//!
//! Conjugate gradients take a residual down by two digits; directions to seven digits are enough for
//! that, and half as many bytes and operations. The residual at the start, what contacts add, and what
//! constraints push stay in `f64`, so that nothing the step keeps is rounded.
//!
//! Stiffness acts on differences alone: the blocks of a row sum to its mass and drag, and
//!
//!   y_i = own_i x_i + Σ_j A_ij (x_j − x_i)
//!
//! rounds relative to differences, not to the speed of the whole cloth.

use super::block::{Block, Lane, Pattern, multiply_add};
use super::product::Matrix;
use crate::parallel::loops::each_light;
use std::ops::Range;

/// A copy of the matrix.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    blocks: Vec<Block<f32>>,
    own: Vec<Block<f32>>,
    /// Rows whose diagonal was not that of a new matrix.
    marked: Vec<u32>,
}

impl Narrow {
    /// Takes over the matrix; of a `known` one only the diagonal of rows that are `marked` or were.
    pub fn take(
        &mut self,
        matrix: &Matrix<f64>,
        known: bool,
        marked: impl Iterator<Item = u32> + Clone,
    ) {
        if !known || self.blocks.len() != matrix.blocks.len() {
            self.blocks.resize(matrix.blocks.len(), Block::default());
            each_light(matrix.blocks.len(), &mut self.blocks[..], &|range, out: &mut [_]| {
                for (out, block) in out.iter_mut().zip(&matrix.blocks[range]) {
                    *out = narrow_block(block);
                }
            });
            self.own.clear();
            self.own.extend(matrix.own.iter().map(narrow_block));
            self.marked.clear();
        }
        for i in self.marked.drain(..).chain(marked.clone()) {
            let (i, place) = (i as usize, matrix.pattern.diagonal[i as usize] as usize);
            self.blocks[place] = narrow_block(&matrix.blocks[place]);
            self.own[i] = narrow_block(&matrix.own[i]);
        }
        self.marked.extend(marked);
    }

    /// Some rows of A x.
    #[inline]
    pub fn multiply_rows(
        &self,
        pattern: &Pattern,
        x: &[Lane<f32>],
        rows: Range<usize>,
        y: &mut [Lane<f32>],
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has what the function was compiled for
            return unsafe { self.rows_avx2(pattern, x, rows, y) };
        }
        self.rows_any(pattern, x, rows, y);
    }

    /// [`Narrow::multiply_rows`] for any machine: two blocks are six columns of four numbers, and every
    /// two of those have a sum of their own.
    pub(super) fn rows_any(
        &self,
        pattern: &Pattern,
        x: &[Lane<f32>],
        rows: Range<usize>,
        y: &mut [Lane<f32>],
    ) {
        for (row, y) in rows.zip(y) {
            let range = pattern.range(row);
            let at = x[row];
            let from = |column: u32| {
                let x = x[column as usize];
                [x[0] - at[0], x[1] - at[1], x[2] - at[2]]
            };
            let (blocks, columns) = (&self.blocks[range.clone()], &pattern.column[range]);
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
            multiply_add(y, &self.own[row], &at);
        }
    }

    /// The same operations in the same order in registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn rows_avx2(
        &self,
        pattern: &Pattern,
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
            let range = pattern.range(row);
            let at = both(&x[row]);
            let from = |column: u32| _mm256_sub_ps(both(&x[column as usize]), at);
            let (blocks, column) = (&self.blocks[range.clone()], &pattern.column[range]);
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
            multiply_add(y, &self.own[row], &x[row]);
        }
    }
}

fn narrow_block(block: &Block<f64>) -> Block<f32> {
    block.map(|column| column.map(|x| x as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 1, 2, … blocks with numbers of no pattern; own is the sum of each row.
    fn matrix(rows: usize) -> (Pattern, Vec<Block<f64>>, Vec<Block<f64>>) {
        let pattern = Pattern::new(rows, |i, out| out.extend((0..i as u32).filter(|j| j % 3 < 2)));
        let mut state = 1_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24) - 0.5
        };
        let blocks: Vec<Block<f64>> = (0..pattern.column.len())
            .map(|_| std::array::from_fn(|_| [number(), number(), number(), 0.0]))
            .collect();
        let mut own = vec![Block::<f64>::default(); rows];
        for (i, own) in own.iter_mut().enumerate() {
            for block in &blocks[pattern.range(i)] {
                for (own, x) in own.iter_mut().flatten().zip(block.iter().flatten()) {
                    *own += *x;
                }
            }
        }
        (pattern, blocks, own)
    }

    #[test]
    fn the_narrow_product_is_the_wide_one_to_seven_digits_of_the_differences() {
        let (pattern, blocks, own) = matrix(24);
        let wide = Matrix { pattern: &pattern, blocks: &blocks, own: &own };
        let mut narrow = Narrow::default();
        narrow.take(&wide, false, [].into_iter());
        for speed in [0.0, 1024.0] {
            // dyadic, so that single precision holds them
            let at = |i: usize, k: usize| speed + ((7 * i + 3 * k) % 16) as f64 / 16.0;
            let x: Vec<Lane<f64>> = (0..24).map(|i| [at(i, 0), at(i, 1), at(i, 2), 0.0]).collect();
            let mut want = vec![[0.0; 4]; 24];
            wide.multiply(&x, &mut want);
            let x: Vec<Lane<f32>> = x.iter().map(|x| x.map(|x| x as f32)).collect();
            let (mut got, mut any) = (vec![[0.0; 4]; 24], vec![[0.0; 4]; 24]);
            narrow.multiply_rows(&pattern, &x, 0..24, &mut got);
            narrow.rows_any(&pattern, &x, 0..24, &mut any);
            assert_eq!(got, any, "kernels differ");
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                // the mass term speaks for the speed, and is as exact as a number can be
                let own: f64 = own[i].iter().flatten().map(|x| x.abs()).sum();
                for (got, want) in got.iter().zip(want).take(3) {
                    let error = (f64::from(*got) - want).abs();
                    assert!(error < 2e-6 + 2e-7 * own * speed, "row {i}: {got} for {want}");
                }
            }
        }
    }

    #[test]
    fn a_known_matrix_follows_its_marked_rows_there_and_back() {
        let (pattern, mut blocks, mut own) = matrix(9);
        let first = (blocks.clone(), own.clone());
        let mut narrow = Narrow::default();
        narrow.take(
            &Matrix { pattern: &pattern, blocks: &blocks, own: &own },
            false,
            [].into_iter(),
        );
        let before = narrow.clone();
        blocks[pattern.diagonal[4] as usize][1][1] += 3.0;
        own[4][1][1] += 3.0;
        narrow.take(
            &Matrix { pattern: &pattern, blocks: &blocks, own: &own },
            true,
            [4].into_iter(),
        );
        assert_ne!((&narrow.blocks, &narrow.own), (&before.blocks, &before.own));
        (blocks, own) = first;
        narrow.take(
            &Matrix { pattern: &pattern, blocks: &blocks, own: &own },
            true,
            [].into_iter(),
        );
        assert_eq!((&narrow.blocks, &narrow.own), (&before.blocks, &before.own));
    }
}
