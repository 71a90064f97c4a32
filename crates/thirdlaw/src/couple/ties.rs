//! Holding ties: trial steps, measured responses, and the three ways to find λ.

use super::conjugate::{self, Stop};
use super::coupling::{Coupling, Method};
use super::error::{CoupleError, Problem};
use super::ledger::CouplingReport;
use super::simulator::{Motion, Wrench};
use super::tie::{Roles, Tie, TieKind};
use crate::contact::lu::Lu;
use crate::math::Vec3;

/// Most rows whose response is measured column by column.
const DENSE_ROWS: usize = 48;
/// A lagged exchange that shrinks its error by less than this is iterated instead.
const SLOW: f64 = 0.95;

/// What the constrained side of a tie felt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    pub side: usize,
    pub wrench: Wrench,
}

/// Responses of both sides of all ties over a step, by trying.
#[derive(Debug)]
pub(super) struct Measured {
    dt: f64,
    /// ∂r/∂λ through the first and the second anchors: A and B of [baraff1997 Eq. 2], row-major;
    /// empty where there are too many rows.
    sides: [Vec<f64>; 2],
    /// A + B (and the springs' own give), factored.
    sum: Option<Lu>,
    /// κ of each tie.
    kappa: Vec<f64>,
    /// How far a steady force moves the anchors, as a share of step × change of velocity.
    pub reach: Vec<f64>,
    /// Constrained side of each tie and by how much a lagged exchange shrinks its error.
    roles: Vec<Option<(usize, f64)>>,
    /// Measured anew at the next step.
    stale: bool,
}

