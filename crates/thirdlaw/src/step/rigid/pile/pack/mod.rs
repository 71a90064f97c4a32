//! From contacts to bundles.

// a lane, a side or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

#[cfg(test)]
mod tests;

use super::bundle::{Bundle, Points};
use super::order::{Entry, Group, NONE};
use crate::math::{Mat3, Vec3};
use crate::parallel::share::Shared;
use crate::simd::f32x8::{LANES, Row, Vector, Wide, Wide3, cross, dot, load, read4, scaled, sub};
use crate::state::contact::{Basis, Contact, POINTS_MAX};
use crate::step::island::Touch;
use crate::step::rigid::restitution::Springs;

/// A body as contacts see it at the beginning of a step. The fields lie so that each vector can be read
/// with one number more than it has.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Place {
    pub position: Vec3,
    pub rotation: Mat3,
    pub zero: f64,
    /// L by its entries 11, 21, 22, 31, 32, 33. This and what follows is read in rows of four.
    pub root: [f32; 6],
    pub inv_mass: [f32; 3],
    pub unused: [f32; 3],
}

/// Where contacts lie that are packed, and how many there are.
pub struct Source<'a> {
    pub entries: &'a [Entry],
    pub places: &'a [Place],
    pub contacts: &'a [Touch],
    pub all: &'a Shared<'a, Contact>,
    pub springs: &'a Springs,
}

