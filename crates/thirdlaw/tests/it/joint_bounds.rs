//! Limits, drives and friction of joints bound what acts: they make no energy, no momentum, and know no size.

use crate::{cuboid, world};
use thirdlaw::{
    Axis, Body, BodyId, Drive, Joint, JointId, Mass, Mat3, Pose, Quat, Shape, Side, Vec3, World,
    measure,
};

/// A bar along y from one height to another.
fn bar(world: &mut World, from: f64, to: f64, mass: f64) -> BodyId {
    let half = 0.5 * (to - from);
    let body = Body::dynamic(cuboid(0.1 * half, half, 0.1 * half)).at(0.0, from + half, 0.0);
    world.add_body(body.mass(mass)).unwrap()
}

fn sum(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

/// Five bars on each other, hinges about z between; the second hinge is driven, the third has a motor that
/// runs into a stop.
#[test]
fn an_arm_whose_motor_runs_into_its_stop_makes_no_energy() {
    let mut world = world(9.81);
    let mut settings = *world.settings();
    settings.substeps = 1;
    world.set_settings(settings).unwrap();
    let (length, stiffness, target) = (0.149, 6.9, -0.4171);
    let (mut before, mut motor) = (Side::World, None);
    for i in 0..5 {
        let from = length * f64::from(i);
        let id = bar(&mut world, from, from + length, 0.2);
        let axis = if i == 0 || i == 4 { Vec3::X } else { Vec3::Z };
        let joint = Joint::hinge(before, id).at(0.0, from, 0.0).axis(axis);
        let drive = Drive::pd(stiffness, 0.0371).at(target);
        let joint = match i {
            1 => joint.driven(Axis::TurnX, Drive { limit: 2.79, ..drive }),
            2 => joint
                .limit(Axis::TurnX, -0.5233, 1.217)
                .driven(Axis::TurnX, Drive::motor(7.205, 0.122)),
            _ => joint,
        };
        let id_of_joint = world.add_joint(joint).unwrap();
        if i == 2 {
            motor = Some(id_of_joint);
        }
        before = id.into();
    }
    let motor: JointId = motor.unwrap();
    let mut most = sum(&world) + 0.5 * stiffness * target * target;
    let mut rate = 0.0_f64;
    for frame in 0..60 {
        world.step(1.0 / 120.0).unwrap();
        let now = world.joint_reading(motor).unwrap().rate(Axis::TurnX).abs();
        most += 0.122 / 120.0 * now.max(rate).max(7.205);
        rate = now;
        assert!(sum(&world) < most + 0.01, "frame {frame}: {} of {most}", sum(&world));
    }
}

/// A hinge of an arm: its axis, the velocity and effort of its motor, its stops.
type Pin = (Vec3, f64, f64, Option<(f64, f64)>);

/// Arms of bars on each other over the ground, a motor in every hinge.
const ARMS: [&[Pin]; 6] = [
    &[
        (Vec3::Z, 1.107, 0.853, Some((-1.191, 1.373))),
        (Vec3::Z, -6.498, 1.236, Some((-0.907, 1.581))),
        (Vec3::Z, -3.739, 3.164, Some((-1.429, 0.240))),
        (Vec3::X, 7.026, 22.238, None),
    ],
    &[
        (Vec3::Z, -3.147, 19.747, Some((-1.964, 1.189))),
        (Vec3::Y, 4.807, 0.833, None),
        (Vec3::Y, 4.476, 0.857, None),
        (Vec3::X, 5.263, 11.803, Some((-1.442, 1.329))),
    ],
    &[
        (Vec3::Z, -2.073, 15.516, None),
        (Vec3::X, -5.811, 2.821, Some((-1.123, 0.903))),
        (Vec3::Z, 6.357, 15.075, Some((-1.964, 0.680))),
        (Vec3::Z, -0.411, 22.712, None),
        (Vec3::X, 7.866, 0.932, None),
    ],
    &[
        (Vec3::X, 1.854, 2.588, Some((-0.679, 1.385))),
        (Vec3::Y, -0.534, 18.726, None),
        (Vec3::Y, -4.428, 9.148, Some((-0.552, 1.337))),
        (Vec3::Z, -5.423, 7.990, None),
        (Vec3::X, 1.517, 0.750, Some((-0.240, 0.927))),
    ],
    &[
        (Vec3::Z, -1.312, 21.620, Some((-1.611, 1.627))),
        (Vec3::Z, 0.081, 3.519, Some((-0.321, 0.971))),
        (Vec3::Z, 4.700, 3.759, None),
    ],
    &[
        (Vec3::Y, 6.279, 0.710, Some((-1.317, 0.845))),
        (Vec3::Z, -3.722, 0.833, Some((-1.955, 0.354))),
        (Vec3::Z, -1.260, 18.308, Some((-0.590, 1.260))),
        (Vec3::Z, 1.936, 10.393, None),
        (Vec3::Y, 2.569, 10.438, None),
    ],
];

/// Motors that hold a mechanism against the ground hold it only as far as their effort goes: what the ground
/// pushes with is no more than they bear, and no more energy comes out than they put in.
#[test]
fn arms_pressed_to_the_ground_by_their_motors_make_no_energy() {
    let length = 0.25;
    for (number, pins) in ARMS.iter().enumerate() {
        for rate in [60.0, 240.0] {
            let mut world = world(9.81);
            let mut ground = Body::fixed(Shape::half_space(Vec3::Y).unwrap()).at(0.0, -0.025, 0.0);
            ground.material.friction = 0.9;
            world.add_body(ground).unwrap();
            let mut before = Side::World;
            let mut motors = Vec::new();
            for (i, &(axis, velocity, limit, stops)) in pins.iter().enumerate() {
                let from = length * i as f64;
                let id = bar(&mut world, from, from + length, 0.75);
                let joint = Joint::hinge(before, id).at(0.0, from, 0.0).axis(axis);
                let joint = joint.driven(Axis::TurnX, Drive::motor(velocity, limit));
                let joint = stops
                    .into_iter()
                    .fold(joint, |joint, (low, high)| joint.limit(Axis::TurnX, low, high));
                motors.push((world.add_joint(joint).unwrap(), velocity, limit, 0.0_f64));
                before = id.into();
            }
            let mut most = sum(&world);
            for frame in 0..(2.0 * rate) as usize {
                world.step(1.0 / rate).unwrap();
                for (joint, velocity, limit, last) in &mut motors {
                    let now = world.joint_reading(*joint).unwrap().rate(Axis::TurnX).abs();
                    most += *limit / rate * now.max(*last).max(velocity.abs());
                    *last = now;
                }
                let now = sum(&world);
                assert!(now < most + 0.01, "arm {number}, frame {frame}: {now} J of {most}");
                let apart = measure::joint_error(&world);
                assert!(apart < 1e-4, "arm {number}, frame {frame}: {apart} m apart");
            }
        }
    }
}

/// A hinge that starts beyond its limit, `size` times as large; angles and rates, frame by frame, the times
/// by the root of the size.
fn beyond(size: f64) -> Vec<[f64; 2]> {
    let mut world = world(0.0);
    let body = Body::dynamic(cuboid(0.2 * size, 0.02 * size, 0.02 * size));
    let body = body.at(0.2 * size, 0.0, 0.0).mass(size.powi(3));
    let id = world.add_body(body).unwrap();
    let hinge = Joint::hinge(Side::World, id).axis(Vec3::Z).limit(Axis::TurnX, 0.3, 2.0);
    let hinge = world.add_joint(hinge).unwrap();
    let root = size.sqrt();
    let mut frame = || {
        world.step(root / 60.0).unwrap();
        let reading = world.joint_reading(hinge).unwrap();
        [reading.coordinate(Axis::TurnX), reading.rate(Axis::TurnX) * root]
    };
    (0..60).map(|_| frame()).collect()
}

#[test]
fn what_starts_beyond_a_limit_is_brought_back_to_it_and_stays_there() {
    let last = *beyond(1.0).last().unwrap();
    assert!((last[0] - 0.3).abs() < 1e-6 && last[1].abs() < 1e-6, "{last:?}");
}

#[test]
fn limits_are_closed_alike_at_every_size() {
    for (small, large) in beyond(1.0).iter().zip(beyond(4.0)) {
        let off = (small[0] - large[0]).abs().max((small[1] - large[1]).abs());
        assert!(off < 1e-9, "{small:?} {large:?}");
    }
}

/// A body that floats with two thin links on driven hinges that rub, so thin that they swing faster than parts
/// of a substep follow.
#[test]
fn what_floats_keeps_its_angular_momentum_however_thin_its_links_are() {
    let mut world = world(0.0);
    let mut body = |mass: f64, inertia: [f64; 3], x: Vec3| {
        let inertia = Mat3::from_diagonal(Vec3::from_array(inertia));
        let mass = Mass::Explicit { mass, center: Vec3::ZERO, inertia };
        let body = Body::dynamic(cuboid(0.01, 0.01, 0.01)).at(x.x, x.y, x.z);
        world.add_body(Body { mass, ..body }).unwrap()
    };
    let root = body(0.156, [9.1e-5, 1.8e-4, 2.4e-4], Vec3::ZERO);
    let thin = body(1.3e-3, [3.4e-7, 3.4e-7, 5.2e-9], Vec3::new(0.056, 0.037, 0.046));
    let last = body(3.2e-3, [4.3e-7, 4.3e-7, 4.3e-8], Vec3::new(0.056, 0.037, 0.094));
    let ids = [root, thin, last];
    let drive = |target: f64| Drive { limit: 0.0037, ..Drive::pd(0.677, 0.258).at(target) };
    let hinges = [(root, thin, Vec3::Z, 0.019, 0.04), (thin, last, Vec3::Y, 0.074, 0.26)];
    for (a, b, axis, z, target) in hinges {
        let pose =
            Pose::from_parts(Vec3::new(0.056, 0.037, z), Quat::from_rotation_arc(Vec3::X, axis));
        let joint = Joint::hinge(a, b).frame(pose).friction(Axis::TurnX, 2.2e-4);
        world.add_joint(joint.driven(Axis::TurnX, drive(target))).unwrap();
    }
    let mut turns = 0.0_f64;
    for frame in 0..30 {
        world.step(1.0 / 60.0).unwrap();
        let each = ids.map(|id| {
            let (mass, v) = (world.body(id).unwrap().mass, world.velocity(id).unwrap());
            mass * 0.07 * (v.linear.length() + 0.03 * v.angular.length())
        });
        turns = turns.max(each.iter().sum());
        let (_, angular) = measure::momentum(&world);
        assert!(angular.length() < 1e-9 * turns, "frame {frame}: {angular} of {turns}");
    }
}
