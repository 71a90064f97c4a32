//! Whatever path an island takes, it moves as by the general one in double precision.
//!
//! Single precision, arms kept over a step and a solve that stops early leave a part of a contact's velocity:
//! over a short time (a quarter of a second at 60 frames/s) a body may be off by a share of its size.

use super::super::sketch::Transform;
use super::compare::worst;
use super::{Case, Verdict};

/// Frames that are compared.
const FRAMES: usize = 15;
/// How far a body may be off, as a share of its size.
const OFF: f64 = 0.05;

/// Whether the paths agree.
pub fn judge(case: &Case) -> Verdict {
    let last = case.horizon().min(FRAMES);
    if last == 0 || !case.sketch.partition.is_whole() {
        return Verdict::Silent;
    }
    let mut general = case.sketch.clone();
    general.solver.push(("paths".into(), "\"general\"".into()));
    general.solver.push(("precision".into(), "\"double\"".into()));
    let Ok(other) = (case.run)(&general, last as u32) else {
        return Verdict::Skipped("refused by the general path");
    };
    if let Some(why) = &other.broke {
        return Verdict::Failed(format!("breaks by the general path: {why}"));
    }
    let (off, frame, name) = worst(case.trace, &other, last, &Transform::NONE);
    if off < OFF {
        return Verdict::Held;
    }
    Verdict::Failed(format!(
        "frame {frame}: {name} is off by {off:.1e} of its size from where the general path has it"
    ))
}
