//! Joints as a user describes them, and what a step reads of them.
//!
//! | file | what it holds |
//! |---|---|
//! | `description` | [`Joint`]: what a user says about a joint, with its kinds and sides |
//! | `axis`, `drive` | per coordinate: mode, limits, friction, spring, drive |
//! | `error`, `model` | the checks, and what a step reads |
//! | `curve` | smooth curves through points, for beads on wires |
//! | `constraint` | a user's own C(x, v) |
//!
//! Every joint is a relation between two frames, one on each side. Its six coordinates are the
//! place of frame b's origin along the axes of frame a (m) and the turn of frame b against frame a
//! (rad); a kind says which of them are free. The first axis, x, is the one that a hinge turns
//! about, a slider slides along, and a plane is normal to.

pub mod axis;
pub mod constraint;
pub mod curve;
pub mod description;
pub mod drive;
pub mod error;
pub mod model;

pub use axis::{Axis, AxisMode, AxisSettings, Limits, Spring};
pub use constraint::{Constraint, Member, MemberState};
pub use description::{Enforcement, Frame, Joint, JointKind, JointSettings, JointSolve, Side};
pub use drive::{Drive, DriveKey, Target};
pub use error::JointError;
pub use model::JointModel;
