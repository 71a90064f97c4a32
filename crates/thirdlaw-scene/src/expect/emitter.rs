//! What can be read off a stream of particles.

use thirdlaw::math::Vec3;
use thirdlaw::{EmitterId, World};

/// A quantity of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmitterReading {
    /// Particles alive.
    Count,
    /// Particles born so far.
    Born,
    /// Mean place along an axis, m; 0 without particles.
    Position(usize),
    /// Mean velocity along an axis, m/s; 0 without particles.
    Velocity(usize),
    /// Speed of the fastest, m/s.
    Speed,
    /// Height of the lowest, m; infinite without particles.
    Lowest,
    /// Distance of the farthest from the world's origin, m.
    Reach,
}

/// Emitter quantities by name.
pub const EMITTER_READINGS: [(&str, EmitterReading); 11] = [
    ("count", EmitterReading::Count),
    ("born", EmitterReading::Born),
    ("x", EmitterReading::Position(0)),
    ("y", EmitterReading::Position(1)),
    ("z", EmitterReading::Position(2)),
    ("vx", EmitterReading::Velocity(0)),
    ("vy", EmitterReading::Velocity(1)),
    ("vz", EmitterReading::Velocity(2)),
    ("speed", EmitterReading::Speed),
    ("lowest", EmitterReading::Lowest),
    ("reach", EmitterReading::Reach),
];

impl EmitterReading {
    /// Reads it off a world; NaN for an emitter that is gone.
    pub fn read(self, world: &World, id: EmitterId) -> f64 {
        let Ok(stream) = world.stream(id) else { return f64::NAN };
        let count = stream.len().max(1) as f64;
        let mean = |list: &[Vec3], axis: usize| list.iter().map(|v| v[axis]).sum::<f64>() / count;
        match self {
            EmitterReading::Count => stream.len() as f64,
            EmitterReading::Born => stream.born as f64,
            EmitterReading::Position(axis) => mean(&stream.particles.x, axis),
            EmitterReading::Velocity(axis) => mean(&stream.particles.v, axis),
            EmitterReading::Speed => {
                stream.particles.v.iter().map(|v| v.length()).fold(0.0, f64::max)
            }
            EmitterReading::Lowest => {
                stream.particles.x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min)
            }
            EmitterReading::Reach => {
                stream.particles.x.iter().map(|x| x.length()).fold(0.0, f64::max)
            }
        }
    }
}
