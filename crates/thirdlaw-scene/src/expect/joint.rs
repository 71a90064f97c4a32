//! What can be read off a joint.

use thirdlaw::math::Vec3;
use thirdlaw::{JointId, JointKind, JointReading, World};

/// A quantity of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointQuantity {
    /// A coordinate in the engine's order, m or rad.
    Coordinate(usize),
    /// Its rate, m/s or rad/s.
    Rate(usize),
    /// Angle of the turn of a joint that turns about everything, rad.
    TurnAngle,
    /// Its angular speed, rad/s.
    TurnRate,
    /// Size of the force on the second side, N.
    Force,
    /// Size of the torque on the second side, N·m.
    Torque,
    /// Force along a world axis, N.
    ForceAlong(usize),
    /// Torque about a world axis, N·m.
    TorqueAbout(usize),
    /// Gap of the anchors, m.
    Error,
    /// Turn out of what the joint allows, rad.
    TurnError,
    /// 1 if it broke, else 0.
    Broken,
}

/// Quantities that every joint has, by name.
pub const JOINT_READINGS: [(&str, JointQuantity); 23] = [
    ("x", JointQuantity::Coordinate(0)),
    ("y", JointQuantity::Coordinate(1)),
    ("z", JointQuantity::Coordinate(2)),
    ("turn_x", JointQuantity::Coordinate(3)),
    ("turn_y", JointQuantity::Coordinate(4)),
    ("turn_z", JointQuantity::Coordinate(5)),
    ("x_rate", JointQuantity::Rate(0)),
    ("y_rate", JointQuantity::Rate(1)),
    ("z_rate", JointQuantity::Rate(2)),
    ("turn_x_rate", JointQuantity::Rate(3)),
    ("turn_y_rate", JointQuantity::Rate(4)),
    ("turn_z_rate", JointQuantity::Rate(5)),
    ("force", JointQuantity::Force),
    ("torque", JointQuantity::Torque),
    ("fx", JointQuantity::ForceAlong(0)),
    ("fy", JointQuantity::ForceAlong(1)),
    ("fz", JointQuantity::ForceAlong(2)),
    ("tx", JointQuantity::TorqueAbout(0)),
    ("ty", JointQuantity::TorqueAbout(1)),
    ("tz", JointQuantity::TorqueAbout(2)),
    ("error", JointQuantity::Error),
    ("turn_error", JointQuantity::TurnError),
    ("broken", JointQuantity::Broken),
];

/// Names for the coordinate that a kind of joint is about.
pub const MAIN_READINGS: [&str; 4] = ["angle", "position", "length", "rate"];

impl JointQuantity {
    /// The quantity of that name of a joint of that kind.
    pub fn named(name: &str, kind: &JointKind) -> Option<JointQuantity> {
        use JointQuantity::{Coordinate, Rate, TurnAngle, TurnRate};
        if let Some((_, quantity)) = JOINT_READINGS.iter().find(|r| r.0 == name) {
            return Some(*quantity);
        }
        match (name, kind) {
            ("angle", JointKind::Hinge | JointKind::Cylindrical | JointKind::Planar) => {
                Some(Coordinate(3))
            }
            ("angle", JointKind::Ball) => Some(TurnAngle),
            ("position", JointKind::Slider | JointKind::Cylindrical | JointKind::Curve { .. }) => {
                Some(Coordinate(0))
            }
            ("length", JointKind::Distance { .. } | JointKind::Spring { .. }) => {
                Some(Coordinate(0))
            }
            ("rate", JointKind::Hinge) => Some(Rate(3)),
            ("rate", JointKind::Ball) => Some(TurnRate),
            (
                "rate",
                JointKind::Slider
                | JointKind::Distance { .. }
                | JointKind::Spring { .. }
                | JointKind::Curve { .. },
            ) => Some(Rate(0)),
            _ => None,
        }
    }

    /// Reads it off a world; NaN for a joint that is gone.
    pub fn read(self, world: &World, id: JointId) -> f64 {
        world.joint_reading(id).map_or(f64::NAN, |reading| self.of(&reading))
    }

    fn of(self, reading: &JointReading) -> f64 {
        let turns = |c: &[f64; 6]| Vec3::new(c[3], c[4], c[5]).length();
        match self {
            JointQuantity::Coordinate(i) => reading.coordinates[i],
            JointQuantity::Rate(i) => reading.rates[i],
            JointQuantity::TurnAngle => turns(&reading.coordinates),
            JointQuantity::TurnRate => turns(&reading.rates),
            JointQuantity::Force => reading.force.length(),
            JointQuantity::Torque => reading.torque.length(),
            JointQuantity::ForceAlong(i) => reading.force[i],
            JointQuantity::TorqueAbout(i) => reading.torque[i],
            JointQuantity::Error => reading.error,
            JointQuantity::TurnError => reading.turn_error,
            JointQuantity::Broken => f64::from(u8::from(reading.broken)),
        }
    }
}
