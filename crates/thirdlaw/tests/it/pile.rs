//! Piles: what many bodies in contact do together, whichever way their islands are solved.

use crate::{cuboid, earth, floor, hashes, run, with_threads, world};
use thirdlaw::{Body, Settings, Solver, Vec3, World, measure};

const FRAME: f64 = 1.0 / 60.0;

/// Cubes and planks that do not bounce, raining on a floor in columns that lean on each other.
fn rain(count: usize) -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    add_rain(&mut world, (count, 0), Vec3::ZERO);
    world
}

fn add_rain(world: &mut World, (count, seed): (usize, usize), at: Vec3) {
    for i in 0..count {
        let r = |k: usize| (((i + 100 * seed) * 7 + k) * 7919 % 1000) as f64 / 1000.0 - 0.5;
        let (column, layer) = (i % 25, i / 25);
        let (x, z) = ((column % 5) as f64, (column / 5) as f64);
        let shape = if i % 3 == 0 { cuboid(0.4, 0.15, 0.2) } else { cuboid(0.25, 0.25, 0.25) };
        let body = Body::dynamic(shape)
            .at(at.x + 0.6 * x + 0.1 * r(0), 0.5 + 0.6 * layer as f64, at.z + 0.6 * z + 0.1 * r(1))
            .friction(0.6);
        world.add_body(body).unwrap();
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let reference = with_threads(1, || hashes(&mut rain(300), 90));
    for threads in [2, 3, 16] {
        let other = with_threads(threads, || hashes(&mut rain(300), 90));
        assert!(reference == other, "{threads} threads differ");
    }
}

#[test]
fn dropping_scratch_and_restoring_change_no_bit() {
    let reference = hashes(&mut rain(150), 80);
    let mut world = rain(150);
    let first = hashes(&mut world, 40);
    world.drop_scratch();
    let bytes = world.save().to_bytes();
    let mut other = rain(150);
    other.restore(&thirdlaw::Snapshot::from_bytes(&bytes).unwrap()).unwrap();
    let (here, there) = (hashes(&mut world, 40), hashes(&mut other, 40));
    assert!(first == reference[..40] && here == reference[40..] && there == here);
}

#[test]
fn a_pile_far_away_changes_no_bit() {
    let motion = |world: &World| -> Vec<[u64; 3]> {
        let bodies = world.bodies().skip(1).take(100);
        bodies.map(|id| world.pose(id).unwrap().translation.to_array().map(f64::to_bits)).collect()
    };
    let mut alone = rain(100);
    let mut beside = rain(100);
    add_rain(&mut beside, (77, 0), Vec3::new(50.0, 0.0, 3.0));
    for frame in 0..90 {
        alone.step(FRAME).unwrap();
        beside.step(FRAME).unwrap();
        assert!(motion(&alone) == motion(&beside), "frame {frame}");
    }
}

#[test]
fn the_floor_carries_the_weight_of_a_pile_at_rest() {
    let mut world = rain(150);
    run(&mut world, 6.0, FRAME);
    assert!(measure::penetration(&world) < 0.003, "{}", measure::penetration(&world));
    let h = FRAME / f64::from(world.settings().substeps);
    let on_floor = world.state().contacts.iter().filter(|c| c.key.a == 0);
    let force: Vec3 = on_floor
        .flat_map(|c| c.points().map(move |p| p.normal_impulse * c.normal + p.friction_impulse))
        .sum();
    let mass: f64 = world.model().bodies.iter().filter(|b| b.is_dynamic()).map(|b| b.mass).sum();
    assert!((force.y / h / (mass * 9.81) - 1.0).abs() < 1e-3, "{} of {}", force.y / h, mass * 9.81);
}

/// Two clouds of boxes that meet in free space, without gravity.
#[test]
fn colliding_clouds_keep_their_momentum() {
    let mut world = world(0.0);
    for i in 0..120 {
        let (x, y, z) = ((i % 5) as f64, (i / 5 % 4) as f64, (i / 20) as f64);
        let side = if z < 3.0 { -1.0 } else { 1.0 };
        let body = Body::dynamic(cuboid(0.25, 0.2, 0.3))
            .at(0.6 * x + 0.07 * z, 0.5 * y, 0.7 * z + side)
            .moving(Vec3::new(100.0, 0.0, -2.0 * side));
        world.add_body(body).unwrap();
    }
    let (linear, angular) = measure::momentum(&world);
    run(&mut world, 2.0, FRAME);
    let (linear1, angular1) = measure::momentum(&world);
    let mass: f64 = world.model().bodies.iter().map(|b| b.mass).sum();
    assert!((linear1 - linear).length() < 1e-12 * linear.length(), "{}", linear1 - linear);
    // arms are those of the beginning of a step: what slides during it turns a little too much
    let spread = (angular1 - angular).length() / (mass * 2.0);
    assert!(spread < 0.02, "angular momentum is off by {spread} m of arm");
}

/// The same rains by the general path, in double precision with friction at every point: other bits, the
/// same piles. How high one of them ends hangs on a few boxes that do or do not topple, 4 % of its energy;
/// the mean over several says more.
#[test]
fn the_pile_is_that_of_the_general_path() {
    let heights = |solver: Solver| -> (f64, f64) {
        let (mut sum, mut deepest) = (0.0, 0.0_f64);
        for seed in 0..6 {
            let mut world = earth();
            world.add_body(floor()).unwrap();
            add_rain(&mut world, (100, seed), Vec3::ZERO);
            let mut settings: Settings = *world.settings();
            settings.contact.solver = solver;
            world.set_settings(settings).unwrap();
            run(&mut world, 3.0, FRAME);
            sum += measure::energy(&world).gravity;
            deepest = deepest.max(measure::penetration(&world));
        }
        (sum, deepest)
    };
    let (fast, reference) = (heights(Solver::ColoredPgs), heights(Solver::Pgs));
    assert!((fast.0 / reference.0 - 1.0).abs() < 0.03, "{fast:?} {reference:?}");
    assert!(fast.1 < 0.005 && reference.1 < 0.005, "{fast:?} {reference:?}");
}
