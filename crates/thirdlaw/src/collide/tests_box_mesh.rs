//! The short way of a box on a mesh against the general one.

use super::box_mesh::BoxOnMesh;
use super::box_triangle_closest::closest_points;
use super::boxes_clip::{Facing, FacingPoint};
use super::narrow::{NarrowScratch, collide};
use super::tests::Dice;
use super::{Manifold, Point};
use crate::math::{Mat3, Pose, Quat, Vec3, rotation_from_vector};
use crate::shape::{Geometry, Mesh, Shape};
use parry3d_f64::query::distance;
use parry3d_f64::shape::{Cuboid, Triangle};

fn mesh_of(shape: &Shape) -> &Mesh {
    let Geometry::Mesh(mesh) = shape.geometry() else { panic!("a mesh") };
    mesh
}

/// How often both ways had the same to say, by what touched.
#[derive(Default, Debug)]
struct Compared {
    /// Along a normal of the mesh, of the box, square to an edge of the box, and neither.
    by_ground: usize,
    by_box: usize,
    by_edge: usize,
    by_corner: usize,
    none: usize,
}

const MARGIN: f64 = 0.02;

/// A box of one shape and a mesh at rest at the origin.
fn compare(ground: &Shape, half: Vec3, pose: &Pose, seen: &mut Compared) {
    let solid = Shape::cuboid(half).unwrap();
    let mut expected: Vec<(u32, Manifold)> = Vec::new();
    let scratch = &mut NarrowScratch::default();
    let here = Pose::IDENTITY;
    collide(ground, &here, &solid, pose, MARGIN, scratch, &mut |i, _, m| expected.push((i, *m)));
    let turn = Mat3::from_quat(pose.rotation);
    let pair = BoxOnMesh::with_axes(half, &turn, -pose.translation, MARGIN);
    let mut candidates = Vec::new();
    pair.candidates(mesh_of(ground), &mut candidates);
    assert!(expected.iter().all(|(i, _)| candidates.contains(i)), "{candidates:?}");
    for i in candidates {
        let mut facing = Facing::default();
        let touches = pair.touch(mesh_of(ground), i as usize, &mut facing);
        let general = expected.iter().find(|(k, _)| *k == i).map(|(_, m)| *m);
        let what = || format!("{half:?} {pose:?} triangle {i}: {facing:?}\n{general:?}");
        let found = &facing.points[..facing.count];
        let Some(general) = general else {
            assert!(!touches, "{}", what());
            seen.none += 1;
            continue;
        };
        assert!(touches, "{}", what());
        // both anchors are the ends of the gap
        for p in found {
            let slip = pose.translation + turn * p.on_b - p.on_a - facing.normal * p.separation;
            assert!(slip.length() < 1e-8, "{}", what());
        }
        assert!(facing.normal.distance(general.normal) < 1e-9, "{}", what());
        assert!(same(found, &general, turn, pose), "{}", what());
        let n = (turn.transpose() * facing.normal).abs();
        let is_own = mesh_of(ground).normals.iter().any(|own| own.dot(facing.normal) > 1.0 - 1e-12);
        *(if is_own {
            &mut seen.by_ground
        } else if n.max_element() > 1.0 - 1e-12 {
            &mut seen.by_box
        } else if n.min_element() < 1e-9 {
            &mut seen.by_edge
        } else {
            &mut seen.by_corner
        }) += 1;
    }
}

/// Whether points are the same in number, place, gap and features.
fn same(found: &[FacingPoint], general: &Manifold, turn: Mat3, pose: &Pose) -> bool {
    let is_same = |p: &FacingPoint| {
        let on_b = pose.translation + turn * p.on_b;
        general.points().iter().any(|q: &Point| {
            q.feature == p.feature
                && (q.separation - p.separation).abs() < 1e-9
                && q.core_a.distance(p.on_a) < 1e-8
                && q.core_b.distance(on_b) < 1e-8
        })
    };
    found.len() == general.count && found.iter().all(is_same)
}

