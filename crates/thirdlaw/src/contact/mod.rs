//! Contact problems and their solvers.

pub mod problem;

pub use problem::{Block, BodyMass, Bound, ContactProblem, FrictionModel, Row, Side, Velocities};
