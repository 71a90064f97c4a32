//! A mesh made ready for rays: its hierarchy, triangles in packs of four, and normals.
//!
//! Ray and triangle are intersected as in [möller1997], four triangles at a
//! time, with a tolerance on the barycentrics so that no ray slips between two
//! triangles that share an edge.

use glamx::Vec3;
use wide::f32x4;

use crate::bvh::{Aabb, Bvh, Ray, Stack, splat};
use crate::normals::{CREASE, corner_normals, face_normal};
use crate::picture::SurfaceMesh;

/// Largest coordinate that is drawn (m); squares of it stay finite in `f32`.
pub(crate) const FAR: f32 = 1e9;

/// Where a ray met a mesh.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeshHit {
    /// Index into the kept triangles.
    pub triangle: u32,
    pub u: f32,
    pub v: f32,
}

/// What shading needs to know about a point on a mesh, in the mesh's frame.
pub(crate) struct MeshPoint {
    /// Normal of the flat triangle.
    pub face: Vec3,
    /// Interpolated normal.
    pub normal: Vec3,
    /// From the hit to the smooth surface the triangles stand for.
    pub bulge: Vec3,
}

/// Four triangles.
#[derive(Clone, Debug)]
struct Pack {
    corner: [f32x4; 3],
    edge1: [f32x4; 3],
    edge2: [f32x4; 3],
    triangles: [u32; 4],
}

/// A mesh made ready for rays.
#[derive(Clone, Debug)]
pub(crate) struct MeshTree {
    bvh: Bvh,
    packs: Vec<Pack>,
    corners: Vec<[Vec3; 3]>,
    /// Empty for flat shading.
    normals: Vec<[Vec3; 3]>,
    pub bounds: Aabb,
    pub two_sided: bool,
}

impl MeshTree {
    pub fn new(mesh: &SurfaceMesh) -> Self {
        let vertex = |i: u32| mesh.vertices.get(i as usize).map(|v| Vec3::from(*v));
        let corners: Vec<[Vec3; 3]> = mesh
            .triangles
            .iter()
            .filter_map(|t| Some([vertex(t[0])?, vertex(t[1])?, vertex(t[2])?]))
            .filter(|t| t.iter().all(|p| p.abs().max_element() < FAR && !p.is_nan()))
            .filter(|t| face_normal(t) != Vec3::ZERO)
            .collect();
        let boxes: Vec<Aabb> = corners
            .iter()
            .map(|t| {
                let mut bounds = Aabb::EMPTY;
                t.iter().for_each(|&p| bounds.include(p));
                bounds
            })
            .collect();
        let mut bounds = Aabb::EMPTY;
        boxes.iter().for_each(|b| bounds.union(b));
        let mut bvh = Bvh::build(&boxes, 4);
        let order = std::mem::take(&mut bvh.order);
        let mut packs = Vec::with_capacity(corners.len() / 2);
        bvh.map_leaves(|first, count| {
            packs.push(Pack::new(&corners, &order[first as usize..][..count as usize]));
            packs.len() as u32 - 1
        });
        let normals = if mesh.smooth {
            // a sheet has folds, but no edges
            corner_normals(&corners, if mesh.two_sided { -1.0 } else { CREASE })
        } else {
            Vec::new()
        };
        Self { bvh, packs, corners, normals, bounds, two_sided: mesh.two_sided }
    }

    /// The first hit before `limit`, which is lowered to it.
    #[inline]
    pub fn closest(&self, ray: &Ray, limit: &mut f32, stack: &mut Stack) -> Option<MeshHit> {
        let mut hit = None;
        self.bvh.closest(ray, limit, stack, |pack, _, limit| {
            let pack = &self.packs[pack as usize];
            let (mut mask, t, u, v) = pack.intersect(ray, *limit);
            if mask == 0 {
                return;
            }
            let (t, u, v) = (t.to_array(), u.to_array(), v.to_array());
            while mask != 0 {
                let k = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                if t[k] < *limit {
                    *limit = t[k];
                    hit = Some(MeshHit { triangle: pack.triangles[k], u: u[k], v: v[k] });
                }
            }
        });
        hit
    }

