//! The square system of given states, solved by LU.

use super::Newton;
use super::states::State;
use crate::contact::problem::{Bound, ContactProblem, ContactSide, Velocities};
use crate::contact::row::{Pair, row_apply, row_velocity};
use crate::contact::sweep::Effective;
use crate::math::Vec3;
use crate::model::settings::FrictionModel;

/// Solutions with the same factors after the first.
const REFINEMENTS: usize = 3;
/// Place of a row that is no unknown.
const ABSENT: u32 = u32::MAX;

/// N + Γ: column after column, what a unit impulse on one row does to all rows.
pub fn fill_matrix(problem: &ContactProblem, still: &mut Velocities, matrix: &mut Vec<f64>) {
    let m = problem.rows.len();
    still.bodies.resize(problem.bodies.len(), Default::default());
    still.particles.resize(problem.particles.len(), Default::default());
    matrix.clear();
    matrix.resize(m * m, 0.0);
    for block in &problem.blocks {
        for i in block.rows() {
            let row = &problem.rows[i];
            let mut pair = Pair::gather(problem, block, still);
            row_apply(row, &mut pair, 1.0);
            pair.push = row.direction;
            pair.scatter(problem, block, still);
            for other in &problem.blocks {
                let pair = Pair::gather(problem, other, still);
                for k in other.rows() {
                    matrix[k * m + i] = row_velocity(&problem.rows[k], &pair);
                }
            }
            matrix[i * m + i] += row.compliance;
            for side in [block.a, block.b] {
                match side {
                    ContactSide::World => {}
                    ContactSide::Body(b) => still.bodies[b as usize] = Default::default(),
                    ContactSide::Particles { index, .. } => {
                        index.iter().for_each(|&p| still.particles[p as usize] = Vec3::ZERO);
                    }
                }
            }
        }
    }
}

/// The scale of a row: an impulse of this size has a unit response. Both friction rows of a contact have
/// that of the stronger one, since a lock may leave the other none.
#[inline]
pub(in crate::contact) fn unit(e: &Effective) -> f64 {
    1.0 / e.largest.sqrt()
}

