//! Corners and edges of meshes against the insides of cloth triangles and edges.
//!
//! A corner touches the inside of a triangle only if all edges at it lead away from the triangle, an
//! edge only if both its faces do; this also tells the side. Cloth behind them counts only where it is
//! inside the solid.

use super::distance_mesh::{around, mesh_distance};
use super::features::{Touch, in_triangle};
use crate::math::Vec3;
use crate::shape::{Aabb, Mesh, MeshEdge};

/// Sine of the angle by which an edge may lead toward the cloth: rounding.
const LEANING: f64 = 1e-6;

fn near<'a>(mesh: &'a Mesh, points: &[Vec3], reach: f64) -> impl Iterator<Item = usize> + 'a {
    let (mut lo, mut hi) = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
    for &p in points {
        lo = lo.min(p);
        hi = hi.max(p);
    }
    let margin = Vec3::splat(reach);
    let bounds = Aabb::new(lo - margin, hi + margin);
    let query = parry3d_f64::partitioning::BvhNode::leaf(bounds, 0);
    mesh.bvh.leaves(move |node| node.intersects(&query)).map(|t| t as usize)
}

fn holds(mesh: &Mesh, p: Vec3, reach: f64) -> bool {
    mesh_distance(mesh, p, reach).is_some_and(|s| s.distance <= 1e-9 * reach)
}

pub(super) fn triangle_mesh(
    mesh: &Mesh,
    corners: [Vec3; 3],
    reach: f64,
    mut emit: impl FnMut(Touch),
) {
    let [a, b, c] = corners;
    let Some(n) = (b - a).cross(c - a).try_normalize() else { return };
    for triangle in near(mesh, &corners, reach) {
        for id in mesh.triangles[triangle] {
            let point = mesh.vertices[id as usize];
            let height = n.dot(a - point);
            if height.is_nan() || height.abs() > reach {
                continue;
            }
            let foot = point + n * height;
            let Some(weights) = in_triangle(foot, corners, n) else { continue };
            let Some(normal) = away(mesh, id, n) else { continue };
            let distance = normal.dot(a - point);
            if distance >= 0.0 || holds(mesh, foot, reach) {
                emit(Touch { weights, point, normal, distance, id });
            }
        }
    }
}

/// Of `n` and `−n` the one that all edges at a corner lead away from, if any.
fn away(mesh: &Mesh, corner: u32, n: Vec3) -> Option<Vec3> {
    let center = mesh.vertices[corner as usize];
    let (mut plus, mut minus) = (true, true);
    let mut facing = 0.0;
    for other in around(mesh, center, center) {
        let t = mesh.triangles[other];
        if !t.contains(&corner) {
            continue;
        }
        for i in t {
            let edge = mesh.vertices[i as usize] - center;
            let lean = n.dot(edge);
            let most = LEANING * edge.length();
            plus &= lean <= most;
            minus &= lean >= -most;
        }
        facing += mesh.normals[other].dot(n);
    }
    match (plus, minus) {
        (true, true) => Some(if facing >= 0.0 { n } else { -n }),
        (true, false) => (facing > 0.0).then_some(n),
        (false, true) => (facing < 0.0).then_some(-n),
        (false, false) => None,
    }
}

pub(super) fn edge_mesh(mesh: &Mesh, [p, q]: [Vec3; 2], reach: f64, mut emit: impl FnMut(Touch)) {
    for triangle in near(mesh, &[p, q], reach) {
        let t = mesh.triangles[triangle];
        for k in 0..3 {
            let (i, j) = (t[k], t[(k + 1) % 3]);
            let kind = mesh.edges[triangle][k];
            // an edge between two triangles is seen from both
            if kind == MeshEdge::Hidden || (kind != MeshEdge::Boundary && i > j) {
                continue;
            }
            let (a, b) = (mesh.vertices[i as usize], mesh.vertices[j as usize]);
            let Some((s, t, cross)) = pass([p, q], [a, b]) else { continue };
            let (on_cloth, on_mesh) = (p + (q - p) * s, a + (b - a) * t);
            let own = mesh.normals[triangle];
            let Some(inward) = own.cross(b - a).try_normalize() else { continue };
            let out = |n: Vec3| {
                let leads_away = n.dot(inward) <= LEANING && n.dot(own) >= -LEANING;
                match kind {
                    MeshEdge::Convex { normal, inward: other } => {
                        leads_away && n.dot(other) <= LEANING && n.dot(normal) >= -LEANING
                    }
                    _ => leads_away,
                }
            };
            let Some(normal) = [cross, -cross].into_iter().find(|&n| out(n)) else { continue };
            let distance = normal.dot(on_cloth - on_mesh);
            if distance.abs() > reach || (distance < 0.0 && !holds(mesh, on_cloth, reach)) {
                continue;
            }
            let weights = [1.0 - s, s, 0.0];
            let id = 3 * triangle as u32 + k as u32;
            emit(Touch { weights, point: on_mesh, normal, distance, id });
        }
    }
}

/// Where two segments pass each other between their ends, and the unit normal of both.
fn pass([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> Option<(f64, f64, Vec3)> {
    let (u, v, w) = (b - a, d - c, a - c);
    let cross = u.cross(v);
    let det = cross.length_squared();
    let (s, t) = (v.cross(w).dot(cross), u.cross(w).dot(cross));
    let inside = |s: f64| s > 0.0 && s < det;
    if !(inside(s) && inside(t)) || det <= 1e-14 * u.length_squared() * v.length_squared() {
        return None;
    }
    Some((s / det, t / det, cross / det.sqrt()))
}
