//! Constraints Cᵀv = 0 that are projected inside conjugate gradients [shinar2008 §7.3].
//!
//! One constraint: P_k = 1 − M⁻¹C_k(C_kᵀM⁻¹C_k)⁻¹C_kᵀ. Several are gone through forward and backward,
//! S = P₁P₂…P_n…P₂P₁, which is symmetric in the inner product of M (the mass matrix; the print's M⁻¹ is a slip)
//! even where it has not converged: velocities take S, residuals Sᵀ. Every link acts with opposite impulses at
//! one point, so momentum and angular momentum are kept.
//!
//! A body with the particles that touch it is one constraint (`central.rs`, Eq. 3–4); bodies with bodies, and
//! triangles, one for each point; a particle bound to a body has all three directions.

use super::central::{Central, Outer};
use super::nodes::Nodes;
use super::pairs::{Side, Touch};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3};
use crate::model::Model;
use crate::model::deformable::model::PinHold;

/// Links of a substep.
#[derive(Debug, Default)]
pub struct Links {
    /// One after the other.
    list: Vec<Link>,
    /// Bodies with the particles on them.
    groups: Vec<Group>,
    members: Vec<Link>,
}

/// Two sides that must not move against each other, in some directions.
#[derive(Clone, Copy, Debug)]
struct Link {
    a: Side,
    b: Side,
    /// (C_kᵀM⁻¹C_k)⁻¹; of a member of a group, the B of `central.rs`.
    block: Mat3,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    start: usize,
    end: usize,
    inverse: [[f64; 6]; 6],
}

/// Whether a vector holds velocities, or residuals (impulses).
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Velocities,
    Residuals,
}

impl Links {
    /// Takes out all but makes those of particles that bodies hold.
    pub fn bind(&mut self, model: &Model, nodes: &Nodes) {
        self.list.clear();
        self.groups.clear();
        self.members.clear();
        for (particle, hold) in &model.sheet.pins {
            let PinHold::Body { body, .. } = hold else { continue };
            let Ok(slot) = model.slot(*body) else { continue };
            let i = nodes.bodies + *particle as usize;
            let arm = nodes.x[i] - nodes.x[slot];
            let (a, b) = (Side::body(slot as u32, arm), Side::body(i as u32, Vec3::ZERO));
            let k = a.response(&nodes.mass) + b.response(&nodes.mass);
            self.list.push(Link { a, b, block: k.inverse() });
        }
    }

    /// Adds contacts along their normals.
    pub fn touch(&mut self, model: &Model, nodes: &Nodes, touches: &[Touch]) {
        let single =
            |touch: &Touch| touch.a.is_body(nodes) && !touch.b.is_body(nodes) && touch.b.count == 1;
        let mut on: Vec<&Touch> = Vec::new();
        for touch in touches {
            if single(touch) && can_lead(model, touch.a.nodes[0] as usize) {
                on.push(touch);
            } else {
                let block = touch.along_normal(&touch.response);
                self.list.push(Link { a: touch.a, b: touch.b, block });
            }
        }
        on.sort_by(|s, t| (s.a.nodes[0], &s.key).cmp(&(t.a.nodes[0], &t.key)));
        let mut outers = Vec::new();
        for run in on.chunk_by(|s, t| s.a.nodes[0] == t.a.nodes[0]) {
            let start = self.members.len();
            outers.clear();
            for touch in run {
                let k = touch.b.response(&nodes.mass);
                if touch.normal.dot(k * touch.normal) <= 0.0 {
                    continue;
                }
                let block = touch.along_normal(&k);
                self.members.push(Link { a: touch.a, b: touch.b, block });
                let (arm, normal) = (touch.a.arm, touch.normal);
                outers.push(Outer { arm, block: Some(block), normal, wanted: Vec3::ZERO });
            }
            let slot = run[0].a.nodes[0] as usize;
            let body = &model.bodies[slot];
            let r = Mat3::from_quat(nodes.rotation[slot]);
            let inertia = Some(r * body.inertia * r.transpose());
            let inverse = Central { mass: body.mass, inertia }.inverse(&outers);
            self.groups.push(Group { start, end: self.members.len(), inverse });
        }
    }

