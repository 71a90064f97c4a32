//! Scenes as a user meets them: loaded, refused, run.

mod damage;
mod errors;
mod facts;
mod mesh_files;
mod mutations;
mod overlap;
mod run;
mod schema;
