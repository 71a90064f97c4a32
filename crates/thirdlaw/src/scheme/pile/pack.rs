//! From contacts to bundles, and impulses back.

// a lane, a side or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, Points};
use super::order::{Entry, Group, NONE};
use super::vector::{LANES, Quad, Row, Vector, Wide, Wide3, cross, dot, load, read4};
use crate::collide::contacts::{Contact, Impulses};
use crate::collide::manifold::POINTS_MAX;
use crate::math::{Mat3, Vec3};

/// A body as contacts see it at the beginning of a step. The fields lie so that each vector can be read
/// with one number more than it has.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Place {
    pub position: Vec3,
    pub rotation: Mat3,
    pub zero: f64,
    /// L by its entries 11, 21, 22, 31; 32, 33; and the inverse masses.
    pub root: [f32; 6],
    pub inv_mass: [f32; 3],
    pub unused: [f32; 3],
}

/// Where contacts lie that are packed, and how many there are.
pub struct Source<'a> {
    pub entries: &'a [Entry],
    pub places: &'a [Place],
    pub contacts: &'a [u32],
    pub all: *const Contact,
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

/// Fills a bundle, whatever it held before, with the contacts of a group; `offsets` are those of its points
/// from their middle, along the surface.
///
/// # Safety
/// The source has all contacts of the group, and nobody changes them.
pub unsafe fn pack(
    bundle: &mut Bundle,
    (points, offsets): (&mut [Points], &mut [Wide3]),
    group: &Group,
    source: &Source,
) {
    let contact = |i: u32| unsafe { &*source.all.add(source.contacts[i as usize] as usize) };
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
    (bundle.count, bundle.start) = (group.count, group.start);
    bundle.coefficient = Wide::default();
    for (lane, &i) in group.lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
        let (entry, contact) = (&source.entries[i as usize], contact(i));
        lanes.contact[lane] = contact;
        lanes.on_a.0[lane] = f32::from(u8::from(contact.is_on_a()));
        lanes.count.0[lane] = f32::from(entry.count);
        bundle.coefficient.0[lane] = contact.friction as f32;
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
        return unsafe { fill_avx2(bundle, points, offsets, &lanes) };
    }
    fill::<Wide>(bundle, points, offsets, &lanes);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(bundle: &mut Bundle, points: &mut [Points], offsets: &mut [Wide3], lanes: &Lanes) {
    fill::<super::vector::avx2::Register>(bundle, points, offsets, lanes);
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
fn fill<V: Vector>(
    bundle: &mut Bundle,
    points: &mut [Points],
    offsets: &mut [Wide3],
    lanes: &Lanes,
) {
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

    let mut from = [std::ptr::null(); LANES];
    for lane in 0..LANES {
        from[lane] = (&raw const lanes.contact[lane].normal).cast::<f64>();
    }
    // SAFETY of these: more of the contact follows behind what is read
    let [x, y, z, _] = unsafe { read4::<V>(from) };
    let normal = [x, y, z];
    let t = tangent(normal);
    store(normal, &mut bundle.normal);
    store(t, &mut bundle.tangent);
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

    let (mut slide, mut twist, mut radius) = ([zero; 3], zero, zero);
    for (k, (point, offset)) in points.iter().zip(offsets).enumerate() {
        let is_there = V::splat(k as f32);
        let arm = load::<V>(&point.arm[1]);
        let way = [arm[0] - middle[1][0], arm[1] - middle[1][1], arm[2] - middle[1][2]];
        let along = dot(way, normal);
        let mut d = [zero; 3];
        let mut f = [zero; 3];
        for x in 0..3 {
            d[x] = count.select_le(is_there, zero, way[x] - along * normal[x]);
            f[x] = count.select_le(is_there, zero, friction[3 * k + x]);
            slide[x] = slide[x] + f[x];
        }
        store(d, offset);
        twist = twist + dot(normal, cross(d, f));
        radius = radius + dot(d, d).sqrt();
    }
    (share * radius).store(&mut bundle.radius);
    dot(slide, t).store(&mut bundle.friction[0]);
    dot(slide, cross(normal, t)).store(&mut bundle.friction[1]);
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
        let (on_a, anchor) = (lanes.on_a.0[lane] > 0.0, contact.anchors[k]);
        let turned = if on_a { a } else { b };
        let [radius_a, radius_b] = contact.radii(k);
        let half = 0.5 * contact.separations[k];
        let out = if on_a { radius_a + half } else { -(radius_b + half) };
        // SAFETY: places and contacts have a number behind each of these vectors
        unsafe {
            let Mat3 { x_axis, y_axis, z_axis } = &turned.rotation;
            let arm = row::<V>(x_axis) * V::Row::splat(anchor.x)
                + row::<V>(y_axis) * V::Row::splat(anchor.y)
                + row::<V>(z_axis) * V::Row::splat(anchor.z)
                + row::<V>(&contact.normal) * V::Row::splat(out);
            let between = row::<V>(&b.position) - row::<V>(&a.position);
            (rows[0][lane], rows[1][lane]) =
                if on_a { (arm, arm - between) } else { (arm + between, arm) };
        }
    }
    let ([ax, ay, az, _], [bx, by, bz, _]) = (V::columns(rows[0]), V::columns(rows[1]));
    [[ax, ay, az], [bx, by, bz]]
}

