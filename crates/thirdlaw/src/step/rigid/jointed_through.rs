//! Contacts solved through the joints, on the response N = J P M⁻¹Jᵀ that the joints leave them.
//!
//! N is that of the joints as they are: limits that are met hold, drives below their effort give way as their
//! gains say, motors and dry friction not at all. Impulses found with it may be more than a limit, an effort
//! or friction bears, and then bodies go elsewhere than N says: a mechanism whose motors hold all of it answers
//! a contact with next to nothing, and impulses that would move it so are far beyond what the motors can do.
//! What contacts and joints together make least is
//!
//!   φ(z) = ½ vᵀM v + Σ bᵀz + ½ zᵀΓ z    over the rows of both,
//!
//! and with the joints solved for every z of the contacts, which are convex, so is φ of these alone: N is its
//! curvature. So a turn is a step of Newton on it, and one in which joints have changed their minds is cut to
//! where φ has fallen. Impulses of contacts then cannot make energy, whatever joints do with them.

use super::substep::{IslandScratch, SolveTotals};
use crate::contact::{self, ContactSide, Row, SolveSettings, dense};
use crate::joint::spread::Spread;
use crate::joint::system::{JointRow, Part, Status};
use crate::math::{Twist, Vec3};

/// Multiplications for sweeps through the joints.
const SWEEP_WORK: usize = 400_000;
/// Turns of contacts through the joints and bounds of the joints at most.
const TURNS: usize = 12;
/// Shares of one step that are tried at most.
const SHARES: usize = 12;
/// Part of the descent along the slope that a step must keep.
const ENOUGH: f64 = 1e-4;
/// φ that is rounding, of φ at the start.
const ROUNDING: f64 = 1e-12;

/// Memory for contacts through joints.
#[derive(Debug, Default)]
pub(crate) struct Through {
    matrix: Vec<f64>,
    defects: Vec<f64>,
    answers: Vec<f64>,
    pub(super) before: Vec<f64>,
    spread: Spread,
    /// Where a turn begins: impulses of contacts, velocities, rows of joints.
    from: (Vec<f64>, Vec<Twist>, Vec<JointRow>),
    /// The step of Newton.
    step: Vec<f64>,
    /// Whether the impulses are those that the substep begins with.
    pub(crate) warm: bool,
}

impl Through {
    /// Takes that share of the impulses, from 0 to 1, with which the energy of the dual problem,
    ///
    ///   φ(z) = ½ zᵀ(N + Γ) z + zᵀ(J v₀ + b),
    ///
    /// is least. Contacts that press a body from two sides carry far more than it weighs, and where they have
    /// turned a little since, these impulses no longer cancel: all of them are a worse beginning than none.
    fn temper(&mut self, rows: &[Row], impulses: &mut [f64]) {
        let count = rows.len();
        let (mut bend, mut slope) = (0.0, 0.0);
        self.answers.clear();
        for (i, row) in rows.iter().enumerate() {
            let response = &self.matrix[i * count..(i + 1) * count];
            let sum: f64 = response.iter().zip(impulses.iter()).map(|(n, z)| n * z).sum();
            let answer = sum + row.compliance * impulses[i];
            bend += impulses[i] * answer;
            slope += impulses[i] * (self.defects[i] - answer);
            self.answers.push(answer);
        }
        let share = if bend > 0.0 { (-slope / bend).clamp(0.0, 1.0) } else { 1.0 };
        if share < 1.0 {
            for (w, answer) in self.defects.iter_mut().zip(&self.answers) {
                *w -= (1.0 - share) * answer;
            }
            impulses.iter_mut().for_each(|z| *z *= share);
        }
    }
}

/// (J v) of a contact row.
fn side_rate(row: &Row, b: &ContactSide, a: &ContactSide, v: &[Twist]) -> f64 {
    let of = |side: &ContactSide, arm: Vec3| match side {
        ContactSide::Body(i) => {
            let v = &v[*i as usize];
            row.direction.dot(v.linear) + arm.dot(v.angular)
        }
        _ => 0.0,
    };
    of(b, row.arm_b) - of(a, row.arm_a)
}

impl IslandScratch {
    /// Contacts on the response that the joints leave them, N = J P M⁻¹Jᵀ.
    pub(crate) fn solve_through(&mut self, solve: &SolveSettings, totals: &mut SolveTotals) {
        let rows = self.problem.rows.len();
        let sweeps = (SWEEP_WORK / (rows * rows)).clamp(8, 200) as u32;
        let tolerance = solve.tolerance.max(1e-9);
        self.joints.system.solve(&mut self.joints.v);
        for _ in 0..TURNS {
            self.fill_response();
            self.keep_turn();
            let IslandScratch { problem, impulses, through, joints, .. } = self;
            through.defects.clear();
            for block in &problem.blocks {
                for i in block.rows() {
                    let row = &problem.rows[i];
                    let rate = side_rate(row, &block.b, &block.a, &joints.v);
                    through.defects.push(rate + row.bias + row.compliance * impulses[i]);
                }
            }
            if std::mem::take(&mut through.warm) {
                through.temper(&problem.rows, impulses);
            }
            let moved = dense::solve(
                problem,
                &through.matrix,
                &mut through.defects,
                impulses,
                (sweeps, tolerance),
            );
            through.step.clear();
            through.step.extend(impulses.iter().zip(&through.from.0).map(|(new, old)| new - old));
            self.joints.system.changes = 0;
            self.follow_step();
            totals.iterations += 1;
            totals.residual = totals.residual.max(moved);
            // once more where limits or drives have changed their minds
            if self.joints.system.changes == 0 || !self.shorten_step() {
                break;
            }
        }
    }

