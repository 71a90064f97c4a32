//! Exact solution of small problems, for what no sweep gets through: mass ratios of 10⁸, long thin
//! stacks, mechanisms.
//!
//! Every row is in a state, and in given states the problem is a square system: a free row has w = 0,
//! a bounded one z = l or u; two friction rows stick (w = 0) or slide, z = μ z_n ŷ along
//! ŷ = y/|y|, y = z − w/λ (the semi-smooth Newton method on the natural map; with ŷ frozen it
//! would miss the turning of the slip). The system is solved by LU, since sliding makes it
//! unsymmetric; then rows whose result contradicts their state change it, all at once (block principal
//! pivoting) or, once that has stopped reducing the number of contradictions, the last one alone
//! (Murty), which for rows with fixed bounds ends for certain. With friction it may run away: then an
//! interior-point method (`interior`) comes near the solution first. If the steps fail from there too,
//! the answer is "no" and nothing is touched.
//!
//! Redundant contacts make N singular, and states that contradict each other would send impulses to
//! infinity on the way. So each problem is a proximal step: every row gets the compliance ε·N_ii,
//! counted from the impulses at the start of the step, which makes the matrix definite with a
//! condition of 1/ε. Steps with ε falling from 10⁻⁶ to 10⁻¹² end at the
//! problem itself: 10⁻¹² is far above round-off, and far below the smallest eigenvalue, relative to
//! N_ii, that a mass ratio of 10⁸ leaves, so that a step reduces the rest by 10³ or more. Redundant
//! points share the load as equal springs would.
//!
//! Everything is solved for changes of z against the true residual of the current velocities, so that
//! a repeated solve with the same factors is iterative refinement.

mod linear;
mod states;

use super::problem::{ContactProblem, Velocities};
use super::row::{Pair, row_velocity};
use super::scratch::Scratch;
use super::solver::{residual, warm_start};
use super::sweep::Effective;
use crate::linalg::lu::Lu;
use linear::fill_matrix;
pub(super) use linear::unit;
use states::{State, Which};

/// Working memory of the direct solver.
#[derive(Debug, Default)]
pub struct DirectScratch {
    /// N + Γ, row-major.
    pub(super) matrix: Vec<f64>,
    pub(super) lu: Lu,
    state: Vec<State>,
    /// The rows that are unknowns, and for each row its place among them.
    pub(super) unknowns: Vec<u32>,
    pub(super) place: Vec<u32>,
    pub(super) right: Vec<f64>,
    pub(super) defect: Vec<f64>,
    pub(super) change: Vec<f64>,
    pub(super) velocities: Velocities,
    pub(super) impulses: Vec<f64>,
    /// Where the proximal term pulls to.
    center: Vec<f64>,
    entry_velocities: Velocities,
    entry_impulses: Vec<f64>,
    saved_velocities: Velocities,
    saved_impulses: Vec<f64>,
    /// Multipliers of the interior approach: two per row.
    pub(super) multipliers: Vec<[f64; 2]>,
}

/// Rounds without fewer contradictions before states change one at a time, and most rounds of all.
const PATIENCE: usize = 6;
const ROUNDS: usize = 40;
/// ε of the proximal steps, one after the other.
const SOFTNESSES: [f64; 6] = [1e-6, 1e-9, 1e-12, 1e-12, 1e-12, 1e-12];

/// Solves a prepared problem from where velocities and impulses are. False, with both untouched, if
/// it finds no solution.
pub fn solve(
    problem: &ContactProblem,
    velocities: &mut Velocities,
    impulses: &mut [f64],
    scratch: &mut Scratch,
) -> bool {
    scratch.update_whole(problem);
    let mut memory = std::mem::take(&mut scratch.direct);
    memory.velocities.clone_from(velocities);
    memory.impulses.clear();
    memory.impulses.extend_from_slice(impulses);
    memory.center.clone_from(&memory.impulses);
    fill_matrix(problem, &mut scratch.probe, &mut memory.matrix);
    let before = residual(problem, velocities, impulses, scratch);
    let solved =
        Newton { problem, effective: &scratch.whole.value, memory: &mut memory, softness: 0.0 }
            .run();
    let mut better = false;
    if solved {
        let after = residual(problem, &memory.velocities, &memory.impulses, scratch);
        if after <= before && after <= f64::max(1e-6 * before, 1e-10) {
            velocities.clone_from(&memory.velocities);
            impulses.copy_from_slice(&memory.impulses);
            better = true;
        }
    }
    scratch.direct = memory;
    better
}

