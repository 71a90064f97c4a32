//! Stacks: what a pile of bodies must stand.

use crate::{cuboid, earth, floor, run};
use thirdlaw::{Body, BodyId, Settings, Twist, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

fn drift(world: &World, ids: &[BodyId], starts: &[Vec3]) -> f64 {
    let moved =
        ids.iter().zip(starts).map(|(&id, s)| world.pose(id).unwrap().translation.distance(*s));
    moved.fold(0.0, f64::max)
}

fn positions(world: &World, ids: &[BodyId]) -> Vec<Vec3> {
    ids.iter().map(|&id| world.pose(id).unwrap().translation).collect()
}

#[test]
fn box_on_a_floor_rests_with_its_weight_on_the_contacts() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let id = world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 1.0, 0.0)).unwrap();
    run(&mut world, 2.0, FRAME);
    let y = world.pose(id).unwrap().translation.y;
    assert!((y - 0.5).abs() < 5e-4, "rests at {y}");
    let h = FRAME / f64::from(world.settings().substeps);
    let normal: f64 =
        world.state().contacts.iter().flat_map(|c| c.points()).map(|p| p.normal_impulse / h).sum();
    assert!((normal / (1000.0 * 9.81) - 1.0).abs() < 1e-6, "carries {normal} N");
}

#[test]
fn a_tower_of_twenty_stands_still() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let ids: Vec<_> = (0..20)
        .map(|i| {
            let y = 0.5 + f64::from(i);
            world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, y, 0.0)).unwrap()
        })
        .collect();
    let starts = positions(&world, &ids);
    run(&mut world, 5.0, FRAME);
    let drift = drift(&world, &ids, &starts);
    assert!(drift < 0.01, "drifts by {drift}");
}

#[test]
fn pyramid_of_thirty_rows_drifts_less_than_twenty_millimetres() {
    let mut world = earth();
    world.add_body(floor().friction(0.6)).unwrap();
    let mut ids = Vec::new();
    for row in 0..30 {
        for i in 0..30 - row {
            let x = 1.05 * (f64::from(i) - f64::from(29 - row) / 2.0);
            let cube =
                Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(x, 0.5 + f64::from(row), 0.0).friction(0.6);
            ids.push(world.add_body(cube).unwrap());
        }
    }
    let starts = positions(&world, &ids);
    run(&mut world, 5.0, FRAME);
    let drift = drift(&world, &ids, &starts);
    assert!(drift < 0.02, "drifts by {drift}");
}

/// A heavy cube on a light one of the same size; how far it ends from where it should rest.
fn heavy_on_light(ratio: f64) -> f64 {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let cube = || Body::dynamic(cuboid(0.5, 0.5, 0.5));
    world.add_body(cube().at(0.0, 0.5, 0.0).mass(1.0)).unwrap();
    let heavy = world.add_body(cube().at(0.0, 1.5, 0.0).mass(ratio)).unwrap();
    run(&mut world, 5.0, FRAME);
    world.pose(heavy).unwrap().translation.distance(Vec3::new(0.0, 1.5, 0.0))
}

#[test]
fn heavy_on_light_rests_within_one_percent_of_its_size() {
    for ratio in [1e2, 1e3, 1e4, 1e6, 1e8] {
        let off = heavy_on_light(ratio);
        assert!(off < 0.01, "{ratio:e}:1 ends {off} m off");
    }
}

/// A light cube between two heavy ones that run into it; the fastest body half a second later, and the
/// most iterations that a step took.
fn heavy_light_heavy(direct_rows: u32) -> (f64, u32) {
    let mut world = crate::world(0.0);
    let mut settings = *world.settings();
    settings.contact.direct_rows = direct_rows;
    world.set_settings(settings).unwrap();
    let cube = || Body::dynamic(cuboid(0.5, 0.5, 0.5));
    let mut ids = vec![world.add_body(cube().mass(1.0)).unwrap()];
    for side in [-1.0, 1.0] {
        let heavy = cube().at(1.02 * side, 0.0, 0.0).mass(1000.0).moving(Vec3::X * -side);
        ids.push(world.add_body(heavy).unwrap());
    }
    let mut iterations = 0;
    for _ in 0..30 {
        iterations = iterations.max(world.step(FRAME).unwrap().contact_iterations);
    }
    let momentum = thirdlaw::measure::momentum(&world).0.length();
    assert!(momentum < 1e-9, "momentum {momentum}");
    let speed = |&id: &BodyId| world.velocity(id).unwrap().linear.length();
    (ids.iter().map(speed).fold(0.0, f64::max), iterations)
}

#[test]
fn heavy_light_heavy_is_solved_at_once_and_slowly_pair_by_pair() {
    let (together, few) = heavy_light_heavy(100);
    assert!(together < 1e-6, "still moves at {together} m/s");
    let (pairwise, many) = heavy_light_heavy(0);
    // a contraction of 0.999 per sweep: many times the iterations, and not there after half a second
    assert!(pairwise > 1e3 * together, "{pairwise} m/s pair by pair, {together} at once");
    assert!(many > 4 * few, "{many} iterations pair by pair, {few} at once");
}

/// Columns of cubes that lie a few millimetres beside each other come to rest, at every height that iteration
/// or patience may treat in its own way, and do not swing about their axis meanwhile.
#[test]
fn columns_of_any_height_up_to_twenty_come_to_rest() {
    for count in 2..=20 {
        let mut world = earth();
        world.set_settings(Settings { sleeping: false, ..*world.settings() }).unwrap();
        world.add_body(floor()).unwrap();
        for i in 0..count {
            let beside = |k: f64| 0.01 * libm::sin(k * f64::from(i + 1));
            let cube = Body::dynamic(cuboid(0.25, 0.25, 0.25));
            let (x, y, z) = (beside(3.7), 0.25 * f64::from(2 * i + 1), beside(8.3));
            world.add_body(cube.at(x, y, z).friction(0.6).density(1000.0)).unwrap();
        }
        run(&mut world, 4.0, FRAME);
        for _ in 0..60 {
            world.step(FRAME).unwrap();
            for body in &world.state().bodies {
                let Twist { linear, angular } = body.velocity;
                assert!(linear.length() < 3e-3, "{count}: {linear}");
                assert!(angular.y.abs() < 1e-3, "{count}: {angular}");
            }
        }
    }
}
