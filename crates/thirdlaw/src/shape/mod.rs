//! Shapes of rigid bodies: made once, checked once, shared by reference.
//!
//! A [`Shape`] is one convex solid, a compound of convex solids, or a triangle mesh. Meshes are
//! one-sided: solid behind their triangles, whose corners run counter-clockwise seen from outside.

mod convex;
pub(crate) mod distance;
mod error;
mod hull;
mod mass;
pub(crate) mod mesh;
pub(crate) mod own;
pub(crate) mod ray;
mod recipe;
mod rounded;
mod supported;
mod surface;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use std::hash::Hasher;
use std::sync::Arc;

pub use convex::Convex;
pub(crate) use convex::box_corners;
pub use error::ShapeError;
pub use hull::{Hull, HullEdge};
pub use mass::MassProperties;
pub use mesh::{Mesh, MeshEdge};
pub use own::{ConvexSurface, OwnShape};
pub use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use parry3d_f64::shape::SharedShape;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
pub use rounded::Rounded;
use supported::Supported;

use crate::math::{Pose, Vec3};

/// An immutable shape; cloning shares it.
#[derive(Clone, Debug)]
pub struct Shape(Arc<ShapeData>);

#[derive(Debug)]
struct ShapeData {
    geometry: Geometry,
    parry: SharedShape,
    mass: Option<MassProperties>,
    outer_radius: f64,
    inner_radius: f64,
}

/// What a shape is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Geometry {
    /// One convex solid.
    Convex(Convex),
    /// Several bounded convex solids.
    Compound(Compound),
    /// A triangle mesh.
    Mesh(Mesh),
}

/// Bounded convex solids that move as one.
#[derive(Clone, Debug)]
pub struct Compound {
    /// Pose of each part in the frame of the shape, and the part.
    pub parts: Vec<(Pose, Convex)>,
    pub(crate) bvh: Bvh,
}

/// How finely [`Shape::decompose`] cuts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decomposition {
    /// Depth of dents that may be filled in, as a share of the size of the mesh, 0 to 1.
    pub concavity: f64,
    /// Number of cells along the longest side of the grid that the mesh is cut on.
    pub resolution: u32,
    /// Most parts.
    pub parts_max: u32,
}

impl Default for Decomposition {
    fn default() -> Self {
        Decomposition { concavity: 0.01, resolution: 64, parts_max: 64 }
    }
}

impl Shape {
    /// A ball of `radius` (m) about the origin.
    pub fn sphere(radius: f64) -> Result<Shape, ShapeError> {
        check_size("the radius", radius)?;
        Ok(Shape::convex(Convex::Sphere { radius }, SharedShape::ball(radius)))
    }

    /// A box with half its side lengths (m).
    pub fn cuboid(half_extents: Vec3) -> Result<Shape, ShapeError> {
        check_size("half the x extent", half_extents.x)?;
        check_size("half the y extent", half_extents.y)?;
        check_size("half the z extent", half_extents.z)?;
        let parry = SharedShape::cuboid(half_extents.x, half_extents.y, half_extents.z);
        Ok(Shape::convex(Convex::Cuboid { half_extents }, parry))
    }

    /// All points within `radius` of a segment along y of half the length `half_height` (m).
    pub fn capsule(half_height: f64, radius: f64) -> Result<Shape, ShapeError> {
        check_round(half_height, radius)?;
        let parry = SharedShape::capsule_y(half_height, radius);
        Ok(Shape::convex(Convex::Capsule { half_height, radius }, parry))
    }

    /// A cylinder along y (m).
    pub fn cylinder(half_height: f64, radius: f64) -> Result<Shape, ShapeError> {
        check_round(half_height, radius)?;
        let parry = SharedShape::cylinder(half_height, radius);
        Ok(Shape::convex(Convex::Cylinder { half_height, radius }, parry))
    }

    /// A cone along y with its tip at +`half_height` and its base at −`half_height` (m).
    pub fn cone(half_height: f64, radius: f64) -> Result<Shape, ShapeError> {
        check_round(half_height, radius)?;
        let parry = SharedShape::cone(half_height, radius);
        Ok(Shape::convex(Convex::Cone { half_height, radius }, parry))
    }

    /// Everything behind the plane through the origin with the outward `normal` (any length).
    pub fn half_space(normal: Vec3) -> Result<Shape, ShapeError> {
        let largest = normal.abs().max_element();
        if !normal.is_finite() || largest <= 0.0 {
            return Err(ShapeError::Normal);
        }
        let normal = (normal / largest).try_normalize().ok_or(ShapeError::Normal)?;
        Ok(Shape::convex(Convex::HalfSpace { normal }, SharedShape::halfspace(normal)))
    }

