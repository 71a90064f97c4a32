//! One scene before all laws.

use super::laws::{Case, LAWS, Law, Verdict};
use super::sketch::Sketch;
use super::trace::{self, Trace};

/// Verdicts of these laws, of all where none is named, or why the scene was refused.
pub fn judge(sketch: &Sketch, only: &[String]) -> Result<Vec<(&'static str, Verdict)>, String> {
    let trace = trace::run(sketch, sketch.frames, true)?;
    let case = Case::new(sketch, &trace, &again);
    let asked = |law: &&Law| only.is_empty() || only.iter().any(|name| name == law.name);
    Ok(LAWS.iter().filter(asked).map(|law| (law.name, verdict(law, &case))).collect())
}

/// Whether one law is broken, and how.
pub fn breaks(sketch: &Sketch, law: &Law) -> Option<String> {
    let trace = trace::run(sketch, sketch.frames, true).ok()?;
    match verdict(law, &Case::new(sketch, &trace, &again)) {
        Verdict::Failed(how) => Some(how),
        _ => None,
    }
}

fn verdict(law: &Law, case: &Case) -> Verdict {
    // what broke is the affair of one law
    match law.compares && case.trace.broke.is_some() {
        true => Verdict::Silent,
        false => (law.judge)(case),
    }
}

/// Runs a scene for a comparison: overlaps are not looked at.
fn again(sketch: &Sketch, frames: u32) -> Result<Trace, String> {
    trace::run(sketch, frames, false)
}
