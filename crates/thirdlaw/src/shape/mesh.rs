//! Triangle meshes: cleaned, with normals, and with each edge's relation to its neighbour.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

use super::ShapeError;
use super::mass::MassProperties;
use super::tree::BoxTree;
use crate::math::Vec3;

/// A surface of triangles, solid on the side opposite to their (counter-clockwise) normals.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// m.
    pub vertices: Vec<Vec3>,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Outward unit normal of each triangle.
    pub normals: Vec<Vec3>,
    /// What lies beyond each edge; edge k runs from corner k to corner k + 1.
    pub edges: Vec<[MeshEdge; 3]>,
    /// Whether the surface encloses a volume.
    pub closed: bool,
    pub(crate) bvh: Bvh,
    /// For questions; see `shape/ray.rs`.
    pub(super) tree: OnceLock<BoxTree>,
}

/// What lies beyond an edge of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshEdge {
    /// Nothing: the surface ends here.
    Boundary,
    /// A triangle in the same plane, or one that rises: the edge can touch nothing.
    Hidden,
    /// A triangle that falls away.
    Convex {
        /// Its outward normal.
        normal: Vec3,
        /// Unit vector in its plane, square to the edge, away from the edge.
        inward: Vec3,
    },
}

impl Mesh {
    /// Drops triangles without area and vertices without triangles, merges vertices with equal
    /// coordinates, and turns a closed surface right side out.
    pub(crate) fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Mesh, ShapeError> {
        if let Some(index) = vertices.iter().position(|v| !super::usable(*v)) {
            return Err(ShapeError::Vertex { index });
        }
        for (triangle, t) in triangles.iter().enumerate() {
            if let Some(&index) = t.iter().find(|&&i| i as usize >= vertices.len()) {
                return Err(ShapeError::Index { triangle, index, vertices: vertices.len() });
            }
        }
        let (vertices, mut triangles) = weld(vertices, triangles);
        if triangles.is_empty() {
            return Err(ShapeError::EmptyMesh);
        }
        let closed = is_closed(&triangles);
        if closed
            && MassProperties::closed_surface(&vertices, triangles.iter().copied()).volume < 0.0
        {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        Ok(Mesh::of_clean(vertices, triangles))
    }

    /// Of vertices and triangles that are cleaned already.
    pub(super) fn of_clean(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        let closed = is_closed(&triangles);
        let normals: Vec<Vec3> =
            triangles.iter().map(|t| triangle_normal(&vertices, t).unwrap_or(Vec3::Y)).collect();
        let edges = classify_edges(&vertices, &triangles, &normals);
        let boxes: Vec<Aabb> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| vertices[i as usize]);
                Aabb::new(a.min(b).min(c), a.max(b).max(c))
            })
            .collect();
        let bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        Mesh { vertices, triangles, normals, edges, closed, bvh, tree: OnceLock::new() }
    }

    /// The corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|i| self.vertices[i as usize])
    }
}

fn triangle_normal(vertices: &[Vec3], t: &[u32; 3]) -> Option<Vec3> {
    let [a, b, c] = t.map(|i| vertices[i as usize]);
    let (u, v, w) = (b - a, c - b, a - c);
    let longest = u.length().max(v.length()).max(w.length());
    if longest == 0.0 {
        return None;
    }
    // scaled, so that small triangles keep their digits
    let normal = (u / longest).cross(v / longest);
    if normal.length() < 1e-12 { None } else { normal.try_normalize() }
}

fn weld(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut known: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut out = Vec::new();
    let mut kept = Vec::with_capacity(triangles.len());
    for t in triangles {
        if triangle_normal(vertices, t).is_none() {
            continue;
        }
        kept.push(t.map(|i| {
            let v = vertices[i as usize];
            // + 0.0 makes −0.0 and 0.0 one vertex
            let key = [v.x, v.y, v.z].map(|x| (x + 0.0).to_bits());
            *known.entry(key).or_insert_with(|| {
                out.push(v);
                out.len() as u32 - 1
            })
        }));
    }
    (out, kept)
}

fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut edges = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            if edges.insert((t[k], t[(k + 1) % 3]), ()).is_some() {
                return false;
            }
        }
    }
    edges.keys().all(|&(i, j)| edges.contains_key(&(j, i)))
}

fn classify_edges(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
    normals: &[Vec3],
) -> Vec<[MeshEdge; 3]> {
    let mut owners: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (index, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            owners.entry((t[k], t[(k + 1) % 3])).or_insert(index as u32);
        }
    }
    let classify = |index: usize, k: usize| {
        let t = triangles[index];
        let (i, j) = (t[k], t[(k + 1) % 3]);
        let Some(&other) = owners.get(&(j, i)) else { return MeshEdge::Boundary };
        let (a, b) = (vertices[i as usize], vertices[j as usize]);
        let Some(along) = (b - a).try_normalize() else { return MeshEdge::Hidden };
        let normal = normals[other as usize];
        // the neighbour runs along the edge the other way round
        let inward = normal.cross(-along);
        // within 0.06° of flat counts as flat
        if normals[index].dot(inward) > -1e-3 {
            return MeshEdge::Hidden;
        }
        MeshEdge::Convex { normal, inward }
    };
    (0..triangles.len()).map(|index| std::array::from_fn(|k| classify(index, k))).collect()
}
