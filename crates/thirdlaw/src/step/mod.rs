//! Ways to advance a world by one step.

pub(crate) mod classify;
pub mod deformable;
pub(crate) mod island;
pub mod rigid;
pub(crate) mod streams;
pub(crate) mod unified;
