//! Black boxes: simulators that know nothing of each other, coupled both ways from outside
//! (baraff1997).
//!
//! A [`Coupling`] owns two or more [simulators](crate::simulator::Simulator), ties handles together,
//! lets them touch, and advances all. Only this module sees two simulators at once.
//!
//!   member      a guarded simulator: panics, NaN and broken promises become errors that name it
//!   coupling    building, stepping, books
//!   tie, ties   points, frames and springs; λ by conjugate gradients, in turns, repaired
//!   measured    how both sides of ties answer, by trying; who follows whom
//!   contact, mirror   surfaces of one as obstacles of another, with their response
//!   detect      surfaces of both watched from outside
//!   motions     handles led by others
//!   save        a coupling as bytes
//!   conjugate, accelerate   the two iterations, over steps that are taken back

mod accelerate;
mod conjugate;
mod contact;
mod coupling;
mod detect;
mod error;
mod ledger;
mod measured;
mod member;
mod mirror;
mod motions;
mod probe;
mod save;
mod settings;
mod sheets;
mod tie;
mod ties;
mod told;

pub use accelerate::{Acceleration, Accelerator};
pub use coupling::Coupling;
pub use error::{CoupleError, Problem};
pub use ledger::{CouplingReport, LedgerEntry, LedgerTotals};
pub use settings::{CouplingSettings, Method};
pub use tie::{Anchor, Roles, Tie, TieKind};