impl Newton<'_> {
    /// Solves the system of the current states and moves there.
    pub(super) fn step(&mut self) -> bool {
        let m = &mut *self.memory;
        m.unknowns.clear();
        m.place.clear();
        for (i, state) in m.state.iter().enumerate() {
            let unknown = matches!(state, State::Free | State::Slide);
            m.place.push(if unknown { m.unknowns.len() as u32 } else { ABSENT });
            if unknown {
                m.unknowns.push(i as u32);
            }
        }
        self.reach_bounds();
        self.assemble();
        let m = &mut *self.memory;
        if !m.lu.factor() {
            return false;
        }
        for refinement in 0..=REFINEMENTS {
            if refinement > 0 {
                self.fill_right();
            }
            let m = &mut *self.memory;
            m.lu.solve(&mut m.right);
            m.change.clear();
            m.change.resize(self.problem.rows.len(), 0.0);
            for (&i, x) in m.unknowns.iter().zip(&m.right) {
                m.change[i as usize] = x * unit(&self.effective[i as usize]);
            }
            if !m.change.iter().all(|x| x.is_finite()) {
                return false;
            }
            self.shift();
        }
        true
    }

    /// Takes the rows at bounds there.
    fn reach_bounds(&mut self) {
        let m = &mut *self.memory;
        m.change.clear();
        for (i, row) in self.problem.rows.iter().enumerate() {
            m.change.push(match (m.state[i], row.bound) {
                (State::Lower, Bound::Interval { lower, .. }) => lower - m.impulses[i],
                (State::Upper, Bound::Interval { upper, .. }) => upper - m.impulses[i],
                _ => 0.0,
            });
        }
        self.shift();
    }

    /// The scaled matrix and right side of the current states.
    fn assemble(&mut self) {
        self.memory.lu.reset(self.memory.unknowns.len());
        self.memory.right.clear();
        let mut k = 0;
        while k < self.memory.unknowns.len() {
            let i = self.memory.unknowns[k] as usize;
            if self.memory.state[i] == State::Slide {
                k += self.assemble_slide(i, k);
                continue;
            }
            self.add_response(k, i, unit(&self.effective[i]));
            k += 1;
        }
        self.fill_right();
    }

    /// Adds factor·(N + Γ)_i, over the unknowns, to equation `k`.
    fn add_response(&mut self, k: usize, i: usize, factor: f64) {
        let m = &mut *self.memory;
        let rows = self.problem.rows.len();
        let from = &m.matrix[i * rows..(i + 1) * rows];
        for (x, &j) in m.lu.row_mut(k).iter_mut().zip(&m.unknowns) {
            *x += factor * from[j as usize] * unit(&self.effective[j as usize]);
        }
        let place = m.place[i];
        if place != ABSENT {
            // ε·largest·unit
            let e = &self.effective[i];
            m.lu.row_mut(k)[place as usize] += factor * self.softness * e.largest * unit(e);
        }
    }

    /// Sets coefficient·Δz_j in equation `k`, which is scaled for row `i`.
    fn add_single(&mut self, k: usize, i: usize, j: usize, coefficient: f64) {
        let place = self.memory.place[j];
        if place != ABSENT {
            let scale = unit(&self.effective[j]) / unit(&self.effective[i]);
            self.memory.lu.row_mut(k)[place as usize] += coefficient * scale;
        }
    }

    /// Equations of sliding rows: Δz − μ ŷ Δz_n − (r/|y|)(I − ŷŷᵀ)(Δz − Δw/λ) = r ŷ − z.
    /// Returns how many were written.
    fn assemble_slide(&mut self, i: usize, k: usize) -> usize {
        let first = if self.is_second(i) { i - 1 } else { i };
        let disc = self.disc(first);
        if self.problem.friction == FrictionModel::Pyramid {
            let sign = disc.y[i - first].signum();
            self.add_single(k, i, i, 1.0);
            self.add_single(k, i, disc.normal, -disc.coefficient * sign);
            return 1;
        }
        let along = if disc.length > 0.0 { disc.y.map(|y| y / disc.length) } else { [0.0; 2] };
        let bend = if disc.length > 0.0 { (disc.radius / disc.length).min(1.0) } else { 0.0 };
        for a in 0..2 {
            let (equation, row) = (k + a, i + a);
            self.add_single(equation, row, row, 1.0);
            self.add_single(equation, row, disc.normal, -disc.coefficient * along[a]);
            for b in 0..2 {
                let across = f64::from(u8::from(a == b)) - along[a] * along[b];
                let turn = bend * across;
                self.add_single(equation, row, i + b, -turn);
                let factor = turn / self.effective[i].largest;
                self.add_response(equation, i + b, factor / unit(&self.effective[row]));
            }
        }
        2
    }

    /// Whether a friction row is the second of its two.
    pub fn is_second(&self, i: usize) -> bool {
        let rows = &self.problem.rows;
        let mut run = 0;
        while run < i && rows[i - run - 1].bound == rows[i].bound {
            run += 1;
        }
        run % 2 == 1
    }

    /// The scaled right side: −w of free rows, what sliding rows lack.
    fn fill_right(&mut self) {
        let mut right = std::mem::take(&mut self.memory.right);
        right.clear();
        for &i in &self.memory.unknowns {
            let (i, e) = (i as usize, &self.effective[i as usize]);
            right.push(if self.memory.state[i] == State::Slide {
                let k = usize::from(self.is_second(i));
                let disc = self.disc(i - k);
                let edge = match self.problem.friction {
                    FrictionModel::Pyramid => disc.radius * disc.y[k].signum(),
                    FrictionModel::Cone if disc.length > 0.0 => {
                        disc.radius * disc.y[k] / disc.length
                    }
                    FrictionModel::Cone => 0.0,
                };
                (edge - self.memory.impulses[i]) / unit(e)
            } else {
                -self.memory.defect[i] * unit(e)
            });
        }
        self.memory.right = right;
    }
}
