//! Bringing positions onto the constraint after a move, and reading what came out.

use super::description::Enforcement;
use super::island::{JointIsland, Stage};
use super::system::{Role, Source, Status};
use crate::math::{Twist, rotation_from_vector};
use crate::model::Model;

/// Newton steps of a projection at most.
const STEPS: usize = 20;
/// Farthest that one step moves a centre or turns a body, m and rad.
const FAR: f64 = 0.5;

impl JointIsland {
    /// Remembers the velocities that the substep begins with.
    pub fn keep_start(&mut self) {
        self.saved_v.clone_from(&self.v);
    }

    /// Remembers velocities and impulses after the linearized joints were solved.
    pub fn save(&mut self) {
        self.saved_v.clone_from(&self.v);
        self.saved_rows.clone_from(&self.system.rows);
    }

    /// Goes back to what was saved.
    pub fn go_back(&mut self) {
        self.v.clone_from(&self.saved_v);
        self.system.rows.clone_from(&self.saved_rows);
        self.system.touch();
    }

    /// Moves the trial poses onto the constraint: x += M⁻¹Jᵀλ with J M⁻¹Jᵀλ = −C, J taken anew in
    /// every step. Velocities do not change.
    pub fn project(&mut self, stage: &Stage) {
        let poses = self.poses.clone();
        let rows = self.system.rows.clone();
        let v = std::mem::take(&mut self.v);
        for _ in 0..STEPS {
            self.poses.clone_from(&self.trial);
            self.v.clear();
            self.v.resize(self.poses.len(), Twist::default());
            self.place(stage);
            let mut worst = 0.0_f64;
            for l in 0..self.system.links.len() {
                let link = self.system.links[l];
                let stiff = self.locals[l].way == Enforcement::Stabilized;
                for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                    let row = &mut self.system.rows[r];
                    let violated = match row.role {
                        Role::Hold => stiff,
                        Role::Low | Role::High => row.error < 0.0,
                        _ => false,
                    };
                    row.status = if violated { Status::Free } else { Status::Off };
                    (row.impulse, row.compliance) = (0.0, 0.0);
                    row.bias = row.error - row.keep;
                    if violated {
                        worst = worst.max(row.bias.abs());
                    }
                }
            }
            if worst <= 1e-10 {
                break;
            }
            self.system.touch();
            self.system.solve(&mut self.v);
            let fastest = self
                .v
                .iter()
                .fold(0.0_f64, |m, v| m.max(v.linear.length()).max(v.angular.length()));
            let share = if fastest > FAR { FAR / fastest } else { 1.0 };
            for (pose, v) in self.trial.iter_mut().zip(&self.v) {
                pose.0 += share * v.linear;
                pose.1 = (rotation_from_vector(share * v.angular) * pose.1).normalize();
            }
        }
        self.poses = poses;
        self.v = v;
        self.system.rows = rows;
        self.place(stage);
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
