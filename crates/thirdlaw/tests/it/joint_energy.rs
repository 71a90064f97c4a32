//! Springs and soft joints store what they take: kinetic, gravity and elastic energy together stay.

use crate::{cuboid, earth, world};
use thirdlaw::{
    Axis, Body, BodyId, Enforcement, Joint, Mass, Mat3, Point, Pose, Side, Spring, Vec3, World,
    measure,
};

fn sum(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

/// Steps for a second; returns the greatest change of the sum, and the most that was elastic.
fn swing(world: &mut World, dt: f64) -> (f64, f64) {
    let first = sum(world);
    let (mut worst, mut most) = (0.0_f64, 0.0_f64);
    for _ in 0..(1.0 / dt).round() as usize {
        world.step(dt).unwrap();
        worst = worst.max((sum(world) - first).abs());
        most = most.max(measure::energy(world).elastic);
    }
    (worst, most)
}

/// A bar of 1 kg whose inertia is 2 kg·m² about every axis.
fn wheel(world: &mut World) -> BodyId {
    let inertia = Mat3::from_diagonal(Vec3::splat(2.0));
    let body = Body::dynamic(cuboid(0.5, 0.1, 0.1));
    let mass = Mass::Explicit { mass: 1.0, center: Vec3::ZERO, inertia };
    world.add_body(Body { mass, ..body }).unwrap()
}

#[test]
fn a_stretched_spring_has_half_k_x_squared() {
    let mut world = earth();
    let a = world.add_point(Point::new(1.0, Vec3::new(3.0, 0.0, 0.0))).unwrap();
    let kind = thirdlaw::JointKind::Spring { stiffness: 50.0, damping: 0.0, length: Some(2.0) };
    let spring = world.add_joint(Joint::new(kind, Side::World, a)).unwrap();
    assert!((measure::energy(&world).elastic - 25.0).abs() < 1e-12);
    let (worst, most) = swing(&mut world, 1.0 / 240.0);
    assert!(most > 20.0 && worst < 1e-3 * most, "{worst} {most}");
    world.remove_joint(spring).unwrap();
    assert_eq!(measure::energy(&world).elastic, 0.0);
}

#[test]
fn springs_on_coordinates_and_between_frames_count() {
    // θ = 0.5 rad against 8 N·m/rad: 1 J
    let spring = Spring { stiffness: 8.0, damping: 0.0, rest: 0.5 };
    let mut hinged = world(0.0);
    let id = wheel(&mut hinged);
    hinged.add_joint(Joint::hinge(Side::World, id).sprung(Axis::TurnX, spring)).unwrap();
    assert!((measure::energy(&hinged).elastic - 1.0).abs() < 1e-12);
    let (worst, most) = swing(&mut hinged, 1.0 / 60.0);
    assert!(most > 0.9 && worst < 1e-3, "{worst} {most}");

    let mut sliding = world(0.0);
    let id = wheel(&mut sliding);
    sliding.add_joint(Joint::slider(Side::World, id).sprung(Axis::X, spring)).unwrap();
    assert!((measure::energy(&sliding).elastic - 1.0).abs() < 1e-12);
    let (worst, most) = swing(&mut sliding, 1.0 / 60.0);
    assert!(most > 0.9 && worst < 1e-3, "{worst} {most}");

    let mut turning = world(0.0);
    let (a, b) = (wheel(&mut turning), wheel(&mut turning));
    turning.set_pose(b, Pose::from_translation(5.0 * Vec3::X)).unwrap();
    turning.add_joint(Joint::angular_spring(a, b, 8.0, 0.0)).unwrap();
    let velocity = thirdlaw::Twist { linear: Vec3::ZERO, angular: Vec3::new(0.6, 0.4, 0.0) };
    turning.set_velocity(b, velocity).unwrap();
    let (worst, most) = swing(&mut turning, 1.0 / 60.0);
    // half of ½ I ω² is in the relative motion, and all of that is in the spring once
    assert!((most - 0.26).abs() < 1e-4 && worst < 1e-6, "{worst} {most}");
}

#[test]
fn a_soft_rod_stores_its_stretch_and_a_broken_one_nothing() {
    let mut world = earth();
    let bob = world.add_point(Point::new(1.0, Vec3::X)).unwrap();
    let soft = Enforcement::Soft { stiffness: 1e4, damping: 0.0 };
    let rod = world.add_joint(Joint::rod(Side::World, bob, 1.0).enforced(soft)).unwrap();
    let (worst, most) = swing(&mut world, 1.0 / 960.0);
    // 3 m g stretch it most: (29.43 N)²/2k, and the swing along it adds some
    assert!(most > 0.043 && most < 0.2, "{most}");
    assert!(worst < 0.1 * most, "{worst} {most}");
    world.remove_joint(rod).unwrap();
    assert_eq!(measure::energy(&world).elastic, 0.0);
}
