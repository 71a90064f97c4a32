//! Nets of joints, whose loops share their joints: laws of mechanics and the same bits everywhere.

use crate::{cuboid, hashes, sphere, with_threads, world};
use thirdlaw::{Body, BodyId, Groups, Joint, Settings, Side, Vec3, World, measure};

/// A ball that touches nothing.
fn ball(world: &mut World, [x, y, z]: [f64; 3], velocity: Vec3) -> BodyId {
    let body = Body::dynamic(sphere(0.4)).at(x, y, z).moving(velocity);
    world.add_body(Body { groups: Groups { member: 1, collides: 0 }, ..body }).unwrap()
}

/// n × n balls in a warped square, each held by its neighbours, that move to and fro; hung by a corner if held.
fn net(n: usize, g: f64, held: bool) -> World {
    let mut world = world(g);
    let place = |i: usize, k: usize| {
        let (x, y) = (k as f64, -(i as f64));
        [x, y, 0.3 * (0.9 * x).sin() * (0.7 * y).cos()]
    };
    let mut bodies = Vec::new();
    for i in 0..n {
        for k in 0..n {
            let velocity = Vec3::new(0.0, 0.0, ((i * 7 + k * 3) % 5) as f64 - 2.0);
            bodies.push(ball(&mut world, place(i, k), if held { Vec3::ZERO } else { velocity }));
        }
    }
    let mut join = |a: (usize, usize), b: (usize, usize)| {
        let (p, q) = (place(a.0, a.1), place(b.0, b.1));
        let at = [0, 1, 2].map(|axis| 0.5 * (p[axis] + q[axis]));
        let joint = Joint::ball(bodies[a.0 * n + a.1], bodies[b.0 * n + b.1]);
        world.add_joint(joint.at(at[0], at[1], at[2])).unwrap();
    };
    for i in 0..n {
        for k in 0..n {
            if k + 1 < n {
                join((i, k), (i, k + 1));
            }
            if i + 1 < n {
                join((i, k), (i + 1, k));
            }
        }
    }
    if held {
        world.add_joint(Joint::ball(Side::World, bodies[0]).at(0.0, 0.4, 0.0)).unwrap();
    }
    world
}

fn sum(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

#[test]
fn a_free_net_keeps_its_momentum_and_its_joints() {
    let mut world = net(9, 0.0, false);
    world.step(1.0 / 60.0).unwrap();
    let (linear, angular) = measure::momentum(&world);
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        assert!(measure::joint_error(&world) < 1e-8, "{}", measure::joint_error(&world));
    }
    let (linear_now, angular_now) = measure::momentum(&world);
    assert!((linear_now - linear).length() < 1e-9, "{linear} {linear_now}");
    assert!((angular_now - angular).length() < 1e-8, "{angular} {angular_now}");
}

#[test]
fn energy_of_a_swinging_net_is_kept_to_second_order() {
    let off = |substeps: u32| {
        let mut world = net(8, 9.81, true);
        world.set_settings(Settings { substeps, ..*world.settings() }).unwrap();
        let first = sum(&world);
        let mut worst = 0.0_f64;
        for _ in 0..40 {
            world.step(1.0 / 60.0).unwrap();
            worst = worst.max((sum(&world) - first).abs());
        }
        assert!(measure::joint_error(&world) < 1e-8);
        (worst, measure::energy(&world).kinetic)
    };
    let [(coarse, _), (fine, kinetic)] = [8, 16].map(off);
    assert!(fine < 1e-3 * kinetic, "{coarse} {fine} of {kinetic}");
    assert!(fine < 0.4 * coarse, "{coarse} {fine} of {kinetic}");
}

#[test]
fn nets_give_the_same_bits_for_any_threads_and_without_scratch() {
    let with = |threads: usize| with_threads(threads, || hashes(&mut net(7, 9.81, true), 30));
    let reference = with(1);
    assert!(with(3) == reference);
    let mut dropped = net(7, 9.81, true);
    for hash in &reference {
        dropped.step(1.0 / 60.0).unwrap();
        dropped.drop_scratch();
        assert_eq!(dropped.hash(), *hash);
    }
}

#[test]
fn a_wheel_with_many_spokes_turns_as_one_body() {
    let mut world = world(0.0);
    let count = 48;
    let spin = Vec3::new(0.0, 0.0, 1.0);
    let mut hub = Body::dynamic(cuboid(0.5, 0.5, 0.1)).at(0.0, 0.0, 0.0);
    hub.groups = Groups { member: 1, collides: 0 };
    let hub = world.add_body(hub).unwrap();
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / count as f64;
    let place = |i: usize, r: f64| [r * angle(i).cos(), r * angle(i).sin(), 0.0];
    let mut rim = Vec::new();
    for i in 0..count {
        let p = place(i, 4.0);
        rim.push(ball(&mut world, p, spin.cross(Vec3::from(p))));
    }
    for i in 0..count {
        let at = place(i, 3.0);
        world.add_joint(Joint::ball(hub, rim[i]).at(at[0], at[1], at[2])).unwrap();
        let (a, b) = (place(i, 4.0), place((i + 1) % count, 4.0));
        let at = [0, 1].map(|axis| 0.5 * (a[axis] + b[axis]));
        world.add_joint(Joint::ball(rim[i], rim[(i + 1) % count]).at(at[0], at[1], 0.0)).unwrap();
    }
    world.step(1.0 / 60.0).unwrap();
    let (_, angular) = measure::momentum(&world);
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap();
        assert!(measure::joint_error(&world) < 1e-8, "{}", measure::joint_error(&world));
    }
    let (linear, angular_now) = measure::momentum(&world);
    assert!(linear.length() < 1e-9, "{linear}");
    assert!((angular_now - angular).length() < 1e-8 * angular.length(), "{angular} {angular_now}");
}
