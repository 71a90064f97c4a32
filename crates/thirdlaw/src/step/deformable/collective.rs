//! Motion of a whole cloth in the solution of its linear system.
//!
//! Stiff stretch and contacts rule what conjugate gradients do first. A cloth that slides along its own
//! threads, or goes on as it does, is the softest motion of all and comes last: where an iteration ends early, it
//! has hardly begun. But such motions are known beforehand. For each cloth these are
//!
//!   w₁, w₂   along warp and weft, as fast everywhere;   w₃ = u − v₀,   w₄ = v₀,
//!
//! without what the filter S holds. The best correction of u by them, after (Galerkin),
//!
//!   u ← u + W a,   WᵀAW a = Wᵀ(b − A u),
//!
//! leaves no error along any of them, and only makes the error in the norm of the matrix less. It costs a
//! few products.

use super::constraints::Constraints;
use super::linear::Linear;
use super::solution::Solution;
use super::solver::Solver;
use super::system::Trial;
use crate::linalg::block::{Lane, lane, vector};
use crate::linalg::pcg::System;
use crate::linalg::product::Matrix;
use crate::math::Vec3;

/// Fields of each cloth.
const FIELDS: usize = 4;
/// Part of a diagonal entry that must be left for a pivot: fields may nearly depend on each other.
const RANK: f64 = 1e-9;

/// Memory of the correction.
#[derive(Debug, Default)]
pub struct Collective {
    fields: [Vec<Lane<f64>>; FIELDS],
    product: Vec<Lane<f64>>,
    rest: Vec<Lane<f64>>,
    sums: Vec<Sums>,
    /// Bodies that stand still, and what would push them.
    still: Vec<[Vec3; 2]>,
    pushed: Vec<[Vec3; 2]>,
}

/// What is summed over a cloth.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// WᵀAW, of which the lower half is read.
    matrix: [[f64; FIELDS]; FIELDS],
    /// Wᵀ(b − A u).
    pulls: [f64; FIELDS],
    /// a.
    found: [f64; FIELDS],
}

impl Solver {
    /// Corrects the motion of each cloth as a whole.
    pub(super) fn correct(
        &mut self,
        trial: &Trial,
        linear: &Linear,
        constraints: &mut Constraints,
        solution: &mut Solution,
    ) {
        let sheet = trial.sheet();
        let owner = &sheet.elements.owner;
        let Collective { fields, product, rest, sums, still, pushed } = &mut self.collective;
        let (pattern, blocks) = (&sheet.layout().pattern, &linear.blocks[..]);
        let (stencils, filter) = (&mut constraints.stencils, &constraints.filter);
        let matrix = Matrix { pattern, blocks, own: &linear.own };
        let bodies = &constraints.masses[..];
        let mut system = System { matrix, narrow: None, stencils, filter, bodies };
        let (u, u_bodies) = (&solution.u, &solution.u_bodies);
        rest.clear();
        rest.extend_from_slice(system.impulses(&constraints.b, u, u_bodies, &mut self.pcg));
        set_fields(fields, trial, linear, solution);
        for (i, w) in fields.iter_mut().flat_map(|field| field.iter_mut().enumerate()) {
            *w = filter.apply(i, w);
        }
        for zero in [&mut *still, &mut *pushed] {
            zero.clear();
            zero.resize(bodies.len(), [Vec3::ZERO; 2]);
        }
        product.resize(owner.len(), [0.0; 4]);
        let mut multiply = |p: &[Lane<f64>], q: &mut [Lane<f64>]| {
            system.matrix.multiply(p, q);
            if !system.stencils.list.is_empty() {
                system.stencils.apply(p, still, q, pushed);
            }
        };
        let count = owner.iter().fold(0, |most, &o| most.max(o as usize + 1));
        sums.clear();
        sums.resize(count, Sums::default());
        for (k, field) in fields.iter().enumerate() {
            multiply(field, product);
            for (i, &owner) in owner.iter().enumerate() {
                let (sums, q) = (&mut sums[owner as usize], vector(&product[i]));
                sums.pulls[k] -= vector(&field[i]).dot(vector(&rest[i]));
                for (sum, other) in sums.matrix[k].iter_mut().zip(&fields[..=k]) {
                    *sum += vector(&other[i]).dot(q);
                }
            }
        }
        sums.iter_mut().for_each(Sums::solve);
        for (i, p) in rest.iter_mut().enumerate() {
            let found = &sums[owner[i] as usize].found;
            *p = lane(fields.iter().zip(found).map(|(w, a)| vector(&w[i]) * *a).sum());
        }
        let mut part = 1.0;
        if count > 1 {
            // cloths that touch depend on each other: no farther than the error falls
            multiply(rest, product);
            let gain: f64 = sums.iter().map(Sums::gain).sum();
            let pq: f64 = rest.iter().zip(&*product).map(|(p, q)| vector(p).dot(vector(q))).sum();
            part = if pq > 0.0 { (gain / pq).min(1.0) } else { 0.0 };
        }
        for (u, p) in solution.u.iter_mut().zip(&*rest) {
            *u = lane(vector(u) + part * vector(p));
        }
    }
}

