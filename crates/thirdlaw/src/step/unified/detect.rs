//! What is near, as touches: rigid bodies by their manifolds (`collide/`), what deforms by the records of
//! `collide/deformable/detect.rs`.
//!
//! The paper looks for overlaps at predicted places again and again. Here contacts are found once, as far away
//! as things may go in the substep, and gaps are linear in the motion from there: a prediction costs a
//! product, both sides act at one point, and thin things cannot be stepped over.

use super::nodes::Nodes;
use super::pairs::{BODIES, BODY_PARTICLES, PARTICLES, Side, Touch};
use super::span::Span;
use crate::collide::broad::BroadPhase;
use crate::collide::deformable::{
    DeformableContact, Detector, Hit, NO_BODY, Obstacle, Solid, Surroundings,
};
use crate::collide::{Manifold, NarrowScratch, collide};
use crate::math::Vec3;
use crate::model::Model;
use crate::model::settings::Settings;
use crate::state::State;
use parry3d_f64::bounding_volume::Aabb;

/// Memory of the search.
#[derive(Debug, Default)]
pub struct Search {
    /// What was found, in order of keys.
    pub touches: Vec<Touch>,
    broad: BroadPhase,
    narrow: NarrowScratch,
    detector: Detector,
    ahead: Vec<Vec3>,
    speeds: Vec<Vec3>,
}

impl Search {
    /// All that may touch within the span, from where the nodes are. The state has their places.
    pub fn find(
        &mut self,
        model: &Model,
        state: &State,
        nodes: &Nodes,
        settings: &Settings,
        span: &Span,
        apart: &[(u32, u32)],
    ) {
        self.touches.clear();
        self.broad.update(model, state, (span.dt, settings.gravity));
        self.broad.leave_out(apart);
        self.find_bodies(model, nodes, settings, span);
        if !model.sheet.is_empty() {
            self.find_deformables(model, nodes, settings, span);
        }
        self.touches.retain_mut(|touch| touch.weigh(&nodes.mass));
        self.touches.sort_by_key(|touch| touch.key);
    }

    /// What knows the surfaces that deform, as the last search left it.
    pub fn layers(&mut self) -> &mut Detector {
        &mut self.detector
    }

    fn find_bodies(&mut self, model: &Model, nodes: &Nodes, settings: &Settings, span: &Span) {
        let fall = span.dt * span.dt * settings.gravity.length();
        let Search { touches, broad, narrow, .. } = self;
        for (a, b) in broad.pairs() {
            let (i, j) = (a as usize, b as usize);
            let (one, other) = (&model.bodies[i], &model.bodies[j]);
            let margin = broad.looked(i, j, span.dt) + fall;
            let mut emit = |piece_a: u32, piece_b: u32, manifold: &Manifold| {
                if !one.collides_with(piece_a, other, piece_b) {
                    return;
                }
                let (m, n) = (one.material_of(piece_a), other.material_of(piece_b));
                let friction = m.friction_combine.apply(m.friction, n.friction_combine, n.friction);
                let rule = m.restitution_combine;
                let restitution = rule.apply(m.restitution, n.restitution_combine, n.restitution);
                let normal = manifold.normal;
                for (place, point) in manifold.points().iter().enumerate() {
                    let on_a = point.core_a + point.radius_a * normal;
                    let on_b = point.core_b - point.radius_b * normal;
                    let at = 0.5 * (on_a + on_b);
                    touches.push(Touch {
                        key: (BODIES, [a, b, piece_a, piece_b, place as u32]),
                        a: Side::body(a, at - nodes.x[i]),
                        b: Side::body(b, at - nodes.x[j]),
                        normal,
                        gap: point.separation,
                        friction,
                        restitution,
                        ..Touch::default()
                    });
                }
            };
            let (pose_a, pose_b) = (nodes.pose(i, one), nodes.pose(j, other));
            collide(&one.shape, &pose_a, &other.shape, &pose_b, margin, narrow, &mut emit);
        }
    }

