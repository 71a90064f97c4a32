//! Holding ties: trial steps, and the three ways to find λ.

use super::conjugate::{self, Stop};
use super::coupling::Coupling;
use super::error::CoupleError;
use super::ledger::CouplingReport;
use super::settings::Method;
use super::simulator::{Motion, Wrench};
use super::tie::{Tie, TieKind};
use crate::linalg::lu::Lu;
use crate::math::Vec3;

/// A lagged exchange that shrinks its error by less than this is iterated instead.
const SLOW: f64 = 0.95;

/// What the constrained side of a tie felt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    pub side: usize,
    pub wrench: Wrench,
}

impl Coupling {
    /// First row of each tie, and the number of all rows.
    pub(super) fn rows(&self) -> Vec<usize> {
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
            for (side, wrench) in wrenches.into_iter().enumerate() {
                let anchor = &tie.anchors[side];
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
    pub(super) fn reference(&self, dt: f64) -> f64 {
        let mut reference: f64 = 1e-3;
        let mut gap = [0.0; 6];
        for ((tie, starts), now) in self.ties.iter().zip(&self.starts).zip(&self.now) {
            for motions in [starts, now] {
                for (anchor, motion) in tie.anchors.iter().zip(motions) {
                    let speed = motion.velocity.linear.length();
                    reference = reference.max(speed).max(anchor.velocity(motion).length());
                }
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
        let mut measured = self.measured.take();
        let reference = self.reference(dt);
        let kappa =
            measured.as_ref().map_or_else(|| vec![0.0; self.ties.len()], |m| m.kappa.clone());
        let evaluations = if self.settings.spread { 2 } else { self.settings.evaluations };
        let stop = Stop { tolerance: self.settings.tolerance * reference, evaluations };
        let sum = measured.as_mut().and_then(|m| m.sum.take());
        self.measured = measured;
        let aided = sum.is_none() && self.settings.precondition && self.leads_all();
        let mut problem = Problem {
            coupling: self,
            dt,
            kappa,
            sum,
            aided,
            leaders: Vec::new(),
            base: Vec::new(),
        };
        let outcome = conjugate::solve(&mut problem, stop, &mut lambda);
        let sum = problem.sum.take();
        let mut measured = self.measured.take();
        if let Some(measured) = &mut measured {
            measured.sum = sum;
        }
        // constrained steps were tried, not made
        self.held.fill(None);
        self.applied.clone_from(&lambda);
        self.lambda = lambda;
        self.measured = measured;
        let outcome = outcome?;
        report.evaluations += outcome.evaluations;
        report.trials += outcome.aids;
        report.residual = outcome.residual;
        // a few units in the last place of single precision
        let places = self.starts.iter().flatten().map(|m| m.position.abs().max_element());
        let coarse = 4e-6 * places.fold(0.0, f64::max) / dt;
        let precise = (self.settings.tolerance.max(1e-5) * reference).max(coarse);
        report.converged &= outcome.residual <= precise;
        // with a fresh response two or three evaluations are enough
        if let Some(measured) = &mut self.measured {
            measured.stale |= !self.settings.spread && outcome.evaluations > 6;
        }
        let least = 2.0 * outcome.start.max(precise);
        let worse = outcome.residual.is_nan() || outcome.residual > least;
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
        // a repair keeps what was iterated
        if self.settings.method != Method::Repaired {
            self.lag_springs(dt, &mut lambda, &rows);
        }
        self.applied.clone_from(&lambda);
        let roles: Vec<Option<usize>> = match &self.measured {
            Some(m) => m.roles.iter().map(|r| r.map(|(side, _)| side)).collect(),
            None => vec![None; self.ties.len()],
        };
        let mut image = lambda.clone();
        for member in self.turn_order(&roles)? {
            let leaders = self.now.clone();
            self.step_constrained(member, dt, &lambda, &leaders, &mut image)?;
            self.read_ties(member)?;
        }
        report.residual = 0.0;
        Ok(image)
    }

    /// Springs in a lagged exchange pull as they will in the middle of the step if nothing changes: a
    /// steady pull of its beginning lags by half a step, and pumps energy into what swings.
    fn lag_springs(&self, dt: f64, lambda: &mut [f64], rows: &[usize]) {
        for (i, tie) in self.ties.iter().enumerate() {
            if let TieKind::Spring { stiffness, damping, .. } = tie.kind {
                let n = tie.rows();
                let (mut gap, mut rate) = ([0.0; 6], [0.0; 6]);
                tie.gap(&self.starts[i], &mut gap[..n]);
                tie.rate(&self.starts[i], &self.starts[i], &mut rate[..n]);
                for k in 0..n {
                    let middle = gap[k] + 0.5 * dt * rate[k];
                    lambda[rows[i] + k] = -stiffness * middle - damping * rate[k];
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

    /// The tie whose lagged exchange shrinks its error least, and by how much.
    pub(super) fn slowest(&self) -> (usize, f64) {
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
}

/// The residual of all ties under given forces, and what makes it smaller.
struct Problem<'a> {
    coupling: &'a mut Coupling,
    dt: f64,
    kappa: Vec<f64>,
    /// A + B, factored, where it was measured.
    sum: Option<Lu>,
    /// Whether constrained steps of the followers give A⁻¹ instead.
    aided: bool,
    /// Where the leaders were after the first trial, and what following them took.
    leaders: Vec<[Motion; 2]>,
    base: Vec<f64>,
}

impl conjugate::Problem for Problem<'_> {
    fn evaluate(&mut self, lambda: &[f64], r: &mut [f64]) -> Result<(), CoupleError> {
        self.coupling.try_forces(self.dt, lambda)?;
        self.coupling.residual(self.dt, lambda, &self.kappa, r);
        Ok(())
    }

    fn precondition(&mut self, lambda: &[f64], z: &mut [f64]) -> Result<u32, CoupleError> {
        if let Some(sum) = &self.sum {
            sum.solve(z);
        }
        if !self.aided {
            return Ok(0);
        }
        let mut steps = 1;
        if self.base.is_empty() {
            self.leaders.clone_from(&self.coupling.now);
            let none = vec![0.0; z.len()];
            self.base = self.coupling.needed(self.dt, lambda, &self.leaders, &none)?;
            steps += 1;
        }
        let image = self.coupling.needed(self.dt, lambda, &self.leaders, z)?;
        z.iter_mut().zip(image.iter().zip(&self.base)).for_each(|(z, (a, b))| *z = a - b);
        Ok(steps)
    }
}

/// How the handle on this side must end for its anchor to end where the other's does.
pub(super) fn target(tie: &Tie, side: usize, now: &[Motion; 2], starts: &[Motion; 2]) -> Motion {
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