impl Sums {
    /// Solves for a by L D Lᵀ; fields that depend on earlier ones get nothing.
    fn solve(&mut self) {
        let full = self.matrix;
        let (mut l, mut pivots, mut y) = (full, [0.0; FIELDS], self.pulls);
        for k in 0..FIELDS {
            for j in 0..k {
                let sum: f64 = (0..j).map(|m| l[k][m] * l[j][m] * pivots[m]).sum();
                l[k][j] = if pivots[j] > 0.0 { (full[k][j] - sum) / pivots[j] } else { 0.0 };
                y[k] -= l[k][j] * y[j];
            }
            let taken: f64 = (0..k).map(|m| l[k][m] * l[k][m] * pivots[m]).sum();
            let pivot = full[k][k] - taken;
            pivots[k] = if pivot > RANK * full[k][k] { pivot } else { 0.0 };
            if pivots[k] == 0.0 {
                y[k] = 0.0;
            }
        }
        for k in (0..FIELDS).rev() {
            if pivots[k] == 0.0 {
                continue;
            }
            let rest: f64 = (k + 1..FIELDS).map(|m| l[m][k] * y[m]).sum();
            y[k] = y[k] / pivots[k] - rest;
        }
        self.found = if y.iter().all(|y| y.is_finite()) { y } else { [0.0; FIELDS] };
    }

    /// By how much the square of the error falls, J.
    fn gain(&self) -> f64 {
        self.pulls.iter().zip(&self.found).map(|(pull, a)| pull * a).sum()
    }
}

/// Warp, weft, the change of velocity so far, and the velocity at the beginning.
fn set_fields(
    fields: &mut [Vec<Lane<f64>>; FIELDS],
    trial: &Trial,
    linear: &Linear,
    solution: &Solution,
) {
    let v = &trial.state.particles.v;
    for field in fields.iter_mut() {
        field.clear();
        field.resize(v.len(), [0.0; 4]);
    }
    let x = &linear.places;
    for membrane in trial.sheet().elements.energies.membranes.iter() {
        let at = membrane.nodes.map(|i| x[i as usize]);
        for (field, d) in fields.iter_mut().zip([&membrane.du, &membrane.dv]) {
            let w = (at[0] * d[0] + at[1] * d[1] + at[2] * d[2]).normalize_or_zero();
            for i in membrane.nodes {
                let sum = &mut field[i as usize];
                *sum = lane(vector(sum) + membrane.area * w);
            }
        }
    }
    for field in &mut fields[..2] {
        for w in field.iter_mut() {
            *w = lane(vector(w).normalize_or_zero());
        }
    }
    for (i, v) in v.iter().enumerate() {
        fields[2][i] = lane(vector(&solution.u[i]) - *v);
        fields[3][i] = lane(*v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_depend_on_each_other_are_solved_without_one_of_them() {
        // A = BᵀB with a third column that is the sum of the first two
        let b = [[2.0, 1.0, 3.0, 0.5], [0.0, 1.0, 1.0, -1.0], [1.0, -1.0, 0.0, 2.0]];
        let mut sums = Sums::default();
        for k in 0..FIELDS {
            for l in 0..FIELDS {
                sums.matrix[k][l] = b.iter().map(|row| row[k] * row[l]).sum();
            }
        }
        let known = [1.0, -2.0, 0.0, 0.25];
        for k in 0..FIELDS {
            sums.pulls[k] = (0..FIELDS).map(|l| sums.matrix[k][l] * known[l]).sum();
        }
        sums.solve();
        for (found, known) in sums.found.iter().zip(known) {
            assert!((found - known).abs() < 1e-9, "{:?}", sums.found);
        }
        assert!(sums.gain() > 0.0);
    }
}
