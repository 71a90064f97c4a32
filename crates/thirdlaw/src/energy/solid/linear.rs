//! Hooke's law for small strains: Ψ = ½ λ tr²ε + μ ε:ε with ε = ½(F + Fᵀ) − 1.
//!
//! P = λ tr(ε) 1 + 2μ ε, and the stiffness is constant and never negative. Strain is taken from the rest
//! shape, not from one that turns along.

use super::principal::{Blocks, Stiffness};
use crate::math::{Mat3, Vec3};

/// Ψ.
pub fn density(lame: [f64; 2], f: &Mat3) -> f64 {
    of_strain(lame, &strain(f))
}

/// P, and the blocks of the stiffness, added.
pub fn respond(lame: [f64; 2], f: &Mat3, gradients: &[Vec3; 3], blocks: &mut Blocks) -> Mat3 {
    Stiffness::hookean(lame).add(&Mat3::IDENTITY, gradients, blocks);
    stress(lame, &strain(f))
}

fn strain(f: &Mat3) -> Mat3 {
    symmetric(&(*f - Mat3::IDENTITY))
}

/// ½ λ tr²ε + μ ε:ε.
pub fn of_strain([lambda, mu]: [f64; 2], strain: &Mat3) -> f64 {
    let trace = trace(strain);
    0.5 * lambda * trace * trace + mu * contraction(strain, strain)
}

/// λ tr(ε) 1 + 2μ ε.
pub fn stress([lambda, mu]: [f64; 2], strain: &Mat3) -> Mat3 {
    Mat3::from_diagonal(Vec3::splat(lambda * trace(strain))) + *strain * (2.0 * mu)
}

/// ½(m + mᵀ).
pub fn symmetric(m: &Mat3) -> Mat3 {
    (*m + m.transpose()) * 0.5
}

/// Sum of the diagonal.
pub fn trace(m: &Mat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// a:b = Σ a_ij b_ij.
pub fn contraction(a: &Mat3, b: &Mat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}
