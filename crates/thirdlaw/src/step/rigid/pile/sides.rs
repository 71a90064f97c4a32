//! What a bundle sees of its bodies, and what its contacts do to them in one iteration.

// a side or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, Line, Points};
use super::slip;
use super::sweep::{Bodies, Pass};
use crate::parallel::share::Shared;
use crate::simd::f32x8::{LANES, Quad, Vector, Wide3, add, cross, dot, load, scaled, sub};

/// What the points of a bundle tell each other.
struct Changes<'a, V, const N: usize> {
    pass: Pass,
    bundle: &'a Bundle,
    /// Γ/N, and 1/(1 + Γ/N).
    soft: [V; 2],
    /// w/N of each.
    closing: [V; N],
    /// Of impulses.
    sum: V,
    /// Largest, m/s, in the last pass.
    met: V,
}

/// What a bundle sees of its bodies.
pub struct Sides<V, const PATIENT: bool> {
    /// v_b − v_a.
    pub relative: [V; 3],
    pub angular: [[V; 3]; 2],
    /// Impulse on b so far, and what impulses did to the turning of both.
    pub push: [V; 3],
    pub turn: [[V; 3]; 2],
    /// As in [`Outcome`], where islands converge.
    pub open: V,
    pub error: V,
}

pub type Addresses = [*mut Line; LANES];

/// Where the lines of one side lie.
///
/// # Safety
/// The bundle names lines that there are.
#[inline(always)]
pub unsafe fn lines(of: &Shared<Line>, bundle: &Bundle, side: usize) -> Addresses {
    let mut out = [std::ptr::null_mut(); LANES];
    for (out, &line) in out.iter_mut().zip(&bundle.body[side]) {
        // SAFETY: the caller's
        *out = unsafe { of.start().add(line as usize) };
    }
    out
}

macro_rules! part {
    ($name:ident, $field:ident, $raw:tt, $pointer:ty) => {
        /// # Safety
        /// The lines are there.
        #[inline(always)]
        pub unsafe fn $name(lines: Addresses) -> [$pointer; LANES] {
            let mut out = [std::ptr::null_mut::<Quad>() as $pointer; LANES];
            for (out, &line) in out.iter_mut().zip(&lines) {
                // SAFETY: the caller's
                *out = unsafe { &raw $raw (*line).$field };
            }
            out
        }
    };
}
part!(linear, linear, const, *const Quad);
part!(angular, angular, const, *const Quad);
part!(linear_mut, linear, mut, *mut Quad);
part!(angular_mut, angular, mut, *mut Quad);

impl<V: Vector, const PATIENT: bool> Sides<V, PATIENT> {
    #[inline(always)]
    pub unsafe fn gather(bundle: &Bundle, bodies: &Bodies) -> Self {
        // SAFETY: the caller's
        unsafe {
            let [a, b] = [lines(bodies.velocity, bundle, 0), lines(bodies.velocity, bundle, 1)];
            Sides {
                relative: V::read_difference(linear(b), linear(a)),
                angular: [V::read(angular(a)), V::read(angular(b))],
                push: [V::splat(0.0); 3],
                turn: [[V::splat(0.0); 3]; 2],
                open: V::splat(1.0),
                error: V::splat(0.0),
            }
        }
    }

    /// The next impulse, where the contact takes part.
    #[inline(always)]
    fn if_open(&self, next: V, now: V) -> V {
        if PATIENT { self.open.select_le(V::splat(0.0), now, next) } else { next }
    }

    /// Notes a change of impulse by the change of velocity it makes, m/s.
    #[inline(always)]
    fn note(&mut self, change: V, inverse: V) {
        if PATIENT {
            let zero = V::splat(0.0);
            let speed = change.max(zero - change) / inverse;
            self.error = self.error.max(inverse.select_le(zero, zero, speed));
        }
    }

    #[inline(always)]
    pub unsafe fn scatter(&self, bundle: &Bundle, bodies: &Bodies) {
        let zero = V::splat(0.0);
        let pushes = [sub([zero; 3], self.push), self.push];
        for side in 0..2 {
            let moves = bundle.moves[side];
            // SAFETY: the caller's; every body has a mass
            unsafe {
                let lines = lines(bodies.velocity, bundle, side);
                let mut masses = [std::ptr::null(); LANES];
                for (out, &line) in masses.iter_mut().zip(&bundle.body[side]) {
                    *out = &raw const bodies.inv_mass.get_unchecked(line as usize).0;
                }
                V::add_scaled_to(pushes[side], masses, linear_mut(lines), moves);
                V::add_to(self.turn[side], angular_mut(lines), moves);
            }
        }
    }

