//! Thirdlaw: a physics engine in which everything pushes back.
//!
//! The engine crate holds all physics and nothing else: it reads no files, prints nothing, owns no
//! clock, and answers bad input with a typed error instead of a panic. State is `f64`, SI units,
//! y up; the same calls give the same bits for any number of threads.

pub mod body;
pub mod collide;
pub mod contact;
pub mod ids;
pub mod math;
pub mod shape;
