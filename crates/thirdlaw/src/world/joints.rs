//! Joints of a world: adding, editing, reading.

use super::World;
use super::record::Call;
use crate::ids::{JointId, StaleId};
use crate::joint::geometry::side_pose;
use crate::math::{Pose, Vec3};
use crate::model::body::BodyKind;
use crate::model::joint::axis::Axis;
use crate::model::joint::curve::Curve;
use crate::model::joint::description::{Frame, Joint, JointKind, Side};
use crate::model::joint::drive::Drive;
use crate::model::joint::error::JointError;
use crate::model::joint::model::{
    JointModel, Node, check_drive, check_joint, check_use, locked_axes,
};
use crate::state::joint::{JointReading, JointState};

impl World {
    /// Adds a joint; refused, with the field named, if it cannot be held.
    pub fn add_joint(&mut self, joint: Joint) -> Result<JointId, JointError> {
        self.note(|_| Call::AddJoint(joint.clone()));
        check_joint(&joint)?;
        let locked = locked_axes(&joint);
        check_use(&joint, &locked)?;
        let slot = self.model.joints_free.last().copied();
        let generation = slot.map_or(0, |s| self.model.joints[s as usize].generation + 1);
        let mut model = self.place_joint(joint, locked, generation)?;
        let state = self.first_state(&mut model)?;
        self.model.revision += 1;
        let index = match slot {
            Some(slot) => {
                self.model.joints_free.pop();
                self.model.joints[slot as usize] = model;
                self.state.joints[slot as usize] = state;
                slot
            }
            None => {
                self.model.joints.push(model);
                self.state.joints.push(state);
                (self.model.joints.len() - 1) as u32
            }
        };
        self.wake_joined(index as usize);
        Ok(JointId { index, generation })
    }

