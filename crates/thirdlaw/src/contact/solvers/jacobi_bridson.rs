//! Bridson's Jacobi [tonge2012, Eq. 12]: whole effective masses, but what is applied to a body is
//! divided by the number of blocks on it.
//!
//! The print lacks Jᵀ and has the sign wrong; here v ← v + M⁻¹ n⁻¹ Jᵀ Δz. Where bodies have different
//! counts, the two sides of a contact take different momentum: Newton's third law does not hold. Read
//! as mass splitting of bodies n times as heavy, whose effective mass it has, it solves
//! the contact problem of those, not of the bodies given: velocities satisfy the constraints in the
//! end, impulses are too large. It is here to be compared with.

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
    scratch.update_block_counts(problem);
    let pass = Pass {
        problem,
        part,
        velocities,
        effective: &scratch.whole.value,
        split: None,
        relax: 1.0,
    };
    scratch.met = pass.run(impulses, &mut scratch.pushes);
    let counts = &scratch.block_counts.value[2];
    let share = Some(counts);
    apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, share, velocities);
}