    /// v ← S v.
    pub fn project(&self, v: &mut [Twist], mass: &[BodyMass]) {
        self.sweep(v, mass, Of::Velocities);
    }

    /// r ← Sᵀ r.
    pub fn project_residual(&self, r: &mut [Twist], mass: &[BodyMass]) {
        self.sweep(r, mass, Of::Residuals);
    }

    fn sweep(&self, v: &mut [Twist], mass: &[BodyMass], of: Of) {
        for link in &self.list {
            act(link, v, mass, of);
        }
        for group in &self.groups {
            self.act_on(group, v, mass, of);
        }
        for group in self.groups.iter().rev() {
            self.act_on(group, v, mass, of);
        }
        for link in self.list.iter().rev() {
            act(link, v, mass, of);
        }
    }

    /// One body with all its particles: j_o = −L_o (u_o − D_o).
    fn act_on(&self, group: &Group, v: &mut [Twist], mass: &[BodyMass], of: Of) {
        let members = &self.members[group.start..group.end];
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for link in members {
            let push = link.block * velocity(link, v, mass, of);
            force += push;
            torque += link.a.arm.cross(push);
        }
        let right = [force.x, force.y, force.z, torque.x, torque.y, torque.z];
        let y: [f64; 6] =
            std::array::from_fn(|i| (0..6).map(|j| group.inverse[j][i] * right[j]).sum());
        let (linear, angular) = (Vec3::new(y[0], y[1], y[2]), Vec3::new(y[3], y[4], y[5]));
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for link in members {
            let left = velocity_of(&link.b, v, mass, of)
                - velocity_of(&link.a, v, mass, of)
                - (linear + angular.cross(link.a.arm));
            let impulse = -(link.block * left);
            add(&link.b, v, mass, impulse, of);
            force -= impulse;
            torque -= link.a.arm.cross(impulse);
        }
        let Some(first) = members.first() else { return };
        let slot = first.a.nodes[0] as usize;
        match of {
            Of::Velocities => {
                v[slot].linear += mass[slot].inv_mass * force;
                v[slot].angular += mass[slot].inv_inertia * torque;
            }
            Of::Residuals => {
                v[slot].linear += force;
                v[slot].angular += torque;
            }
        }
    }
}

/// Whether a body can be the central one of its particles: it moves along and about all axes.
fn can_lead(model: &Model, slot: usize) -> bool {
    let body = &model.bodies[slot];
    body.is_dynamic() && body.locks == Default::default()
}

fn act(link: &Link, v: &mut [Twist], mass: &[BodyMass], of: Of) {
    let impulse = -(link.block * velocity(link, v, mass, of));
    add(&link.b, v, mass, impulse, of);
    add(&link.a, v, mass, -impulse, of);
}

fn velocity(link: &Link, v: &[Twist], mass: &[BodyMass], of: Of) -> Vec3 {
    velocity_of(&link.b, v, mass, of) - velocity_of(&link.a, v, mass, of)
}

/// Velocity of a side's point; of residuals, that which they would give.
fn velocity_of(side: &Side, v: &[Twist], mass: &[BodyMass], of: Of) -> Vec3 {
    if of == Of::Velocities {
        return side.velocity(v);
    }
    let at = |(i, w): (usize, f64)| {
        let (linear, angular) =
            (mass[i].inv_mass * v[i].linear, mass[i].inv_inertia * v[i].angular);
        w * (linear + angular.cross(side.arm))
    };
    side.parts().map(at).sum()
}

fn add(side: &Side, v: &mut [Twist], mass: &[BodyMass], impulse: Vec3, of: Of) {
    if of == Of::Velocities {
        return side.push(v, mass, impulse);
    }
    for (i, w) in side.parts() {
        v[i].linear += w * impulse;
        v[i].angular += side.arm.cross(w * impulse);
    }
}
