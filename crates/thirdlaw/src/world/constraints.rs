//! A user's own constraints of a world: adding and removing.

use super::World;
use super::record::Call;
use crate::ids::{ConstraintId, StaleId};
use crate::joint::geometry::side_pose;
use crate::math::{Twist, Vec3};
use crate::model::ConstraintModel;
use crate::model::joint::constraint::{
    Constraint, MEMBERS_MAX, Member, MemberState, ROWS_MAX, derivative_error,
};
use crate::model::joint::description::Side;
use crate::model::joint::error::JointError;
use crate::model::joint::model::Node;
use std::sync::Arc;

impl World {
    /// Adds a constraint of the user's own. In debug builds its derivatives are compared with finite
    /// differences at the current state, and refused if they are wrong.
    pub fn add_constraint(
        &mut self,
        constraint: Arc<dyn Constraint>,
    ) -> Result<ConstraintId, JointError> {
        self.note(|_| Call::AddConstraint(constraint.name()));
        let members = constraint.members();
        if members.is_empty() || members.len() > MEMBERS_MAX {
            let problem = format!("must be 1 to {MEMBERS_MAX}, not {}", members.len());
            return Err(JointError::new("members", problem));
        }
        if constraint.rows() == 0 || constraint.rows() > ROWS_MAX {
            let problem = format!("must be 1 to {ROWS_MAX}, not {}", constraint.rows());
            return Err(JointError::new("rows", problem));
        }
        let mut nodes = Vec::new();
        for &member in members {
            let side = match member {
                Member::Body(id) => Side::Body(id),
                Member::Point(id) => Side::Point(id),
            };
            let node = self.node("members", side)?;
            if nodes.contains(&node) {
                return Err(JointError::new("members", "name the same thing twice"));
            }
            nodes.push(node);
        }
        if !nodes.iter().any(|&node| self.can_move(node)) {
            return Err(JointError::new("members", "none of them can move"));
        }
        if cfg!(debug_assertions) {
            let states: Vec<_> = nodes.iter().map(|&node| self.member_state(node)).collect();
            let error = derivative_error(&*constraint, &states);
            if error >= 1e-4 || error.is_nan() {
                let problem = format!("differ from finite differences by {error:.1e}");
                return Err(JointError::new("derivatives", problem));
            }
        }
        let slot = self.model.constraints_free.pop();
        let generation = slot.map_or(0, |s| self.model.constraints[s as usize].generation + 1);
        for &node in &nodes {
            if let Node::Body(body) = node {
                self.wake_slot(body as usize);
            }
        }
        let model = ConstraintModel { generation, constraint: Some(constraint), nodes };
        self.model.revision += 1;
        let index = match slot {
            Some(slot) => {
                self.model.constraints[slot as usize] = model;
                slot
            }
            None => {
                self.model.constraints.push(model);
                (self.model.constraints.len() - 1) as u32
            }
        };
        Ok(ConstraintId { index, generation })
    }

    /// Removes a constraint.
    pub fn remove_constraint(&mut self, id: ConstraintId) -> Result<(), StaleId> {
        self.note(|_| Call::RemoveConstraint(id));
        let slot = id.index as usize;
        let found = self.model.constraints.get(slot);
        if !found.is_some_and(|c| c.constraint.is_some() && c.generation == id.generation) {
            return Err(StaleId::of(id));
        }
        self.drop_constraint(slot);
        self.drop_user_data();
        Ok(())
    }

    pub(super) fn drop_constraint(&mut self, slot: usize) {
        for i in 0..self.model.constraints[slot].nodes.len() {
            if let Node::Body(body) = self.model.constraints[slot].nodes[i] {
                self.wake_slot(body as usize);
            }
        }
        self.model.constraints[slot].constraint = None;
        self.model.constraints[slot].nodes.clear();
        self.model.constraints_free.push(slot as u32);
        self.model.revision += 1;
    }

    fn member_state(&self, node: Node) -> MemberState {
        let (position, rotation) = side_pose(&self.state, node);
        let velocity = match node {
            Node::World => Twist::default(),
            Node::Body(i) => self.state.bodies[i as usize].velocity,
            Node::Point(i) => {
                Twist { linear: self.state.points.particles.v[i as usize], angular: Vec3::ZERO }
            }
        };
        MemberState { position, rotation, velocity }
    }
}
