//! The joints of one island brought together: nodes, links and rows.

use super::substep::{IslandScratch, Members, Setting};
use crate::joint::system::NodeMass;
use crate::math::{Quat, Vec3};
use crate::model::Model;
use crate::model::joint::model::Node;
use crate::step::island::Linked;

impl IslandScratch {
    /// Bodies that are not dynamic but held by joints.
    pub(crate) fn gather_others(&mut self, model: &Model, links: &[Linked]) {
        for &link in links {
            each_node(model, link, |node| {
                if let Node::Body(slot) = node
                    && !model.bodies[slot as usize].is_dynamic()
                {
                    self.others.push(slot);
                }
            });
        }
    }

    /// Nodes, links and rows of the island's joints.
    pub(crate) fn gather_joints(&mut self, (model, state, settings, _): Setting, members: Members) {
        let joints = &mut self.joints;
        joints.system.clear();
        joints.system.factor.work = 0;
        joints.locals.clear();
        joints.poses.clear();
        for (i, local) in self.bodies.iter().enumerate() {
            let body = &model.bodies[local.slot as usize];
            joints.poses.push((local.position, local.rotation));
            joints.system.nodes.push(NodeMass {
                mass: body.mass,
                movable: i < members.bodies.len(),
                locked_linear: body.locks.translation,
                locked_angular: body.locks.rotation,
                ..NodeMass::default()
            });
        }
        self.velocities.particles.clear();
        self.problem.particles.clear();
        for &slot in members.points {
            let (point, now) = (&model.points[slot as usize], state.points.get(slot as usize));
            joints.poses.push((now.position, Quat::IDENTITY));
            let mut node = NodeMass {
                mass: point.mass,
                movable: true,
                is_point: true,
                locked_angular: [true; 3],
                ..NodeMass::default()
            };
            node.inverse.inv_mass = Vec3::splat(1.0 / point.mass);
            joints.system.nodes.push(node);
            self.velocities.particles.push(now.velocity);
            self.problem.particles.push(1.0 / point.mass);
        }
        joints.poses.push((Vec3::ZERO, Quat::IDENTITY));
        joints.system.nodes.push(NodeMass::default());
        let world = (joints.system.nodes.len() - 1) as u32;
        let first_point = self.bodies.len() as u32;
        let way = settings.joints.enforcement;
        for &link in members.links {
            let mut ends = [0; 8];
            let mut count = 0;
            let geared = matches!(link, Linked::Joint(slot)
                if model.joints[slot as usize].coupling().is_some());
            each_node(model, link, |node| {
                let end = match node {
                    Node::World => world,
                    Node::Body(slot) => self.local(model, (members.bodies, 0), slot),
                    Node::Point(slot) => {
                        let found = members.points.binary_search(&slot).unwrap_or_default();
                        first_point + found as u32
                    }
                };
                if count < ends.len() && !(geared && ends[..count].contains(&end)) {
                    ends[count] = end;
                    count += 1;
                }
            });
            match link {
                Linked::Joint(slot) => {
                    let joint = &model.joints[slot as usize];
                    let now = &state.joints[slot as usize];
                    self.joints.add_joint(joint, slot, &ends[..count], now, way);
                }
                Linked::Constraint(slot) => {
                    let constraint = &model.constraints[slot as usize].constraint;
                    let rows = constraint.as_ref().map_or(0, |c| c.rows());
                    self.joints.add_constraint(rows, slot, &ends[..count], way);
                }
            }
        }
        self.joints.system.finish();
    }
}

/// Calls `f` with every node of a link.
fn each_node(model: &Model, link: Linked, mut f: impl FnMut(Node)) {
    match link {
        Linked::Joint(slot) => {
            let joint = &model.joints[slot as usize];
            match joint.coupling() {
                Some((first, second, _)) => {
                    for slot in [first, second] {
                        let joint = &model.joints[slot as usize];
                        f(joint.a);
                        f(joint.b);
                    }
                }
                None => {
                    f(joint.a);
                    f(joint.b);
                }
            }
        }
        Linked::Constraint(slot) => {
            model.constraints[slot as usize].nodes.iter().for_each(|&n| f(n))
        }
    }
}
