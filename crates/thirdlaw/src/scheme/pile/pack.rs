//! From contacts to bundles, and impulses back.

use super::bundle::{Bundle, Points, get, set};
use super::order::{Entry, Group, NONE};
use super::vector::{LANES, Vector, Wide, Wide3, cross, dot, load};
use crate::collide::contacts::{Contact, Impulses};
use crate::collide::manifold::POINTS_MAX;
use crate::math::{Mat3, Vec3, tangents};

/// A body as contacts see it at the beginning of a step.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Place {
    pub position: Vec3,
    pub rotation: Mat3,
    pub inv_mass: [f32; 3],
    /// L and its inverse by their entries 11, 21, 22, 31, 32, 33.
    pub root: [f32; 6],
    pub unroot: [f32; 6],
}

/// What the responses of a bundle's contacts follow from.
#[derive(Default)]
struct Sides {
    /// 1 where the body moves under impulses, else 0.
    moves: [Wide; 2],
    /// L by its entries 11, 21, 22, 31, 32, 33.
    root: [[Wide; 6]; 2],
    /// Arms of the middle of the points.
    arm: [Wide3; 2],
}

/// Gap of a point that is not there, m: never closed.
const NOWHERE: f32 = 1e6;

/// Fills a bundle, whatever it held before, with the contacts of a group.
pub fn pack<'a>(
    bundle: &mut Bundle,
    points: &mut [Points],
    group: &Group,
    entries: &[Entry],
    places: &[Place],
    contact: impl Fn(u32) -> &'a mut Contact,
) {
    *bundle = Bundle { count: group.count, start: group.start, ..Bundle::default() };
    for point in &mut *points {
        *point = Points { gap_start: Wide([NOWHERE; LANES]), ..Points::default() };
    }
    let mut sides = Sides::default();
    for (lane, &i) in group.lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
        let entry = &entries[i as usize];
        let place = entry.body.map(|line| &places[line as usize]);
        for (k, place) in place.iter().enumerate() {
            bundle.body[k][lane] = entry.body[k];
            for (to, entry) in sides.root[k].iter_mut().zip(place.root) {
                to.0[lane] = entry;
            }
            if entry.moves[k] {
                bundle.moves[k] |= 1 << lane;
                sides.moves[k].0[lane] = 1.0;
                for x in 0..3 {
                    bundle.mass[x].0[lane] += place.inv_mass[x];
                }
            }
        }
        let middle = pack_contact(bundle, points, lane, contact(i), place);
        set(&mut sides.arm[0], lane, middle[0]);
        set(&mut sides.arm[1], lane, middle[1]);
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for
        return unsafe { measure_avx2(bundle, points, &sides) };
    }
    measure::<Wide>(bundle, points, &sides);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn measure_avx2(bundle: &mut Bundle, points: &mut [Points], sides: &Sides) {
    measure::<super::vector::avx2::Register>(bundle, points, sides);
}

/// The arms of all points about the centres of both bodies, and of their middle. A point is halfway
/// between both surfaces.
fn all_arms(contact: &Contact, [a, b]: [&Place; 2]) -> ([[Vec3; 2]; POINTS_MAX], [Vec3; 2]) {
    let between = b.position - a.position;
    let mut arms = [[Vec3::ZERO; 2]; POINTS_MAX];
    let mut middle = [Vec3::ZERO; 2];
    let (on_a, count) = (contact.is_on_a(), contact.count as usize);
    for (i, arm) in arms.iter_mut().enumerate().take(count) {
        let [radius_a, radius_b] = contact.radii(i);
        *arm = if on_a {
            let outward = radius_a + 0.5 * contact.separations[i];
            let arm = a.rotation * contact.anchors[i] + outward * contact.normal;
            [arm, arm - between]
        } else {
            let inward = radius_b + 0.5 * contact.separations[i];
            let arm = b.rotation * contact.anchors[i] - inward * contact.normal;
            [arm + between, arm]
        };
        middle = [middle[0] + arm[0], middle[1] + arm[1]];
    }
    (arms, middle.map(|sum| sum / count.max(1) as f64))
}

