//! The iterations that solve a contact problem, each a file with the same signature.

pub mod block_mass_splitting;
pub mod colored_pgs;
pub mod jacobi;
pub mod jacobi_bridson;
pub mod jacobi_line_search;
pub mod jacobi_scaled;
pub mod mass_splitting;
pub mod pgs;
pub mod shuffled_pgs;
pub mod single;
