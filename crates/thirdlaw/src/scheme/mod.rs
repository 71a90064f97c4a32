//! Ways to advance a world by one step.

mod articulated;
mod effort;
pub mod impulse;
mod kinematic;
mod rebound;
mod sleep;
pub mod substep;
mod sweep;
