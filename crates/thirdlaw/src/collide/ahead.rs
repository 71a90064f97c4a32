//! Contacts of pairs that are far apart and meet within the step.
//!
//! A contact is looked for no farther away than the smaller body is long: beyond that the nearest features
//! say little about those that will meet. A pair that is faster is swept along its velocities to the time of
//! impact; what touches there is its contact from the beginning of the step on, with the gaps that are left
//! to go. The solve then closes them when their time has come, as it does with all other contacts: momentum
//! is kept, restitution is that of the materials, joints hold, and no time is lost.

use super::manifold::Manifold;
use super::narrow::{NarrowScratch, collide};
use super::placed::Placed;
use super::refresh::Met;
use super::time_of_impact::{Motion, time_of_impact};
use crate::math::{Pose, Twist, Vec3};
use crate::shape::Shape;
use crate::state::contact::POINTS_MAX;

/// Gap at which bodies count as met, as a share of the distance at which contacts are looked for at rest.
const MET: f64 = 0.25;

/// One of two bodies.
#[derive(Clone, Copy)]
pub(super) struct Mover<'a> {
    pub shape: &'a Shape,
    pub placed: &'a Placed,
    pub velocity: Twist,
}

impl Mover<'_> {
    fn motion(&self, dt: f64) -> Motion {
        Motion {
            start: self.placed.pose(),
            way: dt * self.velocity.linear,
            turn: dt * self.velocity.angular,
            center_local: self.placed.center,
        }
    }
}

/// Takes the pieces, the normal and the points of a meeting.
type Emit<'a> = dyn FnMut((u32, u32), Vec3, &[Met]) + 'a;

/// Calls `emit` with the pieces, the normal and the points with which two bodies meet within the next `dt`
/// seconds if nothing else stops them, in ascending order of the pieces.
pub(super) fn meet([a, b]: [Mover; 2], dt: f64, scratch: &mut NarrowScratch, emit: &mut Emit) {
    let target = MET * a.placed.rest.min(b.placed.rest);
    let (motion_a, motion_b) = (a.motion(dt), b.motion(dt));
    let Some(time) = time_of_impact(a.shape, &motion_a, b.shape, &motion_b, target) else { return };
    let (pose_a, pose_b) = (motion_a.at(time), motion_b.at(time));
    let meeting = Meeting { placed: [a.placed, b.placed], poses: [pose_a, pose_b] };
    // points that touch a little later belong to the same impact
    let left = (1.0 - time) * meeting.travel(&motion_a, &motion_b);
    let margin = 2.0 * target + left.min(a.placed.reach.min(b.placed.reach));
    collide(a.shape, &pose_a, b.shape, &pose_b, margin, scratch, &mut |i, j, manifold| {
        let mut met = [Met::default(); POINTS_MAX];
        let count = meeting.points(manifold, &mut met);
        if count > 0 {
            emit((i, j), manifold.normal, &met[..count]);
        }
    });
}

/// Two bodies now, and how they will lie when they meet.
struct Meeting<'a> {
    placed: [&'a Placed; 2],
    poses: [Pose; 2],
}

impl Meeting<'_> {
    fn travel(&self, a: &Motion, b: &Motion) -> f64 {
        let turning = |side: usize, turn: Vec3| match self.placed[side].reach {
            reach if reach.is_finite() => reach * turn.length(),
            _ => 0.0,
        };
        a.way.distance(b.way) + turning(0, a.turn) + turning(1, b.turn)
    }

    /// Fills in the points that close until the bodies meet; says how many they are.
    fn points(&self, manifold: &Manifold, met: &mut [Met; POINTS_MAX]) -> usize {
        let n = manifold.normal;
        let Some(first) = manifold.points().first() else { return 0 };
        // single precision is what contacts keep of them
        let radii = [first.radius_a, first.radius_b].map(|radius| f64::from(radius as f32));
        let mut count = 0;
        for point in manifold.points() {
            // all have the radii of the first: what is left over moves their cores
            let cores = [
                point.core_a + (point.radius_a - radii[0]) * n,
                point.core_b - (point.radius_b - radii[1]) * n,
            ];
            let on: [Vec3; 2] = std::array::from_fn(|side| {
                let (placed, pose) = (self.placed[side], &self.poses[side]);
                pose.rotation.inverse() * (cores[side] - pose.translation) - placed.center
            });
            let [a, b] = self.placed;
            let apart = (b.position - a.position) + (b.axes * on[1] - a.axes * on[0]);
            let separation = n.dot(apart) - radii[0] - radii[1];
            // what turns so far that its gap says nothing about the way to go is no contact yet
            if separation >= 0.0 && separation > point.separation {
                met[count] = Met { on, radii, separation, feature: point.feature };
                count += 1;
            }
        }
        count
    }
}
