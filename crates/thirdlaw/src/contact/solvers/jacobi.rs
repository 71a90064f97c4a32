//! Projected Jacobi [tonge2012, Eq. 9]: every row steps against the same velocities.
//!
//! Converges if 2D − N is positive definite, which three contacts on one light body already break;
//! it is here to be compared with. The residual is J v + b + Γ z, not the print's q + J v, which counts
//! J v⁰ twice.

use crate::contact::problem::{ContactProblem, Velocities};
use crate::contact::scratch::Scratch;
use crate::contact::solver::in_turn;
use crate::contact::sweep::Part;
use crate::contact::wrench::{Pass, apply_pushes};

/// One iteration.
pub fn iterate(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    if matches!(part, Part::Both | Part::Loaded) {
        return in_turn(iterate, problem, velocities, impulses, scratch);
    }
    scratch.update_whole(problem);
    scratch.update_adjacency(problem);
    let pass = Pass {
        problem,
        part,
        velocities,
        effective: &scratch.whole.value,
        split: None,
        relax: 1.0,
    };
    scratch.met = pass.run(impulses, &mut scratch.pushes);
    apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, None, velocities);
}