    /// Removes a joint, and the gears that turn with it; its id is refused from now on.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), StaleId> {
        self.note(|_| Call::RemoveJoint(id));
        let slot = self.joint_slot(id)?;
        self.drop_joint(slot);
        self.drop_user_data();
        Ok(())
    }

    /// Ids of all joints, in slot order. Broken ones are among them.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        let joints = self.model.joints.iter().enumerate().filter(|(_, j)| j.alive);
        joints.map(|(i, j)| JointId { index: i as u32, generation: j.generation })
    }

    /// The constant part of a joint.
    pub fn joint(&self, id: JointId) -> Result<&JointModel, StaleId> {
        Ok(&self.model.joints[self.joint_slot(id)?])
    }

    /// Coordinates, rates and reactions of a joint after the last step.
    pub fn joint_reading(&self, id: JointId) -> Result<JointReading, StaleId> {
        Ok(self.state.joints[self.joint_slot(id)?].reading())
    }

    /// Puts a drive on a coordinate, replaces it, or takes it off.
    pub fn set_drive(
        &mut self,
        id: JointId,
        axis: Axis,
        drive: Option<Drive>,
    ) -> Result<(), JointError> {
        self.note(|_| Call::SetDrive(id, axis, drive.clone()));
        let slot = self.joint_slot(id)?;
        let mut joint = self.model.joints[slot].joint.clone();
        drive.as_ref().map_or(Ok(()), check_drive).map_err(|e| e.of(id))?;
        joint.axes[axis.index()].drive = drive;
        check_use(&joint, &self.model.joints[slot].locked).map_err(|e| e.of(id))?;
        self.model.joints[slot].joint = joint;
        self.state.joints[slot].targets[axis.index()] = None;
        self.model.revision += 1;
        self.wake_joined(slot);
        Ok(())
    }

    /// Tells a drive where its coordinate should be (m or rad) and how fast it should move there (m/s
    /// or rad/s), from now on, whatever target it was given. Call it as often as you like.
    pub fn set_drive_target(
        &mut self,
        id: JointId,
        axis: Axis,
        position: f64,
        velocity: f64,
    ) -> Result<(), JointError> {
        self.note(|_| Call::SetDriveTarget(id, axis, position, velocity));
        let slot = self.joint_slot(id)?;
        if self.model.joints[slot].joint.axes[axis.index()].drive.is_none() {
            let problem = format!("there is no drive on {axis:?} of this joint");
            return Err(JointError::new("drive", problem).of(id));
        }
        if !(position.abs() <= 1e30 && velocity.abs() <= 1e30) {
            let problem = format!("must be finite, not {position} and {velocity}");
            return Err(JointError::new("drive.target", problem).of(id));
        }
        let target = &mut self.state.joints[slot].targets[axis.index()];
        if *target != Some((position, velocity)) {
            *target = Some((position, velocity));
            self.wake_joined(slot);
        }
        Ok(())
    }

    /// Counts the turns of a coordinate anew: of all angles that stand for where the joint is, the one
    /// nearest to `near` (rad). A new joint starts between its limits if it can, else within half a turn.
    /// Returns the coordinate; joints that do not turn about one or two axes have no turns to count.
    pub fn count_turns(&mut self, id: JointId, axis: Axis, near: f64) -> Result<f64, StaleId> {
        self.note(|_| Call::CountTurns(id, axis, near));
        let slot = self.joint_slot(id)?;
        let joint = &self.model.joints[slot];
        let mut before = self.state.joints[slot].coordinates;
        if near.abs() <= 1e9 && axis.index() >= 3 {
            before[axis.index()] = near;
        }
        let sides = [joint.a, joint.b].map(|node| side_pose(&self.state, node));
        let placed = joint.placed(sides[0], sides[1]);
        let state = &mut self.state.joints[slot];
        state.coordinates = joint.coordinates(&placed, &before, &mut state.place);
        Ok(state.coordinates[axis.index()])
    }

    pub(crate) fn joint_slot(&self, id: JointId) -> Result<usize, StaleId> {
        match self.model.joints.get(id.index as usize) {
            Some(joint) if joint.alive && joint.generation == id.generation => {
                Ok(id.index as usize)
            }
            _ => Err(StaleId::of(id)),
        }
    }

    fn drop_joint(&mut self, slot: usize) {
        self.wake_joined(slot);
        self.model.joints[slot].alive = false;
        self.model.joints_free.push(slot as u32);
        self.model.revision += 1;
        self.state.joints[slot] = JointState::default();
        for other in 0..self.model.joints.len() {
            let joint = &self.model.joints[other];
            let coupled = joint
                .coupling()
                .is_some_and(|(first, second, _)| [first, second].contains(&(slot as u32)));
            if joint.alive && coupled {
                self.drop_joint(other);
            }
        }
    }

    /// Removes all joints and constraints that hold on to a node.
    pub(super) fn drop_joints_of(&mut self, node: Node) {
        for slot in 0..self.model.joints.len() {
            let joint = &self.model.joints[slot];
            if joint.alive && joint.coupling().is_none() && (joint.a == node || joint.b == node) {
                self.drop_joint(slot);
            }
        }
        for slot in 0..self.model.constraints.len() {
            let constraint = &self.model.constraints[slot];
            if constraint.constraint.is_some() && constraint.nodes.contains(&node) {
                self.drop_constraint(slot);
            }
        }
    }

    pub(super) fn wake_joined(&mut self, slot: usize) {
        let joint = &self.model.joints[slot];
        let mut nodes = [joint.a, joint.b, Node::World, Node::World];
        if let Some((first, second, _)) = joint.coupling() {
            let (first, second) =
                (&self.model.joints[first as usize], &self.model.joints[second as usize]);
            nodes = [first.a, first.b, second.a, second.b];
        }
        for node in nodes {
            if let Node::Body(body) = node {
                self.wake_slot(body as usize);
            }
        }
    }

    pub(super) fn node(&self, field: &'static str, side: Side) -> Result<Node, JointError> {
        match side {
            Side::World => Ok(Node::World),
            Side::Body(id) => match self.model.slot(id) {
                Ok(slot) => Ok(Node::Body(slot as u32)),
                Err(stale) => Err(JointError::new(field, stale.to_string())),
            },
            Side::Point(id) => match self.point_slot(id) {
                Ok(slot) => Ok(Node::Point(slot as u32)),
                Err(stale) => Err(JointError::new(field, stale.to_string())),
            },
        }
    }

    pub(super) fn can_move(&self, node: Node) -> bool {
        match node {
            Node::World => false,
            Node::Body(i) => self.model.bodies[i as usize].kind == BodyKind::Dynamic,
            Node::Point(_) => true,
        }
    }

    /// A frame from the centre of mass of its side.
    fn local_frame(&self, node: Node, frame: Frame) -> Pose {
        match (frame, node) {
            (Frame::Local(pose), Node::Body(i)) => {
                let center = self.model.bodies[i as usize].center;
                Pose::from_parts(pose.translation - center, pose.rotation)
            }
            (Frame::Local(pose), _) => pose,
            (Frame::World(pose), node) => {
                let (x, q) = side_pose(&self.state, node);
                let inverse = q.conjugate();
                Pose::from_parts(inverse * (pose.translation - x), inverse * pose.rotation)
            }
        }
    }

    fn place_joint(
        &self,
        joint: Joint,
        locked: [bool; 6],
        generation: u32,
    ) -> Result<JointModel, JointError> {
        let (a, b) = (self.node("a", joint.a)?, self.node("b", joint.b)?);
        let geared = matches!(joint.kind, JointKind::Gear { .. } | JointKind::Rack { .. });
        if !geared && !self.can_move(a) && !self.can_move(b) {
            return Err(JointError::new("b", "neither side of this joint can move"));
        }
        let curve = match &joint.kind {
            JointKind::Curve { points, closed } => Curve::new(points, *closed).ok(),
            _ => None,
        };
        let frames = (self.local_frame(a, joint.frame_a), self.local_frame(b, joint.frame_b));
        for (field, node, frame) in [("frame_a", a, frames.0), ("frame_b", b, frames.1)] {
            if matches!(node, Node::Point(_)) && frame.translation.length() > 1e-9 {
                let problem = "the anchor on a point mass must be at the point";
                return Err(JointError::new(field, problem));
            }
        }
        let mut model = JointModel {
            alive: true,
            generation,
            joint,
            a,
            b,
            anchor_a: Vec3::ZERO,
            anchor_b: Vec3::ZERO,
            basis_a: Default::default(),
            basis_b: Default::default(),
            locked,
            curve,
            rest: 0.0,
        };
        model.set_frames(frames.0, frames.1);
        Ok(model)
    }

    /// Coordinates of a new joint; refuses one that does not close.
    fn first_state(&self, model: &mut JointModel) -> Result<JointState, JointError> {
        let mut state = JointState::default();
        if let Some((_, _, ratio)) = model.coupling() {
            model.rest = self.gear_rest(model, ratio)?;
            return Ok(state);
        }
        let (a, b) = (side_pose(&self.state, model.a), side_pose(&self.state, model.b));
        let placed = model.placed(a, b);
        if let Some(curve) = &model.curve {
            state.place = curve.nearest(placed.q_a.conjugate() * placed.gap);
        }
        let near = model.first_turns(&model.coordinates(&placed, &[0.0; 6], &mut state.place));
        state.coordinates = model.coordinates(&placed, &near, &mut state.place);
        if let JointKind::Spring { length, .. } = model.joint.kind {
            model.rest = length.unwrap_or(state.coordinates[0]);
        }
        (state.error, state.turn_error) = model.errors(&placed, &state);
        let closing = self.settings.joints.closing;
        if !model.joint.assemble && state.error.max(state.turn_error) > closing {
            let problem = format!(
                "the joint does not close: its sides are {:.3} m and {:.3} rad away from where it \
                 holds them; place them closer than {closing}, or let the joint assemble",
                state.error, state.turn_error
            );
            return Err(JointError::new("frame_b", problem));
        }
        Ok(state)
    }

    /// Checks the joints of a gear; what its coordinates differ by.
    fn gear_rest(&self, model: &JointModel, ratio: f64) -> Result<f64, JointError> {
        let (first, second, fields) = match model.joint.kind {
            JointKind::Gear { first, second, .. } => (first, second, ["kind.first", "kind.second"]),
            JointKind::Rack { hinge, slider, .. } => (hinge, slider, ["kind.hinge", "kind.slider"]),
            _ => return Ok(0.0),
        };
        let mut coordinate = [0.0; 2];
        for i in 0..2 {
            let slot = self
                .joint_slot([first, second][i])
                .map_err(|e| JointError::new(fields[i], e.to_string()))?;
            let joint = &self.model.joints[slot];
            let Some(free) = joint.first_free().filter(|_| joint.curve.is_none()) else {
                let problem = "names a joint without a coordinate that could turn or slide";
                return Err(JointError::new(fields[i], problem));
            };
            coordinate[i] = self.state.joints[slot].coordinates[free];
        }
        Ok(coordinate[1] - ratio * coordinate[0])
    }
}
