//! Loops over a dense panel of a sparse factor, four numbers in a register, and the same for any machine.
//!
//! A panel holds some columns of L from their diagonal on, column after column, each padded to whole tiles of
//! eight rows. Own rows (those of the diagonal block) come first, then the rows below; both begin at a
//! tile. Sums run over the columns in order, whatever the registers, so that the bits are the same.

use crate::simd::f64x4::{LANES, Vector, Wide};

/// Registers in a column of a tile.
pub(super) const TALL: usize = 2;
/// Rows of a tile.
pub(super) const TILE: usize = TALL * LANES;
/// Columns of a tile.
pub(super) const BROAD: usize = 4;

/// The shape of a panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Columns.
    pub columns: usize,
    /// Registers from one column to the next.
    pub stride: usize,
    /// Registers of own rows.
    pub own: usize,
}

/// Pivots of a panel.
pub(super) struct Pivots<'a> {
    /// What a pivot has to exceed, with its sign.
    pub least: &'a [f64],
    /// 1/D, or 0 where there is no pivot.
    pub inverse: &'a mut [f64],
}

/// Makes a second version of a loop for wide registers, and a function that chooses.
macro_rules! in_registers {
    ($(#[$doc:meta])* $name:ident, $wide:ident, $any:ident, ($($arg:ident: $kind:ty),*) $(-> $out:ty)?) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $wide($($arg: $kind),*) $(-> $out)? {
            $any::<crate::simd::f64x4::avx2::Register>($($arg),*)
        }

        $(#[$doc])*
        pub(super) fn $name($($arg: $kind),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has what the function was compiled for
                return unsafe { $wide($($arg),*) };
            }
            $any::<Wide>($($arg),*)
        }
    };
}

in_registers!(
    /// Factors the columns of a panel: A = L D Lᵀ on own rows, L D below. `scaled` takes L D of all rows.
    /// Returns the columns without a pivot.
    factor_columns, factor_wide, factor_any,
    (panel: &mut [Wide], scaled: &mut [Wide], shape: Shape, pivots: Pivots) -> u32
);
in_registers!(
    /// `out` ← L D Lᵀ of the rows below, lower half by tiles.
    square_below, square_wide, square_any,
    (panel: &[Wide], scaled: &[Wide], shape: Shape, out: &mut [Wide])
);
in_registers!(
    /// x ← L⁻¹x on own rows, x −= L x below.
    forward, forward_wide, forward_any, (panel: &[Wide], shape: Shape, x: &mut [Wide])
);
in_registers!(
    /// x ← L⁻ᵀx on own rows, what is below being known.
    backward, backward_wide, backward_any, (panel: &[Wide], shape: Shape, x: &mut [Wide])
);

/// A tile of Σ_k left_k right_kᵀ: eight rows of `left` from a register on, four columns that are rows of
/// `right`.
#[inline(always)]
fn tile<V: Vector>(
    left: &[Wide],
    right: &[Wide],
    (stride, count): (usize, usize),
    (row, column): (usize, usize),
) -> [[V; TALL]; BROAD] {
    let mut sums = [[V::splat(0.0); TALL]; BROAD];
    assert!(count == 0 || (count - 1) * stride + row + TALL <= left.len());
    assert!(count == 0 || (count - 1) * stride + column < right.len());
    for k in 0..count {
        // SAFETY: the last place read of either is within it, as was just checked
        let (a, b) = unsafe {
            let a = left.get_unchecked(k * stride + row..k * stride + row + TALL);
            (a, right.get_unchecked(k * stride + column))
        };
        let a = [V::load(&a[0]), V::load(&a[1])];
        for (sums, &b) in sums.iter_mut().zip(&b.0) {
            let b = V::splat(b);
            for (sum, a) in sums.iter_mut().zip(a) {
                *sum = *sum + a * b;
            }
        }
    }
    sums
}

#[inline(always)]
fn factor_any<V: Vector>(
    panel: &mut [Wide],
    scaled: &mut [Wide],
    shape: Shape,
    pivots: Pivots,
) -> u32 {
    let Shape { columns, stride, .. } = shape;
    let mut without = 0;
    let mut first = 0;
    while first < columns {
        let end = columns.min(first + TILE);
        // what the columns before take from these
        for column in (first..end).step_by(BROAD) {
            for row in (first / LANES..stride).step_by(TALL) {
                let sums = tile::<V>(panel, scaled, (stride, first), (row, column / LANES));
                for (k, sums) in sums.iter().enumerate().take(end - column) {
                    let into = &mut panel[(column + k) * stride + row..][..TALL];
                    for (x, sum) in into.iter_mut().zip(sums) {
                        (V::load(x) - *sum).store(x);
                    }
                }
            }
        }
        for k in first..end {
            without += u32::from(!column::<V>(
                panel,
                scaled,
                shape,
                (first, k),
                &mut Pivots { least: pivots.least, inverse: &mut *pivots.inverse },
            ));
        }
        first = end;
    }
    without
}

