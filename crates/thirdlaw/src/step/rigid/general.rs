//! Islands one by one: those with joints or point masses, and all that no faster path takes.

use super::batch::{Batch, Memory};
use super::stopwatch::Stopwatch;
use super::substep::solve_island;
use crate::report::SolvePath;

/// Advances the islands of a batch that go the general way by a step.
pub fn solve(batch: &mut Batch, memory: &mut Memory, watch: &mut Stopwatch) {
    for place in batch.places(SolvePath::General) {
        advance(batch, place, memory, watch);
    }
}

/// Advances one of them.
pub fn advance(batch: &mut Batch, place: usize, memory: &mut Memory, watch: &mut Stopwatch) {
    let (setting, members) = (batch.setting, batch.members(place));
    let totals = solve_island(setting, members, batch.changed(place), memory.get(), watch);
    let told = batch.totals(place);
    told.include(&totals);
    told.path = totals.path;
    told.joint_work += totals.joint_work;
    told.reduced += totals.reduced;
}
