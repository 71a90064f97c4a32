//! Step V: velocities of time n + 1 [shinar2008 §7].
//!
//!   v = v* + Δt a        by the forces along the way of step IV, without constraints
//!   then contact with friction, and joints and bonds, with restitution 0
//!
//! The print solves for v_m = v* + ½Δt â(x_m, v_m) with constraints projected, which only decides which velocities
//! the forces see. Step III has found these with contacts, joints and bonds inside the solve (`elastic.rs`,
//! `coupled.rs`), and velocities must see the same forces as positions did, or energy is made. The print has Δτ
//! for Δt. Bodies have no forces that depend on velocity but damping: without particles and joints there is
//! nothing to solve.

use super::elastic::Elastic;
use super::half_step::{accelerate, damped, pulled};
use super::nodes::Nodes;
use super::span::Span;
use crate::math::Twist;
use crate::model::Model;
use crate::model::body::mass::unlock_velocity;
use crate::model::settings::{Settings, VelocityRule};
use crate::state::State;

/// Fills `nodes.v` from what step IV left in it, without contact, for bodies alone.
pub fn final_step(
    model: &Model,
    (state, settings): (&State, &Settings),
    span: &Span,
    nodes: &mut Nodes,
) {
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
    pull_points(model, (state, settings), span, nodes);
}

fn pull_points(
    model: &Model,
    (state, settings): (&State, &Settings),
    span: &Span,
    nodes: &mut Nodes,
) {
    for slot in 0..model.points.len() {
        let v = &mut nodes.v[model.bodies.len() + slot];
        *v = pulled((model, state, settings), slot).after(v, span.dt);
    }
}

/// The same with what deforms, joints and bonds.
pub fn final_together(
    model: &Model,
    (state, settings): (&State, &Settings),
    span: &Span,
    nodes: &mut Nodes,
    elastic: &Elastic,
) {
    elastic.finish(model, span, nodes);
    for (slot, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic()) {
        let push = accelerate((model, state, settings), nodes, (slot, nodes.rotation[slot]), span);
        let (start, half) = (nodes.v[slot], nodes.half[slot]);
        let mut v = push.after(&start, span.dt);
        v.linear -= span.dt * body.linear_damping * half.linear;
        v.angular -= span.dt * body.angular_damping * half.angular;
        unlock_velocity(&mut v, body.locks);
        nodes.v[slot] = v;
    }
    pull_points(model, (state, settings), span, nodes);
}
