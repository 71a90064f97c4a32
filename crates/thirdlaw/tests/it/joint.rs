//! Joints against known answers.

use crate::{cuboid, earth, run, sphere, world};
use thirdlaw::body::Mass;
use thirdlaw::{
    Axis, Body, BodyId, Joint, JointId, Mat3, Point, Quat, Settings, Side, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;

/// A point mass on a rod, released horizontally at (−1, 0).
fn pendulum() -> (World, thirdlaw::PointId, JointId) {
    let mut world = earth();
    let bob = world.add_point(Point::new(1.0, Vec3::NEG_X)).unwrap();
    let rod = world.add_joint(Joint::rod(Side::World, bob, 1.0)).unwrap();
    (world, bob, rod)
}

/// The largest distance of the pendulum from its exact places at 1 s and 5 s.
fn pendulum_error(dt: f64) -> f64 {
    let (mut world, bob, _) = pendulum();
    let mut error = 0.0_f64;
    for (time, x, y) in [(1.0, 0.9862917511, -0.1650108531), (5.0, -0.9423054350, -0.3347543384)] {
        while world.time() < time - 0.5 * dt {
            world.step(dt).unwrap();
        }
        error = error.max(world.point(bob).unwrap().position.distance(Vec3::new(x, y, 0.0)));
    }
    error
}

#[test]
fn a_pendulum_is_where_it_should_be_to_second_order() {
    let errors = [1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0].map(pendulum_error);
    println!(
        "{errors:?} orders {} {}",
        (errors[0] / errors[1]).log2(),
        (errors[1] / errors[2]).log2()
    );
    assert!(errors[0] < 2e-3, "{errors:?}");
    assert!((errors[1] / errors[2]).log2() > 1.9, "{errors:?}");
}

#[test]
fn a_pendulum_pulls_three_times_its_weight_at_most_and_keeps_its_energy() {
    let (mut world, bob, rod) = pendulum();
    let (mut most, mut drift, mut gap) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..600 {
        world.step(FRAME).unwrap();
        most = most.max(world.joint_reading(rod).unwrap().force.length());
        let now = world.point(bob).unwrap();
        drift = drift.max((0.5 * now.velocity.length_squared() + 9.81 * now.position.y).abs());
        gap = gap.max((now.position.length() - 1.0).abs());
    }
    println!("tension {most} of {}, energy {drift}, gap {gap}", 3.0 * 9.81);
    assert!((most / (3.0 * 9.81) - 1.0).abs() < 5e-3, "{most}");
    assert!(drift < 2e-3 && gap < 1e-9, "energy {drift} gap {gap}");
}

fn link(world: &mut World, x: f64, half: f64, mass: f64, inertia: f64) -> BodyId {
    let mut body = Body::dynamic(cuboid(half, 0.05, 0.05)).at(x, 0.0, 0.0);
    let moments = Mat3::from_diagonal(Vec3::splat(inertia));
    body.mass = Mass::Explicit { mass, center: Vec3::ZERO, inertia: moments };
    world.add_body(body).unwrap()
}

/// Angles of the double pendulum at a time.
fn double_pendulum(dt: f64, time: f64) -> [f64; 2] {
    let mut world = earth();
    // hanging links, turned by one radian about z
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
    world.add_joint(Joint::hinge(Side::World, bodies[0]).axis(Vec3::Z)).unwrap();
    let hinge = Joint::hinge(bodies[0], bodies[1]).axis(Vec3::Z).at(top.x, top.y, 0.0);
    world.add_joint(hinge).unwrap();
    run(&mut world, time, dt);
    // the second angle is that of its hinge
    let angle = |id| {
        let down = world.pose(id).unwrap().rotation * Vec3::NEG_Y;
        down.x.atan2(-down.y)
    };
    [angle(bodies[0]), angle(bodies[1]) - angle(bodies[0])]
}

#[test]
fn a_double_pendulum_is_where_it_should_be_to_second_order() {
    let exact = [(1.0, [-0.261795138, -0.570563034]), (2.0, [-0.134295287, -1.294393692])];
    for (time, q) in exact {
        let errors = [1e-2, 5e-3, 2.5e-3].map(|dt| {
            let found = double_pendulum(dt, time);
            println!("{time} {found:?}");
            (found[0] - q[0]).abs().max((found[1] - q[1]).abs())
        });
        println!("{errors:?}");
        assert!(errors[0] < 1e-3);
        assert!((errors[1] / errors[2]).log2() > 1.8);
    }
}

/// A chain of links along x from the origin, and the ball at its end.
fn wrecking_ball(mass: f64) -> (World, Vec<BodyId>) {
    let mut world = earth();
    let mut bodies = Vec::new();
    let mut before = Side::World;
    for i in 0..25 {
        let body = Body::dynamic(cuboid(0.2, 0.05, 0.05)).at(0.2 + 0.4 * i as f64, 0.0, 0.0);
        let id = world.add_body(body.mass(1.0)).unwrap();
        world.add_joint(Joint::ball(before, id).at(0.4 * i as f64, 0.0, 0.0)).unwrap();
        bodies.push(id);
        before = id.into();
    }
    let ball = world.add_body(Body::dynamic(sphere(0.5)).at(10.5, 0.0, 0.0).mass(mass)).unwrap();
    world.add_joint(Joint::ball(before, ball).at(10.0, 0.0, 0.0)).unwrap();
    bodies.push(ball);
    (world, bodies)
}

#[test]
fn a_wrecking_ball_does_not_stretch_its_chain() {
    for mass in [100.0, 10_000.0] {
        let (mut world, bodies) = wrecking_ball(mass);
        let ball = bodies[25];
        let (mut stretch, mut gap) = (f64::NEG_INFINITY, 0.0_f64);
        for _ in 0..600 {
            world.step(FRAME).unwrap();
            let end = world.pose(ball).unwrap() * Vec3::new(-0.5, 0.0, 0.0);
            stretch = stretch.max(end.length() / 10.0 - 1.0);
            gap = gap.max(measure::joint_error(&world));
        }
        println!("{mass} kg: stretch {stretch:e}, gap {gap:e}");
        assert!(stretch < 1e-6 && gap < 1e-6, "{mass} kg: stretch {stretch}, gap {gap}");
    }
}
