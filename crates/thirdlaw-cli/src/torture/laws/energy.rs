//! Energy grows by no more than what is put in, each booked:
//!
//! - **drives**: a drive towards a constant target is a spring with a limit; what it can still give is the
//!   potential V(q − target) = ½k·e² up to its limit L, then L·|e| − L²/2k (damping only takes). A motor gives
//!   at most L·|q̇|.
//! - **kinematic bodies**: what they strike leaves at no more than twice their speed, and is lifted by no more
//!   than they are.
//! - **push-out** of what overlaps at the start: M·|g| times the sum of all depths.
//! - **the step itself**: semi-implicit steps of h keep E + ½·h·g·P in free flight, not E. (Islands with joints
//!   take another step, which keeps E; where there are joints or cloth either is allowed.)
//! - **sweeps**: a body that is stopped where it first touches keeps its velocity and loses the rest of its way,
//!   at most |g·v|·dt each.
//!
//! What then remains must stay below the start by a thousandth of the energy there was to spend. Within a run
//! energy may rise again only by what overlaps had taken.

use super::super::sketch::{Drive, Motion};
use super::super::trace::{Frame, Trace};
use super::overlap::thickness;
use super::{Case, Verdict};

/// Share of the energy there was to spend.
const SHARE: f64 = 1e-3;
/// Share of the thinnest body's thickness by which everything may be lifted: rounding and slop of contacts.
const LIFT: f64 = 2e-3;

/// Whether energy was made.
pub fn judge(case: &Case) -> Verdict {
    let trace = case.trace;
    let books: Vec<f64> = trace.frames.iter().map(|f| total(case, f)).collect();
    let start = &trace.frames[0];
    let weight = weight(case);
    let thin = trace.bodies.iter().map(thickness).fold(f64::INFINITY, f64::min);
    let thin = if thin.is_finite() { thin } else { 0.0 };
    let lowest = trace.frames.iter().map(|f| f.energy.gravity).fold(f64::INFINITY, f64::min);
    let spendable = books[0] - start.energy.gravity + (start.energy.gravity - lowest);
    let overlaps: f64 = start.overlaps.iter().map(|o| o.depth).sum();
    let mut allowed = books[0] + weight * overlaps + kinematic(case);
    for (number, frame) in trace.frames.iter().enumerate().skip(1) {
        allowed += motors(case, &trace.frames[number - 1], frame) + swept(case, frame);
        let room = SHARE * spendable.abs().max(allowed - books[0]) + LIFT * weight * thin;
        let step = scheme(case, start).abs() + scheme(case, frame).abs();
        let room = room + if mixed(case) { step } else { 0.0 } + 1e-12 * books[0].abs();
        if books[number].is_nan() || books[number] > allowed + room {
            let more = books[number] - allowed;
            let share = 100.0 * more / spendable.abs();
            return Verdict::Failed(format!(
                "frame {number}: {more:.3e} J more than there can be, {share:.2} % of what there was"
            ));
        }
    }
    Verdict::Held
}

/// Whether steps of different kinds are made.
fn mixed(case: &Case) -> bool {
    let sketch = case.sketch;
    let plain = sketch.joints.is_empty()
        && sketch.cloths.is_empty()
        && sketch.softs.is_empty()
        && sketch.robots.is_empty();
    !plain || !sketch.partition.is_whole()
}

/// Weight of everything, N.
fn weight(case: &Case) -> f64 {
    let bodies = case.trace.bodies.iter().filter(|b| b.dynamic).map(|b| b.mass);
    let cloths = case.sketch.cloths.iter().map(|c| c.fabric.density * c.size[0] * c.size[1]);
    let softs = case.sketch.softs.iter().map(|soft| soft.mass());
    case.sketch.gravity.length() * bodies.chain(cloths).chain(softs).sum::<f64>()
}

/// ½·h·g·P, J.
fn scheme(case: &Case, frame: &Frame) -> f64 {
    let h = case.trace.dt / f64::from(case.sketch.substeps);
    if mixed(case) {
        return 0.5 * h * case.sketch.gravity.length() * frame.motion;
    }
    0.5 * h * case.sketch.gravity.dot(frame.momentum.0)
}

/// Energy of a frame with what drives can still give, J.
fn total(case: &Case, frame: &Frame) -> f64 {
    let e = frame.energy;
    let sum = e.kinetic + e.gravity + e.elastic + drives(case, frame);
    if mixed(case) { sum } else { sum + scheme(case, frame) }
}

fn joint(trace: &Trace, frame: &Frame, name: &str) -> Option<(f64, f64)> {
    let place = trace.joints.iter().position(|joint| joint == name)?;
    frame.joints.get(place).copied()
}

/// What drives towards a target can still give, J.
fn drives(case: &Case, frame: &Frame) -> f64 {
    let potential = |(name, drive): (String, Drive)| {
        let Drive::Pd { stiffness, target, limit, .. } = drive else { return 0.0 };
        let Some((q, _)) = joint(case.trace, frame, &name) else { return 0.0 };
        let error = (q - target).abs();
        match stiffness * error <= limit {
            true => 0.5 * stiffness * error * error,
            false => limit * error - 0.5 * limit * limit / stiffness,
        }
    };
    case.sketch.drives().into_iter().map(potential).sum()
}

/// What motors can have given in a frame, J.
fn motors(case: &Case, before: &Frame, after: &Frame) -> f64 {
    let work = |(name, drive): (String, Drive)| {
        let Drive::Motor { limit, velocity } = drive else { return 0.0 };
        let (Some(a), Some(b)) =
            (joint(case.trace, before, &name), joint(case.trace, after, &name))
        else {
            return 0.0;
        };
        limit * case.trace.dt * a.1.abs().max(b.1.abs()).max(velocity.abs())
    };
    case.sketch.drives().into_iter().map(work).sum()
}

/// What kinematic bodies can give over the whole run, J.
fn kinematic(case: &Case) -> f64 {
    let (mut speed, mut rise) = (0.0_f64, 0.0_f64);
    for body in &case.sketch.bodies {
        let Motion::Kinematic(keys) = &body.motion else { continue };
        for pair in keys.windows(2) {
            let way = pair[1].1 - pair[0].1;
            speed = speed.max(way.length() / (pair[1].0 - pair[0].0));
            rise += way.length();
        }
    }
    let mass: f64 = case.trace.bodies.iter().filter(|b| b.dynamic).map(|b| b.mass).sum();
    2.0 * mass * speed * speed + weight(case) * rise
}

/// What stopping fast bodies can have given in a frame, J.
fn swept(case: &Case, frame: &Frame) -> f64 {
    if frame.report.swept == 0 {
        return 0.0;
    }
    let bodies = case.trace.bodies.iter().zip(&frame.bodies).filter(|(body, _)| body.dynamic);
    let lift = |(body, now): (&super::super::trace::BodyFacts, &super::super::trace::BodyFrame)| {
        body.mass * case.sketch.gravity.dot(now.velocity.linear).abs() * case.trace.dt
    };
    bodies.map(lift).sum()
}
