//! FMUs of FMI 3.0 for co-simulation (<https://fmi-standard.org/docs/3.0/>), both ways: one of another tool as a
//! simulator of a coupling, and a world as an FMU that other tools run.
//!
//!   layout       the variables of a world that is an FMU
//!   description  `modelDescription.xml`, read
//!   archive      the zip file that an FMU is
//!   library      its shared library and the functions of it that are called; all `unsafe` is there
//!   simulator    an FMU behind the black-box interface
//!   export       a world, written as an FMU
//!   scene        both for scene files
//!
//! The shared library of exported worlds is built by `thirdlaw-fmu-binary`.

mod archive;
mod description;
mod error;
mod export;
pub mod layout;
mod library;
#[cfg(feature = "scenes")]
pub mod scene;
mod simulator;

pub use description::{FmuDescription, FmuVariable};
pub use error::FmuError;
pub use export::{FmuExport, NamedBody};
pub use simulator::{Fmu, HandleVariables};
