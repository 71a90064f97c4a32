//! Several shapes on one body, each with its own material, groups, sensor flag and user data.
//!
//! The shape that a body is made with is its part 0 and has what the body was given. Every further
//! [`BodyPart`] has its own. All of them move as one: a body is one mass, one entry in every solver. What the
//! parts differ in is asked for by the number of a convex piece, which contacts carry with them: pieces of
//! the solid parts stand one after the other in the compound that the body collides with. Sensor parts are
//! no pieces of it.

use super::{Body, Groups, Mass, Material};
use crate::math::{Pose, Vec3, rotation_from_vector};
use crate::model::error::{BodyError, check_number, error};
use crate::shape::{Geometry, MassProperties, Shape, ShapeError};
use serde::{Deserialize, Serialize};

/// A further shape on a body.
///
/// ```
/// use thirdlaw::prelude::*;
/// let mut world = World::new(Settings::default())?;
/// // a table: its feet grip, its top is of ice
/// let mut table = Body::dynamic(Shape::cuboid(Vec3::new(0.6, 0.02, 0.4))?).friction(0.0).at(0.0, 0.72, 0.0);
/// for (x, z) in [(-0.5, -0.3), (-0.5, 0.3), (0.5, -0.3), (0.5, 0.3)] {
///     let leg = Shape::cylinder(0.35, 0.03)?;
///     table = table.part(BodyPart::new(leg).at(x, -0.37, z).friction(1.0).user_data(7));
/// }
/// let table = world.add_body(table)?;
/// let parts: Vec<PartId> = world.parts(table)?.collect();
/// assert_eq!((parts.len(), world.describe_part(parts[1])?.user_data), (5, 7));
/// world.edit_part(parts[1], |leg| leg.material.friction = 0.2)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
#[doc(alias = "ColliderBuilder")]
#[must_use = "a part does nothing until it is on a body"]
pub struct BodyPart {
    /// A convex solid or a compound of them.
    pub shape: Shape,
    /// Where it is in the frame of the body, m.
    pub pose: Pose,
    /// Friction and restitution.
    pub material: Material,
    /// What it may touch.
    pub groups: Groups,
    /// What it may push among bodies that it may touch.
    pub solver_groups: Groups,
    /// Whether it only tells what overlaps it, and touches nothing. A sensor part weighs nothing as long as
    /// another part of the body is solid.
    pub sensor: bool,
    /// kg/m³; none: the density of the body, or 1000 where the body has a mass of its own. The mass of a
    /// body that is given in kilograms is spread in the proportion of these.
    pub density: Option<f64>,
    /// A number of the user's own.
    pub user_data: u128,
    /// Which part of its body it is, once it is one.
    pub(crate) number: Option<u32>,
}

impl BodyPart {
    /// A part at the body's origin, made of what bodies are made of by default.
    pub fn new(shape: Shape) -> BodyPart {
        BodyPart {
            shape,
            pose: Pose::IDENTITY,
            material: Material::default(),
            groups: Groups::default(),
            solver_groups: Groups::default(),
            sensor: false,
            density: None,
            user_data: 0,
            number: None,
        }
    }

    /// Places it in the frame of the body, m.
    pub fn at(mut self, x: f64, y: f64, z: f64) -> BodyPart {
        self.pose.translation = Vec3::new(x, y, z);
        self
    }

    /// Turns it by |θ| radians about θ in the frame of the body.
    pub fn rotated(mut self, theta: Vec3) -> BodyPart {
        self.pose.rotation = rotation_from_vector(theta);
        self
    }

    /// Sets friction, restitution and how they are combined.
    pub fn material(mut self, material: Material) -> BodyPart {
        self.material = material;
        self
    }

    /// Sets Coulomb's μ.
    pub fn friction(mut self, friction: f64) -> BodyPart {
        self.material.friction = friction;
        self
    }

    /// Sets Newton's e.
    pub fn restitution(mut self, restitution: f64) -> BodyPart {
        self.material.restitution = restitution;
        self
    }

    /// Sets what it may touch.
    #[doc(alias = "collision_groups")]
    pub fn groups(mut self, groups: Groups) -> BodyPart {
        self.groups = groups;
        self
    }

    /// Sets what it may push among bodies that it may touch.
    pub fn solver_groups(mut self, groups: Groups) -> BodyPart {
        self.solver_groups = groups;
        self
    }

    /// Makes it a sensor, which only tells what overlaps it.
    pub fn sensor(mut self) -> BodyPart {
        self.sensor = true;
        self
    }

    /// Sets its density, kg/m³.
    pub fn density(mut self, density: f64) -> BodyPart {
        self.density = Some(density);
        self
    }

    /// Puts a number of the user's own on it.
    pub fn user_data(mut self, data: u128) -> BodyPart {
        self.user_data = data;
        self
    }

    /// The part that a body is made with.
    fn own(body: &Body) -> BodyPart {
        BodyPart {
            material: body.material,
            groups: body.groups,
            solver_groups: body.solver_groups,
            sensor: body.sensor,
            number: Some(0),
            ..BodyPart::new(body.shape.clone())
        }
    }
}

