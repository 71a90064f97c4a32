//! Tetrahedra that fill a closed surface of triangles, and the surface carried along by them.
//!
//! The signed distance of the surface is filled by stuffing, so edges sharper than the lattice are rounded
//! off. What is seen stays what was given: a [`Skin`] holds every vertex of the surface by the tetrahedron that
//! it lies in, or lies nearest to, with weights that sum to 1,
//!
//!   s = Σ wₖ xₖ,   Σ wₖ = 1,
//!
//! so that it follows every affine motion of that tetrahedron exactly.

use super::stuffing::stuff_between;
use super::{SolidMesh, volume};
use crate::math::Vec3;
use crate::model::deformable::DeformableError;
use crate::shape::mesh::Mesh;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{Tetrahedron, TriMesh, TriMeshBuilderError, TriMeshFlags};
use std::collections::BTreeMap;

/// A surface that follows tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Corners of its triangles, seen from outside.
    pub triangles: Vec<[u32; 3]>,
    holds: Vec<Hold>,
}

/// What holds a vertex of a skin.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hold {
    corners: [u32; 4],
    weights: [f64; 4],
}

impl SolidMesh {
    /// Fills a closed surface with tetrahedra about `spacing` (m) large. A surface that is inside out is
    /// turned; one with a hole, or an edge of more than two triangles, is refused.
    pub fn filled(
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
        spacing: f64,
    ) -> Result<SolidMesh, DeformableError> {
        let refused = |problem: String| DeformableError::Value { field: "surface", problem };
        let mesh = Mesh::new(vertices, triangles).map_err(|e| refused(e.to_string()))?;
        if let Some([i, j]) = open_edge(&mesh.triangles) {
            let [a, b] = [i, j].map(|i| mesh.vertices[i as usize]);
            return Err(refused(format!(
                "only a closed surface can be filled, in which every edge has two triangles; \
                 that from {a} to {b} has not"
            )));
        }
        let low = mesh.vertices.iter().fold(Vec3::INFINITY, |low, v| low.min(*v));
        let high = mesh.vertices.iter().fold(Vec3::NEG_INFINITY, |high, v| high.max(*v));
        let parts = Parts::new(&mesh).map_err(|e| refused(e.to_string()))?;
        let distance = |p: Vec3| parts.distance(p);
        stuff_between(&distance, (low, high), spacing)
    }
}

/// A surface in pieces that do not hang together. Models are put together of such, one stuck into the other, so
/// what they enclose is the union of the pieces, less those within others that are inside out: hollows.
struct Parts {
    solids: Vec<TriMesh>,
    hollows: Vec<TriMesh>,
}

impl Parts {
    fn new(mesh: &Mesh) -> Result<Parts, TriMeshBuilderError> {
        let surface = |triangles: Vec<[u32; 3]>| {
            TriMesh::with_flags(mesh.vertices.clone(), triangles, TriMeshFlags::ORIENTED)
        };
        let mut parts = Parts { solids: Vec::new(), hollows: Vec::new() };
        let (outward, inward): (Vec<_>, Vec<_>) =
            pieces(mesh).into_iter().partition(|piece| enclosed(&mesh.vertices, piece) > 0.0);
        for piece in outward {
            parts.solids.push(surface(piece)?);
        }
        let mut turned = Vec::new();
        for piece in inward {
            let within = |p: Vec3| parts.solids.iter().any(|solid| signed_distance(solid, p) < 0.0);
            if piece.iter().flatten().all(|&i| within(mesh.vertices[i as usize])) {
                parts.hollows.push(surface(piece)?);
            } else {
                turned.push(surface(piece.iter().map(|&[a, b, c]| [a, c, b]).collect())?);
            }
        }
        parts.solids.append(&mut turned);
        Ok(parts)
    }

    /// Of the union of all solids, less the hollows.
    fn distance(&self, p: Vec3) -> f64 {
        let solid = self.solids.iter().map(|s| signed_distance(s, p)).fold(f64::INFINITY, f64::min);
        self.hollows.iter().map(|hollow| signed_distance(hollow, p)).fold(solid, f64::max)
    }
}

/// Negative behind the triangles that are nearest.
fn signed_distance(surface: &TriMesh, p: Vec3) -> f64 {
    let nearest = surface.project_local_point(p, false);
    let gap = nearest.point.distance(p);
    if nearest.is_inside { -gap } else { gap }
}

/// Triangles that hang together by their corners, in the order of their first ones.
fn pieces(mesh: &Mesh) -> Vec<Vec<[u32; 3]>> {
    let mut leader: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    fn lead(leader: &mut [u32], mut i: u32) -> u32 {
        while leader[i as usize] != i {
            leader[i as usize] = leader[leader[i as usize] as usize];
            i = leader[i as usize];
        }
        i
    }
    for t in &mesh.triangles {
        for k in 1..3 {
            let (a, b) = (lead(&mut leader, t[0]), lead(&mut leader, t[k]));
            leader[a.max(b) as usize] = a.min(b);
        }
    }
    let mut pieces: BTreeMap<u32, Vec<[u32; 3]>> = BTreeMap::new();
    for t in &mesh.triangles {
        pieces.entry(lead(&mut leader, t[0])).or_default().push(*t);
    }
    pieces.into_values().collect()
}

