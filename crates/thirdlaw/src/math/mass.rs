//! The mass of a body in world axes.

use super::{Mat3, Vec3};

/// What resists an impulse on a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMass {
    /// 1/kg along each world axis (an axis lock sets one to zero).
    pub inv_mass: Vec3,
    /// Inverse inertia about the centre of mass in world axes, 1/(kg·m²).
    pub inv_inertia: Mat3,
}

impl Default for BodyMass {
    /// A body that no impulse moves or turns. (The default of a matrix is the identity.)
    fn default() -> BodyMass {
        BodyMass { inv_mass: Vec3::ZERO, inv_inertia: Mat3::ZERO }
    }
}

impl BodyMass {
    /// The body's part of N for a row of this direction and arm, m/s per N·s.
    pub fn response(&self, direction: Vec3, arm: Vec3) -> f64 {
        direction.dot(self.inv_mass * direction) + arm.dot(self.inv_inertia * arm)
    }
}

impl BodyMass {
    /// Whether no impulse moves the body.
    #[inline]
    pub fn is_fixed(&self) -> bool {
        self.inv_mass == Vec3::ZERO && self.inv_inertia == Mat3::ZERO
    }
}
