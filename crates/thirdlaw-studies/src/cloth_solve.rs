//! What the linear system of draped cloth takes: iterations and time of each part, by size of mesh,
//! with block Jacobi and with the multilevel preconditioner, on systems met at some frames.
//!
//! `cargo run --release -p thirdlaw-studies -- cloth-solve [vertices per side]...`
//!
//! Times are the shortest of several runs, since machines are shared.

use std::time::Instant;
use thirdlaw::energy::Contributions;
use thirdlaw::linalg::block::{Block, Lane, Scalar, block_of, lane, vector};
use thirdlaw::linalg::filter::{Filter, Hold, NONE};
use thirdlaw::linalg::multilevel::{Levelled, Multilevel};
use thirdlaw::linalg::pcg::{Scratch, Stop, System};
use thirdlaw::linalg::product::Matrix;
use thirdlaw::linalg::stencil::Stencils;
use thirdlaw::math::Mat3;
use thirdlaw::{Body, Cloth, ClothMesh, Fabric, Pose, Quat, Settings, Shape, Vec3, World};

const FRAMES: [usize; 4] = [20, 40, 80, 120];
const H: f64 = 1.0 / 60.0;
const REPEATS: usize = 25;

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = Vec::new();
    for argument in crate::words() {
        sizes.push(argument.parse::<usize>()?);
    }
    if sizes.is_empty() {
        sizes = vec![32, 51, 86];
    }
    println!(
        "  side frame numbers  held | evaluate assemble | Jacobi: set-up   1e-2   1e-3  \
         us/it | levels: set-up   1e-2   1e-3  us/it"
    );
    for side in sizes {
        let mut world = drape(side)?;
        for frame in 1..=FRAMES[3] {
            world.step(H)?;
            if FRAMES.contains(&frame) {
                rayon::scope(|_| {
                    measure::<f64>(&world, side, frame, "f64");
                    measure::<f32>(&world, side, frame, "f32");
                });
            }
        }
    }
    Ok(())
}

fn drape(side: usize) -> Result<World, Box<dyn std::error::Error>> {
    let mut settings = Settings::default();
    settings.cloth.precision = thirdlaw::Precision::Single;
    let mut world = World::new(settings)?;
    world.add_body(Body::fixed(Shape::sphere(0.5)?).friction(0.3))?;
    let fabric = Fabric { density: 0.2, friction: 0.3, ..Fabric::cotton() };
    let mesh = ClothMesh::grid(side, side, [2.0, 2.0])?;
    let at = Pose::from_parts(Vec3::new(0.0, 0.65, 0.0), Quat::IDENTITY);
    world.add_cloth(Cloth::new(mesh).fabric(fabric).pose(at))?;
    Ok(world)
}

/// The shortest time of some runs, ms, and the last result.
fn shortest<R>(mut work: impl FnMut() -> R) -> (f64, R) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..REPEATS {
        let start = Instant::now();
        result = Some(work());
        best = best.min(1e3 * start.elapsed().as_secs_f64());
    }
    (best, result.expect("at least one run"))
}

/// The system of one cloth step from the world's state: what touches may only slide.
fn measure<T: Scalar>(world: &World, side: usize, frame: usize, numbers: &str) {
    let sheet = &world.model().sheet;
    let (layout, elements) = (sheet.layout(), &sheet.elements);
    let particles = &world.state().particles;
    let n = particles.x.len();
    let mut parts = Contributions::default();
    let (evaluate, ()) = shortest(|| parts.begin(elements, &particles.x, H));
    let mut blocks: Vec<Block<T>> = vec![Block::default(); layout.pattern.column.len()];
    let mut forces = vec![Vec3::ZERO; n];
    let (assemble, ()) = shortest(|| layout.assemble(elements, &parts, &mut blocks, &mut forces));
    let (mut b, mut guess): (Vec<Lane<T>>, Vec<Lane<T>>) = (Vec::new(), Vec::new());
    let gravity = world.settings().gravity;
    let mut own = Vec::new();
    for i in 0..n {
        let mass = elements.mass[i];
        for (k, column) in blocks[layout.pattern.diagonal[i] as usize].iter_mut().enumerate() {
            column[k] += T::of(mass);
        }
        own.push(block_of(&Mat3::from_diagonal(Vec3::splat(mass))));
        b.push(lane(mass * particles.v[i] + H * (forces[i] + mass * gravity)));
        guess.push(lane(particles.v[i] + H * gravity));
    }
    let mut filter = Filter::default();
    filter.set(
        n,
        world.state().cloth.touches.iter().map(|touch| {
            let normal = particles.x[touch.particle as usize].normalize();
            let held = Mat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
            Hold {
                particle: touch.particle,
                free: Mat3::IDENTITY - held,
                prescribed: Vec3::ZERO,
                body: NONE,
                arm: Vec3::ZERO,
            }
        }),
    );
    for hold in &filter.holds {
        let u = &mut guess[hold.particle as usize];
        *u = lane(hold.free * vector(u));
    }
    print!(
        "{side:6} {frame:5} {numbers:>7} {:5} | {evaluate:8.3} {assemble:8.3}",
        filter.holds.len()
    );
    let mut stencils = Stencils::default();
    stencils.index();
    let mut scratch = Scratch::default();
    for levels in [&[][..], &layout.levels[..]] {
        let mut multilevel = Multilevel::default();
        let matrix = (&layout.pattern, &blocks[..]);
        let (set_up, ()) =
            shortest(|| multilevel.update(levels, matrix, &[], &stencils, &filter, false));
        let mut system = System {
            matrix: Matrix { pattern: &layout.pattern, blocks: &blocks, own: &own },
            narrow: None,
            stencils: &mut stencils,
            filter: &filter,
            bodies: &[],
        };
        let mut solve = |iterations: u32, tolerance: f64| {
            let stop = Stop {
                iterations,
                tolerance,
                reference: 0.0,
                least: 0.0,
                finish: None,
                speed: f64::INFINITY,
            };
            let mut u = guess.clone();
            let mut preconditioner = Levelled { levels, numbers: &mut multilevel };
            let right = (&b[..], &[][..]);
            system
                .solve(&mut preconditioner, right, &stop, (&mut u, &mut []), &mut scratch)
                .iterations
        };
        let (rough, fine) = (solve(5000, 1e-2), solve(5000, 1e-3));
        // short runs, so that some of them are not interrupted
        let (few, more) = (shortest(|| solve(2, 1e-9)).0, shortest(|| solve(12, 1e-9)).0);
        print!(" | {set_up:14.3} {rough:6} {fine:6} {:6.1}", 1e3 * (more - few) / 10.0);
    }
    println!();
}
