//! Ways to hold a constraint C(x) = 0, or C(x, v) = 0, each a file with the same function
//!
//!   act(island, moment, stage)
//!
//! that acts on the joints which are held its way, at three moments of a substep: before the move (half
//! the forces have acted), once bodies have moved (the trial poses are where they came to), and after the
//! move (the other half has acted). Rows that a way leaves on are solved together, with contacts, at the
//! first and the last moment; rows that it turns off it takes care of by itself.
//!
//! | way | what it does | weakness |
//! |---|---|---|
//! | `stabilized` | impulses before and after the move | loses energy where joints leave no room |
//! | `soft` | a spring along C | stretches under load |
//! | `pseudo_time` | springs alone after the move, to equilibrium | slow for chains |
//! | `multipliers` | forces that keep C̈ = 0, and a spring against drift | drifts |
//! | `projection` | impulses after the move, iterated like Newton | first order |
//!
//! Generalized coordinates, the third approach of bridson-notes and the default, do not act on rows: where
//! the joints of an island are trees and nothing touches they take the whole substep (`joint::reduced`,
//! `step::rigid::reduced`). Joints that are to be held so are `stabilized` in all other substeps. Measured
//! (`thirdlaw-studies reduced`, `thirdlaw-studies enforcement`): on chains of 10 to 1,000 hinges they take half the time, are 45
//! to 10,000 times as accurate and keep energy 20 to 10,000 times better; no joint opens. Contacts, limits
//! and loops remain rows: impulses are of first order in any coordinates, and the exact solve of joints
//! with contacts is there already.

mod multipliers;
mod projection;
mod pseudo_time;
mod soft;
mod stabilized;

use super::island::{JointIsland, Stage};
use crate::model::joint::description::Enforcement;

/// When in a substep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Half the forces have acted.
    Before,
    /// Bodies have moved.
    Moved,
    /// The other half of the forces has acted.
    After,
}

/// Lets every way act on its joints.
pub(crate) fn act(island: &mut JointIsland, moment: Moment, stage: &Stage) {
    stabilized::act(island, moment, stage);
    let other = |local: &super::island::Local| local.way != Enforcement::Stabilized;
    if island.locals.iter().any(other) {
        soft::act(island, moment, stage);
        pseudo_time::act(island, moment, stage);
        multipliers::act(island, moment, stage);
        projection::act(island, moment, stage);
    }
}
