//! Impulses from bundles back to contacts.

// a lane or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, Points};
use crate::simd::f32x8::{LANES, Quad, Vector, Wide, cross, load};
use crate::state::contact::{Impulses, POINTS_MAX};

/// Hands the contacts of a group their impulses: friction is shared out among the points of each so that its
/// sum and its torque about their middle are what the contact had.
///
/// # Safety
/// `impulses` are those of the contacts of the group, by lanes, and anything in lanes without one; nobody
/// else reads or changes them.
pub unsafe fn unpack(
    bundle: &Bundle,
    points: &[Points],
    counts: &Wide,
    impulses: [*mut Impulses; LANES],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for; the rest is the caller's
        return unsafe { hand_back_avx2(bundle, points, counts, impulses) };
    }
    // SAFETY: the caller's
    unsafe { hand_back::<Wide>(bundle, points, counts, impulses) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn hand_back_avx2(
    bundle: &Bundle,
    points: &[Points],
    counts: &Wide,
    impulses: [*mut Impulses; LANES],
) {
    // SAFETY: the caller's
    unsafe {
        hand_back::<crate::simd::f32x8::avx2::Register>(bundle, points, counts, impulses);
    }
}

#[inline(always)]
unsafe fn hand_back<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    counts: &Wide,
    impulses: [*mut Impulses; LANES],
) {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let (count, normal) = (V::load(counts), load::<V>(&bundle.normal));
    let t = load::<V>(&bundle.tangent);
    let u = cross(normal, t);
    let [z1, z2, z3] = load::<V>(&bundle.friction);
    let share = count.select_le(zero, zero, one / count);
    let mut square = zero;
    for point in points {
        let [x, y] = [V::load(&point.offset[0]), V::load(&point.offset[1])];
        square = square + (x * x + y * y);
    }
    let twist = square.select_le(zero, zero, z3 / square);
    let (mut along, mut friction) = ([zero; POINTS_MAX], [zero; 3 * POINTS_MAX]);
    for (k, point) in points.iter().enumerate() {
        let is_there = V::splat(k as f32);
        along[k] = count.select_le(is_there, zero, V::load(&point.impulse));
        let [dt, du] = [V::load(&point.offset[0]), V::load(&point.offset[1])];
        let [f1, f2] = [share * z1 - twist * du, share * z2 + twist * dt];
        for x in 0..3 {
            let both = f1 * t[x] + f2 * u[x];
            friction[3 * k + x] = count.select_le(is_there, zero, both);
        }
    }
    let (mut used, mut to) = (0, [[std::ptr::null_mut::<Quad>(); LANES]; 4]);
    for lane in 0..LANES {
        used |= u8::from(counts.0[lane] > 0.0) << lane;
        for part in 0..4 {
            // impulses are four times four numbers; lanes without a contact lead nowhere
            to[part][lane] = impulses[lane].cast::<Quad>().wrapping_add(part);
        }
    }
    // SAFETY: likewise
    unsafe {
        V::write(along, to[0], used);
        for part in 0..3 {
            let i = 4 * part;
            let quarter = [friction[i], friction[i + 1], friction[i + 2], friction[i + 3]];
            V::write(quarter, to[1 + part], used);
        }
    }
}
