//! Sparse linear systems of 3×3 blocks and how they are solved.
//!
//! `block` holds the matrix, `filter` the constraint filter S,
//! `pcg` the modified conjugate gradients (baraff1998) with their loops in `passes` and the matrix of
//! search directions in `narrow`, `precondition` what speeds them up:
//! `clusters` with stiff contacts taken in whole, `multilevel` with the levels of `hierarchy` and the
//! coarse matrices of `galerkin`, `factored` with a sparse factor of the whole that follows what `turning` finds;
//! `error_bound` says how far the iteration is from its end; `dense` is the W-form solved directly;
//! `envelope` factors long chains, `sparse`
//! graphs of many loops.

pub mod block;
pub mod bodies;
pub mod cholesky;
mod clusters;
pub mod dense;
pub(crate) mod envelope;
pub mod error_bound;
pub mod factored;
pub mod filter;
mod galerkin;
pub mod hierarchy;
pub(crate) mod lu;
pub mod multilevel;
pub mod narrow;
mod passes;
pub mod pcg;
pub mod precondition;
pub mod product;
pub(crate) mod rows;
pub(crate) mod sparse;
pub mod stencil;
#[cfg(test)]
mod tests;
mod turning;
