//! The kinds of links between simulators, one file each.
//!
//!   tie     points, frames and springs between handles: λ is sought
//!   touch   surfaces of one simulator as obstacles of the other, with their response
//!   watch   surfaces of both, collisions found from outside
//!   lead    handles that move as those of another simulator

pub(crate) mod lead;
pub(crate) mod tie;
pub(crate) mod touch;
pub(crate) mod watch;
