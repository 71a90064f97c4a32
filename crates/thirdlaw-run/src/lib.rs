//! Running a scene: stepping it, keeping its frames and tables, going on after an interruption, and
//! what is made of a run afterwards: reports, exports, pictures.
//!
//! Nothing here prints or listens for signals. Long work tells its [`progress::Progress`] to a
//! function of the caller, which may end it.

pub mod export;
pub mod failure;
pub mod files;
pub mod folder;
pub mod frames;
pub mod joints;
pub mod ledger;
pub mod motor;
pub mod points;
pub mod poses;
pub mod progress;
pub mod record;
pub mod recording;
pub mod render;
pub mod report;
pub mod resume;
pub mod session;
pub mod source;
pub mod stages;
pub mod stats;
pub mod table;
pub mod text;
pub mod timed;
