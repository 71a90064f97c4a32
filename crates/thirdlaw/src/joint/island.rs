//! The joints of one island, substep by substep: which rows they have, where the rows are, what they
//! want in each stage.
//!
//! A spring–damper or drive with stiffness k and damping d on a coordinate q is a row of the implicit
//! θ-method. With u = J v and x + θ h v the place where the force is taken,
//!
//!   z = θ h (−k (q + θ h u − q*) − d (u − q̇*) + f)    ⇔    u + b + Γ z = 0,
//!   Γ = 1/(θ²h²k + θ h d),   b = Γ θ h (k (q − q*) − d q̇* − f),
//!
//! and (1 − θ)/θ z is given after the move. θ = ½ is the implicit midpoint rule, second order and
//! without damping of its own; θ = 1 is backward Euler, which no stiffness shakes. With
//! α = (h²k + h d) J M⁻¹Jᵀ, θ = ½ + ½ α/(α + 4) is the one or the other where it should be, and keeps
//! the order.

use super::constraint::{MEMBERS_MAX, MemberState, ROWS_MAX};
use super::description::{Enforcement, JointKind};
use super::enforce::{self, Moment};
use super::geometry::Placed;
use super::gradient::Gradient;
use super::model::{JointModel, used_axes};
use super::reading::JointState;
use super::system::{JointRow, Link, Part, Role, Source, Status, System};
use crate::math::{Quat, Twist, Vec3, tangents};
use crate::model::Model;

/// The joints of one island with the memory to solve them.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointIsland {
    pub system: System,
    /// Velocities of all nodes.
    pub v: Vec<Twist>,
    /// Centres and orientations of all nodes.
    pub poses: Vec<(Vec3, Quat)>,
    /// Where they would be at the end of the substep.
    pub trial: Vec<(Vec3, Quat)>,
    /// One per link.
    pub locals: Vec<Local>,
    pub(super) loads: Vec<super::stiffness::Load>,
    /// Moves of a projection.
    pub(super) moves: Vec<Twist>,
    pub(super) kept_poses: Vec<(Vec3, Quat)>,
    pub(super) kept_rows: Vec<JointRow>,
    pub(super) saved_v: Vec<Twist>,
    pub(super) saved_rows: Vec<JointRow>,
}

/// What changes of a joint within a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    /// Coordinates, their rates, breaking: becomes the joint's state.
    pub state: JointState,
    /// Impulse on side b in this substep, N·s.
    pub push: Vec3,
    /// Angular impulse on side b about its anchor in this substep, N·m·s.
    pub turn: Vec3,
    pub way: Enforcement,
    /// Whether it is broken, or gears a joint that is.
    pub idle: bool,
    placed: Placed,
    /// Coordinates and place on a curve at the trial poses.
    tried: ([f64; 6], f64),
}

/// What all stages of a substep know.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub model: &'a Model,
    /// Simulated time at the start of the substep, s.
    pub time: f64,
    /// Length of the substep, s.
    pub h: f64,
    /// Fastest speed at which errors are closed, m/s and rad/s.
    pub speed: f64,
}

/// Compliance of dry friction and motors relative to the response, so that two of them on one
/// coordinate do not contradict each other.
const SLIGHT: f64 = 1e-9;

