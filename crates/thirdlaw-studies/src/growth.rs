//! How the time of a frame and the memory grow with the number of boxes.
//!
//! Boxes stand close together in columns of five, a little out of line, so that they lean on each
//! other; after half a second the median of the next frames is taken. Prints a table, with the stages of a
//! frame so that it shows which of them grows, and the exponents between the smallest and the largest pile.
//!
//! `cargo run --release -p thirdlaw-studies -- growth [threads] [most boxes] [apart | single]`
//!
//! A pile of a thousand is at rest by then, and larger ones are not yet, which is more work for every box of
//! them. With `apart` the boxes stand in piles of a thousand each, so that all do the same and what grows
//! is what their number costs. With `single` each is let fall by itself; the slowest frame is the one to
//! look at.

use std::time::Instant;
use thirdlaw::{Body, Observer, Settings, Shape, Stage, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

/// Columns of a pile that stands apart.
const APART: [usize; 2] = [10, 20];

/// How the boxes stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    Together,
    Apart,
    Single,
}

fn pile(count: usize, stand: Stand) -> World {
    let settings = Settings { sleeping: false, ..Settings::default() };
    let mut world = World::new(settings).expect("default settings");
    let ground = Shape::half_space(Vec3::Y).expect("a unit normal");
    world.add_body(Body::fixed(ground)).expect("a floor");
    let cube = Shape::cuboid(Vec3::splat(0.25)).expect("a cube");
    let side = ((count as f64 / 5.0).sqrt().ceil() as usize).max(1);
    for i in 0..count {
        let r = |k: usize| (((i * 7 + k) * 7919) % 1000) as f64 / 1000.0 - 0.5;
        let (column, layer) = (i / 5, i % 5);
        let cube = Body::dynamic(cube.clone()).friction(0.6);
        let (x, z) = match stand {
            Stand::Single => {
                let (x, z) = ((i % (2 * side)) as f64, (i / (2 * side)) as f64);
                let cube =
                    cube.at(x, 0.3 + 0.02 * r(0), z).rotated(0.2 * Vec3::new(r(1), 0.0, r(2)));
                world.add_body(cube).expect("a box");
                continue;
            }
            Stand::Apart => {
                let [wide, long] = APART;
                let (pile, column) = (column / (wide * long), column % (wide * long));
                let row = (side / wide).max(1);
                let (x, z) = (pile % row * (wide + 4), pile / row * (long + 4));
                ((x + column % wide) as f64, (z + column / wide) as f64)
            }
            Stand::Together => ((column % side) as f64, (column / side) as f64),
        };
        let (x, y, z) =
            (0.52 * x + 0.02 * r(0), 0.26 + 0.51 * layer as f64, 0.52 * z + 0.02 * r(1));
        world.add_body(cube.at(x, y, z)).expect("a box");
    }
    world
}

/// Resident memory of this process, bytes; 0 where the system does not tell.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

/// The stages that are told apart; integrating counts as solving.
const STAGES: [Stage; 5] =
    [Stage::BroadPhase, Stage::NarrowPhase, Stage::Islands, Stage::Solve, Stage::Finish];

/// What the stages of each frame took, ms.
struct Clock {
    began: Instant,
    frames: [Vec<f64>; STAGES.len()],
}

impl Observer for Clock {
    fn begin(&mut self, _: Stage) {
        self.began = Instant::now();
    }

    fn end(&mut self, stage: Stage) {
        let ms = self.began.elapsed().as_secs_f64() * 1e3;
        if let Some(i) = STAGES.iter().position(|&known| known == stage) {
            self.frames[i].push(ms);
        }
    }
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

struct Row {
    boxes: f64,
    /// ms.
    frame: f64,
    slowest: f64,
    stages: [f64; STAGES.len()],
    bytes: f64,
    points: f64,
}

fn measure(count: usize, stand: Stand) -> Row {
    let before = memory();
    let mut world = pile(count, stand);
    let mut clock = Clock { began: Instant::now(), frames: Default::default() };
    let mut times = Vec::new();
    let mut contacts = 0;
    for _ in 0..50 {
        let start = Instant::now();
        contacts = world.step_observed(FRAME, &mut clock).expect("a step").contacts;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let boxes = count as f64;
    Row {
        boxes,
        frame: median(&times[30..]),
        slowest: times.iter().copied().fold(0.0, f64::max),
        stages: clock.frames.map(|times| median(&times[30..])),
        bytes: memory().saturating_sub(before) as f64 / boxes,
        points: f64::from(contacts) / boxes,
    }
}

pub fn main() {
    let number = |i: usize| crate::words().nth(i).and_then(|n| n.parse::<usize>().ok());
    let (threads, most) = (number(0).unwrap_or(1), number(1).unwrap_or(100_000));
    let asked = |name: &str| crate::words().any(|word| word == name);
    let stand = match (asked("apart"), asked("single")) {
        (true, _) => Stand::Apart,
        (_, true) => Stand::Single,
        _ => Stand::Together,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    println!(
        "                             µs a box                                                                        ms"
    );
    println!(
        "boxes    ms/frame   frame    broad    narrow   islands  solve    finish   points/box   bytes/box   slowest"
    );
    // the largest first: memory given back is not asked for again
    let counts = [100_000, 30_000, 10_000, 3_000, 1_000].into_iter().filter(|&n| n <= most);
    let rows: Vec<Row> = counts
        .map(|count| {
            let row = pool.install(|| measure(count, stand));
            print!("{count:<8} {:<10.2} {:<8.3} ", row.frame, 1e3 * row.frame / row.boxes);
            row.stages.iter().for_each(|ms| print!("{:<8.3} ", 1e3 * ms / row.boxes));
            println!("{:<12.1} {:<11.0} {:.2}", row.points, row.bytes, row.slowest);
            row
        })
        .collect();
    if let (Some(large), Some(small)) = (rows.first(), rows.last()) {
        let grows = |large_ms: f64, small_ms: f64| {
            (large_ms / small_ms).log2() / (large.boxes / small.boxes).log2()
        };
        println!("time grows as boxes^{:.2}", grows(large.frame, small.frame));
        for (i, stage) in STAGES.iter().enumerate() {
            println!("  {stage:?}: boxes^{:.2}", grows(large.stages[i], small.stages[i]));
        }
    }
}
