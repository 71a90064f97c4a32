//! Scenes as a user meets them: loaded, refused, run.

mod cloth;
mod errors;
mod facts;
mod mutations;
mod overlap;
mod run;
mod schema;
