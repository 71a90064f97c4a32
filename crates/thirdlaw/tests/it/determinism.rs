//! The same bits: for any number of threads, after save and restore, without scratch memory, and
//! whatever lies far away.

use crate::{cuboid, earth, floor, hashes, run, sphere, with_threads};
use thirdlaw::{Body, BodyId, Shape, Snapshot, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

/// A heap of boxes, balls, capsules and hulls falling on each other.
fn heap(count: usize) -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..count {
        // a fixed scatter: no two bodies start at the same place or turned alike
        let r = |k: usize| (((i * 7 + k) * 7919) % 1000) as f64 / 1000.0 - 0.5;
        let shape = match i % 4 {
            0 => cuboid(0.25, 0.25, 0.25),
            1 => sphere(0.3),
            2 => Shape::capsule(0.2, 0.2).unwrap(),
            _ => Shape::cylinder(0.25, 0.25).unwrap(),
        };
        let body = Body::dynamic(shape)
            .at(1.5 * r(0), 1.0 + 0.35 * i as f64, 1.5 * r(1))
            .rotated(Vec3::new(r(2), r(3), r(4)))
            .restitution(0.2);
        world.add_body(body).unwrap();
    }
    world
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let reference = with_threads(1, || hashes(&mut heap(60), 150));
    for threads in [2, 3, 7, 16] {
        let other = with_threads(threads, || hashes(&mut heap(60), 150));
        assert!(reference == other, "{threads} threads differ");
    }
}

/// Debug and release builds must agree with this number; it changes only when the physics does.
#[test]
fn the_heap_ends_in_the_recorded_bits() {
    let last = *hashes(&mut heap(30), 60).last().unwrap();
    let recorded = u64::from_str_radix(include_str!("heap.hash").trim(), 16).unwrap();
    assert_eq!(format!("{last:016x}"), format!("{recorded:016x}"));
}

#[test]
fn save_and_restore_at_any_frame_gives_the_same_bits() {
    let mut world = heap(30);
    let reference = hashes(&mut world, 90);
    for at in [0, 1, 17, 45, 89] {
        let mut first = heap(30);
        hashes(&mut first, at);
        let bytes = first.save().to_bytes();
        // into a fresh world, as after a restart
        let mut second = heap(30);
        second.restore(&Snapshot::from_bytes(&bytes).unwrap()).unwrap();
        assert_eq!(second.hash(), first.hash());
        assert!(hashes(&mut second, 90 - at) == reference[at..], "restored at {at}");
        // and into the world itself, after it went on
        let snapshot = first.save();
        hashes(&mut first, 13);
        first.restore(&snapshot).unwrap();
        assert!(hashes(&mut first, 90 - at) == reference[at..], "rewound to {at}");
    }
}

#[test]
fn dropping_scratch_memory_changes_no_bit() {
    let reference = hashes(&mut heap(30), 90);
    let mut world = heap(30);
    for expected in reference {
        world.drop_scratch();
        world.step(FRAME).unwrap();
        assert_eq!(world.hash(), expected);
    }
}

#[test]
fn a_body_far_away_changes_no_bit_elsewhere() {
    let trace = |far: bool| {
        let mut world = heap(30);
        let ids: Vec<BodyId> = world.bodies().collect();
        if far {
            world.add_body(Body::dynamic(sphere(0.5)).at(500.0, 3.0, 0.0)).unwrap();
            world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(500.0, 9.0, 0.1)).unwrap();
        }
        run(&mut world, 2.0, FRAME);
        let bits = |id: &BodyId| {
            let (p, v) = (world.pose(*id).unwrap(), world.velocity(*id).unwrap());
            [p.translation, v.linear, v.angular].map(|v| v.to_array().map(f64::to_bits))
        };
        ids.iter().map(bits).collect::<Vec<_>>()
    };
    assert!(trace(false) == trace(true));
}

#[test]
fn the_hash_covers_velocities_and_warm_starts() {
    let mut world = heap(10);
    hashes(&mut world, 60);
    let snapshot = world.save();
    let mut changed = snapshot.clone();
    changed.state.bodies[3].velocity.angular.z += 1e-15;
    assert_ne!(snapshot.state.hash(), changed.state.hash());
    let mut changed = snapshot.clone();
    changed.state.contacts[0].impulses.normal[0] += 1e-12;
    assert_ne!(snapshot.state.hash(), changed.state.hash());
}

/// One island large enough that its colours are shared out among threads.
#[test]
fn one_large_island_gives_the_same_bits_for_any_number_of_threads() {
    let trace = || {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        for row in 0..30 {
            for i in 0..30 - row {
                let x = 1.01 * (f64::from(i) - f64::from(29 - row) / 2.0);
                let y = 0.5 + 0.999 * f64::from(row);
                world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(x, y, 0.0)).unwrap();
            }
        }
        hashes(&mut world, 8)
    };
    let reference = with_threads(1, trace);
    for threads in [2, 3, 7, 16] {
        assert!(reference == with_threads(threads, trace), "{threads} threads differ");
    }
}
