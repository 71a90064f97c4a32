//! One pass over bundles: the rows of [`crate::contact`], with friction for a whole contact.
//!
//! A point's normal impulse takes z ← max(0, z − (w + b + Γz)/(N + Γ)), with w = J v. Overlaps are pushed
//! apart by the spring of [`crate::step::rigid::restitution`], Γ = sN; all terms are kept over N, so that
//! z ← max(0, z − (w/N + b/N + sz)/(1 + s)). Friction acts in the middle of the points, as a force along two
//! tangents and a torque about the normal, within what the points can bear (`slip.rs`).
//!
//! Differences of linear velocities are formed in double precision, and what a contact did to its two
//! bodies is added to their velocities in double precision with the same impulse: momentum keeps
//! its digits. Angular velocities are rounded on the way.

#[cfg(test)]
mod tests;

use super::bundle::{Bundle, Line, Padded, Points};
use super::convergence::Outcome;
use super::sides::{Sides, angular, linear, lines};
use crate::parallel::share::Shared;
use crate::simd::f32x8::{Vector, Wide, dot, load};
use crate::step::rigid::restitution::INSIDE;

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Gives the bodies the impulses there are.
    Warm,
    /// The first iteration of a substep: where the points are now, and what they want.
    Place,
    /// Another iteration with overlaps pushed apart.
    Push,
    /// An iteration without.
    Relax,
    /// The last of these, which says what it still had to change.
    Last,
}

/// The numbers of a pass that are the same for all contacts; lengths and speeds are for bodies of the size that
/// the settings are given for.
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    /// 1/h.
    pub inv_h: f32,
    /// Overlap left alone, m.
    pub slop: f32,
    /// Most of b, m/s.
    pub speed: f32,
    /// Most that the spring gives way at rest, m.
    pub sag: f32,
}

/// Velocities, ways since the step began, and inverse masses, by lines.
pub struct Bodies<'a> {
    pub velocity: &'a Shared<'a, Line>,
    pub moved: &'a Shared<'a, Line>,
    pub inv_mass: &'a [Padded],
}

/// Some bundles, and what belongs to them.
pub struct Part<'a> {
    pub bundles: &'a mut [Bundle],
    /// Their records of points.
    pub points: &'a mut [Points],
    /// One for each bundle where islands converge: only contacts that are open there take part, and each
    /// is told the change it asked for.
    pub outcomes: Option<&'a mut [Outcome]>,
}

/// One pass over bundles, one after the other. The last returns the largest change that a normal impulse
/// asked for, m/s.
///
/// # Safety
/// The bundles name lines and masses that there are; nobody else reads or changes the velocity lines of
/// bodies that move in these bundles, nor changes any other line they name.
pub unsafe fn sweep(pass: Pass, part: Part, bodies: &Bodies, spring: &Spring) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for; the rest is the caller's
        return unsafe { sweep_avx2(pass, part, bodies, spring) };
    }
    // SAFETY: the caller's
    unsafe { sweep_as::<Wide>(pass, part, bodies, spring) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sweep_avx2(pass: Pass, part: Part, bodies: &Bodies, spring: &Spring) -> f32 {
    unsafe { sweep_as::<crate::simd::f32x8::avx2::Register>(pass, part, bodies, spring) }
}

/// The same with one kind of vectors.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn sweep_as<V: Vector>(pass: Pass, part: Part, bodies: &Bodies, spring: &Spring) -> f32 {
    // SAFETY: the caller's
    unsafe {
        match part.outcomes {
            None => sweep_with::<V, false>(pass, part, bodies, spring),
            Some(_) => sweep_with::<V, true>(pass, part, bodies, spring),
        }
    }
}

/// The same, with or without convergence.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
unsafe fn sweep_with<V: Vector, const PATIENT: bool>(
    pass: Pass,
    Part { bundles, points, outcomes }: Part,
    bodies: &Bodies,
    spring: &Spring,
) -> f32 {
    let outcomes = outcomes.unwrap_or_default();
    let mut met = V::splat(0.0);
    for (i, bundle) in bundles.iter_mut().enumerate() {
        if PATIENT && outcomes[i].is_done() {
            continue;
        }
        let start = bundle.start as usize;
        let points = &mut points[start..start + bundle.count as usize];
        // SAFETY: the caller's
        let mut sides = unsafe { Sides::<V, PATIENT>::gather(bundle, bodies) };
        if PATIENT {
            sides.open = V::load(&outcomes[i].open);
        }
        if pass == Pass::Place {
            // SAFETY: the caller's; ways change in no pass
            unsafe { place::<V>(bundle, points, bodies, spring) };
        }
        match pass {
            Pass::Warm => sides.warm(bundle, points),
            Pass::Place | Pass::Push => {
                sides.friction(pass, bundle, points);
                sides.normals(pass, bundle, points);
            }
            // loads without push are not known before
            Pass::Relax | Pass::Last => {
                met = met.max(sides.normals(pass, bundle, points));
                sides.follow(bundle);
                sides.friction(pass, bundle, points);
            }
        }
        if PATIENT {
            sides.error.store(&mut outcomes[i].error);
        }
        // SAFETY: the caller's
        unsafe { sides.scatter(bundle, bodies) };
    }
    let mut out = Wide::default();
    met.store(&mut out);
    out.0.into_iter().fold(0.0, f32::max)
}

/// Where the points are after what bodies have moved so far, and what they want.
#[inline(always)]
unsafe fn place<V: Vector>(
    bundle: &Bundle,
    points: &mut [Points],
    bodies: &Bodies,
    spring: &Spring,
) {
    // SAFETY: the caller's
    let (way, turn) = unsafe {
        let [a, b] = [lines(bodies.moved, bundle, 0), lines(bodies.moved, bundle, 1)];
        (V::read_difference(linear(b), linear(a)), [V::read(angular(a)), V::read(angular(b))])
    };
    let apart = dot(load(&bundle.normal), way);
    let (zero, inv_h) = (V::splat(0.0), V::splat(spring.inv_h));
    let (scale, rate, softness) =
        (V::load(&bundle.scale), V::load(&bundle.rate), V::load(&bundle.softness));
    let (slop, speed) = (V::splat(spring.slop) * scale, V::splat(spring.speed) * scale.sqrt());
    let held = rate * (V::splat(spring.sag) * scale);
    let skin = V::load(&bundle.skin);
    let inside = V::splat(INSIDE as f32) * skin;
    for point in points {
        let turned = dot(load(&point.arm[1]), turn[1]) - dot(load(&point.arm[0]), turn[0]);
        let gap = V::load(&point.gap_start) + apart + turned;
        let inverse = V::load(&point.inverse);
        // a load that would press the spring farther than the sag allowed is carried by b
        let excess = (softness * V::load(&point.impulse) - held * inverse).max(zero);
        let push = (rate * (gap + slop).min(zero)).max(zero - speed) * inverse - excess;
        let room = gap - inside;
        gap.select_le(skin, push, room * inv_h * inverse).store(&mut point.push);
    }
}