    /// The smallest convex solid around the points (m).
    pub fn convex_hull(points: &[Vec3]) -> Result<Shape, ShapeError> {
        let (hull, parry) = Hull::new(points)?;
        Ok(Shape::convex(Convex::Hull(Arc::new(hull)), parry))
    }

    /// All points within `radius` (m) of a box, a cylinder, a cone or a hull: its edges and corners are
    /// round, and it is larger by the radius on every side.
    ///
    /// ```
    /// use thirdlaw::prelude::*;
    /// // a die of 16 mm with edges of 2 mm
    /// let die = Shape::cuboid(Vec3::splat(0.006))?.rounded(0.002)?;
    /// assert!((die.aabb(&Pose::IDENTITY).half_extents() - Vec3::splat(0.008)).length() < 1e-12);
    /// assert!(Shape::sphere(0.1)?.rounded(0.01).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "round_cuboid")]
    #[doc(alias = "round_cylinder")]
    #[doc(alias = "round_cone")]
    #[doc(alias = "round_convex_hull")]
    pub fn rounded(&self, radius: f64) -> Result<Shape, ShapeError> {
        check_size("the radius", radius)?;
        let rounded = match self.geometry() {
            Geometry::Convex(core) => Rounded::new(core, radius),
            _ => None,
        };
        let convex = Convex::Rounded(Arc::new(rounded.ok_or(ShapeError::Rounded)?));
        Ok(Shape::convex(convex.clone(), SharedShape::new(Supported(convex))))
    }

    /// A convex shape of the user's own ([`ConvexSurface`]), which is asked in some hundred directions
    /// whether it can be one.
    pub fn own(surface: Arc<dyn ConvexSurface>) -> Result<Shape, ShapeError> {
        let convex = Convex::Own(Arc::new(OwnShape::new(surface)?));
        Ok(Shape::convex(convex.clone(), SharedShape::new(Supported(convex))))
    }

