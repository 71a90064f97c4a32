//! Restitution in a pile: impacts one contact after the other, none of which makes energy.
//!
//! What is reflected, and when, is as in [`crate::step::rigid::substep`]: u = v + ½h·a, before the contacts of a
//! substep are solved, where a point approaches faster than it may and closes within the substep. There all such
//! points of an island are reflected together [smith2012, "Reflections on Simultaneous Impact"]; here those of a
//! contact, eight contacts at a time, and rounds go on until none approaches. For the points of a contact
//!
//!   0 ≤ λ ⊥ w + N λ ≥ 0,      v ← v + s·M⁻¹Jᵀ(1 + e)λ,      s = min(1, −2 pᵀw/pᵀNp),   p = (1 + e)λ,
//!
//! after which friction at each point goes within μ times its impulse, against its velocity and never beyond what
//! stops it. s shortens what would gain, where e differs or λ has not converged. So each impact loses energy
//! by itself, whatever comes before and after it, and rounds that end early leave nothing worse than an approach,
//! which the contact solver stops without restitution. What is lost against reflecting all at once is symmetry: of two
//! contacts that strike a body at the same time, one comes first.
//!
//! Impacts act on velocities of their own, whose change goes to the bodies at the end: impulses that contacts
//! begin a substep with do not show in what approaches.

// a point or a side counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, Line, Padded, Points};
use super::sides::{Sides, angular, linear, lines, turned};
use super::slip;
use super::sweep;
use crate::parallel::share::Shared;
use crate::simd::f32x8::{LANES, Vector, Wide, add, dot, load, scaled, sub};
use crate::state::contact::POINTS_MAX;

/// Rounds at most in a substep: a blow goes through so many contacts.
pub const ROUNDS: u32 = 16;
/// Sweeps for the impulses of a contact's points, and for friction at them.
const SWEEPS: usize = 12;
const RUBS: usize = 6;

/// How the contacts of a bundle bounce.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rebound {
    /// e.
    pub restitution: Wide,
    /// Slower approaches do not bounce, m/s.
    pub slowest: Wide,
}

/// What is the same for all contacts.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// 1/h.
    pub inv_h: f32,
}

/// Lines of the bodies.
pub struct Bodies<'a> {
    /// u, which impacts change.
    pub struck: &'a Shared<'a, Line>,
    /// h·a.
    pub gained: &'a Shared<'a, Line>,
    /// Ways since the step began.
    pub moved: &'a Shared<'a, Line>,
    pub inv_mass: &'a [Padded],
}

/// The points of a bundle's contacts that bounce.
struct Struck<V> {
    /// w/N of each, and N of one on another over N of the latter: `response[j][k]` of k on j.
    closing: [V; POINTS_MAX],
    response: [[V; POINTS_MAX]; POINTS_MAX],
    /// 1 where it approaches, else 0.
    active: [V; POINTS_MAX],
    /// 1 + e.
    factor: [V; POINTS_MAX],
}

