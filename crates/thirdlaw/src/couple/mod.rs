//! Black boxes: simulators that know nothing of each other, coupled both ways from outside
//! (baraff1997).
//!
//! A [`Coupling`] owns two or more [simulators](crate::simulator::Simulator), ties handles together,
//! lets them touch, and advances all. Only this module sees two simulators at once.
//!
//!   member      a guarded simulator: panics, NaN and broken promises become errors that name it
//!   coupling    building, stepping, books
//!   component   simulators that links connect: they are advanced together
//!   links       the kinds of links, one file each
//!   lagged      a step of simulators that cannot go back
//!   parts       a step of tied simulators in halves, where the whole does not settle
//!   probe       how a handle answers, by trying
//!   accelerate  fixed points sped up, over steps that are taken back
//!   account     how simulators kept to what they were given
//!   ledger      what crossed each link
//!   save        a coupling as bytes

mod accelerate;
mod account;
mod component;
mod coupling;
mod error;
mod lagged;
mod ledger;
mod links;
mod member;
mod method;
mod parts;
mod probe;
mod save;

pub use accelerate::{Acceleration, Accelerator};
pub use account::Account;
pub use coupling::Coupling;
pub use error::{CoupleError, SavedProblem, SimulatorProblem};
pub use ledger::{CouplingReport, LedgerEntry, LedgerTotals};
pub use links::LinkKind;
pub use links::tie::constraint::{Anchor, Roles, Tie, TieKind};
pub use method::{CouplingSettings, Method};
