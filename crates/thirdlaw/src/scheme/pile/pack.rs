//! From contacts to bundles, and impulses back.

use super::bundle::{Bundle, Points, get, set};
use super::order::{Entry, NONE};
use super::sweep::spin;
use super::vector::{LANES, Vector, Wide, cross, dot, load};
use crate::collide::contacts::{Contact, ContactPoint};
use crate::collide::manifold::POINTS_MAX;
use crate::contact::BodyMass;
use crate::math::{Mat3, Vec3, tangents};
use crate::scheme::substep::PointImpulse;

/// A body as contacts see it at the beginning of a step.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub position: Vec3,
    pub rotation: Mat3,
    pub mass: BodyMass,
    /// Distance to the farthest point of its surface, m.
    pub reach: f64,
}

/// Gap of a point that is not there, m: never closed.
const NOWHERE: f32 = 1e6;

/// Fills a bundle with the contacts of its lanes.
pub fn pack<'a>(
    bundle: &mut Bundle,
    points: &mut [Points],
    lanes: &[u32; LANES],
    entries: &[Entry],
    places: &[Place],
    contact: impl Fn(u32) -> &'a Contact,
) {
    for point in &mut *points {
        *point = Points { gap_start: Wide([NOWHERE; LANES]), ..Points::default() };
    }
    for (lane, &i) in lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
        let entry = &entries[i as usize];
        let place = entry.body.map(|line| &places[line as usize]);
        for (k, place) in place.iter().enumerate() {
            bundle.body[k][lane] = entry.body[k];
            if entry.moves[k] {
                bundle.moves[k] |= 1 << lane;
                bundle.set_mass(k, lane, &place.mass);
            }
        }
        pack_contact(bundle, points, lane, contact(i), place);
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for
        return unsafe { measure_avx2(bundle, points) };
    }
    measure::<Wide>(bundle, points);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn measure_avx2(bundle: &mut Bundle, points: &mut [Points]) {
    measure::<super::vector::avx2::Register>(bundle, points);
}

/// Arms of a contact point about the centres of both bodies.
fn arms(contact: &Contact, point: &ContactPoint, [a, b]: [&Place; 2]) -> [Vec3; 2] {
    let between = b.position - a.position;
    // a point belongs to the smaller body, or to the one that is not round
    let with_b = match (point.radius_a > 0.0, point.radius_b > 0.0) {
        (false, true) => true,
        (true, false) => false,
        _ => b.reach <= a.reach,
    };
    if with_b {
        let inward = point.radius_b + 0.5 * point.separation;
        let arm = b.rotation * point.anchor_b - inward * contact.normal;
        [arm + between, arm]
    } else {
        let outward = point.radius_a + 0.5 * point.separation;
        let arm = a.rotation * point.anchor_a + outward * contact.normal;
        [arm, arm - between]
    }
}

fn pack_contact(
    bundle: &mut Bundle,
    points: &mut [Points],
    lane: usize,
    contact: &Contact,
    place: [&Place; 2],
) {
    let (t, u) = tangents(contact.normal);
    set(&mut bundle.normal, lane, contact.normal);
    set(&mut bundle.tangent, lane, t);
    bundle.coefficient.0[lane] = contact.friction as f32;

    let used = contact.points();
    let mut arm = [[Vec3::ZERO; 2]; POINTS_MAX];
    let mut middle = [Vec3::ZERO; 2];
    for (arm, point) in arm.iter_mut().zip(used) {
        *arm = arms(contact, point, place);
        middle = [middle[0] + arm[0], middle[1] + arm[1]];
    }
    middle = middle.map(|sum| sum / used.len().max(1) as f64);
    set(&mut bundle.arm[0], lane, middle[0]);
    set(&mut bundle.arm[1], lane, middle[1]);

    let (mut slide, mut twist, mut radius) = (Vec3::ZERO, 0.0, 0.0);
    for ((to, point), arm) in points.iter_mut().zip(used).zip(arm) {
        let from_middle = arm[1] - middle[1];
        radius += from_middle.length();
        slide += point.friction_impulse;
        twist += contact.normal.dot(from_middle.cross(point.friction_impulse));
        set(&mut to.arm[0], lane, arm[0]);
        set(&mut to.arm[1], lane, arm[1]);
        to.gap_start.0[lane] = point.separation as f32;
        to.impulse.0[lane] = point.normal_impulse as f32;
    }
    bundle.radius.0[lane] = (radius / used.len().max(1) as f64) as f32;
    bundle.friction[0].0[lane] = slide.dot(t) as f32;
    bundle.friction[1].0[lane] = slide.dot(u) as f32;
    bundle.friction[2].0[lane] = twist as f32;
}

