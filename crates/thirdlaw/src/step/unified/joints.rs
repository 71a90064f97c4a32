//! Joints in the five steps [shinar2008 §5, §7, after WTF06].
//!
//!   III  C(x + Δt v½) = 0      pre-stabilization, iterated like Newton with J of xⁿ; springs and drives
//!   V    J(xⁿ⁺¹) v = 0         post-stabilization
//!
//! Rows, errors and what drives want are those of `joint/`; they are solved together with contacts and what
//! deforms (`coupled.rs`). Errors of orientation are the vector part of q_p q_c⁻¹ [§5.1].
//!
//! Step V begins with the impulses of step III and then makes velocities fit (RATTLE). The print projects vⁿ
//! alone after the move: what a body has along Jᵀ once it has turned is then lost, ω²Δt² of its kinetic energy
//! in every substep of a swing. With the impulses of before the move in it, v(cos θ + (1 − cos θ)) is left: all of it.

use super::nodes::Nodes;
use super::rows::{Law, Rows};
use super::span::Span;
use crate::joint::island::{JointIsland, Pace, Stage};
use crate::joint::system::{NodeMass, Role, Status};
use crate::math::{Quat, Twist, Vec3, rotation_from_vector};
use crate::model::Model;
use crate::model::body::rotation;
use crate::model::joint::description::Enforcement;
use crate::model::joint::model::Node;
use crate::state::State;

/// The joints of a world.
#[derive(Debug, Default)]
pub struct Joints {
    island: JointIsland,
    /// Slots of the joints, link by link.
    slots: Vec<u32>,
    /// Rows of the joints among all rows: which row of the island each is.
    listed: Vec<u32>,
    /// Impulses of the substep before, by row, N·s.
    known: Vec<f64>,
    /// Impulses that step V begins with: Jᵀz of bodies.
    carried: Vec<Twist>,
}

impl Joints {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Forgets what the step before knew.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Takes in the joints that are there.
    pub fn gather(&mut self, model: &Model, state: &State, nodes: &Nodes) {
        self.slots.clear();
        let alive = model.joints.iter().enumerate().filter(|(_, joint)| joint.alive);
        self.slots.extend(alive.map(|(slot, _)| slot as u32));
        if self.slots.is_empty() {
            return;
        }
        let island = &mut self.island;
        island.system.clear();
        island.locals.clear();
        for body in &model.bodies {
            island.system.nodes.push(NodeMass {
                mass: body.mass,
                movable: body.is_dynamic(),
                locked_linear: body.locks.translation,
                locked_angular: body.locks.rotation,
                ..NodeMass::default()
            });
        }
        for point in &model.points {
            island.system.nodes.push(NodeMass {
                mass: point.mass,
                movable: point.alive,
                ..NodeMass::default()
            });
        }
        island.system.nodes.push(NodeMass::default());
        let first_point = model.bodies.len() as u32;
        let world = nodes.bodies as u32;
        for &slot in &self.slots {
            let joint = &model.joints[slot as usize];
            let end = |node: Node| match node {
                Node::Body(slot) => slot,
                Node::Point(slot) => first_point + slot,
                Node::World => world,
            };
            let mut ends = vec![end(joint.a), end(joint.b)];
            if let Some((first, second, _)) = joint.coupling() {
                ends.clear();
                for slot in [first, second] {
                    let geared = &model.joints[slot as usize];
                    for node in [end(geared.a), end(geared.b)] {
                        if !ends.contains(&node) {
                            ends.push(node);
                        }
                    }
                }
            }
            let now = &state.joints[slot as usize];
            island.add_joint(joint, slot, &ends, now, Enforcement::Stabilized);
        }
        self.take_poses(nodes);
    }

    fn take_poses(&mut self, nodes: &Nodes) {
        let island = &mut self.island;
        island.poses.clear();
        island.poses.extend(nodes.x.iter().copied().zip(nodes.rotation.iter().copied()));
        island.poses.push((Vec3::ZERO, Quat::IDENTITY));
        for (node, mass) in island.system.nodes.iter_mut().zip(&nodes.mass[..nodes.bodies]) {
            node.inverse = *mass;
        }
    }

    fn take_velocities(&mut self, v: &[Twist], bodies: usize) {
        self.island.v.clear();
        self.island.v.extend_from_slice(&v[..bodies]);
        self.island.v.push(Twist::default());
    }

    /// Step III: adds rows that make positions at the end fit.
    pub fn want_positions(&mut self, model: &Model, nodes: &Nodes, span: &Span, rows: &mut Rows) {
        let stage = stage(model, span);
        self.island.clock = [span.time, span.end()];
        self.take_velocities(&nodes.v, nodes.bodies);
        self.island.keep_start();
        self.take_velocities(&nodes.half, nodes.bodies);
        self.island.place(&stage);
        self.island.want_positions(&stage);
        self.list(rows, 1.0);
        if self.known.len() == self.listed.len() {
            for (row, z) in rows.list.iter_mut().zip(&self.known) {
                row.impulse = *z;
            }
        }
    }

