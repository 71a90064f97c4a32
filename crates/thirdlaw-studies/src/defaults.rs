//! The measurements behind the default solver settings: how well stacks stand, and what it costs.
//!
//! `cargo run --release -p thirdlaw-studies -- defaults [key=value]…`
//!
//! Keys: substeps, iterations, relax, correction, slop, tolerance, direct, solver, frames, scenes.

use std::time::Instant;
use thirdlaw::{Body, BodyId, Settings, Shape, Solver, Vec3, World, measure};

pub fn main() {
    let mut settings = Settings { sleeping: false, ..Settings::default() };
    let (mut frames, mut scenes) = (300, String::from("tower,pyramid,tent,overhang,heavy,wall"));
    for argument in crate::words() {
        let Some((key, value)) = argument.split_once('=') else {
            eprintln!("key=value, not {argument}");
            return;
        };
        let number = || value.parse::<f64>().unwrap_or_default();
        match key {
            "substeps" => settings.substeps = number() as u32,
            "iterations" => settings.contact.iterations = number() as u32,
            "relax" => settings.contact.relax_iterations = number() as u32,
            "stiffness" => settings.contact.stiffness = number(),
            "damping" => settings.contact.damping = number(),
            "sag" => settings.contact.sag = number(),
            "slop" => settings.contact.slop = number(),
            "tolerance" => settings.contact.tolerance = number(),
            "direct" => settings.contact.direct_rows = number() as u32,
            "solver" => {
                settings.contact.solver = Solver::from_name(value).unwrap_or(Solver::Pgs);
            }
            "frames" => frames = number() as u32,
            "scenes" => scenes = value.into(),
            _ => eprintln!("no key {key}"),
        }
    }
    println!("scene      drift mm   mean v²/2   jitter      overlap mm  residual   ms/frame");
    for name in scenes.split(',') {
        let mut world = World::new(settings).expect("valid settings");
        build(name, &mut world);
        report(name, &mut world, frames);
    }
}

fn report(name: &str, world: &mut World, frames: u32) {
    let ids: Vec<BodyId> = world.bodies().collect();
    let at = |world: &World, id: BodyId| world.pose(id).map_or(Vec3::ZERO, |p| p.translation);
    let starts: Vec<Vec3> = ids.iter().map(|&id| at(world, id)).collect();
    let begin = Instant::now();
    let mut residual = 0.0;
    for _ in 0..frames {
        match world.step(1.0 / 60.0) {
            Ok(report) => residual = report.contact_residual,
            Err(error) => println!("{name}: {error}"),
        }
    }
    let ms = begin.elapsed().as_secs_f64() * 1e3 / f64::from(frames);
    let moved = ids.iter().zip(&starts).map(|(&id, s)| at(world, id).distance(*s));
    let energies = measure::specific_kinetic(world);
    println!(
        "{name:<10} {:>8.3}   {:>9.2e}   {:>9.2e}   {:>9.3}   {residual:>9.2e}   {ms:>7.3}",
        1e3 * moved.fold(0.0, f64::max),
        energies.iter().sum::<f64>() / energies.len() as f64,
        measure::jitter(world),
        1e3 * measure::penetration(world),
    );
}

fn cube(half: Vec3) -> Body {
    Body::dynamic(Shape::cuboid(half).expect("positive")).friction(0.6)
}

fn build(name: &str, world: &mut World) {
    let floor = Shape::half_space(Vec3::Y).expect("unit");
    let mut add = |body: Body| {
        let _ = world.add_body(body);
    };
    if name != "overhang" {
        let friction = if name == "tent" { 0.25 } else { 0.6 };
        add(Body::fixed(floor).friction(friction));
    }
    let half = Vec3::splat(0.5);
    match name {
        "tower" => (0..20).for_each(|i| add(cube(half).at(0.0, 0.5 + f64::from(i), 0.0))),
        "pyramid" => {
            for row in 0..30 {
                for i in 0..30 - row {
                    let x = 1.05 * (f64::from(i) - f64::from(29 - row) / 2.0);
                    add(cube(half).at(x, 0.5 + f64::from(row), 0.0));
                }
            }
        }
        "wall" => {
            for row in 0..10 {
                for i in 0..20 - row % 2 {
                    let x = f64::from(i) + 0.5 * f64::from(row % 2);
                    add(cube(Vec3::new(0.5, 0.25, 0.25)).at(x, 0.25 + 0.5 * f64::from(row), 0.0));
                }
            }
        }
        "heavy" => {
            add(cube(half).at(0.0, 0.5, 0.0).mass(1.0));
            add(cube(half).at(0.0, 1.5, 0.0).mass(1000.0));
        }
        "tent" => {
            let angle = 25_f64.to_radians();
            let (s, c) = angle.sin_cos();
            for side in [-1.0, 1.0] {
                let card = cube(Vec3::new(0.01, 0.5, 0.3))
                    .at(side * (0.5 * s + 0.01 * c), 0.5 * c + 0.01 * s, 0.0)
                    .rotated(Vec3::new(0.0, 0.0, side * angle))
                    .friction(0.25);
                add(card);
            }
        }
        "overhang" => {
            let table = Shape::cuboid(Vec3::new(2.0, 0.5, 1.0)).expect("positive");
            add(Body::fixed(table).at(-2.0, -0.5, 0.0));
            for level in 0..5 {
                let reach: f64 = (5 - level..=5).map(|k| 0.5 / f64::from(k)).sum();
                let block = cube(Vec3::new(0.5, 0.1, 0.25));
                add(block.at(0.99 * reach - 0.5, 0.1 + 0.2 * f64::from(level), 0.0));
            }
        }
        other => println!("no scene {other}"),
    }
}
