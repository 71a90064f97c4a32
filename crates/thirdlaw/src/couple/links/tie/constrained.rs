//! One side of ties constrained to the motion of the other: by prescribed handles, or by a constraint that
//! it holds by value and derivatives [baraff1997 §2.5]. What that takes is λ⁽ʳ⁾ of
//! A λ⁽ʳ⁾ = D − B λ, so that such steps also give A⁻¹ for a preconditioner (§2.3).

use super::constraint::{Tie, TieKind};
use super::{ConstrainedSide, TIE_ROWS, TieLink};
use crate::couple::component::{Component, Step};
use crate::couple::error::{CoupleError, SimulatorProblem};
use crate::couple::member::Member;
use crate::math::{Vec3, rotation_from_vector};
use crate::simulator::{Motion, StepConstraint, Wrench};

/// A tie of two points as a constraint on one of its sides, the other moving from `starts` to `now`.
pub(crate) fn constraint_on(
    tie: &Tie,
    side: usize,
    starts: &[Motion; 2],
    now: &[Motion; 2],
) -> StepConstraint {
    let (own, other) = (&tie.anchors[side], &tie.anchors[1 - side]);
    // C is the first point less the second
    let sign = if side == 0 { 1.0 } else { -1.0 };
    let arm = own.turned_arm(&starts[side], Vec3::ZERO);
    let turning = starts[side].velocity.angular.cross(arm);
    let mut value = vec![0.0; 3];
    tie.gap(starts, &mut value);
    let by_turn = |r: Vec3| [[0.0, r.z, -r.y], [-r.z, 0.0, r.x], [r.y, -r.x, 0.0]];
    let (turn, turn_rate) = (by_turn(arm), by_turn(turning));
    let (mut jacobian, mut jacobian_rate) = (vec![0.0; 18], vec![0.0; 18]);
    for row in 0..3 {
        jacobian[6 * row + row] = sign;
        for k in 0..3 {
            jacobian[6 * row + 3 + k] = sign * turn[row][k];
            jacobian_rate[6 * row + 3 + k] = sign * turn_rate[row][k];
        }
    }
    let [from, to] = [&starts[1 - side], &now[1 - side]];
    let way = |v: Vec3| (-sign * v).to_array().to_vec();
    StepConstraint {
        handles: vec![own.handle],
        value,
        jacobian,
        jacobian_rate,
        drift_rates: [way(other.velocity(from)), way(other.velocity(to))],
        drift: way(other.point(to) - other.point(from)),
    }
}

/// How the handle on this side must end for its anchor to end where the other's does.
fn target(tie: &Tie, side: usize, now: &[Motion; 2], starts: &[Motion; 2]) -> Motion {
    let (own, other) = (&tie.anchors[side], &tie.anchors[1 - side]);
    let (leader, mut end) = (&now[1 - side], starts[side]);
    if tie.kind == TieKind::Frame {
        let turn = leader.rotation * other.frame.rotation * own.frame.rotation.conjugate();
        end.rotation = turn.normalize();
        end.velocity.angular = leader.velocity.angular;
    }
    let (arm, reach) =
        (end.rotation * own.frame.translation, leader.rotation * other.frame.translation);
    let at = |v: Vec3, w: Vec3, r: Vec3| v + w.cross(r);
    end.position = leader.position + reach - arm;
    end.velocity.linear = at(leader.velocity.linear, leader.velocity.angular, reach)
        - end.velocity.angular.cross(arm);
    end
}

impl Member {
    /// Gives the simulator the constraints of the coming step.
    pub fn send_constraints(&mut self) -> Result<(), CoupleError> {
        let constraints = std::mem::take(&mut self.constraints);
        for constraint in &constraints {
            if !self.ask("constrain", |s| s.constrain(constraint))? {
                return Err(self.error(SimulatorProblem::BrokenPromise { promise: "constrain" }));
            }
        }
        self.constraints = constraints;
        Ok(())
    }

    /// Reads what they took.
    pub fn read_multipliers(&mut self) -> Result<(), CoupleError> {
        self.multipliers.clear();
        for (i, constraint) in self.constraints.iter().enumerate() {
            let mut lambda = [0.0; TIE_ROWS];
            let rows = constraint.value.len().min(TIE_ROWS);
            if !self.look("multipliers", |s| s.multipliers(i, &mut lambda[..rows]))? {
                return Err(self
                    .error(SimulatorProblem::BrokenPromise { promise: "report its multipliers" }));
            }
            if !lambda.iter().all(|x| x.is_finite()) {
                return Err(
                    self.error(SimulatorProblem::NotFinite { handle: constraint.handles[0] })
                );
            }
            self.multipliers.push(lambda);
        }
        Ok(())
    }
}