impl Coupling {
    /// First row of each tie, and the number of all rows.
    fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0];
        for tie in &self.ties {
            rows.push(rows[rows.len() - 1] + tie.rows());
        }
        rows
    }

    pub(super) fn is_tied(&self, member: usize) -> bool {
        self.ties.iter().any(|t| t.anchors.iter().any(|a| a.simulator == member))
    }

    /// Gives a member the forces of its ties; `sides` says which.
    pub(super) fn push_ties(
        &mut self,
        member: usize,
        lambda: &[f64],
        sides: impl Fn(usize, usize) -> bool,
    ) {
        let mut first = 0;
        for (i, tie) in self.ties.iter().enumerate() {
            let rows = tie.rows();
            let wrenches =
                tie.wrenches(&lambda[first..first + rows], &self.starts[i], &self.turns[i]);
            for side in 0..2 {
                let anchor = &tie.anchors[side];
                let wrench = wrenches[side];
                if anchor.simulator == member && sides(i, side) && wrench != Wrench::ZERO {
                    self.members[member].pushes.push((anchor.handle, wrench));
                }
            }
            first += rows;
        }
    }

    pub(super) fn read_ties(&mut self, member: usize) -> Result<(), CoupleError> {
        for i in 0..self.ties.len() {
            for side in 0..2 {
                let anchor = self.ties[i].anchors[side];
                if anchor.simulator == member {
                    self.now[i][side] = self.members[member].read(anchor.handle)?;
                }
            }
        }
        Ok(())
    }

    /// Takes back the last trial and steps every linked member under these forces.
    pub(super) fn try_forces(&mut self, dt: f64, lambda: &[f64]) -> Result<(), CoupleError> {
        for member in self.order() {
            if self.is_tied(member) || self.touches(member) {
                self.members[member].restore()?;
                self.push_ties(member, lambda, |_, _| true);
                self.load_contacts(member, dt)?;
                self.members[member].advance(dt)?;
                self.read_ties(member)?;
                self.read_contacts(member)?;
            }
        }
        Ok(())
    }

    fn residual(&self, dt: f64, lambda: &[f64], kappa: &[f64], out: &mut [f64]) {
        let mut first = 0;
        for (i, tie) in self.ties.iter().enumerate() {
            let rows = first..first + tie.rows();
            let motions = (&self.starts[i], &self.now[i]);
            tie.residual(motions, &lambda[rows.clone()], (dt, kappa[i]), &mut out[rows.clone()]);
            first = rows.end;
        }
    }

    /// Speeds at hand, to which tolerances are relative, m/s.
    fn reference(&self, dt: f64) -> f64 {
        let mut reference: f64 = 1e-3;
        let mut gap = [0.0; 6];
        for ((tie, starts), now) in self.ties.iter().zip(&self.starts).zip(&self.now) {
            for motion in starts.iter().chain(now) {
                reference = reference.max(motion.velocity.linear.length());
            }
            if !tie.is_spring() {
                tie.gap(starts, &mut gap[..tie.rows()]);
                reference = gap.iter().fold(reference, |m, g| m.max(g.abs() / dt));
            }
        }
        reference
    }

    /// Holds all ties over a step by the method of the settings.
    pub(super) fn hold_ties(
        &mut self,
        dt: f64,
        report: &mut CouplingReport,
    ) -> Result<(), CoupleError> {
        self.measure(dt, report)?;
        match self.settings.method {
            Method::Iterated => self.iterate(dt, report),
            Method::Repaired => {
                self.iterate(dt, report)?;
                let lambda = self.lambda.clone();
                self.step_in_turn(dt, &lambda, report)?;
                Ok(())
            }
            Method::Interleaved | Method::FixedPoint => {
                let (tie, growth) = self.slowest();
                report.contraction = Some(growth);
                let plain = self.settings.method == Method::Interleaved
                    || self.settings.acceleration == super::Acceleration::None;
                if plain && growth > SLOW {
                    if self.settings.switch {
                        report.switched = true;
                        return self.iterate(dt, report);
                    }
                    if growth >= 1.0 {
                        return Err(self.diverged(tie, growth, self.reference(dt)));
                    }
                }
                self.take_turns(dt, report)
            }
        }
    }

    /// Conjugate gradients [baraff1997 §2.3].
    fn iterate(&mut self, dt: f64, report: &mut CouplingReport) -> Result<(), CoupleError> {
        let mut lambda = std::mem::take(&mut self.lambda);
        let measured = self.measured.take();
        let reference = self.reference(dt);
        let (kappa, factors) = match &measured {
            Some(m) => (m.kappa.clone(), m.sum.as_ref()),
            None => (vec![0.0; self.ties.len()], None),
        };
        let evaluations = if self.settings.spread { 2 } else { self.settings.evaluations };
        let stop = Stop { tolerance: self.settings.tolerance * reference, evaluations };
        let precondition = |z: &mut [f64]| {
            if let Some(factors) = factors {
                factors.solve(z);
            }
        };
        let mut evaluate = |lambda: &[f64], r: &mut [f64]| {
            self.try_forces(dt, lambda)?;
            self.residual(dt, lambda, &kappa, r);
            Ok(())
        };
        let outcome = conjugate::solve(&mut evaluate, &precondition, stop, &mut lambda);
        self.applied.clone_from(&lambda);
        self.lambda = lambda;
        self.measured = measured;
        let outcome = outcome?;
        report.evaluations += outcome.evaluations;
        report.residual = outcome.residual;
        let precise = self.settings.tolerance.max(1e-5) * reference;
        report.converged &= outcome.residual <= precise;
        // with a fresh response two or three evaluations are enough
        if let Some(measured) = &mut self.measured {
            measured.stale |= !self.settings.spread && outcome.evaluations > 6;
        }
        let worse = !(outcome.residual <= 2.0 * outcome.start.max(precise));
        if worse && !self.settings.spread {
            let growth = outcome.residual / outcome.start;
            return Err(self.diverged(0, growth, outcome.residual));
        }
        Ok(())
    }

    /// One side under given forces, the other consistent with it, in place until they agree or once
    /// [baraff1997 Eq. 3].
    fn take_turns(&mut self, dt: f64, report: &mut CouplingReport) -> Result<(), CoupleError> {
        let mut lambda = self.lambda.clone();
        let once = self.settings.method == Method::Interleaved || self.settings.spread;
        let size = |r: &[f64]| r.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        self.accelerator.reset();
        let mut last: Option<f64> = None;
        for _ in 0..self.settings.evaluations {
            let image = self.step_in_turn(dt, &lambda, report)?;
            report.evaluations += 1;
            let r: Vec<f64> = image.iter().zip(&lambda).map(|(h, x)| h - x).collect();
            let error = size(&r);
            if once {
                self.lambda = image;
                return Ok(());
            }
            if let (Some(last), super::Acceleration::None) = (last, self.settings.acceleration) {
                report.contraction = Some(error / last);
            }
            report.residual = error;
            if error <= self.settings.tolerance * size(&image).max(1e-9) {
                self.lambda = lambda;
                return Ok(());
            }
            if !error.is_finite() {
                break;
            }
            last = Some(error);
            self.accelerator.next(self.settings.acceleration, &mut lambda, &image);
        }
        if self.settings.switch {
            report.switched = true;
            return self.iterate(dt, report);
        }
        let (tie, growth) = self.slowest();
        Err(self.diverged(tie, growth, report.residual))
    }

    /// Steps the forced sides under λ and then the constrained ones along; returns the multipliers
    /// that these needed.
    fn step_in_turn(
        &mut self,
        dt: f64,
        lambda: &[f64],
        report: &mut CouplingReport,
    ) -> Result<Vec<f64>, CoupleError> {
        let rows = self.rows();
        let mut lambda = lambda.to_vec();
        self.lag_springs(&mut lambda, &rows);
        self.applied.clone_from(&lambda);
        let roles: Vec<Option<usize>> = match &self.measured {
            Some(m) => m.roles.iter().map(|r| r.map(|(side, _)| side)).collect(),
            None => vec![None; self.ties.len()],
        };
        let mut image = lambda.clone();
        for member in self.turn_order(&roles)? {
            self.members[member].restore()?;
            self.push_ties(member, &lambda, |tie, side| roles[tie] != Some(side));
            let mut led = Vec::new();
            for (i, role) in roles.iter().enumerate() {
                let Some(side) = *role else { continue };
                let anchor = self.ties[i].anchors[side];
                if anchor.simulator == member {
                    let target = target(&self.ties[i], side, &self.now[i], &self.starts[i]);
                    self.members[member].prescribed.push((anchor.handle, target));
                    led.push((i, side));
                }
            }
            self.members[member].advance(dt)?;
            self.read_ties(member)?;
            for (k, (i, side)) in led.into_iter().enumerate() {
                let wrench = self.members[member].held[k];
                self.held[i] = Some(Held { side, wrench });
                let tie = &self.ties[i];
                let sign = if side == 0 { 1.0 } else { -1.0 };
                let anchor = &tie.anchors[side];
                let arm = anchor.turned_arm(&self.starts[i][side], self.turns[i][side]);
                let torque = wrench.torque - arm.cross(wrench.force);
                let needed = Wrench { force: wrench.force, torque }.scaled(sign).to_array();
                let count = tie.rows();
                image[rows[i]..rows[i] + count].copy_from_slice(&needed[..count]);
            }
        }
        report.residual = 0.0;
        Ok(image)
    }

    /// Springs in a lagged exchange pull as at the beginning of the step.
    fn lag_springs(&self, lambda: &mut [f64], rows: &[usize]) {
        for (i, tie) in self.ties.iter().enumerate() {
            if let TieKind::Spring { stiffness, damping, .. } = tie.kind {
                let n = tie.rows();
                let (mut gap, mut rate) = ([0.0; 6], [0.0; 6]);
                tie.gap(&self.starts[i], &mut gap[..n]);
                tie.rate(&self.starts[i], &self.starts[i], &mut rate[..n]);
                for k in 0..n {
                    lambda[rows[i] + k] = -stiffness * gap[k] - damping * rate[k];
                }
            }
        }
    }

    /// Members such that whoever follows comes after whom it follows.
    fn turn_order(&self, roles: &[Option<usize>]) -> Result<Vec<usize>, CoupleError> {
        let follows = |member: usize, done: &[usize]| {
            self.ties.iter().zip(roles).any(|(tie, role)| {
                role.is_some_and(|side| {
                    tie.anchors[side].simulator == member
                        && !done.contains(&tie.anchors[1 - side].simulator)
                })
            })
        };
        let mut left: Vec<usize> = (0..self.members.len()).filter(|&m| self.is_tied(m)).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let Some(next) = left.iter().position(|&m| !follows(m, &order)) else {
                return Err(CoupleError::Input {
                    field: "roles",
                    problem: "simulators follow each other in a ring; choose `iterated`".into(),
                });
            };
            order.push(left.remove(next));
        }
        Ok(order)
    }

    /// Tries how both sides of all ties answer, where this is not known yet.
    fn measure(&mut self, dt: f64, report: &mut CouplingReport) -> Result<(), CoupleError> {
        if self.measured.as_ref().is_some_and(|m| m.dt == dt && !m.stale) {
            return Ok(());
        }
        let rows = self.rows();
        let n = *rows.last().unwrap_or(&0);
        let mut lambda = self.lambda.clone();
        self.try_forces(dt, &lambda)?;
        report.trials += 1;
        let base = self.now.clone();
        let dense = n <= DENSE_ROWS;
        let (mut gaps, mut rates) = ([vec![0.0; n * n], vec![0.0; n * n]], vec![0.0; n * n]);
        for j in 0..n {
            if !dense && rows.binary_search(&j).is_err() {
                continue;
            }
            let mut push = lambda[j].abs().max(1.0);
            for _ in 0..6 {
                let kept = lambda[j];
                lambda[j] += push;
                self.try_forces(dt, &lambda)?;
                report.trials += 1;
                lambda[j] = kept;
                let seen = self.columns((n, j), push, &base, &mut gaps, &mut rates);
                if seen > 1e-5 * self.reference(dt) {
                    break;
                }
                push *= 100.0;
            }
        }
        self.measured = Some(self.judge(dt, &rows, gaps, rates));
        self.choose_roles(dt)
    }

    /// Takes the answers to a push on row `j` into its column; returns the largest change of a rate.
    fn columns(
        &self,
        (n, j): (usize, usize),
        push: f64,
        base: &[[Motion; 2]],
        gaps: &mut [Vec<f64>; 2],
        rates: &mut [f64],
    ) -> f64 {
        let mut first = 0;
        let mut seen: f64 = 0.0;
        for (i, tie) in self.ties.iter().enumerate() {
            let count = tie.rows();
            let (mut old, mut new) = ([0.0; 6], [0.0; 6]);
            tie.gap(&base[i], &mut old[..count]);
            for side in 0..2 {
                let mut mixed = base[i];
                mixed[side] = self.now[i][side];
                tie.gap(&mixed, &mut new[..count]);
                for k in 0..count {
                    gaps[side][(first + k) * n + j] = (new[k] - old[k]) / push;
                }
            }
            tie.rate(&base[i], &self.starts[i], &mut old[..count]);
            tie.rate(&self.now[i], &self.starts[i], &mut new[..count]);
            for k in 0..count {
                rates[(first + k) * n + j] = (new[k] - old[k]) / push;
                seen = seen.max((new[k] - old[k]).abs());
            }
            first += count;
        }
        seen
    }

    /// κ, A, B and their factored sum from measured columns.
    fn judge(&self, dt: f64, rows: &[usize], gaps: [Vec<f64>; 2], rates: Vec<f64>) -> Measured {
        let n = *rows.last().unwrap_or(&0);
        let (mut kappa, mut reaches) = (Vec::new(), Vec::new());
        let mut sides = [vec![0.0; n * n], vec![0.0; n * n]];
        let mut whole = vec![0.0; n * n];
        for (i, tie) in self.ties.iter().enumerate() {
            let d = rows[i] * n + rows[i];
            let reach = (gaps[0][d] + gaps[1][d]) / (dt * rates[d]);
            reaches.push(if reach.is_finite() { reach.clamp(0.0, 1.0) } else { 0.5 });
            let soft = reach.is_finite() && reach <= 0.52;
            kappa.push(if soft && !tie.is_spring() { 1.0 - reach.max(0.0) } else { 0.0 });
            for row in rows[i]..rows[i + 1] {
                for j in 0..n {
                    let at = row * n + j;
                    // how the rate's change is shared between the sides is as that of the gap's
                    let total = gaps[0][at] + gaps[1][at];
                    for side in 0..2 {
                        let part = gaps[side][at];
                        let share = if total == 0.0 { 0.0 } else { part / total };
                        sides[side][at] = part / dt + kappa[i] * share * rates[at];
                    }
                    whole[at] = sides[0][at] + sides[1][at];
                }
                if let TieKind::Spring { stiffness, damping, .. } = tie.kind {
                    whole[row * n + row] += 1.0 / (dt * (0.5 * stiffness + damping / dt));
                }
            }
        }
        let dense = n <= DENSE_ROWS;
        let sum = if dense { factored(n, |i, j| whole[i * n + j]) } else { None };
        let roles = vec![None; self.ties.len()];
        Measured { dt, sides, sum, kappa, reach: reaches, roles, stale: false }
    }

    /// The lighter side over a step follows, if it can and nobody said otherwise.
    fn choose_roles(&mut self, dt: f64) -> Result<(), CoupleError> {
        let turns = matches!(
            self.settings.method,
            Method::Interleaved | Method::FixedPoint | Method::Repaired
        );
        let Some(mut measured) = self.measured.take() else { return Ok(()) };
        let rows = self.rows();
        for i in 0..self.ties.len() {
            let tie = self.ties[i];
            if !turns || tie.is_spring() {
                continue;
            }
            let able = [self.can_follow(&tie, 0, dt)?, self.can_follow(&tie, 1, dt)?];
            let n = *rows.last().unwrap_or(&0);
            let trace = |side: usize| -> f64 {
                (rows[i]..rows[i + 1]).map(|r| measured.sides[side][r * n + r].abs()).sum()
            };
            let side = match tie.roles {
                Roles::FirstFollows => 0,
                Roles::SecondFollows => 1,
                Roles::Measured if able[0] && able[1] => usize::from(trace(1) > trace(0)),
                Roles::Measured => usize::from(able[1]),
            };
            if !able[side] {
                let member = &self.members[tie.anchors[side].simulator];
                return Err(member.error(Problem::Failed {
                    during: "prescribe",
                    message: "it cannot follow a given motion here; choose `iterated`".into(),
                }));
            }
            let ratio = ratio(&measured.sides, side, (n, rows[i], rows[i + 1]));
            measured.roles[i] = Some((side, ratio));
        }
        self.measured = Some(measured);
        Ok(())
    }

    /// Whether the simulator on this side can be told how its anchor moves.
    fn can_follow(&mut self, tie: &Tie, side: usize, dt: f64) -> Result<bool, CoupleError> {
        let anchor = tie.anchors[side];
        let member = &mut self.members[anchor.simulator];
        member.restore()?;
        let now = member.read(anchor.handle)?;
        let can = member.ask("prescribe", |s| s.prescribe(anchor.handle, &now))?;
        member.restore()?;
        // moving the whole handle would hold its orientation, too
        let free = tie.kind == TieKind::Point
            && can
            && member.response(anchor.handle, dt)?.inertia != crate::math::Mat3::ZERO;
        member.restore()?;
        Ok(can && !free)
    }

    /// The tie whose lagged exchange shrinks its error least, and by how much.
    fn slowest(&self) -> (usize, f64) {
        let roles = self.measured.iter().flat_map(|m| m.roles.iter().enumerate());
        let ratios = roles.filter_map(|(i, role)| role.map(|(_, ratio)| (i, ratio)));
        ratios.fold((0, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst })
    }

    fn diverged(&self, tie: usize, growth: f64, residual: f64) -> CoupleError {
        let name = |side: usize| {
            let anchor = self.ties.get(tie).map(|t| t.anchors[side].simulator);
            anchor.and_then(|m| self.name(m)).unwrap_or("?").to_string()
        };
        CoupleError::Diverged { between: (name(0), name(1)), growth, residual }
    }

    /// By how much a lagged exchange over a tie shrinks its error: the spectral radius of A⁻¹B with A
    /// the side that follows, measured in the last step that measured.
    pub fn contraction(&self, tie: usize) -> Option<f64> {
        self.measured.as_ref()?.roles.get(tie)?.map(|(_, ratio)| ratio)
    }
}

