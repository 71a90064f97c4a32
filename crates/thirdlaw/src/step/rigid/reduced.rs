//! One island in the coordinates of its joints, where it may be, substep by substep.
//!
//! A substep is taken in coordinates (`joint::reduced`) if all joints of the island are held so and are a
//! forest on nothing that moves by itself, and if nothing touches: contacts that are open stay open, and
//! limits are not met. Otherwise the substep is that of `jointed`, from the same poses and velocities:
//! both end on the constraint with velocities that fit it, so that nothing jumps from one to the other.

use super::substep::{IslandScratch, LocalBody, Members, Setting, external_force};
use crate::joint::reduced::{Around, Tree};
use crate::joint::system::Source;
use crate::math::{Quat, Twist, Vec3};
use crate::model::body::BodyKind;
use crate::model::joint::description::JointSolve;

/// Damping of bodies times the length of a substep at most.
const DAMPED: f64 = 0.2;

impl IslandScratch {
    /// Whether substeps of this island may be taken in coordinates.
    pub(crate) fn begin_reduced(&mut self, setting: Setting, members: Members, h: f64) -> bool {
        let (model, _, settings, _) = setting;
        self.tree.work = 0;
        let damped = |slot: &u32| {
            let body = &model.bodies[*slot as usize];
            h * body.linear_damping.max(body.angular_damping) > DAMPED
        };
        let moves = |local: &LocalBody| {
            let body = &model.bodies[local.slot as usize];
            let still = setting.1.bodies[local.slot as usize].velocity == Twist::default();
            body.kind == BodyKind::Kinematic && !(still && body.motion.keys.is_empty())
        };
        settings.joints.solve == JointSolve::Exact
            && self.joints.locals.iter().any(|local| local.reduced)
            && !members.bodies.iter().any(damped)
            && !self.bodies[members.bodies.len()..].iter().any(moves)
            && self.tree.build(model, &self.joints, members.bodies)
    }

    /// Takes a substep in coordinates. False: it has to be taken otherwise.
    pub(crate) fn reduced_substep(
        &mut self,
        setting: Setting,
        members: Members,
        (start, h): (f64, f64),
    ) -> bool {
        let (model, state, settings, _) = setting;
        let mut tree = std::mem::take(&mut self.tree);
        let taken = (self.contacts.is_empty() || self.are_open(state))
            && (tree.current || {
                self.update_masses(model, members, 0.0);
                tree.read(model, &self.joints, &self.velocities.bodies)
            })
            && {
                let load = |node: u32, (position, rotation): (Vec3, Quat), v: &Twist| {
                    let slot = self.bodies[node as usize].slot;
                    let body = &model.bodies[slot as usize];
                    let local = LocalBody { slot, position, rotation };
                    let (force, torque) = external_force(body, &local, start, h);
                    let push = &state.bodies[slot as usize].push;
                    let r = rotation * (body.inertia * (rotation.conjugate() * v.angular));
                    Twist {
                        linear: force
                            + push.force
                            + body.mass
                                * (body.gravity_scale * settings.gravity
                                    - body.linear_damping * v.linear),
                        angular: torque + push.torque - body.angular_damping * r,
                    }
                };
                let (locals, poses) = (&self.joints.locals[..], &self.joints.poses[..]);
                tree.advance(&Around { model, locals, poses, load: &load }, start, h)
            }
            && self.finish_reduced(setting, &mut tree, h);
        self.tree = tree;
        taken
    }

    /// Takes over where a substep led, if that touches nothing.
    fn finish_reduced(&mut self, setting: Setting, tree: &mut Tree, h: f64) -> bool {
        let (model, state, ..) = setting;
        if !self.contacts.is_empty() {
            for i in 0..tree.len() {
                let (node, position, rotation) = tree.pose(i);
                (self.bodies[node].position, self.bodies[node].rotation) = (position, rotation);
            }
            if !self.are_open(state) {
                tree.current = false;
                for (local, pose) in self.bodies.iter_mut().zip(&self.joints.poses) {
                    (local.position, local.rotation) = *pose;
                }
                return false;
            }
            self.impulses.fill(0.0);
        }
        tree.write(&mut self.joints, &mut self.velocities.bodies, h);
        for (local, pose) in self.bodies.iter_mut().zip(&self.joints.poses) {
            (local.position, local.rotation) = *pose;
        }
        for (link, local) in self.joints.system.links.iter().zip(&mut self.joints.locals) {
            let Source::Joint(slot) = link.source else { continue };
            let joint = &model.joints[slot as usize].joint;
            let state = &mut local.state;
            state.broken |= state.force.length() > joint.break_force
                || state.torque.length() > joint.break_torque;
        }
        true
    }
}
