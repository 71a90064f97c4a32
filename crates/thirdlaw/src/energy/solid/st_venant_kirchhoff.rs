//! St. Venant–Kirchhoff: Hooke's law of Green's strain, Ψ = ½ λ tr²E + μ E:E with E = ½(FᵀF − 1).
//!
//! In principal stretches E_a = ½(σ_a² − 1). Under compression its stress falls again below σ = 1/√3, and
//! σ = −1 is at rest. So, as [irving2004 §5] has it, stretches below [`LEAST`] continue the law: with σ̂ the
//! stretches bounded from below and δ = σ − σ̂,
//!
//!   Ψ(σ) = Ψ(σ̂) + Ψ_a(σ̂) δ_a + ½ k δ_a δ_a,   k = λ + 2μ,
//!
//! which has a continuous stress and pushes harder the flatter, or the more inverted, an element is.

use super::principal::Principal;
use crate::math::{Mat3, Vec3};

/// Stretch below which the law is continued by a straight line: a little above 1/√3.
pub const LEAST: f64 = 0.6;

/// Ψ and its derivatives.
pub fn at([lambda, mu]: [f64; 2], s: Vec3) -> Principal {
    let bounded = s.max(Vec3::splat(LEAST));
    let beyond = s - bounded;
    let inner = unbounded([lambda, mu], bounded);
    if beyond == Vec3::ZERO {
        return inner;
    }
    let k = lambda + 2.0 * mu;
    let is_beyond = |a: usize| beyond[a] < 0.0;
    let mut stress = inner.stress + k * beyond;
    let mut stiffness = inner.stiffness;
    for a in 0..3 {
        for b in (0..3).filter(|&b| b != a && is_beyond(b)) {
            if is_beyond(a) {
                stiffness.col_mut(b)[a] = 0.0;
            } else {
                stress[a] += inner.stiffness.col(b)[a] * beyond[b];
                // Ψ_aab = λσ_b
                stiffness.col_mut(a)[a] += lambda * bounded[b] * beyond[b];
            }
        }
        if is_beyond(a) {
            stiffness.col_mut(a)[a] = k;
        }
    }
    let energy = inner.energy + inner.stress.dot(beyond) + 0.5 * k * beyond.length_squared();
    Principal { energy, stress, stiffness }
}

fn unbounded([lambda, mu]: [f64; 2], s: Vec3) -> Principal {
    let squares = s * s;
    let green = 0.5 * (squares - Vec3::ONE);
    let trace = green.element_sum();
    let stress = s * (Vec3::splat(lambda * trace) + 2.0 * mu * green);
    let mut stiffness = Mat3::ZERO;
    for a in 0..3 {
        for b in 0..3 {
            stiffness.col_mut(b)[a] = lambda * s[a] * s[b];
        }
        stiffness.col_mut(a)[a] += lambda * trace + mu * (3.0 * squares[a] - 1.0);
    }
    let energy = 0.5 * lambda * trace * trace + mu * green.length_squared();
    Principal { energy, stress, stiffness }
}
