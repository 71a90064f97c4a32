//! Corotated elasticity: Hooke's law in the frame of the nearest rotation R, Ψ = μ |F − R|² + ½ λ tr²(RᵀF − 1).
//!
//! In principal stretches Ψ = μ Σ (σ_a − 1)² + ½ λ (Σ σ_a − 3)². An inverted element has a negative
//! stretch and is pushed back by the same straight line.

use super::principal::Principal;
use crate::math::{Mat3, Vec3};

/// Ψ and its derivatives.
pub fn at([lambda, mu]: [f64; 2], s: Vec3) -> Principal {
    let strain = s - Vec3::ONE;
    let trace = strain.element_sum();
    let columns = [Vec3::X, Vec3::Y, Vec3::Z].map(|e| Vec3::splat(lambda) + 2.0 * mu * e);
    Principal {
        energy: mu * strain.length_squared() + 0.5 * lambda * trace * trace,
        stress: 2.0 * mu * strain + Vec3::splat(lambda * trace),
        stiffness: Mat3::from_cols(columns[0], columns[1], columns[2]),
    }
}