    /// Aims at what is left where the velocities found lead; the largest error, m or rad.
    pub fn aim(&mut self, model: &Model, v: &[Twist], span: &Span, rows: &mut Rows) -> f64 {
        let stage = stage(model, span);
        let bodies = self.island.poses.len() - 1;
        self.take_velocities(v, bodies);
        let island = &mut self.island;
        island.trial.clone_from(&island.poses);
        for (slot, (position, turned)) in island.trial[..bodies].iter_mut().enumerate() {
            let v = &v[slot];
            *position += span.dt * v.linear;
            *turned = match model.bodies.get(slot).filter(|body| body.is_dynamic()) {
                Some(body) => rotation::advance(body, *turned, v.angular, span.dt),
                None => rotation_from_vector(span.dt * v.angular) * *turned,
            };
        }
        let error = island.aim(&stage, false);
        for (row, &r) in rows.list.iter_mut().zip(&self.listed) {
            row.bias = island.system.rows[r as usize].bias;
        }
        error
    }

    /// What step III found.
    pub fn take_positions(&mut self, rows: &Rows, bodies: usize) {
        self.known.clear();
        self.carried.clear();
        self.carried.resize(bodies + 1, Twist::default());
        for (row, &r) in rows.list.iter().zip(&self.listed) {
            self.known.push(row.impulse);
            let row_of_joint = &mut self.island.system.rows[r as usize];
            row_of_joint.impulse = row.impulse;
            let times = match row_of_joint.role {
                Role::Hold => 1.0,
                Role::Spring | Role::Drive => 1.0 / row_of_joint.theta,
                Role::Low | Role::High => {
                    let met = row.impulse > 0.0;
                    row_of_joint.status = if met { Status::Free } else { Status::Lower };
                    continue;
                }
                _ => continue,
            };
            rows.scatter(row, times * row.impulse, &mut self.carried);
            self.island.give_whole(r as usize, times * row.impulse);
        }
    }

    /// Step V: begins with those impulses, and adds rows that make velocities fit.
    pub fn want_velocities(
        &mut self,
        model: &Model,
        nodes: &mut Nodes,
        span: &Span,
        rows: &mut Rows,
    ) {
        let stage = stage(model, span);
        for ((v, m), push) in nodes.v.iter_mut().zip(&nodes.mass).zip(&self.carried) {
            v.linear += m.inv_mass * push.linear;
            v.angular += m.inv_inertia * push.angular;
        }
        self.island.clock = [span.end(); 2];
        self.take_poses(nodes);
        self.take_velocities(&nodes.v, nodes.bodies);
        self.island.place(&stage);
        self.island.want_velocities(&stage);
        self.list(rows, 2.0);
    }

    /// Reads reactions, coordinates and what broke into the state.
    pub fn write(
        &mut self,
        model: &Model,
        state: &mut State,
        nodes: &Nodes,
        span: &Span,
        rows: &Rows,
    ) {
        for (row, &r) in rows.list.iter().zip(&self.listed) {
            self.island.give_whole(r as usize, row.impulse);
        }
        self.take_velocities(&nodes.v, nodes.bodies);
        self.island.read(model);
        self.island.settle(&stage(model, span));
        for (local, &slot) in self.island.locals.iter().zip(&self.slots) {
            state.joints[slot as usize] = local.state;
        }
    }

    /// The rows that are at work; bounds are `times` those of half a substep.
    fn list(&mut self, rows: &mut Rows, times: f64) {
        self.listed.clear();
        let island = &self.island;
        let world = island.poses.len() as u32 - 1;
        for link in &island.system.links {
            let ends = &island.system.ends[link.end_start as usize..][..link.end_count as usize];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = &island.system.rows[r];
                let range = island.system.parts(link, r);
                let parts = island.system.jacobian[range].iter().zip(ends);
                if row.status == Status::Off || island.system.response(link, r) <= 0.0 {
                    continue;
                }
                rows.begin(Law::Range(times * row.lower, times * row.upper));
                let parts = parts.filter(|(_, end)| **end != world).map(|(part, end)| {
                    (*end, Twist { linear: part.linear, angular: part.angular })
                });
                rows.row(row.bias, parts).compliance = row.compliance;
                self.listed.push(r as u32);
            }
        }
    }
}

fn stage<'a>(model: &'a Model, span: &Span) -> Stage<'a> {
    Stage { model, time: span.time, h: span.dt, pace: Pace::of(1.0) }
}
