//! Restitution in the pile: never more energy than before, and momentum stays.

use thirdlaw::{Body, Paths, Settings, Shape, SolvePath, Vec3, World, measure};

const G: f64 = 9.81;

fn world(g: f64, paths: Paths, bounce_speed: f64) -> World {
    let mut settings = Settings { gravity: Vec3::new(0.0, -g, 0.0), ..Settings::default() };
    settings.sleeping = false;
    (settings.contact.paths, settings.contact.bounce_speed) = (paths, bounce_speed);
    World::new(settings).unwrap()
}

fn cuboid(half: Vec3) -> Shape {
    Shape::cuboid(half).unwrap()
}

/// E − ½·g·h·P: what a semi-implicit substep of h seconds keeps in free flight.
fn invariant(world: &World, g: f64, h: f64) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity - 0.5 * g * h * measure::momentum(world).0.y
}

/// Numbers between 0 and 1 that look random.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut word = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    move || {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (word >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A cluster of bodies of all kinds that fly at its middle.
fn cluster(world: &mut World, seed: u64, count: usize, middle: Vec3) {
    let mut random = numbers(seed);
    for i in 0..count {
        let place = Vec3::new((i % 5) as f64, (i / 5 % 5) as f64, (i / 25) as f64) * 0.4;
        let shape = match i % 3 {
            0 => Shape::sphere(0.1 + 0.08 * random()).unwrap(),
            1 => cuboid(Vec3::new(0.15, 0.05 + 0.1 * random(), 0.12)),
            _ => Shape::capsule(0.08, 0.08).unwrap(),
        };
        let velocity = -3.0 * (place - Vec3::splat(0.8)) + Vec3::new(random(), random(), random());
        let at = place + middle;
        let body = Body::dynamic(shape)
            .mass(0.5 + 9.0 * random() * random())
            .restitution(random())
            .friction(random())
            .at(at.x, at.y, at.z)
            .moving(velocity)
            .spinning(Vec3::new(random(), random(), random()) * 4.0);
        world.add_body(body).unwrap();
    }
}

#[test]
fn impacts_in_a_pile_never_gain_and_keep_momentum() {
    println!("known:  kinetic energy never grows, momentum stays; paths of general and pile");
    for (seed, rate) in [(0, 60.0), (1, 60.0), (2, 60.0), (3, 240.0), (4, 240.0), (5, 30.0)] {
        for paths in [Paths::Auto, Paths::General] {
            if paths == Paths::General && seed > 0 {
                continue;
            }
            let mut world = world(0.0, paths, 0.01);
            cluster(&mut world, seed, 125, Vec3::ZERO);
            let (before, start) = (measure::momentum(&world), measure::energy(&world).kinetic);
            let (mut last, mut gained, mut piles) = (start, 0.0_f64, 0);
            for _ in 0..rate as usize {
                piles += world.step(1.0 / rate).unwrap().paths.of(SolvePath::Pile);
                let now = measure::energy(&world).kinetic;
                gained = gained.max((now - last) / start);
                last = now;
            }
            let off = (measure::momentum(&world).0 - before.0).length();
            println!(
                "after:  seed {seed} at {rate}, {paths:?}: gained {gained:.1e} of the start in a frame at most, \
                 {:.2} left, momentum off by {off:.1e}, {piles} piles",
                last / start
            );
            assert!(paths == Paths::General || piles > 0 || rate < 60.0, "the pile takes part");
            assert!(gained < 2e-3, "seed {seed}: {gained}");
            assert!(off < 1e-9 * (1.0 + before.0.length()), "seed {seed}: {off}");
        }
    }
}

#[test]
fn heaps_that_bounce_in_a_pile_never_gain_in_gravity() {
    println!(
        "known:  E - g h P/2 never grows, from frame to frame, over what contacts have done before"
    );
    for (seed, rate, e) in [(0, 60.0, 1.0), (1, 60.0, 0.6), (2, 240.0, 1.0), (3, 30.0, 0.9)] {
        let mut world = world(G, Paths::Auto, 0.01);
        let floor = Body::fixed(cuboid(Vec3::new(20.0, 1.0, 20.0)));
        world.add_body(floor.restitution(e).friction(0.4).at(0.0, -1.0, 0.0)).unwrap();
        cluster(&mut world, seed, 125, Vec3::new(0.0, 0.3, 0.0));
        let h = 1.0 / rate / f64::from(world.settings().substeps);
        let start = invariant(&world, G, h);
        let (mut last, mut gained, mut piles) = (start, 0.0_f64, 0);
        for _ in 0..(1.5 * rate) as usize {
            piles += world.step(1.0 / rate).unwrap().paths.of(SolvePath::Pile);
            let now = invariant(&world, G, h);
            gained = gained.max((now - last) / start);
            last = now;
        }
        println!("after:  seed {seed} at {rate}, floor {e}: gained {gained:.1e}, {piles} piles");
        assert!(piles > 0 || rate < 60.0, "the pile takes part");
        assert!(gained < 2e-3, "seed {seed}: {gained}");
    }
}
