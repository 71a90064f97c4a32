//! Ways to advance a world by one step.

pub mod impulse;
mod sleep;
pub mod substep;
mod sweep;
