//! Scenes as a user meets them: loaded, refused, run.

mod book;
mod cloth;
mod coupled;
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
mod skeletons;
mod urdf;
