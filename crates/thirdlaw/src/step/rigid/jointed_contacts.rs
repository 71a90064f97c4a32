//! Contacts and joints of one island together.
//!
//! Few contacts are solved through the joints: on the response N = J P M⁻¹Jᵀ that the exact joints leave
//! them. Many take turns with the joints. Or joints are held exactly after every iteration on the contacts.
//! Or joints are rows among those of the contacts, and any
//! contact solver iterates on all of them.

use super::substep::{IslandScratch, Members, SolveTotals};
use crate::contact::{
    self, Block, Bound, ContactSide, DirectUse, Row, SolveSettings, Velocities, dense,
};
use crate::joint::spread::Spread;
use crate::joint::system::{Part, Source};
use crate::math::{Twist, Vec3};
use crate::report::SolvePath;

/// Rounds of contacts and joints in turn.
const ROUNDS: usize = 8;
/// Multiplications for sweeps through the joints.
const SWEEP_WORK: usize = 400_000;
/// Turns of contacts through the joints and limits of the joints.
const TURNS: usize = 3;

/// Memory for contacts through joints.
#[derive(Debug, Default)]
pub(crate) struct Through {
    matrix: Vec<f64>,
    defects: Vec<f64>,
    answers: Vec<f64>,
    before: Vec<f64>,
    spread: Spread,
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
    /// Contacts and joints together: through the joints where contacts are few, else in turn.
    pub(crate) fn solve_both(&mut self, solve: &SolveSettings, totals: &mut SolveTotals) {
        totals.path = self.path;
        match self.path {
            SolvePath::JointRows => self.solve_as_rows(solve, totals),
            SolvePath::JointsInterleaved => self.solve_interleaved(solve, totals),
            SolvePath::ThroughJoints => self.solve_through(solve, totals),
            SolvePath::JointsInTurn => self.solve_in_turn(solve, totals),
            _ => {
                self.joints.system.solve(&mut self.joints.v);
            }
        }
    }

    /// Half the contact impulses of the last substep, for half its forces.
    pub(crate) fn warm_start_contacts(&mut self) {
        let contacts = self.first_joint_row.unwrap_or(self.impulses.len());
        self.impulses[..contacts].iter_mut().for_each(|z| *z *= 0.5);
        self.through.before.clear();
        self.through.before.extend_from_slice(&self.impulses[..contacts]);
        self.through.before.resize(self.impulses.len(), 0.0);
        contact::warm_start(&self.problem, &mut self.velocities, &self.through.before);
        self.through.warm = true;
    }

    /// Joints as rows of the contact problem, iterated like contacts.
    pub(crate) fn solve_as_rows(&mut self, solve: &SolveSettings, totals: &mut SolveTotals) {
        let Some(first) = self.first_joint_row else { return };
        self.joints.system.write_rows(&mut self.problem.rows[first..]);
        contact::refresh(&self.problem, &mut self.solver);
        // impulses of the same stage of the substep before
        for (z, row) in self.impulses[first..].iter_mut().zip(&self.problem.rows[first..]) {
            if let Bound::Interval { lower, upper } = row.bound {
                *z = z.max(lower).min(upper);
            }
        }
        self.through.before.clear();
        self.through.before.resize(first, 0.0);
        self.through.before.extend_from_slice(&self.impulses[first..]);
        self.store_velocities();
        contact::warm_start(&self.problem, &mut self.velocities, &self.through.before);
        totals.add(self.solve(solve));
        self.load_velocities();
        self.joints.system.read_impulses(&self.impulses[first..]);
    }

