//! Joints as a step sees them: rows, their exact solution, and how they are held.
//!
//! | file | what it holds |
//! |---|---|
//! | `geometry`, `gradient` | frames in the world, coordinates of one against the other, J |
//! | `island`, `place`, `want`, `errors` | the rows of an island's joints |
//! | `system`, `solve`, `descent`, `order`, `factor` | their equations, and the sparse factors that solve them |
//! | `web` | the same where many loops share their joints: nets and grids |
//! | `share` | joints that hold the same motion several times |
//! | `spread` | what contacts do through joints |
//! | `enforce` | ways to hold a constraint, one file each |
//! | `reduced` | trees in the coordinates of their joints |
//! | `fall_back`, `project` | substeps in which joints leave no room |
//!
//! What a user says about joints is `model::joint`, what a step leaves of them `state::joint`.

mod descent;
mod energy;
pub(crate) mod enforce;
mod errors;
mod factor;
mod fall_back;
pub(crate) mod geometry;
mod gradient;
pub(crate) mod island;
mod order;
mod place;
mod project;
pub(crate) mod reduced;
mod share;
mod solve;
pub(crate) mod spread;
mod stiffness;
pub(crate) mod system;
mod want;
mod web;