    /// Whether anything is hit before `limit`.
    #[inline]
    pub fn occludes(&self, ray: &Ray, limit: f32, stack: &mut Stack) -> bool {
        self.bvh.any(ray, limit, stack, |pack, _| {
            self.packs[pack as usize].intersect(ray, limit).0 != 0
        })
    }

    pub fn point(&self, hit: &MeshHit) -> MeshPoint {
        let corners = &self.corners[hit.triangle as usize];
        let face = face_normal(corners);
        let Some(normals) = self.normals.get(hit.triangle as usize) else {
            return MeshPoint { face, normal: face, bulge: Vec3::ZERO };
        };
        let weights = [1.0 - hit.u - hit.v, hit.u, hit.v];
        let blend = |values: [Vec3; 3]| {
            values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2]
        };
        let p = blend(*corners);
        // The mean of the hit's projections onto the corners' tangent planes lies
        // near the smooth surface [hanika2021]; shadow rays from there show no
        // facets at the terminator.
        let bulge =
            blend(std::array::from_fn(|k| normals[k] * (corners[k] - p).dot(normals[k]).max(0.0)));
        MeshPoint { face, normal: blend(*normals).try_normalize().unwrap_or(face), bulge }
    }
}

impl Pack {
    fn new(corners: &[[Vec3; 3]], triangles: &[u32]) -> Self {
        // Lanes without a triangle keep zero edges, which no ray meets.
        let mut lanes = [[[0.0f32; 4]; 3]; 3];
        let mut ids = [0; 4];
        for (k, &triangle) in triangles.iter().take(4).enumerate() {
            let [a, b, c] = corners[triangle as usize];
            for (lane, value) in lanes.iter_mut().zip([a, b - a, c - a]) {
                for axis in 0..3 {
                    lane[axis][k] = value[axis];
                }
            }
            ids[k] = triangle;
        }
        let [corner, edge1, edge2] = lanes.map(|lane| lane.map(f32x4::from));
        Self { corner, edge1, edge2, triangles: ids }
    }

    /// Mask of the triangles hit before `limit`, with t, u and v of each.
    #[inline]
    fn intersect(&self, ray: &Ray, limit: f32) -> (u32, f32x4, f32x4, f32x4) {
        let direction = splat(ray.direction);
        let origin = splat(ray.origin);
        let p = cross(&direction, &self.edge2);
        let determinant = dot(&self.edge1, &p);
        let inverse = f32x4::ONE / determinant;
        let s =
            [origin[0] - self.corner[0], origin[1] - self.corner[1], origin[2] - self.corner[2]];
        let u = dot(&s, &p) * inverse;
        let q = cross(&s, &self.edge1);
        let v = dot(&direction, &q) * inverse;
        let t = dot(&self.edge2, &q) * inverse;
        const EDGE: f32 = 1e-5;
        // Comparisons with NaN are false: a triangle seen edge-on is missed.
        let inside = u.simd_ge(f32x4::splat(-EDGE))
            & v.simd_ge(f32x4::splat(-EDGE))
            & (u + v).simd_le(f32x4::splat(1.0 + EDGE))
            & t.simd_ge(f32x4::ZERO)
            & t.simd_lt(f32x4::splat(limit));
        (inside.to_bitmask(), t, u, v)
    }
}

