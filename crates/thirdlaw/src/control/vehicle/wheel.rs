//! How a wheel is built, what is asked of it, and how it is doing.

use crate::math::Vec3;
use crate::model::body::Groups;
use crate::model::error::{BodyError, check_number, check_vector, error};
use serde::{Deserialize, Serialize};

/// How a wheel is built; places and directions in the chassis' own frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WheelSettings {
    /// Where its strut is held, m.
    pub mount: Vec3,
    /// Along the strut, down; of any length.
    pub down: Vec3,
    /// Along the axle; a positive torque drives the wheel towards axle × up.
    pub axle: Vec3,
    /// m.
    pub radius: f64,
    /// From the mount to the middle of the wheel where nothing loads it, m.
    pub rest: f64,
    /// How far the strut can be pushed in, m; there it is hard.
    pub travel: f64,
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
    /// Coulomb's μ between tyre and road.
    pub grip: f64,
    /// About its axle, kg·m².
    pub inertia: f64,
    /// What it stands on.
    pub groups: Groups,
}

impl WheelSettings {
    /// A wheel of a car of about 1.2 t that drives along x, held at `mount` (m).
    pub fn at(mount: Vec3) -> WheelSettings {
        WheelSettings {
            mount,
            down: -Vec3::Y,
            axle: -Vec3::Z,
            radius: 0.35,
            rest: 0.3,
            travel: 0.25,
            stiffness: 35_000.0,
            damping: 3_500.0,
            grip: 1.0,
            inertia: 1.0,
            groups: Groups::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), BodyError> {
        let high = f64::INFINITY;
        check_vector("mount", self.mount)?;
        check_vector("down", self.down)?;
        check_vector("axle", self.axle)?;
        check_number("radius", self.radius, 1e-6..=high)?;
        check_number("rest", self.rest, 0.0..=high)?;
        check_number("travel", self.travel, 0.0..=high)?;
        check_number("stiffness", self.stiffness, 0.0..=high)?;
        check_number("damping", self.damping, 0.0..=high)?;
        check_number("grip", self.grip, 0.0..=high)?;
        check_number("inertia", self.inertia, 1e-12..=high)?;
        if !(self.stiffness > 0.0 || self.damping > 0.0) {
            return Err(error("stiffness", "must be more than 0 where there is no damping"));
        }
        let (down, axle) = (self.down.try_normalize(), self.axle.try_normalize());
        match (down, axle) {
            (Some(down), Some(axle)) if down.dot(axle).abs() < 0.99 => Ok(()),
            _ => Err(error("axle", "down and axle must not be zero nor along each other")),
        }
    }
}

/// A wheel: how it is built, what is asked of it, and how it is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wheel {
    pub(super) settings: WheelSettings,
    /// Turn about the strut, rad; positive to the left.
    pub steer: f64,
    /// Torque of the engine, N·m.
    pub drive: f64,
    /// Most torque of the brake, N·m.
    pub brake: f64,
    pub(super) spin: f64,
    pub(super) angle: f64,
    pub(super) length: f64,
    pub(super) load: f64,
    pub(super) tyre: Vec3,
    pub(super) slip: f64,
    pub(super) grounded: bool,
}

impl Wheel {
    pub(super) fn new(settings: WheelSettings) -> Wheel {
        let (steer, drive, brake, spin, angle) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let (length, load, slip) = (settings.rest, 0.0, 0.0);
        let (tyre, grounded) = (Vec3::ZERO, false);
        Wheel { settings, steer, drive, brake, spin, angle, length, load, tyre, slip, grounded }
    }

    /// How it is built.
    pub fn settings(&self) -> &WheelSettings {
        &self.settings
    }

    /// About its axle, rad/s; positive forwards.
    pub fn spin(&self) -> f64 {
        self.spin
    }

    /// How far it has turned about its axle, rad, for its picture.
    pub fn angle(&self) -> f64 {
        self.angle
    }

    /// From the mount to its middle, m.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Mean force with which it stands on the road in the last step that was acted for, N.
    pub fn load(&self) -> f64 {
        self.load
    }

    /// Mean force of the road on its tyre along the road, N.
    pub fn tyre_force(&self) -> Vec3 {
        self.tyre
    }

    /// Speed at which its tyre slides over the road, m/s.
    pub fn slip(&self) -> f64 {
        self.slip
    }

    /// Whether it is on something.
    pub fn is_grounded(&self) -> bool {
        self.grounded
    }
}
