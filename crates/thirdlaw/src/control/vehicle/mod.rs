//! A vehicle on rays: a body, and wheels that feel the road with a ray each.
//!
//! A wheel has a spring and a damper, a tyre that holds by Coulomb's law, and a spin of its own with an
//! inertia, driven and braked against the chassis. Ahead of every step the impulses of all wheels over that step are
//! found together, as rows of one contact problem: each spring by backward Euler, each tyre within its
//! friction circle, each brake within its torque, swept over by projected Gauss–Seidel. They act on the
//! chassis as forces over the step, and the other way on whatever the wheel stands on, so that a raft
//! drifts back under a car that speeds up.
//!
//! A wheel turns its chassis as much as its chassis turns it; that a spinning wheel resists being
//! tilted is left out.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let chassis = Body::dynamic(Shape::cuboid(Vec3::new(2.0, 0.4, 0.8))?).mass(1200.0);
//! let chassis = world.add_body(chassis.at(0.0, 1.0, 0.0))?;
//! let mut car = Vehicle::new(chassis);
//! for (x, z) in [(1.4, 0.8), (1.4, -0.8), (-1.4, 0.8), (-1.4, -0.8)] {
//!     car.add_wheel(WheelSettings::at(Vec3::new(x, -0.2, z)))?;
//! }
//! for _ in 0..180 {
//!     for wheel in car.wheels_mut() {
//!         wheel.drive = 300.0;
//!     }
//!     car.act(&mut world, 1.0 / 60.0)?;
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! assert!(world.velocity(chassis)?.linear.x > 5.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod rows;
mod wheel;

pub use wheel::{Wheel, WheelSettings};

use crate::ids::BodyId;
use crate::math::{Pose, rotation_from_vector};
use crate::model::error::{BodyError, EditError, check_number, error};
use crate::world::World;
use rows::Rows;
use serde::{Deserialize, Serialize};

/// A vehicle on rays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[doc(alias = "DynamicRayCastVehicleController")]
pub struct Vehicle {
    chassis: BodyId,
    wheels: Vec<Wheel>,
}

impl Vehicle {
    /// A vehicle without wheels yet.
    pub fn new(chassis: BodyId) -> Vehicle {
        Vehicle { chassis, wheels: Vec::new() }
    }

    /// Adds a wheel; returns its number.
    pub fn add_wheel(&mut self, settings: WheelSettings) -> Result<usize, BodyError> {
        settings.check()?;
        self.wheels.push(Wheel::new(settings));
        Ok(self.wheels.len() - 1)
    }

    /// Its body.
    pub fn chassis(&self) -> BodyId {
        self.chassis
    }

    /// Its wheels.
    pub fn wheels(&self) -> &[Wheel] {
        &self.wheels
    }

    /// Its wheels, to be driven, braked and steered.
    pub fn wheels_mut(&mut self) -> &mut [Wheel] {
        &mut self.wheels
    }

    /// Middle of a wheel (m) and its orientation, steered and turned; its axle is the axis of its settings.
    pub fn wheel_pose(&self, world: &World, wheel: usize) -> Result<Pose, EditError> {
        let Some(wheel) = self.wheels.get(wheel) else {
            return Err(error("wheel", format!("there are {} wheels", self.wheels.len())).into());
        };
        let pose = world.pose(self.chassis)?;
        let down = wheel.settings.down.normalize();
        let steer = rotation_from_vector(-wheel.steer * down);
        let spin = rotation_from_vector(wheel.angle * wheel.settings.axle.normalize());
        let middle = pose * (wheel.settings.mount + wheel.length * down);
        Ok(Pose::from_parts(middle, pose.rotation * steer * spin))
    }

    /// Ahead of every step of `dt` seconds.
    pub fn act(&mut self, world: &mut World, dt: f64) -> Result<(), EditError> {
        check_number("dt", dt, f64::MIN_POSITIVE..=f64::INFINITY)?;
        for wheel in &self.wheels {
            check_number("steer", wheel.steer, f64::NEG_INFINITY..=f64::INFINITY)?;
            check_number("drive", wheel.drive, f64::NEG_INFINITY..=f64::INFINITY)?;
            check_number("brake", wheel.brake, 0.0..=f64::INFINITY)?;
        }
        let mut rows = Rows::find(world, self.chassis, &self.wheels, dt)?;
        rows.solve(&self.wheels, dt);
        rows.push(world, self.chassis, dt)?;
        rows.tell(&mut self.wheels, dt);
        Ok(())
    }
}
