//! How long each contact solver takes per row and iteration, on a synthetic pile of 10,000 boxes.
//!
//! `cargo run --release -p thirdlaw-studies -- solver-speed [threads]`

use std::time::Instant;
use thirdlaw::Solver;
use thirdlaw::Twist;
use thirdlaw::contact::*;
use thirdlaw::math::mass::BodyMass;
use thirdlaw::math::{Mat3, Vec3, tangents};

/// Columns × rows × layers of unit boxes, each on the one below and beside a neighbour.
fn pile(side: u32, layers: u32) -> (ContactProblem, Velocities) {
    let mut problem = ContactProblem::default();
    let index = |x: u32, y: u32, z: u32| (y * side + z) * side + x;
    for _ in 0..side * side * layers {
        problem.bodies.push(BodyMass {
            inv_mass: Vec3::ONE,
            inv_inertia: Mat3::from_diagonal(Vec3::splat(6.0)),
        });
    }
    for y in 0..layers {
        for z in 0..side {
            for x in 0..side {
                let b = index(x, y, z);
                let below =
                    if y == 0 { ContactSide::World } else { ContactSide::Body(index(x, y - 1, z)) };
                manifold(&mut problem, below, b, Vec3::Y);
                if x > 0 && (x + y + z) % 3 == 0 {
                    manifold(&mut problem, ContactSide::Body(index(x - 1, y, z)), b, Vec3::X);
                }
            }
        }
    }
    let twist = Twist { linear: Vec3::new(0.01, -0.16, 0.0), angular: Vec3::ZERO };
    let velocities = Velocities { bodies: vec![twist; problem.bodies.len()], ..Default::default() };
    (problem, velocities)
}

/// Four points with friction between side `a` and body `b`.
fn manifold(problem: &mut ContactProblem, a: ContactSide, b: u32, normal: Vec3) {
    let row_start = problem.rows.len() as u32;
    let (t1, t2) = tangents(normal);
    for (u, v) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
        let at = t1 * u + t2 * v;
        let normal_row = problem.rows.len() as u32;
        let friction = Bound::Friction { normal: normal_row, coefficient: 0.5 };
        let pushing = Bound::Interval { lower: 0.0, upper: f64::INFINITY };
        for (direction, bound) in [(normal, pushing), (t1, friction), (t2, friction)] {
            problem.rows.push(Row {
                direction,
                arm_a: (at + normal * 0.5).cross(direction),
                arm_b: (at - normal * 0.5).cross(direction),
                bias: 0.0,
                compliance: 0.0,
                bound,
            });
        }
    }
    problem.blocks.push(Block {
        a,
        b: ContactSide::Body(b),
        row_start,
        row_count: 12,
        key: problem.blocks.len() as u64,
    });
}

pub fn main() {
    let threads = crate::words().next().and_then(|s| s.parse().ok()).unwrap_or(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let Ok(pool) = pool else { return };
    let (problem, start) = pile(32, 10);
    println!(
        "{} bodies, {} blocks, {} rows, {threads} threads",
        problem.bodies.len(),
        problem.blocks.len(),
        problem.rows.len()
    );
    pool.install(|| {
        for solver in Solver::ALL {
            let mut velocities = start.clone();
            let mut impulses = vec![0.0; problem.rows.len()];
            let mut scratch = Scratch::default();
            prepare(&problem, &mut scratch);
            let iterate = solver.iterate();
            iterate(&problem, Part::Both, &mut velocities, &mut impulses, &mut scratch);
            let clock = Instant::now();
            let count = 20;
            for _ in 0..count {
                iterate(&problem, Part::Both, &mut velocities, &mut impulses, &mut scratch);
            }
            let time = clock.elapsed().as_nanos() as f64;
            let per_row = time / f64::from(count) / problem.rows.len() as f64;
            let left = residual(&problem, &velocities, &impulses, &scratch);
            println!("{:22} {per_row:7.1} ns per row, residual {left:.2e} m/s", solver.name());
        }
        small_problem();
    });
}

/// What a whole solve of one box on the ground costs, preparation included.
fn small_problem() {
    let (problem, start) = pile(1, 1);
    let mut scratch = Scratch::default();
    let settings = SolveSettings { iterations: 4, tolerance: 0.0, ..Default::default() };
    let settings = SolveSettings { direct: DirectUse::Never, ..settings };
    let (mut velocities, mut impulses) = (start.clone(), vec![0.0; problem.rows.len()]);
    let clock = Instant::now();
    let count = 10_000;
    for _ in 0..count {
        velocities.clone_from(&start);
        impulses.fill(0.0);
        prepare(&problem, &mut scratch);
        solve(&problem, &settings, &mut velocities, &mut impulses, &mut scratch);
    }
    let each = clock.elapsed().as_nanos() / count;
    println!("one box (12 rows), prepare and 4 iterations: {each} ns");
    let settings = SolveSettings { direct: DirectUse::Always, ..settings };
    let clock = Instant::now();
    for _ in 0..count / 10 {
        velocities.clone_from(&start);
        impulses.fill(0.0);
        prepare(&problem, &mut scratch);
        solve(&problem, &settings, &mut velocities, &mut impulses, &mut scratch);
    }
    println!("the same with the direct solver: {} ns", clock.elapsed().as_nanos() / (count / 10));
}
