//! Convex polyhedra: points, faces, edges and which faces each edge joins.

use std::collections::BTreeMap;

use parry3d_f64::shape::{ConvexPolyhedron, SharedShape};
use parry3d_f64::transformation::try_convex_hull;

use super::ShapeError;
use super::mass::MassProperties;
use crate::math::Vec3;

/// A convex polyhedron in its own frame.
#[derive(Clone, Debug)]
pub struct Hull {
    /// Corners, m.
    pub vertices: Vec<Vec3>,
    /// Outward unit normal of each face.
    pub normals: Vec<Vec3>,
    /// For each face, where its loop of corners starts in `loops` and how many it has.
    pub faces: Vec<[u32; 2]>,
    /// Corner loops of all faces, counter-clockwise seen from outside.
    pub loops: Vec<u32>,
    /// Edges: two corners and the two faces they join.
    pub edges: Vec<HullEdge>,
    /// The points that it was made around, m.
    pub(crate) given: Vec<Vec3>,
    /// Normal and a corner of each face, side by side: what looks at all faces reads nothing else.
    pub(crate) planes: Vec<[Vec3; 2]>,
    /// For each face those that share a corner with it, where they start in `ring` and how many they
    /// are.
    rings: Vec<[u32; 2]>,
    ring: Vec<u32>,
}

/// An edge of a polyhedron.
#[derive(Clone, Copy, Debug)]
pub struct HullEdge {
    /// Its two corners.
    pub vertices: [u32; 2],
    /// The face left of it (seen from outside, walking from first to second corner), and the other.
    pub faces: [u32; 2],
}

impl Hull {
    /// The hull of `points`, with the same as a `parry` shape for independent queries.
    pub(crate) fn new(points: &[Vec3]) -> Result<(Hull, SharedShape), ShapeError> {
        if let Some(index) = points.iter().position(|p| !super::usable(*p)) {
            return Err(ShapeError::Vertex { index });
        }
        let flat = ShapeError::FlatHull { points: points.len() };
        let extents = Extents::of(points).ok_or(flat)?;
        // Stretching keeps the hull's corners and faces, and thin plates become as fat as others.
        let stretched: Vec<Vec3> = points.iter().map(|&p| extents.stretch(p)).collect();
        let (corners, triangles) = try_convex_hull(&stretched).map_err(|_| ShapeError::Hull)?;
        let originals: BTreeMap<[u64; 3], Vec3> =
            stretched.iter().zip(points).map(|(s, &p)| (bits(*s), p)).collect();
        let mut vertices = Vec::with_capacity(corners.len());
        for corner in &corners {
            vertices.push(*originals.get(&bits(*corner)).ok_or(ShapeError::Hull)?);
        }
        let volume = MassProperties::closed_surface(&vertices, triangles.iter().copied()).volume;
        if volume.is_nan() || volume <= 0.0 {
            return Err(ShapeError::FlatHull { points: points.len() });
        }
        let poly =
            ConvexPolyhedron::from_convex_mesh(vertices, &triangles).ok_or(ShapeError::Hull)?;
        let hull = Hull { given: points.to_vec(), ..Hull::from_parry(&poly)? };
        Ok((hull, SharedShape::new(poly)))
    }

    fn from_parry(poly: &ConvexPolyhedron) -> Result<Hull, ShapeError> {
        let mut hull = Hull {
            vertices: poly.points().to_vec(),
            normals: Vec::new(),
            faces: Vec::new(),
            loops: Vec::new(),
            edges: Vec::new(),
            given: Vec::new(),
            planes: Vec::new(),
            rings: Vec::new(),
            ring: Vec::new(),
        };
        for face in poly.faces() {
            let start = face.first_vertex_or_edge as usize;
            let corners =
                &poly.vertices_adj_to_face()[start..start + face.num_vertices_or_edges as usize];
            let Some(normal) = newell_normal(&hull.vertices, corners) else { continue };
            hull.faces.push([hull.loops.len() as u32, corners.len() as u32]);
            hull.loops.extend_from_slice(corners);
            hull.normals.push(normal);
            hull.planes.push([normal, hull.vertices[corners[0] as usize]]);
        }
        if hull.faces.len() < 4 {
            return Err(ShapeError::Hull);
        }
        hull.find_rings();
        let mut half_edges = BTreeMap::new();
        for face in 0..hull.faces.len() {
            for (i, j) in hull.sides(face) {
                half_edges.insert((i, j), face as u32);
            }
        }
        for (&(i, j), &face) in &half_edges {
            // a side whose neighbour was degenerate still is an edge
            let other = half_edges.get(&(j, i)).copied();
            if i < j || other.is_none() {
                hull.edges
                    .push(HullEdge { vertices: [i, j], faces: [face, other.unwrap_or(face)] });
            }
        }
        Ok(hull)
    }

