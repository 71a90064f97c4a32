use super::*;
use crate::math::{Mat3, Vec3, rotation_from_vector};
use crate::model::settings::ContactSettings;
use crate::simd::f32x8::{LANES, Wide};
use crate::state::contact::{Basis, Contact, POINTS_MAX};
use crate::step::island::Touch;
use crate::step::rigid::pile::bundle::{Bundle, Points};
use crate::step::rigid::pile::order::{Entry, Group, NONE};
use crate::step::rigid::pile::unpack::unpack;

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
        entries.push(Entry { body, moves: [true, i != 2], count, part: 0 });
    }
    let group = Group { lanes: [0, 1, 2, 3, 4, 5, 6, NONE], start: 0, count: 4 };
    Setup { contacts, places, entries, group }
}

type Packed = (Bundle, [Points; POINTS_MAX]);

fn packed(setup: &Setup) -> Packed {
    let mut out: Packed = Default::default();
    let touch = |index| Touch { index, ..Touch::default() };
    let touches: Vec<Touch> = (0..setup.contacts.len() as u32).map(touch).collect();
    let mut contacts = setup.contacts.clone();
    let source = Source {
        entries: &setup.entries,
        places: &setup.places,
        contacts: &touches,
        all: &Shared::new(&mut contacts),
        springs: &Springs::new(&ContactSettings::default(), 1.0 / 480.0),
    };
    // SAFETY: nobody else has the contacts
    unsafe { pack(&mut out.0, &mut out.1, &setup.group, &source) };
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
    let Bundle { skin, scale, rate, softness, .. } = machine.0;
    (portable.0.skin, portable.0.scale) = (skin, scale);
    (portable.0.rate, portable.0.softness) = (rate, softness);
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
    fill::<Wide>(&mut portable.0, &mut portable.1, &lanes);
    assert_eq!(format!("{machine:?}"), format!("{portable:?}"));
}

#[test]
fn arms_and_responses_are_those_of_the_contact() {
    let setup = setup();
    let (bundle, points) = packed(&setup);
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
    let (bundle, points) = packed(&setup);
    let mut counts = Wide::default();
    let mut to = [std::ptr::null_mut(); LANES];
    for (lane, contact) in setup.contacts.iter_mut().enumerate() {
        counts.0[lane] = contact.count as f32;
        to[lane] = &raw mut contact.impulses;
    }
    // SAFETY: nobody else has the contacts
    unsafe { unpack(&bundle, &points, &counts, to) };
    for (lane, (before, after)) in before.iter().zip(&setup.contacts).enumerate() {
        let sums = |contact: &Contact| {
            let mut sums = (Vec3::ZERO, 0.0);
            for k in 0..contact.count as usize {
                let [x, y] = points[k].offset.map(|d| f64::from(d.0[lane]));
                let f = contact.impulses.friction[k];
                let (t, u) = crate::math::tangents(contact.normal);
                sums.0 += f;
                sums.1 += contact.normal.dot((x * t + y * u).cross(f));
            }
            sums
        };
        let (before_sums, after_sums) = (sums(before), sums(after));
        assert!((before_sums.0 - after_sums.0).length() < 2e-6);
        // a single point has no arm
        assert!(before.count == 1 || (before_sums.1 - after_sums.1).abs() < 2e-6);
        for k in 0..POINTS_MAX {
            let wanted = if k < before.count as usize { before.impulses.normal[k] } else { 0.0 };
            assert!((after.impulses.normal[k] - wanted).abs() < 1e-7);
        }
    }
}
