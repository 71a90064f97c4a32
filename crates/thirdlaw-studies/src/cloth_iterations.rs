//! Iterations that a finished solve of cloth takes: strips that slide off a cylinder, drapes of several meshes and
//! stiffnesses, a trampoline; with block Jacobi, with a factor, and as the engine chooses.
//!
//! `cargo run --release -p thirdlaw-studies -- cloth-iterations [strip|drape|trampoline|error]...`

use std::time::Instant;
use thirdlaw::{
    Body, Cloth, ClothForces, ClothMesh, Fabric, Pose, Preconditioner, Quat, Settings, Shape,
    StepReport, Vec3, World,
};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Names of the ways, with steps that end on a residual first.
const WAYS: [(&str, ClothForces, Preconditioner); 4] = [
    ("before", ClothForces::Followed, Preconditioner::Auto),
    ("jacobi", ClothForces::Solved, Preconditioner::BlockJacobi),
    ("factored", ClothForces::Solved, Preconditioner::Factored),
    ("auto", ClothForces::Solved, Preconditioner::Auto),
];

pub fn main() -> Fallible<()> {
    let words: Vec<String> = crate::words().collect();
    let asked = |what: &str| words.is_empty() || words.iter().any(|w| w == what);
    if asked("strip") {
        let worst = strips()?;
        if worst > 0.03 {
            return Err(format!("a strip is off by {:.1} %", 100.0 * worst).into());
        }
    }
    if asked("drape") {
        drapes()?;
    }
    if asked("trampoline") {
        trampolines()?;
    }
    if asked("error") {
        errors()?;
    }
    Ok(())
}

/// What steps took.
#[derive(Default)]
struct Count {
    iterations: u32,
    solves: u32,
    factors: u32,
    steps: u32,
    rejected: u32,
    unfinished: u32,
    most: u32,
    seconds: f64,
}

impl Count {
    fn run(&mut self, world: &mut World, dt: f64) -> Fallible<()> {
        let start = Instant::now();
        let report: StepReport = world.step(dt)?;
        self.seconds += start.elapsed().as_secs_f64();
        self.iterations += report.cg_iterations;
        self.solves += report.cloth_solves;
        self.factors += report.cloth_factors;
        self.steps += report.cloth_steps;
        self.rejected += report.rejected;
        self.unfinished += report.unfinished;
        self.most = self.most.max(report.cg_iterations);
        Ok(())
    }

    fn print(&self, frames: u32) {
        println!(
            "  {:7.1} its/solve {:8.1} its/frame (most {:6}) {:5.2} solves/frame {:5.2} factors/frame \
             {:4} steps {:3} rejected {:3} unfinished {:8.2} ms/frame",
            f64::from(self.iterations) / f64::from(self.solves.max(1)),
            f64::from(self.iterations) / f64::from(frames),
            self.most,
            f64::from(self.solves) / f64::from(frames),
            f64::from(self.factors) / f64::from(frames),
            self.steps,
            self.rejected,
            self.unfinished,
            1e3 * self.seconds / f64::from(frames),
        );
    }
}

fn settings(forces: ClothForces, way: Preconditioner) -> Settings {
    let mut settings = Settings::default();
    settings.cloth.forces = forces;
    if forces == ClothForces::Solved {
        settings.cloth.iterations = 2000;
    }
    settings.cloth.preconditioner = way;
    settings
}

const RADIUS: f64 = 0.1;
const SIDES: [f64; 2] = [0.3, 0.5];
const THICKNESS: f64 = 5e-4;

/// A strip of silk over a fixed cylinder without friction; its length.
fn strip(cells: usize, settings: Settings) -> Fallible<(World, f64)> {
    let mut world = World::new(settings)?;
    let about = Vec3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
    let cylinder = Shape::cylinder(0.5 * 0.4, RADIUS)?;
    world.add_body(Body::fixed(cylinder).friction(0.0).rotated(about))?;
    let round = RADIUS + 0.5 * THICKNESS;
    let around = std::f64::consts::PI * round;
    let length = SIDES[0] + SIDES[1] + around;
    let mut mesh = ClothMesh::grid(cells + 1, 3, [length, 0.06])?;
    for p in &mut mesh.positions {
        let s = p.x + 0.5 * length;
        let angle = std::f64::consts::PI - (s - SIDES[0]).clamp(0.0, around) / round;
        let below = (s - SIDES[0]).min(0.0) - (s - SIDES[0] - around).max(0.0);
        *p = Vec3::new(round * libm::cos(angle), round * libm::sin(angle) + below, p.z);
    }
    let fabric = Fabric {
        density: 0.2,
        stretch: [20_000.0; 2],
        bend: [1e-7; 2],
        friction: 0.0,
        thickness: THICKNESS,
        drag: 0.0,
        lift: 0.0,
        ..Fabric::silk()
    };
    world.add_cloth(Cloth::new(mesh).fabric(fabric).self_collision(false))?;
    Ok((world, length))
}

/// Runs a strip for 0.3 s; how far it is off after 0.2 and 0.3 s.
fn slide(world: &mut World, length: f64, rate: u32, count: &mut Count) -> Fallible<[f64; 2]> {
    let turn: f64 = (2.0 * 9.81 / length).sqrt() / f64::from(rate);
    let start = lowest(world);
    let (mut off, times) = ([0.0; 2], [rate / 5, 3 * rate / 10]);
    for frame in 1..=times[1] {
        count.run(world, 1.0 / f64::from(rate))?;
        for (off, _) in off.iter_mut().zip(times).filter(|(_, time)| *time == frame) {
            let n = frame as i32;
            let growth = 0.5 * ((1.0 - turn).powi(-n) + (1.0 + turn).powi(-n)) - 1.0;
            let known = 0.5 * (SIDES[1] - SIDES[0]) * growth;
            let found = start - lowest(world);
            print!(
                " {:6.1} for {:6.1} ({:+5.1} %)",
                1e3 * found,
                1e3 * known,
                100.0 * (found / known - 1.0)
            );
            *off = (found / known - 1.0).abs();
        }
    }
    Ok(off)
}

