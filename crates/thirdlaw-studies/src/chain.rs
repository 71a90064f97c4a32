//! What chains cost and how far they stretch: the wrecking ball, and one chain of more and more links.
//!
//! `cargo run --release -p thirdlaw-studies -- chain`

use crate::clock::timed;
use std::time::Instant;
use thirdlaw::{
    Body, BodyId, Enforcement, Groups, Joint, Settings, Shape, Side, Vec3, World, measure,
};

/// A horizontal chain of bars of 0.4 m and 1 kg from the origin along x.
fn chain(count: usize, way: Enforcement) -> (World, BodyId) {
    let mut settings = Settings::default();
    settings.joints.enforcement = way;
    let mut world = World::new(settings).expect("valid settings");
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

fn wrecking_ball(mass: f64, way: Enforcement) {
    let (mut world, last) = chain(25, way);
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
        "{mass} kg, {way:?}: stretch {:.1e} %, widest gap {gap:.1e} m, {median:.2} ms",
        100.0 * stretch
    );
}

/// What the second to sixth step of a chain cost on average: multiplications of the factors, and ms.
fn cost(count: usize, way: Enforcement) -> (u64, f64) {
    const STEPS: u64 = 5;
    let (mut best, mut work) = (f64::INFINITY, 0);
    for _ in 0..3 {
        // short chains many times over, so that they are not measured by one lucky moment
        let worlds = 0..(10_000 / count).max(1);
        let mut worlds: Vec<World> = worlds.map(|_| chain(count, way).0).collect();
        for world in &mut worlds {
            world.step(1.0 / 60.0).expect("a finite step");
        }
        work = 0;
        let time = timed(|| {
            for world in &mut worlds {
                for _ in 0..STEPS {
                    work += world.step(1.0 / 60.0).expect("a finite step").joint_work;
                }
            }
        });
        let steps = STEPS * worlds.len() as u64;
        work /= steps;
        best = best.min(time / steps as f64);
    }
    (work, best)
}

pub fn main() {
    println!("wrecking ball, 25 links, 600 frames:");
    let ways = [Enforcement::Reduced, Enforcement::Stabilized];
    for way in ways {
        wrecking_ball(100.0, way);
        wrecking_ball(10_000.0, way);
    }
    ways.into_iter().for_each(costs);
}

fn costs(way: Enforcement) {
    println!(
        "{way:?}: links, multiplications a step, ms a step, exponents of both from the line before:"
    );
    let mut rows: Vec<[f64; 3]> = Vec::new();
    for count in [10, 32, 100, 316, 1000, 3162, 10_000] {
        let (work, time) = cost(count, way);
        let row = [count as f64, work as f64, time];
        let exponent = |k: usize| match rows.last() {
            Some(from) => format!("{:6.2}", (row[k] / from[k]).ln() / (row[0] / from[0]).ln()),
            None => "     –".to_owned(),
        };
        println!("{count:6} {work:12} {time:10.3} {} {}", exponent(1), exponent(2));
        rows.push(row);
    }
    let (first, last) = (rows[0], rows[rows.len() - 1]);
    let exponent = |k: usize| (last[k] / first[k]).ln() / (last[0] / first[0]).ln();
    println!(
        "from first to last: {:.3} in multiplications, {:.3} in time",
        exponent(1),
        exponent(2)
    );
}
