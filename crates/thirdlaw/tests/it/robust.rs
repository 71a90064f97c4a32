//! Input nobody should give, and motion nobody should simulate: errors and bounds, never a panic.

use crate::{cuboid, earth, floor, run, sphere, world};
use thirdlaw::{
    Body, Force, Keyframe, Keyframes, Mass, Mat3, Pose, Quat, Settings, Shape, Snapshot,
    SnapshotError, StepError, Twist, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;
const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn non_finite_numbers_are_refused_and_change_nothing() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let id = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 2.0, 0.0)).unwrap();
    let hash = world.hash();
    for bad in BAD {
        for axis in 0..3 {
            let mut v = Vec3::ZERO;
            v[axis] = bad;
            assert!(world.set_velocity(id, Twist { linear: v, angular: Vec3::ZERO }).is_err());
            assert!(world.set_velocity(id, Twist { linear: Vec3::ZERO, angular: v }).is_err());
            assert!(world.set_pose(id, Pose::from_translation(v)).is_err());
            assert!(world.push(id, v, Vec3::ZERO).is_err());
            assert!(world.push(id, Vec3::ZERO, v).is_err());
            assert!(world.twist(id, v).is_err());
            assert!(world.apply_impulse(id, v, Vec3::ZERO).is_err());
            assert!(world.add_body(Body::dynamic(sphere(1.0)).moving(v)).is_err());
            assert!(world.add_body(Body::dynamic(sphere(1.0)).spinning(v)).is_err());
            assert!(world.add_body(Body::dynamic(sphere(1.0)).at(v.x, v.y, v.z)).is_err());
            let force = Force { force: v, ..Force::default() };
            let mut body = Body::dynamic(sphere(1.0));
            body.forces.push(force);
            assert!(world.add_body(body).is_err());
            let settings = Settings { gravity: v, ..*world.settings() };
            assert!(world.set_settings(settings).is_err());
            assert!(Shape::cuboid(Vec3::ONE + v).is_err());
            assert!(Shape::mesh(&[v, Vec3::X, Vec3::Y], &[[0, 1, 2]]).is_err());
            assert!(Shape::convex_hull(&[v, Vec3::X, Vec3::Y, Vec3::Z]).is_err());
        }
        assert!(matches!(world.step(bad), Err(StepError::TimeStep(_))));
        assert!(world.add_body(Body::dynamic(sphere(1.0)).mass(bad)).is_err());
        assert!(world.add_body(Body::dynamic(sphere(1.0)).density(bad)).is_err());
        assert!(world.add_body(Body::dynamic(sphere(1.0)).friction(bad)).is_err());
        assert!(Shape::sphere(bad).is_err());
        assert!(Shape::capsule(bad, 1.0).is_err());
        assert!(Shape::cylinder(1.0, bad).is_err());
    }
    let crooked = Pose::from_parts(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0));
    assert!(world.set_pose(id, crooked).is_err());
    assert_eq!(world.hash(), hash);
    for _ in 0..30 {
        world.step(FRAME).unwrap();
    }
}

#[test]
fn impossible_bodies_are_refused_by_the_field_that_is_wrong() {
    let mut world = earth();
    let mut field = |body: Body| world.add_body(body).unwrap_err().field;
    let ball = || Body::dynamic(sphere(1.0));
    assert_eq!(field(ball().mass(0.0)), "mass");
    assert_eq!(field(ball().mass(-1.0)), "mass");
    assert_eq!(field(ball().mass(1e30)), "mass");
    assert_eq!(field(ball().friction(-0.1)), "material.friction");
    assert_eq!(field(ball().restitution(1.1)), "material.restitution");
    let mut body = ball();
    body.mass = Mass::Explicit {
        mass: 1.0,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(Vec3::new(1.0, 1.0, 3.0)),
    };
    assert_eq!(field(body), "mass.inertia");
    let plane = Shape::half_space(Vec3::Y).unwrap();
    assert_eq!(field(Body::dynamic(plane)), "shape");
    let key = |time| Keyframe { time, position: Vec3::ZERO, rotation: Quat::IDENTITY };
    let keys = Keyframes { keys: vec![key(1.0), key(1.0)], ..Keyframes::default() };
    assert_eq!(field(Body::kinematic(sphere(1.0)).keyframes(keys)), "motion.keys");
}

