//! Contacts that last: which of them need not be found anew.
//!
//! The normal of a contact is fixed to the body whose face it is and its points to the other one, so that
//! a corner on a plane keeps its gap exactly, however the pair moves; only the place of the points falls
//! behind, by no more than the pair has moved. (Where both faces are in line to a thousandth, either
//! stands for the other.)

use super::pairs::SLACK;
use super::placed::{Placed, is_slower, pair_margin};
use crate::model::body::model::speed_scale;
use crate::state::contact::{Basis, Contact};

/// Share of the thinner body's thickness by which a pair may move before its contacts are found anew, but no
/// more than is left for points that fall behind (`pairs.rs`).
const STILL: f64 = 4e-3;
/// Speed below which a pair may be coming to rest, m/s, where the smaller body is half a metre across.
const SLOW: f64 = 0.08;

/// How far a pair may move before its contacts are found anew, m.
fn still(a: &Placed, b: &Placed) -> f64 {
    let thin = a.thickness.min(b.thickness).min(a.reach.min(b.reach));
    (STILL * thin).min(SLACK * a.rest.min(b.rest))
}

/// Gap up to which contacts of a pair count as closed, m: points are not known better. For what is slow
/// only, so that what falls or rocks farther than that loses nothing to it (see `step/rigid/restitution.rs`), and
/// not for what bounces.
pub(super) fn skin([a, b]: [&Placed; 2], dt: f64, restitution: f64) -> f32 {
    let closes =
        restitution == 0.0 && is_slower(a, b, dt, SLOW * speed_scale(a.reach.min(b.reach)));
    if closes { still(a, b) as f32 } else { 0.0 }
}

/// Overlap, over the reach of the smaller body, from which a pair lies deep in each other, and down to which
/// it then does.
const DEEP: [f64; 2] = [0.04, 0.0025];

/// The skin of a contact with this least gap, marked where the pair lies deep.
pub(super) fn marked(skin: f32, [a, b]: [&Placed; 2], was_deep: bool, least: f64) -> f32 {
    let overlap = DEEP[usize::from(was_deep)] * a.reach.min(b.reach);
    if -least > overlap { -0.0 } else { skin }
}

/// Whether a pair still lies as it did when its contacts were found, and still touches in a step of `dt`
/// seconds; if so, they are turned along.
pub(super) fn refresh([a, b]: [&Placed; 2], dt: f64, old: &mut [Contact]) -> bool {
    let Some(first) = old.iter().find(|contact| contact.count > 0) else {
        return false;
    };
    let Basis::Flat(found) = &first.basis else {
        return false;
    };
    let (rest, still) = (a.rest.min(b.rest), still(a, b));
    // roots take long and are seldom asked for
    let margin = || pair_margin(a, b, dt);
    // what was left out is farther away than the pair goes in this step by half of what it looks ahead
    // at rest, at least
    if found.margin < f64::MAX && margin() > found.margin + 0.5 * rest {
        return false;
    }
    let between = b.position - a.position;
    let slid = (a.axes.transpose() * between).distance_squared(found.between);
    let turned = found.orientation().conjugate() * (a.rotation.conjugate() * b.rotation);
    let turned = 4.0 * turned.xyz().length_squared() * b.reach * b.reach;
    // (x + y)² is no more than 2x² + 2y²
    if 2.0 * (slid + turned) > still * still && slid.sqrt() + turned.sqrt() > still {
        return false;
    }
    let mut least = f64::INFINITY;
    // restitution is that of the pair
    let skin = skin([a, b], dt, first.restitution);
    for contact in old.iter_mut().filter(|contact| contact.count > 0) {
        let on_a = contact.is_on_a();
        // pieces of the same pair may be round; its contacts are then found anew
        let Basis::Flat(found) = &contact.basis else { return false };
        let (own, face, side) = if on_a { (a, b, -1.0) } else { (b, a, 1.0) };
        contact.normal = face.axes * found.normal;
        let (was_deep, mut nearest) = (contact.is_deep(), f64::INFINITY);
        let normal = own.axes.transpose() * contact.normal;
        let apart = contact.normal.dot(between);
        for i in 0..contact.count as usize {
            let gap = apart + side * (normal.dot(contact.anchors[i]) - found.levels[i]);
            contact.separations[i] = gap;
            nearest = nearest.min(gap);
        }
        contact.skin = marked(skin, [a, b], was_deep, nearest);
        least = least.min(nearest);
    }
    // whether what is hardly near is a contact must not depend on its having been one
    least <= rest - SLACK * rest || least <= margin() - SLACK * rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::broad::BroadPhase;
    use crate::collide::contacts::{ContactScratch, update};
    use crate::collide::tests::Dice;
    use crate::math::{Quat, Vec3, rotation_from_vector};
    use crate::model::body::Body;
    use crate::model::settings::Settings;
    use crate::shape::Shape;
    use crate::world::World;

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
            let up = 0.45 + 0.0015 * (dice.roll() - 0.5);
            state.bodies[1].position = Vec3::new(0.2, up, 0.1);
            // on the face of the large box, whichever is first
            let lean = rotation_from_vector(Vec3::new(0.004, 0.0, 0.0) + dice.vector(0.0025));
            state.bodies[usize::from(round % 2 == 0)].rotation = lean;
            let (model, lengths) = (world.model(), (1.0 / 60.0, 1.0 / 480.0));
            let (mut broad, mut scratch) = (BroadPhase::default(), ContactScratch::default());
            let mut update = |state: &mut crate::state::State| {
                broad.update(model, state, (lengths.0, Vec3::ZERO));
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
            assert_eq!(kept.basis, first.basis, "round {round}: not kept");
            assert!(kept.normal.distance(found.normal) < 1e-12, "{kept:?} {found:?}");
            assert_eq!(kept.count, found.count);
            for point in kept.points() {
                let same = found.points().find(|p| p.feature == point.feature).unwrap();
                // one second-order term is left: the corner over which a gap is measured lags behind
                let gap = (same.separation - point.separation).abs();
                assert!(gap < 1e-3 * still, "round {round}: {point:?} {same:?}");
            }

            moved(&mut state, 20.0 * still);
            update(&mut state);
            assert_ne!(state.contacts[0].basis, first.basis, "round {round}: kept too long");
        }
    }
}
