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

use super::lu::Lu;
use super::problem::{Bound, ContactProblem, FrictionModel, Side, Velocities};
use super::row::{Pair, row_apply, row_velocity};
use super::scratch::Scratch;
use super::solver::{residual, warm_start};
use super::sweep::Effective;
use crate::math::Vec3;

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

/// What a row is taken to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing on it can move.
    Immovable,
    /// w = 0.
    Free,
    /// z = l.
    Lower,
    /// z = u.
    Upper,
    /// On the edge of its friction disc or interval.
    Slide,
}

const REFINEMENTS: usize = 3;
const ABSENT: u32 = u32::MAX;

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

/// N + Γ: column after column, what a unit impulse on one row does to all rows.
fn fill_matrix(problem: &ContactProblem, still: &mut Velocities, matrix: &mut Vec<f64>) {
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
                    Side::World => {}
                    Side::Body(b) => still.bodies[b as usize] = Default::default(),
                    Side::Particles { index, .. } => {
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
pub(super) fn unit(e: &Effective) -> f64 {
    1.0 / e.largest.sqrt()
}

pub(super) struct Newton<'a> {
    pub problem: &'a ContactProblem,
    pub effective: &'a [Effective],
    pub memory: &'a mut DirectScratch,
    /// ε.
    softness: f64,
}

/// The natural map of two friction rows: y = z − w/λ, its length and the radius of the disc.
struct Disc {
    normal: usize,
    coefficient: f64,
    radius: f64,
    y: [f64; 2],
    length: f64,
}

impl Newton<'_> {
    fn run(&mut self) -> bool {
        self.measure();
        let entry = self.scale();
        let m = &mut *self.memory;
        m.entry_velocities.clone_from(&m.velocities);
        m.entry_impulses.clone_from(&m.impulses);
        if self.descend(&QUICK, entry) {
            return true;
        }
        let m = &mut *self.memory;
        m.velocities.clone_from(&m.entry_velocities);
        m.impulses.clone_from(&m.entry_impulses);
        self.softness = 0.0;
        super::interior::approach(self) && self.descend(&QUICK, entry)
    }

    /// Proximal steps with the given softnesses, until the problem itself is solved.
    fn descend(&mut self, softnesses: &[f64], entry: f64) -> bool {
        for &softness in softnesses {
            self.softness = softness;
            self.memory.center.clone_from(&self.memory.impulses);
            self.save();
            if !self.pivot(COUPLED_ROUNDS) {
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

    fn disc(&self, i: usize) -> Disc {
        let Bound::Friction { normal, coefficient } = self.problem.rows[i].bound else {
            unreachable!("only called for friction rows")
        };
        let m = &*self.memory;
        let radius = coefficient * m.impulses[normal as usize].max(0.0);
        let k = 1.0 / self.effective[i].largest;
        let y = [0, 1].map(|k2| m.impulses[i + k2] - k * m.defect[i + k2]);
        let length = (y[0] * y[0] + y[1] * y[1]).sqrt();
        Disc { normal: normal as usize, coefficient, radius, y, length }
    }

    /// Compares every state with what the current impulses and velocities ask for, up to `noise` m/s,
    /// and changes those that `which` says. Returns how many are contradicted.
    fn update_states(&mut self, noise: f64, which: Which) -> usize {
        let mut wrong = 0;
        let mut last = None;
        let mut i = 0;
        while i < self.problem.rows.len() {
            let friction = matches!(self.problem.rows[i].bound, Bound::Friction { .. });
            let width = if friction { 2 } else { 1 };
            let now = [self.memory.state[i], self.memory.state[i + width - 1]];
            let wanted = if which == Which::First || now[0] != State::Immovable {
                if friction {
                    self.wanted_friction(i, now, noise)
                } else {
                    self.wanted(i, now[0], noise)
                }
            } else {
                now
            };
            if wanted != now {
                wrong += 1;
                last = Some((i, width, wanted));
                if matches!(which, Which::All | Which::First) {
                    self.memory.state[i..i + width].copy_from_slice(&wanted[..width]);
                }
            }
            i += width;
        }
        if let (Which::Last, Some((i, width, wanted))) = (which, last) {
            self.memory.state[i..i + width].copy_from_slice(&wanted[..width]);
        }
        wrong
    }

    fn wanted(&self, i: usize, now: State, noise: f64) -> [State; 2] {
        let e = &self.effective[i];
        let Bound::Interval { lower, upper } = self.problem.rows[i].bound else { return [now; 2] };
        if e.inverse == 0.0 {
            return [State::Immovable; 2];
        }
        let y = self.memory.impulses[i] - e.inverse * self.memory.defect[i];
        let slack = noise * e.inverse;
        let keep = match now {
            State::Free => y >= lower - slack && y <= upper + slack,
            State::Lower => y <= lower + slack,
            State::Upper => y >= upper - slack,
            _ => false,
        };
        let state = if keep {
            now
        } else if y <= lower {
            State::Lower
        } else if y >= upper {
            State::Upper
        } else {
            State::Free
        };
        [state; 2]
    }

    fn wanted_friction(&self, i: usize, now: [State; 2], noise: f64) -> [State; 2] {
        let e = &self.effective[i];
        if e.largest == 0.0 {
            return [State::Immovable; 2];
        }
        let disc = self.disc(i);
        let slack = noise / e.largest;
        let judge = |now: State, length: f64| match now {
            State::Free if disc.radius > 0.0 && length <= disc.radius + slack => State::Free,
            State::Slide if length >= disc.radius - slack => State::Slide,
            _ if disc.radius > 0.0 && length <= disc.radius => State::Free,
            _ => State::Slide,
        };
        match self.problem.friction {
            FrictionModel::Cone => [judge(now[0], disc.length); 2],
            FrictionModel::Pyramid => [0, 1].map(|k| judge(now[k], disc.y[k].abs())),
        }
    }

    /// The natural-map residual in the current states' own terms, m/s.
    pub fn worst(&self) -> f64 {
        let m = &*self.memory;
        let mut worst = 0.0_f64;
        let mut i = 0;
        while i < self.problem.rows.len() {
            let e = &self.effective[i];
            match self.problem.rows[i].bound {
                Bound::Interval { lower, upper } => {
                    if e.inverse > 0.0 {
                        let y = m.impulses[i] - e.inverse * m.defect[i];
                        let gap = m.impulses[i] - y.max(lower).min(upper);
                        worst = worst.max(gap.abs() * e.response);
                    }
                    i += 1;
                }
                Bound::Friction { .. } => {
                    if e.largest > 0.0 {
                        let target = self.friction_target(&self.disc(i));
                        for (k, target) in target.into_iter().enumerate() {
                            worst = worst.max((m.impulses[i + k] - target).abs() * e.largest);
                        }
                    }
                    i += 2;
                }
            }
        }
        worst
    }

    fn friction_target(&self, disc: &Disc) -> [f64; 2] {
        match self.problem.friction {
            FrictionModel::Cone => super::sweep::project_disc(disc.y, disc.radius),
            FrictionModel::Pyramid => disc.y.map(|y| y.max(-disc.radius).min(disc.radius)),
        }
    }

    /// Solves the system of the current states and moves there.
    fn step(&mut self) -> bool {
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

    /// z += change, v += M⁻¹Jᵀ change, and w anew.
    pub fn shift(&mut self) {
        let m = &mut *self.memory;
        for (z, change) in m.impulses.iter_mut().zip(&m.change) {
            *z += change;
        }
        warm_start(self.problem, &mut m.velocities, &m.change);
        self.measure();
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

const PATIENCE: usize = 6;
const COUPLED_ROUNDS: usize = 40;
const QUICK: [f64; 6] = [1e-6, 1e-9, 1e-12, 1e-12, 1e-12, 1e-12];

/// Which contradicted states change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// All, and rows on which nothing can move are found.
    First,
    None,
    All,
    Last,
}
