//! What can be read off a point mass.

use thirdlaw::math::Vec3;
use thirdlaw::{PointId, World};

/// A quantity of a point mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointReading {
    /// Place along an axis, m.
    Position(usize),
    /// Velocity along an axis, m/s.
    Velocity(usize),
    /// m/s.
    Speed,
    /// From the world's origin, m.
    Distance,
    /// From where it started, m.
    Drift,
}

/// Point quantities by name.
pub const POINT_READINGS: [(&str, PointReading); 9] = [
    ("x", PointReading::Position(0)),
    ("y", PointReading::Position(1)),
    ("z", PointReading::Position(2)),
    ("vx", PointReading::Velocity(0)),
    ("vy", PointReading::Velocity(1)),
    ("vz", PointReading::Velocity(2)),
    ("speed", PointReading::Speed),
    ("distance", PointReading::Distance),
    ("drift", PointReading::Drift),
];

impl PointReading {
    /// Reads it off a world; NaN for a point that is gone.
    pub fn read(self, world: &World, id: PointId, start: Vec3) -> f64 {
        let Ok(point) = world.point(id) else { return f64::NAN };
        match self {
            PointReading::Position(i) => point.position[i],
            PointReading::Velocity(i) => point.velocity[i],
            PointReading::Speed => point.velocity.length(),
            PointReading::Distance => point.position.length(),
            PointReading::Drift => point.position.distance(start),
        }
    }
}