/// One round over bundles, one after the other. Returns whether any contact bounced.
///
/// # Safety
/// The bundles name lines and masses that there are; nobody else reads or changes the struck lines of bodies that
/// move in these bundles, nor changes any other line they name.
pub unsafe fn reflect(
    (bundles, points): (&[Bundle], &[Points]),
    rebounds: &[Rebound],
    bodies: &Bodies,
    law: &Law,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for; the rest is the caller's
        return unsafe { reflect_avx2((bundles, points), rebounds, bodies, law) };
    }
    // SAFETY: the caller's
    unsafe { reflect_as::<Wide>((bundles, points), rebounds, bodies, law) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn reflect_avx2(
    records: (&[Bundle], &[Points]),
    rebounds: &[Rebound],
    bodies: &Bodies,
    law: &Law,
) -> bool {
    use crate::simd::f32x8::avx2::Register;
    // SAFETY: the caller's
    unsafe { reflect_as::<Register>(records, rebounds, bodies, law) }
}

/// The same with one kind of vectors.
///
/// # Safety
/// As for [`reflect`].
#[inline(always)]
unsafe fn reflect_as<V: Vector>(
    (bundles, points): (&[Bundle], &[Points]),
    rebounds: &[Rebound],
    bodies: &Bodies,
    law: &Law,
) -> bool {
    let of =
        sweep::Bodies { velocity: bodies.struck, moved: bodies.moved, inv_mass: bodies.inv_mass };
    let mut any = false;
    for (bundle, rebound) in bundles.iter().zip(rebounds) {
        if rebound.restitution.0 == [0.0; LANES] {
            continue;
        }
        let points = &points[bundle.start as usize..][..usize::from(bundle.count)];
        // SAFETY: the caller's
        let mut sides = unsafe { Sides::<V, false>::gather(bundle, &of) };
        let speeds = speeds(bundle, points, sides.relative, &sides.angular);
        let mut least = V::splat(0.0);
        for speed in &speeds[..points.len()] {
            least = least.min(*speed);
        }
        if (V::splat(0.0) - V::load(&rebound.slowest)).all_le(least) {
            continue;
        }
        // SAFETY: likewise
        let found = unsafe { approaching(bundle, points, &speeds, (rebound, bodies, law)) };
        let Some(struck) = found else { continue };
        any = true;
        let impulses = struck.impulses();
        sides.bounce(bundle, points, &impulses);
        // SAFETY: likewise
        unsafe { sides.scatter(bundle, &of) };
    }
    any
}

/// J v of the normals of points.
#[inline(always)]
fn speeds<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    relative: [V; 3],
    angular: &[[V; 3]; 2],
) -> [V; POINTS_MAX] {
    let along = dot(load(&bundle.normal), relative);
    let mut out = [along; POINTS_MAX];
    for (out, point) in out.iter_mut().zip(points) {
        let turning = dot(load(&point.arm[1]), angular[1]) - dot(load(&point.arm[0]), angular[0]);
        *out = along + turning;
    }
    out
}

/// The points that bounce, of these speeds; none if nothing does.
#[inline(always)]
unsafe fn approaching<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    speeds: &[V; POINTS_MAX],
    (rebound, bodies, law): (&Rebound, &Bodies, &Law),
) -> Option<Struck<V>> {
    let (zero, one, half) = (V::splat(0.0), V::splat(1.0), V::splat(0.5));
    // SAFETY: the caller's
    let (gained, gaps) = unsafe {
        let [a, b] = [lines(bodies.gained, bundle, 0), lines(bodies.gained, bundle, 1)];
        let relative = V::read_difference(linear(b), linear(a));
        let turning = [V::read(angular(a)), V::read(angular(b))];
        let gained = self::speeds(bundle, points, relative, &turning);
        let [a, b] = [lines(bodies.moved, bundle, 0), lines(bodies.moved, bundle, 1)];
        let way = V::read_difference(linear(b), linear(a));
        let turn = [V::read(angular(a)), V::read(angular(b))];
        (gained, self::speeds(bundle, points, way, &turn))
    };
    let e = V::load(&rebound.restitution);
    let mut struck = Struck {
        closing: [zero; POINTS_MAX],
        response: [[zero; POINTS_MAX]; POINTS_MAX],
        active: [zero; POINTS_MAX],
        factor: [one; POINTS_MAX],
    };
    let mut most = zero;
    for (k, point) in points.iter().enumerate() {
        let inverse = V::load(&point.inverse);
        let (w, gained) = (speeds[k], gained[k]);
        let gap = (V::load(&point.gap_start) + gaps[k]).max(zero);
        let closes = gap * V::splat(law.inv_h) + half * gained;
        let faster = V::load(&rebound.slowest).max(gained.max(zero - gained)).max(closes);
        // where nothing can move or bounce nothing approaches
        let active = (w + faster).select_le(zero, one, zero);
        let active = inverse.select_le(zero, zero, e.select_le(zero, zero, active));
        let active = w.select_le(V::splat(-1e-20), active, zero);
        // on the way that is left speed is gained, and lost again
        let gain = zero - V::splat(2.0 * law.inv_h) * gained * gap;
        let square = (e * e * (w * w + gain) - gain).max(zero);
        let kept = active.select_le(zero, zero, (square.sqrt() / (zero - w)).min(one));
        struck.active[k] = active;
        struck.factor[k] = one + kept;
        struck.closing[k] = w * inverse;
        struck.response[k][k] = inverse.select_le(zero, zero, one);
        most = most.max(active);
        for j in 0..k {
            let coupling = V::load(&bundle.coupling[k * (k - 1) / 2 + j]);
            let other = V::load(&points[j].inverse);
            struck.response[k][j] = coupling;
            struck.response[j][k] = inverse.select_le(zero, zero, coupling * other / inverse);
        }
    }
    // responses over N, so that what follows needs no more of it than this
    let none = most.all_le(zero);
    for k in 0..points.len() {
        let inverse = V::load(&points[k].inverse);
        struck.active[k] = inverse.select_le(zero, zero, struck.active[k] / inverse);
    }
    if none { None } else { Some(struck) }
}

