//! Bringing positions onto the constraint after a move, and reading what came out.

use super::island::{JointIsland, Stage};
use super::system::{Role, Source, Status};
use crate::math::{Twist, rotation_from_vector};
use crate::model::Model;
use crate::model::joint::description::Enforcement;

/// Newton steps of a projection at most.
const STEPS: usize = 20;
/// Sweeps over the rows of one joint.
const ROW_SWEEPS: usize = 8;
/// Farthest that one step moves a centre or turns a body, m and rad.
const FAR: f64 = 0.5;

impl JointIsland {
    /// Remembers the velocities that the substep begins with.
    pub fn keep_start(&mut self) {
        self.saved_v.clone_from(&self.v);
    }

    /// Moves the trial poses onto the constraint: x += M⁻¹Jᵀλ with J M⁻¹Jᵀλ = −C, J taken anew in
    /// every step, for joints held in the way asked for. Velocities change by that over h.
    pub fn project(&mut self, stage: &Stage, ours: impl Fn(&Enforcement) -> bool) {
        self.kept_poses.clone_from(&self.poses);
        self.kept_rows.clone_from(&self.system.rows);
        for _ in 0..STEPS {
            self.poses.clone_from(&self.trial);
            self.place(stage);
            let worst = self.aim_to_close(stage, &ours);
            if worst <= 1e-11 {
                break;
            }
            self.moves.clear();
            self.moves.resize(self.poses.len(), Twist::default());
            let mut moves = std::mem::take(&mut self.moves);
            self.system.solve(&mut moves);
            self.moves = moves;
            let length = stage.pace.length;
            let largest =
                |m: f64, v: &Twist| m.max(v.linear.length() / length).max(v.angular.length());
            let fastest = self.moves.iter().fold(0.0, largest);
            let share = if fastest > FAR { FAR / fastest } else { 1.0 };
            for (pose, v) in self.trial.iter_mut().zip(&self.moves) {
                pose.0 += share * v.linear;
                pose.1 = (rotation_from_vector(share * v.angular) * pose.1).normalize();
            }
            for (v, moved) in self.v.iter_mut().zip(&self.moves) {
                v.linear += share / stage.h * moved.linear;
                v.angular += share / stage.h * moved.angular;
            }
            self.collect_scaled(share / stage.h);
        }
        std::mem::swap(&mut self.poses, &mut self.kept_poses);
        std::mem::swap(&mut self.system.rows, &mut self.kept_rows);
        self.place(stage);
    }

    /// Rows that ask for moves which close their errors, where they are held in the way asked for.
    /// Returns the largest error.
    pub(super) fn aim_to_close(
        &mut self,
        stage: &Stage,
        ours: &impl Fn(&Enforcement) -> bool,
    ) -> f64 {
        let mut worst = 0.0_f64;
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            let held = ours(&self.locals[l].way);
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let turns = self.turns(stage.model, &link, r);
                let row = &mut self.system.rows[r];
                let violated = match row.role {
                    Role::Hold | Role::Rate => held,
                    Role::Low | Role::High => row.error < row.keep,
                    _ => false,
                };
                let scale = if row.role == Role::Rate { stage.h } else { 1.0 };
                row.status = if violated { Status::Free } else { Status::Off };
                (row.impulse, row.compliance) = (0.0, 0.0);
                (row.lower, row.upper) = (f64::NEG_INFINITY, f64::INFINITY);
                row.bias = scale * (row.error - row.keep);
                if violated && row.bias.is_finite() {
                    let bias = row.bias.abs();
                    worst = worst.max(bias / stage.pace.way(turns, 1.0));
                }
            }
        }
        self.system.touch();
        worst
    }

    /// One implicit pseudo-step of one joint at the trial poses; returns its error before.
    pub fn relax(&mut self, stage: &Stage, only: usize) -> f64 {
        std::mem::swap(&mut self.poses, &mut self.trial);
        self.place_one(stage, only);
        let link = self.system.links[only];
        let rows = link.row_start as usize..(link.row_start + link.row_count) as usize;
        let mut worst = 0.0_f64;
        // row after row, until the joint itself is at equilibrium
        self.moves.clear();
        self.moves.resize(self.poses.len(), Twist::default());
        for row in self.system.rows[rows.clone()].iter_mut().filter(|r| r.role == Role::Hold) {
            worst = worst.max(row.error.abs());
            row.impulse = 0.0;
        }
        for _ in 0..ROW_SWEEPS {
            for r in rows.clone() {
                let response = self.system.response(&link, r);
                if self.system.rows[r].role != Role::Hold || response <= 0.0 {
                    continue;
                }
                let w = self.system.rate(&link, r, &self.moves) + self.system.rows[r].error;
                let z = -w / response;
                self.system.rows[r].impulse += z;
                self.system.apply(&link, r, z, &mut self.moves);
            }
        }
        let ends = link.end_start as usize..(link.end_start + link.end_count) as usize;
        for &end in &self.system.ends[ends] {
            let (end, moved) = (end as usize, self.moves[end as usize]);
            let pose = &mut self.poses[end];
            pose.0 += moved.linear;
            pose.1 = (rotation_from_vector(moved.angular) * pose.1).normalize();
            self.v[end].linear += moved.linear / stage.h;
            self.v[end].angular += moved.angular / stage.h;
        }
        for r in rows {
            if self.system.rows[r].role == Role::Hold {
                let z = self.system.rows[r].impulse / stage.h;
                self.react(only, r, z);
                self.system.rows[r].impulse = 0.0;
            }
        }
        std::mem::swap(&mut self.poses, &mut self.trial);
        worst
    }

    /// Coordinates, rates and errors at the end of a step.
    pub fn read(&mut self, model: &Model) {
        for l in 0..self.system.links.len() {
            let Source::Joint(slot) = self.system.links[l].source else { continue };
            let joint = &model.joints[slot as usize];
            if joint.coupling().is_some() {
                let row = self.system.links[l].row_start as usize;
                let error = self.system.rows.get(row).map_or(0.0, |row| row.error);
                self.locals[l].state.coordinates[0] = error;
                continue;
            }
            self.read_joint(joint, l);
        }
    }
}
