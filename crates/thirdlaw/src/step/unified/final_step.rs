//! Step V: velocities of time n + 1 [shinar2008 §7].
//!
//!   v_m = v* + ½Δt â(x_m, v_m)       constrained, by conjugate gradients           elastic.rs, solve.rs
//!   v   = v* + Δt a(x_m, v_m)        the same forces without the constraints
//!   bonds, contact with friction, bonds                                            sweeps.rs, contact.rs
//!
//! What the constrained solve finds only decides which velocities the forces see. The print has Δτ for Δt.
//! Bodies have no forces that depend on velocity but damping, so without particles there is nothing to solve.

use super::contact::{self, Relaxed};
use super::elastic::Elastic;
use super::half_step::{accelerate, damped};
use super::nodes::Nodes;
use super::pairs::Touch;
use super::span::Span;
use super::sweeps::Links;
use crate::math::Twist;
use crate::model::Model;
use crate::model::settings::{Settings, VelocityRule};
use crate::state::State;

/// Fills `nodes.v` from what step IV left in it; returns iterations of conjugate gradients and those of contact.
pub fn final_step(
    model: &Model,
    (state, settings): (&State, &Settings),
    span: &Span,
    nodes: &mut Nodes,
    touches: &mut [Touch],
    (links, elastic): (&mut Links, &mut Elastic),
) -> (u32, Relaxed) {
    let mut iterations = 0;
    links.bind(model, nodes);
    if !model.sheet.is_empty() {
        links.touch(model, nodes, touches);
        iterations = elastic.final_step(model, (state, settings), span, nodes, links);
        links.bind(model, nodes);
    }
    let euler = settings.unified.velocity == VelocityRule::BackwardEuler;
    for (slot, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
        let push = accelerate((model, state, settings), nodes, (slot, nodes.rotation[slot]), span);
        let start = nodes.v[slot];
        nodes.v[slot] = if euler {
            damped(body, push.after(&start, span.dt), span.dt)
        } else {
            let h = 0.5 * span.dt;
            let middle = damped(body, push.after(&start, h), h);
            Twist {
                linear: 2.0 * middle.linear - start.linear,
                angular: 2.0 * middle.angular - start.angular,
            }
        };
    }
    links.project(&mut nodes.v, &nodes.mass);
    let relaxed = contact::contact(touches, &mut nodes.v, &nodes.mass, span);
    links.project(&mut nodes.v, &nodes.mass);
    (iterations, relaxed)
}
