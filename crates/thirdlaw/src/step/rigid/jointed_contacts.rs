//! Contacts and joints of one island together.
//!
//! Few contacts are solved through the joints (`jointed_through`). Many take turns with the joints. Or joints
//! are held exactly after every iteration on the contacts. Or joints are rows among those of the contacts, and
//! any contact solver iterates on all of them.

use super::substep::{IslandScratch, Members, SolveTotals};
use crate::contact::{self, Block, Bound, ContactSide, DirectUse, Row, SolveSettings, Velocities};
use crate::joint::system::Source;
use crate::math::Vec3;
use crate::report::SolvePath;

/// Rounds of contacts and joints in turn.
const ROUNDS: usize = 8;

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
}