    /// A surface of triangles, solid behind them; a closed one has mass.
    ///
    /// Triangles without area and vertices without triangles are dropped, vertices with equal
    /// coordinates merged, and a closed surface that is inside out is turned.
    pub fn mesh(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Shape, ShapeError> {
        let mesh = Mesh::new(vertices, triangles)?;
        Shape::of_mesh(mesh)
    }

    fn of_mesh(mesh: Mesh) -> Result<Shape, ShapeError> {
        let parry = SharedShape::trimesh(mesh.vertices.clone(), mesh.triangles.clone())
            .map_err(|_| ShapeError::EmptyMesh)?;
        let mass = mesh
            .closed
            .then(|| MassProperties::closed_surface(&mesh.vertices, mesh.triangles.iter().copied()))
            .filter(|m| m.volume > 0.0);
        let outer_radius = mesh.vertices.iter().map(|v| v.length()).fold(0.0, f64::max);
        Ok(Shape::from_data(Geometry::Mesh(mesh), parry, mass, outer_radius, 0.0))
    }

    /// Ground from `rows` × `columns` heights, row by row: rows run along z, columns along x, both
    /// centred on the origin; `size` is the extent in x, the factor on the heights, and the extent
    /// in z (m).
    pub fn height_field(
        rows: usize,
        columns: usize,
        heights: &[f64],
        size: Vec3,
    ) -> Result<Shape, ShapeError> {
        if rows < 2 || columns < 2 || rows.checked_mul(columns) != Some(heights.len()) {
            return Err(ShapeError::HeightField { rows, columns, heights: heights.len() });
        }
        check_size("the x extent", size.x)?;
        check_size("the height factor", size.y)?;
        check_size("the z extent", size.z)?;
        let at = |row: usize, column: usize| {
            let x = column as f64 / (columns - 1) as f64 - 0.5;
            let z = row as f64 / (rows - 1) as f64 - 0.5;
            Vec3::new(x, heights[row * columns + column], z) * size
        };
        let mut vertices = Vec::with_capacity(heights.len());
        let mut triangles = Vec::with_capacity(2 * heights.len());
        for row in 0..rows {
            for column in 0..columns {
                vertices.push(at(row, column));
                if row + 1 < rows && column + 1 < columns {
                    let a = (row * columns + column) as u32;
                    let (b, c, d) = (a + 1, a + columns as u32, a + columns as u32 + 1);
                    triangles.push([a, c, b]);
                    triangles.push([b, c, d]);
                }
            }
        }
        Shape::mesh(&vertices, &triangles)
    }

    /// Several bounded convex shapes that move as one; compounds among them are flattened.
    pub fn compound(parts: &[(Pose, Shape)]) -> Result<Shape, ShapeError> {
        let mut flat = Vec::new();
        let mut parry = Vec::new();
        for (index, (pose, shape)) in parts.iter().enumerate() {
            let unit = (pose.rotation.length_squared() - 1.0).abs() < 1e-6;
            if !usable(pose.translation) || !unit {
                return Err(ShapeError::PartPose { index });
            }
            match shape.geometry() {
                Geometry::Convex(Convex::HalfSpace { .. }) | Geometry::Mesh(_) => {
                    return Err(ShapeError::Part { index });
                }
                Geometry::Convex(convex) => {
                    flat.push((*pose, convex.clone()));
                    parry.push((*pose, shape.parry().clone()));
                }
                Geometry::Compound(inner) => {
                    let shapes = shape.parry().as_compound().map(|c| c.shapes()).unwrap_or(&[]);
                    flat.extend(inner.parts.iter().map(|(p, c)| (*pose * *p, c.clone())));
                    parry.extend(shapes.iter().map(|(p, s)| (*pose * *p, s.clone())));
                }
            }
        }
        if flat.is_empty() {
            return Err(ShapeError::EmptyCompound);
        }
        Ok(Shape::from_parts(flat, parry))
    }

    /// A closed mesh cut into convex parts, approximately: dents shallower than the parameters say
    /// are filled.
    pub fn decompose(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        params: &Decomposition,
    ) -> Result<Shape, ShapeError> {
        let mesh = Mesh::new(vertices, triangles)?;
        check_size("the concavity", params.concavity)?;
        let settings = VHACDParameters {
            concavity: params.concavity,
            resolution: params.resolution.clamp(8, 512),
            max_convex_hulls: params.parts_max.clamp(1, 1024),
            ..Default::default()
        };
        let cut = VHACD::decompose(&settings, &mesh.vertices, &mesh.triangles, true);
        let mut parts = Vec::new();
        for (points, _) in cut.compute_exact_convex_hulls(&mesh.vertices, &mesh.triangles) {
            if let Ok(part) = Shape::convex_hull(&points) {
                parts.push((Pose::IDENTITY, part));
            }
        }
        Shape::compound(&parts)
    }

    /// A number that only shapes which are one have in common.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both are one shape, not only alike.
    pub(crate) fn is_same(&self, other: &Shape) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What the shape is made of.
    pub fn geometry(&self) -> &Geometry {
        &self.0.geometry
    }

    /// Volume, centre of mass and inertia at density 1 kg/m³; none for half-spaces and open meshes.
    pub fn mass_properties(&self) -> Option<&MassProperties> {
        self.0.mass.as_ref()
    }

    /// A box in world axes around the shape at `pose`.
    pub fn aabb(&self, pose: &Pose) -> Aabb {
        self.0.parry.compute_aabb(pose)
    }

    /// Distance of the farthest surface point from the local origin, m; infinite for a half-space.
    pub fn outer_radius(&self) -> f64 {
        self.0.outer_radius
    }

    /// Radius of a ball about the centre of mass that lies inside the shape, m; 0 for meshes.
    pub fn inner_radius(&self) -> f64 {
        self.0.inner_radius
    }

    /// The same shape in `parry`, for queries of one's own.
    pub fn parry(&self) -> &SharedShape {
        &self.0.parry
    }

    /// Whether it is one convex solid.
    pub fn is_convex(&self) -> bool {
        matches!(self.0.geometry, Geometry::Convex(_))
    }

    /// Whether it is one ball.
    pub fn is_sphere(&self) -> bool {
        matches!(self.0.geometry, Geometry::Convex(Convex::Sphere { .. }))
    }

    /// Whether it is a half-space.
    pub fn is_half_space(&self) -> bool {
        matches!(self.0.geometry, Geometry::Convex(Convex::HalfSpace { .. }))
    }

    /// Whether it is a triangle mesh.
    pub fn is_mesh(&self) -> bool {
        matches!(self.0.geometry, Geometry::Mesh(_))
    }

    /// Number of convex pieces: parts of a compound, triangles of a mesh, else 1.
    pub fn piece_count(&self) -> usize {
        match &self.0.geometry {
            Geometry::Convex(_) => 1,
            Geometry::Compound(compound) => compound.parts.len(),
            Geometry::Mesh(mesh) => mesh.triangles.len(),
        }
    }

    /// Feeds every number that defines the shape to `hasher`, by its bits.
    pub fn fingerprint(&self, hasher: &mut impl Hasher) {
        match &self.0.geometry {
            Geometry::Convex(convex) => {
                hasher.write_u8(0);
                hash_convex(convex, hasher);
            }
            Geometry::Compound(compound) => {
                hasher.write_u8(1);
                hasher.write_u64(compound.parts.len() as u64);
                for (pose, convex) in &compound.parts {
                    hash_numbers(&pose.translation.to_array(), hasher);
                    hash_numbers(&pose.rotation.to_array(), hasher);
                    hash_convex(convex, hasher);
                }
            }
            Geometry::Mesh(mesh) => {
                hasher.write_u8(2);
                hash_points(&mesh.vertices, hasher);
                hasher.write_u64(mesh.triangles.len() as u64);
                mesh.triangles.iter().flatten().for_each(|&i| hasher.write_u32(i));
            }
        }
    }

    fn convex(convex: Convex, parry: SharedShape) -> Shape {
        let mass = convex.mass_properties();
        let outer = convex.outer_radius(&Pose::IDENTITY);
        let inner = mass.map_or(f64::INFINITY, |m| convex.depth(m.center_of_mass).max(0.0));
        Shape::from_data(Geometry::Convex(convex), parry, mass, outer, inner)
    }

    fn from_parts(parts: Vec<(Pose, Convex)>, parry: Vec<(Pose, SharedShape)>) -> Shape {
        let masses: Vec<(Pose, MassProperties)> =
            parts.iter().filter_map(|(pose, c)| Some((*pose, c.mass_properties()?))).collect();
        let mass = MassProperties::sum(&masses);
        let outer = parts.iter().map(|(pose, c)| c.outer_radius(pose)).fold(0.0, f64::max);
        let inner = parts
            .iter()
            .map(|(pose, c)| c.depth(pose.inverse() * mass.center_of_mass))
            .fold(0.0, f64::max);
        let boxes: Vec<Aabb> = parry.iter().map(|(pose, s)| s.compute_aabb(pose)).collect();
        let bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let geometry = Geometry::Compound(Compound { parts, bvh });
        Shape::from_data(geometry, SharedShape::compound(parry), Some(mass), outer, inner)
    }

    fn from_data(
        geometry: Geometry,
        parry: SharedShape,
        mass: Option<MassProperties>,
        outer_radius: f64,
        inner_radius: f64,
    ) -> Shape {
        Shape(Arc::new(ShapeData { geometry, parry, mass, outer_radius, inner_radius }))
    }
}

/// Coordinates beyond this (m) overflow when squared and multiplied.
const COORDINATE_MAX: f64 = 1e12;

fn usable(v: Vec3) -> bool {
    v.is_finite() && v.abs().max_element() <= COORDINATE_MAX
}

fn check_size(what: &'static str, value: f64) -> Result<(), ShapeError> {
    // the square of the smallest must still be a normal number
    if (1e-12..=COORDINATE_MAX).contains(&value) {
        Ok(())
    } else {
        Err(ShapeError::Size { what, value })
    }
}

fn check_round(half_height: f64, radius: f64) -> Result<(), ShapeError> {
    check_size("half the height", half_height)?;
    check_size("the radius", radius)
}

fn hash_numbers(numbers: &[f64], hasher: &mut impl Hasher) {
    numbers.iter().for_each(|x| hasher.write_u64(x.to_bits()));
}

fn hash_points(points: &[Vec3], hasher: &mut impl Hasher) {
    hasher.write_u64(points.len() as u64);
    points.iter().for_each(|p| hash_numbers(&p.to_array(), hasher));
}

fn hash_convex(convex: &Convex, hasher: &mut impl Hasher) {
    match convex {
        Convex::Sphere { radius } => {
            hasher.write_u8(0);
            hash_numbers(&[*radius], hasher);
        }
        Convex::Cuboid { half_extents } => {
            hasher.write_u8(1);
            hash_numbers(&half_extents.to_array(), hasher);
        }
        Convex::Capsule { half_height, radius } => {
            hasher.write_u8(2);
            hash_numbers(&[*half_height, *radius], hasher);
        }
        Convex::Cylinder { half_height, radius } => {
            hasher.write_u8(3);
            hash_numbers(&[*half_height, *radius], hasher);
        }
        Convex::Cone { half_height, radius } => {
            hasher.write_u8(4);
            hash_numbers(&[*half_height, *radius], hasher);
        }
        Convex::HalfSpace { normal } => {
            hasher.write_u8(5);
            hash_numbers(&normal.to_array(), hasher);
        }
        Convex::Hull(hull) => {
            hasher.write_u8(6);
            hash_points(&hull.vertices, hasher);
        }
        Convex::Rounded(rounded) => {
            hasher.write_u8(7);
            hash_numbers(&[rounded.radius], hasher);
            hash_convex(&rounded.core, hasher);
        }
        Convex::Own(own) => {
            hasher.write_u8(8);
            hasher.write(own.surface().name().as_bytes());
            hasher.write_u64(own.surface().fingerprint());
            hash_numbers(&own.bounds.mins.to_array(), hasher);
            hash_numbers(&own.bounds.maxs.to_array(), hasher);
        }
    }
}
