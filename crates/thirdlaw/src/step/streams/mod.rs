//! Streams of particles: emitters, flight, bounces, and what bounces push.
//!
//! A particle of a stream is a point mass with a radius and a life, and nothing else. It feels
//! gravity, the drag of moving air and the user's own field, and bounces off bodies and cloth by the
//! simple collision law [baraff1997 §3]. Particles do not see each other.
//!
//! The stage comes after bodies and cloth have moved, as in [baraff1997 §4.2]: the motion of every
//! surface over the step is then known, and a particle that is kept off it cannot pass through. What
//! a body is struck with is summed up and acts on it as an even force over the next step. Given at
//! once instead, a whole step's impulse would meet the friction of one substep, and a jet too weak
//! to move a crate would creep it along. Nothing is lost on the way: momentum that waits to be given
//! is counted by [`crate::measure::momentum`], and impulses are kept, not forces, so that a change
//! of the step's length changes nothing. Angular momentum is exact at the moment of a bounce, and to
//! first order in the step when the body gets it, since its centre moves on meanwhile. Vertices of
//! cloth get theirs at once, which an implicit step cannot tell from a force over the next step.
//!
//!   1. surfaces over the step: bodies, cloth triangles      solid.rs, sheet.rs, grid.rs
//!   2. births, evenly over the step                         emit.rs
//!   3. forces, and the first surface met on the way         flight.rs, advance.rs
//!   4. bounces until the end of the step                    bounce.rs, corner.rs
//!   5. sums of what was pushed, in the order of particles   step.rs
//!   6. those whose life is over make room                   state/stream.rs
//!
//! Particles are worked on in chunks of fixed size and sums are made chunk after chunk: the same
//! bits for any number of threads.

pub(crate) mod advance;
mod bounce;
mod corner;
mod emit;
mod flight;
mod grid;
mod sheet;
mod solid;
pub(crate) mod step;
#[cfg(test)]
mod tests;

pub(crate) use sheet::{FOREIGN, Foreign};
