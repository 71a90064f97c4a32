//! A mesh made ready for rays: its hierarchy, triangles in packs of four, and normals.
//!
//! Ray and triangle are intersected as in [möller1997], four triangles at a
//! time, with a tolerance on the barycentrics so that no ray slips between two
//! triangles that share an edge.

use glamx::Vec3;
use wide::f32x4;

use crate::bvh::{Aabb, Bvh, Ray, Stack};
use crate::normals::{corner_normals, face_normal};
use crate::picture::Mesh;

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
    pub fn new(mesh: &Mesh) -> Self {
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
        let normals = if mesh.smooth { corner_normals(&corners) } else { Vec::new() };
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
        let direction = ray.direction.to_array().map(f32x4::splat);
        let origin = ray.origin.to_array().map(f32x4::splat);
        let p = cross(&direction, &self.edge2);
        let determinant = dot(&self.edge1, &p);
        let inverse = f32x4::ONE / determinant;
        let s: [f32x4; 3] = std::array::from_fn(|k| origin[k] - self.corner[k]);
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
