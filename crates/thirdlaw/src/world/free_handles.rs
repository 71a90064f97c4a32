//! Which handles of a world nothing but gravity pushed in the last step, for the books of a coupling.

use super::World;
use crate::math::{Mat3, Vec3};
use crate::model::body::model::BodyModel;
use crate::model::joint::model::Node;
use crate::simulator::FreeHandle;

impl World {
    /// Adds handles whose change of momentum in the last step was that by gravity and by what others asked
    /// for. Where it is not known what cloth, particles or a user's own constraints gave, none.
    pub(super) fn list_free_handles(&self, out: &mut Vec<FreeHandle>) {
        let model = &self.model;
        let other = !self.state.particles.is_empty()
            || model.emitters.iter().any(|emitter| emitter.alive)
            || model.constraints.iter().any(|c| c.constraint.is_some());
        if other {
            return;
        }
        let bodies = model.bodies.len();
        let mut held = vec![false; bodies + model.points.len()];
        for contact in self.state.contacts.iter().filter(|contact| contact.count > 0) {
            held[contact.key.a as usize] = true;
            held[contact.key.b as usize] = true;
        }
        for joint in model.joints.iter().filter(|joint| joint.alive) {
            for node in [joint.a, joint.b] {
                match node {
                    Node::Body(slot) => held[slot as usize] = true,
                    Node::Point(slot) => held[bodies + slot as usize] = true,
                    _ => {}
                }
            }
        }
        let gravity = self.settings.gravity;
        let reach = 0.5 * (1.0 + 1.0 / f64::from(self.settings.substeps));
        for (slot, body) in model.bodies.iter().enumerate() {
            let state = &self.state.bodies[slot];
            if held[slot] || state.asleep || !moves_freely(body) {
                continue;
            }
            let turn = Mat3::from_quat(state.rotation);
            out.push(FreeHandle {
                handle: slot,
                mass: body.mass,
                inertia: turn * body.inertia * turn.transpose(),
                field: body.mass * body.gravity_scale * gravity,
                reach,
            });
        }
        for (slot, point) in model.points.iter().enumerate() {
            if point.alive && !held[bodies + slot] {
                let field: Vec3 = point.mass * point.gravity_scale * gravity;
                let (handle, inertia) = (bodies + slot, Mat3::ZERO);
                out.push(FreeHandle { handle, mass: point.mass, inertia, field, reach });
            }
        }
    }
}

fn moves_freely(body: &BodyModel) -> bool {
    body.is_dynamic()
        && body.linear_damping == 0.0
        && body.angular_damping == 0.0
        && body.forces.is_empty()
        && body.locks == Default::default()
}
