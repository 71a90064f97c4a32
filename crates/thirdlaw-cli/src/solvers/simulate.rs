//! The scene simulated with each solver: does it come to rest, and what does a frame cost?

use super::Contestant;
use crate::failure::Failure;
use serde::Serialize;
use std::path::Path;
use thirdlaw::{Stage, measure};
use thirdlaw_run::stats::{exact, median};
use thirdlaw_run::tables::FrameTable;
use thirdlaw_run::{Stepper, clock};
use thirdlaw_scene::Scene;

/// The scene with one solver.
#[derive(Serialize)]
pub struct Motion {
    #[serde(skip)]
    pub who: Contestant,
    /// Its name.
    pub name: String,
    /// Iterations of each of the two solves of a step; 0: as the scene has them.
    pub iterations: u32,
    /// The initial state and each frame.
    pub frames: Vec<Moment>,
    /// Mean over the frames of the last third: mean and median over bodies, J/kg.
    pub rest_mean: f64,
    pub rest_median: f64,
    /// Deepest overlap after the last frame, m.
    pub overlap: f64,
    /// Median over the last third of the frames, ms: all of it, and solving alone.
    pub frame_ms: f64,
    pub solve_ms: f64,
    /// Mean over all frames, ms.
    pub mean_ms: f64,
    /// Contact points in the last frame.
    pub contacts: u32,
    /// Why it ended before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// One frame of it.
#[derive(Clone, Copy, Serialize)]
pub struct Moment {
    /// s.
    pub time: f64,
    /// Mean over bodies of kinetic energy per mass, J/kg.
    pub mean: f64,
    /// Median over bodies, J/kg.
    pub median: f64,
    /// Time of the frame's steps, ms.
    pub ms: f64,
    /// Of that, solving and integrating, ms.
    pub solve_ms: f64,
}

/// Simulates so many frames from the beginning. A world that breaks ends it early and is told of.
pub fn simulate(
    scene: &Scene,
    who: Contestant,
    frames: u32,
    substeps: u32,
) -> Result<Motion, Failure> {
    let mut scene = scene.clone();
    let settings = who.settings(scene.world.settings(), substeps);
    scene.world.set_settings(settings).map_err(|error| Failure::Input(error.to_string()))?;
    let mut stepper = Stepper::with_clock(scene, clock::monotonic)?;
    let mut moments = vec![moment(&stepper)];
    let (mut broken, mut contacts) = (None, 0);
    for frame in 1..=frames {
        match stepper.advance() {
            Ok(report) => contacts = report.steps.contacts,
            Err(error) => {
                broken = Some(format!("frame {frame}: {}", error.cause));
                break;
            }
        }
        moments.push(moment(&stepper));
    }
    let made = &moments[1..];
    let last = &made[made.len() - made.len().div_ceil(3)..];
    let mean = |read: fn(&Moment) -> f64, of: &[Moment]| {
        of.iter().map(read).sum::<f64>() / of.len().max(1) as f64
    };
    Ok(Motion {
        who,
        name: who.name(),
        iterations: who.iterations,
        rest_mean: mean(|m| m.mean, last),
        rest_median: mean(|m| m.median, last),
        overlap: if broken.is_none() { measure::penetration(stepper.world()) } else { f64::NAN },
        frame_ms: median(last.iter().map(|m| m.ms).collect()),
        solve_ms: median(last.iter().map(|m| m.solve_ms).collect()),
        mean_ms: mean(|m| m.ms, made),
        contacts,
        frames: moments,
        broken,
    })
}

fn moment(stepper: &Stepper) -> Moment {
    let (world, report) = (stepper.world(), stepper.report());
    let energies = measure::specific_kinetic(world);
    let mean = energies.iter().sum::<f64>() / energies.len().max(1) as f64;
    let is_solving = |stage: Stage| matches!(stage, Stage::Solve | Stage::Integrate);
    let solving = report.stages.ms().filter(|(stage, _)| is_solving(*stage));
    Moment {
        time: world.time(),
        mean,
        median: measure::jitter(world),
        ms: report.step_ms,
        solve_ms: solving.map(|(_, ms)| ms).sum(),
    }
}

/// Writes `energy.csv`.
pub fn write(out: &Path, all: &[Motion]) -> Result<(), Failure> {
    let columns = ["frame", "time", "solver", "iterations", "mean", "median", "ms", "solve_ms"];
    let mut table = FrameTable::create(&out.join("energy.csv"), &columns)?;
    for motion in all {
        let rows = motion.frames.iter().enumerate().map(|(frame, m)| {
            let mut row = vec![frame.to_string(), exact(m.time), motion.name.clone()];
            row.push(motion.iterations.to_string());
            row.extend([m.mean, m.median].map(exact));
            row.extend([m.ms, m.solve_ms].map(|ms| format!("{ms:.4}")));
            row
        });
        table.append(rows)?;
    }
    Ok(table.sync()?)
}
