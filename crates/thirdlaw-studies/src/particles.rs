//! What a million particles cost: milliseconds per step and bytes per particle while a stream flies
//! past a hundred moving boxes.
//!
//! `cargo run --release -p thirdlaw-studies -- particles [PARTICLES] [THREADS…]`

use std::time::Instant;
use thirdlaw::{Body, Emitter, Keyframe, Keyframes, Quat, Shape, StepError, Stream, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

pub fn main() -> Result<(), StepError> {
    let numbers: Vec<usize> = crate::words().filter_map(|a| a.parse().ok()).collect();
    let count = numbers.first().copied().unwrap_or(1_000_000);
    let threads = if numbers.len() > 1 { &numbers[1..] } else { &[1, 2][..] };
    for &threads in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let Ok(pool) = pool else { continue };
        pool.install(|| measure(count, threads))?;
    }
    Ok(())
}

/// A hundred boxes of 0.4 m that move up and down and turn in a channel of 20 × 4 × 4 m, and a disc
/// that blows particles through it.
fn scene(count: usize) -> Option<World> {
    let mut world = World::new(Default::default()).ok()?;
    let shape = Shape::cuboid(Vec3::splat(0.2)).ok()?;
    for i in 0..100 {
        let (x, y, z) = (i % 10, (i / 10) % 5, i / 50);
        let at = |shift: f64| {
            let side = 0.9 * f64::from(y) - 1.8 + shift;
            Vec3::new(2.0 * f64::from(x) - 8.0, side, 1.5 * f64::from(z) - 0.75)
        };
        let key = |time, shift, turn: f64| Keyframe {
            time,
            position: at(shift),
            rotation: Quat::from_rotation_z(turn),
        };
        let keys = vec![key(0.0, -0.3, 0.0), key(0.5, 0.3, 2.0), key(1.0, -0.3, 4.0)];
        let motion = Keyframes { keys, repeat: true, smooth: true };
        world.add_body(Body::kinematic(shape.clone()).keyframes(motion)).ok()?;
    }
    let life = 2.0;
    let jet = Emitter::disc(2.0, count as f64 / life, 10.0).toward(Vec3::X).at(-10.0, 0.0, 0.0);
    let jet = Emitter { gravity_scale: 0.05, drag: 0.1, ..jet };
    world.add_emitter(jet.spread(0.1).life(life).mass(1e-6)).ok()?;
    Some(world)
}

fn measure(count: usize, threads: usize) -> Result<(), StepError> {
    let Some(mut world) = scene(count) else { return Ok(()) };
    // until the first particles have died
    for _ in 0..130 {
        world.step(FRAME)?;
    }
    let mut times = Vec::new();
    let (mut bounces, mut particles) = (0, 0);
    for _ in 0..60 {
        let start = Instant::now();
        let report = world.step(FRAME)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        bounces = report.bounces;
        particles = report.particles;
    }
    times.sort_by(f64::total_cmp);
    let bytes = |s: &Stream| {
        let p = &s.particles;
        24 * (p.x.capacity() + p.v.capacity()) + 8 * (s.age.capacity() + p.id.capacity())
    };
    let bytes: usize = world.state().streams.list.iter().map(bytes).sum();
    println!(
        "{particles} particles, {threads} threads: median {:.1} ms, slowest {:.1} ms a step; \
         {bounces} bounces; {:.0} bytes a particle",
        times[times.len() / 2],
        times[times.len() - 1],
        bytes as f64 / particles as f64
    );
    Ok(())
}
