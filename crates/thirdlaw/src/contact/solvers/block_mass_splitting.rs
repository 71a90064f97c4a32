//! Block mass splitting [tonge2012, Eq. 35–38]: each body is split into one sub-body per block on it;
//! every block solves its rows by Gauss–Seidel on its sub-bodies, then the sub-bodies of a body are
//! joined again by averaging their velocities.
//!
//! The print has three forms of this method that differ. Eq. 16 couples the rows of a block through
//! the whole masses; Algorithm 1 applies impulses inside a block to the whole masses (line 18) and
//! forgets to divide the sum of lines 22–27 by n. What the proof is about is Eq. 35–38, and that is done
//! here: inside a block impulses act on the split masses n·M⁻¹, and the outcome is the average, which
//! equals the whole mass taking the sum of impulses (see `wrench`). Eq. 33 and 37 lack a minus before
//! the joint solve; the average of Eq. 38 is right.
//!
//! `Part::Both` lets a block solve its friction and its normals before the one average; the counts are
//! those of the blocks that have rows of the part.

use crate::contact::problem::{ContactProblem, Velocities};
use crate::contact::scratch::Scratch;
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
    scratch.update_adjacency(problem);
    scratch.update_block_split(problem, part);
    let (effective, counts) = match part {
        Part::Normal => (&scratch.part_split.value, 0),
        Part::Friction => (&scratch.part_split.value, 1),
        Part::Both | Part::Loaded => (&scratch.block_split.value, 2),
    };
    let split = Some(&scratch.block_counts.value[counts]);
    let pass = Pass { problem, part, velocities, effective, split, relax: 1.0 };
    scratch.met = pass.run(impulses, &mut scratch.pushes);
    apply_pushes(problem, &scratch.adjacency.value, &scratch.pushes, 1.0, None, velocities);
}
