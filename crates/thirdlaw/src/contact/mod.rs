//! Contact problems and their solvers.

pub mod block_mass_splitting;
pub mod colored_pgs;
pub mod colors;
pub mod dense;
pub mod direct;
pub(crate) mod follow;
mod interior;
pub mod jacobi;
pub mod jacobi_bridson;
pub mod jacobi_line_search;
pub mod jacobi_scaled;
mod lanes;
pub(crate) mod lu;
pub mod mass_splitting;
pub mod pgs;
pub mod problem;
pub mod row;
pub mod scratch;
pub mod shuffled_pgs;
pub mod single;
pub mod solver;
pub mod study;
mod sweep;
#[cfg(test)]
mod tests;
mod vector;
pub mod violation;
mod wrench;

pub(crate) use lanes::{Anchor, Pose, Softness};
pub use problem::{
    Block, BodyMass, Bound, ContactProblem, FrictionModel, ProblemError, Row, Side, Velocities,
};
pub use scratch::{Scratch, prepare, refresh};
pub(crate) use solver::solve_and_hold;
pub use solver::{
    DirectUse, Iterate, SolveReport, SolveSettings, Solver, Staggering, residual, solve, warm_start,
};
pub use study::Study;
pub use sweep::Part;
pub use violation::{Violation, violation};
