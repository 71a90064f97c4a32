//! Shapes as data: what they are made of, from which the same shape is made again, bit by bit.

use super::own::{ConvexSurface, Missing};
use super::{Compound, Convex, Geometry, Mesh, Shape, ShapeError, usable};
use crate::math::{Pose, Vec3};
use parry3d_f64::shape::SharedShape;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a shape is made of.
#[derive(Serialize, Deserialize)]
enum Recipe {
    Sphere(f64),
    Cuboid(Vec3),
    Capsule(f64, f64),
    Cylinder(f64, f64),
    Cone(f64, f64),
    HalfSpace(Vec3),
    /// The points that a hull was made around: hulls of its corners may be numbered otherwise.
    Hull(Vec<Vec3>),
    Compound(Vec<(Pose, Recipe)>),
    Mesh(Vec<Vec3>, Vec<[u32; 3]>),
    Rounded(Box<Recipe>, f64),
    /// The name of the user's own code, which is attached later.
    Own(String),
}

impl Recipe {
    fn of_convex(convex: &Convex) -> Recipe {
        match *convex {
            Convex::Sphere { radius } => Recipe::Sphere(radius),
            Convex::Cuboid { half_extents } => Recipe::Cuboid(half_extents),
            Convex::Capsule { half_height, radius } => Recipe::Capsule(half_height, radius),
            Convex::Cylinder { half_height, radius } => Recipe::Cylinder(half_height, radius),
            Convex::Cone { half_height, radius } => Recipe::Cone(half_height, radius),
            Convex::HalfSpace { normal } => Recipe::HalfSpace(normal),
            Convex::Hull(ref hull) => Recipe::Hull(hull.given.clone()),
            Convex::Rounded(ref rounded) => {
                Recipe::Rounded(Box::new(Recipe::of_convex(&rounded.core)), rounded.radius)
            }
            Convex::Own(ref own) => Recipe::Own(own.surface().name()),
        }
    }

    fn of(shape: &Shape) -> Recipe {
        match shape.geometry() {
            Geometry::Convex(convex) => Recipe::of_convex(convex),
            Geometry::Compound(Compound { parts, .. }) => Recipe::Compound(
                parts.iter().map(|(pose, part)| (*pose, Recipe::of_convex(part))).collect(),
            ),
            Geometry::Mesh(mesh) => Recipe::Mesh(mesh.vertices.clone(), mesh.triangles.clone()),
        }
    }

    fn shape(&self) -> Result<Shape, ShapeError> {
        match self {
            Recipe::Sphere(radius) => Shape::sphere(*radius),
            Recipe::Cuboid(half) => Shape::cuboid(*half),
            Recipe::Capsule(half_height, radius) => Shape::capsule(*half_height, *radius),
            Recipe::Cylinder(half_height, radius) => Shape::cylinder(*half_height, *radius),
            Recipe::Cone(half_height, radius) => Shape::cone(*half_height, *radius),
            Recipe::HalfSpace(normal) => {
                // a unit vector that is made one again may differ in its last bit
                if (normal.length() - 1.0).abs() > 1e-12 || !normal.is_finite() {
                    return Err(ShapeError::Normal);
                }
                let normal = *normal;
                Ok(Shape::convex(Convex::HalfSpace { normal }, SharedShape::halfspace(normal)))
            }
            Recipe::Rounded(core, radius) => core.shape()?.rounded(*radius),
            Recipe::Own(name) => Shape::own(Arc::new(Missing { name: name.clone() })),
            Recipe::Hull(points) => Shape::convex_hull(points),
            Recipe::Compound(parts) => {
                let parts: Result<Vec<_>, _> =
                    parts.iter().map(|(pose, part)| Ok((*pose, part.shape()?))).collect();
                Shape::compound(&parts?)
            }
            Recipe::Mesh(vertices, triangles) => {
                if let Some(index) = vertices.iter().position(|v| !usable(*v)) {
                    return Err(ShapeError::Vertex { index });
                }
                let beyond = |i: &&u32| **i as usize >= vertices.len();
                for (triangle, t) in triangles.iter().enumerate() {
                    if let Some(&index) = t.iter().find(beyond) {
                        return Err(ShapeError::Index {
                            triangle,
                            index,
                            vertices: vertices.len(),
                        });
                    }
                }
                if triangles.is_empty() {
                    return Err(ShapeError::EmptyMesh);
                }
                // cleaned already: cleaning again would number vertices otherwise
                Shape::of_mesh(Mesh::of_clean(vertices.clone(), triangles.clone()))
            }
        }
    }
}

impl Shape {
    /// Puts the user's own code where only its name was read; the name of what is missing is the error.
    pub(crate) fn attach(
        &mut self,
        code: &BTreeMap<String, Arc<dyn ConvexSurface>>,
    ) -> Result<(), String> {
        let own = |convex: &Convex| match convex {
            Convex::Own(own) => {
                let name = own.surface().name();
                code.get(&name).cloned().map(Some).ok_or(name)
            }
            _ => Ok(None),
        };
        let attached = match self.geometry() {
            Geometry::Convex(convex) => match own(convex)? {
                Some(surface) => Shape::own(surface),
                None => return Ok(()),
            },
            Geometry::Compound(compound) => {
                let parts = compound.parts.iter();
                let found: Result<Vec<_>, String> =
                    parts.clone().map(|(_, part)| own(part)).collect();
                let found = found?;
                if found.iter().all(Option::is_none) {
                    return Ok(());
                }
                let made: Result<Vec<(Pose, Shape)>, ShapeError> = parts
                    .zip(found)
                    .map(|((pose, part), own)| match own {
                        Some(surface) => Ok((*pose, Shape::own(surface)?)),
                        None => Ok((*pose, Recipe::of_convex(part).shape()?)),
                    })
                    .collect();
                made.and_then(|parts| Shape::compound(&parts))
            }
            Geometry::Mesh(_) => return Ok(()),
        };
        *self = attached.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Stands where a shape will be put.
    pub(crate) fn placeholder() -> Shape {
        let half_extents = Vec3::ONE;
        Shape::convex(Convex::Cuboid { half_extents }, SharedShape::cuboid(1.0, 1.0, 1.0))
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Recipe::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
        Recipe::deserialize(deserializer)?.shape().map_err(serde::de::Error::custom)
    }
}
