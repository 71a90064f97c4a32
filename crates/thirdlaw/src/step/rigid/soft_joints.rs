//! Many contacts and joints in one island at the speed of contacts alone: a heap of ragdolls.
//!
//! Joints are rows among those of the contacts, and each substep of h seconds is that of islands without
//! joints (`substep`), after Catto's soft step (Solver2D, 2024):
//!
//!   v⁰ = v + h M⁻¹ f_e                 forces
//!   J v + β C/h = 0                    rows that take a part β of their error away: v^p
//!   J v = 0                            the same rows without the push: v
//!   x ← x + h v^p                      positions
//!
//! A limit that is open lets its coordinate approach by C/h. Both solves go over all rows a few times from
//! the impulses of the last substep; what they leave over is taken up by the next substep, so gaps stay
//! small (millimetres in a heap) but are never zero. Velocities that stay have seen no push, so that
//! closing gaps adds no energy. Impulses are carried from step to step in the joint's reaction.
//!
//! Where exactness is asked for or needed (`classify_joints`) joints are solved by factorization instead.

use super::substep::{Changed, IslandScratch, Members, Setting, SolveTotals};
use crate::contact;
use crate::joint::island::{Pace, Stage};
use crate::joint::system::{Role, Status};
use crate::step::classify::{Facts, effort};

/// β: part of an error that is taken away in a substep.
const PUSH: f64 = 0.6;
/// Passes over all rows at least, with the push and without.
const PASSES: [u32; 2] = [4, 2];

impl IslandScratch {
    /// Advances an island by a step; its members have been gathered and joints are rows of the problem.
    pub(crate) fn solve_soft_joints(
        &mut self,
        setting: Setting,
        members: Members,
        changed: Changed,
    ) -> SolveTotals {
        let (model, state, settings, dt) = setting;
        let h = dt / f64::from(settings.substeps);
        let mut totals = SolveTotals { path: self.path, ..SolveTotals::default() };
        let rows = self.problem.rows.len();
        let facts = Facts::of_bodies(model, state, members.bodies);
        let mut push = effort(&facts, &settings.contact, settings.contact.iterations, rows);
        let mut relax = effort(&facts, &settings.contact, settings.contact.relax_iterations, rows);
        push.iterations = push.iterations.max(PASSES[0]);
        relax.iterations = relax.iterations.max(PASSES[1]);
        let count = members.bodies.len();
        let (path, pace) = (totals.path, Pace::of(facts.speed_scale));
        for substep in 0..settings.substeps {
            let time = state.time + f64::from(substep) * h;
            let stage = Stage { model, time, h, pace };
            self.apply_forces(setting, count, time, h);
            self.set_kinematic_velocities(setting, count, (substep, settings.substeps));
            self.place_soft_rows(&stage, substep == 0);
            self.place_rows(state, &settings.contact, h);
            self.bounce(&settings.contact, h, 0.5);
            contact::refresh(&self.problem, &mut self.solver);
            contact::warm_start(&self.problem, &mut self.velocities, &self.impulses);
            self.warm_resistances();
            totals.add(self.solve_resisting(&push));
            self.pushed.clone_from(&self.velocities.bodies);
            self.relax_soft_rows(h);
            self.relax_rows(h);
            totals.add(self.solve_resisting(&relax));
            self.book_soft_rows(&stage);
            self.move_bodies(setting, count, substep, h);
        }
        totals.path = path;
        for (pose, local) in self.joints.poses.iter_mut().zip(&self.bodies) {
            *pose = (local.position, local.rotation);
        }
        self.write_back(model, (0, 0), changed.bodies, changed.impulses);
        self.write_joints(setting, members, changed.joints, changed.points);
        totals
    }

    /// Rows of joints at the poses as they are, with the push; at the first substep also the impulses
    /// of the last step.
    fn place_soft_rows(&mut self, stage: &Stage, first_substep: bool) {
        let Some(first) = self.first_joint_row else { return };
        let h = stage.h;
        for (pose, local) in self.joints.poses.iter_mut().zip(&self.bodies) {
            *pose = (local.position, local.rotation);
        }
        self.joints.place(stage);
        let joints = &mut self.joints;
        for l in 0..joints.system.links.len() {
            let link = joints.system.links[l];
            let idle = joints.is_idle(stage.model, l);
            joints.locals[l].idle = idle;
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let friction = joints.friction(stage.model, l, r);
                let most = stage.pace.closing(joints.turns(stage.model, &link, r), 1.0);
                let row = &mut joints.system.rows[r];
                row.compliance = 0.0;
                row.status = if idle { Status::Off } else { Status::Free };
                (row.lower, row.upper) = (f64::NEG_INFINITY, f64::INFINITY);
                row.bias = (PUSH * row.error / h).clamp(-most, most);
                match row.role {
                    Role::Low | Role::High => {
                        row.lower = 0.0;
                        if row.error > 0.0 {
                            row.bias = row.error / h;
                        }
                    }
                    Role::Friction => {
                        row.bias = 0.0;
                        (row.lower, row.upper) = (-h * friction, h * friction);
                    }
                    _ => {}
                }
                if first_substep {
                    self.impulses[first + r] = joints.carried(l, r, h);
                }
            }
        }
        joints.system.write_rows(&mut self.problem.rows[first..]);
        let rows = &self.problem.rows[first..];
        for (z, row) in self.impulses[first..].iter_mut().zip(rows) {
            if let contact::Bound::Interval { lower, upper } = row.bound {
                *z = z.max(lower).min(upper);
            }
        }
    }

    /// Takes the push away.
    fn relax_soft_rows(&mut self, h: f64) {
        let Some(first) = self.first_joint_row else { return };
        for (row, out) in self.joints.system.rows.iter().zip(&mut self.problem.rows[first..]) {
            let open = matches!(row.role, Role::Low | Role::High) && row.error > 0.0;
            out.bias = if open { row.error / h } else { 0.0 };
        }
    }

    /// Impulses become reactions, and joints that cannot bear them break.
    fn book_soft_rows(&mut self, stage: &Stage) {
        let Some(first) = self.first_joint_row else { return };
        self.joints.system.read_impulses(&self.impulses[first..]);
        self.joints.collect(stage.model);
        self.joints.settle(stage);
    }
}

impl crate::joint::island::JointIsland {
    /// Dry friction on the coordinate of a row, N or N·m.
    fn friction(&self, model: &crate::model::Model, l: usize, r: usize) -> f64 {
        match self.system.links[l].source {
            crate::joint::system::Source::Joint(slot) => {
                let axis = self.system.rows[r].axis as usize;
                model.joints[slot as usize].joint.axes[axis].friction
            }
            _ => 0.0,
        }
    }

    /// The impulse of a row in h seconds that the last reaction of its joint tells of.
    fn carried(&self, l: usize, r: usize, h: f64) -> f64 {
        let (link, local) = (&self.system.links[l], &self.locals[l]);
        let part = self.system.jacobian[self.system.parts(link, r).start + 1];
        let (along, about) = (part.linear.length_squared(), part.angular.length_squared());
        let z = if along > 0.0 {
            local.state.force.dot(part.linear) / along
        } else {
            local.state.torque.dot(part.angular) / about.max(1e-30)
        };
        if z.is_finite() { h * z } else { 0.0 }
    }
}