/// The contacts of a bundle. Lanes without one show what the first has, but no points and nothing that moves.
struct Lanes<'a> {
    contact: [&'a Contact; LANES],
    place: [[&'a Place; LANES]; 2],
    /// Whether points are fixed to a, by lanes: 1 or 0.
    on_a: Wide,
    /// 1 where the body moves under impulses, else 0.
    moves: [Wide; 2],
    /// Points of each contact, 0 in lanes without one.
    count: Wide,
}

/// Gap of a point that is not there, m: never closed.
const NOWHERE: f32 = 1e6;

/// Fills a bundle and its points, whatever they held before, with the contacts of a group.
///
/// # Safety
/// The source has all contacts of the group, and nobody changes them.
pub unsafe fn pack(bundle: &mut Bundle, points: &mut [Points], group: &Group, source: &Source) {
    // SAFETY: the caller's
    let contact = |i: u32| unsafe { source.all.get(source.contacts[i as usize].index as usize) };
    let first = &source.entries[group.lanes[0] as usize];
    let place = |line: u32| &source.places[line as usize];
    let mut lanes = Lanes {
        contact: [contact(group.lanes[0]); LANES],
        place: first.body.map(|line| [place(line); LANES]),
        on_a: Wide::default(),
        moves: Default::default(),
        count: Wide::default(),
    };
    bundle.body = Default::default();
    bundle.moves = [0; 2];
    bundle.count = group.count;
    bundle.coefficient = Wide::default();
    (bundle.skin, bundle.rate, bundle.softness) = Default::default();
    bundle.scale = Wide([1.0; LANES]);
    // most have the size of their neighbours
    let (mut known, mut spring) = (0.0, source.springs.of(0.0));
    for (lane, &i) in group.lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
        let (entry, contact) = (&source.entries[i as usize], contact(i));
        lanes.contact[lane] = contact;
        lanes.on_a.0[lane] = f32::from(u8::from(contact.is_on_a()));
        lanes.count.0[lane] = f32::from(entry.count);
        bundle.coefficient.0[lane] = contact.friction as f32;
        let half_thickness = source.contacts[i as usize].half_thickness;
        if half_thickness != known {
            known = half_thickness;
            spring = source.springs.of(f64::from(half_thickness));
        }
        bundle.skin.0[lane] = contact.skin.min(spring.skin as f32);
        bundle.rate.0[lane] = spring.rate as f32;
        bundle.softness.0[lane] = spring.softness as f32;
        bundle.scale.0[lane] = spring.scale as f32;
        for k in 0..2 {
            bundle.body[k][lane] = entry.body[k];
            bundle.moves[k] |= u8::from(entry.moves[k]) << lane;
            lanes.place[k][lane] = place(entry.body[k]);
            lanes.moves[k].0[lane] = f32::from(u8::from(entry.moves[k]));
        }
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for
        return unsafe { fill_avx2(bundle, points, &lanes) };
    }
    fill::<Wide>(bundle, points, &lanes);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(bundle: &mut Bundle, points: &mut [Points], lanes: &Lanes) {
    fill::<crate::simd::f32x8::avx2::Register>(bundle, points, lanes);
}

/// What the responses of a bundle's contacts follow from.
struct Sides<V> {
    moves: [V; 2],
    /// L as in [`Place`].
    root: [[V; 6]; 2],
    /// Arms of the middle of the points.
    arm: [[V; 3]; 2],
}

#[inline(always)]
fn fill<V: Vector>(bundle: &mut Bundle, points: &mut [Points], lanes: &Lanes) {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let count = V::load(&lanes.count);
    let moves = [V::load(&lanes.moves[0]), V::load(&lanes.moves[1])];
    let (mut root, mut mass) = ([[zero; 6]; 2], [zero; 3]);
    for side in 0..2 {
        let rows = responses::<V>(&lanes.place[side]);
        root[side] = [rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]];
        for x in 0..3 {
            mass[x] = mass[x] + moves[side] * rows[6 + x];
        }
    }
    store(mass, &mut bundle.mass);

    let mut rows = [V::Row::splat(0.0); LANES];
    for lane in 0..LANES {
        // SAFETY: more of the contact follows behind the normal
        rows[lane] = unsafe { row::<V, _>(lanes.contact[lane], NORMAL) };
    }
    let [x, y, z, _] = V::columns(rows);
    let normal = [x, y, z];
    let t = tangent(normal);
    store(normal, &mut bundle.normal);
    store(t, &mut bundle.tangent);
    // SAFETY: the arrays of a contact have four points
    let (gaps, impulses, friction) = unsafe { numbers::<V>(lanes) };

    let mut middle = [[zero; 3]; 2];
    for (k, point) in points.iter_mut().enumerate() {
        let is_there = V::splat(k as f32);
        let arms = arms::<V>(lanes, k);
        for side in 0..2 {
            let mut arm = arms[side];
            for x in 0..3 {
                arm[x] = count.select_le(is_there, zero, arm[x]);
                middle[side][x] = middle[side][x] + arm[x];
            }
            store(arm, &mut point.arm[side]);
        }
        count.select_le(is_there, V::splat(NOWHERE), gaps[k]).store(&mut point.gap_start);
        count.select_le(is_there, zero, impulses[k]).store(&mut point.impulse);
    }
    let share = count.select_le(zero, zero, one / count);
    let middle = [scaled(middle[0], share), scaled(middle[1], share)];

    let (mut slide, mut twist, mut radius) = ([zero; 2], zero, zero);
    let u = cross(normal, t);
    for (k, point) in points.iter_mut().enumerate() {
        let is_there = V::splat(k as f32);
        let arm = load::<V>(&point.arm[1]);
        let way = sub(arm, middle[1]);
        let d = [
            count.select_le(is_there, zero, dot(way, t)),
            count.select_le(is_there, zero, dot(way, u)),
        ];
        let mut f = [zero; 3];
        for x in 0..3 {
            f[x] = count.select_le(is_there, zero, friction[3 * k + x]);
        }
        let f = [dot(f, t), dot(f, u)];
        slide = [slide[0] + f[0], slide[1] + f[1]];
        d[0].store(&mut point.offset[0]);
        d[1].store(&mut point.offset[1]);
        twist = twist + (d[0] * f[1] - d[1] * f[0]);
        radius = radius + (d[0] * d[0] + d[1] * d[1]).sqrt();
    }
    (share * radius).store(&mut bundle.radius);
    slide[0].store(&mut bundle.friction[0]);
    slide[1].store(&mut bundle.friction[1]);
    twist.store(&mut bundle.friction[2]);
    measure(bundle, points, &Sides { moves, root, arm: middle });
}

/// L and the inverse masses of eight bodies.
#[inline(always)]
fn responses<V: Vector>(places: &[&Place; LANES]) -> [V; 12] {
    let mut out = [V::splat(0.0); 12];
    for part in 0..3 {
        let mut from = [std::ptr::null(); LANES];
        for lane in 0..LANES {
            let start = (&raw const *places[lane]).cast::<f32>();
            // SAFETY: three times four numbers lie there
            from[lane] = unsafe { start.byte_add(ROOT).add(4 * part).cast::<[f32; 4]>() };
        }
        // SAFETY: likewise
        let columns = unsafe { V::read_single(from) };
        out[4 * part..4 * part + 4].copy_from_slice(&columns);
    }
    out
}

/// Where L lies in a place.
const ROOT: usize = std::mem::offset_of!(Place, root);

/// Gaps and impulses of the points of eight contacts: along the normal; by friction, point after point.
#[inline(always)]
unsafe fn numbers<V: Vector>(lanes: &Lanes) -> ([V; 4], [V; 4], [V; 12]) {
    let mut from = [[std::ptr::null(); LANES]; 3];
    for lane in 0..LANES {
        let contact = lanes.contact[lane];
        from[0][lane] = contact.separations.as_ptr();
        from[1][lane] = contact.impulses.normal.as_ptr();
        from[2][lane] = contact.impulses.friction.as_ptr().cast::<f64>();
    }
    let mut friction = [V::splat(0.0); 12];
    for part in 0..3 {
        let mut at = from[2];
        for lane in 0..LANES {
            // SAFETY: four vectors are three times four numbers
            at[lane] = unsafe { at[lane].add(4 * part) };
        }
        // SAFETY: likewise
        friction[4 * part..4 * part + 4].copy_from_slice(&unsafe { read4::<V>(at) });
    }
    // SAFETY: four points
    unsafe { (read4::<V>(from[0]), read4::<V>(from[1]), friction) }
}

/// Arms of a point about the centres of both bodies, formed in double precision: they are small differences
/// where one of the bodies is the ground. A point is halfway between both surfaces.
#[inline(always)]
fn arms<V: Vector>(lanes: &Lanes, k: usize) -> [[V; 3]; 2] {
    let mut rows = [[V::Row::splat(0.0); LANES]; 2];
    for lane in 0..LANES {
        let (contact, [a, b]) = (lanes.contact[lane], [lanes.place[0][lane], lanes.place[1][lane]]);
        if let Basis::Ahead(_) = contact.basis {
            // each side where it will touch: halfway between both is in the air
            let cores = contact.cores(k, [&a.rotation, &b.rotation], b.position - a.position);
            let [radius_a, radius_b] = cores.radii;
            let arms = [
                cores.arms[0] + radius_a * contact.normal,
                cores.arms[1] - radius_b * contact.normal,
            ];
            for side in 0..2 {
                let [x, y, z] = arms[side].to_array();
                // SAFETY: four numbers lie there
                rows[side][lane] = unsafe { row::<V, _>(&[x, y, z, 0.0], 0) };
            }
            continue;
        }
        let (on_a, anchor) = (lanes.on_a.0[lane] > 0.0, contact.anchors[k]);
        let turned = if on_a { a } else { b };
        let [radius_a, radius_b] = contact.radii(k);
        let half = 0.5 * contact.separations[k];
        let out = if on_a { radius_a + half } else { -(radius_b + half) };
        // SAFETY: places and contacts have a number behind each of these vectors
        unsafe {
            let arm = row::<V, _>(turned, AXES[0]) * V::Row::splat(anchor.x)
                + row::<V, _>(turned, AXES[1]) * V::Row::splat(anchor.y)
                + row::<V, _>(turned, AXES[2]) * V::Row::splat(anchor.z)
                + row::<V, _>(contact, NORMAL) * V::Row::splat(out);
            let between = row::<V, _>(b, POSITION) - row::<V, _>(a, POSITION);
            (rows[0][lane], rows[1][lane]) =
                if on_a { (arm, arm - between) } else { (arm + between, arm) };
        }
    }
    let ([ax, ay, az, _], [bx, by, bz, _]) = (V::columns(rows[0]), V::columns(rows[1]));
    [[ax, ay, az], [bx, by, bz]]
}

/// Where vectors lie in a contact and in a place.
const NORMAL: usize = std::mem::offset_of!(Contact, normal);
const POSITION: usize = std::mem::offset_of!(Place, position);
const AXES: [usize; 3] = [
    std::mem::offset_of!(Place, rotation.x_axis),
    std::mem::offset_of!(Place, rotation.y_axis),
    std::mem::offset_of!(Place, rotation.z_axis),
];

/// A vector that lies so many bytes into a record, and the number behind it: read through the record, since
/// a reference to the vector alone would not reach that number.
///
/// # Safety
/// Four numbers lie there within the record.
#[inline(always)]
unsafe fn row<V: Vector, T>(record: &T, offset: usize) -> V::Row {
    // SAFETY: the caller's
    unsafe { V::Row::load((&raw const *record).byte_add(offset).cast::<f64>()) }
}

/// A unit vector at a right angle to another, as [`crate::math::tangents`] has it.
#[inline(always)]
fn tangent<V: Vector>([x, y, z]: [V; 3]) -> [V; 3] {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let sign = zero.select_le(z, one, zero - one);
    let a = zero - one / (sign + z);
    let b = x * y * a;
    [one + sign * x * x * a, sign * b, zero - sign * x]
}

/// The entries 11, 21, 22, 31, 32, 33 of a matrix.
pub fn lower(Mat3 { x_axis, y_axis, z_axis }: &Mat3) -> [f32; 6] {
    [x_axis.x, x_axis.y, y_axis.y, x_axis.z, y_axis.z, z_axis.z].map(|entry| entry as f32)
}

/// Lᵀ a.
#[inline(always)]
fn rooted<V: Vector>([l11, l21, l22, l31, l32, l33]: [V; 6], a: [V; 3]) -> [V; 3] {
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
fn measure<V: Vector>(bundle: &mut Bundle, points: &mut [Points], sides: &Sides<V>) {
    let (zero, half, one) = (V::splat(0.0), V::splat(0.5), V::splat(1.0));
    let normal = load::<V>(&bundle.normal);
    let t = load::<V>(&bundle.tangent);
    let u = cross(normal, t);
    let mass = load::<V>(&bundle.mass);
    let Sides { moves, root: [root_a, root_b], arm: [a, b] } = *sides;
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
