//! Finding contacts: broad phase, manifolds, continuous detection.

pub mod manifold;
