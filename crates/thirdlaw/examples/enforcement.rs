//! Every way to hold a joint, on one pendulum: drift, energy, distance from the exact place, time.
//!
//! `cargo run --release -p thirdlaw --example enforcement`

use std::time::Instant;
use thirdlaw::joint::JointSolve;
use thirdlaw::{Enforcement, Joint, Point, Settings, Side, Vec3, World};

/// A point mass on a rod of 1 m, released horizontally at (−1, 0), for five seconds in 300 frames.
fn pendulum(enforcement: Enforcement, solve: JointSolve, substeps: u32) -> [f64; 4] {
    let mut settings = Settings { substeps, ..Settings::default() };
    (settings.joints.enforcement, settings.joints.solve) = (enforcement, solve);
    let mut world = World::new(settings).expect("valid settings");
    let bob = world.add_point(Point::new(1.0, Vec3::NEG_X)).expect("a point");
    world.add_joint(Joint::rod(Side::World, bob, 1.0)).expect("a rod");
    let (mut drift, mut energy) = (0.0_f64, 0.0_f64);
    let mut now = *world.point(bob).expect("it is there");
    let start = Instant::now();
    for _ in 0..300 {
        world.step(1.0 / 60.0).expect("a finite step");
        now = *world.point(bob).expect("it is there");
        drift = drift.max((now.position.length() - 1.0).abs());
        let sum = 0.5 * now.velocity.length_squared() + 9.81 * now.position.y;
        energy = if sum.abs() > energy.abs() { sum } else { energy };
    }
    let time = start.elapsed().as_secs_f64() / 300.0 * 1e6;
    let exact = Vec3::new(-0.9423054350, -0.3347543384, 0.0);
    [drift, energy, now.position.distance(exact), time]
}

fn main() {
    let ways = [
        ("stabilized (default)", Enforcement::Stabilized),
        ("soft, 1e4 N/m", Enforcement::Soft { stiffness: 1e4, damping: 10.0 }),
        ("soft, 1e6 N/m", Enforcement::Soft { stiffness: 1e6, damping: 100.0 }),
        ("pseudo-time", Enforcement::PseudoTime),
        ("multipliers, no stabilization", Enforcement::Multipliers { rate: 0.0 }),
        ("multipliers, 30 1/s", Enforcement::Multipliers { rate: 30.0 }),
        ("projection", Enforcement::Projection),
    ];
    println!("| way | drift, m | energy error, J | off after 5 s, m | order | µs a frame |");
    println!("|---|---|---|---|---|---|");
    for (name, way) in ways {
        row(name, way, JointSolve::Exact);
    }
    row("stabilized, as contact rows", Enforcement::Stabilized, JointSolve::Rows);
}

fn row(name: &str, way: Enforcement, solve: JointSolve) {
    let [drift, energy, off, time] = pendulum(way, solve, 8);
    let finer = pendulum(way, solve, 16)[2];
    let order = (off / finer).log2();
    println!("| {name} | {drift:.1e} | {energy:+.1e} | {off:.1e} | {order:.1} | {time:.0} |");
}
