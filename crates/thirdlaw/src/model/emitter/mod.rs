//! What a user says about a stream, and what can be wrong with it.

pub mod field;
pub mod model;

pub use field::ForceField;
pub use model::EmitterModel;

use super::body::{Groups, Material};
use crate::ids::{BodyId, StaleId};
use crate::math::{Pose, Quat, Vec3};
use crate::shape::Shape;

/// A source of particles to be added to a world. Its own axis is y.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[must_use = "an emitter does nothing until it is added to a world"]
pub struct Emitter {
    /// From where particles start.
    pub source: Source,
    /// Where the source is: in the world, or in the frame of `body`.
    pub pose: Pose,
    /// A body that carries the source. Particles start with the motion of their place on it, and
    /// what throws them out pushes it back.
    pub body: Option<BodyId>,
    /// Particles per second.
    pub rate: f64,
    /// Speed at which particles leave, m/s.
    pub speed: f64,
    /// How far speeds differ from it either way, as a share of it, 0 to 1.
    pub speed_spread: f64,
    /// Largest angle between the way of a particle and the axis (or the surface's normal), rad.
    pub spread: f64,
    /// How long a particle lives, s.
    pub life: f64,
    /// How far lives differ from it either way, as a share of it, 0 to 1.
    pub life_spread: f64,
    /// First moment of emission, s.
    pub from: f64,
    /// Moment at which emission ends, s; may be infinite.
    pub until: f64,
    /// Streams of the same seed make the same particles.
    pub seed: u64,
    /// Mass of a particle, kg.
    pub mass: f64,
    /// Distance that the middle of a particle keeps from surfaces, m; 0 makes points.
    pub radius: f64,
    /// Decay of the velocity relative to the air, 1/s.
    pub drag: f64,
    /// The part of that decay that grows with the speed relative to the air, 1/m.
    pub drag_quadratic: f64,
    /// Velocity of the air, m/s; the world's wind if absent.
    pub wind: Option<Vec3>,
    /// Factor on the world's gravity.
    pub gravity_scale: f64,
    /// Friction and restitution, combined with those of what is struck.
    pub material: Material,
    /// Which bodies and cloths it may strike.
    pub groups: Groups,
    /// Most particles at a time; enough for `rate` and `life` if absent. No particle is made while
    /// there is no room.
    pub capacity: Option<u32>,
}

/// From where particles start, in the frame of the emitter.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum Source {
    /// The origin.
    Point,
    /// A disc about the origin, square to y.
    Disc {
        /// m.
        radius: f64,
    },
    /// Anywhere on the surface of a shape, along its normals.
    Surface(Shape),
}

impl Emitter {
    /// A point that throws `rate` particles a second upward at `speed` (m/s).
    pub fn point(rate: f64, speed: f64) -> Emitter {
        Emitter {
            source: Source::Point,
            pose: Pose::IDENTITY,
            body: None,
            rate,
            speed,
            speed_spread: 0.0,
            spread: 0.0,
            life: 5.0,
            life_spread: 0.0,
            from: 0.0,
            until: f64::INFINITY,
            seed: 0,
            mass: 1e-3,
            radius: 5e-3,
            drag: 0.0,
            drag_quadratic: 0.0,
            wind: None,
            gravity_scale: 1.0,
            material: Material { friction: 0.5, restitution: 0.5, ..Material::default() },
            groups: Groups::default(),
            capacity: None,
        }
    }

    /// A disc of `radius` (m) that throws `rate` particles a second upward at `speed` (m/s).
    pub fn disc(radius: f64, rate: f64, speed: f64) -> Emitter {
        Emitter { source: Source::Disc { radius }, ..Emitter::point(rate, speed) }
    }

    /// The surface of `shape`, which throws `rate` particles a second outward at `speed` (m/s).
    pub fn surface(shape: Shape, rate: f64, speed: f64) -> Emitter {
        Emitter { source: Source::Surface(shape), ..Emitter::point(rate, speed) }
    }

    /// Places the source, m.
    pub fn at(mut self, x: f64, y: f64, z: f64) -> Emitter {
        self.pose.translation = Vec3::new(x, y, z);
        self
    }

    /// Turns the axis along `direction`; one without a direction changes nothing.
    pub fn toward(mut self, direction: Vec3) -> Emitter {
        if let Some(direction) = direction.try_normalize() {
            self.pose.rotation = Quat::from_rotation_arc(Vec3::Y, direction);
        }
        self
    }

    /// Lets a body carry the source; the pose is then in the body's frame.
    pub fn on(mut self, body: BodyId) -> Emitter {
        self.body = Some(body);
        self
    }

    /// Sets the mass of a particle, kg.
    pub fn mass(mut self, mass: f64) -> Emitter {
        self.mass = mass;
        self
    }

    /// Sets how long a particle lives, s.
    pub fn life(mut self, life: f64) -> Emitter {
        self.life = life;
        self
    }

    /// Sets the seed of the random numbers.
    pub fn seed(mut self, seed: u64) -> Emitter {
        self.seed = seed;
        self
    }

    /// Sets when emission begins and ends, s.
    pub fn during(mut self, from: f64, until: f64) -> Emitter {
        self.from = from;
        self.until = until;
        self
    }

    /// Sets the largest angle from the axis, rad.
    pub fn spread(mut self, angle: f64) -> Emitter {
        self.spread = angle;
        self
    }

    /// Sets the distance that particles keep from surfaces, m.
    pub fn radius(mut self, radius: f64) -> Emitter {
        self.radius = radius;
        self
    }

    /// Sets Coulomb's μ and Newton's e.
    pub fn material(mut self, friction: f64, restitution: f64) -> Emitter {
        self.material = Material { friction, restitution, ..self.material };
        self
    }
}

/// An emitter, or a change to one, that was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum EmitterError {
    /// A number of the description.
    Value {
        /// Which field of [`Emitter`].
        field: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// The body that should carry it is not in this world.
    NoSuchBody(BodyId),
    /// The id names nothing.
    Stale(StaleId),
}

impl std::fmt::Display for EmitterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmitterError::Value { field, problem } => write!(f, "{field}: {problem}"),
            EmitterError::NoSuchBody(body) => write!(f, "body: {body} is not in this world"),
            EmitterError::Stale(stale) => stale.fmt(f),
        }
    }
}

impl std::error::Error for EmitterError {}

impl From<StaleId> for EmitterError {
    fn from(stale: StaleId) -> Self {
        EmitterError::Stale(stale)
    }
}