    fn find_rings(&mut self) {
        let mut at: Vec<Vec<u32>> = vec![Vec::new(); self.vertices.len()];
        for face in 0..self.faces.len() {
            self.corners(face).iter().for_each(|&corner| at[corner as usize].push(face as u32));
        }
        for face in 0..self.faces.len() {
            let start = self.ring.len();
            let corners = self.corners(face).iter();
            let mut near: Vec<u32> =
                corners.flat_map(|&c| at[c as usize].iter().copied()).collect();
            near.sort_unstable();
            near.dedup();
            near.retain(|&f| f != face as u32);
            self.rings.push([start as u32, near.len() as u32]);
            self.ring.extend(near);
        }
    }

    /// Faces that share a corner with a face.
    pub(crate) fn around(&self, face: usize) -> &[u32] {
        let [start, len] = self.rings[face];
        &self.ring[start as usize..(start + len) as usize]
    }

    /// Corners of a face, counter-clockwise seen from outside.
    pub fn corners(&self, face: usize) -> &[u32] {
        let [start, len] = self.faces[face];
        &self.loops[start as usize..(start + len) as usize]
    }

    fn sides(&self, face: usize) -> impl Iterator<Item = (u32, u32)> {
        let corners = self.corners(face);
        (0..corners.len()).map(move |k| (corners[k], corners[(k + 1) % corners.len()]))
    }

    /// The faces as fans of triangles.
    pub(crate) fn triangles(&self) -> impl Iterator<Item = [u32; 3]> {
        (0..self.faces.len()).flat_map(move |face| {
            let c = self.corners(face);
            (1..c.len().saturating_sub(1)).map(move |k| [c[0], c[k], c[k + 1]])
        })
    }

    /// How deep a point lies inside (negative outside), m.
    pub(crate) fn depth(&self, point: Vec3) -> f64 {
        (0..self.faces.len())
            .map(|f| self.normals[f].dot(self.vertices[self.corners(f)[0] as usize] - point))
            .fold(f64::INFINITY, f64::min)
    }
}

/// Area-weighted normal of a polygon, or none if it has no area.
fn newell_normal(vertices: &[Vec3], corners: &[u32]) -> Option<Vec3> {
    let first = vertices[*corners.first()? as usize];
    let mut area = Vec3::ZERO;
    for k in 1..corners.len().saturating_sub(1) {
        let a = vertices[corners[k] as usize] - first;
        let b = vertices[corners[k + 1] as usize] - first;
        area += a.cross(b);
    }
    area.try_normalize()
}

fn bits(v: Vec3) -> [u64; 3] {
    v.to_array().map(f64::to_bits)
}

/// Three directions square to each other and how far the points reach along each.
struct Extents {
    origin: Vec3,
    axes: [Vec3; 3],
    lengths: [f64; 3],
}

impl Extents {
    /// None if the points are all in one plane, or nearly.
    fn of(points: &[Vec3]) -> Option<Extents> {
        let &origin = points.first()?;
        let farthest = |measure: &dyn Fn(Vec3) -> f64| {
            points
                .iter()
                .map(|&p| (measure(p - origin), p - origin))
                .fold((0.0, Vec3::ZERO), |best, next| if next.0 > best.0 { next } else { best })
        };
        let (length, x) = farthest(&|d| d.length());
        if length < 1e-9 {
            return None;
        }
        let x = x / length;
        let (width, y) = farthest(&|d| d.cross(x).length());
        if width < 1e-8 * length {
            return None;
        }
        let z = x.cross(y).try_normalize()?;
        let (height, _) = farthest(&|d| d.dot(z).abs());
        if height < 1e-8 * length {
            return None;
        }
        Some(Extents { origin, axes: [x, z.cross(x), z], lengths: [length, width, height] })
    }

    fn stretch(&self, p: Vec3) -> Vec3 {
        let d = p - self.origin;
        Vec3::from_array(std::array::from_fn(|k| self.axes[k].dot(d) / self.lengths[k]))
    }
}
