//! Mass splitting [tonge2012, Eq. 15]: Jacobi with the effective mass of a body split among the rows on
//! it, E_i = 1/(Σ_j n_j J_ij M_j⁻¹ J_ijᵀ + Γ_i), and impulses applied to the whole mass.
//!
//! The print lacks Jᵀ in the velocity update: v ← v + M⁻¹Jᵀ Δz. n_j counts the rows of the part that is
//! solved (normals or friction: each is a problem of its own, Eq. 40 and 41); the two friction rows
//! of a cone step together and count once. The order of the blocks does not change a bit of the result.

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
    scratch.update_adjacency(problem);
    scratch.update_row_split(problem);
    let pass = Pass {
        problem,
        part,
        velocities,
        effective: &scratch.row_split.value,
        split: None,
        relax: 1.0,
    };
    scratch.met = pass.run(impulses, &mut scratch.pushes);
    apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, None, velocities);
}
