//! What the rows of an island's joints want before and after the move.
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

use super::enforce::{self, Moment};
use super::island::{JointIsland, Stage};
use super::system::{JointRow, Link, Role, Source, Status};
use crate::model::joint::constraint::ROWS_MAX;
use crate::model::joint::description::{Enforcement, JointKind};

/// Compliance of dry friction and motors relative to the response, so that two of them on one
/// coordinate do not contradict each other.
const SLIGHT: f64 = 1e-9;

/// Slowest approach to a limit that is bounced off, m/s and rad/s.
const BOUNCING: f64 = 1e-3;

impl JointIsland {
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
                row.pushed = false;
                let response = self.system.response(&link, r);
                match row.role {
                    Role::Hold | Role::Rate => row.status = Status::Off,
                    Role::Low | Role::High => {
                        row.lower = 0.0;
                        row.status = if row.error < 0.0 { Status::Free } else { Status::Lower };
                        let turns = self.turns(stage.model, &link, r);
                        row.pushed = row.error < 0.0;
                        row.keep = (row.error + stage.pace.closing(turns, stage.h)).min(0.0);
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
        self.system.web.moment = Some(0);
    }

    /// What springs, drives and friction want before the move.
    pub(super) fn want_force(&self, stage: &Stage, l: usize, row: &mut JointRow, response: f64) {
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
    pub(super) fn target(&self, stage: &Stage, l: usize, axis: usize, after: f64) -> (f64, f64) {
        if let Some(target) = self.locals[l].state.targets[axis] {
            return target;
        }
        let Source::Joint(slot) = self.system.links[l].source else { return (0.0, 0.0) };
        let drive = &stage.model.joints[slot as usize].joint.axes[axis].drive;
        drive.as_ref().map_or((0.0, 0.0), |d| d.target.at(stage.time + after))
    }

    /// Velocity with which a limit is left again, judged by the velocities that the substep began with.
    pub(super) fn approach(&self, link: &Link, r: usize, stage: &Stage) -> f64 {
        let Source::Joint(slot) = link.source else { return 0.0 };
        let joint = &stage.model.joints[slot as usize].joint;
        let e = joint.axes[self.system.rows[r].axis as usize].limits.map_or(0.0, |l| l.restitution);
        if e == 0.0 {
            return 0.0;
        }
        let speed = -self.system.rate(link, r, &self.saved_v);
        let least = stage.pace.rate(self.turns(stage.model, link, r), BOUNCING);
        if speed > least { e * speed } else { 0.0 }
    }

    /// What the rows want after the move: velocities that fit.
    pub fn want_velocities(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let mut row = self.system.rows[r];
                let (before, given) = (row.status, row.impulse);
                row.impulse = 0.0;
                row.bias = 0.0;
                row.compliance = 0.0;
                match row.role {
                    Role::Low | Role::High => {
                        // what the move did not meet is not met at its end either
                        row.status =
                            if before == Status::Free { Status::Lower } else { Status::Off };
                        row.bias = -row.bounce;
                        // what pushed it back behind the limit is not to stay
                        row.lower = if row.pushed { -given.max(0.0) } else { 0.0 };
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
        self.want_rates_of_time(stage);
        self.system.touch();
        self.system.web.moment = Some(1);
    }

    /// Constraints that change with time: J v = −∂C/∂t instead of zero.
    pub(super) fn want_rates_of_time(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            let rates = self.rates_of_time(stage, &link);
            let rows = &mut self.system.rows[link.row_start as usize..][..link.row_count as usize];
            for (row, rate) in rows.iter_mut().zip(rates).filter(|(row, _)| row.role == Role::Hold)
            {
                row.bias += rate;
            }
        }
    }

    /// ∂C/∂t of a link's rows at the end of the substep; zero for all but a user's own constraints.
    pub(super) fn rates_of_time(&self, stage: &Stage, link: &Link) -> [f64; ROWS_MAX] {
        let mut rates = [0.0; ROWS_MAX];
        if let Source::Constraint(slot) = link.source
            && let Some(constraint) = &stage.model.constraints[slot as usize].constraint
        {
            let states = self.members(link, false);
            let (count, ends) = (link.row_count as usize, link.end_count as usize);
            constraint.time_derivative(self.clock[1], &states[..ends], &mut rates[..count]);
        }
        rates
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
