//! Links between simulators are solved in every step. Where one ends in an error that names the link, one world
//! at a sixteenth of the step cannot solve it either; else the scene counts among those that were not solved.

use super::super::sketch::Sketch;
use super::super::trace;
use super::{Case, Verdict};

/// Whether the links were solved.
pub fn judge(case: &Case) -> Verdict {
    if case.sketch.partition.is_whole() {
        return Verdict::Silent;
    }
    let Some(why) = &case.trace.unsolved else { return Verdict::Held };
    let finer = Sketch { fps: 16.0 * case.sketch.fps, ..case.sketch.clone() };
    let frames = 16 * case.trace.frames.len() as u32;
    match trace::run_in_one_world(&finer, frames) {
        Ok(Some(trace)) if trace.broke.is_none() => Verdict::Failed(why.clone()),
        _ => Verdict::Held,
    }
}
