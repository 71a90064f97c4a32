//! How far off the rows of an island's joints are: C at the current poses or at trial ones, and the biases
//! that take it away.

use super::geometry::Placed;
use super::island::{JointIsland, Stage};
use super::system::{Link, Role, Source, Status};
use crate::math::tangents;
use crate::model::Model;
use crate::model::joint::constraint::{MEMBERS_MAX, MemberState, ROWS_MAX};
use crate::model::joint::description::{Enforcement, JointKind};
use crate::model::joint::model::{JointModel, used_axes};

impl JointIsland {
    /// Errors of all rows, at the trial poses or the current ones.
    pub fn measure(&mut self, model: &Model, trial: bool) {
        for l in 0..self.system.links.len() {
            let Source::Joint(slot) = self.system.links[l].source else { continue };
            let joint = &model.joints[slot as usize];
            if joint.coupling().is_some() {
                continue;
            }
            let local = self.locals[l].state;
            let mut tried = (local.coordinates, local.place);
            let mut placed = self.locals[l].placed;
            if trial {
                let [a, b] = self.sides(l);
                placed = joint.placed(self.trial[a], self.trial[b]);
                tried.0 = joint.coordinates(&placed, &local.coordinates, &mut tried.1);
            }
            self.locals[l].tried = tried;
            self.measure_joint(joint, l, &placed);
        }
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            match link.source {
                Source::Joint(slot) => {
                    if let Some(coupling) = model.joints[slot as usize].coupling() {
                        self.measure_gear(model, slot, coupling, &link);
                    }
                }
                Source::Constraint(slot) => {
                    let Some(constraint) = &model.constraints[slot as usize].constraint else {
                        continue;
                    };
                    let states = self.members(&link, trial);
                    let mut c = [0.0; ROWS_MAX];
                    let rows = link.row_count as usize;
                    let time = self.clock[usize::from(trial)];
                    let states = &states[..link.end_count as usize];
                    constraint.evaluate_at(time, states, &mut c[..rows]);
                    for (row, c) in
                        self.system.rows[link.row_start as usize..].iter_mut().zip(&c[..rows])
                    {
                        row.error = *c;
                    }
                }
            }
        }
    }

    pub(super) fn measure_gear(
        &mut self,
        model: &Model,
        slot: u32,
        (first, second, ratio): (u32, u32, f64),
        link: &Link,
    ) {
        let joint = &model.joints[slot as usize];
        let coordinate = |slot: u32| {
            let link = self.link_of(slot)?;
            let axis = model.joints[slot as usize].first_free()?;
            Some(self.locals[link].tried.0[axis])
        };
        let (Some(q1), Some(q2)) = (coordinate(first), coordinate(second)) else { return };
        let rows = link.row_start as usize..(link.row_start + link.row_count) as usize;
        for row in &mut self.system.rows[rows] {
            row.error = q2 - ratio * q1 - joint.rest;
        }
    }

    pub(super) fn measure_joint(&mut self, joint: &JointModel, l: usize, placed: &Placed) {
        let link = self.system.links[l];
        let (q, place) = self.locals[l].tried;
        // normals stay where the rows are: C is measured along them
        let (frame, at) = (self.locals[l].placed.q_a, self.locals[l].state.place);
        for row in &mut self.system.rows[link.row_start as usize..][..link.row_count as usize] {
            let axis = row.axis as usize;
            // read only by the rows that have them: a chain of many links lives on few bytes a link
            let limits = || joint.joint.axes[axis].limits;
            row.error = match (row.role, &joint.joint.kind) {
                (Role::Hold, JointKind::Distance { min, .. }) => q[0] - min,
                (Role::Low, JointKind::Distance { min, .. }) => q[0] - min,
                (Role::High, JointKind::Distance { max, .. }) => max - q[0],
                (Role::Hold, JointKind::Curve { .. }) => {
                    let Some(curve) = &joint.curve else { continue };
                    let gap = placed.gap - placed.q_a * curve.place(place).point;
                    let normals = tangents(frame * joint.curve_tangent(at));
                    gap.dot([normals.0, normals.1][axis - 1])
                }
                (Role::Hold, _) => q[axis],
                (Role::Low, _) if joint.has_ends() => {
                    q[0] - limits().map_or(0.0, |l| l.lower.max(0.0))
                }
                (Role::High, _) if joint.has_ends() => {
                    let length = joint.curve_length().unwrap_or(0.0);
                    limits().map_or(length, |l| l.upper.min(length)) - q[0]
                }
                (Role::Low, _) => q[axis] - limits().map_or(0.0, |l| l.lower),
                (Role::High, _) => limits().map_or(0.0, |l| l.upper) - q[axis],
                (Role::Spring, JointKind::Spring { .. }) => q[0] - joint.rest,
                (Role::Spring, JointKind::AngularSpring { .. }) => q[axis],
                (Role::Spring, _) => {
                    q[axis] - joint.joint.axes[axis].spring.map_or(0.0, |s| s.rest)
                }
                _ => q[axis],
            };
        }
    }

    /// Rows of constraints on velocities: w = C(x + h v, v) at the velocities as they are.
    pub(super) fn aim_rates(&mut self, stage: &Stage) {
        let has_rates = self.system.rows.iter().any(|row| row.role == Role::Rate);
        if has_rates {
            self.try_poses(stage);
            self.aim(stage, true);
        }
    }

    /// Biases that make w the error at the trial poses: the next Newton step. Returns the largest error
    /// of rows that act, lengths as those of bodies half a metre across.
    pub fn aim(&mut self, stage: &Stage, rates_only: bool) -> f64 {
        self.measure(stage.model, true);
        let mut worst = 0.0_f64;
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            let stiff = self.locals[l].way == Enforcement::Stabilized;
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = self.system.rows[r];
                let acts = match row.role {
                    Role::Hold => stiff && !rates_only,
                    Role::Rate => stiff,
                    Role::Low | Role::High => !rates_only,
                    _ => false,
                };
                if !acts || row.status == Status::Off {
                    continue;
                }
                let rate = self.system.rate(&link, r, &self.v);
                let off = row.error - row.keep;
                let wanted = if row.role == Role::Rate { row.error } else { off / stage.h };
                self.system.rows[r].bias = wanted - rate;
                let one_sided = matches!(row.role, Role::Low | Role::High);
                let off = off / stage.pace.way(self.turns(stage.model, &link, r), 1.0);
                if !one_sided || off < 0.0 || row.status == Status::Free {
                    worst = if off.abs() > worst || off.is_nan() { off.abs() } else { worst };
                }
            }
        }
        worst
    }

    /// Trial poses: where the velocities would take all nodes. Filled by the scheme, which knows how
    /// bodies turn; here point masses and everything that moves straight.
    pub(super) fn try_poses(&mut self, stage: &Stage) {
        self.trial.clone_from(&self.poses);
        for (pose, v) in self.trial.iter_mut().zip(&self.v) {
            pose.0 += stage.h * v.linear;
            pose.1 = crate::math::rotation_from_vector(stage.h * v.angular) * pose.1;
        }
    }

    /// Coordinates, rates and errors of one joint at the current poses and velocities.
    pub(super) fn read_joint(&mut self, joint: &JointModel, l: usize) {
        let [a, b] = self.sides(l);
        let placed = joint.placed(self.poses[a], self.poses[b]);
        let (va, vb) = (self.v[a], self.v[b]);
        let used = used_axes(&joint.joint.kind);
        let state = &mut self.locals[l].state;
        state.coordinates = joint.coordinates(&placed, &state.coordinates, &mut state.place);
        let place = state.place;
        let rate = |i: usize| {
            let g = joint.gradient(&placed, place, i);
            g.direction.dot(vb.linear - va.linear) + g.arm_b.dot(vb.angular)
                - g.arm_a.dot(va.angular)
        };
        for (i, (out, used)) in state.rates.iter_mut().zip(used).enumerate() {
            *out = if used { rate(i) } else { 0.0 };
        }
        (state.error, state.turn_error) = joint.errors(&placed, state);
    }

    pub(super) fn members(&self, link: &Link, trial: bool) -> [MemberState; MEMBERS_MAX] {
        let mut states = [MemberState::default(); MEMBERS_MAX];
        let ends = &self.system.ends[link.end_start as usize..][..link.end_count as usize];
        for (state, &end) in states.iter_mut().zip(ends) {
            let end = end as usize;
            let (position, rotation) = if trial { self.trial[end] } else { self.poses[end] };
            *state = MemberState { position, rotation, velocity: self.v[end] };
        }
        states
    }
}
