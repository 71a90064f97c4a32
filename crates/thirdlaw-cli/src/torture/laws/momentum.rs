//! Where nothing outside acts, momentum stays to rounding, and with gravity it grows by M·g·t. Angular
//! momentum about the centre of mass stays to what the scheme states.
//!
//! P: 1e-9 of Σ m|v| at its largest. L: impulses act on both sides at one point, and x₁ × mv₁ = x₀ × mv₁
//! along a step, so contacts and joints keep it as well as the arms are those of the moment; pushing
//! overlaps apart and arms kept from the beginning of a step do not.

use super::super::trace::Frame;
use super::{Case, Verdict};
use thirdlaw::math::Vec3;

/// Share of Σ m|v| that may be lost.
const LINEAR: f64 = 1e-9;
/// Share of Σ (|x||p| + |Iω|) that may be lost without contacts.
const ANGULAR: f64 = 1e-6;
/// The same where bodies touch.
const ANGULAR_TOUCHING: f64 = 0.02;

/// Whether momentum was kept.
pub fn judge(case: &Case) -> Verdict {
    let trace = case.trace;
    if !case.sketch.is_closed() || trace.broke.is_some() || deforms(case) {
        return Verdict::Silent;
    }
    let bodies = || trace.bodies.iter().filter(|b| b.dynamic);
    let mass: f64 = bodies().map(|b| b.mass).sum();
    let gravity = case.sketch.gravity;
    let start = trace.frames[0].momentum.0;
    let most = trace.frames.iter().map(|f| f.motion).fold(0.0, f64::max);
    for (number, frame) in trace.frames.iter().enumerate() {
        let off = (frame.momentum.0 - start - mass * frame.time * gravity).length();
        if off > LINEAR * most + 1e-300 {
            let share = off / most;
            return Verdict::Failed(format!(
                "frame {number}: momentum is off by {off:.3e} kg·m/s, {share:.1e} of Σ m|v|"
            ));
        }
    }
    // ties push at the mean place of a step, which keeps angular momentum to the order of the scheme only
    if case.sketch.partition.is_whole() { angular(case, mass) } else { Verdict::Held }
}

/// Whether anything does; solves of that end on residuals.
fn deforms(case: &Case) -> bool {
    !case.sketch.cloths.is_empty() || !case.sketch.softs.is_empty()
}

fn angular(case: &Case, mass: f64) -> Verdict {
    let trace = case.trace;
    let about_center = |frame: &Frame| {
        let each = trace.bodies.iter().zip(&frame.bodies).filter(|(body, _)| body.dynamic);
        let center = each.map(|(body, now)| body.mass * now.center).sum::<Vec3>() / mass;
        frame.momentum.1 - center.cross(frame.momentum.0)
    };
    // what turns: of every body about the common centre, and about its own
    let scale = |frame: &Frame| {
        let each = || trace.bodies.iter().zip(&frame.bodies).filter(|(body, _)| body.dynamic);
        let center = each().map(|(body, now)| body.mass * now.center).sum::<Vec3>() / mass;
        let drift = frame.momentum.0 / mass;
        each()
            .map(|(body, now)| {
                let (arm, v) = ((now.center - center).length(), now.velocity.linear - drift);
                let spin = 0.4 * body.reach * body.reach * now.velocity.angular.length();
                body.mass * (arm * v.length() + spin)
            })
            .sum::<f64>()
    };
    let span = |frame: &Frame| frame.bodies.iter().map(|b| b.center.length()).fold(0.0, f64::max);
    let start = about_center(&trace.frames[0]);
    let (mut most, mut touched) = (scale(&trace.frames[0]), false);
    for (number, frame) in trace.frames.iter().enumerate() {
        touched |= frame.report.contacts > 0;
        most = most.max(scale(frame));
        let off = (about_center(frame) - start).length();
        let share = if touched { ANGULAR_TOUCHING } else { ANGULAR };
        // the sum itself is rounded: everything that moves, at its distance from the origin
        let rounding = LINEAR * frame.motion * span(frame);
        if off > share * most + rounding + 1e-300 {
            let share = off / most;
            let what = if touched { "" } else { " without contact" };
            return Verdict::Failed(format!(
                "frame {number}: angular momentum is off by {share:.1e} of what turns{what}"
            ));
        }
    }
    Verdict::Held
}
