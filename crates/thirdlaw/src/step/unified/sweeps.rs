//! Particles that bodies hold, projected inside conjugate gradients in step I [shinar2008 §7.3].
//!
//! One constraint: P_k = 1 − M⁻¹C_k(C_kᵀM⁻¹C_k)⁻¹C_kᵀ. Several are gone through forward and backward,
//! S = P₁P₂…P_n…P₂P₁, which is symmetric in the inner product of M (the mass matrix; the print's M⁻¹ is a slip)
//! even where it has not converged: velocities take S, residuals Sᵀ. Every link acts with opposite impulses at
//! one point, so momentum and angular momentum are kept. Steps III and V solve for them exactly (`coupled.rs`).

use super::nodes::Nodes;
use super::pairs::Side;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3};
use crate::model::Model;
use crate::model::deformable::model::PinHold;

/// Links of a substep.
#[derive(Debug, Default)]
pub struct Links {
    /// One after the other.
    list: Vec<Link>,
}

/// Two sides that must not move against each other.
#[derive(Clone, Copy, Debug)]
struct Link {
    a: Side,
    b: Side,
    /// (C_kᵀM⁻¹C_k)⁻¹.
    block: Mat3,
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
        for link in self.list.iter().rev() {
            act(link, v, mass, of);
        }
    }
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
