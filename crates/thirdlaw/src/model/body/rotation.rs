//! The second-order rotation update [shinar2008 §4.1].
//!
//!   q¹ = q̂(h ω + ½h² I⁻¹(L × ω)) q⁰,   ω¹ = I(q¹)⁻¹ L
//!
//! L is the angular momentum, which free flight keeps: the momentum is exact, the energy is off by
//! O(h²) and bounded, since L alone bounds it. The first-order update q̂(h ω) q⁰ lacks the second
//! term, the turning of ω itself within the step.

use super::model::BodyModel;
use crate::math::{Mat3, Quat, Vec3, rotation_from_vector};

/// q¹: the orientation after `h` seconds of free flight. What does not turn keeps its bits.
pub fn advance(model: &BodyModel, rotation: Quat, omega: Vec3, h: f64) -> Quat {
    if omega == Vec3::ZERO {
        return rotation;
    }
    if keeps_axis(model) {
        return (rotation_from_vector(h * omega) * rotation).normalize();
    }
    let r = Mat3::from_quat(rotation);
    let omega_body = r.transpose() * omega;
    let l_body = model.inertia * omega_body;
    let alpha = r * (model.inv_inertia * l_body.cross(omega_body));
    (rotation_from_vector(h * omega + 0.5 * h * h * alpha) * rotation).normalize()
}

/// ω¹: the angular velocity in the orientation `after` that has the angular momentum of `omega` in
/// the orientation `before`.
pub fn carry(model: &BodyModel, (before, after): (Quat, Quat), omega: Vec3) -> Vec3 {
    if keeps_axis(model) || omega == Vec3::ZERO {
        return omega;
    }
    let (r0, r1) = (Mat3::from_quat(before), Mat3::from_quat(after));
    let l = r0 * (model.inertia * (r0.transpose() * omega));
    r1 * (model.inv_inertia * (r1.transpose() * l))
}

/// ω keeps its direction in free flight: either I is a multiple of the identity, or locks hold it.
fn keeps_axis(model: &BodyModel) -> bool {
    model.isotropic || model.locks.rotation != [false; 3]
}
