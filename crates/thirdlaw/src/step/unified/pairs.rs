//! One record for every contact point, whatever meets: body and body, body and particle, body and the inside
//! of a triangle, triangle and vertex, edge and edge.
//!
//! A side is one body with an arm from its centre of mass, or up to four particles with weights. The relative
//! velocity at the point is u = u_b − u_a, and an impulse j acts on b, −j on a. Both sides of a body's contact
//! act at one common point, so that the angular momentum is kept exactly.

use super::nodes::{Nodes, Velocities};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};

/// One side of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// The first `count` are in use.
    pub nodes: [u32; 4],
    /// Share of each node in the point.
    pub weights: [f64; 4],
    /// 1 for a body.
    pub count: u8,
    /// From the centre of mass to the point, m; zero for particles.
    pub arm: Vec3,
}

/// A contact point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Touch {
    /// What names it within a step.
    pub key: TouchKey,
    /// One side.
    pub a: Side,
    /// The other one.
    pub b: Side,
    /// Unit vector from a to b.
    pub normal: Vec3,
    /// Distance along it, negative where both overlap, m.
    pub gap: f64,
    /// Coulomb's μ.
    pub friction: f64,
    /// Newton's e; 0 where something deforms.
    pub restitution: f64,
    /// Response of both sides together, K.
    pub response: Mat3,
    /// Normal velocity that must not be fallen short of, m/s.
    pub aim: f64,
    /// Impulse on b so far, N·s.
    pub impulse: Vec3,
    /// The impulse of the round before, and the direction that rounds go on in.
    pub memory: [Vec3; 2],
}

/// What names a contact: kind of features, then the nodes or pieces that meet.
pub type TouchKey = (u8, [u32; 5]);

impl Side {
    /// A body.
    pub fn body(slot: u32, arm: Vec3) -> Side {
        Side { nodes: [slot; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1, arm }
    }

    /// Nodes with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let count = usize::from(self.count);
        self.nodes[..count].iter().zip(&self.weights[..count]).map(|(&i, &w)| (i as usize, w))
    }

    /// Velocity of the point.
    pub fn velocity(&self, v: &Velocities) -> Vec3 {
        let at = |(i, w): (usize, f64)| w * (v[i].linear + v[i].angular.cross(self.arm));
        self.parts().map(at).sum()
    }

    /// Adds an impulse at the point.
    pub fn push(&self, v: &mut Velocities, mass: &[BodyMass], impulse: Vec3) {
        for (i, w) in self.parts() {
            let (own, m) = (w * impulse, &mass[i]);
            v[i].linear += m.inv_mass * own;
            v[i].angular += m.inv_inertia * self.arm.cross(own);
        }
    }

    /// K of the side: its point's velocity per impulse.
    pub fn response(&self, mass: &[BodyMass]) -> Mat3 {
        let mut k = Mat3::ZERO;
        for (i, w) in self.parts() {
            let m = &mass[i];
            k += Mat3::from_diagonal(w * w * m.inv_mass);
            if m.inv_inertia != Mat3::ZERO {
                let q = cross(self.arm);
                k += q.transpose() * m.inv_inertia * q;
            }
        }
        k
    }

    /// Whether it is a body rather than particles.
    pub fn is_body(&self, nodes: &Nodes) -> bool {
        (self.nodes[0] as usize) < nodes.bodies
    }
}

impl Touch {
    /// With the response of its sides; whether anything can move.
    pub fn weigh(&mut self, mass: &[BodyMass]) -> bool {
        self.response = self.a.response(mass) + self.b.response(mass);
        self.normal.dot(self.response * self.normal) > 0.0
    }

    /// Velocity of b against a.
    pub fn velocity(&self, v: &Velocities) -> Vec3 {
        self.b.velocity(v) - self.a.velocity(v)
    }

    /// An impulse on b, and its opposite on a.
    pub fn push(&self, v: &mut Velocities, mass: &[BodyMass], impulse: Vec3) {
        self.b.push(v, mass, impulse);
        self.a.push(v, mass, -impulse);
    }

    /// The two bodies that meet, or none where a side deforms.
    pub fn bodies(&self) -> Option<(u32, u32)> {
        (self.key.0 == BODIES).then_some((self.key.1[0], self.key.1[1]))
    }
}

/// Kinds of features, in the order in which contacts are sorted.
pub const BODIES: u8 = 0;
/// A particle or a triangle against a body.
pub const BODY_PARTICLES: u8 = 1;
/// What deforms against what deforms.
pub const PARTICLES: u8 = 2;

/// The matrix of a cross product, r*.
pub fn cross(r: Vec3) -> Mat3 {
    Mat3::from_cols(r.cross(Vec3::X), r.cross(Vec3::Y), r.cross(Vec3::Z))
}
