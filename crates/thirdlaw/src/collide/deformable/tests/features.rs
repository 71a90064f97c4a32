//! Solids against the insides of triangles and edges.

use super::{Random, shapes};
use crate::collide::deformable::*;
use crate::math::{Pose, Quat, Vec3};
use crate::model::body::Groups;
use crate::shape::Shape;
use crate::state::cloth::HitKind;

const TRIANGLE: [[u32; 3]; 1] = [[0, 1, 2]];
const SIDES: [[u32; 2]; 3] = [[0, 1], [1, 2], [0, 2]];

fn solid(shape: &Shape, pose: Pose) -> Solid<'_> {
    Solid { slot: 7, shape, parts: &[], pose, groups: Groups::default(), margin: 0.0 }
}

/// Hits of one triangle: at its corners, and those inside it and its edges.
fn find(x: &[Vec3; 3], solid: Solid<'_>, reach: f64) -> [Vec<Hit>; 2] {
    let particles = Particles { x, reach: &[reach; 3], groups: &[] };
    let (mut corners, mut inside) = (Vec::new(), Vec::new());
    vertex_solid(&particles, &[solid], &mut ParticleScratch::default(), &mut corners);
    Tree::new(x, &TRIANGLE, &SIDES).near_solids(&particles, &[solid], 0.0, &mut inside);
    [corners, inside]
}

/// The least signed distance over a triangle, by looking at many of its points.
fn least(x: &[Vec3; 3], solid: &Solid<'_>) -> f64 {
    const N: usize = 80;
    let mut least = f64::INFINITY;
    for i in 0..=N {
        for j in 0..=N - i {
            let (u, v) = (i as f64 / N as f64, j as f64 / N as f64);
            let p = x[0] * (1.0 - u - v) + x[1] * u + x[2] * v;
            let local = solid.pose.inverse() * p;
            if let Some(s) = signed_distance(solid.shape, local, 100.0) {
                least = least.min(s.distance);
            }
        }
    }
    least
}

#[test]
fn the_nearest_place_of_a_triangle_to_a_convex_solid_is_among_the_hits() {
    let mut random = Random(31);
    for (name, shape) in shapes() {
        if name == "mesh" || name == "half space" {
            continue;
        }
        let (mut apart, mut through) = (0, 0);
        for _ in 0..300 {
            let solid = solid(&shape, Pose::from_parts(Vec3::ZERO, random.rotation()));
            let center = random.vector();
            let x = [(); 3].map(|_| center + random.vector() * 0.8);
            let [corners, inside] = find(&x, solid, 0.4);
            let hits = || corners.iter().chain(&inside);
            let nearest = hits().map(|h| h.distance).fold(f64::INFINITY, f64::min);
            let expected = least(&x, &solid);
            if expected > 0.0 && expected < 0.38 {
                apart += 1;
                // samples miss the nearest place by a little
                let gap = expected - nearest;
                assert!((-1e-9..0.01).contains(&gap), "{name}: {nearest} {expected}");
            } else if expected < -0.02 {
                // through the middle of a thin part there is no way out at once; none here are thin
                through += 1;
                assert!(nearest < 0.0, "{name}: {nearest} {expected} {x:?}");
            }
        }
        assert!(apart > 30 && through > 30, "{name}: {apart} {through}");
    }
}