/// Volume inside a closed surface, m³; negative where it is inside out.
fn enclosed(vertices: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let x = |i: u32| vertices[i as usize];
    triangles.iter().map(|&[a, b, c]| x(a).dot(x(b).cross(x(c))) / 6.0).sum()
}

/// An edge that does not have exactly one triangle on either side.
fn open_edge(triangles: &[[u32; 3]]) -> Option<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    let twice = edges.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    twice.or_else(|| edges.iter().copied().find(|[a, b]| edges.binary_search(&[*b, *a]).is_err()))
}

impl Skin {
    /// Ties a surface to tetrahedra at rest.
    pub fn new(
        mesh: &SolidMesh,
        vertices: &[Vec3],
        triangles: &[[u32; 3]],
    ) -> Result<Skin, DeformableError> {
        let count = vertices.len();
        for (triangle, t) in triangles.iter().enumerate() {
            if t.iter().any(|&i| i as usize >= count) {
                return Err(DeformableError::Triangle { triangle, vertices: *t });
            }
        }
        if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(DeformableError::NotFinite { vertex });
        }
        let corners = |t: &[u32; 4]| t.map(|i| mesh.positions[i as usize]);
        let bounds = mesh.tetrahedra.iter().map(|t| {
            let [a, b, c, d] = corners(t);
            Aabb::new(a.min(b).min(c).min(d), a.max(b).max(c).max(d))
        });
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &bounds.collect::<Vec<_>>());
        let hold = |p: Vec3| {
            let nearest = tree.find_best(
                f64::MAX,
                |node, _| node.aabb().distance_to_local_point(p, true),
                |leaf, _| {
                    let [a, b, c, d] = corners(&mesh.tetrahedra[leaf as usize]);
                    let inside = Tetrahedron::new(a, b, c, d).project_local_point(p, true);
                    Some((inside.point.distance(p), ()))
                },
            );
            let corners = mesh.tetrahedra[nearest.map_or(0, |(leaf, _)| leaf as usize)];
            Hold { corners, weights: weights(&mesh.positions, &corners, p) }
        };
        if mesh.tetrahedra.is_empty() {
            return Err(DeformableError::Empty);
        }
        Ok(Skin {
            triangles: triangles.to_vec(),
            holds: vertices.iter().map(|p| hold(*p)).collect(),
        })
    }

    /// Where its vertices are, or how fast they move, when those of the tetrahedra are or move so.
    pub fn follow(&self, tetrahedra: &[Vec3]) -> Vec<Vec3> {
        let at = |i: u32| tetrahedra.get(i as usize).copied().unwrap_or_default();
        let place = |hold: &Hold| (0..4).map(|k| hold.weights[k] * at(hold.corners[k])).sum();
        self.holds.iter().map(place).collect()
    }
}

