//! Bodies that overlap at the start come apart without being thrown.

use crate::{cuboid, floor, sphere, world};
use thirdlaw::{Body, BodyId, World, measure};

const RATES: [f64; 3] = [30.0, 60.0, 240.0];

fn build(bodies: impl IntoIterator<Item = Body>) -> (World, Vec<BodyId>) {
    let mut world = world(9.81);
    let mut settings = *world.settings();
    settings.sleeping = false;
    world.set_settings(settings).unwrap();
    world.add_body(floor()).unwrap();
    let ids = bodies.into_iter().map(|body| world.add_body(body).unwrap()).collect();
    (world, ids)
}

/// The highest place of a body and its greatest speed over the whole time, the kinetic energy at the end, and the
/// deepest overlap there.
fn run((mut world, ids): (World, Vec<BodyId>), seconds: f64, rate: f64) -> [f64; 4] {
    let (mut highest, mut fastest) = (0.0_f64, 0.0_f64);
    for _ in 0..(seconds * rate) as usize {
        world.step(1.0 / rate).unwrap();
        for &id in &ids {
            highest = highest.max(world.pose(id).unwrap().translation.y);
            fastest = fastest.max(world.velocity(id).unwrap().linear.length());
        }
    }
    [highest, fastest, measure::energy(&world).kinetic, measure::penetration(&world)]
}

fn cube(x: f64, y: f64, z: f64) -> Body {
    Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(x, y, z).mass(10.0)
}

#[test]
fn an_overlapping_column_ends_as_a_tower() {
    println!("known:  ten cubes that overlap by half come apart; before: thrown 40 m high");
    for rate in RATES {
        for overlap in [0.1, 0.5, 0.9] {
            let column = (0..10).map(|i| cube(0.0, 0.5 + (1.0 - overlap) * f64::from(i), 0.0));
            let [highest, fastest, kinetic, deep] = run(build(column), 15.0, rate);
            println!(
                "after:  overlap {overlap} at {rate}/s: {highest:.2} m high, {fastest:.2} m/s, \
                 {kinetic:.1e} J at the end, {:.2} mm deep",
                1e3 * deep
            );
            // no higher than the tower that it makes, which may topple
            assert!(highest < 9.6, "{overlap} at {rate}: {highest} m high");
            assert!(kinetic < 1e-2, "{overlap} at {rate}: {kinetic} J at the end");
            assert!(deep < 5e-3, "{overlap} at {rate}: {deep} m deep");
        }
    }
}

#[test]
fn heaps_and_coincident_bodies_come_apart_slowly() {
    println!("known:  nothing is faster than a fall from where the heap stands afterwards");
    for rate in RATES {
        let heap = (0..27).map(|i| {
            let at = |k: i32| 0.4 * f64::from(i / k % 3);
            cube(at(1) + 0.01 * f64::from(i % 5), 0.6 + at(9), at(3))
        });
        let balls = (0..8).map(|i| {
            let x = 0.01 * f64::from(i % 2);
            Body::dynamic(sphere(0.5)).mass(10.0).at(x, 0.5 + 0.1 * f64::from(i / 2), 0.0)
        });
        let twins = (0..2).map(|_| cube(0.0, 0.5, 0.0));
        let cases: [(&str, Vec<Body>); 3] =
            [("heap", heap.collect()), ("balls", balls.collect()), ("twins", twins.collect())];
        for (name, bodies) in cases {
            let count = bodies.len() as f64;
            let (world, ids) = build(bodies);
            let [highest, fastest, _, deep] = run((world, ids), 8.0, rate);
            println!(
                "after:  {name} at {rate}/s: {highest:.2} m high, {fastest:.2} m/s, {:.2} mm deep",
                1e3 * deep
            );
            assert!(highest < 0.6 + count, "{name} at {rate}: {highest} m high");
            assert!(fastest < (2.0 * 9.81 * count.min(6.0)).sqrt(), "{name} at {rate}: {fastest}");
            assert!(deep < 0.01, "{name} at {rate}: {deep} m deep");
        }
    }
}
