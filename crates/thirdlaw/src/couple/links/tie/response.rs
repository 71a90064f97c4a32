//! How both sides of ties answer over a step, by trying: A and B of [baraff1997 Eq. 2], and what
//! follows from them: κ, the preconditioner, who follows whom, and how fast a lagged exchange
//! settles.

use super::TieLink;
use super::constrained::constraint_on;
use super::constraint::{Roles, TieKind};
use super::newton::factored;
use crate::couple::component::{Component, Step};
use crate::couple::error::{CoupleError, SimulatorProblem};
use crate::couple::method::Method;
use crate::simulator::Motion;
use serde::{Deserialize, Serialize};

/// Most rows whose response is measured column by column.
const DENSE_ROWS: usize = 48;
/// κ of ties beside contacts. Where something is struck in a step it stops within it, and a steady force that
/// brings what is tied to it to the same place leaves that with a velocity of its own, which throws both in the
/// next step. Velocities come first then, and the gap closes in a few steps.
const STRUCK: f64 = 5.0;
/// Most pushes that are tried for a column.
const TRIES: u32 = 12;

/// Responses of both sides of all ties over a step, by trying.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    dt: f64,
    /// ∂r/∂λ through the first and the second anchors: A and B of [baraff1997 Eq. 2], row-major;
    /// empty where there are too many rows.
    sides: [Vec<f64>; 2],
    /// A + B with the springs' own give, and with what later trials have shown; empty where there are too
    /// many rows.
    pub jacobian: Vec<f64>,
    /// κ of each tie.
    pub kappa: Vec<f64>,
    /// How far a steady force moves the anchors, as a share of step × change of velocity.
    pub reach: Vec<f64>,
    /// Constrained side of each tie and by how much a lagged exchange shrinks its error.
    pub roles: Vec<Option<(usize, f64)>>,
    /// Whether the constrained side of each tie holds a constraint, instead of a prescribed handle.
    pub by_constraint: Vec<bool>,
    /// Measured anew at the next step.
    pub stale: bool,
}

impl Component {
    /// Tries how both sides of all ties answer, where this is not known yet.
    pub fn measure(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        if self.measured.as_ref().is_some_and(|m| m.dt == step.dt && !m.stale) {
            return Ok(());
        }
        let sought = self.sought();
        self.measure_at(step, &sought)
    }

    /// Tries how both sides of all ties answer a change of λ, which is in its own axes.
    pub fn measure_at(&mut self, step: &mut Step<'_>, sought: &[f64]) -> Result<(), CoupleError> {
        let dt = step.dt;
        let rows = self.rows();
        let n = *rows.last().unwrap_or(&0);
        let mut sought = sought.to_vec();
        self.try_sought(step, &sought)?;
        step.report.trials += 1;
        let base = self.now();
        let dense = n <= DENSE_ROWS;
        let (mut gaps, mut rates) = ([vec![0.0; n * n], vec![0.0; n * n]], vec![0.0; n * n]);
        for tie in 0..self.ties.len() {
            let target = self.target(tie, dt);
            for j in rows[tie]..rows[tie + 1] {
                if !dense && rows.binary_search(&j).is_err() {
                    continue;
                }
                let mut push = self.first_push(n, j, target);
                for _ in 0..TRIES {
                    let kept = sought[j];
                    sought[j] += push;
                    let tried = self.try_sought(step, &sought);
                    step.report.trials += 1;
                    sought[j] = kept;
                    match tried {
                        Ok(()) => {}
                        Err(error) if error.is_of_a_step() => {
                            push *= 1e-2;
                            continue;
                        }
                        Err(error) => return Err(error),
                    }
                    let seen = self.columns((n, j), push, &base, (&mut gaps, &mut rates), dt);
                    if seen > 30.0 * target {
                        push *= (target / seen).max(1e-6);
                    } else if seen < 0.03 * target {
                        push *= (target / seen).min(1e3);
                    } else {
                        break;
                    }
                    if !(1e-15..1e15).contains(&push.abs()) {
                        break;
                    }
                }
            }
        }
        self.measured = Some(self.judge(dt, &rows, gaps, rates));
        self.choose_roles(step)
    }

