//! Changing what a body or a joint was given when it was added.
//!
//! Every setter goes one way: the body's description as it is now ([`World::describe`]) is changed,
//! checked whole as if it were added, and only then put into place. A value that is refused leaves the old
//! one standing. Whoever touches the body wakes.

use super::World;
use super::record::{BodyRecord, Call};
use crate::ids::{BodyId, JointId, StaleId};
use crate::math::{Pose, Twist, rotation_vector};
use crate::model::body::model::BodyModel;
use crate::model::body::{AxisLocks, Body, BodyKind, Groups, Mass, Material};
use crate::model::contact_hook::ContactHook;
use crate::model::deformable::model::{BoundTo, PinHold, Sheet};
use crate::model::error::{BodyError, EditError, check_number, check_pose};
use crate::model::joint::axis::{Axis, Limits};
use crate::model::joint::description::Joint;
use crate::model::joint::error::JointError;
use crate::model::joint::model::{Node, check_joint, check_use, locked_axes};
use crate::shape::Shape;
use crate::state::body::BodyState;
use std::sync::Arc;

impl World {
    /// A body as it could be added now: what it was given, where it is and how it moves.
    pub fn describe(&self, id: BodyId) -> Result<Body, StaleId> {
        let slot = self.model.slot(id)?;
        let (body, now) = (&self.model.bodies[slot], &self.state.bodies[slot]);
        let own = body.parts.first();
        Ok(Body {
            kind: body.asked_kind,
            shape: own.map_or(&body.shape, |own| &own.part.shape).clone(),
            pose: self.slot_pose(slot),
            linear_velocity: now.velocity.linear,
            angular_velocity: now.velocity.angular,
            mass: body.asked_mass,
            material: body.material,
            groups: body.asked_groups,
            solver_groups: body.asked_solver_groups,
            dominance: body.dominance,
            parts: body.parts.iter().skip(1).map(|part| part.part.clone()).collect(),
            linear_damping: body.linear_damping,
            angular_damping: body.angular_damping,
            gravity_scale: body.gravity_scale,
            locks: body.locks,
            forces: body.forces.clone(),
            motion: body.motion.clone(),
            can_sleep: body.can_sleep,
            sensor: own.map_or(body.sensor, |own| own.part.sensor),
            enabled: body.enabled,
        })
    }

