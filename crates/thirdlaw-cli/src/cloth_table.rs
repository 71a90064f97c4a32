//! The table of (baraff1998): what cloth costs, and where the time goes.

use crate::print::number;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use thirdlaw::{Stage, StepReport, World};

/// The figures of the cloths of a scene, over all frames.
#[derive(Clone, Debug, Serialize)]
pub struct ClothFigures {
    vertices: usize,
    triangles: usize,
    frames: u32,
    /// Mean over the frames.
    ms_per_frame: f64,
    /// Cloth steps made, and how many of these were made again with half the length.
    steps: u32,
    rejected: u32,
    /// Simulated time, ms.
    smallest_step_ms: f64,
    largest_step_ms: f64,
    cg_iterations_per_step: f64,
    /// Forming the system, solving it, finding cloth on cloth and cloth on solids: percent of the
    /// time of all steps.
    eval_percent: f64,
    cg_percent: f64,
    cloth_cloth_percent: f64,
    cloth_solid_percent: f64,
}

/// Adds up what steps report.
#[derive(Clone, Debug, Default)]
pub struct ClothTally {
    steps: u32,
    rejected: u32,
    iterations: u64,
    smallest: Option<f64>,
    largest: f64,
    stage_ms: BTreeMap<Stage, f64>,
}

impl ClothTally {
    /// Takes in the steps of a frame.
    pub fn add_frame(&mut self, report: &StepReport) {
        if report.cloth_steps == 0 {
            return;
        }
        self.steps += report.cloth_steps;
        self.rejected += report.rejected;
        self.iterations += u64::from(report.cg_iterations);
        let smallest = self.smallest.map_or(report.smallest_step, |s| s.min(report.smallest_step));
        self.smallest = Some(smallest);
        self.largest = self.largest.max(report.largest_step);
    }

    /// Takes in times of stages.
    pub fn add_stages(&mut self, times: impl Iterator<Item = (Stage, f64)>) {
        for (stage, ms) in times {
            *self.stage_ms.entry(stage).or_default() += ms;
        }
    }

    /// What it came to; `None` where there is no cloth.
    pub fn figures(&self, world: &World, frames: u32, total_ms: f64) -> Option<ClothFigures> {
        let cloths = || world.deformables().filter_map(|id| world.deformable(id).ok());
        cloths().next()?;
        let share = |stage: Stage| {
            let ms = self.stage_ms.get(&stage).copied().unwrap_or(0.0);
            100.0 * ms / total_ms.max(f64::MIN_POSITIVE)
        };
        Some(ClothFigures {
            vertices: cloths().map(|c| c.count()).sum(),
            triangles: cloths().map(|c| c.triangles().len()).sum(),
            frames,
            ms_per_frame: total_ms / f64::from(frames.max(1)),
            steps: self.steps,
            rejected: self.rejected,
            smallest_step_ms: 1e3 * self.smallest.unwrap_or(0.0),
            largest_step_ms: 1e3 * self.largest,
            cg_iterations_per_step: self.iterations as f64 / f64::from(self.steps.max(1)),
            eval_percent: share(Stage::ClothForces),
            cg_percent: share(Stage::ClothSolve),
            cloth_cloth_percent: share(Stage::ClothCloth),
            cloth_solid_percent: share(Stage::ClothSolids),
        })
    }
}

/// A row for each scene and number of threads; empty without cloth.
pub fn text<'a>(
    rows: impl Iterator<Item = (&'a str, usize, &'a ClothFigures)>,
    names: usize,
) -> String {
    let mut text = String::new();
    for (scene, threads, f) in rows {
        if text.is_empty() {
            let _ = write!(
                text,
                "\ncloth, all frames\n{:<names$}  threads  vertices  triangles  ms/frame  \
                 step ms min  max    frames/steps  rejected  CG/step  EVAL %  CG %  C/C %  C/S %\n",
                "scene"
            );
        }
        let frames = format!("{}/{}", f.frames, f.steps);
        let percent = |x: f64| format!("{x:.1}");
        let _ = writeln!(
            text,
            "{scene:<names$}  {threads:>7}  {:>8}  {:>9}  {:>8}  {:>11}  {:<5}  {frames:>12}  \
             {:>8}  {:>7}  {:>6}  {:>4}  {:>5}  {:>5}",
            f.vertices,
            f.triangles,
            number(f.ms_per_frame),
            number(f.smallest_step_ms),
            number(f.largest_step_ms),
            f.rejected,
            number(f.cg_iterations_per_step),
            percent(f.eval_percent),
            percent(f.cg_percent),
            percent(f.cloth_cloth_percent),
            percent(f.cloth_solid_percent)
        );
    }
    text
}
