//! Ways to advance a world by one step.

mod abreast;
mod articulated;
mod effort;
mod finish;
mod free;
pub mod impulse;
mod kinematic;
pub mod large_steps;
mod linked;
pub(crate) mod pile;
pub mod problem;
mod rebound;
mod reduced;
mod sleep;
pub mod substep;
mod sweep;
mod through;
mod watch;
