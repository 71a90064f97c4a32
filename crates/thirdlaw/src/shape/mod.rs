//! Collision shapes.
