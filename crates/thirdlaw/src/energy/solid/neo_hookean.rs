//! Stable neo-Hookean: Ψ = ½ μ (I_C − 3) − μ (J − 1) + ½ (λ + μ)(J − 1)² [smith2018, Eq. 13 at rest].
//!
//! I_C = Σ σ_a² and J = σ₀σ₁σ₂. It is smooth through J = 0, so flat and inverted elements come back. Only
//! F = 0 would be a second place of rest: shrunk in all directions at once, ½ μ I_C pulls on where the
//! volume terms have faded. Below a mean stretch of 0.6, where no shape in use is, ½ μ (1.8 − Σ σ_a)²
//! keeps pushing outwards.

use super::principal::Principal;
use crate::math::{Mat3, Vec3};

/// Sum of stretches below which a crushed element is pushed apart.
const CRUSHED: f64 = 1.8;

/// Ψ and its derivatives.
pub fn at([lambda, mu]: [f64; 2], s: Vec3) -> Principal {
    let areas = Vec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
    let grown = s.x * areas.x - 1.0;
    let pressure = (lambda + mu) * grown - mu;
    let mut stiffness = Mat3::ZERO;
    for a in 0..3 {
        for b in 0..3 {
            let across = if a == b { mu } else { pressure * s[3 - a - b] };
            stiffness.col_mut(b)[a] = (lambda + mu) * areas[a] * areas[b] + across;
        }
    }
    let mut at = Principal {
        energy: 0.5 * mu * (s.length_squared() - 3.0) - mu * grown
            + 0.5 * (lambda + mu) * grown * grown,
        stress: mu * s + pressure * areas,
        stiffness,
    };
    let short = CRUSHED - s.element_sum();
    if short > 0.0 {
        at.energy += 0.5 * mu * short * short;
        at.stress -= Vec3::splat(mu * short);
        for b in 0..3 {
            *at.stiffness.col_mut(b) += Vec3::splat(mu);
        }
    }
    at
}
