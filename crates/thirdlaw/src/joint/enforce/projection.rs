//! Discrete projection: after the step, impulses that bring it back onto the constraint, iterated like
//! Newton (bridson-notes).
//!
//!   v ← v + M⁻¹Jᵀλ,   x ← x + h M⁻¹Jᵀλ,   J M⁻¹Jᵀ λ = −C(x, v),   J = h ∂C/∂x + ∂C/∂v
//!
//! J is taken anew at every iterate. Numerical errors are treated like forces, so nothing drifts; but the
//! direction of the impulse is that at the end of the step alone, which makes it of first order and lets
//! it take energy.

use super::Moment;
use crate::joint::island::{JointIsland, Stage};
use crate::model::joint::description::Enforcement;

/// Projects the trial poses and the velocities.
pub fn act(island: &mut JointIsland, moment: Moment, stage: &Stage) {
    let is_ours = |way: &Enforcement| *way == Enforcement::Projection;
    if moment == Moment::Moved && island.locals.iter().any(|local| is_ours(&local.way)) {
        island.project(stage, is_ours);
    }
}
