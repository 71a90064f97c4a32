//! Threads: loops whose sums have a fixed order, teams that stay together through many short stages, and the
//! one place where threads share memory.

pub(crate) mod loops;
pub(crate) mod pool;
pub(crate) mod share;
pub(crate) mod team;
