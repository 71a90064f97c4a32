//! What a step leaves of a joint.

use crate::math::Vec3;
use crate::model::joint::axis::Axis;
use serde::{Deserialize, Serialize};

/// The changing part of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointState {
    /// Coordinates at the end of the last step, m and rad; angles of joints that turn about one
    /// axis count whole turns.
    pub coordinates: [f64; 6],
    /// Their rates, m/s and rad/s.
    pub rates: [f64; 6],
    /// Force on side b in the last substep, world axes, N.
    pub force: Vec3,
    /// Torque on side b about its anchor in the last substep, world axes, N·m.
    pub torque: Vec3,
    /// Distance of the anchors from where the joint wants them, m.
    pub error: f64,
    /// How far the frames are turned out of what the joint allows, rad.
    pub turn_error: f64,
    /// Whether it broke.
    pub broken: bool,
    /// Knot value of the place on a curve.
    pub place: f64,
    /// Position and velocity that the caller wants of a drive, where it has said so.
    pub targets: [Option<(f64, f64)>; 6],
}

/// What can be read of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointReading {
    /// The six coordinates in the order of [`Axis::ALL`], m and rad. Locked ones are zero up to the
    /// joint's error. A rope, rod or spring has its length first, a curve the arc length, a gear its
    /// mismatch.
    pub coordinates: [f64; 6],
    /// Their rates, m/s and rad/s.
    pub rates: [f64; 6],
    /// Force of the joint on side b in world axes, N; on side a it is the opposite.
    pub force: Vec3,
    /// Torque of the joint on side b about its anchor in world axes, N·m.
    pub torque: Vec3,
    /// Anchor gap, m.
    pub error: f64,
    /// Turn out of what the joint allows, rad.
    pub turn_error: f64,
    /// Whether it broke.
    pub broken: bool,
}

impl JointReading {
    /// One coordinate, m or rad.
    pub fn coordinate(&self, axis: Axis) -> f64 {
        self.coordinates[axis.index()]
    }

    /// The rate of one coordinate, m/s or rad/s.
    pub fn rate(&self, axis: Axis) -> f64 {
        self.rates[axis.index()]
    }
}

impl JointState {
    /// Whether every number is finite.
    pub(crate) fn is_finite(&self) -> bool {
        let numbers = self.coordinates.iter().chain(&self.rates);
        numbers.chain([&self.error, &self.turn_error, &self.place]).all(|x| x.is_finite())
            && self.force.is_finite()
            && self.torque.is_finite()
            && self.targets.iter().flatten().all(|(q, v)| q.is_finite() && v.is_finite())
    }

    pub(crate) fn reading(&self) -> JointReading {
        JointReading {
            coordinates: self.coordinates,
            rates: self.rates,
            force: self.force,
            torque: self.torque,
            error: self.error,
            turn_error: self.turn_error,
            broken: self.broken,
        }
    }
}