impl JointIsland {
    /// Adds the rows of a joint whose sides are these nodes.
    pub fn add_joint(
        &mut self,
        joint: &JointModel,
        slot: u32,
        ends: &[u32],
        now: &JointState,
        way: Enforcement,
    ) {
        self.system.add_link(Source::Joint(slot), ends);
        self.locals.push(Local {
            state: *now,
            push: Vec3::ZERO,
            turn: Vec3::ZERO,
            way: joint.joint.enforcement.unwrap_or(way),
            idle: now.broken,
            placed: Placed {
                r_a: Vec3::ZERO,
                r_b: Vec3::ZERO,
                gap: Vec3::ZERO,
                q_a: Quat::IDENTITY,
                q_b: Quat::IDENTITY,
            },
            tried: (now.coordinates, now.place),
        });
        if now.broken {
            return;
        }
        let system = &mut self.system;
        match &joint.joint.kind {
            JointKind::Distance { min, max } if min == max => system.add_row(Role::Hold, 0),
            JointKind::Distance { min, max } => {
                if *min > 0.0 {
                    system.add_row(Role::Low, 0);
                }
                if max.is_finite() {
                    system.add_row(Role::High, 0);
                }
            }
            JointKind::Curve { closed, .. } => {
                system.add_row(Role::Hold, 1);
                system.add_row(Role::Hold, 2);
                if !closed && joint.joint.axes[0].limits.is_none() {
                    system.add_row(Role::Low, 0);
                    system.add_row(Role::High, 0);
                }
            }
            JointKind::Gear { .. } | JointKind::Rack { .. } => system.add_row(Role::Hold, 0),
            JointKind::Spring { .. } => system.add_row(Role::Spring, 0),
            JointKind::AngularSpring { .. } => (3..6).for_each(|i| system.add_row(Role::Spring, i)),
            _ => {
                (0..6).filter(|&i| joint.locked[i]).for_each(|i| system.add_row(Role::Hold, i));
            }
        }
        let used = used_axes(&joint.joint.kind);
        for (i, axis) in joint.joint.axes.iter().enumerate() {
            if joint.locked[i] || !used[i] {
                continue;
            }
            if let Some(limits) = axis.limits {
                if limits.lower.is_finite() {
                    system.add_row(Role::Low, i);
                }
                if limits.upper.is_finite() {
                    system.add_row(Role::High, i);
                }
            }
            if axis.friction > 0.0 {
                system.add_row(Role::Friction, i);
            }
            if axis.spring.is_some() {
                system.add_row(Role::Spring, i);
            }
            match &axis.drive {
                Some(drive) if drive.damping == f64::INFINITY => system.add_row(Role::Motor, i),
                Some(_) => system.add_row(Role::Drive, i),
                None => {}
            }
        }
    }

    /// Adds the rows of a user's constraint.
    pub fn add_constraint(&mut self, rows: usize, slot: u32, ends: &[u32], way: Enforcement) {
        self.system.add_link(Source::Constraint(slot), ends);
        let state = JointState::default();
        let placed = Placed {
            r_a: Vec3::ZERO,
            r_b: Vec3::ZERO,
            gap: Vec3::ZERO,
            q_a: Quat::IDENTITY,
            q_b: Quat::IDENTITY,
        };
        self.locals.push(Local {
            state,
            push: Vec3::ZERO,
            turn: Vec3::ZERO,
            way,
            idle: false,
            placed,
            tried: ([0.0; 6], 0.0),
        });
        (0..rows.min(ROWS_MAX)).for_each(|i| self.system.add_row(Role::Hold, i));
    }

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

    fn place_frames(&mut self, model: &Model, l: usize) {
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

    fn sides(&self, l: usize) -> [usize; 2] {
        let start = self.system.links[l].end_start as usize;
        [self.system.ends[start] as usize, self.system.ends[start + 1] as usize]
    }

    fn place_joint(&mut self, joint: &JointModel, l: usize) {
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
    fn place_gear(&mut self, model: &Model, joint: &JointModel, l: usize) {
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

    /// The link of a joint that is in this island. Links of joints come in the order of slots.
    fn link_of(&self, slot: u32) -> Option<usize> {
        let key = |link: &Link| match link.source {
            Source::Joint(slot) => u64::from(slot),
            Source::Constraint(slot) => 1 << 32 | u64::from(slot),
        };
        self.system.links.binary_search_by_key(&u64::from(slot), key).ok()
    }

    fn place_constraint(&mut self, stage: &Stage, slot: u32, l: usize) {
        let link = self.system.links[l];
        let Some(constraint) = &stage.model.constraints[slot as usize].constraint else { return };
        let (count, rows) = (link.end_count as usize, link.row_count as usize);
        let states = self.members(&link, false);
        let mut by_place = [0.0; 6 * MEMBERS_MAX * ROWS_MAX];
        let mut by_velocity = [0.0; 6 * MEMBERS_MAX * ROWS_MAX];
        let numbers = 6 * count * rows;
        constraint.position_derivative(&states[..count], &mut by_place[..numbers]);
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

    fn members(&self, link: &Link, trial: bool) -> [MemberState; MEMBERS_MAX] {
        let mut states = [MemberState::default(); MEMBERS_MAX];
        let ends = &self.system.ends[link.end_start as usize..][..link.end_count as usize];
        for (state, &end) in states.iter_mut().zip(ends) {
            let end = end as usize;
            let (position, rotation) = if trial { self.trial[end] } else { self.poses[end] };
            *state = MemberState { position, rotation, velocity: self.v[end] };
        }
        states
    }

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
                    constraint.evaluate(&states[..link.end_count as usize], &mut c[..rows]);
                    for (row, c) in
                        self.system.rows[link.row_start as usize..].iter_mut().zip(&c[..rows])
                    {
                        row.error = *c;
                    }
                }
            }
        }
    }

