//! Running a scene: stepping it, keeping its frames and tables, going on after an interruption, and
//! what is made of a run afterwards: reports, exports, pictures.
//!
//! Nothing here prints or listens for signals. Long work tells its [`progress::Progress`] to a
//! function of the caller, which may end it.

pub mod cache;
pub mod clock;
mod colors;
pub mod coupling_record;
pub mod error;
pub mod export;
pub mod files;
pub mod folder;
mod picture_files;
#[cfg(feature = "pictures")]
pub mod pictures;
pub mod plot;
pub mod progress;
pub mod record;
pub mod recording;
pub mod report;
pub mod resume;
pub mod run;
pub mod source;
pub mod stats;
pub mod stepper;
pub mod tables;
pub mod text;

pub use stepper::Stepper;
