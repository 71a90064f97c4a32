//! Scenes as a user meets them: loaded, refused, run.

mod errors;
mod facts;
mod joints;
mod mutations;
mod overlap;
mod run;
mod schema;
mod urdf;