#[inline]
fn dot(a: &[f32x4; 3], b: &[f32x4; 3]) -> f32x4 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn cross(a: &[f32x4; 3], b: &[f32x4; 3]) -> [f32x4; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeatable numbers in −1..1.
    struct Random(u32);

    impl Random {
        fn next(&mut self) -> f32 {
            self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let word = (self.0 >> ((self.0 >> 28) + 4) ^ self.0).wrapping_mul(277_803_737);
            ((word >> 22) ^ word) as f32 / (1u64 << 31) as f32 - 1.0
        }

        fn point(&mut self) -> Vec3 {
            Vec3::new(self.next(), self.next(), self.next())
        }
    }

    fn soup(count: u32, size: f32, random: &mut Random) -> SurfaceMesh {
        let mut mesh = SurfaceMesh::default();
        for k in 0..count {
            let center = random.point();
            for _ in 0..3 {
                mesh.vertices.push((center + random.point() * size).to_array());
            }
            mesh.triangles.push([3 * k, 3 * k + 1, 3 * k + 2]);
        }
        mesh
    }

    #[test]
    fn the_tree_finds_what_testing_every_triangle_finds() {
        let mut random = Random(1);
        let (mut stack, mut hits) = (Stack::new(), 0);
        for count in [1, 4, 5, 60, 700] {
            let tree = MeshTree::new(&soup(count, 0.2, &mut random));
            for k in 0..400 {
                let origin = random.point() * 2.0;
                let mut direction = random.point() * 0.7 - origin;
                if k % 5 == 0 {
                    direction[k % 3] = 0.0; // along a slab
                }
                let ray = Ray::new(origin, direction.normalize_or(Vec3::X));
                let mut expected = f32::INFINITY;
                for pack in &tree.packs {
                    let (mask, t, _, _) = pack.intersect(&ray, expected);
                    for (lane, t) in t.to_array().into_iter().enumerate() {
                        if mask >> lane & 1 == 1 {
                            expected = expected.min(t);
                        }
                    }
                }
                let mut limit = f32::INFINITY;
                let hit = tree.closest(&ray, &mut limit, &mut stack);
                assert_eq!(limit, expected);
                assert_eq!(hit.is_some(), expected.is_finite());
                assert_eq!(tree.occludes(&ray, f32::INFINITY, &mut stack), hit.is_some());
                hits += usize::from(hit.is_some());
            }
        }
        assert!(hits > 200, "{hits}");
    }

    #[test]
    fn triangles_at_one_place_end_in_leaves() {
        let mut mesh = SurfaceMesh::default();
        for k in 0..1000 {
            mesh.vertices.extend([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
            mesh.triangles.push([3 * k, 3 * k + 1, 3 * k + 2]);
        }
        let tree = MeshTree::new(&mesh);
        let ray = Ray::new(Vec3::new(0.2, 0.2, 3.0), Vec3::NEG_Z);
        let mut limit = f32::INFINITY;
        assert!(tree.closest(&ray, &mut limit, &mut Stack::new()).is_some());
        assert_eq!(limit, 3.0);
    }

    #[test]
    fn no_ray_slips_between_triangles_that_share_an_edge() {
        let mut random = Random(9);
        let mut mesh = SurfaceMesh::default();
        for k in 0..32u32 {
            let (sin, cos) = libm::sincosf(k as f32 * std::f32::consts::TAU / 32.0);
            mesh.vertices.push([cos, 0.3 * random.next(), sin]);
            mesh.triangles.push([32, (k + 1) % 32, k]);
        }
        mesh.vertices.push([0.013, 0.1, -0.021]);
        let tree = MeshTree::new(&mesh);
        let mut stack = Stack::new();
        for k in 0..4000 {
            // Aim at points on the inner edges.
            let rim = Vec3::from(mesh.vertices[k % 32]);
            let along = 0.02 + 0.48 * (random.next() + 1.0);
            let target = Vec3::from(mesh.vertices[32]).lerp(rim, along.min(0.98));
            let origin = target + Vec3::new(random.next(), 5.0, random.next());
            let ray = Ray::new(origin, (target - origin).normalize());
            assert!(tree.occludes(&ray, f32::INFINITY, &mut stack));
        }
    }
}
