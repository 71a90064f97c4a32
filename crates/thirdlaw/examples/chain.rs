//! What chains cost and how far they stretch: the wrecking ball, and one chain of more and more links.
//!
//! `cargo run --release -p thirdlaw --example chain`

use std::time::Instant;
use thirdlaw::{Body, BodyId, Groups, Joint, Settings, Shape, Side, Vec3, World, measure};

/// A horizontal chain of bars of 0.4 m and 1 kg from the origin along x.
fn chain(count: usize) -> (World, BodyId) {
    let mut world = World::new(Settings::default()).expect("valid settings");
    let bar = Shape::cuboid(Vec3::new(0.2, 0.05, 0.05)).expect("a bar");
    let mut before = Side::World;
    let mut last = None;
    for i in 0..count {
        let mut body = Body::dynamic(bar.clone()).at(0.2 + 0.4 * i as f64, 0.0, 0.0).mass(1.0);
        body.groups = Groups { member: 0, collides: 0 };
        let id = world.add_body(body).expect("a link");
        let joint = Joint::ball(before, id).at(0.4 * i as f64, 0.0, 0.0);
        world.add_joint(joint).expect("a joint");
        before = id.into();
        last = Some(id);
    }
    (world, last.expect("at least one link"))
}

fn wrecking_ball(mass: f64) {
    let (mut world, last) = chain(25);
    let mut ball = Body::dynamic(Shape::sphere(0.5).expect("a ball")).at(10.5, 0.0, 0.0).mass(mass);
    ball.groups = Groups { member: 0, collides: 0 };
    let ball = world.add_body(ball).expect("a ball");
    world.add_joint(Joint::ball(last, ball).at(10.0, 0.0, 0.0)).expect("a joint");
    let (mut stretch, mut gap, mut times) = (f64::NEG_INFINITY, 0.0_f64, Vec::new());
    for _ in 0..600 {
        let start = Instant::now();
        world.step(1.0 / 60.0).expect("a finite step");
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let end = world.pose(ball).expect("it is there") * Vec3::new(-0.5, 0.0, 0.0);
        stretch = stretch.max(end.length() / 10.0 - 1.0);
        gap = gap.max(measure::joint_error(&world));
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!(
        "{mass} kg: stretch {:.1e} %, widest gap {gap:.1e} m, {median:.2} ms",
        100.0 * stretch
    );
}

fn main() {
    println!("wrecking ball, 25 links, 600 frames:");
    wrecking_ball(100.0);
    wrecking_ball(10_000.0);
    println!("links, multiplications a step, ms a step, exponent of time:");
    let mut before: Option<(f64, f64)> = None;
    for count in [10, 32, 100, 316, 1000, 3162, 10_000] {
        let (mut world, _) = chain(count);
        world.step(1.0 / 60.0).expect("a finite step");
        let mut best = f64::INFINITY;
        let mut work = 0;
        for _ in 0..5 {
            let start = Instant::now();
            work = world.step(1.0 / 60.0).expect("a finite step").joint_work;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let n = count as f64;
        let exponent = before.map_or(1.0, |(m, t)| (best / t).ln() / (n / m).ln());
        println!("{count:6} {work:12} {best:10.3} {exponent:6.2}");
        before = Some((n, best));
    }
}