    /// By how much a push that tries a tie should change the speed of its anchors, m/s: enough to be seen
    /// in single precision, and so little that an arm does not turn far.
    fn target(&self, tie: usize, dt: f64) -> f64 {
        let link = &self.ties[tie];
        let target = 0.01 * self.reference(dt).max(0.1);
        let arm = link.light.map_or(f64::INFINITY, |side| {
            link.tie.anchors[side].turned_arm(&link.starts[side], Default::default()).length()
        });
        target.min(0.02 * arm.max(1e-4) / dt)
    }

    /// A push from which to go on: by what was measured before, or little.
    fn first_push(&self, n: usize, j: usize, target: f64) -> f64 {
        let known = self.measured.as_ref().filter(|m| m.jacobian.len() == n * n);
        let answer =
            known.map_or(0.0, |m| (0..n).map(|i| m.jacobian[i * n + j].abs()).fold(0.0, f64::max));
        let push = target / answer;
        if push.is_finite() && push > 0.0 { push } else { 1e-3 }
    }

    /// Takes the answers to a push on row `j` into its column; returns the largest change of a speed.
    fn columns(
        &self,
        (n, j): (usize, usize),
        push: f64,
        base: &[[Motion; 2]],
        (gaps, rates): (&mut [Vec<f64>; 2], &mut [f64]),
        dt: f64,
    ) -> f64 {
        let mut first = 0;
        let mut seen: f64 = 0.0;
        for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
            let count = tie.rows();
            let (mut old, mut new) = ([0.0; 6], [0.0; 6]);
            tie.gap(&base[i], &mut old[..count]);
            for side in 0..2 {
                let mut mixed = base[i];
                mixed[side] = self.ties[i].now[side];
                tie.gap(&mixed, &mut new[..count]);
                (0..count).for_each(|k| new[k] -= old[k]);
                self.ties[i].turn_rows(false, &mut new[..count]);
                for k in 0..count {
                    gaps[side][(first + k) * n + j] = new[k] / push;
                    seen = seen.max(new[k].abs() / dt);
                }
            }
            tie.rate(&base[i], &self.ties[i].starts, &mut old[..count]);
            tie.rate(&self.ties[i].now, &self.ties[i].starts, &mut new[..count]);
            (0..count).for_each(|k| new[k] -= old[k]);
            self.ties[i].turn_rows(false, &mut new[..count]);
            for k in 0..count {
                rates[(first + k) * n + j] = new[k] / push;
                seen = seen.max(new[k].abs());
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
        for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
            let d = rows[i] * n + rows[i];
            let reach = (gaps[0][d] + gaps[1][d]) / (dt * rates[d]);
            reaches.push(if reach.is_finite() { reach.clamp(0.0, 1.0) } else { 0.5 });
            let soft = reach.is_finite() && reach <= 0.52;
            let struck = !(self.touches.is_empty() && self.watches.is_empty());
            kappa.push(match () {
                _ if tie.is_spring() => 0.0,
                _ if struck => STRUCK,
                _ if soft => 1.0 - reach.max(0.0),
                _ => 0.0,
            });
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
                }
            }
        }
        let roles = vec![None; self.ties.len()];
        let by_constraint = vec![false; self.ties.len()];
        let jacobian = if n <= DENSE_ROWS { self.sum(dt, rows, &sides) } else { Vec::new() };
        let reach = reaches;
        Measured { dt, sides, jacobian, kappa, reach, roles, by_constraint, stale: false }
    }

    /// A + B with the springs' own give.
    fn sum(&self, dt: f64, rows: &[usize], [a, b]: &[Vec<f64>; 2]) -> Vec<f64> {
        let n = *rows.last().unwrap_or(&0);
        let mut whole: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
        for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
            if let TieKind::Spring { stiffness, damping, .. } = tie.kind {
                for row in rows[i]..rows[i + 1] {
                    whole[row * n + row] += 1.0 / (dt * (0.5 * stiffness + damping / dt));
                }
            }
        }
        whole
    }

    /// Whether saved responses are of these ties.
    pub fn fits_measured(&self, measured: &Option<Measured>) -> bool {
        let Some(measured) = measured else { return true };
        let (rows, ties) = (self.rows(), self.ties.len());
        let n = *rows.last().unwrap_or(&0);
        let Measured { dt, sides, jacobian, kappa, reach, roles, by_constraint, .. } = measured;
        dt.is_finite()
            && *dt > 0.0
            && sides.iter().all(|side| side.len() == n * n)
            && jacobian.len() == if n <= DENSE_ROWS { n * n } else { 0 }
            && jacobian.iter().all(|x| x.is_finite())
            && [kappa.len(), reach.len(), roles.len(), by_constraint.len()] == [ties; 4]
            && roles.iter().flatten().all(|(side, _)| *side < 2)
    }

    /// The lighter side over a step follows, if it can and nobody said otherwise.
    fn choose_roles(&mut self, step: &mut Step<'_>) -> Result<(), CoupleError> {
        let turns = matches!(
            step.settings.method,
            Method::Interleaved | Method::FixedPoint | Method::Repaired
        );
        let Some(mut measured) = self.measured.take() else { return Ok(()) };
        let rows = self.rows();
        // what is too large to be measured whole is helped by whoever can be constrained
        let aid = measured.jacobian.is_empty() && step.settings.precondition;
        for i in 0..self.ties.len() {
            let tie = self.ties[i].tie;
            if !(turns || aid) || tie.is_spring() {
                continue;
            }
            let ways = [self.can_follow(step, i, 0)?, self.can_follow(step, i, 1)?];
            let able = ways.map(|way| way.is_some());
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
            if !able[side] && !turns {
                continue;
            }
            if !able[side] {
                let member = &step.members[tie.anchors[side].simulator];
                return Err(member.error(SimulatorProblem::Failed {
                    during: "prescribe",
                    message: "it cannot follow a given motion here; choose `iterated`".into(),
                }));
            }
            let ratio = ratio(&measured.sides, side, (n, rows[i], rows[i + 1]));
            measured.roles[i] = Some((side, ratio));
            measured.by_constraint[i] = ways[side] == Some(true);
        }
        self.measured = Some(measured);
        Ok(())
    }

    /// Whether the simulator on this side of a tie can be constrained there, and if so, whether it has to
    /// hold a constraint.
    fn can_follow(
        &self,
        step: &mut Step<'_>,
        i: usize,
        side: usize,
    ) -> Result<Option<bool>, CoupleError> {
        let tie = self.ties[i].tie;
        let anchor = tie.anchors[side];
        let constraint = match tie.kind {
            TieKind::Point => {
                Some(constraint_on(&tie, side, &self.ties[i].starts, &self.ties[i].starts))
            }
            _ => None,
        };
        let member = &mut step.members[anchor.simulator];
        member.restore()?;
        let now = member.read(anchor.handle)?;
        let can = member.ask("prescribe", |s| s.prescribe(anchor.handle, &now))?;
        member.restore()?;
        // moving the whole handle would hold its orientation, too
        let turns = tie.kind == TieKind::Point
            && member.response(anchor.handle, step.dt)?.inertia != crate::math::Mat3::ZERO;
        member.restore()?;
        if can && !turns {
            return Ok(Some(false));
        }
        // what is asked holds for one step of the simulator's own
        let Some(constraint) = constraint.filter(|_| member.substeps == 1) else { return Ok(None) };
        let can = member.ask("constrain", |s| s.constrain(&constraint))?;
        member.restore()?;
        Ok(can.then_some(true))
    }
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
    let own: Vec<f64> = (0..m * m).map(|k| sides[follower][at(k / m, k % m)]).collect();
    let Some(lu) = factored(m, &own) else { return f64::INFINITY };
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