    /// One iteration for the normal impulses, point after point. What the impulse of a point does to the
    /// points behind it is known beforehand (`coupling`), so that the bodies need not be asked between them.
    /// Returns the largest change asked for, m/s, of the last pass.
    #[inline(always)]
    pub fn normals(&mut self, pass: Pass, bundle: &Bundle, points: &mut [Points]) -> V {
        match points.len() {
            1 => self.normals_of::<1>(pass, bundle, points),
            2 => self.normals_of::<2>(pass, bundle, points),
            3 => self.normals_of::<3>(pass, bundle, points),
            _ => self.normals_of::<4>(pass, bundle, points),
        }
    }

    #[inline(always)]
    fn normals_of<const N: usize>(
        &mut self,
        pass: Pass,
        bundle: &Bundle,
        points: &mut [Points],
    ) -> V {
        let zero = V::splat(0.0);
        let Some(points) = points.first_chunk_mut::<N>() else { return zero };
        let normal = load::<V>(&bundle.normal);
        let along = dot(normal, self.relative);
        // w/N
        let mut closing = [zero; N];
        for (w, point) in closing.iter_mut().zip(&*points) {
            let [a, b] = [load(&point.arm[0]), load(&point.arm[1])];
            let turning = dot(b, self.angular[1]) - dot(a, self.angular[0]);
            *w = (along + turning) * V::load(&point.inverse);
        }
        // by hand, as compilers leave loops over registers in memory
        let softness = V::load(&bundle.softness);
        let soft = [softness, V::splat(1.0) / (V::splat(1.0) + softness)];
        let mut done = Changes { pass, bundle, soft, closing, sum: zero, met: zero };
        self.point::<N, 0>(points, &mut done);
        self.point::<N, 1>(points, &mut done);
        self.point::<N, 2>(points, &mut done);
        self.point::<N, 3>(points, &mut done);
        self.push = add(self.push, scaled(normal, done.sum));
        done.met
    }

    /// Point `K`, if there is one.
    #[inline(always)]
    fn point<const N: usize, const K: usize>(
        &mut self,
        points: &mut [Points; N],
        changes: &mut Changes<V, N>,
    ) {
        if K >= N {
            return;
        }
        let (point, zero) = (&mut points[K], V::splat(0.0));
        let change = self.normal(changes.pass, point, changes.closing[K], changes.soft);
        for j in [1, 2, 3] {
            if K < j && j < N {
                let coupling = V::load(&changes.bundle.coupling[j * (j - 1) / 2 + K]);
                changes.closing[j] = changes.closing[j] + coupling * change;
            }
        }
        if changes.pass == Pass::Last {
            let inverse = V::load(&point.inverse);
            let error = change.max(zero - change) / inverse;
            changes.met = changes.met.max(inverse.select_le(zero, zero, error));
        }
        changes.sum = changes.sum + change;
        self.turn[0] = sub(self.turn[0], scaled(load(&point.arm[0]), change));
        self.turn[1] = add(self.turn[1], scaled(load(&point.arm[1]), change));
    }

    /// The next normal impulse of a point with w/N; returns its change.
    #[inline(always)]
    fn normal(&mut self, pass: Pass, point: &mut Points, closing: V, soft: [V; 2]) -> V {
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        let (now, wanted) = (V::load(&point.impulse), V::load(&point.push));
        let next = match pass {
            Pass::Place | Pass::Push => {
                let [softness, share] = soft;
                let soft = wanted.select_le(zero, softness, zero);
                let scale = wanted.select_le(zero, share, one);
                now - scale * (closing + (wanted + soft * now))
            }
            // what an open point wants is its room
            _ => (now - wanted.max(zero)) - closing,
        };
        let next = self.if_open(next.max(zero), now);
        next.store(&mut point.impulse);
        let change = next - now;
        self.note(change, V::load(&point.inverse));
        change
    }

    /// Velocity along the two tangents and about the normal, at the middle of the points.
    #[inline(always)]
    pub fn sliding(&self, bundle: &Bundle, normal: [V; 3]) -> [V; 3] {
        let t = load::<V>(&bundle.tangent);
        let u = cross(normal, t);
        let [ya, yb] = self.angular;
        let [a, b] = [&bundle.turn[0], &bundle.turn[1]];
        [
            dot(t, self.relative) + (dot(load(&b[0]), yb) - dot(load(&a[0]), ya)),
            dot(u, self.relative) + (dot(load(&b[1]), yb) - dot(load(&a[1]), ya)),
            dot(load(&b[2]), yb) - dot(load(&a[2]), ya),
        ]
    }