/// Barycentric coordinates of a point, inside or outside.
fn weights(x: &[Vec3], t: &[u32; 4], p: Vec3) -> [f64; 4] {
    let whole = volume(x, t);
    let [a, b, c, d] = t.map(|i| x[i as usize]);
    let part = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| (b - a).dot((c - a).cross(d - a)) / 6.0;
    let [wb, wc, wd] = [part(a, p, c, d), part(a, b, p, d), part(a, b, c, p)].map(|v| v / whole);
    [1.0 - wb - wc - wd, wb, wc, wd]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat3, Quat};

    /// A ball of triangles: a cube cut n times along its edges and blown up, with dents of depth `dent`.
    fn ball(n: u32, dent: f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for face in 0..6 {
            let (axis, side) = (face / 2, if face % 2 == 0 { -1.0 } else { 1.0 });
            let first = vertices.len() as u32;
            for i in 0..=n {
                for j in 0..=n {
                    let [u, v] = [i, j].map(|k| 2.0 * f64::from(k) / f64::from(n) - 1.0);
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    let p = Vec3::from_array(p).normalize();
                    vertices.push(p * (1.0 - dent * (1.0 + (5.0 * p.x).sin() * (4.0 * p.y).sin())));
                }
            }
            for i in 0..n {
                for j in 0..n {
                    let at = |i: u32, j: u32| first + i * (n + 1) + j;
                    let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                    let quad = [[a, b, c], [a, c, d]];
                    triangles.extend(if side > 0.0 {
                        quad
                    } else {
                        quad.map(|[a, b, c]| [a, c, b])
                    });
                }
            }
        }
        (vertices, triangles)
    }

    #[test]
    fn a_closed_surface_is_filled_to_second_order_with_good_tetrahedra() {
        for dent in [0.0, 0.15] {
            let (vertices, triangles) = ball(24, dent);
            let whole = enclosed(&vertices, &triangles);
            let mut errors = Vec::new();
            for spacing in [0.4, 0.2, 0.1] {
                let quality = SolidMesh::filled(&vertices, &triangles, spacing).unwrap().quality();
                assert!(
                    quality.smallest_angle > 5.0 && quality.smallest_volume > 0.0,
                    "{quality:?}"
                );
                errors.push((quality.volume / whole - 1.0).abs());
            }
            assert!(errors[1] < 0.35 * errors[0] && errors[2] < 0.35 * errors[1], "{errors:?}");
            assert!(errors[2] < 0.005, "{errors:?}");
        }
    }

    #[test]
    fn surfaces_inside_out_are_turned_and_open_ones_refused() {
        let (vertices, triangles) = ball(6, 0.0);
        let inside_out: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        let right = SolidMesh::filled(&vertices, &triangles, 0.3).unwrap();
        let turned = SolidMesh::filled(&vertices, &inside_out, 0.3).unwrap();
        assert!((turned.volume() / right.volume() - 1.0).abs() < 1e-12);
        let open = SolidMesh::filled(&vertices, &triangles[1..], 0.3).unwrap_err().to_string();
        assert!(open.contains("closed surface") && open.contains("that from"), "{open}");
        assert!(SolidMesh::filled(&vertices, &triangles, 5.0).is_err(), "too coarse");
        assert!(SolidMesh::filled(&vertices, &[[0, 1, 999]], 0.3).is_err());
        assert!(SolidMesh::filled(&[Vec3::NAN; 3], &[[0, 1, 2]], 0.3).is_err());
    }

    /// Balls of radius 1 at places, those of negative size inside out.
    fn balls(list: &[(Vec3, f64)]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (ball, faces) = ball(12, 0.0);
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for &(center, size) in list {
            let first = vertices.len() as u32;
            vertices.extend(ball.iter().map(|p| center + size.abs() * *p));
            let turn = |[a, b, c]: [u32; 3]| if size > 0.0 { [a, b, c] } else { [a, c, b] };
            triangles.extend(faces.iter().map(|t| turn(t.map(|i| i + first))));
        }
        (vertices, triangles)
    }

    #[test]
    fn pieces_stuck_into_each_other_are_one_solid_and_hollows_stay_empty() {
        let one = 4.0 / 3.0 * std::f64::consts::PI;
        // of two unit balls a distance 1 apart, the lens has 5/16 of the volume of one
        let cases: [(&[(Vec3, f64)], f64); 5] = [
            (&[(Vec3::ZERO, 1.0), (Vec3::X, 1.0)], (2.0 - 5.0 / 16.0) * one),
            (&[(Vec3::ZERO, 1.0), (Vec3::X, -1.0)], (2.0 - 5.0 / 16.0) * one),
            (&[(Vec3::ZERO, 1.0), (3.0 * Vec3::X, -1.0)], 2.0 * one),
            (&[(Vec3::ZERO, 1.0), (0.1 * Vec3::Y, -0.5)], (1.0 - 0.125) * one),
            (&[(Vec3::ZERO, 1.0), (0.1 * Vec3::Y, 0.5)], one),
        ];
        for (list, volume) in cases {
            let (vertices, triangles) = balls(list);
            let found = SolidMesh::filled(&vertices, &triangles, 0.12).unwrap().volume();
            assert!((found / volume - 1.0).abs() < 0.03, "{list:?}: {found} of {volume}");
        }
    }

    #[test]
    fn a_skin_follows_affine_motion_exactly_and_lies_where_it_was_given() {
        let (vertices, triangles) = ball(10, 0.1);
        let mesh = SolidMesh::filled(&vertices, &triangles, 0.25).unwrap();
        let skin = Skin::new(&mesh, &vertices, &triangles).unwrap();
        let turn = Mat3::from_quat(Quat::from_rotation_z(1.0));
        let stretch = Mat3::from_diagonal(Vec3::new(2.0, 0.5, 1.5)) * turn;
        let shift = Vec3::new(3.0, -2.0, 1.0);
        for (map, shift) in [(Mat3::IDENTITY, Vec3::ZERO), (stretch, shift)] {
            let moved: Vec<Vec3> = mesh.positions.iter().map(|x| map * *x + shift).collect();
            for (place, rest) in skin.follow(&moved).iter().zip(&vertices) {
                assert!(place.distance(map * *rest + shift) < 1e-12);
            }
        }
        // held by what is near: where one tetrahedron moves alone, the skin far from it stays
        let far = skin.holds.iter().zip(&vertices);
        for (hold, rest) in far {
            let middle: Vec3 = hold.corners.iter().map(|&i| mesh.positions[i as usize] / 4.0).sum();
            assert!(middle.distance(*rest) < 0.5, "{middle} holds {rest}");
            assert!(hold.weights.iter().all(|w| w.abs() < 4.0), "{hold:?}");
        }
        assert!(Skin::new(&mesh, &vertices, &[[0, 1, 9999]]).is_err());
        assert!(Skin::new(&SolidMesh::default(), &vertices, &triangles).is_err());
    }
}
