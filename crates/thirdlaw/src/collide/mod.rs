//! Finding contacts: broad phase, manifolds, continuous detection.

mod ahead;
mod box_mesh;
mod box_triangle;
mod box_triangle_closest;
mod boxes;
mod boxes_clip;
pub mod broad;
mod clearance;
mod clip;
mod contact_slots;
pub mod contacts;
pub mod deformable;
mod direction;
mod fat_boxes;
mod gjk;
pub mod manifold;
mod meeting_pieces;
pub mod narrow;
mod opposed;
mod pairs;
mod piece;
mod placed;
mod polygon;
mod refresh;
mod reuse;
mod sat;
mod segments;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_box_mesh;
#[cfg(test)]
mod tests_boxes;
#[cfg(test)]
mod tests_broad;
pub mod time_of_impact;

pub use manifold::{Manifold, Point};
pub use narrow::{NarrowScratch, collide};
pub use time_of_impact::{Motion, time_of_impact};
