//! Signed distances against definitions: sampled surfaces, and a second implementation.

use super::{Random, shapes};
use crate::collide::deformable::*;
use crate::math::{Pose, Vec3};
use crate::shape::Shape;

const FAR: f64 = 100.0;

#[test]
fn the_distance_is_that_of_an_independent_implementation() {
    let mut random = Random(7);
    for (name, shape) in shapes() {
        for _ in 0..2000 {
            let p = random.vector() * 2.0;
            let surface = signed_distance(&shape, p, FAR).expect("within reach");
            let outside = surface.distance > 1e-9;
            // parry: exact outside; inside, it says where it ends without naming the depth
            let other = shape.parry().distance_to_local_point(p, true);
            let own = surface.distance.max(0.0);
            let tolerance = if name == "mesh" && !outside { f64::INFINITY } else { 1e-9 };
            assert!((other - own).abs() < tolerance, "{name} at {p}: {own}, parry {other}");
        }
    }
}

#[test]
fn normal_and_point_belong_to_the_distance() {
    let mut random = Random(8);
    for (name, shape) in shapes() {
        for _ in 0..2000 {
            let p = random.vector() * 1.5;
            let s = signed_distance(&shape, p, FAR).expect("within reach");
            assert!((s.normal.length() - 1.0).abs() < 1e-9, "{name}: a unit normal");
            assert!((s.normal.dot(p - s.point) - s.distance).abs() < 1e-9, "{name} at {p}");
            // the point is on the surface, and a step along the normal leaves the solid
            let on = signed_distance(&shape, s.point, FAR).expect("on the surface");
            assert!(on.distance.abs() < 1e-8, "{name} at {p}: {}", on.distance);
            let out = signed_distance(&shape, s.point + s.normal * 1e-5, FAR).expect("near");
            assert!(out.distance > 0.0, "{name} at {p}: {}", out.distance);
        }
    }
}

#[test]
fn no_surface_point_is_nearer_than_the_distance_inside() {
    let mut random = Random(9);
    for (name, shape) in shapes() {
        if name == "compound" || name == "half space" {
            continue;
        }
        let (vertices, triangles) = shape.surface(256);
        let samples: Vec<Vec3> = triangles
            .iter()
            .flat_map(|t| {
                let [a, b, c] = t.map(|i| vertices[i as usize]);
                [a, b, c, (a + b + c) / 3.0, (a + b) / 2.0]
            })
            .collect();
        for _ in 0..200 {
            let p = random.vector() * 0.6;
            let s = signed_distance(&shape, p, FAR).expect("within reach");
            let least = samples.iter().map(|q| q.distance(p)).fold(f64::INFINITY, f64::min);
            assert!(least > s.distance.abs() - 2e-4, "{name} at {p}: {} {least}", s.distance);
        }
    }
}

#[test]
fn every_point_has_a_normal_also_where_all_are_as_good() {
    for (name, shape) in shapes() {
        for p in [Vec3::ZERO, Vec3::Y * 0.1, Vec3::new(0.0, -0.5, 0.0), Vec3::splat(0.5)] {
            let s = signed_distance(&shape, p, FAR).expect("within reach");
            assert!((s.normal.length() - 1.0).abs() < 1e-9, "{name} at {p}");
        }
        assert!(signed_distance(&shape, Vec3::splat(f64::NAN), FAR).is_none());
        assert!(signed_distance(&shape, Vec3::Y * f64::INFINITY, FAR).is_none());
    }
}

#[test]
fn a_needle_tells_inside_from_outside_at_its_tip() {
    // seen from beside its tip, the face that looks away most looks the other way
    let r = 0.01;
    let ring: [Vec3; 3] = std::array::from_fn(|k| {
        let angle = std::f64::consts::TAU * k as f64 / 3.0;
        Vec3::new(r * libm::cos(angle), -1.0, r * libm::sin(angle))
    });
    let vertices = [ring[0], ring[1], ring[2], Vec3::ZERO];
    let mesh =
        Shape::mesh(&vertices, &[[0, 2, 3], [2, 1, 3], [1, 0, 3], [0, 1, 2]]).expect("a needle");
    let mut random = Random(3);
    for _ in 0..500 {
        let d = random.vector();
        let p = Vec3::new(d.x, d.y.abs() + 0.03, d.z);
        let s = signed_distance(&mesh, p, FAR).expect("within reach");
        assert!((s.distance - p.length()).abs() < 1e-6, "at {p}: {}", s.distance);
    }
}

#[test]
fn an_open_mesh_is_solid_behind_its_face_and_open_beside_its_rim() {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)];
    let mesh = Shape::mesh(&corners, &[[0, 2, 1], [1, 2, 3]]).expect("a floor");
    let at = |x: f64, y: f64, z: f64| signed_distance(&mesh, Vec3::new(x, y, z), 0.1);
    assert!((at(0.4, 0.05, 0.4).expect("above").distance - 0.05).abs() < 1e-12);
    let below = at(0.4, -0.05, 0.4).expect("below");
    assert!((below.distance + 0.05).abs() < 1e-12 && (below.normal - Vec3::Y).length() < 1e-12);
    assert!(at(0.4, -0.11, 0.4).is_none(), "far below there is nothing");
    assert!(at(-0.03, -0.04, 0.5).is_some_and(|s| (s.distance - 0.05).abs() < 1e-12), "beside");
    assert!((at(0.5, 0.0, 0.5).expect("on it").normal - Vec3::Y).length() < 1e-12);
}

#[test]
fn inside_a_compound_the_way_leads_out_of_all_parts() {
    // two boxes side by side: the face between them is no way out
    let cube = Shape::cuboid(Vec3::splat(0.5)).expect("a cube");
    let at = |x: f64| Pose::from_parts(Vec3::X * x, crate::math::Quat::IDENTITY);
    let pair = Shape::compound(&[(at(-0.5), cube.clone()), (at(0.5), cube)]).expect("a pair");
    let s = signed_distance(&pair, Vec3::new(0.05, 0.3, 0.0), FAR).expect("inside");
    assert!((s.distance + 0.2).abs() < 1e-6, "{}", s.distance);
    assert!((s.normal - Vec3::Y).length() < 1e-12, "{}", s.normal);
    let s = signed_distance(&pair, Vec3::new(-0.02, 0.1, 0.2), FAR).expect("inside");
    assert!((s.distance + 0.3).abs() < 1e-6 && (s.normal - Vec3::Z).length() < 1e-12);
}