    /// Changes anything of a body at once; refused as a whole if the outcome could not be added.
    ///
    /// ```
    /// use thirdlaw::prelude::*;
    /// let mut world = World::new(Settings::default())?;
    /// let crate_ = world.add_body(Body::dynamic(Shape::cuboid(Vec3::splat(0.5))?))?;
    /// world.edit_body(crate_, |body| {
    ///     body.mass = Mass::Total(20.0);
    ///     body.material.friction = 0.1;
    /// })?;
    /// assert!(world.edit_body(crate_, |body| body.mass = Mass::Total(-1.0)).is_err());
    /// assert_eq!(world.body(crate_)?.mass, 20.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit_body(
        &mut self,
        id: BodyId,
        change: impl FnOnce(&mut Body),
    ) -> Result<(), EditError> {
        let slot = self.model.slot(id)?;
        let was = self.describe(id)?;
        let mut body = was.clone();
        change(&mut body);
        self.note(|recorder| Call::EditBody(id, BodyRecord::of(&body, Some(&was), recorder)));
        if body.kind == BodyKind::Fixed {
            // it stops where it is; whoever asks for a velocity besides is told
            let same = body.linear_velocity == was.linear_velocity
                && body.angular_velocity == was.angular_velocity;
            if same {
                (body.linear_velocity, body.angular_velocity) = Default::default();
            }
        }
        let next = self.model.bodies[slot].next_part;
        let mut model = BodyModel::rebuild(&body, id.generation, next)?;
        let old = &self.model.bodies[slot];
        if same_assembly(old, &model) {
            // one that is put together anew would count as another
            model.shape = old.shape.clone();
        }
        self.check_joints_of(slot, &model)?;
        self.replace_body(slot, &body, model);
        Ok(())
    }

    /// A joint needs a side that can move.
    fn check_joints_of(&self, slot: usize, model: &BodyModel) -> Result<(), BodyError> {
        if model.is_dynamic() || !self.model.bodies[slot].is_dynamic() || !model.enabled {
            return Ok(());
        }
        let node = Node::Body(slot as u32);
        for joint in self.model.joints.iter().filter(|joint| joint.alive) {
            let other = match (joint.a == node, joint.b == node) {
                (true, _) => joint.b,
                (_, true) => joint.a,
                _ => continue,
            };
            if joint.coupling().is_none() && !self.can_move(other) {
                let problem = "a joint would be left without a side that can move; remove it first";
                return Err(BodyError { field: "kind", problem: problem.into() });
            }
        }
        Ok(())
    }

    fn replace_body(&mut self, slot: usize, body: &Body, model: BodyModel) {
        self.wake_slot(slot);
        self.wake_touching(slot);
        let index = slot as u32;
        let old = std::mem::replace(&mut self.model.bodies[slot], model);
        let new = &self.model.bodies[slot];
        let reshaped = !old.shape.is_same(&new.shape) || old.center != new.center;
        let moved = self.state.bodies[slot];
        let rotation = body.pose.rotation.normalize();
        let unmoved = body.pose
            == Pose::from_parts(moved.position - moved.rotation * old.center, moved.rotation);
        let shift = old.center - new.center;
        let (center, kind) = (new.center, new.kind);
        let same_contacts = !reshaped
            && unmoved
            && old.kind == kind
            && (old.groups, old.solver_groups) == (new.groups, new.solver_groups)
            && old.dominance == new.dominance
            && old.parts.is_empty()
            && new.parts.is_empty()
            && old.material.restitution == new.material.restitution
            && old.material == new.material;
        let now = &mut self.state.bodies[slot];
        if reshaped || !unmoved {
            now.position = body.pose.translation + rotation * center;
            now.rotation = rotation;
        }
        now.velocity = Twist { linear: body.linear_velocity, angular: body.angular_velocity };
        if kind == BodyKind::Fixed {
            now.velocity = Twist::default();
        }
        if !same_contacts {
            self.state.contacts.retain(|c| c.key.a != index && c.key.b != index);
        }
        if reshaped {
            self.state.cloth.touches.retain(|t| t.body != index);
            self.state.cloth.pairs.retain(|p| p.body != index);
            self.state.cloth.pushes.retain(|p| p.0 != index);
            self.move_anchors(slot, shift);
        }
        self.model.revision += 1;
        // it remembers sizes and materials of bodies
        self.scratch.rigid = Default::default();
        self.wake_near(slot);
    }

    /// What is fixed to a body is counted from its centre of mass, which has moved by −`shift` in it.
    fn move_anchors(&mut self, slot: usize, shift: crate::math::Vec3) {
        let node = Node::Body(slot as u32);
        for joint in &mut self.model.joints {
            if joint.a == node {
                joint.anchor_a += shift;
            }
            if joint.b == node {
                joint.anchor_b += shift;
            }
        }
        let mut pinned = false;
        for pin in self.model.cloths.iter_mut().flat_map(|cloth| &mut cloth.pins) {
            if let PinHold::Body { body, local } = &mut pin.hold
                && body.index as usize == slot
            {
                *local += shift;
                pinned = true;
            }
        }
        for bound in self.model.cloths.iter_mut().flat_map(|cloth| &mut cloth.bonds) {
            if let BoundTo::Body { body, local } = &mut bound.to
                && body.index as usize == slot
            {
                *local += shift;
                pinned = true;
            }
        }
        if pinned {
            let sheet = Sheet::build(&mut self.model.cloths);
            self.model.sheet = Arc::new(sheet);
        }
    }

    /// Lets forces, a given velocity or nothing move a body. One that becomes fixed stops.
    #[doc(alias = "set_body_type")]
    pub fn set_kind(&mut self, id: BodyId, kind: BodyKind) -> Result<(), EditError> {
        self.edit_body(id, |body| body.kind = kind)
    }

    /// Gives a body another mass, kg, spread or concentrated as [`Mass`] says.
    #[doc(alias = "set_additional_mass")]
    pub fn set_mass(&mut self, id: BodyId, mass: Mass) -> Result<(), EditError> {
        self.edit_body(id, |body| body.mass = mass)
    }

    /// Gives a body another shape about the same origin; with a mass by density its mass follows.
    #[doc(alias = "set_shape")]
    pub fn set_body_shape(&mut self, id: BodyId, shape: Shape) -> Result<(), EditError> {
        self.edit_body(id, |body| body.shape = shape)
    }

    /// Sets friction, restitution and how they are combined.
    pub fn set_material(&mut self, id: BodyId, material: Material) -> Result<(), EditError> {
        self.edit_body(id, |body| body.material = material)
    }

    /// Sets Coulomb's μ.
    pub fn set_friction(&mut self, id: BodyId, friction: f64) -> Result<(), EditError> {
        self.edit_body(id, |body| body.material.friction = friction)
    }

    /// Sets Newton's e.
    pub fn set_restitution(&mut self, id: BodyId, restitution: f64) -> Result<(), EditError> {
        self.edit_body(id, |body| body.material.restitution = restitution)
    }

    /// Sets which bodies it may touch.
    #[doc(alias = "set_collision_groups")]
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), EditError> {
        self.edit_body(id, |body| body.groups = groups)
    }

    /// Sets which of the bodies that it may touch it pushes.
    pub fn set_solver_groups(&mut self, id: BodyId, groups: Groups) -> Result<(), EditError> {
        self.edit_body(id, |body| body.solver_groups = groups)
    }

    /// Sets who gives way: of two dynamic bodies that touch the one of lower dominance.
    #[doc(alias = "set_dominance_group")]
    pub fn set_dominance(&mut self, id: BodyId, dominance: i8) -> Result<(), EditError> {
        self.edit_body(id, |body| body.dominance = dominance)
    }

    /// Sets the world axes along and about which it cannot move.
    #[doc(alias = "set_locked_axes")]
    pub fn set_locks(&mut self, id: BodyId, locks: AxisLocks) -> Result<(), EditError> {
        self.edit_body(id, |body| body.locks = locks)
    }

    /// Sets the decay of its linear and angular velocity, 1/s.
    #[doc(alias = "set_linear_damping")]
    pub fn set_damping(&mut self, id: BodyId, linear: f64, angular: f64) -> Result<(), EditError> {
        self.note(|_| Call::SetDamping(id, linear, angular));
        let high = f64::INFINITY;
        check_number("linear_damping", linear, 0.0..=high)?;
        check_number("angular_damping", angular, 0.0..=high)?;
        self.edit_in_place(id, |body| {
            (body.linear_damping, body.angular_damping) = (linear, angular)
        })
    }

    /// Sets the factor on the world's gravity.
    pub fn set_gravity_scale(&mut self, id: BodyId, factor: f64) -> Result<(), EditError> {
        self.note(|_| Call::SetGravityScale(id, factor));
        check_number("gravity_scale", factor, f64::NEG_INFINITY..=f64::INFINITY)?;
        self.edit_in_place(id, |body| body.gravity_scale = factor)
    }

    /// Lets a body fall asleep where the world lets bodies sleep, or keeps it awake.
    pub fn set_can_sleep(&mut self, id: BodyId, can: bool) -> Result<(), EditError> {
        self.note(|_| Call::SetCanSleep(id, can));
        self.edit_in_place(id, |body| body.can_sleep = can)
    }

    /// Makes a body a sensor, which touches nothing and tells what overlaps it, or solid again.
    pub fn set_sensor(&mut self, id: BodyId, sensor: bool) -> Result<(), EditError> {
        self.edit_body(id, |body| body.sensor = sensor)
    }

    /// Takes a body out of the world's life without forgetting it, or puts it back. Meanwhile it stays
    /// where it is, nothing touches it and no question meets it; joints hold on to it as to a fixed body.
    pub fn set_enabled(&mut self, id: BodyId, enabled: bool) -> Result<(), EditError> {
        self.edit_body(id, |body| {
            body.enabled = enabled;
            if !enabled {
                (body.linear_velocity, body.angular_velocity) = Default::default();
            }
        })
    }

    /// Gives a hook of the user's own a say in contacts of bodies, or takes it away; everything wakes. What a
    /// hook owes the engine is said at [`ContactHook`].
    #[doc(alias = "PhysicsHooks")]
    pub fn set_contact_hook(&mut self, hook: Option<Arc<dyn ContactHook>>) {
        self.note(|_| Call::SetContactHook(hook.as_ref().map(|hook| hook.name())));
        for body in &mut self.state.bodies {
            (body.asleep, body.quiet) = (false, 0.0);
        }
        if self.model.contact_hook.is_some() {
            // contacts that last would keep what the old hook made of them
            let bodies = &self.model.bodies;
            for contact in &mut self.state.contacts {
                let key = contact.key;
                let [a, b] = [(key.a, key.piece_a), (key.b, key.piece_b)]
                    .map(|(slot, piece)| bodies[slot as usize].material_of(piece));
                contact.friction = a.combined_friction(b);
                contact.restitution = a.combined_restitution(b);
            }
        }
        self.model.contact_hook = hook;
        self.model.revision += 1;
    }

    /// A change that contacts and the memory of collision detection need not know of.
    fn edit_in_place(
        &mut self,
        id: BodyId,
        change: impl FnOnce(&mut BodyModel),
    ) -> Result<(), EditError> {
        let slot = self.model.slot(id)?;
        change(&mut self.model.bodies[slot]);
        self.model.revision += 1;
        self.wake_slot(slot);
        Ok(())
    }

    /// Puts a body to sleep where the world lets bodies sleep. What is awake and touches it wakes it.
    pub fn sleep(&mut self, id: BodyId) -> Result<(), EditError> {
        self.note(|_| Call::Sleep(id));
        let slot = self.model.slot(id)?;
        if !self.settings.sleeping || !self.model.bodies[slot].can_sleep {
            let problem = "sleeping is off in the world's settings or for this body";
            return Err(BodyError { field: "can_sleep", problem: problem.into() }.into());
        }
        if self.model.bodies[slot].is_dynamic() {
            let body = &mut self.state.bodies[slot];
            *body = BodyState { asleep: true, velocity: Twist::default(), ..*body };
        }
        Ok(())
    }

    /// Gives a kinematic body the velocity that brings it to `pose` in `dt` seconds; what it meets on its
    /// way is pushed. It keeps that velocity until it is given another.
    #[doc(alias = "set_next_kinematic_position")]
    pub fn move_kinematic_to(&mut self, id: BodyId, pose: Pose, dt: f64) -> Result<(), EditError> {
        let slot = self.model.slot(id)?;
        check_pose(&pose)?;
        check_number("dt", dt, f64::MIN_POSITIVE..=f64::INFINITY)?;
        if self.model.bodies[slot].kind != BodyKind::Kinematic {
            let problem = "only a kinematic body is moved so".into();
            return Err(BodyError { field: "kind", problem }.into());
        }
        let rotation = pose.rotation.normalize();
        let target = pose.translation + rotation * self.model.bodies[slot].center;
        let now = &self.state.bodies[slot];
        let linear = (target - now.position) / dt;
        let angular = rotation_vector(rotation * now.rotation.conjugate()) / dt;
        self.set_velocity(id, Twist { linear, angular })
    }

    // ----- joints -----

    /// Changes anything of a joint but its kind, sides and frames; refused as a whole if the outcome
    /// could not be added.
    pub fn edit_joint(
        &mut self,
        id: JointId,
        change: impl FnOnce(&mut Joint),
    ) -> Result<(), JointError> {
        let slot = self.joint_slot(id)?;
        let mut joint = self.model.joints[slot].joint.clone();
        change(&mut joint);
        self.note(|_| Call::EditJoint(id, joint.clone()));
        let old = &self.model.joints[slot].joint;
        let placed = |j: &Joint| (j.kind.clone(), j.a, j.b, j.frame_a, j.frame_b);
        if placed(&joint) != placed(old) {
            let problem = "of a joint stays; remove the joint and add another";
            return Err(JointError::new("kind, sides and frames", problem).of(id));
        }
        check_joint(&joint).map_err(|e| e.of(id))?;
        let locked = locked_axes(&joint);
        check_use(&joint, &locked).map_err(|e| e.of(id))?;
        let drives = |j: &Joint, axis: usize| j.axes[axis].drive.clone();
        for axis in 0..6 {
            if drives(&joint, axis) != drives(&self.model.joints[slot].joint, axis) {
                self.state.joints[slot].targets[axis] = None;
            }
        }
        let model = &mut self.model.joints[slot];
        (model.joint, model.locked) = (joint, locked);
        self.model.revision += 1;
        self.wake_joined(slot);
        Ok(())
    }

    /// Sets the bounds of a coordinate (m or rad), or takes them off.
    pub fn set_limits(
        &mut self,
        id: JointId,
        axis: Axis,
        limits: Option<Limits>,
    ) -> Result<(), JointError> {
        self.edit_joint(id, |joint| joint.axes[axis.index()].limits = limits)
    }

    /// Lets a joint go, as if it were broken, or holds it again. What has moved apart is pulled together.
    pub fn set_joint_enabled(&mut self, id: JointId, enabled: bool) -> Result<(), StaleId> {
        self.note(|_| Call::SetJointEnabled(id, enabled));
        let slot = self.joint_slot(id)?;
        self.state.joints[slot].broken = !enabled;
        self.wake_joined(slot);
        Ok(())
    }

    // ----- reading all at once -----

    /// Centres of mass, orientations, velocities and sleep of all bodies, slot by slot
    /// ([`BodyId::index`]); slots without a body hold anything.
    pub fn body_states(&self) -> &[BodyState] {
        &self.state.bodies
    }

    /// Bodies that are awake and moved in the last step or will in the next, in slot order: those whose
    /// pictures have to be moved.
    #[doc(alias = "active_bodies")]
    pub fn moving_bodies(&self) -> impl Iterator<Item = BodyId> + '_ {
        let all = self.model.bodies.iter().zip(&self.state.bodies).enumerate();
        let moves = all.filter(|(_, (body, now))| {
            body.alive && !now.asleep && now.velocity != Twist::default()
        });
        moves.map(|(slot, _)| self.model.id(slot))
    }
}

/// Whether two bodies of several parts collide with the same shape.
fn same_assembly(old: &BodyModel, new: &BodyModel) -> bool {
    let parts = old.parts.iter().zip(&new.parts);
    old.parts.len() == new.parts.len()
        && !old.parts.is_empty()
        && parts.into_iter().all(|(a, b)| {
            a.part.shape.is_same(&b.part.shape)
                && a.part.pose == b.part.pose
                && a.pieces == b.pieces
        })
}