#[test]
fn time_steps_of_zero_or_less_are_refused_and_long_ones_stay_finite() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..5 {
        let body = Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(
            0.1 * f64::from(i),
            0.6 + 1.1 * f64::from(i),
            0.0,
        );
        world.add_body(body).unwrap();
    }
    assert_eq!(world.step(0.0), Err(StepError::TimeStep(0.0)));
    assert_eq!(world.step(-1.0), Err(StepError::TimeStep(-1.0)));
    for dt in [1.0, 10.0] {
        for _ in 0..10 {
            world.step(dt).unwrap();
        }
    }
}

#[test]
fn a_state_that_stops_being_finite_is_reported_with_its_body() {
    let mut world = world(0.0);
    world.add_body(Body::dynamic(sphere(1.0))).unwrap();
    let mut body = Body::dynamic(sphere(1.0)).at(10.0, 0.0, 0.0).mass(1e-9);
    body.forces.push(Force { force: Vec3::X * 1e306, ..Force::default() });
    let culprit = world.add_body(body).unwrap();
    let error = (0..100).find_map(|_| world.step(1.0).err()).expect("an overflow");
    let StepError::NotFinite { body, .. } = error else { panic!("{error}") };
    assert_eq!(body, culprit);
    // the world refuses to go on from there, and goes on without the culprit
    assert!(matches!(world.step(1.0), Err(StepError::NotFinite { body, .. }) if body == culprit));
    world.remove_body(culprit).unwrap();
    world.step(1.0).unwrap();
}

#[test]
fn fast_spinning_cube_stays_on_its_side_of_a_thin_wall() {
    for speed in [50.0, 200.0, 1000.0] {
        let mut world = world(0.0);
        world.add_body(Body::fixed(cuboid(0.005, 5.0, 5.0))).unwrap();
        let cube = Body::dynamic(cuboid(0.05, 0.05, 0.05))
            .at(-3.0, 0.0, 0.0)
            .moving(Vec3::X * speed)
            .spinning(Vec3::new(30.0, 50.0, 70.0));
        let id = world.add_body(cube).unwrap();
        for _ in 0..100 {
            world.step(0.01).unwrap();
            let x = world.pose(id).unwrap().translation.x;
            assert!(x < 0.0, "at {speed} m/s it comes through to {x}");
        }
    }
}

#[test]
fn deep_overlaps_come_apart_at_a_bounded_speed() {
    // half inside, one inside the other, coincident
    for offset in [0.5, 0.1, 0.0] {
        let mut world = world(0.0);
        let a = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5))).unwrap();
        let b = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(offset, 0.0, 0.0)).unwrap();
        for _ in 0..120 {
            world.step(FRAME).unwrap();
            for id in [a, b] {
                let v = world.velocity(id).unwrap();
                assert!(v.linear.length() < 5.0, "offset {offset}: {}", v.linear);
            }
        }
        let overlap = measure::penetration(&world);
        assert!(overlap < 0.01, "offset {offset}: still {overlap} deep");
    }
}

#[test]
fn far_from_the_origin_the_motion_is_the_same() {
    let trace = |shift: f64| {
        let mut world = earth();
        let base = Body::fixed(cuboid(5.0, 0.5, 5.0)).at(shift, -0.5, shift);
        world.add_body(base).unwrap();
        let body = Body::dynamic(cuboid(0.3, 0.2, 0.25))
            .at(shift, 1.0, shift)
            .rotated(Vec3::new(0.3, 0.2, 0.1))
            .moving(Vec3::new(1.0, 0.0, 0.5));
        let id = world.add_body(body).unwrap();
        run(&mut world, 1.0, FRAME);
        world.pose(id).unwrap().translation - Vec3::new(shift, 0.0, shift)
    };
    let near = trace(0.0);
    for shift in [1e4, 1e5, 1e6, 1e7] {
        let error = trace(shift).distance(near);
        assert!(error < 1e-6, "{shift:e} m away: off by {error}");
    }
}

