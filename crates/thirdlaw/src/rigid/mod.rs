//! Rigid bodies: mass in world axes, the rotation update, islands and sleep.

pub mod island;
pub mod mass;
pub mod rotation;
