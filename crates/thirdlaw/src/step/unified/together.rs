//! Contacts with all that is solved together with them: what deforms, bonds, joints (steps III and V).

use super::contact::{self, Relaxed};
use super::coupled::{Coupled, Outcome, TOLERANCE};
use super::elastic::Elastic;
use super::joints::Joints;
use super::nodes::Nodes;
use super::pairs::Touch;
use super::rows::Rows;
use super::solve::System;
use super::span::Span;
use crate::linalg::block::{Block, Pattern, block_of};
use crate::math::{Mat3, Twist, Vec3};
use crate::model::Model;
use crate::model::deformable::model::PinHold;
use crate::model::point::PointModel;
use crate::model::settings::Settings;
use crate::state::State;

/// Memory of both steps.
#[derive(Debug, Default)]
pub struct Together {
    rows: Rows,
    coupled: Coupled,
    /// The same for step V.
    last: Coupled,
    /// Joints of the world.
    pub joints: Joints,
    /// Impulses of bonds and contacts that step V begins with: Jᵀz.
    carried: Vec<Twist>,
    /// The mass matrix.
    pattern: Pattern,
    blocks: Vec<Block<f64>>,
    bodies: Vec<(f64, Mat3)>,
}

impl Together {
    /// At the beginning of a step.
    pub fn forget(&mut self) {
        self.joints.forget();
        self.coupled.forget();
        self.last.forget();
    }

    /// Step III: `nodes.half` with contact and friction.
    pub fn half(
        &mut self,
        (model, settings): (&Model, &Settings),
        span: &Span,
        nodes: &mut Nodes,
        elastic: &mut Elastic,
        touches: &mut [Touch],
    ) -> Outcome {
        let Together { rows, coupled, joints, carried, .. } = self;
        rows.clear();
        if !joints.is_empty() {
            joints.want_positions(model, nodes, span, rows);
        }
        let held = rows.list.len();
        rows.bind(model, nodes, 1.0 / span.dt);
        rows.touch(touches, |touch| aim(touch, span));
        coupled.near = false;
        let mut outcome = elastic.couple(model, settings, span, nodes, (rows, coupled, false));
        if held > 0 {
            for _ in 0..settings.joints.iterations {
                let error = joints.aim(model, &nodes.half, span, rows);
                if error <= settings.joints.tolerance || error.is_nan() {
                    break;
                }
                let more = elastic.couple(model, settings, span, nodes, (rows, coupled, true));
                outcome.iterations += more.iterations;
                outcome.residual = more.residual;
            }
        }
        if !joints.is_empty() {
            joints.take_positions(rows, nodes.bodies);
        }
        carried.clear();
        carried.resize(nodes.v.len(), Twist::default());
        for row in &rows.list[held..] {
            rows.scatter(row, row.impulse, carried);
        }
        rows.give(touches);
        outcome
    }

    /// Remembers what contact alone did in step III.
    pub fn carry(&mut self, nodes: &Nodes, touches: &[Touch]) {
        self.carried.clear();
        self.carried.resize(nodes.v.len(), Twist::default());
        for touch in touches {
            for (side, sign) in [(&touch.a, -1.0), (&touch.b, 1.0)] {
                for (i, w) in side.parts() {
                    let push = sign * w * touch.impulse;
                    self.carried[i].linear += push;
                    self.carried[i].angular += side.arm.cross(push);
                }
            }
        }
    }

    /// Velocities with the impulses of step III where these acted: x × mv then is the same before and after the
    /// move.
    fn resume(&self, nodes: &mut Nodes) {
        for ((v, m), push) in nodes.v.iter_mut().zip(&nodes.mass).zip(&self.carried) {
            v.linear += m.inv_mass * push.linear;
            v.angular += m.inv_inertia * push.angular;
        }
    }

    /// Step V with contact alone. `touches` hold the impulses of step III, and may give them back.
    pub fn end_of_bodies(
        &mut self,
        span: &Span,
        nodes: &mut Nodes,
        touches: &mut [Touch],
    ) -> Relaxed {
        self.resume(nodes);
        touches.iter_mut().for_each(|touch| touch.aim = aim(touch, span));
        contact::relax(touches, &mut nodes.v, &nodes.mass, contact::CONTACT)
    }

    /// Step V: `nodes.v` with contact and friction, joints and bonds.
    pub fn end(
        &mut self,
        model: &Model,
        span: &Span,
        nodes: &mut Nodes,
        touches: &mut [Touch],
    ) -> Outcome {
        let bound = |(_, hold): &(u32, PinHold)| matches!(hold, PinHold::Body { .. });
        if self.joints.is_empty() && !model.sheet.pins.iter().any(bound) {
            let Relaxed { rounds, residual } = self.end_of_bodies(span, nodes, touches);
            return Outcome { rounds, residual, iterations: 0 };
        }
        self.resume(nodes);
        self.weigh(model, nodes);
        let Together { rows, last: coupled, pattern, blocks, bodies, joints, .. } = self;
        rows.clear();
        if !joints.is_empty() {
            joints.want_velocities(model, nodes, span, rows);
        }
        rows.bind(model, nodes, 0.0);
        rows.touch(touches, |touch| aim(touch, span));
        let system = System { bodies, pattern, blocks };
        let mut right = Vec::new();
        system.multiply(&nodes.v, &mut right, &mut Default::default());
        let start: Vec<f64> = rows.list.iter().map(|row| row.impulse).collect();
        for (row, z) in rows.list.iter().zip(&start) {
            rows.scatter(row, -z, &mut right);
        }
        let mut v = nodes.v.clone();
        coupled.near = false;
        let outcome = coupled.solve((&system, &nodes.mass), &right, &mut v, rows, TOLERANCE);
        rows.give(touches);
        rows.list.iter_mut().zip(start).for_each(|(row, z)| row.impulse -= z);
        rows.push(&mut nodes.v, &nodes.mass);
        outcome
    }

    /// Writes what joints came to.
    pub fn write(&mut self, model: &Model, state: &mut State, nodes: &Nodes, span: &Span) {
        if !self.joints.is_empty() {
            self.joints.write(model, state, nodes, span, &self.rows);
        }
    }

    /// The mass matrix where nodes are now.
    fn weigh(&mut self, model: &Model, nodes: &Nodes) {
        let masses = &model.sheet.elements.mass;
        if self.pattern.rows() != masses.len() {
            self.pattern = Pattern::new(masses.len(), |_, _| {});
        }
        self.blocks.clear();
        let block = |m: &f64| block_of::<f64>(&Mat3::from_diagonal(Vec3::splat(*m)));
        self.blocks.extend(masses.iter().map(block));
        self.bodies.clear();
        for (slot, body) in model.bodies.iter().enumerate() {
            let r = Mat3::from_quat(nodes.rotation[slot]);
            self.bodies.push(match body.is_dynamic() {
                true => (body.mass, r * body.inertia * r.transpose()),
                false => (0.0, Mat3::ZERO),
            });
        }
        let points = model.points.iter();
        let mass_of = |point: &PointModel| if point.alive { point.mass } else { 0.0 };
        self.bodies.extend(points.map(|point| (mass_of(point), Mat3::ZERO)));
    }
}

/// The least normal velocity, m/s: no farther than to where both touch.
fn aim(touch: &Touch, span: &Span) -> f64 {
    -touch.gap.max(0.0) / span.dt
}