    #[inline(always)]
    pub fn friction(&mut self, pass: Pass, bundle: &mut Bundle, points: &[Points]) {
        let normal = load::<V>(&bundle.normal);
        let t = load::<V>(&bundle.tangent);
        let u = cross(normal, t);
        let z = load::<V>(&bundle.friction);

        let [ya, yb] = self.angular;
        let [a, b] = [&bundle.turn[0], &bundle.turn[1]];
        let w1 = dot(t, self.relative) + (dot(load(&b[0]), yb) - dot(load(&a[0]), ya));
        let w2 = dot(u, self.relative) + (dot(load(&b[1]), yb) - dot(load(&a[1]), ya));
        let w3 = dot(load(&b[2]), yb) - dot(load(&a[2]), ya);

        // what would stop it; along its softest direction alone where the response is of rank one
        let [p, q, r] = load::<V>(&bundle.stick);
        let k = V::load(&bundle.slide);
        let huge = V::splat(f32::MAX);
        let wanted = [
            p.select_le(huge, z[0] - (p * w1 + q * w2), z[0] - k * w1),
            p.select_le(huge, z[1] - (q * w1 + r * w2), z[1] - k * w2),
            z[2] - V::load(&bundle.twist) * w3,
        ];
        let exactly = matches!(pass, Pass::Relax | Pass::Last);
        let next = slip::bounded(bundle, points, (z, wanted), [w1, w2, w3], exactly);
        let next =
            [self.if_open(next[0], z[0]), self.if_open(next[1], z[1]), self.if_open(next[2], z[2])];
        next[0].store(&mut bundle.friction[0]);
        next[1].store(&mut bundle.friction[1]);
        next[2].store(&mut bundle.friction[2]);

        let change = sub(next, z);
        if PATIENT {
            let slide = V::load(&bundle.slide);
            self.note(change[0], slide);
            self.note(change[1], slide);
            self.note(V::load(&bundle.radius) * change[2], V::load(&bundle.twist));
        }
        let push = add(scaled(t, change[0]), scaled(u, change[1]));
        let [a, b] = [turned(&bundle.turn[0], change), turned(&bundle.turn[1], change)];
        self.push = add(self.push, push);
        self.turn = [sub(self.turn[0], a), add(self.turn[1], b)];
        let mass = load::<V>(&bundle.mass);
        for x in 0..3 {
            self.relative[x] = self.relative[x] + mass[x] * push[x];
        }
        self.angular = [sub(self.angular[0], a), add(self.angular[1], b)];
    }

    /// Lets what is seen of the bodies follow the impulses so far.
    #[inline(always)]
    pub fn follow(&mut self, bundle: &Bundle) {
        let mass = load::<V>(&bundle.mass);
        for x in 0..3 {
            self.relative[x] = self.relative[x] + mass[x] * self.push[x];
        }
        self.angular = [add(self.angular[0], self.turn[0]), add(self.angular[1], self.turn[1])];
    }

    #[inline(always)]
    pub fn warm(&mut self, bundle: &Bundle, points: &[Points]) {
        let normal = load::<V>(&bundle.normal);
        let t = load::<V>(&bundle.tangent);
        let [z1, z2, z3] = load::<V>(&bundle.friction);
        let push = add(scaled(t, z1), scaled(cross(normal, t), z2));
        let z = [z1, z2, z3];
        let [mut a, mut b] = [turned(&bundle.turn[0], z), turned(&bundle.turn[1], z)];
        let (zero, mut sum) = (V::splat(0.0), V::splat(0.0));
        for point in points {
            let z = V::load(&point.impulse);
            sum = sum + z;
            a = add(a, scaled(load(&point.arm[0]), z));
            b = add(b, scaled(load(&point.arm[1]), z));
        }
        self.push = add(push, scaled(normal, sum));
        self.turn = [sub([zero; 3], a), b];
    }
}

/// What the three impulses of friction do to the turning of a side.
#[inline(always)]
pub fn turned<V: Vector>(turn: &[Wide3; 3], [z1, z2, z3]: [V; 3]) -> [V; 3] {
    let [t, u, n] = [load::<V>(&turn[0]), load::<V>(&turn[1]), load::<V>(&turn[2])];
    add(add(scaled(t, z1), scaled(u, z2)), scaled(n, z3))
}
