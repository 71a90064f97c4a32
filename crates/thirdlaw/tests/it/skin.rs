//! Gaps that count as closed: bodies on uneven ground come to rest, and come all the way down.

use crate::{cuboid, earth, floor, sphere};
use thirdlaw::math::Vec3;
use thirdlaw::{Body, Settings, World};

const FRAME: f64 = 1.0 / 60.0;

/// A column of six cubes of half size `half`, tilted as a whole so that its far edge is `gap` above the
/// floor: how far its top swings to the other side when it falls back, over how far it leant.
fn swing(half: f64, gap: f64, skin: f64) -> f64 {
    let mut world = earth();
    let mut settings = *world.settings();
    settings.contact.skin = skin;
    world.set_settings(settings).unwrap();
    world.add_body(floor()).unwrap();
    let tilt = libm::asin(gap / (2.0 * half));
    let (cos, sin) = (libm::cos(tilt), libm::sin(tilt));
    let ids = [0, 1, 2, 3, 4, 5].map(|i| {
        let (x, y) = (half, half * f64::from(2 * i + 1));
        let cube = Body::dynamic(cuboid(half, half, half)).rotated(tilt * Vec3::Z);
        world.add_body(cube.at(x * cos - y * sin, x * sin + y * cos, 0.0)).unwrap()
    });
    let x = |world: &World, id| world.pose(id).unwrap().translation.x;
    let leant = |world: &World| x(world, ids[0]) - x(world, ids[5]);
    let (start, mut back) = (leant(&world), 0.0);
    for _ in 0..60 {
        world.step(FRAME).unwrap();
        back = f64::max(back, -leant(&world));
    }
    back / start
}

#[test]
fn a_column_tilted_within_its_skin_comes_down_without_swinging_back() {
    for (half, gap) in [(0.25, 5e-4), (0.25, 9e-4), (0.5, 1e-3)] {
        let [free, soft] = [0.0, 1e-3].map(|skin| swing(half, gap, skin));
        assert!(free > 0.5 && soft < 0.1, "{half}, {gap}: {free} {soft}");
    }
}

#[test]
fn a_column_tilted_farther_swings_as_it_would_without_a_skin() {
    for half in [0.25, 0.5] {
        let [free, soft] = [0.0, 1e-3].map(|skin| swing(half, 1e-2, skin));
        assert!(free > 0.8 && (free - soft).abs() < 3e-3, "{half}: {free} {soft}");
    }
}

/// Speeds of turning before each impact over those before the last, of a block of half width `half` and
/// half height `tall` whose far edge begins `gap` above the floor.
fn impacts((half, tall): (f64, f64), gap: f64, dt: f64) -> Vec<f64> {
    let mut world = earth();
    world.add_body(floor().friction(1.0)).unwrap();
    let tilt = libm::asin(gap / (2.0 * half));
    let (cos, sin) = (libm::cos(tilt), libm::sin(tilt));
    let block = Body::dynamic(cuboid(half, tall, half)).friction(1.0).rotated(tilt * Vec3::Z);
    let id =
        world.add_body(block.at(half * cos - tall * sin, half * sin + tall * cos, 0.0)).unwrap();
    let (mut peaks, mut peak, mut side) = (Vec::new(), 0.0, 1.0);
    while peaks.len() < 4 {
        world.step(dt).unwrap();
        let leans = world.pose(id).unwrap().rotation.z;
        if leans * side < 0.0 {
            peaks.push(peak);
            (peak, side) = (0.0, -side);
        }
        peak = f64::max(peak, world.velocity(id).unwrap().angular.z.abs());
    }
    peaks.windows(2).map(|pair| pair[1] / pair[0]).collect()
}

/// A block that rocks keeps its angular momentum about the edge it lands on.
/// [Housner 1963: The behavior of inverted pendulum structures during earthquakes]
#[test]
fn a_rocking_block_loses_what_housner_says() {
    for tall in [0.75, 1.0, 1.5] {
        let alpha = libm::atan(0.25 / tall);
        let kept = 1.0 - 1.5 * libm::sin(alpha) * libm::sin(alpha);
        let ratios = impacts((0.25, tall), 4e-2, 1.0 / 240.0);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!((mean - kept).abs() < 0.015, "{tall}: {ratios:?}, {kept}");
    }
}

#[test]
fn what_lands_comes_down_through_its_skin() {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(floor()).unwrap();
    let bodies =
        [sphere(0.5), cuboid(0.5, 0.5, 0.5), cuboid(0.02, 0.02, 0.02), cuboid(2.0, 0.1, 2.0)];
    let heights = [0.5, 0.5, 0.02, 0.1];
    let ids: Vec<_> = (bodies.into_iter().zip(heights).enumerate())
        .map(|(i, (shape, height))| {
            let x = 6.0 * i as f64;
            world.add_body(Body::dynamic(shape).at(x, height + 2.5, 0.0)).unwrap()
        })
        .collect();
    for _ in 0..240 {
        world.step(FRAME).unwrap();
    }
    for (&id, height) in ids.iter().zip(heights) {
        let above = world.pose(id).unwrap().translation.y - height;
        // slop and spring are those of its size; at small bodies the substep bounds the frequency, 120 Hz
        let size = 2.0 * height / 0.5;
        let omega = std::f64::consts::TAU * 120.0 / size.max(1.0).sqrt();
        // corners of a flat plate answer 7/4 times as much as those of a cube
        let most = 1e-4 * size + 1.75 * 9.81 / (omega * omega);
        assert!((-most..0.0).contains(&above), "{height}: {above} of {most}");
    }
}
