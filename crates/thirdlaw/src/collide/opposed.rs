//! Contacts of one pair that push against each other through a body.
//!
//! Triangles of a mesh are one-sided and know nothing of the side behind them. What has passed through a thin
//! part of a mesh is behind triangles of both its faces, and each would push it out on its own side: two
//! demands that nothing can meet. Of such two the one stands that has carried a load, or else had less far to go a
//! step ago, by the way that both bodies are going: out is where it came in. Walls that face each other, as those of a slot do, press what is between them from both sides and both stand: going from one
//! surface to the other along its normal, one meets the other's front there, and its back here.

use super::contact_slots::Renewed;
use super::placed::Placed;
use crate::math::Vec3;
use crate::state::contact::Contact;

/// Cosine between two normals below which they push against each other.
const AGAINST: f64 = -0.2;

/// A contact that overlaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressing {
    normal: Vec3,
    /// Its deepest point on the surface of a, from the centre of a, m.
    on_a: Vec3,
    /// Gap that there was a step ago, m, as the bodies go now.
    earlier: f64,
    /// Whether it has carried a load.
    held: bool,
    stands: bool,
}

/// Ends contacts of a pair that push against others through a body; `pressing` is memory.
pub(super) fn end_opposed(
    places: &mut Renewed,
    ([a, b], dt): ([&Placed; 2], f64),
    pressing: &mut Vec<Pressing>,
) {
    pressing.clear();
    pressing.extend(places.found().filter_map(|contact| press(contact, [a, b], dt)));
    if pressing.len() < 2 {
        return;
    }
    let mut any = false;
    for i in 0..pressing.len() {
        for j in 0..i {
            let (p, q) = (pressing[i], pressing[j]);
            if p.normal.dot(q.normal) >= AGAINST || (p.on_a - q.on_a).dot(p.normal) <= 0.0 {
                continue;
            }
            let first = if p.held == q.held { p.earlier >= q.earlier } else { p.held };
            pressing[if first { j } else { i }].stands = false;
            any = true;
        }
    }
    if any {
        let mut judged = pressing.iter();
        places.retain(|contact| match press(contact, [a, b], dt) {
            Some(_) => judged.next().is_none_or(|pressing| pressing.stands),
            None => true,
        });
    }
}

fn press(contact: &Contact, [a, b]: [&Placed; 2], dt: f64) -> Option<Pressing> {
    let depths = contact.points().map(|point| point.separation).enumerate();
    let (i, separation) = depths.min_by(|(_, p), (_, q)| p.total_cmp(q))?;
    if separation >= 0.0 {
        return None;
    }
    let cores = contact.cores(i, [&a.axes, &b.axes], b.position - a.position);
    let on_a = cores.arms[0] + cores.radii[0] * contact.normal;
    let earlier = separation - dt * contact.normal.dot(b.velocity - a.velocity);
    let held = contact.points().any(|point| point.normal_impulse > 0.0);
    Some(Pressing { normal: contact.normal, on_a, earlier, held, stands: true })
}
