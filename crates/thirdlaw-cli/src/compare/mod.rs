//! `thirdlaw compare`: one scene coupled in several ways, and in one world where one can hold it.
//!
//! Every way starts from the same state. Differences are distances between the same centres of
//! bodies, points and vertices, against the one world, or against the most exact way where there is
//! none. What grows apart after an impact grows as chaos does; look at when it begins.

mod plot;

use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::out::default_folder;
use crate::print::{number, plural, remark};
use crate::{print, threads};
use std::fmt::Write;
use std::path::Path;
use thirdlaw::couple::Method;
use thirdlaw::math::Vec3;
use thirdlaw::measure;
use thirdlaw_run::record::core_count;
use thirdlaw_run::record::method_name;
use thirdlaw_run::stats::{exact, median};
use thirdlaw_run::stepper::{CoupledStep, CouplingTimes};
use thirdlaw_run::tables::FrameTable;
use thirdlaw_run::{SceneSource, Stepper, clock, files};
use thirdlaw_scene::Scene;

/// The columns of `compare.csv`. Differences in m, energies in J, imbalance in N·s.
const COLUMNS: [&str; 11] = [
    "frame",
    "time",
    "way",
    "largest_difference",
    "mean_difference",
    "kinetic",
    "energy",
    "imbalance",
    "passivity_error",
    "evaluations",
    "step_ms",
];

/// The ways that are compared, from the cheapest to the most exact.
const METHODS: [Method; 3] = [Method::Interleaved, Method::Iterated, Method::Repaired];

/// One way through the scene.
struct Way {
    name: &'static str,
    /// Why it ended before the others.
    broken: Option<String>,
    frames: Vec<Moment>,
    times: CouplingTimes,
    unconverged: usize,
    switched: usize,
    steps: usize,
}

/// A frame of a way.
struct Moment {
    time: f64,
    places: Vec<Vec3>,
    kinetic: f64,
    energy: f64,
    /// Largest of the frame's steps.
    imbalance: f64,
    /// Sum over the frame's steps.
    passivity_error: f64,
    evaluations: u32,
    step_ms: f64,
    /// Largest and mean distance from the reference.
    apart: [f64; 2],
}

/// Compares the ways of coupling a scene.
pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let source = SceneSource::find(&args.scene)?;
    let scene = source.load(&args.overrides)?;
    if scene.partition.is_none() {
        return Err(Failure::Input(format!(
            "{} is not shared among simulators, so there is nothing to compare\n\
             [simulators] and [couplings] of a scene file say who holds what",
            args.scene
        )));
    }
    let frames = args.frames.unwrap_or(scene.frames);
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| default_folder(&source.name).join("compare"));
    std::fs::create_dir_all(&out).map_err(Failure::file("create", &out))?;
    let mut ways = threads::install(args.threads.unwrap_or_else(core_count), || {
        let mut ways = Vec::new();
        // what is wrong with the scene itself is an error; below, only what a method cannot solve
        Stepper::new(scene.clone())?;
        for method in METHODS {
            let mut coupled = scene.clone();
            if let Some(partition) = &mut coupled.partition {
                partition.settings.method = method;
            }
            if let Err(refused) = Stepper::new(coupled.clone()) {
                remark(&format!("{} is left out: {refused}", method_name(method)));
                continue;
            }
            remark(&format!("{}: {}", source.name, method_name(method)));
            ways.push(go(method_name(method), coupled, frames)?);
        }
        if let Some(whole) = scene.monolithic() {
            remark(&format!("{}: in one world", source.name));
            ways.push(go("monolithic", whole, frames)?);
        }
        Ok(ways)
    })?;
    measure_apart(&mut ways);
    write_table(&out.join("compare.csv"), &ways)?;
    files::write_whole(&out.join("compare.svg"), plot::svg(&source.name, &ways).as_bytes())?;
    print::result(&text(&source.name, &ways))?;
    print::result(&format!("results in {}: compare.csv, compare.svg\n", out.display()))
}

fn go(name: &'static str, scene: Scene, frames: u32) -> Result<Way, Failure> {
    let mut stepper = Stepper::with_clock(scene, clock::monotonic)?;
    let mut way = Way {
        name,
        broken: None,
        frames: vec![moment(&stepper)],
        times: CouplingTimes::default(),
        unconverged: 0,
        switched: 0,
        steps: 0,
    };
    for frame in 1..=frames {
        let steps = match stepper.advance() {
            Ok(report) => &report.coupled,
            Err(error) => {
                way.broken = Some(format!("frame {frame}: {}", error.cause));
                break;
            }
        };
        way.steps += steps.len();
        way.unconverged += steps.iter().filter(|s| !s.report.converged).count();
        way.switched += steps.iter().filter(|s| s.report.switched).count();
        way.frames.push(moment(&stepper));
    }
    way.times = stepper.coupling_times();
    Ok(way)
}