    /// Blocks and rows of all joints in the contact problem.
    pub(crate) fn add_joint_rows(&mut self, members: Members) {
        self.first_joint_row = Some(self.problem.rows.len());
        let (bodies, points) = (self.bodies.len(), members.points.len());
        let side = |end: u32| match (end as usize).checked_sub(bodies) {
            None => ContactSide::Body(end),
            Some(point) if point < points => {
                ContactSide::Particles { index: [point as u32; 4], weight: [1.0, 0.0, 0.0, 0.0] }
            }
            Some(_) => ContactSide::World,
        };
        for link in &self.joints.system.links {
            let Source::Joint(slot) = link.source else { continue };
            let ends = &self.joints.system.ends[link.end_start as usize..];
            self.problem.blocks.push(Block {
                a: side(ends[0]),
                b: side(ends[1]),
                row_start: self.problem.rows.len() as u32,
                row_count: link.row_count,
                key: 1 << 63 | u64::from(slot),
            });
            for _ in 0..link.row_count {
                self.impulses.push(0.0);
                self.problem.rows.push(Row {
                    direction: Vec3::ZERO,
                    arm_a: Vec3::ZERO,
                    arm_b: Vec3::ZERO,
                    bias: 0.0,
                    compliance: 0.0,
                    bound: Bound::Interval { lower: 0.0, upper: 0.0 },
                });
            }
        }
    }

    /// Contacts by sweeps, then joints exactly, until both hold ([tonge2012, Eq. 33] with all joints
    /// for the fixed ones; the print lacks a minus).
    pub(crate) fn solve_in_turn(&mut self, solve: &SolveSettings, totals: &mut SolveTotals) {
        for _ in 0..ROUNDS {
            self.store_velocities();
            totals.add(self.solve(solve));
            self.load_velocities();
            self.joints.system.solve(&mut self.joints.v);
            self.store_velocities();
            let left =
                contact::residual(&self.problem, &self.velocities, &self.impulses, &self.solver);
            if left <= solve.tolerance.max(1e-6) {
                break;
            }
        }
    }

    /// Joints exactly after every iteration on the contacts [tonge2012, Eq. 37].
    pub(crate) fn solve_interleaved(&mut self, solve: &SolveSettings, totals: &mut SolveTotals) {
        let solve = SolveSettings { direct: DirectUse::Never, ..*solve };
        let IslandScratch { problem, velocities, impulses, solver, joints, .. } = self;
        joints.system.solve(&mut joints.v);
        joints.give_velocities(velocities);
        let mut hold = |velocities: &mut Velocities| {
            joints.take_velocities(velocities);
            joints.system.solve(&mut joints.v);
            joints.give_velocities(velocities);
        };
        let report =
            contact::solve_and_hold(problem, &solve, velocities, impulses, solver, &mut hold);
        totals.add(report);
    }

    /// Contacts on the response that the joints leave them, N = J P M⁻¹Jᵀ.
    pub(crate) fn solve_through(&mut self, solve: &SolveSettings, totals: &mut SolveTotals) {
        let rows = self.problem.rows.len();
        let sweeps = (SWEEP_WORK / (rows * rows)).clamp(8, 200) as u32;
        let tolerance = solve.tolerance.max(1e-9);
        self.joints.system.solve(&mut self.joints.v);
        for _ in 0..TURNS {
            self.fill_response();
            self.store_velocities();
            let IslandScratch { problem, velocities, impulses, through, .. } = self;
            through.defects.clear();
            for block in &problem.blocks {
                for i in block.rows() {
                    let row = &problem.rows[i];
                    let rate = side_rate(row, &block.b, &block.a, &velocities.bodies);
                    through.defects.push(rate + row.bias + row.compliance * impulses[i]);
                }
            }
            through.before.clone_from(impulses);
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
            for (z, &new) in through.before.iter_mut().zip(impulses.iter()) {
                *z = new - *z;
            }
            contact::warm_start(problem, velocities, &through.before);
            self.load_velocities();
            self.joints.system.changes = 0;
            self.joints.system.solve(&mut self.joints.v);
            totals.iterations += 1;
            totals.residual = totals.residual.max(moved);
            // once more where limits or drives have changed their minds
            if self.joints.system.changes == 0 {
                break;
            }
        }
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
