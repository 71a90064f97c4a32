//! One pass over joints.
//!
//! A row about an axis takes z ← mid(0, z − (w + b₀)/N, z − (w + b₁)/N) within ± its most: with b₀ = b₁ it is
//! held, or rubs; a limit has room between both. The three rows of the anchors take p ← p − K⁻¹(w + b), as one.
//! What closes gaps, b = β C/h, is left out of the second solve of a substep, whose velocities stay: closing
//! gaps adds no energy.
//!
//! Both anchors are taken at b's, so that what a joint does to its bodies has neither a force nor a torque left
//! over, however wide the gap.

// a side or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, Row};
use crate::parallel::share::Shared;
use crate::simd::f32x8::{
    LANES, Quad, Vector, Wide, Wide3, add, cross, dot, load, read4, scaled, sub,
};
use crate::step::rigid::pile::bundle::Line;
use crate::step::rigid::pile::bundle::Padded;
use crate::step::rigid::pile::sides::{Addresses, angular, angular_mut, linear, linear_mut};
use crate::step::rigid::pile::sweep::Pass;

/// β: part of an error that is taken away in a substep.
pub const PUSH: f32 = 0.3;
/// Iterations of a joint by itself in a pass.
const TURNS: usize = 2;
/// Fastest speed at which joints that are apart are pulled together, m/s and rad/s.
const CLOSING_SPEED: f32 = 3.0;

/// Velocities, ways since the step began, turns since then as quaternions, and inverse masses, by lines.
pub struct Bodies<'a> {
    pub velocity: &'a Shared<'a, Line>,
    pub moved: &'a Shared<'a, Line>,
    pub turned: &'a Shared<'a, Padded>,
    pub inv_mass: &'a [Padded],
    /// 1/h.
    pub inv_h: f32,
}

