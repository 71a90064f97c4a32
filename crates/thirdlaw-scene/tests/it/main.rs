//! Scenes as a user meets them: loaded, refused, run.

mod cloth;
mod damage;
mod emitters;
mod errors;
mod facts;
mod joints;
mod mesh_files;
mod mutations;
mod overlap;
mod run;
mod schema;
mod urdf;
