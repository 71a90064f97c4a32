//! Cloth: a triangle mesh that stretches, shears and bends (baraff1998).
//!
//! A [`Cloth`] is what a user says about it; `World::add_cloth` checks it and adds the
//! [`crate::Deformable`] that it makes.

mod build;
mod curvature;
mod material;
mod mesh;
mod topology;

pub use material::{Bending, Fabric, PRESETS};
pub use mesh::ClothMesh;

pub use crate::model::deformable::{Hold, Pin};

use crate::ids::{BodyId, StaleId};
use crate::math::{Pose, Vec3, rotation_from_vector};
use crate::model::body::Groups;
use crate::model::deformable::DeformableError;

/// A cloth to be added to a world.
#[derive(Clone, Debug)]
#[must_use = "a cloth does nothing until it is added to a world"]
pub struct Cloth {
    /// Triangles, start and rest.
    pub mesh: ClothMesh,
    /// What it is made of.
    pub fabric: Fabric,
    /// Velocity of all vertices at the start, m/s.
    pub velocity: Vec3,
    /// Vertices that do not move freely.
    pub pins: Vec<Pin>,
    /// Which bodies it may touch; it touches itself and other cloths by the same rule.
    pub groups: Groups,
    /// Whether it collides with itself and with other cloths.
    pub self_collision: bool,
    /// Factor on the world's gravity.
    pub gravity_scale: f64,
}

impl Cloth {
    /// A cloth of the default fabric.
    pub fn new(mesh: ClothMesh) -> Cloth {
        Cloth {
            mesh,
            fabric: Fabric::default(),
            velocity: Vec3::ZERO,
            pins: Vec::new(),
            groups: Groups::default(),
            self_collision: true,
            gravity_scale: 1.0,
        }
    }

    /// A flat sheet of `columns` × `rows` vertices in the xz plane around the origin, of `size` along x and
    /// z, m.
    ///
    /// ```
    /// use thirdlaw::prelude::*;
    /// let mut world = World::new(Settings::default())?;
    /// // a curtain that hangs by its upper edge
    /// let upright = std::f64::consts::FRAC_PI_2 * Vec3::X;
    /// let curtain = Cloth::grid(21, 11, [2.0, 1.0])?.rotated(upright).at(0.0, 2.0, 0.0);
    /// let curtain = world.add_cloth(curtain.fabric(Fabric::silk()).pin(0..21))?;
    /// let _report = world.step(1.0 / 60.0)?;
    /// assert!((world.vertices(curtain)?[0].y - 2.5).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn grid(columns: usize, rows: usize, size: [f64; 2]) -> Result<Cloth, ClothError> {
        Ok(Cloth::new(ClothMesh::grid(columns, rows, size)?))
    }

    /// Made of `fabric`.
    pub fn fabric(mut self, fabric: Fabric) -> Cloth {
        self.fabric = fabric;
        self
    }

    /// Started at `pose`.
    pub fn pose(mut self, pose: Pose) -> Cloth {
        self.mesh = self.mesh.placed(pose.rotation, pose.translation);
        self
    }

    /// Moved from where it is by x, y and z, m.
    pub fn at(self, x: f64, y: f64, z: f64) -> Cloth {
        self.pose(Pose::from_translation(Vec3::new(x, y, z)))
    }

    /// Turned by |θ| radians about θ through the world's origin: turn it before it is moved.
    pub fn rotated(self, theta: Vec3) -> Cloth {
        self.pose(Pose::from_parts(Vec3::ZERO, rotation_from_vector(theta)))
    }

    /// Started with `velocity` (m/s).
    pub fn velocity(mut self, velocity: Vec3) -> Cloth {
        self.velocity = velocity;
        self
    }

    /// Started with this velocity, m/s: as bodies say it.
    pub fn moving(self, velocity: Vec3) -> Cloth {
        self.velocity(velocity)
    }

    /// With Coulomb's μ against itself and, combined with theirs, against solids.
    pub fn friction(mut self, friction: f64) -> Cloth {
        self.fabric.friction = friction;
        self
    }

    /// With other things that it may touch.
    #[doc(alias = "collision_groups")]
    pub fn groups(mut self, groups: Groups) -> Cloth {
        self.groups = groups;
        self
    }

    /// With a factor on the world's gravity.
    pub fn gravity_scale(mut self, factor: f64) -> Cloth {
        self.gravity_scale = factor;
        self
    }

    /// With these vertices held to a body, where they are on it.
    pub fn pin_to(self, body: BodyId, vertices: impl IntoIterator<Item = u32>) -> Cloth {
        self.hold(vertices, Hold::Body(body))
    }

    /// With these vertices held where they start.
    pub fn pin(self, vertices: impl IntoIterator<Item = u32>) -> Cloth {
        self.hold(vertices, Hold::Place)
    }

    /// With these vertices held.
    pub fn hold(mut self, vertices: impl IntoIterator<Item = u32>, hold: Hold) -> Cloth {
        self.pins.push(Pin { vertices: vertices.into_iter().collect(), hold });
        self
    }

    /// With or without collisions with itself and other cloths.
    pub fn self_collision(mut self, on: bool) -> Cloth {
        self.self_collision = on;
        self
    }
}