/// One pass over bundles, one after the other.
///
/// # Safety
/// The bundles name lines that there are; nobody else reads or changes the velocity lines of bodies that move in
/// these bundles, nor changes any other line they name.
pub unsafe fn sweep(pass: Pass, bundles: &mut [Bundle], rows: &mut [Row], bodies: &Bodies) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for; the rest is the caller's
        return unsafe { sweep_avx2(pass, bundles, rows, bodies) };
    }
    // SAFETY: the caller's
    unsafe { sweep_as::<Wide>(pass, bundles, rows, bodies) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sweep_avx2(pass: Pass, bundles: &mut [Bundle], rows: &mut [Row], bodies: &Bodies) {
    // SAFETY: the caller's
    unsafe { sweep_as::<crate::simd::f32x8::avx2::Register>(pass, bundles, rows, bodies) }
}

/// The same with one kind of vectors.
///
/// # Safety
/// As for [`sweep`].
#[inline(always)]
pub unsafe fn sweep_as<V: Vector>(
    pass: Pass,
    bundles: &mut [Bundle],
    rows: &mut [Row],
    bodies: &Bodies,
) {
    for bundle in bundles {
        let rows = &mut rows[bundle.start as usize..][..usize::from(bundle.rows)];
        // SAFETY: the caller's
        let mut sides = unsafe { Sides::<V>::gather(bundle, bodies) };
        match pass {
            Pass::Warm => {
                // SAFETY: the caller's; ways and turns change in no pass
                unsafe { place::<V>(bundle, rows, bodies) };
                sides.give(bundle, rows);
            }
            Pass::Place => {
                sides.take_turns(bundle, rows);
                // SAFETY: likewise
                unsafe { place::<V>(bundle, rows, bodies) };
                sides.give_turns(bundle, rows);
                sides.settle::<true>(bundle, rows);
            }
            Pass::Push => sides.settle::<true>(bundle, rows),
            Pass::Relax | Pass::Last => sides.settle::<false>(bundle, rows),
        }
        // SAFETY: the caller's
        unsafe { sides.scatter(bundle, bodies) };
    }
}

/// What a bundle sees of its bodies.
struct Sides<V> {
    /// v_b − v_a.
    relative: [V; 3],
    angular: [[V; 3]; 2],
    /// Impulse on b, and what impulses did to the turning of both.
    push: [V; 3],
    turn: [[V; 3]; 2],
}

/// Where the lines of one side lie.
///
/// # Safety
/// The lines are there.
#[inline(always)]
unsafe fn lines(of: &Shared<Line>, body: &[u32; LANES]) -> Addresses {
    let mut out = [std::ptr::null_mut(); LANES];
    for (out, &line) in out.iter_mut().zip(body) {
        // SAFETY: the caller's
        *out = unsafe { of.start().add(line as usize) };
    }
    out
}

impl<V: Vector> Sides<V> {
    #[inline(always)]
    unsafe fn gather(bundle: &Bundle, bodies: &Bodies) -> Self {
        let zero = V::splat(0.0);
        // SAFETY: the caller's
        unsafe {
            let a = lines(bodies.velocity, &bundle.body[0]);
            let b = lines(bodies.velocity, &bundle.body[1]);
            Sides {
                relative: V::read_difference(linear(b), linear(a)),
                angular: [V::read(angular(a)), V::read(angular(b))],
                push: [zero; 3],
                turn: [[zero; 3]; 2],
            }
        }
    }

    #[inline(always)]
    unsafe fn scatter(&self, bundle: &Bundle, bodies: &Bodies) {
        let zero = V::splat(0.0);
        let pushes = [sub([zero; 3], self.push), self.push];
        for side in 0..2 {
            let moves = bundle.moves[side];
            // SAFETY: the caller's; every body has a mass
            unsafe {
                let lines = lines(bodies.velocity, &bundle.body[side]);
                let mut masses = [std::ptr::null::<Quad>(); LANES];
                for (out, &line) in masses.iter_mut().zip(&bundle.body[side]) {
                    *out = &raw const bodies.inv_mass.get_unchecked(line as usize).0;
                }
                V::add_scaled_to(pushes[side], masses, linear_mut(lines), moves);
                V::add_to(self.turn[side], angular_mut(lines), moves);
            }
        }
    }

    /// Impulses that there are, as they turn the bodies, `sign` times.
    #[inline(always)]
    fn turns(bundle: &Bundle, rows: &[Row], side: usize) -> [V; 3] {
        let p = load::<V>(&bundle.impulse);
        let mut out = scaled(load(&bundle.turn[side][0]), p[0]);
        for x in 1..3 {
            out = add(out, scaled(load(&bundle.turn[side][x]), p[x]));
        }
        for row in rows {
            out = add(out, scaled(load(&row.arm[side]), V::load(&row.impulse)));
        }
        out
    }

    /// Gives the bodies the impulses there are.
    #[inline(always)]
    fn give(&mut self, bundle: &Bundle, rows: &[Row]) {
        self.push = load(&bundle.impulse);
        self.give_turns(bundle, rows);
    }

    /// Impulses were given with the arms of the substep before: takes their turning back,
    #[inline(always)]
    fn take_turns(&mut self, bundle: &Bundle, rows: &[Row]) {
        let [a, b] = [Self::turns(bundle, rows, 0), Self::turns(bundle, rows, 1)];
        self.turn = [add(self.turn[0], a), sub(self.turn[1], b)];
    }

    /// and gives that of the arms as they are.
    #[inline(always)]
    fn give_turns(&mut self, bundle: &Bundle, rows: &[Row]) {
        let [a, b] = [Self::turns(bundle, rows, 0), Self::turns(bundle, rows, 1)];
        self.turn = [sub(self.turn[0], a), add(self.turn[1], b)];
        self.angular = [add(self.angular[0], self.turn[0]), add(self.angular[1], self.turn[1])];
    }

    /// Rows about axes and anchors in turn, so that anchors do not undo what limits ask for: with both bodies at hand
    /// that costs little.
    #[inline(always)]
    fn settle<const PUSHED: bool>(&mut self, bundle: &mut Bundle, rows: &mut [Row]) {
        for _ in 0..TURNS {
            self.iterate::<PUSHED>(bundle, rows);
        }
    }

    /// One iteration: rows about axes one after the other, then the anchors.
    #[inline(always)]
    fn iterate<const PUSHED: bool>(&mut self, bundle: &mut Bundle, rows: &mut [Row]) {
        let zero = V::splat(0.0);
        for row in rows {
            let [a, b] = [load::<V>(&row.arm[0]), load::<V>(&row.arm[1])];
            let inverse = V::load(&row.inverse);
            let w = (dot(b, self.angular[1]) - dot(a, self.angular[0])) * inverse;
            let [mut low, mut high] = [V::load(&row.push[0]), V::load(&row.push[1])];
            if !PUSHED {
                // what a limit has of room stays
                let limit = V::load(&row.limit);
                (low, high) = (limit * low.max(zero), limit * high.min(zero));
            }
            let now = V::load(&row.impulse);
            let free = now - w;
            let most = V::load(&row.most);
            let next = zero.max(free - low).min(free - high);
            let next = next.max(zero - most).min(most);
            next.store(&mut row.impulse);
            self.twist([a, b], next - now);
        }
        let mut w = [zero; 3];
        for x in 0..3 {
            let [a, b] = [load(&bundle.turn[0][x]), load(&bundle.turn[1][x])];
            let turning = dot(b, self.angular[1]) - dot(a, self.angular[0]);
            w[x] = self.relative[x] + turning;
            if PUSHED {
                w[x] = w[x] + V::load(&bundle.push[x]);
            }
        }
        // K⁻¹ w
        let [l21, l31, l32] = load::<V>(&bundle.factor);
        let [d1, d2, d3] = load::<V>(&bundle.inverse);
        let y = [w[0], w[1] - l21 * w[0]];
        let y3 = w[2] - l31 * w[0] - l32 * y[1];
        let z3 = d3 * y3;
        let z2 = d2 * y[1] - l32 * z3;
        let z1 = d1 * y[0] - l21 * z2 - l31 * z3;
        let change = [zero - z1, zero - z2, zero - z3];
        let mass = load::<V>(&bundle.mass);
        for x in 0..3 {
            (V::load(&bundle.impulse[x]) + change[x]).store(&mut bundle.impulse[x]);
            self.relative[x] = self.relative[x] + mass[x] * change[x];
            self.twist([load(&bundle.turn[0][x]), load(&bundle.turn[1][x])], change[x]);
        }
        self.push = add(self.push, change);
    }

    /// An impulse on a row turns both bodies.
    #[inline(always)]
    fn twist(&mut self, [a, b]: [[V; 3]; 2], z: V) {
        let [a, b] = [scaled(a, z), scaled(b, z)];
        self.turn = [sub(self.turn[0], a), add(self.turn[1], b)];
        self.angular = [sub(self.angular[0], a), add(self.angular[1], b)];
    }
}

#[inline(always)]
fn store<V: Vector>(v: [V; 3], to: &mut Wide3) {
    for x in 0..3 {
        v[x].store(&mut to[x]);
    }
}

/// Lᵀ a.
#[inline(always)]
fn rooted<V: Vector>(root: &[Wide; 6], a: [V; 3]) -> [V; 3] {
    let [l11, l21, l22] = [V::load(&root[0]), V::load(&root[1]), V::load(&root[2])];
    let [l31, l32, l33] = [V::load(&root[3]), V::load(&root[4]), V::load(&root[5])];
    [l11 * a[0] + l21 * a[1] + l31 * a[2], l22 * a[1] + l32 * a[2], l33 * a[2]]
}

/// The rows of the rotation matrix of a unit quaternion: where it takes the axes back to.
#[inline(always)]
fn rotation<V: Vector>([x, y, z, w]: [V; 4]) -> [[V; 3]; 3] {
    let one = V::splat(1.0);
    let [x2, y2, z2] = [x + x, y + y, z + z];
    let [xx, yy, zz] = [x * x2, y * y2, z * z2];
    let [xy, xz, yz] = [x * y2, x * z2, y * z2];
    let [wx, wy, wz] = [w * x2, w * y2, w * z2];
    [
        [one - (yy + zz), xy - wz, xz + wy],
        [xy + wz, one - (xx + zz), yz - wx],
        [xz - wy, yz + wx, one - (xx + yy)],
    ]
}

#[inline(always)]
fn turned<V: Vector>(rows: &[[V; 3]; 3], a: [V; 3]) -> [V; 3] {
    [dot(rows[0], a), dot(rows[1], a), dot(rows[2], a)]
}

#[inline(always)]
fn turned_back<V: Vector>(rows: &[[V; 3]; 3], a: [V; 3]) -> [V; 3] {
    let both = add(scaled(rows[0], a[0]), scaled(rows[1], a[1]));
    add(both, scaled(rows[2], a[2]))
}

/// Arms, responses and what is wanted, with the bodies where they are.
#[inline(always)]
unsafe fn place<V: Vector>(bundle: &mut Bundle, rows: &mut [Row], bodies: &Bodies) {
    // SAFETY: the caller's
    let (way, q) = unsafe {
        let a = lines(bodies.moved, &bundle.body[0]);
        let b = lines(bodies.moved, &bundle.body[1]);
        let turn = |side: usize| {
            let mut from = [std::ptr::null(); LANES];
            for (out, &line) in from.iter_mut().zip(&bundle.body[side]) {
                *out = bodies.turned.start().add(line as usize).cast::<f64>().cast_const();
            }
            from
        };
        let q = [read4::<V>(turn(0)), read4::<V>(turn(1))];
        (V::read_difference(linear(b), linear(a)), q)
    };
    let zero = V::splat(0.0);
    let axes = [rotation(q[0]), rotation(q[1])];
    let arm = [load::<V>(&bundle.arm[0]), load::<V>(&bundle.arm[1])];
    let lever = [turned(&axes[0], arm[0]), turned(&axes[1], arm[1])];
    let swung = sub(sub(lever[1], arm[1]), sub(lever[0], arm[0]));
    let gap = add(add(load(&bundle.gap), way), swung);
    // to b's anchor, in the axes of the beginning
    let arm = [add(arm[0], turned_back(&axes[0], gap)), arm[1]];
    let mass = load::<V>(&bundle.mass);
    let mut k = [mass[0], zero, zero, mass[1], zero, mass[2]];
    for side in 0..2 {
        let mut r = [[zero; 3]; 3];
        for x in 0..3 {
            r[x] = rooted(&bundle.root[side], cross(arm[side], axes[side][x]));
            store(r[x], &mut bundle.turn[side][x]);
        }
        let of = [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)];
        for i in 0..6 {
            k[i] = k[i] + dot(r[of[i].0], r[of[i].1]);
        }
    }
    factor(bundle, k);
    let rate = V::splat(PUSH * bodies.inv_h);
    let (speed, mut square) = (V::splat(CLOSING_SPEED), zero);
    let mut push = scaled(gap, rate);
    square = square + dot(push, push);
    push = scaled(push, square.select_le(speed * speed, V::splat(1.0), speed / square.sqrt()));
    store(push, &mut bundle.push);
    place_rows(bundle, rows, (q, &axes), bodies.inv_h);
}

