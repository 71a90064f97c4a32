//! Point masses.

use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Point masses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// Positions, m.
    pub x: Vec<Vec3>,
    /// Velocities, m/s.
    pub v: Vec<Vec3>,
}