/// A vector, and the number behind it.
///
/// # Safety
/// There is one.
#[inline(always)]
unsafe fn row<V: Vector>(v: &Vec3) -> V::Row {
    // SAFETY: the caller's
    unsafe { V::Row::load((&raw const *v).cast::<f64>()) }
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

#[inline(always)]
fn scaled<V: Vector>(a: [V; 3], k: V) -> [V; 3] {
    [a[0] * k, a[1] * k, a[2] * k]
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

/// Hands the contacts of a group their impulses: friction is shared out among the points of each so that its
/// sum and its torque about their middle are what the contact had.
///
/// # Safety
/// `impulses` are those of the contacts of the group, by lanes, and anything in lanes without one; nobody
/// else reads or changes them.
pub unsafe fn unpack(
    bundle: &Bundle,
    points: &[Points],
    offsets: &[Wide3],
    counts: &Wide,
    impulses: [*mut Impulses; LANES],
) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for; the rest is the caller's
        return unsafe { hand_back_avx2(bundle, points, offsets, counts, impulses) };
    }
    // SAFETY: the caller's
    unsafe { hand_back::<Wide>(bundle, points, offsets, counts, impulses) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn hand_back_avx2(
    bundle: &Bundle,
    points: &[Points],
    offsets: &[Wide3],
    counts: &Wide,
    impulses: [*mut Impulses; LANES],
) {
    // SAFETY: the caller's
    unsafe {
        hand_back::<super::vector::avx2::Register>(bundle, points, offsets, counts, impulses);
    }
}

#[inline(always)]
unsafe fn hand_back<V: Vector>(
    bundle: &Bundle,
    points: &[Points],
    offsets: &[Wide3],
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
    for offset in offsets {
        let d = load::<V>(offset);
        square = square + dot(d, d);
    }
    let twist = square.select_le(zero, zero, z3 / square);
    let (mut along, mut friction) = ([zero; POINTS_MAX], [zero; 3 * POINTS_MAX]);
    for (k, (point, offset)) in points.iter().zip(offsets).enumerate() {
        let is_there = V::splat(k as f32);
        along[k] = count.select_le(is_there, zero, V::load(&point.impulse));
        let about = cross(normal, load(offset));
        for x in 0..3 {
            let both = share * (z1 * t[x] + z2 * u[x]) + twist * about[x];
            friction[3 * k + x] = count.select_le(is_there, zero, both);
        }
    }
    let (mut used, mut to) = (0, [[std::ptr::null_mut::<Quad>(); LANES]; 4]);
    for lane in 0..LANES {
        used |= u8::from(counts.0[lane] > 0.0) << lane;
        for part in 0..4 {
            // SAFETY: impulses are four times four numbers
            to[part][lane] = unsafe { impulses[lane].cast::<Quad>().add(part) };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::contacts::Basis;
    use crate::math::rotation_from_vector;

    /// Numbers between −1 and 1 that look random.
    fn numbers(seed: u32) -> impl FnMut() -> f64 {
        let mut x = seed;
        move || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(x >> 8) / f64::from(1 << 23) - 1.0
        }
    }

    struct Setup {
        contacts: Vec<Contact>,
        places: Vec<Place>,
        entries: Vec<Entry>,
        group: Group,
    }

    /// Seven contacts, of four points and of fewer, between bodies far from the origin.
    fn setup() -> Setup {
        let mut f = numbers(3);
        let mut v = || Vec3::new(f(), f(), f());
        let places = (0..15).map(|_| Place {
            position: 1e3 * Vec3::X + 3.0 * v(),
            rotation: Mat3::from_quat(rotation_from_vector(v())),
            zero: 0.0,
            root: [1.0, 0.1, 0.9, -0.2, 0.05, 1.1],
            inv_mass: [0.5; 3],
            unused: [0.0; 3],
        });
        let places: Vec<Place> = places.collect();
        let mut contacts = Vec::new();
        let mut entries = Vec::new();
        for i in 0..7_u32 {
            let normal = v().normalize();
            let along = |v: Vec3| v - v.dot(normal) * normal;
            let mut contact = Contact {
                count: if i < 4 { 4 } else { 7 - i },
                friction: 0.5,
                normal,
                basis: Basis::Round([[0.1, 0.2]; POINTS_MAX]),
                ..Contact::default()
            };
            for k in 0..POINTS_MAX {
                contact.anchors[k] = v();
                contact.separations[k] = -1e-3 * v().x.abs();
                contact.impulses.normal[k] = v().x.abs();
                contact.impulses.friction[k] = along(v());
            }
            contacts.push(contact);
            let count = contact.count as u8;
            let body = [1 + 2 * i, 2 + 2 * i];
            entries.push(Entry { body, moves: [true, i != 2], count, color: 0, part: 0 });
        }
        let group = Group { lanes: [0, 1, 2, 3, 4, 5, 6, NONE], start: 0, count: 4 };
        Setup { contacts, places, entries, group }
    }

    type Packed = (Bundle, [Points; 4], [Wide3; 4]);

    fn packed(setup: &Setup) -> Packed {
        let mut out: Packed = Default::default();
        let order: Vec<u32> = (0..setup.contacts.len() as u32).collect();
        let source = Source {
            entries: &setup.entries,
            places: &setup.places,
            contacts: &order,
            all: setup.contacts.as_ptr(),
        };
        // SAFETY: nobody else has the contacts
        unsafe { pack(&mut out.0, (&mut out.1, &mut out.2), &setup.group, &source) };
        out
    }

    #[test]
    fn portable_vectors_fill_a_bundle_with_the_bits_of_the_machine() {
        let setup = setup();
        let machine = packed(&setup);
        let mut portable: Packed = Default::default();
        // what the lanes look up is the same
        (portable.0.body, portable.0.moves) = (machine.0.body, machine.0.moves);
        portable.0.coefficient = machine.0.coefficient;
        (portable.0.count, portable.0.start) = (machine.0.count, machine.0.start);
        let mut lanes = Lanes {
            contact: [&setup.contacts[0]; LANES],
            place: [[&setup.places[1]; LANES], [&setup.places[2]; LANES]],
            on_a: Wide::default(),
            moves: Default::default(),
            count: Wide::default(),
        };
        for (lane, entry) in setup.entries.iter().enumerate() {
            lanes.contact[lane] = &setup.contacts[lane];
            lanes.count.0[lane] = f32::from(entry.count);
            for side in 0..2 {
                lanes.place[side][lane] = &setup.places[entry.body[side] as usize];
                lanes.moves[side].0[lane] = f32::from(u8::from(entry.moves[side]));
            }
        }
        fill::<Wide>(&mut portable.0, &mut portable.1, &mut portable.2, &lanes);
        assert_eq!(format!("{machine:?}"), format!("{portable:?}"));
    }

    #[test]
    fn arms_and_responses_are_those_of_the_contact() {
        let setup = setup();
        let (bundle, points, _) = packed(&setup);
        for (lane, contact) in setup.contacts.iter().enumerate() {
            let entry = &setup.entries[lane];
            let [a, b] = entry.body.map(|line| &setup.places[line as usize]);
            for (k, point) in points.iter().enumerate().take(contact.count as usize) {
                let cores = contact.cores(k, [&a.rotation, &b.rotation], b.position - a.position);
                let half = 0.5 * contact.separations[k];
                let arm = cores.arms[1] - (cores.radii[1] + half) * contact.normal;
                let [l11, l21, l22, l31, l32, l33] = b.root.map(f64::from);
                let c = arm.cross(contact.normal);
                let turned = [l11 * c.x + l21 * c.y + l31 * c.z, l22 * c.y + l32 * c.z, l33 * c.z];
                for x in 0..3 {
                    let error = f64::from(point.arm[1][x].0[lane]) - turned[x];
                    assert!(error.abs() < 1e-6, "{lane} {k}: {error}");
                }
            }
        }
        assert!(points.iter().all(|p| p.inverse.0[7] == 0.0 && p.impulse.0[7] == 0.0));
        assert_eq!(bundle.friction.map(|z| z.0[7]), [0.0; 3]);
    }

    #[test]
    fn friction_comes_back_with_its_sum_and_its_torque() {
        let mut setup = setup();
        let before = setup.contacts.clone();
        let (bundle, points, offsets) = packed(&setup);
        let mut counts = Wide::default();
        let mut to = [std::ptr::null_mut(); LANES];
        for (lane, contact) in setup.contacts.iter_mut().enumerate() {
            counts.0[lane] = contact.count as f32;
            to[lane] = &raw mut contact.impulses;
        }
        // SAFETY: nobody else has the contacts
        unsafe { unpack(&bundle, &points, &offsets, &counts, to) };
        for (lane, (before, after)) in before.iter().zip(&setup.contacts).enumerate() {
            let sums = |contact: &Contact| {
                let mut sums = (Vec3::ZERO, 0.0);
                for k in 0..contact.count as usize {
                    let d = offsets[k].map(|d| f64::from(d.0[lane]));
                    let f = contact.impulses.friction[k];
                    sums.0 += f;
                    sums.1 += contact.normal.dot(Vec3::from(d).cross(f));
                }
                sums
            };
            let (before_sums, after_sums) = (sums(before), sums(after));
            assert!((before_sums.0 - after_sums.0).length() < 2e-6);
            // a single point has no arm
            assert!(before.count == 1 || (before_sums.1 - after_sums.1).abs() < 2e-6);
            for k in 0..POINTS_MAX {
                let wanted =
                    if k < before.count as usize { before.impulses.normal[k] } else { 0.0 };
                assert!((after.impulses.normal[k] - wanted).abs() < 1e-7);
            }
        }
    }
}
