//! How the time of a frame and the memory grow with the number of boxes.
//!
//! Boxes stand close together in columns of five, a little out of line, so that they lean on each
//! other; after half a second the median of the next frames is taken. Prints a table and the exponent
//! between the smallest and the largest pile.
//!
//!     cargo run --release -p thirdlaw --example growth [threads] [most boxes]

use std::time::Instant;
use thirdlaw::{Body, Settings, Shape, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

fn pile(count: usize) -> World {
    let settings = Settings { sleeping: false, ..Settings::default() };
    let mut world = World::new(settings).expect("default settings");
    let ground = Shape::half_space(Vec3::Y).expect("a unit normal");
    world.add_body(Body::fixed(ground)).expect("a floor");
    let cube = Shape::cuboid(Vec3::splat(0.25)).expect("a cube");
    let side = ((count as f64 / 5.0).sqrt().ceil() as usize).max(1);
    for i in 0..count {
        let r = |k: usize| (((i * 7 + k) * 7919) % 1000) as f64 / 1000.0 - 0.5;
        let (column, layer) = (i / 5, i % 5);
        let (x, z) = ((column % side) as f64, (column / side) as f64);
        let body = Body::dynamic(cube.clone())
            .at(0.52 * x + 0.02 * r(0), 0.26 + 0.51 * layer as f64, 0.52 * z + 0.02 * r(1))
            .friction(0.6);
        world.add_body(body).expect("a box");
    }
    world
}

/// Resident memory of this process, bytes; 0 where the system does not tell.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

fn measure(count: usize) -> (f64, f64, usize) {
    let before = memory();
    let mut world = pile(count);
    let mut times = Vec::new();
    let mut contacts = 0;
    for frame in 0..50 {
        let start = Instant::now();
        contacts = world.step(FRAME).expect("a step").contacts as usize;
        if frame >= 30 {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    let bytes = memory().saturating_sub(before) as f64 / count as f64;
    (times[times.len() / 2], bytes, contacts)
}

fn main() {
    let number = |i: usize| std::env::args().nth(i).and_then(|n| n.parse::<usize>().ok());
    let (threads, most) = (number(1).unwrap_or(1), number(2).unwrap_or(100_000));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    println!("boxes    ms/frame   µs/box   points/box   bytes/box");
    // the largest first: memory given back is not asked for again
    let counts = [100_000, 30_000, 10_000, 3_000, 1_000].into_iter().filter(|&n| n <= most);
    let rows: Vec<(f64, f64)> = counts
        .map(|count| {
            let (ms, bytes, contacts) = pool.install(|| measure(count));
            let n = count as f64;
            println!(
                "{count:<8} {ms:<10.2} {:<8.2} {:<12.1} {bytes:.0}",
                1e3 * ms / n,
                contacts as f64 / n
            );
            (n, ms)
        })
        .collect();
    if let (Some(large), Some(small)) = (rows.first(), rows.last()) {
        let exponent = (large.1 / small.1).log2() / (large.0 / small.0).log2();
        println!("time grows as boxes^{exponent:.2}");
    }
}
