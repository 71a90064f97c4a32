//! Friction of a contact within what its points can bear together.
//!
//! A contact sticks by one wrench W = (f, τ): a force in the plane of its points and a torque about the normal,
//! at the middle of the points. What its points can bear is the set of all
//!
//!   W = (Σ fₖ, Σ dₖ × fₖ)   with   |fₖ| ≤ μ zₖ,
//!
//! z the normal impulses and d the places of the points: the exact limit surface of Goyal, Ruina and
//! Papadopoulos (1991) for these points. A disc for f and an interval for τ, each with all of μ Σz, would brake
//! a body that slides and spins by up to twice too much, and an ellipsoid through both still by a seventh.
//!
//! A wrench that lies within the disc and the interval sticks, and what slides without turning needs no more than
//! the disc. Else the wrench of least kinetic energy is
//! sought among those that points can bear, by sweeps over the points, from a share in proportion to the loads
//! on: each moves against its own velocity, fₖ ← within μ zₖ of (fₖ − vₖ/κₖ), κₖ the larger response of the two
//! bodies there.

use super::bundle::{Bundle, Points};
use crate::simd::f32x8::{Vector, Wide, add, cross, dot, load, sub};
use crate::state::contact::POINTS_MAX;

/// Sweeps over the points of a contact that slips. The first gives every point that slides fast its direction.
const SWEEPS: usize = 3;

/// Speed at which turning moves the points, over that of sliding, up to which all slide one way: the friction of
/// four points is then off by its square.
const TURNING: f32 = 0.05;

/// Substeps of friction within which it stops what need not be braked exactly.
const TAKEN: f32 = 4.0;

/// A force along t and u and a torque about n, or a velocity of such kind.
type Wrench<V> = [V; 3];

/// The wrench of friction after `now`: that of `wanted`, which would stop the contact, or what its points can
/// bear against `velocity`, that of `now`. Only velocities that last want that exactly: those that move
/// positions begin anew in every substep, and differ by what friction takes in one.
#[inline(always)]
pub fn bounded<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    (now, wanted): (Wrench<V>, Wrench<V>),
    velocity: Wrench<V>,
    exactly: bool,
) -> Wrench<V> {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let mut sum = zero;
    for point in points {
        sum = sum + V::load(&point.impulse);
    }
    // nothing holds what carries nothing
    let wanted = choose(sum, zero, [zero; 3], wanted);
    // most contacts at rest stick: within a disc and an interval, between which and the limit surface lies no
    // more than the speed that friction takes in a substep
    let most = V::load(&bundle.coefficient) * sum;
    let least = zero - most * V::load(&bundle.radius);
    let beyond = wanted[2].max(least).min(zero - least) - wanted[2];
    let beyond = beyond * beyond;
    let force = wanted[0] * wanted[0] + wanted[1] * wanted[1];
    let stuck = beyond.select_le(zero, most * most, V::splat(-1.0));
    if force.all_le(stuck) {
        return wanted;
    }
    let plain = plain(bundle, (now, wanted), velocity, most);
    // turning so slowly beside its sliding that all points slide one way
    let [v1, v2, turning] = velocity;
    let turning = V::load(&bundle.radius) * turning;
    let (sliding, turning) = (v1 * v1 + v2 * v2, turning * turning);
    let one_way = V::splat(TURNING * TURNING) * sliding;
    let spins = force.select_le(stuck, zero, turning);
    // what friction stops in a few substeps anyway does not matter
    let taken = V::splat(TAKEN) * most;
    let k = V::load(&bundle.slide);
    let spins = ((sliding + turning) * k * k).select_le(taken * taken, zero, spins);
    if !exactly || spins.all_le(one_way) {
        return choose(force, stuck, wanted, plain);
    }
    let share = sum.select_le(zero, zero, one / sum);
    let slid = V::apart(
        #[inline(always)]
        || {
            let start = shared_out(points, share, wanted);
            slid(bundle, points, start, (now, velocity))
        },
    );
    choose(force, stuck, wanted, choose(spins, one_way, plain, slid))
}

/// The wrench of a contact that slides without turning: a force of `most`, and a torque within the interval.
#[inline(always)]
fn plain<V: Vector>(
    bundle: &Bundle,
    (now, wanted): (Wrench<V>, Wrench<V>),
    velocity: Wrench<V>,
    most: V,
) -> Wrench<V> {
    let k = V::load(&bundle.slide);
    let [f1, f2] = within([now[0] - k * velocity[0], now[1] - k * velocity[1]], most);
    let torque = most * V::load(&bundle.radius);
    [f1, f2, wanted[2].max(V::splat(0.0) - torque).min(torque)]
}

