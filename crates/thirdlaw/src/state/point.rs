//! The changing part of point masses.

use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// The changing part of a point mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointState {
    /// m.
    pub position: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// Force that the caller asked for in the next step, N.
    pub push: Vec3,
}

impl PointState {
    /// Whether every number is finite, and so far from overflow that its square is too.
    pub fn is_finite(&self) -> bool {
        let sane = |v: Vec3| v.abs().max_element() < 1e100 && !v.is_nan();
        sane(self.position) && sane(self.velocity)
    }
}