/// The largest error of a strip with steps that are solved.
fn strips() -> Fallible<f64> {
    println!(
        "known:  a strip over a cylinder without friction falls as backward Euler says, within 3 %, mm after .2 and .3 s"
    );
    let mut worst: f64 = 0.0;
    for cells in [71, 106, 141] {
        for rate in [60, 240, 960] {
            for (name, forces, way) in WAYS {
                if name == "jacobi" {
                    continue;
                }
                let (mut world, length) = strip(cells, settings(forces, way))?;
                print!("{cells} cells {rate:3} frames/s {name:>8}");
                let mut count = Count::default();
                let off = slide(&mut world, length, rate, &mut count)?;
                count.print(3 * rate / 10);
                if forces == ClothForces::Solved {
                    worst = worst.max(off[0]).max(off[1]);
                }
            }
        }
    }
    println!("worst {:.1} %", 100.0 * worst);
    Ok(worst)
}

fn lowest(world: &World) -> f64 {
    world.state().particles.x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min)
}

fn drape(side: usize, stretch: f64, settings: Settings) -> Fallible<World> {
    let mut world = World::new(settings)?;
    world.add_body(Body::fixed(Shape::sphere(0.5)?).friction(0.3))?;
    let fabric = Fabric { density: 0.2, friction: 0.3, stretch: [stretch; 2], ..Fabric::cotton() };
    let at = Pose::from_parts(Vec3::new(0.0, 0.65, 0.0), Quat::IDENTITY);
    let mesh = ClothMesh::grid(side, side, [2.0, 2.0])?;
    world.add_cloth(Cloth::new(mesh).fabric(fabric).pose(at))?;
    Ok(world)
}

fn drapes() -> Fallible<()> {
    for (side, stretch, frames) in
        [(25, 1e4, 60), (51, 2e3, 30), (51, 1e4, 30), (51, 3e5, 30), (101, 1e4, 20)]
    {
        for (name, forces, way) in WAYS {
            let mut world = drape(side, stretch, settings(forces, way))?;
            if name == "factored" {
                let sheet = &world.model().sheet;
                let work = sheet.layout().factor_plan(&sheet.elements.energies).work();
                let each = 9 * sheet.layout().pattern.column.len() as u64;
                println!(
                    "  a factor costs {} products with the matrix, an application {}",
                    work[0] / each,
                    work[1] / each
                );
            }
            let mut count = Count::default();
            for _ in 0..frames {
                count.run(&mut world, 1.0 / 60.0)?;
            }
            print!("drape {side:3}² {:6.0} N/m {name:>8}:", stretch);
            count.print(frames);
        }
    }
    Ok(())
}

fn trampolines() -> Fallible<()> {
    for (name, forces, way) in WAYS {
        let mut world = World::new(settings(forces, way))?;
        let fabric = Fabric { density: 0.2, ..Fabric::canvas() };
        let corners = [0, 50, 50 * 51, 51 * 51 - 1];
        let cloth = Cloth::new(ClothMesh::grid(51, 51, [2.0, 2.0])?).fabric(fabric);
        world.add_cloth(cloth.pin(corners))?;
        for i in 0..10 {
            let x = (f64::from(i % 5) - 2.0) * 0.28;
            let z = (2.0 * f64::from(i / 5) - 1.0) * 0.14;
            let ball = Body::dynamic(Shape::sphere(0.12)?).mass(0.8);
            world.add_body(ball.at(x, 0.4 + 0.15 * f64::from(i), z))?;
        }
        let mut count = Count::default();
        for _ in 0..40 {
            count.run(&mut world, 1.0 / 60.0)?;
        }
        print!("trampoline 51² {name:>8}:");
        count.print(40);
    }
    Ok(())
}

/// How far velocities of the default solve are from those at a tolerance of 1e-10, from the same state.
fn errors() -> Fallible<()> {
    let usual = settings(ClothForces::Solved, Preconditioner::Auto);
    let mut world = drape(51, 1e4, usual)?;
    for frame in 1..=60 {
        if frame % 12 == 0 {
            let saved = world.save();
            let before = world.state().particles.v.clone();
            world.step(1.0 / 60.0)?;
            let rough = world.state().particles.v.clone();
            let mut fine = usual;
            fine.cloth.tolerance = 1e-10;
            fine.cloth.rounds = 20;
            world.restore(&saved)?;
            world.set_settings(fine)?;
            world.step(1.0 / 60.0)?;
            let exact = &world.state().particles.v;
            let norm = |a: &[Vec3], b: &[Vec3]| -> f64 {
                a.iter().zip(b).map(|(a, b)| (*a - *b).length_squared()).sum::<f64>().sqrt()
            };
            let off = norm(&rough, exact) / norm(&before, exact).max(1e-12);
            println!("frame {frame}: velocities off by {:.3} % of their change", 100.0 * off);
            world.set_settings(usual)?;
        } else {
            world.step(1.0 / 60.0)?;
        }
    }
    Ok(())
}