/// The problem on its way to the solution.
pub(super) struct Newton<'a> {
    pub problem: &'a ContactProblem,
    pub effective: &'a [Effective],
    pub memory: &'a mut DirectScratch,
    /// ε.
    softness: f64,
}

impl Newton<'_> {
    fn run(&mut self) -> bool {
        self.measure();
        let entry = self.scale();
        let m = &mut *self.memory;
        m.entry_velocities.clone_from(&m.velocities);
        m.entry_impulses.clone_from(&m.impulses);
        if self.descend(&SOFTNESSES, entry) {
            return true;
        }
        let m = &mut *self.memory;
        m.velocities.clone_from(&m.entry_velocities);
        m.impulses.clone_from(&m.entry_impulses);
        self.softness = 0.0;
        super::interior::approach(self) && self.descend(&SOFTNESSES, entry)
    }

    /// Proximal steps with the given softnesses, until the problem itself is solved.
    fn descend(&mut self, softnesses: &[f64], entry: f64) -> bool {
        for &softness in softnesses {
            self.softness = softness;
            self.memory.center.clone_from(&self.memory.impulses);
            self.save();
            if !self.pivot(ROUNDS) {
                self.restore();
                break;
            }
            if self.true_residual() <= 2e-15 * entry.max(self.scale()) {
                return true;
            }
        }
        self.true_residual() <= 1e-10 * entry.max(self.scale())
    }

    /// The natural-map residual of the problem itself, without the proximal term.
    fn true_residual(&mut self) -> f64 {
        self.softness = 0.0;
        self.measure();
        self.worst()
    }

    /// Newton steps and changes of state until nothing contradicts; false if that takes too long.
    fn pivot(&mut self, rounds: usize) -> bool {
        self.measure();
        let entry = self.scale();
        self.memory.state.clear();
        self.memory.state.resize(self.problem.rows.len(), State::Free);
        self.update_states(0.0, Which::First);
        let mut fewest = usize::MAX;
        let mut patience = PATIENCE;
        for _ in 0..rounds {
            if !self.step() {
                return false;
            }
            let scale = entry.max(self.scale());
            let noise = 2e-14 * scale;
            let wrong = self.update_states(noise, Which::None);
            let off = self.worst();
            if wrong == 0 && off <= 10.0 * noise {
                return true;
            }
            // sliding rows that feed their own normals can run away; no way back from there
            if off > 1e9 * entry || off.is_nan() {
                return false;
            }
            if wrong < fewest {
                fewest = wrong;
                patience = PATIENCE;
            } else {
                patience = patience.saturating_sub(1);
            }
            self.update_states(noise, if patience > 0 { Which::All } else { Which::Last });
        }
        // states may chatter between equals within round-off while the answer is good
        self.worst() <= 1e-11 * entry.max(self.scale())
    }

    fn save(&mut self) {
        let m = &mut *self.memory;
        m.saved_velocities.clone_from(&m.velocities);
        m.saved_impulses.clone_from(&m.impulses);
    }

    fn restore(&mut self) {
        let m = &mut *self.memory;
        m.velocities.clone_from(&m.saved_velocities);
        m.impulses.clone_from(&m.saved_impulses);
    }

    /// w = J v + b + Γ z of all rows.
    pub fn measure(&mut self) {
        let m = &mut *self.memory;
        m.defect.clear();
        for block in &self.problem.blocks {
            let pair = Pair::gather(self.problem, block, &m.velocities);
            for i in block.rows() {
                let row = &self.problem.rows[i];
                let w = row_velocity(row, &pair) + row.bias + row.compliance * m.impulses[i];
                let proximal = self.softness * self.effective[i].largest;
                m.defect.push(w + proximal * (m.impulses[i] - m.center[i]));
            }
        }
    }

    /// The velocity that round-off is relative to: what single impulses would do, and the residual.
    pub fn scale(&self) -> f64 {
        let m = &*self.memory;
        let terms = m.impulses.iter().zip(&m.defect).zip(self.effective);
        terms.fold(1e-12, |s, ((z, w), e)| s.max(z.abs() * e.response).max(w.abs()))
    }

    /// z += change, v += M⁻¹Jᵀ change, and w anew.
    pub fn shift(&mut self) {
        let m = &mut *self.memory;
        for (z, change) in m.impulses.iter_mut().zip(&m.change) {
            *z += change;
        }
        warm_start(self.problem, &mut m.velocities, &m.change);
        self.measure();
    }
}
