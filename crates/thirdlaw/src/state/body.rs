//! The changing part of rigid bodies.

use crate::math::{Quat, Twist, Vec3};
use serde::{Deserialize, Serialize};

/// The changing part of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Centre of mass, m.
    pub position: Vec3,
    /// Orientation of the body's own axes.
    pub rotation: Quat,
    /// Velocity of the centre of mass and angular velocity.
    pub velocity: Twist,
    /// Force (N) and torque (N·m) that the caller asked for in the next step.
    pub push: Push,
    /// How long the body has been slow, s.
    pub quiet: f64,
    /// Whether its island sleeps.
    pub asleep: bool,
}

impl BodyState {
    /// Whether every number is finite, and so far from overflow that its square is too.
    pub fn is_finite(&self) -> bool {
        let sane = |v: Vec3| v.abs().max_element() < 1e100 && !v.is_nan();
        sane(self.position)
            && self.rotation.is_finite()
            && sane(self.velocity.linear)
            && sane(self.velocity.angular)
    }
}

/// A force at the centre of mass and a torque, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// N.
    pub force: Vec3,
    /// N·m.
    pub torque: Vec3,
}
