//! Bodies that follow keyframes or keep their velocity.

use crate::math::{Twist, Vec3};
use crate::model::body::model::BodyModel;
use crate::state::body::BodyState;

/// Velocity that brings a keyframed body to its pose at `time` within `h` seconds.
pub fn keyframe_velocity(body: &BodyModel, now: &BodyState, time: f64, h: f64) -> Twist {
    let Some(pose) = body.motion.pose_at(time) else { return now.velocity };
    let target = pose.translation + pose.rotation * body.center;
    // q·q* of a general q is one only to round-off, and a body at rest must be at rest
    let turn = if pose.rotation == now.rotation {
        Vec3::ZERO
    } else {
        crate::math::rotation_vector(pose.rotation * now.rotation.conjugate())
    };
    Twist { linear: (target - now.position) / h, angular: turn / h }
}

/// Moves a kinematic body through one substep `(index, of how many)` of a step from `time`.
pub fn move_kinematic(
    body: &BodyModel,
    now: &mut BodyState,
    time: f64,
    dt: f64,
    (substep, substeps): (u32, u32),
) {
    let h = dt / f64::from(substeps);
    let end = time + f64::from(substep + 1) * h;
    match body.motion.pose_at(end) {
        Some(pose) => {
            now.velocity = keyframe_velocity(body, now, end, h);
            now.position = pose.translation + pose.rotation * body.center;
            now.rotation = pose.rotation;
        }
        None => {
            now.position += h * now.velocity.linear;
            let turn = crate::math::rotation_from_vector(h * now.velocity.angular);
            now.rotation = (turn * now.rotation).normalize();
        }
    }
}
