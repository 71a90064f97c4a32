//! Particles against solids.

use super::{Random, shapes};
use crate::collide::deformable::*;
use crate::math::{Pose, Vec3};
use crate::model::body::Groups;
use crate::shape::Shape;

fn solids<'a>(shapes: &'a [(&'static str, Shape)], random: &mut Random) -> Vec<Solid<'a>> {
    let place = |(slot, (_, shape)): (usize, &'a (&'static str, Shape))| Solid {
        slot: slot as u32,
        shape,
        parts: &[],
        pose: random.pose(),
        groups: Groups::default(),
        margin: 0.01,
    };
    shapes.iter().enumerate().map(place).collect()
}

#[test]
fn every_pair_within_reach_is_found_once_and_in_order_for_any_number_of_threads() {
    let mut random = Random(4);
    let shapes = shapes();
    let solids = solids(&shapes, &mut random);
    let x: Vec<Vec3> = (0..3000).map(|_| random.vector() * 4.0).collect();
    let reach: Vec<f64> = (0..3000).map(|k| if k % 10 == 0 { -1.0 } else { 0.2 }).collect();
    let particles = Particles { x: &x, reach: &reach, groups: &[] };
    let mut runs = Vec::new();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let (mut scratch, mut out) = (ParticleScratch::default(), Vec::new());
        pool.install(|| vertex_solid(&particles, &solids, &mut scratch, &mut out));
        runs.push(out);
    }
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
    let mut expected = Vec::new();
    for (i, &p) in x.iter().enumerate() {
        for solid in solids.iter().filter(|_| reach[i] >= 0.0) {
            let local = solid.pose.rotation.inverse() * (p - solid.pose.translation);
            if let Some(s) = signed_distance(solid.shape, local, reach[i] + solid.margin) {
                expected.push((i as u32, solid.slot, s.distance));
            }
        }
    }
    assert!(expected.len() > 300, "a test of something: {}", expected.len());
    assert_eq!(runs[0].len(), expected.len());
    for (hit, (i, slot, distance)) in runs[0].iter().zip(expected) {
        assert_eq!((hit.particles[0], hit.body, hit.count), (i, slot, 1));
        assert!((hit.distance - distance).abs() < 1e-12);
        assert!((hit.normal.dot(hit.combine(&x) - hit.point) - hit.distance).abs() < 1e-9);
    }
}

#[test]
fn groups_keep_particles_and_solids_apart() {
    let ball = Shape::sphere(1.0).expect("a ball");
    let groups = Groups { member: 2, collides: u32::MAX };
    let solid =
        Solid { slot: 3, shape: &ball, parts: &[], pose: Pose::IDENTITY, groups, margin: 0.0 };
    let x = [Vec3::X, Vec3::Y];
    let of = [Groups { member: 1, collides: 1 }, Groups { member: 1, collides: 2 }];
    let particles = Particles { x: &x, reach: &[0.1, 0.1], groups: &of };
    let (mut scratch, mut out) = (ParticleScratch::default(), Vec::new());
    vertex_solid(&particles, &[solid], &mut scratch, &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(out[0].particles[0], 1);
}
