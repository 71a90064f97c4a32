//! How long each stage of a step takes.

use super::{Clock, milliseconds};
use std::collections::BTreeMap;
use thirdlaw::{Observer, Stage};

/// Adds up how long each stage took.
#[derive(Clone, Debug, Default)]
pub struct StageTimes {
    clock: Option<Clock>,
    /// ns.
    totals: BTreeMap<Stage, u64>,
    begun: Option<u64>,
    /// The stage that ended last and how long it took, ns.
    last: Option<(Stage, u64)>,
}

impl Observer for StageTimes {
    fn begin(&mut self, _: Stage) {
        self.begun = self.clock.map(|clock| clock());
    }

    fn end(&mut self, stage: Stage) {
        if let (Some(clock), Some(begun)) = (self.clock, self.begun.take()) {
            let took = clock().saturating_sub(begun);
            *self.totals.entry(stage).or_default() += took;
            self.last = Some((stage, took));
        }
    }

    fn clock(&self) -> Option<fn() -> u64> {
        self.clock
    }

    fn divide(&mut self, part: Stage, share: f64) {
        let Some((whole, took)) = self.last.take() else { return };
        let moved = (took as f64 * share.clamp(0.0, 1.0)) as u64;
        let left = self.totals.entry(whole).or_default();
        *left = left.saturating_sub(moved);
        *self.totals.entry(part).or_default() += moved;
    }
}

impl StageTimes {
    /// Measures with this clock; nothing without one.
    pub(super) fn new(clock: Option<Clock>) -> StageTimes {
        StageTimes { clock, ..StageTimes::default() }
    }

    /// The stages in the order of a step, with their times in ms.
    pub fn ms(&self) -> impl Iterator<Item = (Stage, f64)> + '_ {
        self.totals.iter().map(|(stage, time)| (*stage, milliseconds(*time)))
    }

    /// Adds other times.
    pub fn add(&mut self, other: &StageTimes) {
        for (stage, time) in &other.totals {
            *self.totals.entry(*stage).or_default() += *time;
        }
    }
}

/// What files and tables call a stage.
pub fn stage_name(stage: Stage) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Four milliseconds later every time it is read.
    fn ticking() -> u64 {
        static NOW: AtomicU64 = AtomicU64::new(0);
        NOW.fetch_add(4_000_000, Ordering::Relaxed)
    }

    #[test]
    fn a_part_is_taken_out_of_the_stage_that_ended_last() {
        let mut times = StageTimes::new(Some(ticking));
        for _ in 0..2 {
            times.begin(Stage::Solve);
            times.end(Stage::Solve);
            times.divide(Stage::Integrate, 0.25);
            times.divide(Stage::Integrate, 0.25); // told twice, taken once
        }
        let ms: Vec<(Stage, f64)> = times.ms().collect();
        assert_eq!(ms, [(Stage::Solve, 6.0), (Stage::Integrate, 2.0)]);
    }

    #[test]
    fn without_a_clock_nothing_is_measured() {
        let mut times = StageTimes::new(None);
        times.begin(Stage::Solve);
        times.end(Stage::Solve);
        assert_eq!(times.ms().count(), 0);
    }
}
