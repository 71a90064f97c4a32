//! What several simulators share moves as in one world, in which ties are joints.
//!
//! Over half a second no body is farther off than 1 % of how far anything gets, or of its own size if that is more,
//! from where one world has it, at the same step or at a sixteenth of it; where these two are apart by more than
//! that, no farther from the finer one than the coarser one is. Compared as long as twins of the finer one stay together.

use super::super::sketch::{Sketch, Transform};
use super::super::trace::{self, Trace};
use super::compare::apart;
use super::{Case, Verdict};

/// Share of the way.
const OFF: f64 = 0.01;
/// Share of the size, where nothing gets far: slop and sag of contacts.
const SIZE: f64 = 0.01;
/// Parts of a step of the finer world.
const FINER: u32 = 16;

/// Whether both agree.
pub fn judge(case: &Case) -> Verdict {
    if case.sketch.partition.is_whole() {
        return Verdict::Silent;
    }
    let last = case.horizon();
    if last < 2 {
        return Verdict::Silent;
    }
    let Ok(Some(same)) = trace::run_in_one_world(case.sketch, last as u32) else {
        return Verdict::Skipped("one world refuses it");
    };
    let finer = Sketch { fps: case.sketch.fps * f64::from(FINER), ..case.sketch.clone() };
    let Ok(Some(finer)) = trace::run_in_one_world(&finer, last as u32 * FINER) else {
        return Verdict::Skipped("one world refuses it");
    };
    if same.broke.is_some() || finer.broke.is_some() {
        return Verdict::Silent;
    }
    let fine = Worst::of((case.trace, 1), (&finer, FINER as usize), last);
    let coarse = Worst::of((case.trace, 1), (&same, 1), last);
    let own = Worst::of((&same, 1), (&finer, FINER as usize), last);
    if fine.off.min(coarse.off) <= 1.0 || fine.off <= own.off {
        return Verdict::Held;
    }
    Verdict::Failed(format!(
        "frame {}: {} is {:.2} % off from one world at h, {:.2} % at h/16, these two {:.2} %",
        coarse.frame,
        coarse.body,
        100.0 * OFF * coarse.off,
        100.0 * OFF * fine.off,
        100.0 * OFF * own.off
    ))
}

/// The largest difference of two runs, as a share of what is allowed.
struct Worst {
    off: f64,
    frame: usize,
    body: String,
}

impl Worst {
    /// Of two runs, each with its number of frames in one of the scene.
    fn of((a, n): (&Trace, usize), (b, m): (&Trace, usize), last: usize) -> Worst {
        let last = last.min((a.frames.len() - 1) / n).min((b.frames.len() - 1) / m);
        let mut worst = Worst { off: 0.0, frame: 0, body: String::new() };
        let mut way = 0.0_f64;
        for i in 0..=last {
            let (x, y) = (&a.frames[n * i], &b.frames[m * i]);
            let gone = b.bodies.iter().zip(&b.frames[0].bodies).zip(&y.bodies);
            for ((_, from), now) in gone.filter(|((body, _), _)| body.dynamic) {
                way = way.max(from.center.distance(now.center));
            }
            let (share, body) = apart(a, (x, y), &Transform::NONE);
            let Some(body) = body else { continue };
            let size = a.bodies[body].reach;
            let off = share * size / (OFF * way).max(SIZE * size);
            if off.is_nan() || off > worst.off {
                worst = Worst { off, frame: i, body: a.bodies[body].name.clone() };
            }
        }
        worst
    }
}