/// A wrench shared out among points in proportion to their loads, of which the inverse sum is given: what each
/// bears, over its load.
#[inline(always)]
fn shared_out<V: Vector>(points: &[Points], share: V, wrench: Wrench<V>) -> [[V; 2]; POINTS_MAX] {
    let zero = V::splat(0.0);
    let (mut middle, mut square) = ([zero; 2], zero);
    for point in points {
        let (z, [x, y]) = (share * V::load(&point.impulse), place::<V>(point));
        middle = [middle[0] + z * x, middle[1] + z * y];
        square = square + z * (x * x + y * y);
    }
    let spread = square - (middle[0] * middle[0] + middle[1] * middle[1]);
    // one point, or several in one place, bear no torque beside that of their force
    let alone = V::splat(1e-6) * square;
    let torque = wrench[2] - (middle[0] * wrench[1] - middle[1] * wrench[0]);
    let turn = spread.select_le(alone, zero, share * torque / spread);
    let mut each = [[zero; 2]; POINTS_MAX];
    for (each, point) in each.iter_mut().zip(points) {
        let [x, y] = place::<V>(point);
        *each = [
            share * wrench[0] - turn * (y - middle[1]),
            share * wrench[1] + turn * (x - middle[0]),
        ];
    }
    each
}

/// What points can bear that slip, from a share of each over its load.
#[inline(always)]
fn slid<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    mut each: [[V; 2]; POINTS_MAX],
    (now, velocity): (Wrench<V>, Wrench<V>),
) -> Wrench<V> {
    let zero = V::splat(0.0);
    let limit = V::load(&bundle.coefficient);
    let response = response::<V>(bundle);
    let mut wrench = [zero; 3];
    for (f, point) in each.iter_mut().zip(points) {
        let z = V::load(&point.impulse);
        *f = within([z * f[0], z * f[1]], limit * z);
        wrench = plus(wrench, *f, place(point));
    }
    let mut w = velocity;
    w = add(w, answer(&response, sub(wrench, now)));
    for _ in 0..SWEEPS {
        for (f, point) in each.iter_mut().zip(points) {
            let at @ [x, y] = place::<V>(point);
            let v = [w[0] - y * w[2], w[1] + x * w[2]];
            let k = stiffness(&response, at);
            let next = within([f[0] - k * v[0], f[1] - k * v[1]], limit * V::load(&point.impulse));
            let change = plus([zero; 3], [next[0] - f[0], next[1] - f[1]], at);
            *f = next;
            wrench = add(wrench, change);
            w = add(w, answer(&response, change));
        }
    }
    wrench
}

/// Friction that begins and ends with an impact, of points with these normal impulses: each moves against its own
/// velocity, within what it can bear, so that none of it makes energy.
#[inline(always)]
pub fn rubbed<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    impulses: &[V; POINTS_MAX],
    velocity: Wrench<V>,
    sweeps: usize,
) -> Wrench<V> {
    let zero = V::splat(0.0);
    let limit = V::load(&bundle.coefficient);
    let response = response::<V>(bundle);
    let (mut each, mut wrench, mut w) = ([[zero; 2]; POINTS_MAX], [zero; 3], velocity);
    for _ in 0..sweeps {
        for ((f, point), &z) in each.iter_mut().zip(points).zip(impulses) {
            let at @ [x, y] = place::<V>(point);
            let v = [w[0] - y * w[2], w[1] + x * w[2]];
            let k = stiffness(&response, at);
            let next = within([f[0] - k * v[0], f[1] - k * v[1]], limit * z);
            let change = plus([zero; 3], [next[0] - f[0], next[1] - f[1]], at);
            *f = next;
            wrench = add(wrench, change);
            w = add(w, answer(&response, change));
        }
    }
    wrench
}

/// Where a point is from the middle of all, along t and u.
#[inline(always)]
fn place<V: Vector>(point: &Points) -> [V; 2] {
    [V::load(&point.offset[0]), V::load(&point.offset[1])]
}

