//! How far velocities and impulses are from solving a problem, averaged over its contacts.
//!
//! [tonge2012, Fig. 6] shows "average constraint violation" without a formula. Its constraint is
//! J v ≥ 0, so the violation of a contact is the speed at which it still closes, max(0, −w), with
//! w = J v + b + Γ z of its normal; that is [`Violation::closing`]. It does not see impulses that are
//! too large: a solver that throws contacts apart has none. The natural-map residual
//! |z − proj(z − E w)|/E, also in m/s, sees both, and friction; it is zero in the solution alone.

use super::problem::{Bound, ContactProblem, Velocities};
use super::row::Pair;
use super::scratch::Scratch;
use super::sweep::{BlockRows, for_residuals};
use crate::math::worse;

/// How far from a solution, m/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Violation {
    /// Mean over normals (rows with an interval) of the speed at which they still close; rows that may
    /// pull (of joints) count with the absolute value.
    pub closing: f64,
    /// Mean over normals of the natural-map residual.
    pub normal: f64,
    /// Mean over pairs of friction rows of the natural-map residual.
    pub friction: f64,
    /// Largest natural-map residual of all rows.
    pub largest: f64,
}

/// Measures velocities and impulses against a prepared problem.
pub fn violation(
    problem: &ContactProblem,
    velocities: &Velocities,
    impulses: &[f64],
    scratch: &mut Scratch,
) -> Violation {
    scratch.update_whole(problem);
    let mut sum = Violation::default();
    let (mut normals, mut frictions) = (0_u64, 0_u64);
    for (i, block) in problem.blocks.iter().enumerate() {
        let pair = Pair::gather(problem, block, velocities);
        let rows = BlockRows::of(problem, i, &scratch.whole.value);
        let z = &impulses[block.rows()];
        for_residuals(&rows, z, &pair, |i, left| {
            sum.largest = worse(sum.largest, left);
            match rows.rows[i].bound {
                Bound::Interval { lower, .. } => {
                    let w = rows.defect(i, z, &pair);
                    // what is not a number stays so
                    sum.closing += match w {
                        w if lower < 0.0 => w.abs(),
                        w if w >= 0.0 => 0.0,
                        w => -w,
                    };
                    sum.normal += left;
                    normals += 1;
                }
                Bound::Friction { .. } => {
                    sum.friction += left;
                    frictions += 1;
                }
            }
        });
    }
    Violation {
        closing: sum.closing / normals.max(1) as f64,
        normal: sum.normal / normals.max(1) as f64,
        friction: sum.friction / frictions.max(1) as f64,
        largest: sum.largest,
    }
}