/// Hills of a height field, and a closed mesh with sharp edges.
fn grounds(dice: &mut Dice) -> [Shape; 2] {
    let heights: Vec<f64> = (0..49).map(|_| 0.5 * dice.roll()).collect();
    let hills = Shape::height_field(7, 7, &heights, Vec3::new(4.5, 1.0, 4.5)).unwrap();
    let corners: Vec<Vec3> = [Vec3::X, Vec3::Y, Vec3::Z]
        .iter()
        .flat_map(|&axis| [axis, -axis])
        .map(|axis| (1.2 + 0.4 * dice.roll()) * axis)
        .collect();
    // +x −x +y −y +z −z
    let sides =
        [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    [hills, Shape::mesh(&corners, &sides).unwrap()]
}

#[test]
fn a_box_meets_triangles_as_any_two_pieces() {
    let mut dice = Dice(17);
    let mut seen = Compared::default();
    for round in 0..150 {
        let [hills, crystal] = grounds(&mut dice);
        for place in 0..60 {
            let half = if place % 2 == 0 {
                Vec3::splat(0.25)
            } else {
                Vec3::splat(0.06) + dice.vector(0.35).abs()
            };
            let (ground, at) = if round % 3 == 0 {
                (&crystal, dice.vector(1.0).normalize() * (0.9 + 0.6 * dice.roll()))
            } else {
                (&hills, dice.vector(1.8) * Vec3::new(1.0, 0.4, 1.0) + Vec3::Y * 0.5)
            };
            // anyhow, a face along a triangle with a little tilt, or a corner over an edge
            let mesh = mesh_of(ground);
            let triangle = (dice.roll() * mesh.normals.len() as f64) as usize;
            let normal = mesh.normals[triangle];
            let anyhow = rotation_from_vector(dice.vector(3.0));
            let pose = match place % 3 {
                0 => Pose::from_parts(at, anyhow),
                1 => {
                    let tilt = rotation_from_vector(dice.vector([0.0, 1e-6, 0.02, 0.3][place % 4]));
                    let along = Quat::from_rotation_arc(Vec3::Y, normal);
                    let turned = tilt * along * Quat::from_rotation_y(3.0 * dice.roll());
                    Pose::from_parts(at, turned.normalize())
                }
                _ => {
                    let corners = mesh.corners(triangle);
                    let [from, to] = [0, 1].map(|k| corners[(place + k) % 3]);
                    let t = (1.4 * dice.roll() - 0.2).clamp(0.0, 1.0);
                    let up = (normal + dice.vector(0.4)).normalize();
                    let lowest = -half * (anyhow.inverse() * up).signum();
                    let gap = 0.02 * (dice.roll() - 0.1);
                    Pose::from_parts(from + (to - from) * t + up * gap - anyhow * lowest, anyhow)
                }
            };
            compare(ground, half, &pose, &mut seen);
        }
    }
    let Compared { by_ground, by_box, by_edge, by_corner, none } = seen;
    let all = [by_ground, by_box, by_edge, by_corner, none];
    assert!(all.iter().all(|&count| count > 200), "{seen:?}");
}

/// Seen from either side a contact is the same.
#[test]
fn a_mesh_below_and_a_mesh_above_agree() {
    let mut facing = Facing::default();
    let floor = Shape::height_field(2, 2, &[0.0; 4], Vec3::new(2.0, 1.0, 2.0)).unwrap();
    let between = Vec3::new(0.1, -0.19, 0.2);
    let pair = BoxOnMesh::with_axes(Vec3::splat(0.2), &Mat3::IDENTITY, between, MARGIN);
    assert!(pair.touch(mesh_of(&floor), 0, &mut facing));
    let before = facing;
    assert_eq!(before.normal, Vec3::Y);
    facing.flip();
    assert_eq!(facing.normal, -Vec3::Y);
    for (p, q) in facing.points.iter().zip(&before.points).take(before.count) {
        assert_eq!((p.on_a, p.on_b, p.separation), (q.on_b, q.on_a, q.separation));
        assert!((p.separation + 0.01).abs() < 1e-12, "{p:?}");
    }
}

/// The closest points are as far apart as the collision library says, on either surface, and none are
/// named where both touch.
#[test]
fn closest_points_of_a_box_and_a_triangle_are_the_closest() {
    let mut dice = Dice(23);
    let (mut apart, mut touching) = (0, 0);
    for round in 0..20_000 {
        let half = Vec3::splat(0.05) + dice.vector(0.4).abs();
        let mut corners = [dice.vector(1.0), dice.vector(1.0), dice.vector(1.0)];
        if round % 5 == 0 {
            // an edge along a face
            corners[1].x = corners[0].x;
        }
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize();
        if half.dot(normal.abs()) < normal.dot(a) {
            continue;
        }
        let here = Pose::IDENTITY;
        let expected =
            distance(&here, &Cuboid::new(half), &here, &Triangle::new(a, b, c)).unwrap().distance;
        match closest_points(half, corners, normal, f64::INFINITY) {
            None => {
                touching += 1;
                assert!(expected < 1e-6, "round {round}: {expected}");
            }
            Some([p, q]) => {
                apart += 1;
                assert!(
                    (p.distance(q) - expected).abs() < 1e-6,
                    "round {round}: {expected} {p} {q}"
                );
                assert!((q.abs() - half).max_element() < 1e-12, "round {round}: {q}");
                let plane = normal.dot(p - a);
                let sides = [(a, b), (b, c), (c, a)];
                let outside = |(u, v): (Vec3, Vec3)| (v - u).cross(normal).normalize().dot(p - u);
                let most = sides.map(outside).into_iter().fold(f64::NEG_INFINITY, f64::max);
                assert!(plane.abs() < 1e-12 && most < 1e-12, "round {round}: {plane} {most}");
                // a plane square to the way between them parts both
                let n = (q - p).normalize();
                let parted = -half.dot(n.abs()) - n.dot(a).max(n.dot(b)).max(n.dot(c));
                assert!(parted > p.distance(q) - 1e-9, "round {round}: {parted}");
            }
        }
    }
    assert!(apart > 4_000 && touching > 1_000, "{apart} {touching}");
}
