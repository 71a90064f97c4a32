//! Joints: what they are, what drives them, and how they are held.
//!
//! | file | what it holds |
//! |---|---|
//! | `description` | [`Joint`]: what a user says about a joint, with its kinds and sides |
//! | `axis`, `drive` | per coordinate: mode, limits, friction, spring, drive |
//! | `error`, `model` | the checks, and what a step reads |
//! | `reading` | coordinates, rates, reactions: what a step leaves |
//! | `geometry` | frames in the world, coordinates of one against the other |
//! | `curve` | smooth curves through points, for beads on wires |
//! | `constraint` | a user's own C(x, v) |
//!
//! Every joint is a relation between two frames, one on each side. Its six coordinates are the
//! place of frame b's origin along the axes of frame a (m) and the turn of frame b against frame a
//! (rad); a kind says which of them are free. The first axis, x, is the one that a hinge turns
//! about, a slider slides along, and a plane is normal to.

mod axis;
pub mod constraint;
pub mod curve;
mod description;
mod drive;
mod energy;
pub(crate) mod enforce;
mod error;
mod errors;
mod factor;
mod fall_back;
pub(crate) mod geometry;
mod gradient;
pub(crate) mod island;
pub(crate) mod model;
mod order;
mod place;
mod project;
mod reading;
pub(crate) mod reduced;
mod solve;
pub(crate) mod spread;
mod stiffness;
pub(crate) mod system;
mod want;

pub use axis::{Axis, AxisMode, AxisSettings, Limits, Spring};
pub use constraint::{Constraint, ConstraintId, Member, MemberState};
pub use description::{Enforcement, Frame, Joint, JointKind, JointSettings, JointSolve, Side};
pub use drive::{Drive, DriveKey, Target};
pub use error::JointError;
pub use model::JointModel;
pub use reading::{JointReading, JointState};
