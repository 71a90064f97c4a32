//! Beads that come to the end of their wire.

use crate::{earth, run, sphere, world};
use thirdlaw::{Axis, Body, Enforcement, Joint, Point, Side, Vec3, World, measure};

const FRAME: f64 = 1.0 / 60.0;

/// A wire that bends right up to its ends.
fn hook() -> Vec<Vec3> {
    [[-2.2, 3.0, 0.0], [-2.0, 2.2, 0.0], [-1.4, 0.9, 0.3], [-0.6, 0.2, 0.5], [0.3, 0.9, 0.2]]
        .map(Vec3::from_array)
        .to_vec()
}

/// Steps and returns the least and greatest place on the wire and the widest gap, m.
fn watch(world: &mut World, joint: thirdlaw::JointId, frames: usize) -> (f64, f64, f64) {
    let mut seen = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
    for _ in 0..frames {
        world.step(FRAME).unwrap();
        let reading = world.joint_reading(joint).unwrap();
        let place = reading.coordinate(Axis::X);
        let gap = reading.error.max(measure::joint_error(world));
        seen = (seen.0.min(place), seen.1.max(place), seen.2.max(gap));
    }
    seen
}

#[test]
fn a_bead_stops_at_the_end_of_a_straight_wire() {
    let mut world = world(0.0);
    let bead = world.add_point(Point::new(1.0, Vec3::X * 0.5)).unwrap();
    let points = vec![Vec3::ZERO, Vec3::X];
    let joint = world.add_joint(Joint::curve(Side::World, bead, points, false)).unwrap();
    world.set_point(bead, Vec3::X * 0.5, Vec3::X * 7.0).unwrap();
    let (_, most, gap) = watch(&mut world, joint, 60);
    assert!(most <= 1.0 + 1e-9 && gap < 1e-9, "{most} {gap:e}");
    let now = world.point(bead).unwrap();
    assert!((now.position - Vec3::X).length() < 1e-9, "{}", now.position);
    assert!(now.velocity.length() < 1e-9, "{}", now.velocity);
}

#[test]
fn a_bead_stays_on_a_bent_wire_however_fast_it_comes_to_its_ends() {
    for speed in [0.0, 3.0, -3.0, 10.0, -10.0, 40.0, -40.0] {
        let mut world = earth();
        let wire = hook();
        let bead = world.add_point(Point::new(0.5, wire[1])).unwrap();
        let joint = world.add_joint(Joint::curve(Side::World, bead, wire.clone(), false)).unwrap();
        let along = (wire[2] - wire[0]).normalize();
        world.set_point(bead, wire[1], speed * along).unwrap();
        let (least, most, gap) = watch(&mut world, joint, 240);
        let length = world.joint(joint).unwrap().curve_length().unwrap();
        assert!(gap < 1e-7, "speed {speed}: gap {gap:e}");
        assert!(least > -1e-7 && most < length + 1e-7, "speed {speed}: {least} {most} {length}");
    }
}

#[test]
fn a_body_on_a_wire_stops_at_its_end_and_a_bead_may_bounce_there() {
    let mut world = earth();
    let wire = hook();
    let body = Body::dynamic(sphere(0.1)).mass(2.0).at(-2.2, 3.0, 0.0);
    let body = world.add_body(body).unwrap();
    let joint = world.add_joint(Joint::curve(Side::World, body, wire.clone(), false)).unwrap();
    let (least, most, gap) = watch(&mut world, joint, 240);
    let length = world.joint(joint).unwrap().curve_length().unwrap();
    // it falls 2.8 m and is still moving where the wire ends
    assert!(most > length - 0.01 && most < length + 1e-7, "{most} {length}");
    assert!(least > -1e-7 && gap < 1e-7, "{least} {gap:e}");

    let mut world = crate::world(0.0);
    let bead = world.add_point(Point::new(1.0, Vec3::ZERO)).unwrap();
    let points = vec![-Vec3::X, Vec3::X];
    let joint = Joint::curve(Side::World, bead, points, false);
    let joint = joint.limit(Axis::X, 0.0, 2.0).restitution(Axis::X, 1.0);
    world.add_joint(joint).unwrap();
    world.set_point(bead, Vec3::ZERO, Vec3::X * 2.0).unwrap();
    run(&mut world, 1.0, FRAME);
    let now = world.point(bead).unwrap();
    assert!((now.velocity + 2.0 * Vec3::X).length() < 1e-6, "{}", now.velocity);
}

#[test]
fn every_way_and_every_step_keeps_a_bead_from_running_off() {
    // gaps across the wire at 8 substeps, at 1, and at 2 of a tenth of a second
    let ways = [
        (Enforcement::Stabilized, [1e-9, 1e-9, 1e-7]),
        (Enforcement::Soft { stiffness: 1e6, damping: 1e3 }, [2e-3, 0.05, 0.2]),
        (Enforcement::PseudoTime, [1e-9; 3]),
        (Enforcement::Multipliers { rate: 30.0 }, [0.01, 0.05, 0.1]),
        (Enforcement::Projection, [1e-9; 3]),
    ];
    for (way, gaps) in ways {
        for ((dt, substeps), bound) in [(FRAME, 8), (FRAME, 1), (0.1, 2)].into_iter().zip(gaps) {
            let mut world = earth();
            let mut settings = *world.settings();
            (settings.joints.enforcement, settings.substeps) = (way, substeps);
            world.set_settings(settings).unwrap();
            let wire = hook();
            // let go at the very beginning, pushed off it
            let bead = world.add_point(Point::new(0.5, wire[0])).unwrap();
            let joint = Joint::curve(Side::World, bead, wire.clone(), false);
            let joint = world.add_joint(joint).unwrap();
            world.set_point(bead, wire[0], 2.0 * (wire[0] - wire[1])).unwrap();
            let (mut least, mut most, mut gap) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
            for _ in 0..(4.0 / dt) as usize {
                world.step(dt).unwrap();
                let reading = world.joint_reading(joint).unwrap();
                let place = reading.coordinate(Axis::X);
                (least, most, gap) = (least.min(place), most.max(place), gap.max(reading.error));
            }
            let length = world.joint(joint).unwrap().curve_length().unwrap();
            assert!(gap < bound, "{way:?} {dt} {substeps}: gap {gap:e}");
            let inside = least > -1e-9 && most < length + 1e-9;
            assert!(inside && most > 4.0, "{way:?} {dt} {substeps}: {least} {most} {length}");
        }
    }
}

#[test]
fn limits_shorten_a_wire_and_never_lengthen_it() {
    for (lower, upper, least, most) in [
        (f64::NEG_INFINITY, f64::INFINITY, 0.0, 2.0),
        (-1.0, 1.5, 0.0, 1.5),
        (0.5, f64::INFINITY, 0.5, 2.0),
    ] {
        for speed in [3.0, -3.0] {
            let mut world = world(0.0);
            let bead = world.add_point(Point::new(1.0, Vec3::ZERO)).unwrap();
            let joint = Joint::curve(Side::World, bead, vec![-Vec3::X, Vec3::X], false);
            let joint = world.add_joint(joint.limit(Axis::X, lower, upper)).unwrap();
            world.set_point(bead, Vec3::ZERO, speed * Vec3::X).unwrap();
            watch(&mut world, joint, 60);
            let place = world.joint_reading(joint).unwrap().coordinate(Axis::X);
            let wanted = if speed > 0.0 { most } else { least };
            assert!((place - wanted).abs() < 1e-9, "{lower} {upper} {speed}: {place}");
        }
    }
}