/// Rows about axes, with both bodies turned by `q`.
#[inline(always)]
fn place_rows<V: Vector>(
    bundle: &Bundle,
    rows: &mut [Row],
    (q, axes): ([[V; 4]; 2], &[[[V; 3]; 3]; 2]),
    inv_h: f32,
) {
    let (zero, one, two) = (V::splat(0.0), V::splat(1.0), V::splat(2.0));
    // how far b has turned against a since the beginning, in axes that turn with a
    let [[ax, ay, az, aw], [bx, by, bz, bw]] = q;
    let [a, b] = [[ax, ay, az], [bx, by, bz]];
    let half = sub(sub(scaled(b, aw), scaled(a, bw)), cross(a, b));
    let w = aw * bw + dot(a, b);
    let square = dot(half, half);
    let stretch = one + square * (V::splat(1.0 / 6.0) + square * V::splat(3.0 / 40.0));
    let turn = scaled(half, w.select_le(zero, zero - two, two) * stretch);
    let [free_a, free_b] = [V::load(&bundle.free[0]), V::load(&bundle.free[1])];
    let (rate, speed) = (V::splat(PUSH * inv_h), V::splat(CLOSING_SPEED));
    for row in rows {
        let axis = load::<V>(&row.axis);
        let arm_a = rooted(&bundle.root[0], axis);
        let arm_b = rooted(&bundle.root[1], turned_back(&axes[1], turned(&axes[0], axis)));
        store(arm_a, &mut row.arm[0]);
        store(arm_b, &mut row.arm[1]);
        let response = free_a * dot(arm_a, arm_a) + free_b * dot(arm_b, arm_b);
        let inverse = response.select_le(zero, zero, one / response);
        inverse.store(&mut row.inverse);
        let by = dot(axis, turn);
        let limit = V::load(&row.limit);
        // inside of a limit its room, outside a part of the error
        let [low, high] = [V::load(&row.room[0]) + by, V::load(&row.room[1]) - by];
        let held = (rate * low).max(zero - speed).min(speed);
        let wanted = [wanted(low, (rate, speed), inv_h), wanted(high, (rate, speed), inv_h)];
        let none = V::splat(0.5);
        let push = limit.select_le(none, held, wanted[0]);
        (push * inverse).store(&mut row.push[0]);
        let push = limit.select_le(none, held, zero - wanted[1]);
        (push * inverse).store(&mut row.push[1]);
    }
}