fn moment(stepper: &Stepper) -> Moment {
    let (world, report) = (stepper.world(), stepper.report());
    let steps: &[CoupledStep] = &report.coupled;
    let bodies = world.bodies().filter_map(|id| world.center(id).ok());
    let points = world.points().filter_map(|id| Some(world.point(id).ok()?.position));
    let vertices = world.cloths().filter_map(|id| world.vertices(id).ok()).flatten().copied();
    let energy = measure::energy(world);
    let crossed = || steps.iter().flat_map(|s| &s.crossed);
    Moment {
        time: world.time(),
        places: bodies.chain(points).chain(vertices).collect(),
        kinetic: energy.kinetic,
        energy: energy.kinetic + energy.gravity + energy.elastic + stepper.stored_energy(),
        imbalance: crossed().filter_map(|e| e.imbalance()).fold(f64::NAN, f64::max),
        passivity_error: crossed().map(|e| e.passivity_error()).sum(),
        evaluations: steps.iter().map(|s| s.report.evaluations).sum(),
        step_ms: report.step_ms,
        apart: [0.0; 2],
    }
}

/// Fills in how far all ways are from the last one.
fn measure_apart(ways: &mut [Way]) {
    let Some((reference, others)) = ways.split_last_mut() else { return };
    for way in others {
        for (moment, other) in way.frames.iter_mut().zip(&reference.frames) {
            let pairs = moment.places.iter().zip(&other.places);
            let (mut most, mut sum) = (0.0_f64, 0.0);
            for (a, b) in pairs {
                let d = a.distance(*b);
                most = most.max(d);
                sum += d;
            }
            moment.apart = [most, sum / moment.places.len().max(1) as f64];
        }
    }
}

fn write_table(path: &Path, ways: &[Way]) -> Result<(), Failure> {
    let mut table = FrameTable::create(path, &COLUMNS)?;
    let mut rows = Vec::new();
    for way in ways {
        for (frame, m) in way.frames.iter().enumerate() {
            let mut row = vec![frame.to_string(), exact(m.time), way.name.into()];
            row.extend([m.apart[0], m.apart[1], m.kinetic, m.energy].map(exact));
            row.extend([m.imbalance, m.passivity_error].map(exact));
            row.extend([m.evaluations.to_string(), format!("{:.3}", m.step_ms)]);
            rows.push(row);
        }
    }
    table.append(rows)?;
    Ok(table.sync()?)
}

fn text(name: &str, ways: &[Way]) -> String {
    let reference = ways.last().map_or("", |way| way.name);
    let mut text = format!(
        "{name}: {}, differences from {reference}\n\
         {:<12} {:>9} {:>9} {:>12} {:>11} {:>12} {:>12} {:>12} {:>12} {:>12}\n",
        plural(ways.len(), "way"),
        "way",
        "ms/frame",
        "overhead",
        "evaluations",
        "unconverged",
        "largest m",
        "mean m, end",
        "imbalance",
        "passivity J",
        "energy J, end"
    );
    for way in ways {
        let last = way.frames.last();
        let coupled = way.steps > 0;
        let ms: Vec<f64> = way.frames.iter().skip(1).map(|m| m.step_ms).collect();
        let only = |shown: String| if coupled { shown } else { "–".into() };
        let evaluations: u32 = way.frames.iter().map(|m| m.evaluations).sum();
        let _ = writeln!(
            text,
            "{:<12} {:>9} {:>9} {:>12} {:>11} {:>12} {:>12} {:>12} {:>12} {:>12}",
            way.name,
            number(median(ms)),
            only(format!("{:.3}", way.times.overhead())),
            only(number(f64::from(evaluations) / way.steps.max(1) as f64)),
            only(format!("{} of {}", way.unconverged, way.steps)),
            number(way.frames.iter().map(|m| m.apart[0]).fold(0.0, f64::max)),
            number(last.map_or(0.0, |m| m.apart[1])),
            only(number(way.frames.iter().map(|m| m.imbalance).fold(f64::NAN, f64::max))),
            only(number(way.frames.iter().map(|m| m.passivity_error).sum())),
            number(last.map_or(0.0, |m| m.energy)),
        );
        if way.switched > 0 {
            let _ = writeln!(
                text,
                "  {}: diverges, measured and iterated instead in {} of {} steps",
                way.name, way.switched, way.steps
            );
        }
        if let Some(why) = &way.broken {
            let _ = writeln!(text, "  {} ended early: {why}", way.name);
        }
    }
    text
}
