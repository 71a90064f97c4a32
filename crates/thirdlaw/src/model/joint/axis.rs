//! What may be said about one coordinate of a joint.

use super::drive::Drive;
use serde::{Deserialize, Serialize};

/// The six coordinates of a joint, in the axes of frame a. Joints with a single coordinate of
/// another nature (the length of a rope, the place on a curve) call it [`Axis::X`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Axis {
    /// Along the first axis, m.
    X,
    /// Along the second axis, m.
    Y,
    /// Along the third axis, m.
    Z,
    /// About the first axis, rad.
    TurnX,
    /// About the second axis, rad.
    TurnY,
    /// About the third axis, rad.
    TurnZ,
}

impl Axis {
    /// All axes, in the order of a joint's coordinates.
    pub const ALL: [Axis; 6] = [Axis::X, Axis::Y, Axis::Z, Axis::TurnX, Axis::TurnY, Axis::TurnZ];

    /// Its place in a joint's coordinates.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether it is an angle.
    pub fn is_turn(self) -> bool {
        self.index() >= 3
    }
}

/// Whether a coordinate of a joint may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum AxisMode {
    /// Held at zero.
    Locked,
    /// Free, within the limits if there are any.
    #[default]
    Free,
}

/// Bounds of a coordinate, m or rad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Least value; may be −∞.
    pub lower: f64,
    /// Greatest value; may be ∞.
    pub upper: f64,
    /// Newton's e of a blow against either end, 0 to 1.
    pub restitution: f64,
}

/// A spring–damper on a coordinate, integrated implicitly: stable for any stiffness and step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spring {
    /// N/m or N·m/rad.
    pub stiffness: f64,
    /// N·s/m or N·m·s/rad.
    pub damping: f64,
    /// Value of the coordinate at which the spring rests, m or rad.
    pub rest: f64,
}

/// What acts on one free coordinate of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AxisSettings {
    /// Whether the coordinate may change.
    pub mode: AxisMode,
    /// Within which bounds.
    pub limits: Option<Limits>,
    /// Dry friction: the force (N) or torque (N·m) it takes to move the coordinate.
    pub friction: f64,
    /// A spring–damper.
    pub spring: Option<Spring>,
    /// A drive.
    pub drive: Option<Drive>,
}

impl AxisSettings {
    /// A coordinate held at zero.
    pub fn locked() -> AxisSettings {
        AxisSettings { mode: AxisMode::Locked, ..AxisSettings::default() }
    }

    /// A coordinate that nothing acts on.
    pub fn free() -> AxisSettings {
        AxisSettings::default()
    }

    /// A coordinate between two values, m or rad.
    pub fn limited(lower: f64, upper: f64) -> AxisSettings {
        AxisSettings {
            limits: Some(Limits { lower, upper, restitution: 0.0 }),
            ..AxisSettings::default()
        }
    }

    /// Whether anything but a lock is asked for.
    pub(crate) fn acts(&self) -> bool {
        self.limits.is_some()
            || self.friction != 0.0
            || self.spring.is_some()
            || self.drive.is_some()
    }
}
