//! Finding contacts: broad phase, manifolds, continuous detection.

mod box_mesh;
mod box_triangle;
mod box_triangle_closest;
mod boxes;
mod boxes_clip;
pub mod broad;
mod clearance;
mod clip;
pub mod contacts;
pub mod deformable;
mod direction;
mod gjk;
mod loose;
pub mod manifold;
pub mod narrow;
mod pairs;
mod persist;
mod piece;
mod placed;
mod places;
mod polygon;
mod renew;
mod sat;
pub mod sweep;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_box_mesh;
#[cfg(test)]
mod tests_boxes;
#[cfg(test)]
mod tests_broad;

pub use manifold::{Manifold, Point};
pub use narrow::{NarrowScratch, collide};
pub use sweep::{Motion, time_of_impact};