/// A part as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartModel {
    /// As it was given.
    pub part: BodyPart,
    /// Its shape in the frame of the body.
    pub shape: Shape,
    /// Its first piece among those of the body, and the first one after it. Those of sensors come after all
    /// that collide, and are no pieces of the body's shape.
    pub pieces: (u32, u32),
}

impl PartModel {
    /// Its number, which stays while other parts come and go.
    pub fn number(&self) -> u32 {
        self.part.number.unwrap_or(0)
    }

    /// Whether it collides.
    pub fn is_solid(&self) -> bool {
        !self.part.sensor
    }
}

/// All parts of a body with the shape that it collides with; none where it has its own shape alone.
pub(super) struct Assembly {
    pub parts: Vec<PartModel>,
    pub shape: Shape,
    /// At density 1, or at the densities of its parts where one of them has its own.
    pub mass: Option<MassProperties>,
    /// Whether the densities of the parts are in it.
    pub weighed: bool,
    /// The number that the next part gets.
    pub next: u32,
}

impl Assembly {
    /// Puts the parts of a description together; `next` is the lowest number that no part ever had.
    pub fn build(body: &Body, next: u32) -> Result<Assembly, BodyError> {
        if body.parts.is_empty() {
            let (shape, mass) = (body.shape.clone(), body.shape.mass_properties().copied());
            return Ok(Assembly { parts: Vec::new(), shape, mass, weighed: false, next });
        }
        let mut next = next.max(1);
        let mut parts = vec![placed(BodyPart::own(body))?];
        for part in &body.parts {
            check_part(part)?;
            let mut part = part.clone();
            let known = |number| parts.iter().any(|p: &PartModel| p.part.number == Some(number));
            let number = part.number.filter(|&n| n < next && !known(n)).unwrap_or(next);
            next = next.max(number + 1);
            part.number = Some(number);
            parts.push(placed(part)?);
        }
        let any_solid = parts.iter().any(PartModel::is_solid);
        let mut pieces = 0;
        let (mut shapes, mut masses) = (Vec::new(), Vec::new());
        let whole = match body.mass {
            Mass::Density(density) => density,
            Mass::Total(_) | Mass::Explicit { .. } => 1000.0,
        };
        for part in &mut parts {
            if part.part.sensor && any_solid {
                continue;
            }
            let count = part.shape.piece_count() as u32;
            part.pieces = (pieces, pieces + count);
            pieces += count;
            shapes.push((Pose::IDENTITY, part.shape.clone()));
            let density = part.part.density.unwrap_or(whole);
            if let Some(unit) = part.shape.mass_properties() {
                let mass = MassProperties {
                    volume: unit.volume * density,
                    inertia: unit.inertia * density,
                    ..*unit
                };
                masses.push((Pose::IDENTITY, mass));
            }
        }
        // sensors that are no pieces of the body have numbers beyond those, for who is told of them
        for part in parts.iter_mut().filter(|part| part.part.sensor && any_solid) {
            let count = part.shape.piece_count() as u32;
            part.pieces = (pieces, pieces + count);
            pieces += count;
        }
        let shape = Shape::compound(&shapes).map_err(refused)?;
        let weighed = parts.iter().any(|part| part.part.density.is_some());
        let sum = || (!masses.is_empty()).then(|| MassProperties::sum(&masses));
        let mass = if weighed { sum() } else { shape.mass_properties().copied() };
        Ok(Assembly { parts, shape, mass, weighed, next })
    }

    /// Groups that some part belongs to or collides with: who touches a part touches these.
    pub fn groups(&self, of: impl Fn(&BodyPart) -> Groups) -> Option<Groups> {
        let any_solid = self.parts.iter().any(PartModel::is_solid);
        let solid = self.parts.iter().filter(|part| part.is_solid() || !any_solid);
        solid.map(|part| of(&part.part)).reduce(|a, b| Groups {
            member: a.member | b.member,
            collides: a.collides | b.collides,
        })
    }
}

/// A part with its shape in the frame of the body.
fn placed(part: BodyPart) -> Result<PartModel, BodyError> {
    let bounded = match part.shape.geometry() {
        Geometry::Convex(_) => !part.shape.is_half_space(),
        Geometry::Compound(_) => true,
        Geometry::Mesh(_) => false,
    };
    if !bounded {
        let problem = "a body of several parts is made of bounded convex solids and compounds of \
                       them, not of meshes or half-spaces; give those a body of their own";
        return Err(error("parts.shape", problem));
    }
    let shape = if part.pose == Pose::IDENTITY {
        part.shape.clone()
    } else {
        Shape::compound(&[(part.pose, part.shape.clone())]).map_err(refused)?
    };
    Ok(PartModel { part, shape, pieces: (0, 0) })
}

fn refused(problem: ShapeError) -> BodyError {
    error("parts", problem.to_string())
}

fn check_part(part: &BodyPart) -> Result<(), BodyError> {
    check_number("parts.material.friction", part.material.friction, 0.0..=1e6)?;
    check_number("parts.material.restitution", part.material.restitution, 0.0..=1.0)?;
    if let Some(density) = part.density {
        check_number("parts.density", density, f64::MIN_POSITIVE..=1e18)?;
    }
    Ok(())
}
