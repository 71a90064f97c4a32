//! Exact solution of small problems.

use super::problem::{ContactProblem, Velocities};
use super::scratch::Scratch;

/// Working memory of the direct solver.
#[derive(Debug, Default)]
pub struct DirectScratch {}

/// Solves the problem.
pub fn solve(
    _problem: &ContactProblem,
    _velocities: &mut Velocities,
    _impulses: &mut [f64],
    _scratch: &mut Scratch,
) -> bool {
    false
}
