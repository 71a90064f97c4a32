//! Step I: velocities of time n + ½ [shinar2008 §3].
//!
//!   v½ = vⁿ + ½Δt a(xⁿ + ½Δt v½, v½)
//!
//! Bodies: weight, forces, damping (implicit). What deforms: fully implicit after [baraff1998], linearized at
//! xⁿ, with held particles and bonds projected; contacts can stick and are left out. There is no volume
//! correction.

use super::elastic::{Elastic, middle};
use super::nodes::Nodes;
use super::span::Span;
use super::sweeps::Links;
use crate::math::{Quat, Twist, Vec3};
use crate::model::Model;
use crate::model::body::mass::unlock_velocity;
use crate::model::body::model::BodyModel;
use crate::model::settings::Settings;
use crate::state::State;
use crate::step::rigid::substep::{LocalBody, external_force};

/// Fills `nodes.half` from `nodes.v`; returns iterations of conjugate gradients.
pub fn half_step(
    model: &Model,
    state: &State,
    settings: &Settings,
    span: &Span,
    nodes: &mut Nodes,
    (links, elastic): (&Links, &mut Elastic),
) -> u32 {
    let together = elastic.together;
    let h = if together { middle(settings, span) } else { 0.5 * span.dt };
    elastic.pushed_bodies.clear();
    elastic.pushed_bodies.resize(nodes.bodies, Acceleration::default());
    for (slot, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
        let rotation = nodes.rotation[slot];
        let push = accelerate((model, state, settings), nodes, (slot, rotation), span);
        nodes.half[slot] = damped(body, push.after(&nodes.v[slot], h), h);
        elastic.pushed_bodies[slot] = push;
    }
    for slot in 0..model.points.len() {
        let (node, push) = (model.bodies.len() + slot, pulled((model, state, settings), slot));
        nodes.half[node] = push.after(&nodes.v[node], h);
        elastic.pushed_bodies[node] = push;
    }
    if !together {
        links.project(&mut nodes.half, &nodes.mass);
        return 0;
    }
    elastic.half_step(model, settings, span, nodes, links)
}

/// What forces alone do to a body, m/s² and rad/s².
#[derive(Clone, Copy, Debug, Default)]
pub struct Acceleration {
    linear: Vec3,
    angular: Vec3,
}

impl Acceleration {
    /// The velocity after `h` seconds.
    pub fn after(&self, v: &Twist, h: f64) -> Twist {
        Twist { linear: v.linear + h * self.linear, angular: v.angular + h * self.angular }
    }
}

/// Acceleration of a body by weight and forces over the span.
pub fn accelerate(
    (model, state, settings): (&Model, &State, &Settings),
    nodes: &Nodes,
    (slot, rotation): (usize, Quat),
    span: &Span,
) -> Acceleration {
    let (body, mass) = (&model.bodies[slot], &nodes.mass[slot]);
    let local = LocalBody { slot: slot as u32, position: nodes.x[slot], rotation };
    let (force, torque) = external_force(body, &local, span.time, span.dt);
    let push = &state.bodies[slot].push;
    let free = mass.inv_mass * body.mass;
    Acceleration {
        linear: free * (body.gravity_scale * settings.gravity)
            + mass.inv_mass * (force + push.force),
        angular: mass.inv_inertia * (torque + push.torque),
    }
}

/// Acceleration of a point mass by weight and what pushes it.
pub fn pulled((model, state, settings): (&Model, &State, &Settings), slot: usize) -> Acceleration {
    let point = &model.points[slot];
    if !point.alive {
        return Acceleration::default();
    }
    let push = state.points.push[slot] / point.mass;
    Acceleration { linear: point.gravity_scale * settings.gravity + push, angular: Vec3::ZERO }
}

/// Implicit damping over `h` seconds, and locks.
pub fn damped(body: &BodyModel, mut v: Twist, h: f64) -> Twist {
    v.linear /= 1.0 + h * body.linear_damping;
    v.angular /= 1.0 + h * body.angular_damping;
    unlock_velocity(&mut v, body.locks);
    v
}
