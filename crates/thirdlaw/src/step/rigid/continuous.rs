//! Continuous detection: a body that moved farther in a step than it is thick is swept along its
//! path and stopped where it first touches; its velocity stays for the next step's contacts.

use crate::collide::broad::BroadPhase;
use crate::collide::time_of_impact::{Motion, time_of_impact};
use crate::math::{Pose, Quat, Vec3, rotation_from_vector};
use crate::model::Model;
use crate::model::body::model::BodyModel;
use crate::shape::{Aabb, Shape};
use crate::state::State;
use crate::state::body::BodyState;

/// Share of the inner radius that stands for a body whose contacts should have held it.
const CORE: f64 = 0.25;

/// Stops a body that went farther than it is thick where it first touches; says whether it does. The broad
/// phase knows where bodies were before the step.
pub fn stop(model: &Model, state: &mut State, slot: usize, broad: &BroadPhase) -> bool {
    let Some(time) = first_impact(model, state, slot, broad) else { return false };
    let body = &mut state.bodies[slot];
    (body.position, body.rotation) = pose_at(broad.start(slot), body, time);
    true
}

fn first_impact(model: &Model, state: &State, slot: usize, broad: &BroadPhase) -> Option<f64> {
    let body = &model.bodies[slot];
    let motion = motion_of(body, broad.start(slot), &state.bodies[slot]);
    let swept = swept_box(body, &motion);
    let mut first: Option<f64> = None;
    for other in broad.overlapping(&swept) {
        let other = other as usize;
        let other_body = &model.bodies[other];
        if other == slot || !other_body.alive || !body.groups.touch(other_body.groups) {
            continue;
        }
        // contacts look one inner radius ahead; two bodies that give way to each other need not be
        // stopped before they would have passed through both
        let way = |i: usize| state.bodies[i].position - broad.start(i).0;
        let yielding = if other_body.is_dynamic() { other_body.shape.inner_radius() } else { 0.0 };
        if way(slot).distance(way(other)) <= body.shape.inner_radius() + yielding {
            continue;
        }
        let other_motion = motion_of(other_body, broad.start(other), &state.bodies[other]);
        // bodies with a contact in this step were held by it; what must not happen is that the core
        // passes all the same, so those are swept by their core alone
        let time = if in_contact(state, slot as u32, other as u32) {
            let core = Shape::sphere(CORE * body.shape.inner_radius()).ok();
            let core_motion = Motion {
                start: Pose::from_parts(broad.start(slot).0, Quat::IDENTITY),
                end: Pose::from_parts(state.bodies[slot].position, Quat::IDENTITY),
                center_local: Vec3::ZERO,
            };
            core.and_then(|core| {
                time_of_impact(&core, &core_motion, &other_body.shape, &other_motion, 0.0)
                    .filter(|&time| time > 0.0)
            })
        } else {
            let target = 0.05 * body.shape.inner_radius();
            time_of_impact(&body.shape, &motion, &other_body.shape, &other_motion, target)
        };
        // the earliest, whatever the order of the candidates
        first = match (first, time) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    first
}

/// Whether the two bodies had a contact in this step.
fn in_contact(state: &State, one: u32, other: u32) -> bool {
    let (a, b) = (one.min(other), one.max(other));
    let first = state.contacts.partition_point(|c| (c.key.a, c.key.b) < (a, b));
    let mut between = state.contacts[first..].iter().take_while(|c| (c.key.a, c.key.b) == (a, b));
    between.any(|c| c.count > 0)
}

/// Centre of mass and orientation.
type Start = (Vec3, Quat);

fn motion_of(body: &BodyModel, start: Start, end: &BodyState) -> Motion {
    let origin =
        |(position, rotation): Start| Pose::from_parts(position - rotation * body.center, rotation);
    let end = origin((end.position, end.rotation));
    Motion { start: origin(start), end, center_local: body.center }
}

fn swept_box(body: &BodyModel, motion: &Motion) -> Aabb {
    let a = motion.start * body.center;
    let b = motion.end * body.center;
    let reach = Vec3::splat(body.reach);
    Aabb::new(a.min(b) - reach, a.max(b) + reach)
}

fn pose_at((position, rotation): Start, end: &BodyState, time: f64) -> Start {
    let turn = crate::math::rotation_vector(end.rotation * rotation.conjugate());
    (position.lerp(end.position, time), (rotation_from_vector(time * turn) * rotation).normalize())
}
