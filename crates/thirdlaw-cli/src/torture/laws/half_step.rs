//! Half the step comes nearer: with d₁ the distance of runs at h and h/2, d₂ of those at h/2 and h/4, d₂ is not
//! larger than d₁ but for the moment of an impact, which a step rounds to its own length.
//!
//! A body that bounces at speed v is put off by up to v·h by that rounding, at random; so d₂ ≤ 2·d₁ + 2·v·h,
//! over the frames in which runs can be compared.

use super::super::sketch::{Sketch, Transform};
use super::super::trace::Trace;
use super::compare::apart;
use super::{Case, Verdict};

/// Of d₁.
const NEARER: f64 = 2.0;
/// Of v·h.
const ROUNDING: f64 = 2.0;
/// Share of the size that is never held against anybody: slop and sag of contacts.
const FLOOR: f64 = 0.02;
/// Frames that are compared.
const FRAMES: usize = 20;

/// Whether half the step comes nearer.
pub fn judge(case: &Case) -> Verdict {
    let last = case.horizon().min(FRAMES);
    if last < 2 {
        return Verdict::Silent;
    }
    let (Some(half), Some(quarter)) = (finer(case, 2, last), finer(case, 4, last)) else {
        return Verdict::Skipped("refused at a finer step");
    };
    if let Some(why) = half.broke.as_ref().or(quarter.broke.as_ref()) {
        return Verdict::Failed(format!("breaks at a finer step: {why}"));
    }
    if half.unsolved.is_some() || quarter.unsolved.is_some() {
        return Verdict::Silent;
    }
    let (mut d1, mut d2, mut way) = (0.0_f64, 0.0_f64, 0.0_f64);
    for i in 0..=last {
        let at = (&case.trace.frames[i], &half.frames[2 * i], &quarter.frames[4 * i]);
        d1 = d1.max(apart(case.trace, (at.0, at.1), &Transform::NONE).0);
        d2 = d2.max(apart(case.trace, (at.1, at.2), &Transform::NONE).0);
        way = way.max(travel(case.trace, i));
    }
    if d2 <= NEARER * d1 + ROUNDING * way + FLOOR {
        return Verdict::Held;
    }
    Verdict::Failed(format!(
        "steps h and h/2 differ by {d1:.1e} of the size, h/2 and h/4 by {d2:.1e}, a step goes {way:.1e}"
    ))
}

/// Largest way of a body in a frame, as a share of its size.
fn travel(trace: &Trace, frame: usize) -> f64 {
    let each = trace.bodies.iter().zip(&trace.frames[frame].bodies).filter(|(b, _)| b.dynamic);
    let way = each.map(|(body, now)| {
        let v = now.velocity;
        trace.dt * (v.linear.length() / body.reach + v.angular.length())
    });
    way.fold(0.0, f64::max)
}

fn finer(case: &Case, times: u32, last: usize) -> Option<Trace> {
    let sketch = Sketch { fps: case.sketch.fps * f64::from(times), ..case.sketch.clone() };
    (case.run)(&sketch, last as u32 * times).ok()
}
