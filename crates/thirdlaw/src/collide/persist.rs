//! Contacts that last: which of them need not be found anew, and how found ones take over the impulses
//! of the last step.
//!
//! The points of a contact are fixed to both bodies and its normal to the body whose face it is, so that
//! a corner on a plane keeps its gap exactly, however the pair moves; only the place of the points falls
//! behind, by no more than the pair has moved. (Where both faces are in line to a thousandth, either
//! stands for the other.)

use super::clip::is_face_of_b;
use super::contacts::{Contact, ContactPoint};
use super::manifold::POINTS_MAX;
use super::pairs::SLACK;
use super::placed::Placed;

/// Share of the thinner body's thickness by which a pair may move before its contacts are found anew; no
/// body counts as thicker than 1 m. Contacts fall behind by no more than is left for it (`pairs.rs`).
const STILL: f64 = 2e-3;
const THICKEST: f64 = 1.0;

/// Whether a pair still lies as it did when its contacts were found, and still touches; if so, they are
/// turned along.
pub(super) fn refresh([a, b]: [&Placed; 2], margin: f64, old: &mut [Contact]) -> bool {
    let Some(Contact { found, .. }) = old.iter().find(|contact| contact.count > 0) else {
        return false;
    };
    // what was left out is farther away than the pair goes in this step by half of what it looks ahead
    // at rest, at least
    if found.margin == 0.0 || margin > found.margin + 0.5 * a.rest.min(b.rest) {
        return false;
    }
    let thin = a.thickness.min(b.thickness).min(a.reach.min(b.reach));
    let still = STILL * thin.min(THICKEST);
    let between = b.position - a.position;
    let slid = (a.axes.transpose() * between).distance(found.between);
    if slid > still {
        return false;
    }
    let turned = found.turn.conjugate() * (a.rotation.conjugate() * b.rotation);
    if slid + 2.0 * turned.xyz().length() * b.reach > still {
        return false;
    }
    let mut least = f64::INFINITY;
    for contact in old.iter_mut().filter(|contact| contact.count > 0) {
        // the normal in the axes of both bodies
        let normal = contact.found.normal;
        let (in_a, in_b);
        if is_face_of_b(contact.points[0].feature) {
            contact.normal = b.axes * normal;
            (in_a, in_b) = (a.axes.transpose() * contact.normal, normal);
        } else {
            contact.normal = a.axes * normal;
            (in_a, in_b) = (normal, b.axes.transpose() * contact.normal);
        }
        let apart = contact.normal.dot(between);
        for point in &mut contact.points[..contact.count as usize] {
            point.separation = apart + in_b.dot(point.anchor_b) - in_a.dot(point.anchor_a);
            least = least.min(point.separation);
        }
    }
    // whether what is hardly near is a contact must not depend on its having been one
    least <= margin - SLACK * a.rest.min(b.rest)
}

/// Hands the impulses of the last step to the points that are still there: same features, or else
/// the nearest point left within `reach`.
pub(super) fn carry_impulses(old: &[ContactPoint], points: &mut [ContactPoint], reach: f64) {
    if old.is_empty() {
        return;
    }
    let mut left = Left { points: old, taken: 0 };
    let mut found = [false; POINTS_MAX];
    for (point, found) in points.iter_mut().zip(&mut found) {
        let feature = point.feature;
        *found = left.hand_over(point, |old| if old.feature == feature { 0.0 } else { 1.0 }, 0.5);
    }
    for (point, _) in points.iter_mut().zip(found).filter(|(_, found)| !found) {
        let place = point.anchor_b;
        left.hand_over(point, |old| old.anchor_b.distance(place), reach);
    }
}

/// Points of the last step, and by bits whose impulses have been taken over.
struct Left<'a> {
    points: &'a [ContactPoint],
    taken: u32,
}

impl Left<'_> {
    /// Gives `point` the impulses of the first of the points left that is nearest to it by
    /// `distance`, if that is less than `limit`; says whether it did.
    fn hand_over(
        &mut self,
        point: &mut ContactPoint,
        distance: impl Fn(&ContactPoint) -> f64,
        limit: f64,
    ) -> bool {
        let mut best = (limit, None);
        for (i, old) in self.points.iter().enumerate().filter(|(i, _)| self.taken >> i & 1 == 0) {
            let distance = distance(old);
            if distance < best.0 {
                best = (distance, Some(i));
            }
        }
        let Some(i) = best.1 else { return false };
        point.normal_impulse = self.points[i].normal_impulse;
        point.friction_impulse = self.points[i].friction_impulse;
        self.taken |= 1 << i;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::broad::BroadPhase;
    use super::super::contacts::{ContactScratch, update};
    use super::super::tests::Dice;
    use super::*;
    use crate::math::{Quat, Vec3, rotation_from_vector};
    use crate::{Body, Settings, Shape, World};

    /// A small box stands on a corner of its face, a little tilted, above or below a large one. While the
    /// pair moves by less than it may, its contacts have the gaps and the normal that are found anew; then
    /// they are found anew.
    #[test]
    fn contacts_that_are_kept_have_the_gaps_of_those_found_anew() {
        let mut dice = Dice(9);
        for round in 0..200 {
            let mut world = World::new(Settings::default()).unwrap();
            let (large, small) = (Vec3::new(1.0, 0.2, 1.0), Vec3::splat(0.25));
            let halves = if round % 2 == 0 { [large, small] } else { [small, large] };
            for half in halves {
                world.add_body(Body::dynamic(Shape::cuboid(half).unwrap())).unwrap();
            }
            let mut state = world.state().clone();
            let up = 0.45 + 0.003 * (dice.roll() - 0.5);
            state.bodies[1].position = Vec3::new(0.2, up, 0.1);
            // on the face of the large box, whichever is first
            let lean = rotation_from_vector(Vec3::new(0.008, 0.0, 0.0) + dice.vector(0.005));
            state.bodies[usize::from(round % 2 == 0)].rotation = lean;
            let (model, lengths) = (world.model(), (1.0 / 60.0, 1.0 / 480.0));
            let (mut broad, mut scratch) = (BroadPhase::default(), ContactScratch::default());
            let mut update = |state: &mut crate::state::State| {
                broad.update(model, state, lengths.0);
                update(model, state, &mut broad, lengths, &mut scratch);
            };
            update(&mut state);
            assert_eq!(state.contacts.len(), 1);
            let first = state.contacts[0];

            let mut moved = |state: &mut crate::state::State, way: f64| {
                let turn: Quat = rotation_from_vector(dice.vector(0.3 * way / 1.5));
                let body = &mut state.bodies[1];
                body.position += dice.vector(0.2 * way);
                body.rotation = (turn * body.rotation).normalize();
            };
            let still = STILL * 0.2;
            moved(&mut state, still);
            let mut anew = state.clone();
            anew.contacts.clear();
            update(&mut state);
            update(&mut anew);
            let (kept, found) = (&state.contacts[0], &anew.contacts[0]);
            assert_eq!(kept.found, first.found, "round {round}: not kept");
            assert!(kept.normal.distance(found.normal) < 1e-12, "{kept:?} {found:?}");
            assert_eq!(kept.count, found.count);
            for point in kept.points() {
                let same = found.points().iter().find(|p| p.feature == point.feature).unwrap();
                // one second-order term is left: the corner over which a gap is measured lags behind
                let gap = (same.separation - point.separation).abs();
                assert!(gap < 1e-3 * still, "round {round}: {point:?} {same:?}");
            }

            moved(&mut state, 20.0 * still);
            update(&mut state);
            assert_ne!(state.contacts[0].found, first.found, "round {round}: kept too long");
        }
    }
}
