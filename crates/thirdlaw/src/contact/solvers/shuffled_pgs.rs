//! Projected Gauss–Seidel in an order that is drawn anew for every step.
//!
//! Stopped early, Gauss–Seidel leaves most of the error to the blocks that come first. An order that
//! stays puts it in the same places step after step; an order that changes, as a parallel sweep without
//! ordered writes has it, throws it about, and that is seen as jitter [tonge2012 §1]. This solver makes
//! the second case repeatable: blocks go by a number drawn from their key and from
//! [`ContactProblem::seed`]. All iterations of a step keep the order; the order of `blocks` does not
//! matter, nor do blocks of other islands.

use crate::contact::problem::{ContactProblem, Velocities};
use crate::contact::scratch::Scratch;
use crate::contact::sweep::Part;
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
    scratch.shuffled.get(|order| shuffle(problem, order));
    let mut residual = 0.0;
    for &(_, _, i) in &scratch.shuffled.value {
        let i = i as usize;
        let met = super::pgs::sweep_block(problem, part, i, velocities, impulses, scratch);
        residual = worse(residual, met);
    }
    scratch.met = residual;
}

/// Drawn number, key and index of every block, in order.
fn shuffle(problem: &ContactProblem, order: &mut Vec<(u64, u64, u32)>) {
    order.clear();
    let blocks = problem.blocks.iter().zip(0_u32..);
    order.extend(blocks.map(|(block, i)| (draw(problem.seed, block.key), block.key, i)));
    order.sort_unstable();
}

/// A number that looks random (two rounds of the finisher of splitmix64).
fn draw(seed: u64, key: u64) -> u64 {
    let mix = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ key)
}