impl<V: Vector> Struck<V> {
    /// s(1 + e)λ of each point. `active` is N of those that approach, 0 of others.
    #[inline(always)]
    fn impulses(&self) -> [V; POINTS_MAX] {
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let mut lambda = [zero; POINTS_MAX];
        for k in 0..POINTS_MAX {
            lambda[k] = self.active[k].select_le(zero, zero, one);
        }
        // the same at each that stops their mean: exact for what lands flat
        let (before, response) = self.work(&lambda);
        let mean = response.select_le(zero, zero, zero - before / response);
        let mut closing = self.closing;
        for k in 0..POINTS_MAX {
            lambda[k] = lambda[k] * mean;
        }
        for (j, closing) in closing.iter_mut().enumerate() {
            for k in 0..POINTS_MAX {
                *closing = *closing + self.response[j][k] * lambda[k];
            }
        }
        for _ in 0..SWEEPS {
            for k in 0..POINTS_MAX {
                let next = (lambda[k] - closing[k]).max(zero);
                let next = self.active[k].select_le(zero, zero, next);
                let change = next - lambda[k];
                lambda[k] = next;
                for j in 0..POINTS_MAX {
                    closing[j] = closing[j] + self.response[j][k] * change;
                }
            }
        }
        for k in 0..POINTS_MAX {
            lambda[k] = lambda[k] * self.factor[k];
        }
        // where nothing is gained
        let (before, response) = self.work(&lambda);
        let s = response.select_le(zero, zero, zero - (before + before) / response);
        let s = s.max(zero).min(one);
        for k in 0..POINTS_MAX {
            lambda[k] = lambda[k] * s;
        }
        lambda
    }

    /// pᵀw and pᵀNp.
    #[inline(always)]
    fn work(&self, p: &[V; POINTS_MAX]) -> (V, V) {
        let (mut before, mut response) = (V::splat(0.0), V::splat(0.0));
        for j in 0..POINTS_MAX {
            let pn = p[j] * self.active[j];
            before = before + pn * self.closing[j];
            let mut sum = V::splat(0.0);
            for k in 0..POINTS_MAX {
                sum = sum + self.response[j][k] * p[k];
            }
            response = response + pn * sum;
        }
        (before, response)
    }
}

impl<V: Vector> Sides<V, false> {
    /// Normal impulses of points, and friction that they bear.
    #[inline(always)]
    fn bounce(&mut self, bundle: &Bundle, points: &[Points], impulses: &[V; POINTS_MAX]) {
        let zero = V::splat(0.0);
        let normal = load::<V>(&bundle.normal);
        let (mut sum, mut turn) = (zero, [[zero; 3]; 2]);
        for (point, &p) in points.iter().zip(impulses) {
            sum = sum + p;
            for side in 0..2 {
                turn[side] = add(turn[side], scaled(load(&point.arm[side]), p));
            }
        }
        self.push = scaled(normal, sum);
        self.turn = [sub([zero; 3], turn[0]), turn[1]];
        self.follow(bundle);

        let velocity = self.sliding(bundle, normal);
        let wrench = slip::rubbed(bundle, points, impulses, velocity, RUBS);
        let t = load::<V>(&bundle.tangent);
        let u = crate::simd::f32x8::cross(normal, t);
        let [a, b] = [turned(&bundle.turn[0], wrench), turned(&bundle.turn[1], wrench)];
        self.push = add(self.push, add(scaled(t, wrench[0]), scaled(u, wrench[1])));
        self.turn = [sub(self.turn[0], a), add(self.turn[1], b)];
    }
}
