//! Energies of deformation, one file each: value, force, and the part of the Jacobian that is kept.

pub mod air;
pub mod assemble;
pub mod bend;
pub mod membrane;
#[cfg(test)]
mod tests;