#[test]
fn weights_points_and_normals_belong_together() {
    let mut random = Random(32);
    let mut count = 0;
    for (name, shape) in shapes() {
        for _ in 0..400 {
            let solid = solid(&shape, random.pose());
            let center = solid.pose.translation + random.vector();
            let x = [(); 3].map(|_| center + random.vector() * 0.8);
            for hit in &find(&x, solid, 0.2)[1] {
                count += 1;
                assert!((hit.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(hit.weights.iter().all(|&w| w > -1e-8 && w < 1.0));
                assert!((hit.normal.length() - 1.0).abs() < 1e-9, "{name}");
                let d = hit.normal.dot(hit.combine(&x) - hit.point) - hit.distance;
                assert!(d.abs() < 1e-9 && hit.distance <= 0.2, "{name}: {d}");
                // out of the solid
                let local = solid.pose.inverse() * hit.point;
                let on = signed_distance(&shape, local, 1.0).expect("near");
                assert!(on.distance.abs() < 1e-6, "{name}: {} {hit:?}", on.distance);
                let out = signed_distance(
                    &shape,
                    local + solid.pose.rotation.inverse() * hit.normal * 1e-4,
                    1.0,
                );
                assert!(out.is_none_or(|s| s.distance > 1e-6), "{name}: {hit:?}");
            }
        }
    }
    assert!(count > 1000);
}

#[test]
fn a_ball_smaller_than_a_triangle_presses_on_its_inside() {
    let ball = Shape::sphere(0.05).expect("a ball");
    let x = [Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0), Vec3::Z];
    for (y, up) in [(0.04, -1.0), (-0.04, 1.0), (0.06, -1.0)] {
        let at = Pose::from_translation(Vec3::new(0.1, y, -0.2));
        let [corners, inside] = find(&x, solid(&ball, at), 0.03);
        assert!(corners.is_empty());
        let [hit] = inside[..] else { panic!("one hit: {inside:?}") };
        assert_eq!(hit.kind, HitKind::TriangleSolid);
        assert!((hit.distance - (y.abs() - 0.05)).abs() < 1e-12);
        assert!((hit.normal - Vec3::Y * up).length() < 1e-12);
        assert!((hit.combine(&x) - Vec3::new(0.1, 0.0, -0.2)).length() < 1e-12);
    }
}

#[test]
fn the_corner_of_a_box_that_pokes_through_is_sent_back_whether_solid_or_mesh() {
    let cube = Shape::cuboid(Vec3::splat(0.2)).expect("a cube");
    let (vertices, triangles) = cube.surface(8);
    let mesh = Shape::mesh(&vertices, &triangles).expect("a cube of triangles");
    let x = [Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0), Vec3::Z];
    // on a corner, which is 0.2·√3 below the middle
    let diagonal = Vec3::ONE.normalize();
    let turn = Quat::from_rotation_arc(diagonal, -Vec3::Y);
    for depth in [-0.02, 0.03] {
        let y = 0.2 * 3f64.sqrt() - depth;
        let pose = Pose::from_parts(Vec3::new(0.0, y, -0.3), turn);
        for shape in [&cube, &mesh] {
            let [_, inside] = find(&x, solid(shape, pose), 0.05);
            let hit = inside.iter().find(|h| h.kind == HitKind::TriangleSolid).expect("a hit");
            assert!((hit.distance + depth).abs() < 1e-12, "{hit:?}");
            assert!((hit.normal + Vec3::Y).length() < 1e-9);
            assert!((hit.combine(&x) - Vec3::new(0.0, 0.0, -0.3)).length() < 1e-9);
        }
    }
}

#[test]
fn a_box_standing_on_a_triangle_is_held_at_its_four_corners() {
    let cube = Shape::cuboid(Vec3::new(0.1, 0.3, 0.1)).expect("a box");
    let x = [Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 0.0, -1.0), Vec3::Z];
    let pose = Pose::from_translation(Vec3::new(0.0, 0.301, -0.4));
    let [_, inside] = find(&x, solid(&cube, pose), 0.01);
    assert_eq!(inside.len(), 4);
    assert!(inside.iter().all(|h| (h.distance - 0.001).abs() < 1e-12));
    let cylinder = Shape::cylinder(0.3, 0.1).expect("a cylinder");
    let [_, inside] = find(&x, solid(&cylinder, pose), 0.01);
    assert_eq!(inside.len(), 3);
}