/// Returns the arms of the middle of the points.
fn pack_contact(
    bundle: &mut Bundle,
    points: &mut [Points],
    lane: usize,
    contact: &Contact,
    place: [&Place; 2],
) -> [Vec3; 2] {
    let (t, u) = tangents(contact.normal);
    set(&mut bundle.normal, lane, contact.normal);
    set(&mut bundle.tangent, lane, t);
    bundle.coefficient.0[lane] = contact.friction as f32;

    let count = contact.count as usize;
    let (arms, middle) = all_arms(contact, place);
    let (mut slide, mut twist, mut radius) = (Vec3::ZERO, 0.0, 0.0);
    for (i, to) in points.iter_mut().enumerate().take(count) {
        let (arm, friction) = (&arms[i], contact.impulses.friction[i]);
        let from_middle = arm[1] - middle[1];
        radius += from_middle.length();
        slide += friction;
        twist += contact.normal.dot(from_middle.cross(friction));
        set(&mut to.arm[0], lane, arm[0]);
        set(&mut to.arm[1], lane, arm[1]);
        to.gap_start.0[lane] = contact.separations[i] as f32;
        to.impulse.0[lane] = contact.impulses.normal[i] as f32;
    }
    bundle.radius.0[lane] = (radius / count.max(1) as f64) as f32;
    bundle.friction[0].0[lane] = slide.dot(t) as f32;
    bundle.friction[1].0[lane] = slide.dot(u) as f32;
    bundle.friction[2].0[lane] = twist as f32;
    middle
}

/// The entries 11, 21, 22, 31, 32, 33 of a matrix.
pub fn lower(Mat3 { x_axis, y_axis, z_axis }: &Mat3) -> [f32; 6] {
    [x_axis.x, x_axis.y, y_axis.y, x_axis.z, y_axis.z, z_axis.z].map(|entry| entry as f32)
}

/// Lᵀ a.
#[inline(always)]
fn rooted<V: Vector>(root: &[Wide; 6], a: [V; 3]) -> [V; 3] {
    let [l11, l21, l22] = [V::load(&root[0]), V::load(&root[1]), V::load(&root[2])];
    let [l31, l32, l33] = [V::load(&root[3]), V::load(&root[4]), V::load(&root[5])];
    [l11 * a[0] + l21 * a[1] + l31 * a[2], l22 * a[1] + l32 * a[2], l33 * a[2]]
}

/// i·(M⁻¹ k) of a direction.
#[inline(always)]
fn straight<V: Vector>(i: [V; 3], k: [V; 3], mass: [V; 3]) -> V {
    dot(i, [mass[0] * k[0], mass[1] * k[1], mass[2] * k[2]])
}

#[inline(always)]
fn store<V: Vector>(v: [V; 3], to: &mut Wide3) {
    v[0].store(&mut to[0]);
    v[1].store(&mut to[1]);
    v[2].store(&mut to[2]);
}