    fn find_deformables(&mut self, model: &Model, nodes: &Nodes, settings: &Settings, span: &Span) {
        let Search { touches, detector, ahead, speeds, .. } = self;
        let sheet = &model.sheet;
        let x = &nodes.x[nodes.bodies..];
        ahead.clear();
        speeds.clear();
        for (x, half) in x.iter().zip(&nodes.half[nodes.bodies..]) {
            ahead.push(*x + span.dt * half.linear);
            speeds.push(half.linear);
        }
        let obstacles = obstacles(model, nodes, ahead, settings, span);
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: false };
        let mut record = |found: &[DeformableContact]| {
            touches.extend(found.iter().map(|contact| touch(contact, nodes)));
        };
        detector.vertices(&around, x, ahead);
        record(&detector.found);
        if !sheet.elements.triangles.is_empty() {
            detector.features(&around, x);
            record(&detector.found);
            if sheet.self_collision {
                detector.layers(&around, x, speeds, span.dt);
                record(&detector.found);
            }
        }
    }
}

/// A record of what deforms as a touch.
fn touch(contact: &DeformableContact, nodes: &Nodes) -> Touch {
    let DeformableContact { hit, apart, friction } = contact;
    let (kind, [f, g, h]) = (hit.kind as u32, hit.feature);
    let mut touch = Touch {
        normal: hit.normal,
        gap: hit.distance - apart,
        friction: *friction,
        b: side(hit, nodes, 1.0),
        ..Touch::default()
    };
    if hit.body == NO_BODY {
        touch.key = (PARTICLES, [kind, f, g, h, 0]);
        touch.a = side(hit, nodes, -1.0);
    } else {
        let at = hit.combine(&nodes.x[nodes.bodies..]);
        touch.key = (BODY_PARTICLES, [hit.body, kind, f, g, h]);
        touch.a = Side::body(hit.body, at - nodes.x[hit.body as usize]);
    }
    touch
}

/// The particles of a hit whose weights have this sign.
fn side(hit: &Hit, nodes: &Nodes, sign: f64) -> Side {
    let mut side = Side::default();
    let count = usize::from(hit.count).min(4);
    for (&particle, &weight) in hit.particles[..count].iter().zip(&hit.weights[..count]) {
        if sign * weight > 0.0 {
            let place = usize::from(side.count);
            side.nodes[place] = nodes.bodies as u32 + particle;
            side.weights[place] = sign * weight;
            side.count += 1;
        }
    }
    side
}

/// Bodies near what deforms, in order of slots.
fn obstacles<'a>(
    model: &'a Model,
    nodes: &Nodes,
    ahead: &[Vec3],
    settings: &Settings,
    span: &Span,
) -> Vec<Obstacle<'a>> {
    let particles = nodes.x[nodes.bodies..].iter().chain(ahead);
    let far = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
    let (lo, hi) = particles.fold(far, |(lo, hi), x| (lo.min(*x), hi.max(*x)));
    let fall = span.dt * span.dt * settings.gravity.length();
    let mut list = Vec::new();
    for (slot, body) in model.bodies.iter().enumerate().filter(|(_, body)| body.alive) {
        let (pose, half) = (nodes.pose(slot, body), &nodes.half[slot]);
        let turns = if body.reach.is_finite() { body.reach * half.angular.length() } else { 0.0 };
        let margin = span.dt * (half.linear.length() + turns) + fall;
        if !body.shape.is_half_space() {
            let Aabb { mins, maxs } = body.shape.aabb(&pose);
            let wide = Vec3::splat(margin + model.sheet.edge_length + 1e-3);
            if !((mins - wide).cmple(hi).all() && lo.cmple(maxs + wide).all()) {
                continue;
            }
        }
        list.push(Obstacle {
            solid: Solid {
                slot: slot as u32,
                shape: &body.shape,
                parts: &body.parts,
                pose,
                groups: body.groups,
                margin,
            },
            material: &body.material,
            movable: body.is_dynamic(),
        });
    }
    list
}
