//! Incompressible soft bodies \[ISF07\] \[shinar2008 §3 step 2, §7 step 1\].
//!
//!   before step IV   v½ moves positions so that volumes at the end are those at rest
//!   before step V    v̄ⁿ loses its divergence
//!
//! In print the first comes in step I. Here step III finds v½ anew, with contacts inside the solve, and would lose
//! it; so it comes after, with what touches held to what it touches.

use super::nodes::Nodes;
use super::pairs::{Side, Touch};
use super::span::Span;
use crate::contact::incompressible::{Carried, Flow, Mobility, Projection, VolumeReport};
use crate::linalg::filter::NONE;
use crate::math::{Mat3, Twist, Vec3, outer};
use crate::model::Model;
use crate::model::deformable::model::PinHold;

/// Memory of the projections.
#[derive(Debug, Default)]
pub struct Volumes {
    projection: Projection,
    mobility: Mobility,
    particles: Vec<Vec3>,
    bodies: Vec<[Vec3; 2]>,
}

impl Volumes {
    /// Lets the half-step velocities lead to the volumes at rest.
    pub fn displace(
        &mut self,
        model: &Model,
        nodes: &mut Nodes,
        touches: &[Touch],
        span: &Span,
    ) -> VolumeReport {
        let rings = &model.sheet.rings;
        if rings.is_empty() {
            return VolumeReport::default();
        }
        self.hold(model, nodes, touches);
        self.take(&nodes.half, nodes.bodies);
        let Volumes { projection, mobility, particles, bodies } = self;
        let mut flow = Flow { particles, bodies };
        let x = &nodes.x[nodes.bodies..];
        let report = projection.displace(rings, mobility, (x, span.dt), &mut flow);
        self.give(nodes.bodies, &mut nodes.half);
        report
    }

    /// Takes what changes volumes out of the velocities of time n.
    pub fn remove_divergence(
        &mut self,
        model: &Model,
        nodes: &mut Nodes,
        touches: &[Touch],
    ) -> VolumeReport {
        let rings = &model.sheet.rings;
        if rings.is_empty() {
            return VolumeReport::default();
        }
        self.hold(model, nodes, touches);
        self.take(&nodes.v, nodes.bodies);
        let Volumes { projection, mobility, particles, bodies } = self;
        let mut flow = Flow { particles, bodies };
        let x = &nodes.x[nodes.bodies..];
        let report = projection.remove_divergence(rings, mobility, x, &mut flow);
        self.give(nodes.bodies, &mut nodes.v);
        report
    }

    fn take(&mut self, v: &[Twist], bodies: usize) {
        self.particles.clear();
        self.particles.extend(v[bodies..].iter().map(|v| v.linear));
        self.bodies.clear();
        self.bodies.resize(bodies, [Vec3::ZERO; 2]);
    }

    fn give(&self, bodies: usize, v: &mut [Twist]) {
        for (v, new) in v[bodies..].iter_mut().zip(&self.particles) {
            v.linear = *new;
        }
        for (v, [linear, angular]) in v.iter_mut().zip(&self.bodies) {
            v.linear += *linear;
            v.angular += *angular;
        }
    }

    /// What pins and contacts hold.
    fn hold(&mut self, model: &Model, nodes: &Nodes, touches: &[Touch]) {
        let (first, masses) = (nodes.bodies, &model.sheet.elements.mass);
        self.mobility.begin(masses.iter().copied());
        // what each particle is held along, and by which body
        let mut held: Vec<(u32, Mat3, u32)> = Vec::new();
        for (particle, hold) in &model.sheet.pins {
            let body = match hold {
                PinHold::Body { body, .. } => match model.slot(*body) {
                    Ok(slot) => slot as u32,
                    Err(_) => continue,
                },
                _ => NONE,
            };
            held.push((*particle, Mat3::IDENTITY, body));
        }
        let pressing = |touch: &&Touch| touch.normal.dot(touch.impulse) > 0.0;
        for touch in touches.iter().filter(pressing) {
            let single = |side: &Side| side.count == 1 && !side.is_body(nodes);
            let (one, other) = match (single(&touch.a), single(&touch.b)) {
                (true, false) => (&touch.a, &touch.b),
                (false, true) => (&touch.b, &touch.a),
                _ => continue,
            };
            if other.is_body(nodes) {
                let along = outer(touch.normal, touch.normal);
                held.push((one.nodes[0] - first as u32, along, other.nodes[0]));
            }
        }
        // one hold each: a pin, or else the first contact
        held.sort_by_key(|held| held.0);
        held.dedup_by_key(|held| held.0);
        for (particle, along, _) in &held {
            let i = *particle as usize;
            self.mobility.particles[i] = (Mat3::IDENTITY - *along) * (1.0 / masses[i]);
        }
        let carried = held.into_iter().filter(|held| held.2 != NONE);
        let carried = carried.map(|(particle, along, body)| Carried {
            particle,
            body,
            held: along,
            arm: nodes.x[first + particle as usize] - nodes.x[body as usize],
            mass: masses[particle as usize],
        });
        self.mobility.carry(&nodes.mass[..first], carried);
    }
}
