//! Finding contacts: broad phase, manifolds, continuous detection.

pub mod broad;
mod clip;
pub mod cloth;
pub mod contacts;
mod direction;
mod gjk;
pub mod manifold;
pub mod narrow;
mod piece;
mod placed;
mod sat;
pub mod sweep;
#[cfg(test)]
mod tests;

pub use manifold::{Manifold, POINTS_MAX, Point};
pub use narrow::{NarrowScratch, collide};
pub use sweep::{Motion, time_of_impact};