impl Bundle {
    fn set_mass(&mut self, side: usize, lane: usize, mass: &BodyMass) {
        for x in 0..3 {
            self.mass[x].0[lane] += mass.inv_mass[x] as f32;
        }
        let Mat3 { x_axis, y_axis, z_axis } = mass.inv_inertia;
        let entries = [x_axis.x, y_axis.y, z_axis.z, y_axis.x, z_axis.x, z_axis.y];
        for (to, entry) in self.inertia[side].iter_mut().zip(entries) {
            to.0[lane] = entry as f32;
        }
    }
}

/// i·(M⁻¹ k) of a direction.
#[inline(always)]
fn straight<V: Vector>(i: [V; 3], k: [V; 3], mass: [V; 3]) -> V {
    dot(i, [mass[0] * k[0], mass[1] * k[1], mass[2] * k[2]])
}

/// i·(I⁻¹ k) of an arm.
#[inline(always)]
fn turned<V: Vector>(i: [V; 3], k: [V; 3], inertia: &[Wide; 6]) -> V {
    dot(i, spin::<V>(inertia, k))
}

/// Responses and their inverses; turns the arms of points into r × n.
#[inline(always)]
fn measure<V: Vector>(bundle: &mut Bundle, points: &mut [Points]) {
    let (zero, half, one) = (V::splat(0.0), V::splat(0.5), V::splat(1.0));
    let normal = load::<V>(&bundle.normal);
    let t = load::<V>(&bundle.tangent);
    let u = cross(normal, t);
    let mass = load::<V>(&bundle.mass);
    let [inertia_a, inertia_b] = &bundle.inertia;
    let straight = straight(normal, normal, mass);
    for point in points {
        let [a, b] = [cross(load(&point.arm[0]), normal), cross(load(&point.arm[1]), normal)];
        for x in 0..3 {
            a[x].store(&mut point.arm[0][x]);
            b[x].store(&mut point.arm[1][x]);
        }
        let response = straight + turned(a, a, inertia_a) + turned(b, b, inertia_b);
        response.select_le(zero, zero, one / response).store(&mut point.inverse);
    }

    let [a, b] = [load::<V>(&bundle.arm[0]), load::<V>(&bundle.arm[1])];
    let (at, bt, au, bu) = (cross(a, t), cross(b, t), cross(a, u), cross(b, u));
    let p = self::straight(t, t, mass) + turned(at, at, inertia_a) + turned(bt, bt, inertia_b);
    let q = self::straight(t, u, mass) + turned(at, au, inertia_a) + turned(bt, bu, inertia_b);
    let r = self::straight(u, u, mass) + turned(au, au, inertia_a) + turned(bu, bu, inertia_b);
    let about = turned(normal, normal, inertia_a) + turned(normal, normal, inertia_b);
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

/// The impulses of the contact in a lane: friction is shared out among its points so that its sum and
/// its torque about their middle are what the contact had.
pub fn unpack(
    bundle: &Bundle,
    points: &[Points],
    lane: usize,
    count: usize,
    out: &mut [PointImpulse; POINTS_MAX],
) {
    let normal = get(&bundle.normal, lane);
    let t = get(&bundle.tangent, lane);
    let u = normal.cross(t);
    let [z1, z2, z3] = [0, 1, 2].map(|k| f64::from(bundle.friction[k].0[lane]));
    let slide = (z1 * t + z2 * u) / count as f64;
    // n × (r × n) is r along the surface; on the side whose arms are short
    let side = usize::from(bundle.moves[1] >> lane & 1 == 1);
    let mut from_middle = [Vec3::ZERO; POINTS_MAX];
    for (d, point) in from_middle.iter_mut().zip(&points[..count]) {
        *d = normal.cross(get(&point.arm[side], lane));
    }
    let middle = from_middle.iter().fold(Vec3::ZERO, |s, d| s + *d) / count as f64;
    let mut square = 0.0;
    for d in &mut from_middle[..count] {
        *d -= middle;
        square += d.length_squared();
    }
    let twist = if square > 0.0 { z3 / square } else { 0.0 };
    for ((out, point), d) in out.iter_mut().zip(&points[..count]).zip(from_middle) {
        out.normal = f64::from(point.impulse.0[lane]);
        out.friction = slide + twist * normal.cross(d);
    }
}
