//! The loops of conjugate gradients over all particles, each one pass over memory.

use super::block::{Block, Lane, Scalar, multiply_add};
use crate::parallel::loops::{each_light, sum_light};

/// A direction and its product with the matrix.
type Along<'a, T> = (&'a [Lane<T>], &'a [Lane<T>]);
/// The solution, what is left, and its answer.
type Answer<'a, T> = (&'a mut [Lane<T>], &'a mut [Lane<T>], &'a mut [Lane<T>]);

/// Compiles a loop a second time for wider registers, with the same operations in the same order.
macro_rules! widened {
    ($wide:ident, $any:ident, ($($name:ident: $kind:ty),*) $(-> $out:ty)?) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $wide<T: Scalar>($($name: $kind),*) $(-> $out)? {
            $any($($name),*)
        }
    };
}

/// Calls a loop in the widest registers there are.
macro_rules! widest {
    ($wide:ident, $any:ident, ($($value:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has what the function was compiled for
            return unsafe { $wide($($value),*) };
        }
        $any($($value),*)
    }};
}

/// u += α p, r −= α q.
pub fn advance<T: Scalar>(alpha: T, (p, q): Along<T>, (u, r): (&mut [Lane<T>], &mut [Lane<T>])) {
    each_light(p.len(), (u, r), &|rows, (u, r): (&mut [Lane<T>], &mut [Lane<T>])| {
        let along = (&p[rows.clone()], &q[rows]);
        widest!(advance_wide, advance_any, (alpha, along, u, r))
    });
}

#[inline(always)]
fn advance_any<T: Scalar>(a: T, (p, q): Along<T>, u: &mut [Lane<T>], r: &mut [Lane<T>]) {
    for (((u, r), p), q) in u.iter_mut().zip(r).zip(p).zip(q) {
        for k in 0..4 {
            u[k] += a * p[k];
            r[k] = r[k] - a * q[k];
        }
    }
}

widened!(advance_wide, advance_any, (a: T, along: Along<T>, u: &mut [Lane<T>], r: &mut [Lane<T>]));

/// [`advance`] and z = D⁻¹ r for the blocks D⁻¹ of all particles; returns r·z.
pub fn advance_inverted<T: Scalar>(
    alpha: T,
    inverse: &[Block<T>],
    (p, q): Along<T>,
    (u, r, z): Answer<T>,
) -> f64 {
    sum_light(p.len(), (u, r, z), &|rows, (u, r, z): Answer<T>| {
        let along = (&p[rows.clone()], &q[rows.clone()]);
        let inverse = &inverse[rows];
        widest!(inverted_wide, inverted_any, (alpha, inverse, along, u, r, z))
    })
}

#[inline(always)]
fn inverted_any<T: Scalar>(
    a: T,
    inverse: &[Block<T>],
    (p, q): Along<T>,
    u: &mut [Lane<T>],
    r: &mut [Lane<T>],
    z: &mut [Lane<T>],
) -> f64 {
    // by lanes, so that a row is a few operations on whole registers; what pads is zero
    let mut along = [T::default(); 4];
    for (((((u, r), z), p), q), inverse) in u.iter_mut().zip(r).zip(z).zip(p).zip(q).zip(inverse) {
        let mut out = [T::default(); 4];
        for k in 0..4 {
            u[k] += a * p[k];
            r[k] = r[k] - a * q[k];
        }
        multiply_add(&mut out, inverse, r);
        for k in 0..4 {
            along[k] += r[k] * out[k];
        }
        *z = out;
    }
    ((along[0] + along[1]) + (along[2] + along[3])).wide()
}

widened!(inverted_wide, inverted_any, (
    a: T, inverse: &[Block<T>], along: Along<T>,
    u: &mut [Lane<T>], r: &mut [Lane<T>], z: &mut [Lane<T>]
) -> f64);

/// p = z + β p, and p in single precision where there is room for it.
pub fn turn<T: Scalar>(beta: T, z: &[Lane<T>], p: &mut [Lane<T>], short: &mut [Lane<f32>]) {
    if short.is_empty() {
        return each_light(p.len(), p, &|rows, p: &mut [Lane<T>]| {
            let z = &z[rows];
            widest!(turn_wide, turn_any, (beta, z, p))
        });
    }
    each_light(p.len(), (p, short), &|rows, (p, short): (&mut [Lane<T>], &mut [Lane<f32>])| {
        let z = &z[rows];
        widest!(turn_short_wide, turn_short_any, (beta, z, p, short))
    });
}

#[inline(always)]
fn turn_any<T: Scalar>(b: T, z: &[Lane<T>], p: &mut [Lane<T>]) {
    for (p, z) in p.iter_mut().zip(z) {
        for k in 0..4 {
            p[k] = z[k] + b * p[k];
        }
    }
}

widened!(turn_wide, turn_any, (b: T, z: &[Lane<T>], p: &mut [Lane<T>]));

#[inline(always)]
fn turn_short_any<T: Scalar>(b: T, z: &[Lane<T>], p: &mut [Lane<T>], short: &mut [Lane<f32>]) {
    for ((p, z), short) in p.iter_mut().zip(z).zip(short) {
        for k in 0..4 {
            p[k] = z[k] + b * p[k];
        }
        *short = p.map(|x| x.wide() as f32);
    }
}

widened!(turn_short_wide, turn_short_any, (
    b: T, z: &[Lane<T>], p: &mut [Lane<T>], short: &mut [Lane<f32>]
));

/// p in single precision.
pub fn shorten<T: Scalar>(p: &[Lane<T>], short: &mut [Lane<f32>]) {
    each_light(p.len(), short, &|rows, short: &mut [Lane<f32>]| {
        for (short, p) in short.iter_mut().zip(&p[rows]) {
            *short = p.map(|x| x.wide() as f32);
        }
    });
}
