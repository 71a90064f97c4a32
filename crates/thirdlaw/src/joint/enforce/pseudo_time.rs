//! Soft constraints in pseudo-time: first all other forces for a step, then springs alone, without
//! advancing time, until they are at equilibrium (bridson-notes).
//!
//! A pseudo-step is an implicit step of the springs of one joint with K → ∞,
//! Δx = −M⁻¹Jᵀ(J M⁻¹Jᵀ)⁻¹C, so how large K is does not matter; joints take turns. A single joint is there
//! after a few steps; along a chain the news travels one joint a step. Velocities change by Δx/h.

use super::Moment;
use crate::joint::island::{JointIsland, Stage};
use crate::model::joint::description::Enforcement;

/// Sweeps over all joints at most.
const SWEEPS: usize = 50;

/// Relaxes the trial poses.
pub fn act(island: &mut JointIsland, moment: Moment, stage: &Stage) {
    if moment != Moment::Moved
        || !island.locals.iter().any(|local| local.way == Enforcement::PseudoTime)
    {
        return;
    }
    for _ in 0..SWEEPS {
        let mut worst = 0.0_f64;
        for l in 0..island.locals.len() {
            if island.locals[l].way == Enforcement::PseudoTime {
                worst = worst.max(island.relax(stage, l));
            }
        }
        if worst <= 1e-10 {
            break;
        }
    }
}
