//! A cloth as a smooth sheet: its triangles stand for a curved surface, and flat ones would let a
//! round body under them show through.
//!
//! Every edge is split where the planes that touch the surface at its ends say that its middle is:
//! half of the way from the chord to the mean of the projections, which is exact on spheres and
//! cylinders up to the second order (boubekeur2008).

use std::collections::HashMap;
use std::sync::Arc;
use thirdlaw::{ClothId, Skin, Vec3};
use thirdlaw_render::SurfaceMesh;

/// Triangles that a drawn cloth has at most, unless it has more by itself.
const TRIANGLES_MAX: usize = 150_000;
const LEVELS_MAX: usize = 2;

/// A cloth to be drawn; where its vertices are is the world's to say.
pub struct Sheet {
    /// Which cloth.
    pub id: ClothId,
    /// sRGB.
    pub color: [f32; 3],
    levels: Vec<Level>,
    triangles: Vec<[u32; 3]>,
    /// Whether it is the surface of a solid, drawn as it is: with its edges, and from outside only.
    solid: bool,
    /// What is seen instead of the surface of the tetrahedra.
    skin: Option<Arc<Skin>>,
}

/// How a mesh becomes the next finer one.
struct Level {
    /// Before the split.
    triangles: Vec<[u32; 3]>,
    /// One new vertex each, behind the old ones.
    edges: Vec<[u32; 2]>,
}

impl Sheet {
    /// Prepares the splits of a mesh of so many vertices.
    pub fn new(
        id: ClothId,
        color: [f32; 3],
        mut triangles: Vec<[u32; 3]>,
        mut vertex_count: usize,
    ) -> Sheet {
        let mut levels = Vec::new();
        while levels.len() < LEVELS_MAX && 4 * triangles.len() <= TRIANGLES_MAX {
            let level = Level::new(triangles);
            triangles = level.split(vertex_count as u32);
            vertex_count += level.edges.len();
            levels.push(level);
        }
        Sheet { id, color, levels, triangles, solid: false, skin: None }
    }

    /// The surface of a soft body, or its skin.
    pub fn solid(
        id: ClothId,
        color: [f32; 3],
        triangles: Vec<[u32; 3]>,
        skin: Option<Arc<Skin>>,
    ) -> Sheet {
        let triangles = skin.as_ref().map_or(triangles, |skin| skin.triangles.clone());
        Sheet { id, color, levels: Vec::new(), triangles, solid: true, skin }
    }

    /// The surface, as seen from its first vertex.
    pub fn mesh(&self, vertices: &[Vec3]) -> SurfaceMesh {
        let origin = vertices.first().copied().unwrap_or_default();
        // relative, so that far from the world's origin it is as smooth
        let mut x: Vec<Vec3> = vertices.iter().map(|p| *p - origin).collect();
        if let Some(skin) = &self.skin {
            x = skin.follow(&x);
        }
        for level in &self.levels {
            level.refine(&mut x);
        }
        SurfaceMesh {
            vertices: x.iter().map(|p| p.as_vec3().to_array()).collect(),
            triangles: self.triangles.clone(),
            smooth: !self.solid,
            two_sided: !self.solid,
        }
    }
}

impl Level {
    fn new(triangles: Vec<[u32; 3]>) -> Level {
        let mut known = HashMap::new();
        let mut edges = Vec::new();
        for &[a, b, c] in &triangles {
            for [i, j] in [[a, b], [b, c], [c, a]] {
                let edge = [i.min(j), i.max(j)];
                known.entry(edge).or_insert_with(|| {
                    edges.push(edge);
                });
            }
        }
        Level { triangles, edges }
    }

    /// Four triangles for each.
    fn split(&self, vertex_count: u32) -> Vec<[u32; 3]> {
        let middle: HashMap<[u32; 2], u32> =
            self.edges.iter().copied().zip(vertex_count..).collect();
        let at = |i: u32, j: u32| middle[&[i.min(j), i.max(j)]];
        let four = |&[a, b, c]: &[u32; 3]| {
            let (ab, bc, ca) = (at(a, b), at(b, c), at(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        self.triangles.iter().flat_map(four).collect()
    }

    /// Puts the new vertices behind the old ones.
    fn refine(&self, x: &mut Vec<Vec3>) {
        let mut normals = vec![Vec3::ZERO; x.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|i| x[i as usize]);
            let normal = (b - a).cross(c - a);
            triangle.iter().for_each(|&i| normals[i as usize] += normal);
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        for edge in &self.edges {
            let [a, b] = edge.map(|i| (x[i as usize], normals[i as usize]));
            let chord = 0.5 * (a.0 + b.0);
            let onto = |(p, n): (Vec3, Vec3)| n * n.dot(p - chord);
            x.push(chord + 0.25 * (onto(a) + onto(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thirdlaw::{Cloth, ClothMesh, Settings, World};

    #[test]
    fn a_sheet_on_a_sphere_becomes_round() {
        let mut mesh = ClothMesh::grid(12, 12, [1.0, 1.0]).unwrap();
        for p in &mut mesh.positions {
            p.y = (1.0 - p.x * p.x - p.z * p.z).sqrt();
        }
        let flat = mesh.triangles.clone();
        let mut world = World::new(Settings::default()).unwrap();
        let x = mesh.positions.clone();
        let id = world.add_cloth(Cloth::new(mesh)).unwrap();
        let sheet = Sheet::new(id, [0.5; 3], flat.clone(), x.len());
        let fine = sheet.mesh(&x);
        assert_eq!(fine.triangles.len(), 16 * flat.len());
        let height = |p: &[f32; 3]| (Vec3::from(p.map(f64::from)) + x[0]).length();
        let chord = 0.5 * (x[65] + x[66]);
        let worst = |limit: f64| fine.vertices.iter().map(height).filter(|h| *h < limit).count();
        assert!(chord.length() < 1.0 - 5e-4, "flat triangles cut the sphere");
        // but at the rim, where normals lean inwards
        assert!(worst(1.0 - 5e-4) < fine.vertices.len() / 4, "{}", worst(1.0 - 5e-4));
        assert!(fine.vertices.iter().all(|p| height(p) < 1.002));
    }
}
