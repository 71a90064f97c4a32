//! Trees held in the coordinates of their joints.

use crate::{cuboid, run, world};
use thirdlaw::{
    Axis, AxisSettings, Body, BodyId, Drive, Enforcement, Groups, Joint, JointId, Mass, Mat3, Quat,
    Side, Twist, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;

/// A world whose joints are held in coordinates.
pub fn reduced(g: f64, substeps: u32) -> World {
    held(g, substeps, Enforcement::Reduced)
}

pub fn held(g: f64, substeps: u32, enforcement: Enforcement) -> World {
    let mut world = world(g);
    let mut settings = *world.settings();
    (settings.substeps, settings.joints.enforcement) = (substeps, enforcement);
    settings.sleeping = false;
    world.set_settings(settings).unwrap();
    world
}

/// Steps and checks that every substep was taken in coordinates.
pub fn run_reduced(world: &mut World, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as usize {
        let report = world.step(dt).unwrap();
        assert_eq!(report.reduced_substeps, world.settings().substeps * report.islands);
    }
}

/// A bar of 1 kg that touches nothing.
pub fn bar(world: &mut World, x: f64, y: f64, z: f64) -> BodyId {
    let mut body = Body::dynamic(cuboid(0.2, 0.06, 0.04)).at(x, y, z).mass(1.0);
    body.groups = Groups { member: 0, collides: 0 };
    world.add_body(body).unwrap()
}

/// A tree with a joint of every kind, some of them the wrong way round, on the world or floating.
pub fn every_kind(world: &mut World, anchored: bool) -> Vec<BodyId> {
    let trunk = bar(world, 0.0, 0.0, 0.0);
    let mut bodies = vec![trunk];
    if anchored {
        world.add_joint(Joint::ball(Side::World, trunk).at(-0.2, 0.0, 0.0)).unwrap();
    }
    let mut limb = |world: &mut World, on: BodyId, to: Vec3, make: &dyn Fn(Side, Side) -> Joint| {
        let from = world.center(on).unwrap();
        let id = bar(world, to.x, to.y, to.z);
        let middle = 0.5 * (from + to);
        let joint = make(on.into(), id.into()).at(middle.x, middle.y, middle.z);
        world.add_joint(joint).unwrap();
        bodies.push(id);
        id
    };
    let axis = Vec3::new(0.3, 0.2, 0.9).normalize();
    let hinge = limb(world, trunk, Vec3::new(0.4, 0.1, 0.0), &|a, b| Joint::hinge(a, b).axis(axis));
    limb(world, hinge, Vec3::new(0.8, 0.1, 0.1), &|a, b| Joint::universal(b, a).axis(axis));
    let slider =
        limb(world, trunk, Vec3::new(0.0, 0.4, 0.0), &|a, b| Joint::slider(b, a).axis(axis));
    limb(world, slider, Vec3::new(0.1, 0.8, 0.0), &|a, b| Joint::cylindrical(a, b).axis(axis));
    let planar =
        limb(world, trunk, Vec3::new(0.0, -0.4, 0.1), &|a, b| Joint::planar(a, b).axis(axis));
    limb(world, planar, Vec3::new(0.0, -0.8, 0.1), &|a, b| Joint::ball(b, a));
    let fixed = limb(world, trunk, Vec3::new(0.0, 0.0, 0.4), &|a, b| Joint::fixed(b, a));
    limb(world, fixed, Vec3::new(0.1, 0.0, 0.7), &|a, b| {
        let mut axes = <[AxisSettings; 6]>::default();
        (axes[0], axes[4]) = (AxisSettings::locked(), AxisSettings::locked());
        Joint::six_axis(b, a, axes)
    });
    // everything swings
    for (i, &id) in bodies.iter().enumerate() {
        let x = i as f64;
        let angular = Vec3::new((1.0 + x).sin(), (2.0 + x).cos(), (0.5 * x).sin());
        let linear = Vec3::new((3.0 * x).cos(), (1.5 * x).sin(), 0.3);
        world.set_velocity(id, Twist { linear, angular: 2.0 * angular }).unwrap();
    }
    bodies
}

pub fn total(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

pub fn places(world: &World, bodies: &[BodyId]) -> Vec<Vec3> {
    bodies.iter().map(|&id| world.center(id).unwrap()).collect()
}

pub fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

#[test]
fn a_tree_of_every_kind_moves_as_positions_and_impulses_say_to_second_order() {
    for anchored in [true, false] {
        let mut tree = reduced(9.81, 16);
        let bodies = every_kind(&mut tree, anchored);
        run_reduced(&mut tree, 0.5, FRAME);
        let exact = places(&tree, &bodies);
        assert!(measure::joint_error(&tree) < 1e-14, "{}", measure::joint_error(&tree));
        let off = [8, 16, 32].map(|substeps| {
            let mut other = held(9.81, substeps, Enforcement::Stabilized);
            let bodies = every_kind(&mut other, anchored);
            run(&mut other, 0.5, FRAME);
            apart(&exact, &places(&other, &bodies))
        });
        println!("anchored {anchored}: {off:?}");
        for pair in off.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((1.7..2.3).contains(&order), "anchored {anchored}: {off:?}");
        }
        assert!(off[2] < 1e-3, "{off:?}");
    }
}

#[test]
fn coordinates_are_of_fourth_order_and_keep_energy() {
    let mut fine = reduced(9.81, 128);
    let bodies = every_kind(&mut fine, true);
    run_reduced(&mut fine, 0.5, FRAME);
    let exact = places(&fine, &bodies);
    let off = [8, 16, 32].map(|substeps| {
        let mut world = reduced(9.81, substeps);
        let bodies = every_kind(&mut world, true);
        run_reduced(&mut world, 0.5, FRAME);
        apart(&exact, &places(&world, &bodies))
    });
    println!("{off:?}");
    for pair in off.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.5..4.6).contains(&order), "{order}: {off:?}");
    }
    let mut world = reduced(9.81, 8);
    let mut before = Side::World;
    for i in 0..6 {
        let x = 0.4 * f64::from(i);
        let id = bar(&mut world, x + 0.2, 0.0, 0.0);
        let axis = Vec3::new(0.0, 0.3 * f64::from(i), 1.0);
        let joint = if i % 2 == 0 { Joint::hinge(before, id) } else { Joint::ball(before, id) };
        world.add_joint(joint.axis(axis).at(x, 0.0, 0.0)).unwrap();
        before = id.into();
    }
    let before = total(&world);
    let mut drift = 0.0_f64;
    for _ in 0..300 {
        run_reduced(&mut world, FRAME, FRAME);
        drift = drift.max((total(&world) - before).abs());
    }
    println!("energy drifts by {drift:.1e} J in 5 s");
    assert!(drift < 1e-3, "{drift}");
}

