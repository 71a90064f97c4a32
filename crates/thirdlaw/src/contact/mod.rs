//! Contact problems and their solvers.

pub mod colors;
pub mod dense;
pub mod direct;
pub(crate) mod follow;
pub(crate) mod impact;
pub mod incompressible;
mod interior;
mod lanes;
pub mod problem;
mod proximal;
pub mod robust;
pub mod row;
pub mod scratch;
pub mod solver;
pub mod solvers;
pub mod study;
mod sweep;
#[cfg(test)]
mod tests;
pub mod violation;
mod wrench;

pub(crate) use lanes::{Anchor, Pose, Softness};
pub use problem::{Block, Bound, ContactProblem, ContactSide, ProblemError, Row, Velocities};
pub use scratch::{Scratch, prepare, refresh};
pub(crate) use solver::solve_and_hold;
pub use solver::{
    DirectUse, Iterate, SolveReport, SolveSettings, Staggering, residual, solve, warm_start,
};
pub use study::Study;
pub use sweep::Part;
pub use violation::{Violation, violation};
