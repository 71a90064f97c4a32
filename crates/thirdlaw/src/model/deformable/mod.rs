//! Whatever deforms: vertices with masses, and elements of any energy between them.
//!
//! A [`Deformable`] is what a user says about it; `World::add_deformable` checks it and derives the
//! arrays that a step reads ([`elements`]). A cloth is one way to build it, a block of tetrahedra
//! another:
//!
//! ```
//! use thirdlaw::energy::Energies;
//! use thirdlaw::{Deformable, Settings, Vec3, World};
//! let mut world = World::new(Settings::default())?;
//! let corners = vec![Vec3::ZERO, Vec3::X];
//! // two loose point masses: no elements between them
//! let pair = Deformable::new(corners).masses(vec![1.0, 2.0]).elements(Energies::default());
//! let id = world.add_deformable(pair.pin([0]))?;
//! world.step(0.01)?;
//! assert!(world.vertices(id)?[1].y < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bonds;
pub mod elements;
mod error;
pub mod model;
mod pins;

pub use bonds::{Bond, BondPlace, BondSpring};
pub use error::DeformableError;
pub use model::DeformableModel;
pub use pins::{Hold, Pin};

use crate::energy::Energies;
use crate::ids::BodyId;
use crate::math::{Pose, Vec3, rotation_from_vector};
use crate::model::body::Groups;
use crate::model::cloth::Fabric;
use serde::{Deserialize, Serialize};

/// A deformable object to be added to a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[must_use = "an object does nothing until it is added to a world"]
pub struct Deformable {
    /// Where the vertices start, m.
    pub positions: Vec<Vec3>,
    /// Mass of each vertex beside what its elements bring, kg; none: nothing.
    pub masses: Vec<f64>,
    /// Triangles that touch solids, themselves and each other, meet particles and feel the air. Without
    /// any, vertices still touch solids.
    pub triangles: Vec<[u32; 3]>,
    /// What it is like where it touches.
    pub surface: SurfaceMaterial,
    /// Velocity of all vertices at the start, m/s.
    pub velocity: Vec3,
    /// Vertices that do not move freely.
    pub pins: Vec<Pin>,
    /// Which bodies it may touch; it touches itself and other deformables by the same rule.
    pub groups: Groups,
    /// Whether it collides with itself and with other deformables.
    pub self_collision: bool,
    /// Factor on the world's gravity.
    pub gravity_scale: f64,
    /// Whether the volume around every vertex of its tetrahedra stays what it is at rest.
    pub incompressible: bool,
    /// Elements of every energy.
    energies: Energies,
    /// Where vertices lie when nothing is deformed, m.
    rest: Vec<Vec3>,
    /// What a cloth knows of itself.
    pub(crate) weave: Option<Weave>,
}

/// How a surface touches and meets the air.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceMaterial {
    /// Coulomb's μ against itself and, combined with theirs, against solids.
    pub friction: f64,
    /// How thick the surface is where it touches something, m.
    pub thickness: f64,
    /// Air drag coefficient of a triangle hit squarely (a flat plate has about 1.2).
    pub drag: f64,
    /// Lift coefficient: force across the wind of a triangle at 45°.
    pub lift: f64,
}

impl Default for SurfaceMaterial {
    /// Friction 0.5, thickness 1 mm, no air.
    fn default() -> Self {
        SurfaceMaterial { friction: 0.5, thickness: 1e-3, drag: 0.0, lift: 0.0 }
    }
}

/// What a cloth knows of itself beyond its elements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Weave {
    pub fabric: Fabric,
    /// Edges along warp or weft with their rest length, m.
    pub threads: Vec<([u32; 2], f64)>,
    /// Every edge of the surface once, in an order of its own.
    pub edges: Vec<[u32; 2]>,
}

impl Deformable {
    /// Vertices at these places, where nothing is deformed.
    pub fn new(rest: Vec<Vec3>) -> Deformable {
        Deformable {
            positions: rest.clone(),
            masses: Vec::new(),
            triangles: Vec::new(),
            surface: SurfaceMaterial::default(),
            velocity: Vec3::ZERO,
            pins: Vec::new(),
            groups: Groups::default(),
            self_collision: true,
            gravity_scale: 1.0,
            incompressible: false,
            energies: Energies::default(),
            rest,
            weave: None,
        }
    }

    /// Its elements.
    pub(crate) fn energies_mut(&mut self) -> &mut Energies {
        &mut self.energies
    }

    /// With these elements, too; nodes are vertices of this object.
    pub fn elements(mut self, elements: impl Into<Energies>) -> Deformable {
        self.energies.append(&elements.into(), 0);
        self
    }

    /// With these masses of the vertices (kg), beside what elements bring.
    pub fn masses(mut self, masses: Vec<f64>) -> Deformable {
        self.masses = masses;
        self
    }

    /// With a surface of these triangles.
    pub fn surface(mut self, triangles: Vec<[u32; 3]>, material: SurfaceMaterial) -> Deformable {
        (self.triangles, self.surface) = (triangles, material);
        self
    }

    /// Started at `pose`.
    pub fn pose(mut self, pose: Pose) -> Deformable {
        for x in &mut self.positions {
            *x = pose * *x;
        }
        self
    }

    /// Moved from where it is by x, y and z, m.
    pub fn at(self, x: f64, y: f64, z: f64) -> Deformable {
        self.pose(Pose::from_translation(Vec3::new(x, y, z)))
    }

    /// Turned by |θ| radians about θ through the world's origin: turn it before it is moved.
    pub fn rotated(self, theta: Vec3) -> Deformable {
        self.pose(Pose::from_parts(Vec3::ZERO, rotation_from_vector(theta)))
    }

    /// Started with `velocity` (m/s).
    pub fn velocity(mut self, velocity: Vec3) -> Deformable {
        self.velocity = velocity;
        self
    }

    /// Started with this velocity, m/s: as bodies say it.
    pub fn moving(self, velocity: Vec3) -> Deformable {
        self.velocity(velocity)
    }

    /// With Coulomb's μ against itself and, combined with theirs, against solids.
    pub fn friction(mut self, friction: f64) -> Deformable {
        self.surface.friction = friction;
        self
    }

    /// With other things that it may touch.
    #[doc(alias = "collision_groups")]
    pub fn groups(mut self, groups: Groups) -> Deformable {
        self.groups = groups;
        self
    }

    /// With a factor on the world's gravity.
    pub fn gravity_scale(mut self, factor: f64) -> Deformable {
        self.gravity_scale = factor;
        self
    }

    /// With or without collisions with itself and other deformable objects.
    pub fn self_collision(mut self, on: bool) -> Deformable {
        self.self_collision = on;
        self
    }

    /// With these vertices held to a body, where they are on it.
    pub fn pin_to(self, body: BodyId, vertices: impl IntoIterator<Item = u32>) -> Deformable {
        self.hold(vertices, Hold::Body(body))
    }

    /// Whether the volume around every vertex of its tetrahedra stays what it is at rest.
    pub fn incompressible(mut self, incompressible: bool) -> Deformable {
        self.incompressible = incompressible;
        self
    }

    /// With these vertices held where they start.
    pub fn pin(self, vertices: impl IntoIterator<Item = u32>) -> Deformable {
        self.hold(vertices, Hold::Place)
    }

    /// With these vertices held.
    pub fn hold(mut self, vertices: impl IntoIterator<Item = u32>, hold: Hold) -> Deformable {
        self.pins.push(Pin { vertices: vertices.into_iter().collect(), hold });
        self
    }
}
