//! Tied systems in several simulators against the same in one world: error, order, evaluations a step and
//! energy drift at 60, 240 and 960 frames/s over 2 s.
//!
//! `cargo run --release -p thirdlaw-studies -- ties [NAME]`; exits with 1 where a system misses 1 % at
//! 60 frames/s, explodes or ends in an error. Where one world at 60 frames/s is itself farther than 1 % from one at 3840,
//! it is no judge at 1 %: there the coupled answer has to be nearer to that at 3840 than one world is.

pub mod ladder;
mod rungs;
mod systems;

use systems::System;
use thirdlaw::math::Vec3;
use thirdlaw::{World, measure};
use thirdlaw_scene::coupled::plain;
use thirdlaw_scene::{Scene, load};

const RATES: [u32; 3] = [60, 240, 960];
/// What one world says at this rate is taken for true.
const TRUE_RATE: u32 = 3840;

/// What a run tells.
#[derive(Default)]
struct Ran {
    /// Where the watched bodies are at the end of each 60th of a second.
    places: Vec<Vec<Vec3>>,
    evaluations: f64,
    /// Parts into which steps were divided at most.
    parts: u32,
    /// Steps that ended in an error.
    errors: u32,
    problem: String,
    /// Energy in all that was gained (lost), as a share of what moves, at most.
    drift: f64,
}

fn scene(text: &str, rate: u32) -> Scene {
    let fps = [("settings.fps".to_string(), rate.to_string())];
    load("ties", text, None, &fps).unwrap_or_else(|error| panic!("{error}"))
}

fn places(scene: &Scene, world: &World, watched: &[String]) -> Vec<Vec3> {
    let place = |name: &String| {
        let body = scene.bodies.iter().find(|b| b.name == *name).expect("a watched body");
        world.pose(body.id).expect("it is there") * Vec3::ZERO
    };
    watched.iter().map(place).collect()
}

fn total(world: &World) -> (f64, f64) {
    let energy = measure::energy(world);
    (energy.kinetic + energy.gravity + energy.elastic, energy.kinetic)
}

fn coupled(system: &System, rate: u32) -> Ran {
    let scene = scene(&system.scene, rate);
    let mut shown = scene.world.clone();
    let mut coupled = scene.couple(&mut plain).unwrap_or_else(|e| panic!("{e}")).expect("parts");
    let energy = |c: &thirdlaw_scene::Coupled| {
        let worlds = (0..c.coupling.simulator_count()).filter_map(|i| c.coupling.get::<World>(i));
        let sums = worlds.map(total).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        (sums.0 + c.coupling.stored(), sums.1)
    };
    let mut ran = Ran { places: vec![places(&scene, &shown, &system.watched)], ..Ran::default() };
    let (first, mut fastest, mut off) = (energy(&coupled).0, 0.0_f64, 0.0_f64);
    let steps = rate * system.seconds;
    for step in 1..=steps {
        match coupled.step(scene.dt()) {
            Ok(report) => {
                ran.evaluations += f64::from(report.evaluations) / f64::from(steps);
                ran.parts = ran.parts.max(report.parts);
            }
            Err(error) => {
                ran.errors = steps - step + 1;
                ran.problem = error.to_string();
                break;
            }
        }
        let (now, kinetic) = energy(&coupled);
        fastest = fastest.max(kinetic);
        off = if (now - first).abs() > off.abs() { now - first } else { off };
        if step % (rate / 60) == 0 {
            coupled.show(&mut shown);
            ran.places.push(places(&scene, &shown, &system.watched));
        }
    }
    ran.drift = off / fastest.max(1e-12);
    ran
}

fn whole(system: &System, rate: u32) -> Vec<Vec<Vec3>> {
    let mut scene = match &system.whole {
        Some(text) => scene(text, rate),
        None => scene(&system.scene, rate).monolithic().expect("one world can hold it"),
    };
    let dt = scene.dt();
    let mut all = vec![places(&scene, &scene.world, &system.watched)];
    for step in 1..=rate * system.seconds {
        scene.world.step(dt).unwrap_or_else(|error| panic!("{}: {error}", system.name));
        if step % (rate / 60) == 0 {
            all.push(places(&scene, &scene.world, &system.watched));
        }
    }
    all
}

/// Largest distance between two runs at any time, as a share of how far things get in the second, or of `least` m.
fn apart(a: &[Vec<Vec3>], b: &[Vec<Vec3>], least: f64) -> f64 {
    let far = |x: &[Vec3], y: &[Vec3]| {
        x.iter().zip(y).map(|(x, y)| (*x - *y).length()).fold(0.0, f64::max)
    };
    let way = b.iter().map(|x| far(x, &b[0])).fold(least, f64::max);
    let off = a.iter().zip(b).map(|(x, y)| far(x, y)).fold(0.0, f64::max);
    off / way
}

pub fn main() {
    let only = crate::words().next().unwrap_or_default();
    println!(
        "{:<32} {:>5} {:>10} {:>10} {:>10} {:>6} {:>6} {:>5} {:>10} {:>7}",
        "system",
        "fps",
        "apart",
        "error",
        "one world",
        "order",
        "evals",
        "parts",
        "energy",
        "errors"
    );
    let mut missed = 0;
    for system in systems::all().iter().filter(|s| s.name.contains(&only)) {
        let truth = whole(system, TRUE_RATE);
        let mut last: Option<f64> = None;
        for rate in RATES {
            let (ran, one) = (coupled(system, rate), whole(system, rate));
            let (same, own) = (apart(&ran.places, &one, 0.0), apart(&one, &truth, 0.0));
            let off = apart(&ran.places, &truth, 0.0);
            let order = last.map_or(String::new(), |l| format!("{:.2}", (l / off).log2() / 2.0));
            last = Some(off);
            // where one world is itself off, nearer to the truth than it is
            let near = rate > 60 || same.min(off) <= 0.01;
            let nearer = own > 0.01 && off < own;
            let bad = ran.errors > 0 || !same.is_finite() || !(near || nearer);
            missed += u32::from(bad && system.regular);
            println!(
                "{:<32} {rate:>5} {:>9.3} % {:>9.3} % {:>9.3} % {order:>6} {:>6.1} {:>5} {:>8.3} % {:>7}{}",
                if rate == 60 { &*system.name } else { "" },
                100.0 * same,
                100.0 * off,
                100.0 * own,
                ran.evaluations,
                ran.parts,
                100.0 * ran.drift,
                ran.errors,
                match (bad, near) {
                    (true, _) => "  ✗",
                    (false, false) => "  one world is farther off",
                    _ => "",
                }
            );
            if !ran.problem.is_empty() {
                println!("    {}", ran.problem);
            }
        }
    }
    println!("{missed} missed");
    std::process::exit(i32::from(missed > 0));
}
