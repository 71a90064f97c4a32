//! How both sides of ties answer over a step, by trying: A and B of [baraff1997 Eq. 2], and what
//! follows from them: κ, the preconditioner, who follows whom, and how fast a lagged exchange
//! settles.

use super::TieLink;
use super::constrained::constraint_on;
use super::constraint::{Roles, TieKind};
use crate::couple::component::{Component, Step};
use crate::couple::error::{CoupleError, SimulatorProblem};
use crate::couple::method::Method;
use crate::linalg::lu::Lu;
use crate::simulator::Motion;
use serde::{Deserialize, Serialize};

/// Most rows whose response is measured column by column.
const DENSE_ROWS: usize = 48;

/// Responses of both sides of all ties over a step, by trying.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    dt: f64,
    /// ∂r/∂λ through the first and the second anchors: A and B of [baraff1997 Eq. 2], row-major;
    /// empty where there are too many rows.
    sides: [Vec<f64>; 2],
    /// A + B (and the springs' own give), factored; found anew from the sides after loading.
    #[serde(skip)]
    pub sum: Option<Lu>,
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
        let dt = step.dt;
        if self.measured.as_ref().is_some_and(|m| m.dt == dt && !m.stale) {
            return Ok(());
        }
        let rows = self.rows();
        let n = *rows.last().unwrap_or(&0);
        let mut lambda = self.lambda();
        self.try_forces(step, &lambda)?;
        step.report.trials += 1;
        let base = self.now();
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
                self.try_forces(step, &lambda)?;
                step.report.trials += 1;
                lambda[j] = kept;
                let seen = self.columns((n, j), push, &base, &mut gaps, &mut rates);
                if seen > 1e-5 * self.reference(dt) {
                    break;
                }
                push *= 100.0;
            }
        }
        self.measured = Some(self.judge(dt, &rows, gaps, rates));
        self.choose_roles(step)
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
        for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
            let count = tie.rows();
            let (mut old, mut new) = ([0.0; 6], [0.0; 6]);
            tie.gap(&base[i], &mut old[..count]);
            for side in 0..2 {
                let mut mixed = base[i];
                mixed[side] = self.ties[i].now[side];
                tie.gap(&mixed, &mut new[..count]);
                for k in 0..count {
                    gaps[side][(first + k) * n + j] = (new[k] - old[k]) / push;
                }
            }
            tie.rate(&base[i], &self.ties[i].starts, &mut old[..count]);
            tie.rate(&self.ties[i].now, &self.ties[i].starts, &mut new[..count]);
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
        for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
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
                }
            }
        }
        let roles = vec![None; self.ties.len()];
        let by_constraint = vec![false; self.ties.len()];
        let mut measured = Measured {
            dt,
            sides,
            sum: None,
            kappa,
            reach: reaches,
            roles,
            by_constraint,
            stale: false,
        };
        self.factor_sum(&mut measured);
        measured
    }

    /// A + B with the springs' own give, factored.
    fn factor_sum(&self, measured: &mut Measured) {
        let (rows, dt) = (self.rows(), measured.dt);
        let n = *rows.last().unwrap_or(&0);
        let [a, b] = &measured.sides;
        let mut whole: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + b).collect();
        for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
            if let TieKind::Spring { stiffness, damping, .. } = tie.kind {
                for row in rows[i]..rows[i + 1] {
                    whole[row * n + row] += 1.0 / (dt * (0.5 * stiffness + damping / dt));
                }
            }
        }
        let dense = n <= DENSE_ROWS;
        measured.sum = if dense { factored(n, |i, j| whole[i * n + j]) } else { None };
    }

    /// Whether saved responses are of these ties.
    pub fn fits_measured(&self, measured: &Option<Measured>) -> bool {
        let Some(measured) = measured else { return true };
        let (rows, ties) = (self.rows(), self.ties.len());
        let n = *rows.last().unwrap_or(&0);
        let Measured { dt, sides, kappa, reach, roles, by_constraint, .. } = measured;
        dt.is_finite()
            && *dt > 0.0
            && sides.iter().all(|side| side.len() == n * n)
            && [kappa.len(), reach.len(), roles.len(), by_constraint.len()] == [ties; 4]
            && roles.iter().flatten().all(|(side, _)| *side < 2)
    }

    /// Takes over saved responses that fit.
    pub fn resume_measured(&mut self, measured: Option<Measured>) {
        self.measured = measured.map(|mut measured| {
            self.factor_sum(&mut measured);
            measured
        });
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
        let aid = measured.sum.is_none() && step.settings.precondition;
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
