//! Where the rows of an island's joints are: J at the current poses.

use super::gradient::Gradient;
use super::island::{JointIsland, Stage};
use super::system::{Part, Role, Source};
use crate::math::{Vec3, tangents};
use crate::model::Model;
use crate::model::joint::constraint::{MEMBERS_MAX, ROWS_MAX};
use crate::model::joint::model::JointModel;

impl JointIsland {
    /// J and errors of all rows at the current poses and velocities.
    pub fn place(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            self.place_frames(stage.model, l);
        }
        for l in 0..self.system.links.len() {
            match self.system.links[l].source {
                Source::Joint(slot) => {
                    let joint = &stage.model.joints[slot as usize];
                    if joint.coupling().is_some() {
                        self.place_gear(stage.model, joint, l);
                    } else {
                        self.place_joint(joint, l);
                    }
                }
                Source::Constraint(slot) => self.place_constraint(stage, slot, l),
            }
        }
        self.measure(stage.model, false);
        self.system.touch();
    }

    /// The same of one link.
    pub(super) fn place_one(&mut self, stage: &Stage, l: usize) {
        match self.system.links[l].source {
            Source::Joint(slot) if stage.model.joints[slot as usize].coupling().is_none() => {
                let joint = &stage.model.joints[slot as usize];
                self.place_frames(stage.model, l);
                self.place_joint(joint, l);
                self.locals[l].tried =
                    (self.locals[l].state.coordinates, self.locals[l].state.place);
                let placed = self.locals[l].placed;
                self.measure_joint(joint, l, &placed);
                self.system.touch();
            }
            _ => self.place(stage),
        }
    }

    pub(super) fn place_frames(&mut self, model: &Model, l: usize) {
        let Source::Joint(slot) = self.system.links[l].source else { return };
        let joint = &model.joints[slot as usize];
        if joint.coupling().is_some() {
            return;
        }
        let [a, b] = self.sides(l);
        let placed = joint.placed(self.poses[a], self.poses[b]);
        let local = &mut self.locals[l];
        local.placed = placed;
        let now = &mut local.state;
        now.coordinates = joint.coordinates(&placed, &now.coordinates, &mut now.place);
    }

    pub(super) fn place_joint(&mut self, joint: &JointModel, l: usize) {
        let link = self.system.links[l];
        let local = &self.locals[l];
        let (placed, place) = (&local.placed, local.state.place);
        for r in 0..link.row_count as usize {
            let row = &self.system.rows[link.row_start as usize + r];
            let axis = row.axis as usize;
            let mut gradient = if joint.curve.is_some() && axis > 0 {
                let normals = tangents(placed.q_a * joint.curve_tangent(place));
                Gradient::along([normals.0, normals.1][axis - 1], placed)
            } else {
                joint.gradient(placed, place, axis)
            };
            if row.role == Role::High {
                gradient = Gradient {
                    direction: -gradient.direction,
                    arm_a: -gradient.arm_a,
                    arm_b: -gradient.arm_b,
                };
            }
            let parts = &mut self.system.jacobian[link.jacobian_start as usize + 2 * r..][..2];
            parts[0] = Part { linear: -gradient.direction, angular: -gradient.arm_a };
            parts[1] = Part { linear: gradient.direction, angular: gradient.arm_b };
        }
    }

    /// J of q₂ − ratio·q₁.
    pub(super) fn place_gear(&mut self, model: &Model, joint: &JointModel, l: usize) {
        let link = self.system.links[l];
        let Some((first, second, ratio)) = joint.coupling() else { return };
        let width = link.end_count as usize;
        let range = link.jacobian_start as usize..link.jacobian_start as usize + width;
        self.system.jacobian[range.clone()].fill(Part::default());
        for (slot, factor) in [(first, -ratio), (second, 1.0)] {
            let Some(other) = self.link_of(slot) else { continue };
            let geared = &model.joints[slot as usize];
            let Some(axis) = geared.first_free() else { continue };
            let local = &self.locals[other];
            let g = geared.gradient(&local.placed, local.state.place, axis);
            let [a, b] = self.sides(other);
            let ends = &self.system.ends[link.end_start as usize..][..width];
            for (node, sign, arm) in [(a, -factor, g.arm_a), (b, factor, g.arm_b)] {
                if let Some(e) = ends.iter().position(|&end| end as usize == node) {
                    let part = &mut self.system.jacobian[range.start + e];
                    part.linear += sign * g.direction;
                    part.angular += sign * arm;
                }
            }
        }
    }

    pub(super) fn place_constraint(&mut self, stage: &Stage, slot: u32, l: usize) {
        let link = self.system.links[l];
        let Some(constraint) = &stage.model.constraints[slot as usize].constraint else { return };
        let (count, rows) = (link.end_count as usize, link.row_count as usize);
        let states = self.members(&link, false);
        let mut by_place = [0.0; 6 * MEMBERS_MAX * ROWS_MAX];
        let mut by_velocity = [0.0; 6 * MEMBERS_MAX * ROWS_MAX];
        let numbers = 6 * count * rows;
        let time = self.clock[0];
        constraint.position_derivative_at(time, &states[..count], &mut by_place[..numbers]);
        constraint.velocity_derivative(&states[..count], &mut by_velocity[..numbers]);
        for r in 0..rows {
            let of_row = 6 * count * r..6 * count * (r + 1);
            let rate = by_velocity[of_row.clone()].iter().any(|&x| x != 0.0);
            self.system.rows[link.row_start as usize + r].role =
                if rate { Role::Rate } else { Role::Hold };
            for e in 0..count {
                let at = of_row.start + 6 * e;
                let entry = |k: usize| {
                    if rate {
                        stage.h * by_place[at + k] + by_velocity[at + k]
                    } else {
                        by_place[at + k]
                    }
                };
                self.system.jacobian[link.jacobian_start as usize + r * count + e] = Part {
                    linear: Vec3::new(entry(0), entry(1), entry(2)),
                    angular: Vec3::new(entry(3), entry(4), entry(5)),
                };
            }
        }
    }
}
