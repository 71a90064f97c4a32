//! Falling asleep and waking: nothing may be held up by a sleeper's dream.

use crate::{cuboid, earth, floor, run, sphere, world};
use thirdlaw::math::rotation_from_vector;
use thirdlaw::{Body, Keyframe, Keyframes, Pose, Shape, Vec3};

const FRAME: f64 = 1.0 / 60.0;

#[test]
fn a_fixed_body_put_into_sleepers_wakes_them() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let sleeper = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5, 0.0)).unwrap();
    let wall = world.add_body(Body::fixed(cuboid(0.5, 0.5, 0.5)).at(9.0, 0.5, 0.0)).unwrap();
    run(&mut world, 2.0, FRAME);
    assert!(world.is_asleep(sleeper).unwrap());
    world.set_pose(wall, Pose::from_translation(Vec3::new(0.8, 0.5, 0.0))).unwrap();
    run(&mut world, 2.0, FRAME);
    let x = world.pose(sleeper).unwrap().translation.x;
    assert!(x < -0.19, "still overlaps, at {x}");
}

#[test]
fn what_drifts_freely_keeps_its_momentum() {
    let mut world = world(0.0);
    let id = world.add_body(Body::dynamic(sphere(0.5)).moving(Vec3::X * 0.005)).unwrap();
    run(&mut world, 5.0, FRAME);
    assert_eq!(world.velocity(id).unwrap().linear.x, 0.005);
}

#[test]
fn a_rider_on_a_slow_belt_is_not_stopped() {
    let mut world = earth();
    let belt = Body::kinematic(cuboid(2.0, 0.5, 2.0)).at(0.0, -0.5, 0.0).moving(Vec3::X * 0.005);
    world.add_body(belt).unwrap();
    let rider = world.add_body(Body::dynamic(cuboid(0.3, 0.3, 0.3)).at(0.0, 0.3, 0.0)).unwrap();
    run(&mut world, 1.0, FRAME);
    for _ in 0..300 {
        world.step(FRAME).unwrap();
        let v = world.velocity(rider).unwrap().linear.x;
        assert!((v - 0.005).abs() < 1e-4, "rides at {v}");
    }
}

#[test]
fn what_lies_on_a_keyframed_body_at_rest_sleeps() {
    let mut world = earth();
    let tilt = rotation_from_vector(Vec3::new(0.02, 0.7, 0.03));
    let key = |time| Keyframe { time, position: Vec3::new(0.0, -0.5, 0.0), rotation: tilt };
    let motion = Keyframes { keys: vec![key(0.0), key(1.0)], ..Keyframes::default() };
    world.add_body(Body::kinematic(cuboid(2.0, 0.5, 2.0)).keyframes(motion)).unwrap();
    let id = world.add_body(Body::dynamic(cuboid(0.3, 0.3, 0.3)).at(0.0, 0.32, 0.0)).unwrap();
    run(&mut world, 3.0, FRAME);
    for _ in 0..60 {
        world.step(FRAME).unwrap();
        assert!(world.is_asleep(id).unwrap());
    }
}

#[test]
fn a_tower_that_slept_through_a_change_of_step_wakes_quietly() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let mut ids = Vec::new();
    for i in 0..5 {
        let cube = Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5 + f64::from(i), 0.0);
        ids.push(world.add_body(cube).unwrap());
    }
    run(&mut world, 3.0, FRAME);
    assert!(world.is_asleep(ids[0]).unwrap());
    world.step(FRAME / 100.0).unwrap();
    world.wake(ids[0]).unwrap();
    world.step(FRAME / 100.0).unwrap();
    for &id in &ids {
        let v = world.velocity(id).unwrap().linear.length();
        assert!(v < 1e-5, "jumps at {v} m/s");
    }
}

#[test]
fn a_half_space_in_a_used_slot_is_found_once() {
    let mut world = earth();
    let old = world.add_body(Body::fixed(cuboid(5.0, 0.5, 5.0)).at(0.0, -0.5, 0.0)).unwrap();
    world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5, 0.0)).unwrap();
    run(&mut world, 0.1, FRAME);
    world.remove_body(old).unwrap();
    let plane = Shape::half_space(Vec3::Y).unwrap();
    assert_eq!(world.add_body(Body::fixed(plane)).unwrap().index, old.index);
    let report = world.step(FRAME).unwrap();
    assert_eq!(report.contacts, 4);
    let snapshot = world.save();
    world.restore(&snapshot).unwrap();
}
