//! How long each stage of a step takes, and its rows in `stages.csv`.

use crate::failure::Failure;
use crate::table;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use thirdlaw::{Observer, Stage};

/// The columns of `stages.csv`: a row for each stage of each frame, in ms.
pub const COLUMNS: [&str; 3] = ["frame", "stage", "ms"];

/// Adds up how long each stage took.
#[derive(Debug, Default)]
pub struct StageClock {
    totals: BTreeMap<Stage, Duration>,
    begun: Option<Instant>,
    /// The stage that ended last and how long it took.
    last: Option<(Stage, Duration)>,
}

/// Nanoseconds since it was first read.
fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

impl Observer for StageClock {
    fn begin(&mut self, _: Stage) {
        self.begun = Some(Instant::now());
    }

    fn end(&mut self, stage: Stage) {
        if let Some(begun) = self.begun.take() {
            let took = begun.elapsed();
            *self.totals.entry(stage).or_default() += took;
            self.last = Some((stage, took));
        }
    }

    fn clock(&self) -> Option<fn() -> u64> {
        Some(nanoseconds)
    }

    fn divide(&mut self, part: Stage, share: f64) {
        let Some((whole, took)) = self.last.take() else { return };
        let moved = took.mul_f64(share.clamp(0.0, 1.0));
        let left = self.totals.entry(whole).or_default();
        *left = left.saturating_sub(moved);
        *self.totals.entry(part).or_default() += moved;
    }
}

impl StageClock {
    /// The stages in the order of a step, with their times in ms.
    pub fn ms(&self) -> impl Iterator<Item = (Stage, f64)> + '_ {
        self.totals.iter().map(|(stage, time)| (*stage, time.as_secs_f64() * 1e3))
    }

    /// Adds the times of another clock.
    pub fn add(&mut self, other: &StageClock) {
        for (stage, time) in &other.totals {
            *self.totals.entry(*stage).or_default() += *time;
        }
    }

    /// The rows of a frame.
    pub fn rows(&self, frame: u32) -> impl Iterator<Item = [String; 3]> + '_ {
        self.ms()
            .map(move |(stage, ms)| [frame.to_string(), name(stage).into(), format!("{ms:.4}")])
    }
}

/// What files and tables call a stage.
pub fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::BroadPhase => "broad_phase",
        Stage::NarrowPhase => "narrow_phase",
        Stage::Islands => "islands",
        Stage::Solve => "solve",
        Stage::Integrate => "integrate",
        Stage::Finish => "finish",
        Stage::ClothForces => "cloth_forces",
        Stage::ClothSolve => "cloth_solve",
        Stage::ClothCloth => "cloth_cloth",
        Stage::ClothSolids => "cloth_solids",
        Stage::Particles => "particles",
    }
}

/// The times of each stage over `frames` frames, ms, as far as the table has them; stages in the
/// order in which they come there.
pub fn read(path: &Path, frames: usize) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let mut stages: Vec<(String, Vec<f64>)> = Vec::new();
    if !path.exists() {
        return Ok(stages);
    }
    table::scan(path, |frame, _, row| {
        let Some(frame) = frame else { return row.iter().eq(COLUMNS) };
        let (Some(stage), Some(Ok(ms))) = (row.get(1), row.get(2).map(str::parse)) else {
            return false;
        };
        let at = stages.iter().position(|(name, _)| name == stage).unwrap_or_else(|| {
            stages.push((stage.into(), vec![0.0; frames]));
            stages.len() - 1
        });
        if let Some(slot) = stages[at].1.get_mut(frame as usize) {
            *slot = ms;
        }
        true
    })?;
    Ok(stages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_taken_out_of_the_stage_that_ended_last() {
        let mut clock = StageClock::default();
        for _ in 0..2 {
            clock.begin(Stage::Solve);
            std::thread::sleep(Duration::from_millis(4));
            clock.end(Stage::Solve);
            clock.divide(Stage::Integrate, 0.25);
            clock.divide(Stage::Integrate, 0.25); // told twice, taken once
        }
        let ms: BTreeMap<Stage, f64> = clock.ms().collect();
        let (solve, integrate) = (ms[&Stage::Solve], ms[&Stage::Integrate]);
        assert!(solve + integrate >= 8.0, "{ms:?}");
        assert!((integrate / (solve + integrate) - 0.25).abs() < 1e-6, "{ms:?}");
    }

    #[test]
    fn times_are_read_back_by_stage_and_frame() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stages.csv");
        assert!(read(&path, 3).unwrap().is_empty());
        std::fs::write(&path, "frame,stage,ms\n1,solve,2.5\n1,cloth,1\n2,solve,3\n9,solve,1\n2,so")
            .unwrap();
        let wanted =
            vec![("solve".into(), vec![0.0, 2.5, 3.0]), ("cloth".into(), vec![0.0, 1.0, 0.0])];
        assert_eq!(read(&path, 3).unwrap(), wanted);
    }
}
