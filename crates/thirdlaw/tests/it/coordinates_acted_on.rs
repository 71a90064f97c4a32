//! What acts on trees that are held in coordinates: springs, drives, friction, limits, contacts, breaking.

use crate::coordinates::{bar, every_kind, held, places, reduced, run_reduced, total};
use crate::{cuboid, floor, run, sphere};
use thirdlaw::{
    Axis, Body, BodyId, Drive, Enforcement, Joint, JointId, Limits, Mass, Mat3, Shape, Side,
    Spring, Target, Twist, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;

/// A body of unit inertia on a hinge through its centre.
fn wheel(world: &mut World, change: impl Fn(Joint) -> Joint) -> JointId {
    let mut body = Body::dynamic(sphere(0.5));
    let inertia = Mat3::IDENTITY;
    body.mass = Mass::Explicit { mass: 1.0, center: Vec3::ZERO, inertia };
    let body = world.add_body(body).unwrap();
    world.add_joint(change(Joint::hinge(Side::World, body).axis(Vec3::Z))).unwrap()
}

fn angle(world: &World, id: JointId) -> f64 {
    world.joint_reading(id).unwrap().coordinate(Axis::TurnX)
}

fn rate(world: &World, id: JointId) -> f64 {
    world.joint_reading(id).unwrap().rate(Axis::TurnX)
}

#[test]
fn drives_follow_their_equation() {
    // critically damped from 0 to 1: 1 − (1 + 10 t) exp(−10 t)
    let mut world = reduced(0.0, 8);
    let hinge = wheel(&mut world, |j| j.driven(Axis::TurnX, Drive::pd(100.0, 20.0).at(1.0)));
    run_reduced(&mut world, 0.1, 0.005);
    assert!((angle(&world, hinge) - 0.264241118).abs() < 1e-8, "{}", angle(&world, hinge));
    run_reduced(&mut world, 0.4, 0.005);
    assert!((angle(&world, hinge) - 0.959572318).abs() < 1e-8, "{}", angle(&world, hinge));
}

#[test]
fn no_gain_is_too_stiff() {
    for gain in [1e5, 1e6, 1e8, 1e10, 1e20] {
        let mut world = reduced(9.81, 8);
        let mut before = Side::World;
        let mut joints = Vec::new();
        for i in 0..5 {
            let x = 0.4 * f64::from(i);
            let id = bar(&mut world, x + 0.2, 0.0, 0.0);
            let drive = Drive::pd(gain, 0.01 * gain);
            let joint = Joint::hinge(before, id).axis(Vec3::Z).at(x, 0.0, 0.0);
            joints.push(world.add_joint(joint.driven(Axis::TurnX, drive)).unwrap());
            before = id.into();
        }
        run_reduced(&mut world, 2.0, FRAME);
        // the torque at the first hinge is that of five bars
        let torque = 5.0 * 9.81 * 1.0;
        let (q, u) = (angle(&world, joints[0]), rate(&world, joints[0]));
        assert!((q + torque / gain).abs() < 0.02 * torque / gain + 1e-12, "{gain}: {q}");
        assert!(u.abs() < 1e-6 + 1e-4 * torque / gain, "{gain}: rate {u}");
        let reading = world.joint_reading(joints[0]).unwrap();
        assert!((reading.torque.z - torque).abs() < 1e-3 * torque, "{gain}: {}", reading.torque);
        assert!((reading.force.y - 5.0 * 9.81).abs() < 1e-3, "{gain}: {}", reading.force);
    }
}

#[test]
fn stiff_drives_follow_a_moving_target() {
    let target = Target::Sine { center: 0.0, amplitude: 1.0, frequency: 0.5, phase: 0.0 };
    let mut world = reduced(0.0, 8);
    let drive = Drive::pd(1e8, 1e6).toward(target);
    let hinge = wheel(&mut world, |j| j.driven(Axis::TurnX, drive.clone()));
    let mut worst = 0.0_f64;
    for i in 0..120 {
        run_reduced(&mut world, FRAME, FRAME);
        let wanted = (std::f64::consts::PI * world.time()).sin();
        if i > 10 {
            worst = worst.max((angle(&world, hinge) - wanted).abs());
        }
    }
    assert!(worst < 1e-5, "{worst}");
}

#[test]
fn the_stiff_integrator_is_of_second_order_and_agrees_with_the_other() {
    // a stiff drive at one hinge of three sends the whole tree to the implicit integrator; under weak
    // gravity, so that it takes as many parts a substep however many of these there are
    let place = |substeps: u32, enforcement: Enforcement| {
        let mut world = held(0.3, substeps, enforcement);
        let mut before = Side::World;
        let mut bodies = Vec::new();
        for i in 0..3 {
            let x = 0.4 * f64::from(i);
            let id = bar(&mut world, x + 0.2, 0.0, 0.0);
            let mut joint = Joint::ball(before, id).at(x, 0.0, 0.0);
            if i == 1 {
                joint = Joint::hinge(before, id).axis(Vec3::new(0.0, 0.4, 1.0)).at(x, 0.0, 0.0);
                joint = joint.driven(Axis::TurnX, Drive::pd(3e4, 300.0));
            }
            world.add_joint(joint).unwrap();
            before = id.into();
            bodies.push(id);
        }
        match enforcement {
            Enforcement::Reduced => run_reduced(&mut world, 1.0, FRAME),
            _ => run(&mut world, 1.0, FRAME),
        }
        places(&world, &bodies)
    };
    let exact = place(128, Enforcement::Reduced);
    let off = [4, 8, 16]
        .map(|substeps| crate::coordinates::apart(&exact, &place(substeps, Enforcement::Reduced)));
    println!("{off:?}");
    let order = (off[1] / off[2]).log2();
    assert!((1.5..2.6).contains(&order), "{order}: {off:?}");
    let other = crate::coordinates::apart(&exact, &place(128, Enforcement::Stabilized));
    assert!(other < 1e-5, "{other}");
}

#[test]
fn a_spring_on_a_coordinate_swings_with_its_frequency_and_keeps_its_energy() {
    let mut world = reduced(0.0, 8);
    let spring = Spring { stiffness: 400.0, damping: 0.0, rest: 0.5 };
    let hinge = wheel(&mut world, |j| j.sprung(Axis::TurnX, spring));
    let before = total(&world);
    run_reduced(&mut world, 10.0, FRAME);
    let exact = 0.5 - 0.5 * (20.0 * world.time()).cos();
    assert!((angle(&world, hinge) - exact).abs() < 1e-4, "{} {exact}", angle(&world, hinge));
    assert!((total(&world) / before - 1.0).abs() < 1e-6, "{} {before}", total(&world));
}

#[test]
fn dry_friction_slows_evenly_and_then_holds() {
    let mut world = reduced(0.0, 8);
    let hinge = wheel(&mut world, |j| j.friction(Axis::TurnX, 2.0));
    let body = world.bodies().next().unwrap();
    let angular = Vec3::new(0.0, 0.0, 3.0);
    world.set_velocity(body, Twist { angular, ..Twist::default() }).unwrap();
    run_reduced(&mut world, 1.0, FRAME);
    assert!((rate(&world, hinge) - 1.0).abs() < 1e-9, "{}", rate(&world, hinge));
    assert!((angle(&world, hinge) - 2.0).abs() < 1e-9, "{}", angle(&world, hinge));
    run_reduced(&mut world, 2.0, FRAME);
    // 9/4 rad and no farther
    assert!((angle(&world, hinge) - 2.25).abs() < 1e-5, "{}", angle(&world, hinge));
    assert!(rate(&world, hinge).abs() < 1e-9);

    // an arm that friction holds up, and one that it does not
    for (friction, falls) in [(2.0, false), (1.9, true)] {
        let mut world = reduced(9.81, 8);
        let id = bar(&mut world, 0.2, 0.0, 0.0);
        let hinge = Joint::hinge(Side::World, id).axis(Vec3::Z).friction(Axis::TurnX, friction);
        let hinge = world.add_joint(hinge).unwrap();
        run_reduced(&mut world, 1.0, FRAME);
        let q = angle(&world, hinge);
        assert_eq!(q.abs() > 1e-3, falls, "{friction}: {q}");
        let torque = world.joint_reading(hinge).unwrap().torque.z;
        assert!(falls || (torque - 0.2 * 9.81).abs() < 1e-6, "{torque}");
    }
}

#[test]
fn motors_reach_their_speed_with_no_more_than_their_torque() {
    let mut world = reduced(0.0, 8);
    let hinge = wheel(&mut world, |j| j.driven(Axis::TurnX, Drive::motor(5.0, 4.0)));
    run_reduced(&mut world, 1.0, FRAME);
    assert!((rate(&world, hinge) - 4.0).abs() < 1e-9, "{}", rate(&world, hinge));
    run_reduced(&mut world, 1.0, FRAME);
    assert!((rate(&world, hinge) - 5.0).abs() < 1e-6, "{}", rate(&world, hinge));
    // with friction of less than its torque beside it, too
    let mut world = reduced(0.0, 8);
    let hinge = wheel(&mut world, |j| {
        j.driven(Axis::TurnX, Drive::motor(5.0, 4.0)).friction(Axis::TurnX, 1.0)
    });
    run_reduced(&mut world, 1.0, FRAME);
    assert!((rate(&world, hinge) - 3.0).abs() < 1e-6, "{}", rate(&world, hinge));
    run_reduced(&mut world, 2.0, FRAME);
    assert!((rate(&world, hinge) - 5.0).abs() < 1e-6, "{}", rate(&world, hinge));
}

#[test]
fn a_limit_takes_over_for_as_long_as_it_is_met_and_gives_no_energy() {
    let mut world = reduced(9.81, 8);
    let id = bar(&mut world, 0.2, 0.0, 0.0);
    let mut hinge = Joint::hinge(Side::World, id).axis(Vec3::Z);
    hinge.axes[3].limits = Some(Limits { lower: -1.0, upper: 3.0, restitution: 1.0 });
    let hinge = world.add_joint(hinge).unwrap();
    let before = total(&world);
    let (mut least, mut in_coordinates, mut energy) = (0.0_f64, 0, 0.0_f64);
    for _ in 0..300 {
        in_coordinates += world.step(FRAME).unwrap().reduced_substeps;
        least = least.min(angle(&world, hinge));
        energy = energy.max((total(&world) - before).abs());
    }
    println!("{in_coordinates} of 2400 substeps, least {least}, energy {energy:.1e}");
    assert!(in_coordinates > 2300 && in_coordinates < 2400, "{in_coordinates}");
    assert!((-1.0 - 1e-6..-0.9).contains(&least), "{least}");
    assert!(energy < 0.02 * 9.81 * 0.2, "{energy}");
}

#[test]
fn a_chain_that_falls_on_a_floor_rests_there_and_one_that_is_lifted_swings_on() {
    let mut world = reduced(9.81, 8);
    world.add_body(floor()).unwrap();
    let mut before: Option<BodyId> = None;
    for i in 0..5 {
        let x = 0.45 * f64::from(i);
        let body = Body::dynamic(cuboid(0.2, 0.05, 0.05)).at(x, 1.0, 0.0).mass(1.0);
        let id = world.add_body(body).unwrap();
        if let Some(before) = before {
            world.add_joint(Joint::ball(before, id).at(x - 0.225, 1.0, 0.0)).unwrap();
        }
        before = Some(id);
    }
    let start = total(&world);
    let (mut in_coordinates, mut most) = (0, f64::NEG_INFINITY);
    for _ in 0..240 {
        in_coordinates += world.step(FRAME).unwrap().reduced_substeps;
        most = most.max(total(&world));
    }
    assert!(in_coordinates > 100, "it fell in coordinates: {in_coordinates}");
    assert!(most < start + 1e-6 * start, "{most} {start}");
    assert!(measure::energy(&world).kinetic < 1e-4, "{}", measure::energy(&world).kinetic);
    assert!(measure::joint_error(&world) < 1e-8);
    let deepest = measure::penetration(&world);
    assert!(deepest < 2e-3, "{deepest}");
    // taken up by one end
    let id = before.unwrap();
    let linear = Vec3::new(0.0, 6.0, 0.0);
    world.set_velocity(id, Twist { linear, ..Twist::default() }).unwrap();
    let in_coordinates: u32 = (0..30).map(|_| world.step(FRAME).unwrap().reduced_substeps).sum();
    assert!(measure::joint_error(&world) < 1e-8, "{in_coordinates}");
}

#[test]
fn a_kick_from_outside_moves_the_whole_tree_as_impulses_through_its_joints_do() {
    let kicked = |enforcement: Enforcement| {
        let mut world = held(0.0, 64, enforcement);
        let bodies = every_kind(&mut world, false);
        run(&mut world, FRAME, FRAME);
        let mut v = world.velocity(bodies[2]).unwrap();
        v.linear += Vec3::new(1.0, -2.0, 0.5);
        world.set_velocity(bodies[2], v).unwrap();
        world.step(FRAME).unwrap();
        bodies.iter().map(|&id| world.velocity(id).unwrap().linear).collect::<Vec<_>>()
    };
    let (ours, theirs) = (kicked(Enforcement::Reduced), kicked(Enforcement::Stabilized));
    let off = crate::coordinates::apart(&ours, &theirs);
    assert!(off < 1e-4, "{off}: {ours:?} {theirs:?}");
}

#[test]
fn a_joint_breaks_at_its_load_and_the_rest_goes_on_in_coordinates() {
    let mut world = reduced(9.81, 8);
    let mut before = Side::World;
    let mut joints = Vec::new();
    for i in 0..4 {
        let id = bar(&mut world, 0.0, -0.2 - 0.4 * f64::from(i), 0.0);
        let mut joint = Joint::ball(before, id).at(0.0, -0.4 * f64::from(i), 0.0);
        if i == 2 {
            joint = joint.breaking(2.5 * 9.81, f64::INFINITY);
        }
        joints.push(world.add_joint(joint).unwrap());
        before = id.into();
    }
    run_reduced(&mut world, 0.2, FRAME);
    assert!(world.joints().all(|id| !world.joint_reading(id).unwrap().broken));
    let last = world.bodies().last().unwrap();
    let center = world.center(last).unwrap();
    world.push(last, Vec3::new(0.0, -6.0, 0.0), center).unwrap();
    world.step(FRAME).unwrap();
    assert!(world.joint_reading(joints[2]).unwrap().broken);
    let y = world.center(last).unwrap().y;
    run_reduced(&mut world, 0.5, FRAME);
    assert!(world.center(last).unwrap().y < y - 1.0, "two bars fall");
    let force = world.joint_reading(joints[0]).unwrap().force;
    assert!((force.y - 2.0 * 9.81).abs() < 1e-6, "two hang: {force}");
}

#[test]
fn bits_do_not_depend_on_a_save_in_between_or_on_scratch_memory() {
    let mut world = reduced(9.81, 8);
    every_kind(&mut world, true);
    let hinge = wheel(&mut world, |j| j.friction(Axis::TurnX, 2.0));
    world.set_drive(hinge, Axis::TurnX, Some(Drive::pd(1e6, 10.0).at(2.0).limited(30.0))).unwrap();
    run(&mut world, 0.2, FRAME);
    let mut other = world.clone();
    let bytes = world.save();
    run(&mut world, 0.3, FRAME);
    other.restore(&bytes).unwrap();
    for _ in 0..18 {
        other.drop_scratch();
        other.step(FRAME).unwrap();
    }
    assert_eq!(world.hash(), other.hash());
}

#[test]
fn kinds_that_have_no_coordinates_of_a_tree_are_refused_by_name_or_fall_back() {
    let mut world = reduced(9.81, 8);
    let ball = world.add_body(Body::dynamic(Shape::sphere(0.1).unwrap())).unwrap();
    let rope = Joint::rope(Side::World, ball, 1.0).enforced(Enforcement::Reduced);
    let error = world.add_joint(rope).unwrap_err();
    assert_eq!(error.field, "enforcement");
    // held so by the settings of the world it is held as by default
    world.add_joint(Joint::rope(Side::World, ball, 1.0)).unwrap();
    let report = world.step(FRAME).unwrap();
    assert_eq!(report.reduced_substeps, 0);
}
