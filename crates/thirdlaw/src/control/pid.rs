//! A PID controller: u = k_p·e + k_i·∫e dt + k_d·ė, held within a bound.
//!
//! The integral stops growing while the output is at its bound and the error pushes it farther (clamping), so
//! that a long climb leaves no overshoot behind. The derivative is that of the measured value, so that a jump of
//! the goal is no kick.
//!
//! ```
//! use thirdlaw::prelude::*;
//! use thirdlaw::{Pid, PidGains};
//! let mut world = World::new(Settings::default())?;
//! let drone = world.add_body(Body::dynamic(Shape::sphere(0.2)?).mass(2.0))?;
//! let gains = PidGains { proportional: 40.0, integral: 20.0, derivative: 20.0, most: 60.0 };
//! let mut height = Pid::new(gains);
//! for _ in 0..600 {
//!     let at = world.center(drone)?;
//!     let lift = height.update(1.5 - at.y, -world.velocity(drone)?.linear.y, 1.0 / 60.0);
//!     world.push(drone, lift * Vec3::Y, at)?;
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! assert!((world.center(drone)?.y - 1.5).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::{Deserialize, Serialize};

/// How strongly a controller answers; units are those of the output by those of the error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PidGains {
    /// Output for an error of 1.
    pub proportional: f64,
    /// Output for an error of 1 that lasts a second.
    pub integral: f64,
    /// Output for an error that changes by 1 a second.
    pub derivative: f64,
    /// Bound of the output on both sides; may be infinite.
    pub most: f64,
}

/// A controller with what it has summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pid {
    /// Its gains; change them at any time.
    pub gains: PidGains,
    sum: f64,
}

impl Pid {
    /// One that has summed up nothing.
    pub fn new(gains: PidGains) -> Pid {
        Pid { gains, sum: 0.0 }
    }

    /// The output for an error (goal − measured) that changes at a `rate` (1/s: minus that of the measured
    /// value), for the next `dt` seconds. What is not finite is answered by 0 and leaves the sum alone.
    pub fn update(&mut self, error: f64, rate: f64, dt: f64) -> f64 {
        let PidGains { proportional, integral, derivative, most } = self.gains;
        let sum = self.sum + error * dt;
        let wanted = proportional * error + integral * sum + derivative * rate;
        if !wanted.is_finite() || most.is_nan() {
            return 0.0;
        }
        let bound = most.abs();
        let output = wanted.clamp(-bound, bound);
        if output == wanted || integral * error * (wanted - output) <= 0.0 {
            self.sum = sum;
        }
        output
    }

    /// What it has summed up, in units of the error times seconds.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Forgets what it has summed up.
    pub fn reset(&mut self) {
        self.sum = 0.0;
    }
}