/// A wrench and a force at a place.
#[inline(always)]
fn plus<V: Vector>(wrench: Wrench<V>, f: [V; 2], [x, y]: [V; 2]) -> Wrench<V> {
    [wrench[0] + f[0], wrench[1] + f[1], wrench[2] + (x * f[1] - y * f[0])]
}

/// A force no larger than `limit`.
#[inline(always)]
fn within<V: Vector>(f: [V; 2], limit: V) -> [V; 2] {
    let square = f[0] * f[0] + f[1] * f[1];
    let shrink = square.select_le(limit * limit, V::splat(1.0), limit / square.sqrt());
    [f[0] * shrink, f[1] * shrink]
}

/// Velocity per wrench, at the middle of the points.
#[inline(always)]
fn response<V: Vector>(bundle: &Bundle) -> [Wrench<V>; 3] {
    let normal = load::<V>(&bundle.normal);
    let t = load::<V>(&bundle.tangent);
    let axes = [t, cross(normal, t)];
    let mass = load::<V>(&bundle.mass);
    let [a, b] = [&bundle.turn[0], &bundle.turn[1]];
    let a = [load::<V>(&a[0]), load::<V>(&a[1]), load::<V>(&a[2])];
    let b = [load::<V>(&b[0]), load::<V>(&b[1]), load::<V>(&b[2])];
    let moves = [moving::<V>(bundle.moves[0]), moving::<V>(bundle.moves[1])];
    let e00 = turning(&a, &b, moves, (0, 0)) + straight(axes[0], axes[0], mass);
    let e01 = turning(&a, &b, moves, (0, 1)) + straight(axes[0], axes[1], mass);
    let e11 = turning(&a, &b, moves, (1, 1)) + straight(axes[1], axes[1], mass);
    let e02 = turning(&a, &b, moves, (0, 2));
    let e12 = turning(&a, &b, moves, (1, 2));
    let e22 = turning(&a, &b, moves, (2, 2));
    [[e00, e01, e02], [e01, e11, e12], [e02, e12, e22]]
}

/// 1 in the lanes of a mask, else 0.
#[inline(always)]
fn moving<V: Vector>(mask: u8) -> V {
    let mut lanes = Wide::default();
    for (lane, x) in lanes.0.iter_mut().enumerate() {
        *x = f32::from(mask >> lane & 1);
    }
    V::load(&lanes)
}

/// What the turning of both bodies adds to an entry of the response.
#[inline(always)]
fn turning<V: Vector>(
    a: &[[V; 3]; 3],
    b: &[[V; 3]; 3],
    moves: [V; 2],
    (i, k): (usize, usize),
) -> V {
    moves[0] * dot(a[i], a[k]) + moves[1] * dot(b[i], b[k])
}

/// i·(M⁻¹ k) of two directions.
#[inline(always)]
fn straight<V: Vector>(i: [V; 3], k: [V; 3], mass: [V; 3]) -> V {
    dot(i, [mass[0] * k[0], mass[1] * k[1], mass[2] * k[2]])
}

/// What a wrench does to the velocity.
#[inline(always)]
fn answer<V: Vector>(response: &[Wrench<V>; 3], wrench: Wrench<V>) -> Wrench<V> {
    [dot(response[0], wrench), dot(response[1], wrench), dot(response[2], wrench)]
}

/// `yes` where `x` ≤ `limit`, else `no`. Closures would not become part of a kernel.
#[inline(always)]
fn choose<V: Vector>(x: V, limit: V, yes: Wrench<V>, no: Wrench<V>) -> Wrench<V> {
    [
        x.select_le(limit, yes[0], no[0]),
        x.select_le(limit, yes[1], no[1]),
        x.select_le(limit, yes[2], no[2]),
    ]
}

/// 1/κ of a point: κ is the larger of its two responses; 0 where nothing can move.
#[inline(always)]
fn stiffness<V: Vector>(k: &[Wrench<V>; 3], [x, y]: [V; 2]) -> V {
    let (zero, half, one) = (V::splat(0.0), V::splat(0.5), V::splat(1.0));
    let a = k[0][0] - y * (k[0][2] + k[0][2] - y * k[2][2]);
    let b = k[0][1] + x * k[0][2] - y * (k[1][2] + x * k[2][2]);
    let c = k[1][1] + x * (k[1][2] + k[1][2] + x * k[2][2]);
    let apart = half * (a - c);
    let largest = half * (a + c) + (apart * apart + b * b).sqrt();
    largest.select_le(zero, zero, one / largest)
}