/// What is wanted of a limit with so much room.
#[inline(always)]
fn wanted<V: Vector>(room: V, (rate, speed): (V, V), inv_h: f32) -> V {
    let zero = V::splat(0.0);
    room.select_le(zero, (rate * room).max(zero - speed), V::splat(inv_h) * room)
}

/// Factors the response of the anchors; rows that nothing can move stay without impulse.
#[inline(always)]
fn factor<V: Vector>(bundle: &mut Bundle, [k11, k21, k31, k22, k32, k33]: [V; 6]) {
    let zero = V::splat(0.0);
    let d1 = inverse(k11, zero);
    let (l21, l31) = (k21 * d1, k31 * d1);
    let d2 = inverse(k22 - l21 * k21, k22);
    let rest = k32 - l31 * k21;
    let l32 = rest * d2;
    let d3 = inverse(k33 - l31 * k31 - l32 * rest, k33);
    store([d1, d2, d3], &mut bundle.inverse);
    store([l21, l31, l32], &mut bundle.factor);
}

/// 1/d, or 0 where rounding is all that there is of it.
#[inline(always)]
fn inverse<V: Vector>(d: V, of: V) -> V {
    d.select_le(V::splat(1e-6) * of, V::splat(0.0), V::splat(1.0) / d)
}
