//! Bodies at rest overlap by no more than a share of the thinner one.
//!
//! At rest means that both have moved by less than a hundredth of the thinner one's thickness over the last
//! five frames; and that the scene has gone on for so long that a push-out at 3 m/s is over.

use super::super::trace::{BodyFacts, Frame};
use super::{Case, Verdict};

/// Largest overlap, as a share of the thickness of the thinner body.
const SHARE: f64 = 0.05;
/// Frames over which bodies must be at rest.
const REST: usize = 5;
/// How far they may move in that time, as a share of the same thickness.
const STILL: f64 = 0.01;

/// Whether overlaps at rest are small.
pub fn judge(case: &Case) -> Verdict {
    let frames = &case.trace.frames;
    let Some(last) = frames.last().filter(|_| frames.len() > 2 * REST) else {
        return Verdict::Silent;
    };
    let before = &frames[frames.len() - 1 - REST];
    let mut judged = false;
    for overlap in &last.overlaps {
        let (a, b) = (overlap.bodies.0 as usize, overlap.bodies.1 as usize);
        let (Some(first), Some(second)) = (case.trace.bodies.get(a), case.trace.bodies.get(b))
        else {
            continue;
        };
        let thick = thickness(first).min(thickness(second));
        let moved = |i: usize| shift(&case.trace.bodies[i], before, last, i);
        if moved(a).max(moved(b)) > STILL * thick {
            continue;
        }
        judged = true;
        if overlap.depth > SHARE * thick {
            return Verdict::Failed(format!(
                "{} and {} rest {:.3e} m inside of each other, {:.0} % of their thickness",
                first.name,
                second.name,
                overlap.depth,
                100.0 * overlap.depth / thick
            ));
        }
    }
    if judged { Verdict::Held } else { Verdict::Silent }
}

/// Thickness of a body, m: across the ball inside of it.
pub fn thickness(body: &BodyFacts) -> f64 {
    match body.thick > 0.0 {
        true => 2.0 * body.thick,
        false if body.reach.is_finite() && body.dynamic => 0.2 * body.reach,
        false => f64::INFINITY,
    }
}

/// How far any point of a body has gone.
fn shift(body: &BodyFacts, before: &Frame, after: &Frame, i: usize) -> f64 {
    if !body.dynamic {
        return before.bodies[i].center.distance(after.bodies[i].center);
    }
    let (x0, x1) = (&before.bodies[i], &after.bodies[i]);
    x0.center.distance(x1.center) + body.reach * x0.rotation.angle_between(x1.rotation)
}
