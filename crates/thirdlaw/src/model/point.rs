//! Free point masses: no extent, no rotation, no collisions; what ropes and beads end in.

use super::error::BodyError;
use crate::ids::StaleId;
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// A point mass to be added to a world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "a point does nothing until it is added to a world"]
pub struct Point {
    /// m.
    pub position: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// kg.
    pub mass: f64,
    /// Factor on the world's gravity.
    pub gravity_scale: f64,
}

impl Point {
    /// A point of this mass (kg) at rest at a place (m).
    pub fn new(mass: f64, position: Vec3) -> Point {
        Point { position, velocity: Vec3::ZERO, mass, gravity_scale: 1.0 }
    }

    /// Gives it a velocity, m/s.
    pub fn moving(mut self, velocity: Vec3) -> Point {
        self.velocity = velocity;
        self
    }
}

/// The constant part of a point mass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointModel {
    /// Whether the slot is in use.
    pub alive: bool,
    /// How often the slot had been used before.
    pub generation: u32,
    /// kg.
    pub mass: f64,
    /// Factor on gravity.
    pub gravity_scale: f64,
}

/// A point mass, or a change to one, that was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum PointError {
    /// The id names nothing (any more).
    Stale(StaleId),
    /// The value cannot be used.
    Value(BodyError),
}

impl std::fmt::Display for PointError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PointError::Stale(error) => error.fmt(f),
            PointError::Value(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PointError {}

impl From<StaleId> for PointError {
    fn from(error: StaleId) -> Self {
        PointError::Stale(error)
    }
}

impl From<BodyError> for PointError {
    fn from(error: BodyError) -> Self {
        PointError::Value(error)
    }
}

impl PointModel {
    /// Checks a description and derives the constant part from it.
    pub fn build(point: &Point, generation: u32) -> Result<PointModel, BodyError> {
        super::error::check_vector("position", point.position)?;
        super::error::check_vector("velocity", point.velocity)?;
        if !(1e-12..=1e18).contains(&point.mass) {
            let problem = format!("a point weighs between 1e-12 and 1e18 kg, not {:e}", point.mass);
            return Err(BodyError { field: "mass", problem });
        }
        if !point.gravity_scale.is_finite() {
            let problem = format!("must be finite, not {}", point.gravity_scale);
            return Err(BodyError { field: "gravity_scale", problem });
        }
        let Point { mass, gravity_scale, .. } = *point;
        Ok(PointModel { alive: true, generation, mass, gravity_scale })
    }
}