/// Finishes a column, of which those before `first` have been taken away. Says whether it has a pivot.
#[inline(always)]
fn column<V: Vector>(
    panel: &mut [Wide],
    scaled: &mut [Wide],
    shape: Shape,
    (first, k): (usize, usize),
    pivots: &mut Pivots,
) -> bool {
    let stride = shape.stride;
    let from = first / LANES;
    let (before, now) = panel.split_at_mut(k * stride);
    let now = &mut now[from..stride];
    for q in first..k {
        let b = V::splat(scaled[q * stride + k / LANES].0[k % LANES]);
        for (x, a) in now.iter_mut().zip(&before[q * stride + from..(q + 1) * stride]) {
            (V::load(x) - V::load(a) * b).store(x);
        }
    }
    let pivot = now[k / LANES - from].0[k % LANES];
    let least = pivots.least[k];
    // a NaN is no pivot either
    let enough = if least < 0.0 { pivot < least } else { pivot > least };
    let inverse = if enough { 1.0 / pivot } else { 0.0 };
    pivots.inverse[k] = inverse;
    let kept = &mut scaled[k * stride + from..(k + 1) * stride];
    if enough {
        let factor = V::splat(inverse);
        for (x, kept) in now.iter_mut().zip(kept) {
            *kept = *x;
            (V::load(x) * factor).store(x);
        }
    } else {
        now.fill(Wide::default());
        kept.fill(Wide::default());
    }
    enough
}

#[inline(always)]
fn square_any<V: Vector>(panel: &[Wide], scaled: &[Wide], shape: Shape, out: &mut [Wide]) {
    let Shape { columns, stride, own } = shape;
    let below = stride - own;
    for column in 0..below {
        for row in (column - column % TALL..below).step_by(TALL) {
            let sums = tile::<V>(panel, scaled, (stride, columns), (own + row, own + column));
            for (k, sums) in sums.iter().enumerate() {
                let into = &mut out[(column * LANES + k) * below + row..][..TALL];
                for (x, sum) in into.iter_mut().zip(sums) {
                    sum.store(x);
                }
            }
        }
    }
}

#[inline(always)]
fn forward_any<V: Vector>(panel: &[Wide], shape: Shape, x: &mut [Wide]) {
    let Shape { columns, stride, .. } = shape;
    for first in (0..columns).step_by(LANES) {
        let end = columns.min(first + LANES);
        let at = first / LANES;
        for k in first..end {
            let z = x[at].0[k - first];
            for i in k + 1..end {
                x[at].0[i - first] -= panel[k * stride + at].0[i - first] * z;
            }
        }
        let (done, rest) = x.split_at_mut(at + 1);
        for k in first..end {
            let z = V::splat(done[at].0[k - first]);
            let column = &panel[k * stride + at + 1..(k + 1) * stride];
            for (x, a) in rest.iter_mut().zip(column) {
                (V::load(x) - V::load(a) * z).store(x);
            }
        }
    }
}

#[inline(always)]
fn backward_any<V: Vector>(panel: &[Wide], shape: Shape, x: &mut [Wide]) {
    let Shape { columns, stride, .. } = shape;
    for at in (0..columns.div_ceil(LANES)).rev() {
        let first = at * LANES;
        let end = columns.min(first + LANES);
        for k in (first..end).rev() {
            let mut sums = V::splat(0.0);
            let column = &panel[k * stride + at + 1..(k + 1) * stride];
            for (x, a) in x[at + 1..].iter().zip(column) {
                sums = sums + V::load(a) * V::load(x);
            }
            let mut parts = Wide::default();
            sums.store(&mut parts);
            let [a, b, c, d] = parts.0;
            let mut sum = (a + b) + (c + d);
            for i in k + 1..end {
                sum += panel[k * stride + at].0[i - first] * x[at].0[i - first];
            }
            x[at].0[k - first] -= sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panel of a positive matrix, with junk-free padding.
    fn panel(columns: usize, below: usize) -> (Vec<Wide>, Shape) {
        let own = columns.div_ceil(TILE) * TALL;
        let shape = Shape { columns, stride: own + below.div_ceil(TILE) * TALL, own };
        let mut numbers = vec![Wide::default(); columns * shape.stride];
        for k in 0..columns {
            for i in k..own * LANES + below {
                if i >= columns && i < own * LANES {
                    continue;
                }
                let x = crate::math::random::unit(1, (i * 1000 + k) as u64, 0) - 0.5;
                let x = if i == k { columns as f64 + x } else { x };
                numbers[k * shape.stride + i / LANES].0[i % LANES] = x;
            }
        }
        (numbers, shape)
    }

    #[test]
    fn registers_give_the_bits_of_any_machine() {
        for (columns, below) in [(1, 0), (3, 5), (8, 8), (13, 30), (37, 61), (64, 3)] {
            let (numbers, shape) = panel(columns, below);
            let least = vec![0.0; columns];
            let run = |any: bool| {
                let mut numbers = numbers.clone();
                let mut scaled = numbers.clone();
                let mut inverse = vec![0.0; columns];
                let rest = shape.stride - shape.own;
                let mut square = vec![Wide::default(); rest * rest * LANES];
                let mut x = vec![Wide([1.0, -0.3, 0.7, 2.0]); shape.stride];
                let pivots = Pivots { least: &least, inverse: &mut inverse };
                if any {
                    factor_any::<Wide>(&mut numbers, &mut scaled, shape, pivots);
                    square_any::<Wide>(&numbers, &scaled, shape, &mut square);
                    forward_any::<Wide>(&numbers, shape, &mut x);
                    backward_any::<Wide>(&numbers, shape, &mut x);
                } else {
                    factor_columns(&mut numbers, &mut scaled, shape, pivots);
                    square_below(&numbers, &scaled, shape, &mut square);
                    forward(&numbers, shape, &mut x);
                    backward(&numbers, shape, &mut x);
                }
                let all = [numbers, scaled, square, x].concat();
                let bits: Vec<u64> = all.iter().flat_map(|w| w.0.map(f64::to_bits)).collect();
                (bits, inverse)
            };
            assert_eq!(run(true), run(false), "{columns} columns, {below} below");
        }
    }
}
