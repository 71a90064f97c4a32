//! Joints held by impulses and in coordinates, and both held against an independent implementation of
//! Featherstone's algorithm at the cost of the first: chains of hinges askew to each other, let go horizontally.
//!
//! `cargo run --release -p thirdlaw-studies -- reduced [LINKS…]`

#[path = "../../../thirdlaw/tests/it/featherstone.rs"]
mod aba;

use crate::clock::timed;
use aba::{Bar, Chain};
use thirdlaw::{
    Body, BodyId, Enforcement, Groups, Joint, Settings, Shape, Side, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Bars of 1 kg, square in section.
fn bar(length: f64) -> Bar {
    let (l2, w2) = (length * length, (0.25 * length).powi(2));
    Bar { length, mass: 1.0, inertia: Vec3::new(2.0 * w2, l2 + w2, l2 + w2) / 12.0 }
}

/// Hinges across the chain, each turned against the one before.
fn axes(count: usize) -> Vec<Vec3> {
    (0..count).map(|i| 0.4 * (i % 3) as f64).map(|a| Vec3::new(0.0, a.sin(), a.cos())).collect()
}

/// The chain in the engine.
fn world(bar: &Bar, axes: &[Vec3], way: Enforcement) -> (World, Vec<BodyId>) {
    let mut settings = Settings::default();
    settings.joints.enforcement = way;
    let mut world = World::new(settings).expect("valid settings");
    let half = 0.5 * bar.length;
    let shape = Shape::cuboid(Vec3::new(half, 0.25 * half, 0.25 * half)).expect("a bar");
    let (mut before, mut bodies) = (Side::World, Vec::new());
    for (i, &axis) in axes.iter().enumerate() {
        let x = bar.length * i as f64;
        let mut body = Body::dynamic(shape.clone()).at(x + half, 0.0, 0.0).mass(bar.mass);
        body.groups = Groups { member: 0, collides: 0 };
        let id = world.add_body(body).expect("a link");
        world.add_joint(Joint::hinge(before, id).at(x, 0.0, 0.0).axis(axis)).expect("a hinge");
        before = id.into();
        bodies.push(id);
    }
    (world, bodies)
}

/// Farthest that the middle of any bar is from where it should be, relative to the chain's length.
fn off(places: &[Vec3], exact: &[Vec3], length: f64) -> f64 {
    let far = places.iter().zip(exact).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    if places.iter().all(|x| x.is_finite()) { far / length } else { f64::INFINITY }
}

/// What a method leaves.
struct Outcome {
    places: Vec<Vec3>,
    energy: f64,
}

/// How angles are advanced.
type Advance = fn(&mut Chain, f64);

const WAYS: [Advance; 3] = [Chain::runge_kutta, Chain::midpoint, Chain::euler];

fn reduced(bar: &Bar, axes: &[Vec3], frames: usize, steps: usize, advance: Advance) -> Outcome {
    let mut chain = Chain::new(*bar, axes.to_vec(), GRAVITY);
    for _ in 0..frames * steps {
        advance(&mut chain, FRAME / steps as f64);
    }
    Outcome { places: chain.middles(), energy: chain.energy() }
}

/// Processor time of one step, ms: of as many steps as the clock needs to tell.
fn step_time(bar: &Bar, axes: &[Vec3], advance: Advance) -> f64 {
    let mut steps = 8;
    loop {
        let mut chain = Chain::new(*bar, axes.to_vec(), GRAVITY);
        let time = timed(|| (0..steps).for_each(|_| advance(&mut chain, 1e-4)));
        if time > 100.0 {
            return time / f64::from(steps);
        }
        steps *= 2;
    }
}

/// The outcome of the engine, and its processor time, ms a frame.
fn engine(bar: &Bar, axes: &[Vec3], frames: usize, way: Enforcement) -> (Outcome, f64) {
    // short chains several times, for the clock
    let mut worlds: Vec<_> =
        (0..(500 / axes.len()).max(1)).map(|_| world(bar, axes, way)).collect();
    let time = timed(|| {
        for (world, _) in &mut worlds {
            for _ in 0..frames {
                world.step(FRAME).expect("a finite step");
            }
        }
    });
    let time = time / (frames * worlds.len()) as f64;
    let (world, bodies) = &worlds[0];
    let places = bodies.iter().map(|&id| world.center(id).expect("it is there")).collect();
    let energy = measure::energy(world);
    let outcome = Outcome { places, energy: energy.kinetic + energy.gravity };
    (outcome, time)
}

fn compare(count: usize, length: f64, seconds: f64) {
    let (bar, axes) = (bar(length), axes(count));
    let frames = (seconds / FRAME).round() as usize;
    let whole = length * count as f64;
    // refined until two refinements agree far below what is to be judged
    let (mut steps, mut exact) = (32, reduced(&bar, &axes, frames, 32, WAYS[0]));
    let mut agree = f64::INFINITY;
    while agree > 1e-9 && steps < 512 {
        steps *= 2;
        let finer = reduced(&bar, &axes, frames, steps, WAYS[0]);
        agree = off(&exact.places, &finer.places, whole);
        exact = finer;
    }
    let (held, held_time) = engine(&bar, &axes, frames, Enforcement::Reduced);
    let (ours, time) = engine(&bar, &axes, frames, Enforcement::Stabilized);
    let unit = whole * count as f64 * 9.81;
    let mut row = format!(
        "| {count} | {length} | {agree:.0e} | {:.2} | {:.1e} | {:+.0e} | {:.2} | {:.1e} | {:+.0e} |",
        time,
        off(&ours.places, &exact.places, whole),
        ours.energy / unit,
        held_time,
        off(&held.places, &exact.places, whole),
        held.energy / unit
    );
    for way in WAYS {
        let steps = ((time / step_time(&bar, &axes, way)).round() as usize).max(1);
        let theirs = reduced(&bar, &axes, frames, steps, way);
        row += &format!(
            " {steps} | {:.1e} | {:+.0e} |",
            off(&theirs.places, &exact.places, whole),
            theirs.energy / unit
        );
    }
    println!("{row}");
}

pub fn main() {
    println!(
        "Errors are of the worst place after the time, relative to the chain's length, and of energy,"
    );
    println!("relative to the weight times the length; at equal processor time.");
    println!(
        "| links | m | reference agrees to | stabilized: ms a frame | place | energy | reduced: ms a frame | place | energy \
         | Runge–Kutta: steps a frame | place | energy | midpoint: steps a frame | place | energy \
         | Euler: steps a frame | place | energy |"
    );
    println!("|{}", "---|".repeat(18));
    let asked: Vec<usize> = crate::words().filter_map(|a| a.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![10, 32, 100, 316, 1000] } else { asked };
    for &count in &counts {
        compare(count, 0.4, 1.0);
    }
    for &count in &counts {
        compare(count, 10.0 / count as f64, 1.0);
    }
}