/// Responses and their inverses; turns arms into Lᵀ(r × n).
#[inline(always)]
fn measure<V: Vector>(bundle: &mut Bundle, points: &mut [Points], sides: &Sides) {
    let (zero, half, one) = (V::splat(0.0), V::splat(0.5), V::splat(1.0));
    let normal = load::<V>(&bundle.normal);
    let t = load::<V>(&bundle.tangent);
    let u = cross(normal, t);
    let mass = load::<V>(&bundle.mass);
    let moves = [V::load(&sides.moves[0]), V::load(&sides.moves[1])];
    let [root_a, root_b] = &sides.root;
    let straight = straight(normal, normal, mass);
    let mut before = [[[zero; 3]; 2]; POINTS_MAX];
    for (k, point) in points.iter_mut().enumerate() {
        let a = rooted(root_a, cross(load(&point.arm[0]), normal));
        let b = rooted(root_b, cross(load(&point.arm[1]), normal));
        store(a, &mut point.arm[0]);
        store(b, &mut point.arm[1]);
        let response = straight + moves[0] * dot(a, a) + moves[1] * dot(b, b);
        let inverse = response.select_le(zero, zero, one / response);
        inverse.store(&mut point.inverse);
        for (j, [c, d]) in before[..k].iter().enumerate() {
            let both = straight + moves[0] * dot(a, *c) + moves[1] * dot(b, *d);
            (both * inverse).store(&mut bundle.coupling[k * (k - 1) / 2 + j]);
        }
        before[k] = [a, b];
    }

    let [a, b] = [load::<V>(&sides.arm[0]), load::<V>(&sides.arm[1])];
    let [at, au] = [rooted(root_a, cross(a, t)), rooted(root_a, cross(a, u))];
    let [bt, bu] = [rooted(root_b, cross(b, t)), rooted(root_b, cross(b, u))];
    let [an, bn] = [rooted(root_a, normal), rooted(root_b, normal)];
    let [turn_a, turn_b] = &mut bundle.turn;
    store(at, &mut turn_a[0]);
    store(au, &mut turn_a[1]);
    store(an, &mut turn_a[2]);
    store(bt, &mut turn_b[0]);
    store(bu, &mut turn_b[1]);
    store(bn, &mut turn_b[2]);
    let [ma, mb] = moves;
    let p = self::straight(t, t, mass) + ma * dot(at, at) + mb * dot(bt, bt);
    let q = self::straight(t, u, mass) + ma * dot(at, au) + mb * dot(bt, bu);
    let r = self::straight(u, u, mass) + ma * dot(au, au) + mb * dot(bu, bu);
    let about = ma * dot(an, an) + mb * dot(bn, bn);
    about.select_le(zero, zero, one / about).store(&mut bundle.twist);
    let apart = half * (p - r);
    let largest = half * (p + r) + (apart * apart + q * q).sqrt();
    largest.select_le(zero, zero, one / largest).store(&mut bundle.slide);
    let determinant = p * r - q * q;
    // nearly of rank one: the inverse would only amplify rounding
    let least = V::splat(1e-5) * p * r;
    let none = (p + r).select_le(zero, zero, V::splat(f32::NAN));
    let k = determinant.select_le(least, none, one / determinant);
    (k * r).store(&mut bundle.stick[0]);
    (k * (zero - q)).store(&mut bundle.stick[1]);
    (k * p).store(&mut bundle.stick[2]);
}

/// Hands a contact of so many points its impulses from its lane: friction is shared out among them so that
/// its sum and its torque about their middle are what the contact had.
pub fn unpack(
    bundle: &Bundle,
    points: &[Points],
    lane: usize,
    place: [&Place; 2],
    impulses: &mut Impulses,
) {
    let count = points.len();
    let normal = get(&bundle.normal, lane);
    let t = get(&bundle.tangent, lane);
    let u = normal.cross(t);
    let [z1, z2, z3] = [0, 1, 2].map(|k| f64::from(bundle.friction[k].0[lane]));
    let slide = (z1 * t + z2 * u) / count as f64;
    let side = usize::from(bundle.moves[1] >> lane & 1 == 1);
    let mut from_middle = [Vec3::ZERO; POINTS_MAX];
    if z3 != 0.0 {
        let [l11, l21, l22, l31, l32, l33] = place[side].unroot.map(f64::from);
        for (d, point) in from_middle.iter_mut().zip(points) {
            // n × (r × n) is r along the surface
            let a = get(&point.arm[side], lane);
            let turned =
                Vec3::new(l11 * a.x + l21 * a.y + l31 * a.z, l22 * a.y + l32 * a.z, l33 * a.z);
            *d = normal.cross(turned);
        }
    }
    let middle = from_middle.iter().fold(Vec3::ZERO, |s, d| s + *d) / count as f64;
    let mut square = 0.0;
    for d in &mut from_middle[..count] {
        *d -= middle;
        square += d.length_squared();
    }
    let twist = if square > 0.0 { z3 / square } else { 0.0 };
    for (i, (point, d)) in points.iter().zip(from_middle).enumerate() {
        impulses.normal[i] = f64::from(point.impulse.0[lane]);
        impulses.friction[i] = slide + twist * normal.cross(d);
    }
}