/// A cloth description that cannot be simulated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClothError {
    /// There are no triangles.
    Empty,
    /// A size or count of a procedural mesh.
    Size {
        /// Which.
        what: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// A triangle names a vertex that is not there.
    NoSuchVertex {
        /// Which triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
    },
    /// A position, velocity or rest coordinate is infinite or NaN.
    NotFinite {
        /// What.
        what: &'static str,
        /// Of which vertex or triangle.
        index: usize,
    },
    /// The rest coordinates of this triangle enclose no area, or it names a vertex twice.
    NoArea {
        /// Which triangle.
        triangle: usize,
    },
    /// A vertex belongs to no triangle, so that nothing holds it to the cloth.
    Loose {
        /// Which vertex.
        vertex: usize,
    },
    /// Three or more triangles meet at this edge: it is not a surface there.
    NotASurface {
        /// The edge's vertices.
        edge: [u32; 2],
        /// How many triangles meet.
        triangles: usize,
    },
    /// A number of the description.
    Value {
        /// Which field.
        field: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// A pin names a body that is not in this world.
    NoSuchBody(BodyId),
    /// The id names nothing.
    Stale(StaleId),
}

impl std::fmt::Display for ClothError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ClothError::Empty => write!(f, "the cloth has no triangles"),
            ClothError::Size { what, problem } => write!(f, "the {what} {problem}"),
            ClothError::NoSuchVertex { triangle, vertex } => {
                write!(f, "triangle {triangle} names vertex {vertex}, which is not there")
            }
            ClothError::NotFinite { what, index } => {
                write!(f, "the {what} {index} is infinite or NaN")
            }
            ClothError::NoArea { triangle } => write!(
                f,
                "triangle {triangle} has no area at rest; remove it or spread its rest coordinates"
            ),
            ClothError::Loose { vertex } => {
                write!(f, "vertex {vertex} belongs to no triangle; remove it")
            }
            ClothError::NotASurface { edge: [a, b], triangles } => write!(
                f,
                "{triangles} triangles meet at the edge of vertices {a} and {b}; a cloth is a \
                 surface, where at most two meet: split the edge"
            ),
            ClothError::Value { field, problem } => write!(f, "{field}: {problem}"),
            ClothError::Stale(error) => error.fmt(f),
            ClothError::NoSuchBody(body) => write!(f, "pins: {body} is not in this world"),
        }
    }
}

impl std::error::Error for ClothError {}

impl From<DeformableError> for ClothError {
    /// A cloth's mesh has been checked before: what is left is the rest of the description.
    fn from(error: DeformableError) -> Self {
        match error {
            DeformableError::Value { field, problem } => ClothError::Value { field, problem },
            DeformableError::NoSuchBody(body) => ClothError::NoSuchBody(body),
            DeformableError::Stale(error) => ClothError::Stale(error),
            DeformableError::NotFinite { vertex } => {
                ClothError::NotFinite { what: "position of vertex", index: vertex }
            }
            other => ClothError::Value { field: "mesh", problem: other.to_string() },
        }
    }
}