/// A factored matrix. Rows that nothing answers stay as they are; rows that say the same twice share
/// what they carry.
fn factored(n: usize, matrix: impl Fn(usize, usize) -> f64) -> Option<Lu> {
    let largest = (0..n).map(|i| matrix(i, i).abs()).fold(0.0, f64::max);
    for softer in [0.0, 1e-9, 1e-6] {
        let mut lu = Lu::default();
        lu.reset(n);
        for i in 0..n {
            let row = lu.row_mut(i);
            (0..n).for_each(|j| row[j] = matrix(i, j));
            let dead = row.iter().all(|x| x.abs() <= 1e-12 * largest);
            row[i] += if dead { largest.max(1e-300) } else { softer * largest };
        }
        if lu.factor() {
            return Some(lu);
        }
    }
    None
}

/// Spectral radius of A⁻¹B in the block of one tie, by power iteration.
fn ratio(sides: &[Vec<f64>; 2], follower: usize, (n, first, end): (usize, usize, usize)) -> f64 {
    let m = end - first;
    let other = &sides[1 - follower];
    let at = |i: usize, j: usize| (first + i) * n + first + j;
    // what the follower cannot do at all must not be asked of it
    if (0..m).any(|i| sides[follower][at(i, i)] == 0.0 && other[at(i, i)] != 0.0) {
        return f64::INFINITY;
    }
    let Some(lu) = factored(m, |i, j| sides[follower][at(i, j)]) else { return f64::INFINITY };
    let mut x: Vec<f64> = (0..m).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut radius = 0.0;
    for _ in 0..60 {
        let product = |i: usize| (0..m).map(|j| other[at(i, j)] * x[j]).sum();
        let mut y: Vec<f64> = (0..m).map(product).collect();
        lu.solve(&mut y);
        radius = y.iter().fold(0.0, |r: f64, y| r.max(y.abs()));
        if radius == 0.0 || !radius.is_finite() {
            break;
        }
        x = y.iter().map(|y| y / radius).collect();
    }
    radius
}

/// How the handle on this side must end for its anchor to end where the other's does.
fn target(tie: &Tie, side: usize, now: &[Motion; 2], starts: &[Motion; 2]) -> Motion {
    let (own, other) = (&tie.anchors[side], &tie.anchors[1 - side]);
    let (leader, mut end) = (&now[1 - side], starts[side]);
    if tie.kind == TieKind::Frame {
        let turn = leader.rotation * other.frame.rotation * own.frame.rotation.conjugate();
        end.rotation = turn.normalize();
        end.velocity.angular = leader.velocity.angular;
    }
    let (arm, reach) =
        (end.rotation * own.frame.translation, leader.rotation * other.frame.translation);
    let at = |v: Vec3, w: Vec3, r: Vec3| v + w.cross(r);
    end.position = leader.position + reach - arm;
    end.velocity.linear = at(leader.velocity.linear, leader.velocity.angular, reach)
        - end.velocity.angular.cross(arm);
    end
}
