//! How a handle of a simulator answers forces, by trying: steps that are taken back.

use super::error::CoupleError;
use super::member::Member;
use crate::math::{Mat3, Vec3};
use crate::simulator::{HandleResponse, Motion, Wrench};

impl Member {
    /// How a handle answers: what it says, or what trying tells. Leaves it in its saved state.
    pub fn response(&mut self, handle: usize, dt: f64) -> Result<HandleResponse, CoupleError> {
        if let Some(said) = self.look("response", |s| s.response(handle))? {
            return Ok(said);
        }
        let free = self.tried(handle, Wrench::ZERO, dt)?;
        let mut response = HandleResponse { mass: f64::INFINITY, inertia: Mat3::ZERO, reach: 0.5 };
        let mut strongest: f64 = 0.0;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let mut force = 1.0;
            // a step may only show a change that is large against its rounding
            for _ in 0..8 {
                let wrench = Wrench { force: force * axis, torque: Vec3::ZERO };
                let moved = self.tried(handle, wrench, dt)?;
                let change = (moved.velocity.linear - free.velocity.linear).dot(axis);
                if change.abs() > 1e-4 * (1.0 + free.velocity.linear.length()) {
                    let mobility = change / (force * dt);
                    if mobility > strongest {
                        strongest = mobility;
                        let shift = (moved.position - free.position).dot(axis);
                        response.mass = 1.0 / mobility;
                        response.reach = (shift / (dt * change)).clamp(0.0, 1.0);
                    }
                    break;
                }
                force *= 100.0;
            }
        }
        response.inertia = self.inertia(handle, dt, &free)?;
        self.restore()?;
        Ok(response)
    }

    /// Inertia about each axis, by trying torques; zero where nothing turns.
    fn inertia(&mut self, handle: usize, dt: f64, free: &Motion) -> Result<Mat3, CoupleError> {
        let mut moments = Vec3::ZERO;
        for (k, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            let mut torque = 1e-3;
            for _ in 0..8 {
                let wrench = Wrench { force: Vec3::ZERO, torque: torque * axis };
                let moved = self.tried(handle, wrench, dt)?;
                let change = (moved.velocity.angular - free.velocity.angular).dot(axis);
                if change > 1e-4 * (1.0 + free.velocity.angular.length()) {
                    moments[k] = torque * dt / change;
                    break;
                }
                torque *= 100.0;
            }
        }
        Ok(if moments.min_element() > 0.0 { Mat3::from_diagonal(moments) } else { Mat3::ZERO })
    }

    fn tried(&mut self, handle: usize, force: Wrench, dt: f64) -> Result<Motion, CoupleError> {
        self.restore()?;
        if force != Wrench::ZERO {
            self.pushes.push((handle, force));
        }
        self.advance(dt)?;
        self.read(handle)
    }
}
