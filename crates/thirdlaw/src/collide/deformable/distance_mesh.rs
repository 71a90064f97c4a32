//! Signed distance to a triangle mesh: the nearest triangle, and a sign that is right at edges and
//! corners too.

use crate::math::Vec3;
use crate::math::closest::point_triangle;
use crate::shape::distance::Surface;
use crate::shape::{Aabb, Mesh};
use parry3d_f64::partitioning::BvhNode;

pub(super) fn mesh_distance(mesh: &Mesh, p: Vec3, reach: f64) -> Option<Surface> {
    let bounds = mesh.bvh.root_aabb();
    let far = |lo: f64, hi: f64, x: f64| (lo - x).max(x - hi).max(0.0);
    let gap = Vec3::new(
        far(bounds.mins.x, bounds.maxs.x, p.x),
        far(bounds.mins.y, bounds.maxs.y, p.y),
        far(bounds.mins.z, bounds.maxs.z, p.z),
    );
    if gap.length() > reach {
        return None;
    }
    // a closed mesh holds points however deep
    let farthest = if mesh.closed { f64::MAX } else { reach * (1.0 + 1e-12) + f64::MIN_POSITIVE };
    let (triangle, (_, weights)) = mesh.bvh.find_best(
        farthest,
        |node: &BvhNode, _| {
            let (lo, hi) = (node.mins(), node.maxs());
            (p - p.clamp(lo, hi)).length()
        },
        |triangle, _| {
            let corners = mesh.corners(triangle as usize);
            let w = point_triangle(p, corners);
            let q = corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2];
            Some(((p - q).length(), w))
        },
    )?;
    let triangle = triangle as usize;
    let corners = mesh.corners(triangle);
    let [a, b, c] = corners;
    let point = a * weights[0] + b * weights[1] + c * weights[2];
    let facing = Facing::of(mesh, triangle, weights, point);
    let d = p - point;
    let length = d.length();
    let inside = d.dot(facing.normal) < 0.0;
    // beside the rim of an open mesh is outside
    let inside = inside && (mesh.closed || !facing.rim);
    // on the surface itself the direction of d is rounding
    let normal = if length > 1e-12 * (a - b).length() {
        d * (if inside { -1.0 } else { 1.0 } / length)
    } else {
        facing.normal
    };
    let distance = if inside { -length } else { length };
    (distance <= reach && (mesh.closed || distance >= -reach)).then_some(Surface {
        distance,
        normal,
        point,
    })
}

/// Which way a place on a mesh faces: the sum of the normals around it, weighted by angle, whose sign
/// tells inside from outside wherever the place is the nearest one.
struct Facing {
    normal: Vec3,
    /// Whether the surface ends here.
    rim: bool,
}

impl Facing {
    fn of(mesh: &Mesh, triangle: usize, weights: [f64; 3], point: Vec3) -> Facing {
        let own = mesh.normals[triangle];
        let corners = mesh.triangles[triangle];
        let on = |k: usize| weights[k] > 0.0;
        match [on(0), on(1), on(2)].iter().filter(|&&w| w).count() {
            3 => Facing { normal: own, rim: false },
            2 => {
                let k = (0..3).find(|&k| !on(k)).unwrap_or(0);
                let (i, j) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
                let mut sum = Vec3::ZERO;
                let mut sides = 0;
                for other in around(mesh, mesh.vertices[i as usize], point) {
                    let t = mesh.triangles[other];
                    if t.contains(&i) && t.contains(&j) {
                        sum += mesh.normals[other];
                        sides += 1;
                    }
                }
                Facing { normal: sum.try_normalize().unwrap_or(own), rim: sides < 2 }
            }
            _ => {
                let i = corners[(0..3).find(|&k| on(k)).unwrap_or(0)];
                let center = mesh.vertices[i as usize];
                let mut sum = Vec3::ZERO;
                let mut rim = false;
                for other in around(mesh, center, center) {
                    let t = mesh.triangles[other];
                    let Some(k) = t.iter().position(|&v| v == i) else { continue };
                    let [u, v] = [t[(k + 1) % 3], t[(k + 2) % 3]]
                        .map(|j| (mesh.vertices[j as usize] - center).normalize_or_zero());
                    sum += mesh.normals[other] * libm::acos(u.dot(v).clamp(-1.0, 1.0));
                    let edges = mesh.edges[other];
                    let ends = |e: usize| matches!(edges[e], crate::shape::MeshEdge::Boundary);
                    rim |= ends(k) || ends((k + 2) % 3);
                }
                Facing { normal: sum.try_normalize().unwrap_or(own), rim }
            }
        }
    }
}

/// Triangles whose boxes meet the box of two points.
pub(super) fn around(mesh: &Mesh, a: Vec3, b: Vec3) -> impl Iterator<Item = usize> {
    let near = Aabb::new(a.min(b), a.max(b));
    let query = BvhNode::leaf(near, 0);
    mesh.bvh.leaves(move |node: &BvhNode| node.intersects(&query)).map(|t| t as usize)
}
