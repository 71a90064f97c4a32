//! Every way to hold a joint, on one pendulum: drift, energy, distance from the exact place, time.
//!
//! `cargo run --release -p thirdlaw-studies -- enforcement`

use std::time::Instant;
use thirdlaw::{
    Body, Enforcement, Joint, JointSolve, Mass, Mat3, Point, Settings, Shape, Side, Vec3, World,
};

/// What a pendulum is: a point mass on a rod, or a small body on a hinge. Coordinates hold hinges only.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Rod,
    Hinge,
}

/// Where the bob is, and its velocity.
type Place = dyn Fn(&World) -> (Vec3, Vec3);

/// A pendulum of 1 m and 1 kg, released horizontally at (−1, 0), for five seconds in 300 frames.
fn pendulum(kind: Kind, enforcement: Enforcement, solve: JointSolve, substeps: u32) -> [f64; 4] {
    let mut settings = Settings { substeps, sleeping: false, ..Settings::default() };
    (settings.joints.enforcement, settings.joints.solve) = (enforcement, solve);
    let mut world = World::new(settings).expect("valid settings");
    let place: Box<Place> = match kind {
        Kind::Rod => {
            let bob = world.add_point(Point::new(1.0, Vec3::NEG_X)).expect("a point");
            world.add_joint(Joint::rod(Side::World, bob, 1.0)).expect("a rod");
            Box::new(move |world| {
                let now = world.point(bob).expect("it is there");
                (now.position, now.velocity)
            })
        }
        Kind::Hinge => {
            let mut body = Body::dynamic(Shape::sphere(1e-3).expect("a ball")).at(-1.0, 0.0, 0.0);
            let inertia = 1e-12 * Mat3::IDENTITY;
            body.mass = Mass::Explicit { mass: 1.0, center: Vec3::ZERO, inertia };
            let bob = world.add_body(body).expect("a body");
            world.add_joint(Joint::hinge(Side::World, bob).axis(Vec3::Z)).expect("a hinge");
            Box::new(move |world| {
                let v = world.velocity(bob).expect("it is there");
                (world.center(bob).expect("it is there"), v.linear)
            })
        }
    };
    let (mut drift, mut energy) = (0.0_f64, 0.0_f64);
    let mut position = Vec3::NEG_X;
    let start = Instant::now();
    for _ in 0..300 {
        world.step(1.0 / 60.0).expect("a finite step");
        let (x, v) = place(&world);
        position = x;
        drift = drift.max((position.length() - 1.0).abs());
        let sum = 0.5 * v.length_squared() + 9.81 * position.y;
        energy = if sum.abs() > energy.abs() { sum } else { energy };
    }
    let time = start.elapsed().as_secs_f64() / 300.0 * 1e6;
    let exact = Vec3::new(-0.9423054350, -0.3347543384, 0.0);
    [drift, energy, position.distance(exact), time]
}

pub fn main() {
    let ways = [
        ("stabilized", Enforcement::Stabilized),
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
        row(name, Kind::Rod, way, JointSolve::Exact);
    }
    row("stabilized, as contact rows", Kind::Rod, Enforcement::Stabilized, JointSolve::Rows);
    row("a hinge: stabilized", Kind::Hinge, Enforcement::Stabilized, JointSolve::Exact);
    row("a hinge: reduced (default)", Kind::Hinge, Enforcement::Reduced, JointSolve::Exact);
}

fn row(name: &str, kind: Kind, way: Enforcement, solve: JointSolve) {
    let [drift, energy, off, time] = pendulum(kind, way, solve, 8);
    let finer = pendulum(kind, way, solve, 16)[2];
    let order = (off / finer).log2();
    println!("| {name} | {drift:.1e} | {energy:+.1e} | {off:.1e} | {order:.1} | {time:.0} |");
}