    fn keep_turn(&mut self) {
        let (impulses, velocities, rows) = &mut self.through.from;
        impulses.clone_from(&self.impulses);
        velocities.clone_from(&self.joints.v);
        rows.clone_from(&self.joints.system.rows);
    }

    /// Gives the bodies what is new of the impulses of contacts, and lets the joints answer.
    fn follow_step(&mut self) {
        let IslandScratch { problem, velocities, impulses, through, joints, .. } = self;
        joints.give_velocities(velocities);
        through.before.clear();
        through.before.extend(impulses.iter().zip(&through.from.0).map(|(new, old)| new - old));
        contact::warm_start(problem, velocities, &through.before);
        joints.take_velocities(velocities);
        joints.system.solve(&mut joints.v);
    }

    /// Takes less of a step that has not made φ fall. Says whether any of it did.
    fn shorten_step(&mut self) -> bool {
        let (impulses, velocities, rows) = &self.through.from;
        let start = self.potential(impulses, velocities, rows);
        let slope = self.slope(impulses, velocities);
        let room = ROUNDING * start.abs();
        // shares between which φ is least, and its slopes there
        let (mut low, mut high) = ((0.0, slope), (1.0, f64::NAN));
        let mut share = 1.0;
        for _ in 0..SHARES {
            let now = self.potential(&self.impulses, &self.joints.v, &self.joints.system.rows);
            if now <= start + ENOUGH * share * slope.min(0.0) + room {
                return true;
            }
            let slope = self.slope(&self.impulses, &self.joints.v);
            if slope > 0.0 {
                high = (share, slope);
            } else {
                low = (share, slope);
            }
            let secant = low.0 + (high.0 - low.0) * low.1 / (low.1 - high.1);
            let within = secant > low.0 && secant < 0.9 * high.0;
            share = if within { secant } else { 0.5 * (low.0 + high.0) };
            self.return_to_turn();
            for (z, step) in self.impulses.iter_mut().zip(&self.through.step) {
                *z += share * step;
            }
            self.follow_step();
        }
        self.return_to_turn();
        false
    }

    fn return_to_turn(&mut self) {
        let (impulses, velocities, rows) = &self.through.from;
        self.impulses.clone_from(impulses);
        self.joints.v.clone_from(velocities);
        self.joints.system.rows.clone_from(rows);
        self.joints.system.touch();
    }

    /// φ of contacts and joints.
    fn potential(&self, impulses: &[f64], velocities: &[Twist], rows: &[JointRow]) -> f64 {
        let nodes = self.joints.system.nodes.iter().zip(velocities);
        let kinetic = nodes.filter(|(node, _)| node.movable).map(|(node, v)| 0.5 * node.square(v));
        let of = |z: f64, bias: f64, compliance: f64| z * (bias + 0.5 * compliance * z);
        let contacts = self.problem.rows.iter().zip(impulses);
        let contacts = contacts.map(|(row, &z)| of(z, row.bias, row.compliance));
        let joints = rows.iter().filter(|row| row.status != Status::Off);
        let joints = joints.map(|row| of(row.impulse, row.bias, row.compliance));
        kinetic.sum::<f64>() + contacts.sum::<f64>() + joints.sum::<f64>()
    }

    /// dφ along the step.
    fn slope(&self, impulses: &[f64], velocities: &[Twist]) -> f64 {
        let mut sum = 0.0;
        for block in &self.problem.blocks {
            for i in block.rows() {
                let row = &self.problem.rows[i];
                let rate = side_rate(row, &block.b, &block.a, velocities);
                sum += self.through.step[i] * (rate + row.bias + row.compliance * impulses[i]);
            }
        }
        sum
    }

    /// N: what a unit impulse on a row does to all rows.
    pub(crate) fn fill_response(&mut self) {
        let rows = self.problem.rows.len();
        let Through { matrix, spread, .. } = &mut self.through;
        matrix.clear();
        matrix.resize(rows * rows, 0.0);
        let system = &mut self.joints.system;
        system.spread_clear(spread);
        for block in &self.problem.blocks {
            for i in block.rows() {
                let row = &self.problem.rows[i];
                let sides = [(block.a, row.arm_a, -1.0), (block.b, row.arm_b, 1.0)];
                let pushes = sides.into_iter().filter_map(|(side, arm, sign)| match side {
                    ContactSide::Body(b) => {
                        Some((b, Part { linear: sign * row.direction, angular: sign * arm }))
                    }
                    _ => None,
                });
                system.spread_row(spread, pushes, &mut matrix[i * rows..i * rows + i + 1]);
                for k in 0..i {
                    matrix[k * rows + i] = matrix[i * rows + k];
                }
            }
        }
    }
}
