//! Projected Gauss–Seidel on a matrix: for contacts between bodies that joints tie together, whose
//! response to an impulse is not a matter of two bodies.
//!
//! The matrix is N = J P M⁻¹Jᵀ, with P what the joints leave of a change of velocities. One sweep costs
//! rows², but sees through the joints: a light hand with a heavy body behind it answers like the heavy
//! body, and the sweeps converge as if there were no joints at all.

use super::problem::{Bound, ContactProblem};
use super::sweep::{Effective, disc_step};
use crate::math::worse;
use crate::model::settings::FrictionModel;

/// Improves `impulses`; `defects` are w = J v + b + Γ z and follow. `matrix` is N, row-major. Returns the
/// largest change of a row in the last sweep, m/s.
pub fn solve(
    problem: &ContactProblem,
    matrix: &[f64],
    defects: &mut [f64],
    impulses: &mut [f64],
    (sweeps, tolerance): (u32, f64),
) -> f64 {
    let mut moved = 0.0;
    for _ in 0..sweeps {
        moved = sweep(problem, matrix, defects, impulses);
        if moved <= tolerance {
            break;
        }
    }
    moved
}

fn sweep(
    problem: &ContactProblem,
    matrix: &[f64],
    defects: &mut [f64],
    impulses: &mut [f64],
) -> f64 {
    let rows = problem.rows.len();
    let mut moved = 0.0;
    let mut i = 0;
    while i < rows {
        let response = |i: usize, k: usize| {
            matrix[i * rows + k] + if i == k { problem.rows[i].compliance } else { 0.0 }
        };
        match problem.rows[i].bound {
            Bound::Interval { lower, upper } => {
                let n = response(i, i);
                if n > 0.0 {
                    let z = (impulses[i] - defects[i] / n).max(lower).min(upper);
                    let change = z - impulses[i];
                    moved = worse(moved, n * change.abs());
                    step(problem, matrix, defects, impulses, (i, change));
                }
                i += 1;
            }
            Bound::Friction { normal, coefficient } => {
                let radius = coefficient * impulses[normal as usize].max(0.0);
                let (a, b, c) = (response(i, i), response(i, i + 1), response(i + 1, i + 1));
                let half = 0.5 * (a - c);
                let largest = 0.5 * (a + c) + (half * half + b * b).sqrt();
                let e = |response: f64| Effective { response, inverse: 0.0, cross: b, largest };
                let (z, w) = ([impulses[i], impulses[i + 1]], [defects[i], defects[i + 1]]);
                let z1 = match problem.friction {
                    FrictionModel::Cone => disc_step(&[e(a), e(c)], z, w, radius, 1.0),
                    FrictionModel::Pyramid => [0, 1].map(|k| {
                        let n = [a, c][k];
                        if n > 0.0 { (z[k] - w[k] / n).max(-radius).min(radius) } else { z[k] }
                    }),
                };
                for k in 0..2 {
                    moved = worse(moved, largest * (z1[k] - z[k]).abs());
                    step(problem, matrix, defects, impulses, (i + k, z1[k] - z[k]));
                }
                i += 2;
            }
        }
    }
    moved
}

/// z_i += change, and what that does to all defects.
fn step(
    problem: &ContactProblem,
    matrix: &[f64],
    defects: &mut [f64],
    impulses: &mut [f64],
    (i, change): (usize, f64),
) {
    if change == 0.0 {
        return;
    }
    impulses[i] += change;
    let rows = defects.len();
    // N is symmetric: its row is its column
    for (w, n) in defects.iter_mut().zip(&matrix[i * rows..(i + 1) * rows]) {
        *w += n * change;
    }
    defects[i] += problem.rows[i].compliance * change;
}
