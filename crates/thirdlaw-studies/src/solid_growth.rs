//! How the time of a frame, iterations and memory grow with the number of tetrahedra of one soft beam.
//!
//! The beam of `peers/beam`, 2 × 0.5 × 0.5 m of E = 5e5 and ν = 0.3, strikes the floor at 3 m/s; the frames from
//! the strike to a third of a second later count. Tolerance 1e-4. Prints a table and the exponents between the
//! smallest and the largest mesh.
//!
//! `cargo run --release -p thirdlaw-studies -- solid-growth [threads] [most tetrahedra]`

use std::time::Instant;
use thirdlaw::{Body, Pose, Settings, Shape, SolidLaw, SolidMaterial, SolidMesh, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;
const FRAMES: usize = 20;

/// Cells along the beam and across it, the largest first: memory given back is not asked for again.
const CELLS: [[u32; 3]; 4] = [[69, 24, 24], [46, 16, 16], [31, 11, 11], [20, 7, 7]];

fn beam(cells: [u32; 3]) -> World {
    let mut settings = Settings { sleeping: false, ..Settings::default() };
    settings.cloth.tolerance = 1e-4;
    let mut world = World::new(settings).expect("default settings");
    let ground = Shape::half_space(Vec3::Y).expect("a unit normal");
    world.add_body(Body::fixed(ground)).expect("a floor");
    let material = SolidMaterial {
        law: SolidLaw::NeoHookean,
        young: 5e5,
        poisson: 0.3,
        density: 1000.0,
        damping: 0.0,
    };
    let mesh = SolidMesh::block(Vec3::new(2.0, 0.5, 0.5), cells).expect("a block");
    let body = mesh.deformable(material).expect("a material");
    let body = body.pose(Pose::from_translation(Vec3::new(0.0, 0.26, 0.0)));
    world.add_deformable(body.velocity(-3.0 * Vec3::Y)).expect("a beam");
    world
}

/// Resident memory of this process, bytes; 0 where the system does not tell.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = status.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}

struct Row {
    tetrahedra: f64,
    /// ms.
    frame: f64,
    iterations: f64,
    solves: f64,
    bytes: f64,
}

fn measure(cells: [u32; 3]) -> Row {
    let before = memory();
    let mut world = beam(cells);
    let (mut seconds, mut iterations, mut solves) = (0.0, 0_u32, 0_u32);
    for _ in 0..FRAMES {
        let start = Instant::now();
        let report = world.step(FRAME).expect("a step");
        seconds += start.elapsed().as_secs_f64();
        iterations += report.cg_iterations;
        solves += report.cloth_solves;
    }
    Row {
        tetrahedra: 5.0 * cells.iter().map(|&n| f64::from(n)).product::<f64>(),
        frame: 1e3 * seconds / FRAMES as f64,
        iterations: f64::from(iterations) / f64::from(solves.max(1)),
        solves: f64::from(solves) / FRAMES as f64,
        bytes: memory().saturating_sub(before) as f64,
    }
}

pub fn main() {
    let number = |i: usize| crate::words().nth(i).and_then(|n| n.parse::<usize>().ok());
    let (threads, most) = (number(0).unwrap_or(2), number(1).unwrap_or(usize::MAX));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    println!(
        "tetrahedra   ms/frame   µs/tetrahedron   iterations/solve   solves/frame   bytes/tetrahedron"
    );
    let wanted = CELLS.into_iter().filter(|c| 5 * c.iter().product::<u32>() as usize <= most);
    let rows: Vec<Row> = wanted
        .map(|cells| {
            let row = pool.install(|| measure(cells));
            println!(
                "{:<12} {:<10.1} {:<16.3} {:<18.1} {:<14.1} {:.0}",
                row.tetrahedra,
                row.frame,
                1e3 * row.frame / row.tetrahedra,
                row.iterations,
                row.solves,
                row.bytes / row.tetrahedra
            );
            row
        })
        .collect();
    if let (Some(large), Some(small)) = (rows.first(), rows.last()) {
        let size = (large.tetrahedra / small.tetrahedra).log2();
        let grows = |of: fn(&Row) -> f64| (of(large) / of(small)).log2() / size;
        println!("time grows as tetrahedra^{:.2}", grows(|row| row.frame));
        println!("iterations per solve grow as tetrahedra^{:.2}", grows(|row| row.iterations));
        println!("memory grows as tetrahedra^{:.2}", grows(|row| row.bytes));
    }
}
