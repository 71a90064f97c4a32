//! Joints against known answers.

use crate::{cuboid, earth, run, sphere, world};
use thirdlaw::{
    Axis, Body, BodyId, Drive, Enforcement, Joint, JointId, Limits, Mass, Mat3, Point, Quat, Side,
    Target, Vec3, World, measure,
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

/// Angles of the double pendulum at a time.
fn double_pendulum(dt: f64, time: f64) -> [f64; 2] {
    let mut world = earth();
    let mut settings = *world.settings();
    settings.joints.enforcement = Enforcement::Stabilized;
    world.set_settings(settings).unwrap();
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
fn wrecking_ball(mass: f64, way: Enforcement) -> (World, Vec<BodyId>) {
    let mut world = earth();
    let mut settings = *world.settings();
    settings.joints.enforcement = way;
    world.set_settings(settings).unwrap();
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
    let ways = [Enforcement::Reduced, Enforcement::Stabilized];
    for (mass, way) in [100.0, 10_000.0].into_iter().flat_map(|m| ways.map(|way| (m, way))) {
        let (mut world, bodies) = wrecking_ball(mass, way);
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

#[test]
fn a_hanging_chain_bears_the_weight_below_each_joint() {
    for ratio in [1e3, 1e4] {
        let mut world = earth();
        let mut joints = Vec::new();
        let mut before = Side::World;
        for i in 0..10 {
            let mass = if i == 9 { ratio } else { 1.0 };
            let body = Body::dynamic(cuboid(0.1, 0.5, 0.1)).at(0.0, -0.5 - i as f64, 0.0);
            let id = world.add_body(body.mass(mass)).unwrap();
            let joint = Joint::ball(before, id).at(0.0, -(i as f64), 0.0);
            joints.push(world.add_joint(joint).unwrap());
            before = id.into();
        }
        // a push, so that it swings
        let Side::Body(tip) = before else { unreachable!() };
        world
            .apply_impulse(tip, Vec3::new(0.05 * ratio, 0.0, 0.0), Vec3::new(0.0, -10.0, 0.0))
            .unwrap();
        run(&mut world, 5.0, FRAME);
        assert!(measure::joint_error(&world) < 1e-6, "{}", measure::joint_error(&world));
        for (i, &joint) in joints.iter().enumerate() {
            let weight = 9.81 * (ratio + (9 - i) as f64);
            let tension = world.joint_reading(joint).unwrap().force.y;
            assert!((tension / weight - 1.0).abs() < 0.01, "{ratio} {i}: {tension} for {weight}");
        }
    }
}

/// A ball of inertia 1 on a hinge without gravity, driven.
fn driven(drive: Drive, dt: f64, seconds: f64) -> Vec<f64> {
    let mut world = world(0.0);
    let settings = thirdlaw::Settings { sleeping: false, ..*world.settings() };
    world.set_settings(settings).unwrap();
    let mut body = Body::dynamic(sphere(0.5));
    body.mass = Mass::Explicit { mass: 1.0, center: Vec3::ZERO, inertia: Mat3::IDENTITY };
    let id = world.add_body(body).unwrap();
    let joint = Joint::hinge(Side::World, id).axis(Vec3::Z).driven(Axis::TurnX, drive);
    let joint = world.add_joint(joint).unwrap();
    (0..(seconds / dt).round() as usize)
        .map(|_| {
            world.step(dt).unwrap();
            world.joint_reading(joint).unwrap().coordinate(Axis::TurnX)
        })
        .collect()
}

#[test]
fn proportional_derivative_control_answers_a_step_as_it_should() {
    let q = driven(Drive::pd(100.0, 20.0).at(1.0), 0.01, 0.5);
    println!("{} {}", q[9], q[49]);
    assert!((q[9] - 0.264241118).abs() < 1e-4 && (q[49] - 0.959572318).abs() < 1e-4);
    let q = driven(Drive::pd(100.0, 4.0).at(1.0), 0.001, 1.0);
    let peak = q.iter().cloned().fold(0.0, f64::max);
    let at = q.iter().position(|&x| x == peak).unwrap() as f64 * 0.001 + 0.001;
    println!("{peak} at {at}");
    assert!((peak - 1.5266).abs() < 1e-3 && (at - 0.320637).abs() < 2e-3);
}

#[test]
fn no_gain_is_too_stiff() {
    for (stiffness, damping) in [(1e4, 0.0), (1e4, 100.0), (1e10, 0.0), (1e10, 1e10)] {
        // h = 1 in a step of eight
        let q = driven(Drive::pd(stiffness, damping).at(1.0), 8.0, 8.0 * 200.0);
        assert!(q.iter().all(|q| (-1.0..3.0).contains(q)), "{stiffness} {damping}: {q:?}");
        let last = q[q.len() - 1];
        assert!((last - 1.0).abs() < 1e-3, "{stiffness} {damping}: ends at {last}");
    }
}

#[test]
fn drives_follow_their_targets_within_their_limits() {
    let sine = Target::Sine { center: 0.5, amplitude: 0.3, frequency: 0.5, phase: 0.0 };
    let q = driven(Drive::pd(1e5, 1e3).toward(sine), 0.01, 4.0);
    for (i, q) in q.iter().enumerate().skip(100) {
        let wanted = 0.5 + 0.3 * (std::f64::consts::PI * (i as f64 + 1.0) * 0.01).sin();
        assert!((q - wanted).abs() < 1e-4, "{i}: {q} {wanted}");
    }
    // a torque limit: constant acceleration
    let q = driven(Drive::pd(1e6, 0.0).at(1e3).limited(2.0), 0.01, 1.0);
    assert!((q[99] - 1.0).abs() < 2e-3, "{}", q[99]);
    let q = driven(Drive::motor(3.0, 6.0), 0.01, 2.0);
    // ½·6·0.5² until it runs at 3 rad/s, then 1.5 s of it
    assert!((q[199] - (0.75 + 4.5)).abs() < 0.01, "{}", q[199]);
    let q = driven(Drive::effort(2.0), 0.01, 1.0);
    assert!((q[99] - 1.0).abs() < 1e-9, "{}", q[99]);
}

#[test]
fn limits_stop_and_bounce() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = world(0.0);
        let body = Body::dynamic(sphere(0.5)).mass(1.0).moving(Vec3::X * 2.0);
        let id = world.add_body(body).unwrap();
        let mut joint = Joint::slider(Side::World, id);
        joint.axes[0].limits = Some(Limits { lower: -10.0, upper: 1.0, restitution: e });
        let joint = world.add_joint(joint).unwrap();
        run(&mut world, 1.0, FRAME);
        let reading = world.joint_reading(joint).unwrap();
        let expected = 1.0 - 2.0 * e * 0.5;
        assert!((reading.coordinate(Axis::X) - expected).abs() < 0.01, "{e}: {reading:?}");
        assert!((reading.rate(Axis::X) + 2.0 * e).abs() < 1e-9, "{e}: {reading:?}");
    }
}

#[test]
fn joint_friction_stops_a_slider_where_it_should() {
    let mut world = world(0.0);
    let body = Body::dynamic(sphere(0.5)).mass(2.0).moving(Vec3::X * 3.0);
    let id = world.add_body(body).unwrap();
    let slider = Joint::slider(Side::World, id).friction(Axis::X, 4.0);
    let joint = world.add_joint(slider).unwrap();
    run(&mut world, 1.0, FRAME);
    assert!((world.joint_reading(joint).unwrap().rate(Axis::X) - 1.0).abs() < 1e-6);
    run(&mut world, 1.0, FRAME);
    // v²/2a = 9/4
    let reading = world.joint_reading(joint).unwrap();
    assert!((reading.coordinate(Axis::X) - 2.25).abs() < 1e-3, "{reading:?}");
    assert!(reading.rate(Axis::X).abs() < 1e-9);
}

#[test]
fn a_rope_is_slack_until_it_is_taut() {
    let mut world = earth();
    let bob = world.add_point(Point::new(1.0, Vec3::new(0.0, -0.2, 0.0))).unwrap();
    let rope = world.add_joint(Joint::rope(Side::World, bob, 1.0)).unwrap();
    world.step(FRAME).unwrap();
    assert_eq!(world.joint_reading(rope).unwrap().force, Vec3::ZERO);
    run(&mut world, 2.0, FRAME);
    let reading = world.joint_reading(rope).unwrap();
    assert!((reading.force.y - 9.81).abs() < 1e-6 && (reading.coordinates[0] - 1.0).abs() < 1e-9);
}

#[test]
fn joints_break_under_what_they_cannot_bear() {
    let mut world = earth();
    let id = world.add_body(Body::dynamic(sphere(0.5)).mass(1.0)).unwrap();
    let strong = world.add_joint(Joint::ball(Side::World, id).breaking(9.9, 1.0)).unwrap();
    run(&mut world, 0.5, FRAME);
    assert!(!world.joint_reading(strong).unwrap().broken);
    world.remove_joint(strong).unwrap();
    let weak = world.add_joint(Joint::ball(Side::World, id).breaking(9.7, 1.0)).unwrap();
    run(&mut world, 1.0, FRAME);
    assert!(world.joint_reading(weak).unwrap().broken);
    assert!(world.center(id).unwrap().y < -4.0);
}

#[test]
fn a_bead_slides_down_a_parabola_with_the_speed_of_its_fall() {
    let mut world = earth();
    let points: Vec<_> =
        (-40..=40).map(|i| 0.05 * i as f64).map(|x| Vec3::new(x, 0.5 * x * x, 0.0)).collect();
    let bead = world.add_point(Point::new(1.0, points[10])).unwrap();
    let joint = world.add_joint(Joint::curve(Side::World, bead, points.clone(), false)).unwrap();
    let (mut worst, mut gap) = (0.0_f64, 0.0_f64);
    for _ in 0..300 {
        world.step(FRAME).unwrap();
        let now = world.point(bead).unwrap();
        let energy = 0.5 * now.velocity.length_squared() + 9.81 * (now.position.y - points[10].y);
        worst = worst.max(energy.abs());
        gap = gap.max((now.position.y - 0.5 * now.position.x.powi(2)).abs());
        gap = gap.max(world.joint_reading(joint).unwrap().error);
    }
    println!("energy {worst}, gap {gap}");
    assert!(worst < 5e-3 && gap < 1e-4, "energy {worst} gap {gap}");
}

#[test]
fn gears_turn_each_other_and_racks_slide() {
    let mut world = world(0.0);
    let wheel = |world: &mut World, x: f64| {
        world.add_body(Body::dynamic(sphere(0.1)).mass(1.0).at(x, 0.0, 0.0)).unwrap()
    };
    let base =
        world.add_body(Body::dynamic(cuboid(2.0, 0.1, 0.1)).mass(5.0).at(1.0, -1.0, 0.0)).unwrap();
    let (a, b, c) = (wheel(&mut world, 0.0), wheel(&mut world, 1.0), wheel(&mut world, 2.0));
    let hinge = |world: &mut World, id, x: f64, drive: Option<Drive>| {
        let mut joint = Joint::hinge(base, id).axis(Vec3::Z).at(x, 0.0, 0.0);
        joint.axes[3].drive = drive;
        world.add_joint(joint).unwrap()
    };
    let first = hinge(&mut world, a, 0.0, Some(Drive::effort(1.0)));
    let second = hinge(&mut world, b, 1.0, None);
    let slider = world.add_joint(Joint::slider(base, c).at(2.0, 0.0, 0.0)).unwrap();
    world.add_joint(Joint::gear(first, second, -2.0)).unwrap();
    world.add_joint(Joint::rack(second, slider, 0.25)).unwrap();
    run(&mut world, 1.5, FRAME);
    let of = |id, axis| world.joint_reading(id).unwrap().coordinate(axis);
    let turned = of(first, Axis::TurnX);
    assert!(turned > 1.0, "{turned}");
    assert!((of(second, Axis::TurnX) + 2.0 * turned).abs() < 1e-8);
    assert!((of(slider, Axis::X) + 0.5 * turned).abs() < 1e-8);
    let (linear, angular) = measure::momentum(&world);
    assert!(linear.length() < 1e-11 && angular.length() < 1e-10, "{linear} {angular}");
}

#[test]
fn springs_swing_at_their_frequency() {
    let mut world = world(0.0);
    let a = world.add_point(Point::new(1.0, Vec3::ZERO)).unwrap();
    let b = world.add_point(Point::new(1.0, Vec3::X * 1.1)).unwrap();
    let mut joint = Joint::spring(a, b, 50.0, 0.0);
    joint.kind = thirdlaw::JointKind::Spring { stiffness: 50.0, damping: 0.0, length: Some(1.0) };
    world.add_joint(joint).unwrap();
    // ω² = k (1/m + 1/m) = 100: after a whole period
    run(&mut world, 0.2 * std::f64::consts::PI, 0.2 * std::f64::consts::PI / 40.0);
    let length = world.point(b).unwrap().position.x - world.point(a).unwrap().position.x;
    assert!((length - 1.1).abs() < 1e-4, "{length}");
}