#[test]
fn a_floating_tree_keeps_its_momentum_to_rounding() {
    let mut world = reduced(0.0, 8);
    let bodies = every_kind(&mut world, false);
    for &id in &world.joints().collect::<Vec<JointId>>() {
        let model = world.joint(id).unwrap();
        let hinge = matches!(model.joint.kind, thirdlaw::JointKind::Hinge);
        if hinge {
            let drive = Drive::pd(50.0, 2.0).at(0.7);
            world.set_drive(id, Axis::TurnX, Some(drive)).unwrap();
        }
    }
    world.step(FRAME).unwrap();
    let before = measure::momentum(&world);
    run_reduced(&mut world, 1000.0 * FRAME, FRAME);
    let after = measure::momentum(&world);
    let linear = before.0.distance(after.0) / before.0.length();
    let angular = before.1.distance(after.1) / before.1.length();
    println!("{} bodies: linear {linear:.1e}, angular {angular:.1e}", bodies.len());
    assert!(linear < 1e-12 && angular < 1e-10, "{linear} {angular}");
}

#[test]
fn a_double_pendulum_is_where_it_should_be_to_nine_digits() {
    let mut world = reduced(9.81, 8);
    let mut bodies = Vec::new();
    let mut top = Vec3::ZERO;
    for (length, inertia, angle) in [(1.0, 0.083, 1.0), (2.0, 0.33, 2.0)] {
        let turn = Quat::from_rotation_z(angle);
        let mut body = Body::dynamic(cuboid(0.05, 0.5 * length, 0.05));
        body.pose.translation = top + turn * Vec3::NEG_Y * (0.5 * length);
        body.pose.rotation = turn;
        if bodies.is_empty() {
            top = turn * Vec3::NEG_Y;
        }
        let moments = Mat3::from_diagonal(Vec3::splat(inertia));
        body.mass = Mass::Explicit { mass: 1.0, center: Vec3::ZERO, inertia: moments };
        bodies.push(world.add_body(body).unwrap());
    }
    let first = world.add_joint(Joint::hinge(Side::World, bodies[0]).axis(Vec3::Z)).unwrap();
    let second = Joint::hinge(bodies[0], bodies[1]).axis(Vec3::Z).at(top.x, top.y, 0.0);
    let second = world.add_joint(second).unwrap();
    for (time, q) in [
        (1.0, [-0.261795138, -0.570563034]),
        (2.0, [-0.134295287, -1.294393692]),
        (5.0, [-0.287455778, -1.467708639]),
    ] {
        let left = time - world.time();
        run_reduced(&mut world, left, 0.01);
        let angle = |id: JointId| world.joint_reading(id).unwrap().coordinate(Axis::TurnX) + 1.0;
        let off = [angle(first) - q[0], angle(second) - q[1]];
        println!("{time}: {off:?}");
        assert!(off.iter().all(|x| x.abs() < 2e-9), "{time}: {off:?}");
    }
}