#[test]
fn an_edge_of_cloth_over_an_edge_of_a_box_is_held_between_its_ends() {
    let cube = Shape::cuboid(Vec3::splat(0.5)).expect("a cube");
    let (vertices, triangles) = cube.surface(8);
    let mesh = Shape::mesh(&vertices, &triangles).expect("a cube of triangles");
    // the edge of the box along z at x = y = 0.5, crossed square to its diagonal
    let out = Vec3::new(1.0, 1.0, 0.0).normalize();
    let side = Vec3::new(1.0, -1.0, 0.0).normalize();
    for height in [0.02, -0.02] {
        let middle = Vec3::new(0.5, 0.5, 0.1) + out * height;
        let x = [middle + side, middle - side * 0.7, middle + out * 3.0];
        for shape in [&cube, &mesh] {
            let [corners, inside] = find(&x, solid(shape, Pose::IDENTITY), 0.05);
            assert!(corners.is_empty());
            let [hit] = inside[..] else { panic!("one hit: {inside:?}") };
            assert_eq!(hit.kind, HitKind::EdgeSolid);
            assert!((hit.distance - height).abs() < 1e-7, "{}", hit.distance);
            assert!((hit.normal - out).length() < 1e-6, "{}", hit.normal);
            assert!((hit.combine(&x) - middle).length() < 1e-6);
        }
    }
}

#[test]
fn what_hardly_sags_is_left_out() {
    let ball = Shape::sphere(1.0).expect("a ball");
    let sag = |length: f64| 1.0 - (1.0 - 0.25 * length * length).sqrt();
    // corners on the ball, the middle of each edge inside by its sag
    let x = [0.0, 0.3, 0.1].map(|z: f64| Vec3::new(z * 0.9, 1.0, z).normalize());
    let x = [x[0], x[1], Vec3::new(0.3, 1.0, -0.1).normalize()];
    let particles = Particles { x: &x, reach: &[0.1; 3], groups: &[] };
    let mut tree = Tree::new(&x, &TRIANGLE, &SIDES);
    let mut out = Vec::new();
    for threshold in [0.0, 0.005, 0.01, 0.02] {
        tree.near_solids(&particles, &[solid(&ball, Pose::IDENTITY)], threshold, &mut out);
        for (k, [i, j]) in SIDES.iter().enumerate() {
            let depth = sag(x[*i as usize].distance(x[*j as usize]));
            let hit = out.iter().find(|h| h.kind == HitKind::EdgeSolid && h.feature[0] == k as u32);
            assert_eq!(hit.is_some(), depth > threshold, "{depth} {threshold}");
            assert!(hit.is_none_or(|h| (h.distance + depth).abs() < 1e-9));
        }
    }
}

#[test]
fn hits_come_in_one_order_for_any_number_of_threads() {
    let mut random = Random(33);
    let shapes = shapes();
    let solids: Vec<Solid<'_>> = shapes
        .iter()
        .enumerate()
        .map(|(k, (_, shape))| Solid {
            slot: k as u32,
            shape,
            parts: &[],
            pose: Pose::from_parts(random.vector(), random.rotation()),
            groups: Groups::default(),
            margin: 0.01,
        })
        .collect();
    let sheet = super::grid(24, 3.0);
    let x: Vec<Vec3> = sheet.rest.iter().map(|&p| p - Vec3::new(1.5, 0.0, 1.5)).collect();
    let reach = vec![0.05; x.len()];
    let particles = Particles { x: &x, reach: &reach, groups: &[] };
    let mut runs = Vec::new();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let mut tree = Tree::new(&sheet.rest, &sheet.triangles, &sheet.edges);
        let mut out = Vec::new();
        pool.install(|| tree.near_solids(&particles, &solids, 0.0, &mut out));
        runs.push(out);
    }
    assert!(runs[0].len() > 60, "{}", runs[0].len());
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
    let mut keys: Vec<_> = runs[0].iter().map(Hit::key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), runs[0].len(), "a key names one hit");
}
