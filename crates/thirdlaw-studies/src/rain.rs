//! The cube rain of `peers/boxes` without scene files or rivals: where the time of a frame goes, and
//! what still moves at rest. For profilers and for changes to the engine.
//!
//! `cargo run --release -p thirdlaw-studies -- rain [threads] [frames] [seed] [field=value]…`
//!
//! Fields are settings of contacts (`substeps`, `iterations`, `relax`, `stiffness`, …) and `parts`, the
//! steps made in a frame. Times are medians over the last third of the frames, energies means over the
//! same frames. "Near" counts the cubes less than half a metre beside where they were dropped.

use std::collections::BTreeMap;
use std::time::Instant;
use thirdlaw::math::Vec3;
use thirdlaw::{Body, Observer, Settings, Shape, Stage, World, measure};

const FRAME: f64 = 1.0 / 60.0;

fn world(settings: Settings, seed: f64) -> World {
    let mut world = World::new(settings).expect("settings in range");
    let (cells, size) = (64, 48.0);
    let at = |i: usize| size * (i as f64 / cells as f64 - 0.5);
    let mut heights = Vec::new();
    for row in 0..=cells {
        for column in 0..=cells {
            let (x, z) = (at(column), at(row));
            let waves = 0.4 * (libm::sin(0.9 * x) + libm::cos(0.8 * z));
            heights.push(waves + 0.01 * (x * x + z * z));
        }
    }
    let scale = Vec3::new(size, 1.0, size);
    let hills = Shape::height_field(cells + 1, cells + 1, &heights, scale).expect("hills");
    world.add_body(Body::fixed(hills).friction(0.6)).expect("ground");
    let cube = Shape::cuboid(Vec3::splat(0.25)).expect("a cube");
    let shift = |j: f64| {
        let x = 43758.5453 * libm::sin(12.9898 * (100_003.0 * seed + j));
        x - x.floor() - 0.5
    };
    for i in 0..5160 {
        let (layer, g, k) = ((i / 900) as f64, (i % 900 / 30) as f64, (i % 30) as f64);
        let j = 2.0 * i as f64;
        let (x, z) = ((g - 14.5) * 0.75 + 0.1 * shift(j), (k - 14.5) * 0.75 + 0.1 * shift(j + 1.0));
        let body = Body::dynamic(cube.clone()).at(x, 2.5 + 0.75 * layer, z);
        world.add_body(body.friction(0.6).density(1000.0)).expect("a cube in the air");
    }
    world
}

#[derive(Default)]
struct Clock {
    began: Option<Instant>,
    frames: BTreeMap<Stage, Vec<f64>>,
}

impl Observer for Clock {
    fn begin(&mut self, _: Stage) {
        self.began = Some(Instant::now());
    }

    fn end(&mut self, stage: Stage) {
        let ms = self.began.map_or(0.0, |began| began.elapsed().as_secs_f64() * 1e3);
        self.frames.entry(stage).or_default().push(ms);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

pub fn main() {
    let arguments: Vec<String> = crate::words().collect();
    let number = |i: usize, or: f64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(or);
    let (threads, frames) = (number(0, 1.0) as usize, number(1, 300.0) as usize);
    let mut settings = Settings { sleeping: false, ..Settings::default() };
    let mut parts = 1;
    for (field, value) in arguments.iter().filter_map(|a| a.split_once('=')) {
        let value: f64 = value.parse().expect("a number");
        match field {
            "parts" => parts = value as usize,
            "substeps" => settings.substeps = value as u32,
            "iterations" => settings.contact.iterations = value as u32,
            "relax" => settings.contact.relax_iterations = value as u32,
            "stiffness" => settings.contact.stiffness = value,
            "damping" => settings.contact.damping = value,
            "slop" => settings.contact.slop = value,
            "skin" => settings.contact.skin = value,
            "sag" => settings.contact.sag = value,
            "push" => settings.contact.push_speed = value,
            "tolerance" => settings.contact.tolerance = value,
            "patience" => settings.contact.converge = value != 0.0,
            "double" => settings.contact.precision = thirdlaw::Precision::Double,
            _ => panic!("no such field: {field}"),
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| run(&mut world(settings, number(2, 0.0)), frames, parts));
}

fn run(world: &mut World, frames: usize, parts: usize) {
    let late = frames - frames / 3;
    let (mut clock, mut whole) = (Clock::default(), Vec::new());
    let mut energies: Vec<f64> = Vec::new();
    let mut samples: Vec<f64> = Vec::new();
    let start: Vec<Vec3> = world.state().bodies.iter().map(|b| b.position).collect();
    for frame in 0..frames {
        let started = Instant::now();
        for _ in 1..parts {
            world.step_observed(FRAME / parts as f64, &mut ()).expect("a step");
        }
        let report = world.step_observed(FRAME / parts as f64, &mut clock).expect("a step");
        whole.push(started.elapsed().as_secs_f64() * 1e3);
        let now = measure::specific_kinetic(world);
        if frame % 20 == 19 {
            let mean = now.iter().sum::<f64>() / now.len() as f64;
            let near = world.state().bodies.iter().zip(&start).filter(|(body, start)| {
                let way = body.position - **start;
                way.x * way.x + way.z * way.z < 0.25
            });
            println!(
                "near {} frame {frame}: {} contacts, median {:.2e} J/kg, mean {mean:.2e}, {:.2} ms",
                near.count(),
                report.contacts,
                median(now.clone()),
                whole[frame]
            );
        }
        if frame >= late {
            energies.resize(now.len(), 0.0);
            samples.extend(&now);
            energies.iter_mut().zip(now).for_each(|(sum, e)| *sum += e / (frames - late) as f64);
        }
    }
    for (stage, times) in &clock.frames {
        println!("{stage:?}: {:.3} ms", median(times[late..].to_vec()));
    }
    let mut depths: Vec<f64> = measure::overlaps(world).iter().map(|o| o.depth).collect();
    depths.sort_by(f64::total_cmp);
    let mean = energies.iter().sum::<f64>() / energies.len() as f64;
    println!(
        "frame {:.3} ms, all {:.2} s; rest {:.2e} J/kg median, {mean:.2e} mean, {:.2e} median of samples; overlap p99 {:.3} mm, \
         most {:.3}; hash {:016x}",
        median(whole[late..].to_vec()),
        whole.iter().sum::<f64>() / 1e3,
        median(energies),
        median(samples),
        1e3 * depths.get(depths.len() * 99 / 100).copied().unwrap_or(0.0),
        1e3 * depths.last().copied().unwrap_or(0.0),
        world.hash()
    );
}
