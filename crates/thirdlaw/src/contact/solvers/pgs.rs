//! Projected Gauss–Seidel [tonge2012, Eq. 14]: row after row, each seeing what the rows before it did.
//!
//! The print's q + J v counts J v⁰ twice when v starts at v⁰; the residual here is J v + b + Γ z.

use crate::contact::problem::{ContactProblem, Velocities};
use crate::contact::row::Pair;
use crate::contact::scratch::Scratch;
use crate::contact::sweep::{BlockRows, Part, sweep};
use crate::math::worse;

/// One iteration.
pub fn iterate(
    problem: &ContactProblem,
    part: Part,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) {
    scratch.update_whole(problem);
    let mut residual = 0.0;
    for i in 0..problem.blocks.len() {
        residual = worse(residual, sweep_block(problem, part, i, velocities, impulses, scratch));
    }
    scratch.met = residual;
}

/// One pass over one block, in place. Returns the residual met.
#[inline]
pub(crate) fn sweep_block(
    problem: &ContactProblem,
    part: Part,
    i: usize,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &Scratch,
) -> f64 {
    let block = &problem.blocks[i];
    let mut pair = Pair::gather(problem, block, velocities);
    let rows = BlockRows::of(problem, i, &scratch.whole.value);
    let residual = sweep::<true, false>(&rows, part, &mut impulses[block.rows()], &mut pair);
    pair.scatter(problem, block, velocities);
    residual
}