    fn measure_gear(
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

    fn measure_joint(&mut self, joint: &JointModel, l: usize, placed: &Placed) {
        let link = self.system.links[l];
        let (q, place) = self.locals[l].tried;
        // normals stay where the rows are: C is measured along them
        let (frame, at) = (self.locals[l].placed.q_a, self.locals[l].state.place);
        for row in &mut self.system.rows[link.row_start as usize..][..link.row_count as usize] {
            let axis = row.axis as usize;
            let limits = joint.joint.axes[axis].limits;
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
                (Role::Low, _) => q[0.max(axis)] - limits.map_or(0.0, |l| l.lower),
                (Role::High, _) => {
                    let length = joint.curve.as_ref().map_or(0.0, |c| c.length());
                    limits.map_or(length, |l| l.upper) - q[axis]
                }
                (Role::Spring, JointKind::Spring { .. }) => q[0] - joint.rest,
                (Role::Spring, JointKind::AngularSpring { .. }) => q[axis],
                (Role::Spring, _) => {
                    q[axis] - joint.joint.axes[axis].spring.map_or(0.0, |s| s.rest)
                }
                _ => q[axis],
            };
        }
    }

    /// What the rows want before the move: positions at its end that fit.
    pub fn want_positions(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            self.locals[l].idle = self.is_idle(stage.model, l);
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let mut row = self.system.rows[r];
                row.impulse = 0.0;
                row.keep = 0.0;
                (row.lower, row.upper) = (f64::NEG_INFINITY, f64::INFINITY);
                row.compliance = 0.0;
                row.status = Status::Free;
                let response = self.system.response(&link, r);
                match row.role {
                    Role::Hold | Role::Rate => row.status = Status::Off,
                    Role::Low | Role::High => {
                        row.lower = 0.0;
                        row.status = if row.error < 0.0 { Status::Free } else { Status::Lower };
                        row.keep = (row.error + stage.speed * stage.h).min(0.0);
                        row.bias = (row.error - row.keep) / stage.h;
                        row.bounce = self.approach(&link, r, stage);
                    }
                    Role::Spring | Role::Drive | Role::Motor | Role::Friction => {
                        self.want_force(stage, l, &mut row, response);
                    }
                }
                if self.locals[l].idle {
                    row.status = Status::Off;
                }
                self.system.rows[r] = row;
            }
        }
        enforce::act(self, Moment::Before, stage);
        self.aim_rates(stage);
        self.system.touch();
    }

    /// Calls `f` for every row that holds a joint or constraint, at work and held in the way asked for.
    pub(super) fn each_held(
        &mut self,
        ours: impl Fn(&Enforcement) -> bool,
        mut f: impl FnMut(&mut JointIsland, &Link, usize),
    ) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            if !ours(&self.locals[l].way) || self.locals[l].idle {
                continue;
            }
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                if matches!(self.system.rows[r].role, Role::Hold | Role::Rate) {
                    f(self, &link, r);
                }
            }
        }
    }

    /// Which link this is.
    pub(super) fn link_index(&self, link: &Link) -> usize {
        self.system.links.partition_point(|other| other.end_start < link.end_start)
    }

    /// Gives an impulse on a row.
    pub(super) fn give(&mut self, link: &Link, r: usize, z: f64) {
        self.system.apply(link, r, z, &mut self.v);
        self.react(self.link_index(link), r, z);
    }

    /// What springs, drives and friction want before the move.
    fn want_force(&self, stage: &Stage, l: usize, row: &mut JointRow, response: f64) {
        let Source::Joint(slot) = self.system.links[l].source else { return };
        let joint = &stage.model.joints[slot as usize].joint;
        let axis = row.axis as usize;
        let (h, settings) = (stage.h, &joint.axes[axis]);
        match (row.role, &joint.kind) {
            (
                Role::Spring,
                JointKind::Spring { stiffness, damping, .. }
                | JointKind::AngularSpring { stiffness, damping },
            ) => row.soften(h, response, [*stiffness, *damping], [row.error, 0.0]),
            (Role::Spring, _) => {
                if let Some(spring) = settings.spring {
                    row.soften(h, response, [spring.stiffness, spring.damping], [row.error, 0.0]);
                }
            }
            (Role::Drive, _) => {
                let Some(drive) = &settings.drive else { return };
                let gains = [drive.stiffness, drive.damping];
                let theta = theta(h, response, gains);
                let (q, v) = self.target(stage, l, axis, theta * h);
                let extra = drive.damping * v + drive.effort;
                row.soften(h, response, gains, [row.error - q, extra]);
                let most = theta * h * drive.limit;
                (row.lower, row.upper) = (row.lower.max(-most), row.upper.min(most));
                if row.lower > row.upper {
                    // a constant effort beyond the limit
                    let z = row.lower.clamp(-most, most);
                    (row.lower, row.upper) = (z, z);
                }
            }
            (Role::Motor, _) => {
                let limit = settings.drive.as_ref().map_or(0.0, |d| d.limit);
                row.bias = -self.target(stage, l, axis, 0.5 * h).1;
                row.compliance = SLIGHT * response;
                (row.lower, row.upper) = (-0.5 * h * limit, 0.5 * h * limit);
            }
            _ => {
                row.bias = 0.0;
                row.compliance = SLIGHT * response;
                let most = 0.5 * h * settings.friction;
                (row.lower, row.upper) = (-most, most);
            }
        }
    }

    /// Position and velocity wanted of a drive, some time after the start of the substep.
    fn target(&self, stage: &Stage, l: usize, axis: usize, after: f64) -> (f64, f64) {
        if let Some(target) = self.locals[l].state.targets[axis] {
            return target;
        }
        let Source::Joint(slot) = self.system.links[l].source else { return (0.0, 0.0) };
        let drive = &stage.model.joints[slot as usize].joint.axes[axis].drive;
        drive.as_ref().map_or((0.0, 0.0), |d| d.target.at(stage.time + after))
    }

    /// Velocity with which a limit is left again, judged by the velocities that the substep began with.
    fn approach(&self, link: &Link, r: usize, stage: &Stage) -> f64 {
        let Source::Joint(slot) = link.source else { return 0.0 };
        let joint = &stage.model.joints[slot as usize].joint;
        let e = joint.axes[self.system.rows[r].axis as usize].limits.map_or(0.0, |l| l.restitution);
        if e == 0.0 {
            return 0.0;
        }
        let speed = -self.system.rate(link, r, &self.saved_v);
        if speed > 1e-3 { e * speed } else { 0.0 }
    }

    /// Rows of constraints on velocities: w = C(x + h v, v) at the velocities as they are.
    fn aim_rates(&mut self, stage: &Stage) {
        let has_rates = self.system.rows.iter().any(|row| row.role == Role::Rate);
        if has_rates {
            self.try_poses(stage);
            self.aim(stage, true);
        }
    }

    /// Biases that make w the error at the trial poses: the next Newton step. Returns the largest error
    /// of rows that act.
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
                if !one_sided || off < 0.0 || row.status == Status::Free {
                    worst = if off.abs() > worst || off.is_nan() { off.abs() } else { worst };
                }
            }
        }
        worst
    }

    /// Trial poses: where the velocities would take all nodes. Filled by the scheme, which knows how
    /// bodies turn; here point masses and everything that moves straight.
    fn try_poses(&mut self, stage: &Stage) {
        self.trial.clone_from(&self.poses);
        for (pose, v) in self.trial.iter_mut().zip(&self.v) {
            pose.0 += stage.h * v.linear;
            pose.1 = crate::math::rotation_from_vector(stage.h * v.angular) * pose.1;
        }
    }

    /// What the rows want after the move: velocities that fit.
    pub fn want_velocities(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let mut row = self.system.rows[r];
                let before = row.status;
                row.impulse = 0.0;
                row.bias = 0.0;
                row.compliance = 0.0;
                match row.role {
                    Role::Low | Role::High => {
                        // what the move did not meet is not met at its end either
                        row.status =
                            if before == Status::Free { Status::Lower } else { Status::Off };
                        row.bias = -row.bounce;
                    }
                    Role::Motor => {
                        row.bias = -self.target(stage, l, row.axis as usize, stage.h).1;
                        row.compliance = SLIGHT * self.system.response(&link, r);
                        row.status = Status::Free;
                    }
                    Role::Friction => {
                        row.compliance = SLIGHT * self.system.response(&link, r);
                        row.status = Status::Free;
                    }
                    _ => row.status = Status::Off,
                }
                if self.locals[l].idle {
                    row.status = Status::Off;
                }
                self.system.rows[r] = row;
            }
        }
        enforce::act(self, Moment::After, stage);
        self.system.touch();
    }

    /// Coordinates, rates and errors of one joint at the current poses and velocities.
    pub(super) fn read_joint(&mut self, joint: &JointModel, l: usize) {
        let [a, b] = self.sides(l);
        let placed = joint.placed(self.poses[a], self.poses[b]);
        let (va, vb) = (self.v[a], self.v[b]);
        let used = used_axes(&joint.joint.kind);
        let state = &mut self.locals[l].state;
        state.coordinates = joint.coordinates(&placed, &state.coordinates, &mut state.place);
        for i in 0..6 {
            state.rates[i] = if used[i] {
                let g = joint.gradient(&placed, state.place, i);
                g.direction.dot(vb.linear - va.linear) + g.arm_b.dot(vb.angular)
                    - g.arm_a.dot(va.angular)
            } else {
                0.0
            };
        }
        (state.error, state.turn_error) = joint.errors(&placed, state);
    }

    /// Whether a joint, or one that it gears, is broken.
    fn is_idle(&self, model: &Model, l: usize) -> bool {
        let Source::Joint(slot) = self.system.links[l].source else { return false };
        let broken =
            |slot: u32| self.link_of(slot).is_none_or(|other| self.locals[other].state.broken);
        match model.joints[slot as usize].coupling() {
            Some((first, second, _)) => broken(first) || broken(second),
            None => self.locals[l].state.broken,
        }
    }

    /// Gives what springs and drives owe after the move: (1 − θ)/θ of what they gave before it.
    pub fn pay_springs(&mut self) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            let soft = matches!(self.locals[l].way, Enforcement::Soft { .. });
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = self.system.rows[r];
                let owes = matches!(row.role, Role::Spring | Role::Drive)
                    || (soft && row.role == Role::Hold);
                if owes && row.impulse != 0.0 {
                    let z = row.impulse * (1.0 - row.theta) / row.theta;
                    self.system.apply(&link, r, z, &mut self.v);
                    self.react(l, r, z);
                }
            }
        }
    }

    /// Adds the impulses of all rows to the reactions.
    pub fn collect(&mut self) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                self.react(l, r, self.system.rows[r].impulse);
            }
        }
    }

    /// Adds the impulses of all rows, times a factor, to the reactions.
    pub(super) fn collect_scaled(&mut self, factor: f64) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                self.react(l, r, factor * self.system.rows[r].impulse);
            }
        }
    }

    pub(super) fn react(&mut self, l: usize, r: usize, z: f64) {
        let link = self.system.links[l];
        if z == 0.0 || link.end_count != 2 {
            return;
        }
        let part = self.system.jacobian[self.system.parts(&link, r).start + 1];
        let local = &mut self.locals[l];
        local.push += z * part.linear;
        local.turn += z * (part.angular - local.placed.r_b.cross(part.linear));
    }

    /// Ends a substep: reactions become forces, and joints that cannot bear them break.
    pub fn settle(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            let Source::Joint(slot) = self.system.links[l].source else { continue };
            let joint = &stage.model.joints[slot as usize].joint;
            let local = &mut self.locals[l];
            local.state.force = local.push / stage.h;
            local.state.torque = local.turn / stage.h;
            (local.push, local.turn) = (Vec3::ZERO, Vec3::ZERO);
            let state = &mut local.state;
            if state.force.length() > joint.break_force
                || state.torque.length() > joint.break_torque
            {
                state.broken = true;
            }
        }
    }
}

/// θ of a spring on a coordinate with this response.
fn theta(h: f64, response: f64, [stiffness, damping]: [f64; 2]) -> f64 {
    let alpha = (h * h * stiffness + h * damping) * response;
    if alpha.is_finite() { 0.5 + 0.5 * alpha / (alpha + 4.0) } else { 1.0 }
}

impl JointRow {
    /// Makes it the row of a spring–damper that is `off` its rest and pushed by `extra`.
    pub(super) fn soften(
        &mut self,
        h: f64,
        response: f64,
        gains: [f64; 2],
        [off, extra]: [f64; 2],
    ) {
        let [stiffness, damping] = gains;
        self.theta = theta(h, response, gains);
        let step = self.theta * h;
        let stiff = step * step * stiffness + step * damping;
        let push = step * (extra - stiffness * off);
        if stiff * response > 1e-14 {
            self.compliance = 1.0 / stiff;
            self.bias = -push / stiff;
        } else {
            // as good as a constant force
            (self.lower, self.upper) = (push, push);
            self.status = Status::Lower;
        }
    }
}