impl Component {
    /// Steps a member whose sides of some ties follow the other, where the others end as `leaders` say, under λ
    /// at all its other ties; writes what following took into `image`.
    pub fn step_constrained(
        &mut self,
        step: &mut Step<'_>,
        member: usize,
        (lambda, leaders): (&[f64], &[[Motion; 2]]),
        image: &mut [f64],
    ) -> Result<(), CoupleError> {
        let (roles, by_constraint) = match &self.measured {
            Some(m) => (m.roles.clone(), m.by_constraint.clone()),
            None => return Ok(()),
        };
        let follows =
            |tie: usize, side: usize| roles[tie].is_some_and(|(follower, _)| follower == side);
        step.members[member].restore()?;
        self.push_ties(step, member, lambda, |tie, side| !follows(tie, side));
        let mut followed = Vec::new();
        for (i, link) in self.ties.iter().enumerate() {
            let Some(side) = (0..2).find(|&side| follows(i, side)) else { continue };
            let anchor = link.tie.anchors[side];
            if anchor.simulator != member {
                continue;
            }
            let member = &mut step.members[member];
            if by_constraint[i] {
                followed.push((i, side, member.constraints.len()));
                member.constraints.push(constraint_on(&link.tie, side, &link.starts, &leaders[i]));
            } else {
                followed.push((i, side, member.prescribed.len()));
                let target = target(&link.tie, side, &leaders[i], &link.starts);
                member.prescribed.push((anchor.handle, target));
            }
        }
        step.members[member].advance(step.dt)?;
        let rows = self.rows();
        for (i, side, k) in followed {
            let link = &mut self.ties[i];
            let count = link.tie.rows();
            let (needed, wrench) = if by_constraint[i] {
                let lambda = step.members[member].multipliers[k];
                let wrenches = link.tie.wrenches(&lambda[..count], &link.starts, &link.turns);
                (lambda, wrenches[side])
            } else {
                let wrench = step.members[member].constraint_forces[k];
                let sign = if side == 0 { 1.0 } else { -1.0 };
                let arm = link.tie.anchors[side].turned_arm(&link.starts[side], link.turns[side]);
                let torque = wrench.torque - arm.cross(wrench.force);
                (Wrench { force: wrench.force, torque }.scaled(sign).to_array(), wrench)
            };
            link.constrained = Some(ConstrainedSide { side, wrench });
            image[rows[i]..rows[i] + count].copy_from_slice(&needed[..count]);
        }
        Ok(())
    }

    /// Whether all ties have a side that follows, and none is moved in two ways.
    pub fn all_follow(&self) -> bool {
        let Some(measured) = &self.measured else { return false };
        let mut moved = Vec::new();
        for ((link, role), by_constraint) in
            self.ties.iter().zip(&measured.roles).zip(&measured.by_constraint)
        {
            let Some((side, _)) = role else { return false };
            if !by_constraint {
                let anchor = &link.tie.anchors[*side];
                moved.push((anchor.simulator, anchor.handle));
            }
        }
        let count = moved.len();
        moved.sort_unstable();
        moved.dedup();
        moved.len() == count
    }

    /// Members that follow another at some tie.
    fn followers(&self) -> Vec<usize> {
        let Some(measured) = &self.measured else { return Vec::new() };
        let roles = self.ties.iter().zip(&measured.roles);
        let mut found: Vec<usize> = roles
            .filter_map(|(link, role)| role.map(|(side, _)| link.tie.anchors[side].simulator))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// λ that the followers need where the leaders end as `leaders` say, shifted by what changes the
    /// residual of every row by `shift`, m/s and rad/s.
    pub fn needed(
        &mut self,
        step: &mut Step<'_>,
        lambda: &[f64],
        leaders: &[[Motion; 2]],
        shift: &[f64],
    ) -> Result<Vec<f64>, CoupleError> {
        let mut leaders = leaders.to_vec();
        let rows = self.rows();
        if let Some(measured) = &self.measured {
            for (i, TieLink { tie, .. }) in self.ties.iter().enumerate() {
                let Some((side, _)) = measured.roles[i] else { continue };
                let sign = if side == 0 { 1.0 } else { -1.0 };
                let (reach, kappa) = (measured.reach[i].max(0.1), measured.kappa[i]);
                let change = Wrench::from_slice(&shift[rows[i]..rows[i] + tie.rows()]);
                let change = change.scaled(sign / (reach + kappa));
                // the anchor itself moves and turns by what was asked for
                let (anchor, leader) = (&tie.anchors[1 - side], &mut leaders[i][1 - side]);
                let point = anchor.point(leader) + step.dt * reach * change.force;
                let velocity = anchor.velocity(leader) + change.force;
                if tie.kind == TieKind::Frame {
                    let turn = rotation_from_vector(step.dt * reach * change.torque);
                    leader.rotation = (turn * leader.rotation).normalize();
                    leader.velocity.angular += change.torque;
                }
                let arm = anchor.turned_arm(leader, Vec3::ZERO);
                leader.position = point - arm;
                leader.velocity.linear = velocity - leader.velocity.angular.cross(arm);
            }
        }
        let mut image = lambda.to_vec();
        for member in self.followers() {
            self.step_constrained(step, member, (lambda, &leaders), &mut image)?;
        }
        Ok(image)
    }
}