#[test]
fn damaged_snapshots_are_refused_and_leave_the_world_alone() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5, 0.0)).unwrap();
    run(&mut world, 0.5, FRAME);
    let bytes = world.save().to_bytes();
    let hash = world.hash();
    for length in 0..bytes.len() {
        assert!(Snapshot::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
    for i in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[i] ^= 0x10;
        // either the bytes are seen to be damaged, or they belong to another model
        if let Ok(snapshot) = Snapshot::from_bytes(&bytes) {
            assert_eq!(world.restore(&snapshot), Err(SnapshotError::OtherModel), "byte {i}");
        }
    }
    let mut hostile = world.save();
    hostile.state.contacts[0].key.b = 77;
    assert!(matches!(world.restore(&hostile), Err(SnapshotError::Damaged(_))));
    let mut hostile = world.save();
    hostile.state.contacts[0].count = 9;
    assert!(matches!(world.restore(&hostile), Err(SnapshotError::Damaged(_))));
    let mut other = earth();
    other.add_body(floor()).unwrap();
    assert_eq!(other.restore(&world.save()), Err(SnapshotError::OtherModel));
    assert_eq!(world.hash(), hash);
}

#[test]
fn random_edits_keep_the_world_whole() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let (mut live, mut dead) = (Vec::new(), Vec::new());
    let mut seed = 12345_u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) as usize) % n
    };
    for _ in 0..10_000 {
        match random(8) {
            0 | 1 if live.len() < 40 => {
                let shape = match random(5) {
                    0 => cuboid(0.3, 0.2, 0.1),
                    1 => sphere(0.25),
                    2 => Shape::capsule(0.2, 0.1).unwrap(),
                    3 => Shape::cone(0.2, 0.2).unwrap(),
                    _ => Shape::cylinder(0.1, 0.3).unwrap(),
                };
                let at = |n: usize| n as f64 / 50.0;
                let body = Body::dynamic(shape).at(
                    at(random(100)),
                    0.2 + at(random(100)),
                    at(random(100)),
                );
                live.push(world.add_body(body).unwrap());
            }
            2 if !live.is_empty() => {
                let id = live.swap_remove(random(live.len()));
                world.remove_body(id).unwrap();
                dead.push(id);
            }
            3 if !live.is_empty() => {
                let id = live[random(live.len())];
                let linear = Vec3::new(random(5) as f64 - 2.0, random(5) as f64, 0.0);
                world.set_velocity(id, Twist { linear, angular: Vec3::Y }).unwrap();
            }
            4 if !live.is_empty() => {
                let id = live[random(live.len())];
                world.set_pose(id, Pose::from_translation(Vec3::new(0.0, 1.0, 0.0))).unwrap();
            }
            5 if !live.is_empty() => {
                let id = live[random(live.len())];
                world.apply_impulse(id, Vec3::new(1.0, 3.0, 0.0), Vec3::ZERO).unwrap();
            }
            _ => {
                world.step(FRAME).unwrap();
            }
        }
        assert_eq!(world.bodies().count(), live.len() + 1);
    }
    assert!(dead.len() > 100);
    for id in dead {
        assert!(world.pose(id).is_err(), "{id} was removed");
    }
    for id in live {
        assert!(world.pose(id).unwrap().translation.is_finite());
    }
}

#[test]
fn sleeping_bodies_wake_when_touched_and_when_their_support_goes() {
    let mut world: World = earth();
    world.add_body(floor()).unwrap();
    let cube = |y| Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, y, 0.0);
    let below = world.add_body(cube(0.5)).unwrap();
    let above = world.add_body(cube(1.5)).unwrap();
    run(&mut world, 3.0, FRAME);
    assert!(world.is_asleep(below).unwrap() && world.is_asleep(above).unwrap());
    let hash = world.hash();
    // a ball falls on them
    let ball = world.add_body(Body::dynamic(sphere(0.3)).at(0.0, 4.0, 0.0)).unwrap();
    assert_ne!(world.hash(), hash);
    let mut woke = false;
    for _ in 0..120 {
        world.step(FRAME).unwrap();
        woke |= !world.is_asleep(below).unwrap();
    }
    assert!(woke, "the stack slept through a hit");
    world.remove_body(ball).unwrap();
    run(&mut world, 3.0, FRAME);
    assert!(world.is_asleep(above).unwrap());
    world.remove_body(below).unwrap();
    run(&mut world, 1.0, FRAME);
    let y = world.pose(above).unwrap().translation.y;
    assert!((y - 0.5).abs() < 0.01, "hangs at {y} after its support went");
}
