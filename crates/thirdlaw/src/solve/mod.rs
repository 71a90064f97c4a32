//! Sparse linear systems of 3×3 blocks and how they are solved.
//!
//! `block` holds the matrix, `layout` how elements add to it, `filter` the constraint filter S,
//! `pcg` the modified conjugate gradients [baraff1998], `precondition` what speeds them up, `dense`
//! the W-form solved directly.

pub mod block;
pub mod dense;
pub mod filter;
pub mod layout;
pub mod parallel;
pub mod pcg;
pub mod precondition;
pub mod stencil;
