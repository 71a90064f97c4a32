//! What comes near in a cloth step: particles and solids, features of solids and triangles, layers of
//! cloth, and pairs that would cross on the way.

use super::layers::{Pair, Surroundings};
use super::system::{Context, Work};
use super::touch::{LastTouch, Span, Touch};
use crate::collide::deformable::{NO_BODY, Particles, Solid as NearSolid, Tree, vertex_solid};
use crate::math::Vec3;
use crate::model::Model;
use crate::shape::{Convex, Geometry, Shape};
use crate::solve::block::Scalar;
use crate::solve::filter::NONE;
use crate::state::State;
use std::sync::Arc;

/// How far triangles may sag into a convex solid between particles that touch it, m.
const SAG: f64 = 1e-3;

/// How far cloth with edges of this length sags into a round solid between particles that touch it, m.
fn sagging(shape: &Shape, edge_length: f64) -> Option<f64> {
    let longest = 1.5 * edge_length;
    match shape.geometry() {
        Geometry::Convex(Convex::Sphere { radius } | Convex::Capsule { radius, .. }) => {
            Some(longest * longest / (8.0 * radius))
        }
        _ => None,
    }
}

/// Whether cloth with edges of this length may sag too far into a solid: fine cloth on a large ball hardly
/// does.
fn sags(shape: &Shape, edge_length: f64) -> bool {
    match shape.geometry() {
        Geometry::Convex(Convex::HalfSpace { .. }) => false,
        _ => sagging(shape, edge_length).is_none_or(|depth| depth > SAG),
    }
}

impl Work {
    /// Particles near solids, with what the last step knew of them.
    pub(super) fn find_touches(&mut self, context: &Context, state: &State, span: &Span) {
        let (model, sheet) = (context.model, &*context.model.sheet);
        let h = span.h;
        self.touches.clear();
        self.depth_before = 0.0;
        let gravity = context.settings.gravity;
        for (i, x1) in self.x1.iter_mut().enumerate() {
            *x1 = state.particles.x[i]
                + h * (state.particles.v[i] + h * sheet.gravity_scale[i] * gravity);
        }
        if self.solids.list.is_empty() {
            return;
        }
        self.reach.clear();
        for (i, x1) in self.x1.iter().enumerate() {
            let travel = (*x1 - state.particles.x[i]).length();
            let reach = 2.0 * sheet.elements.skin[i] + travel.max(0.25 * sheet.edge_length);
            self.reach.push(reach);
        }
        for (particle, _) in &sheet.pins {
            self.reach[*particle as usize] = -1.0;
        }
        let near = self.near_solids(model, span, |_, _| true);
        let particles =
            Particles { x: &state.particles.x, reach: &self.reach, groups: &sheet.groups };
        vertex_solid(&particles, &near, &mut self.near, &mut self.hits);
        // what is pinned does not touch, but the triangles around it do
        for (particle, _) in &sheet.pins {
            let i = *particle as usize;
            self.reach[i] = 2.0 * sheet.elements.skin[i] + 0.25 * sheet.edge_length;
        }
        let last = &state.cloth.touches;
        for hit in &self.hits {
            self.depth_before = self.depth_before.max(-hit.distance);
            let i = hit.particles[0] as usize;
            let friction = sheet.elements.surface(hit.particles[0]).friction;
            let mut radius = sheet.elements.skin[i];
            let shape = &model.bodies[hit.body as usize].shape;
            if let Some(depth) = sagging(shape, sheet.edge_length)
                && !self.is_unknown(hit.body)
            {
                // what may sag stays outside
                radius = radius.max(sheet.elements.radius[i] + depth.min(SAG));
            }
            let Some(mut touch) = Touch::new(model, &self.solids, hit, radius, friction) else {
                continue;
            };
            let key = |t: &LastTouch| (t.particle, t.body);
            let known = last.binary_search_by_key(&(hit.particles[0], hit.body), key);
            match known {
                _ if self.plain => touch.slip(),
                Ok(found) => touch.resume(&last[found], h),
                Err(_) => {}
            }
            let solid = &self.solids.list[touch.solid as usize];
            let (x0, v0) = (state.particles.x[i], state.particles.v[i]);
            // What comes nearer no faster than weight makes it in a step is taken to go on as it
            // does: what hangs beside a solid is held by its threads, and would only have to be let
            // go again.
            let nearer = -hit.normal.dot(v0 - solid.velocity_before(hit.point));
            let falls = nearer > h * gravity.length();
            let guess = if falls { self.x1[i] } else { x0 + h * v0 };
            touch.begin(model, solid, x0, guess, h);
            touch.glide(solid, v0, span);
            self.touches.push(touch);
        }
    }

    fn is_unknown(&self, body: u32) -> bool {
        self.solids.find(body).is_some_and(|i| self.solids.list[i].unknown != NONE)
    }

    /// Corners, edges and round parts of solids near the insides of triangles.
    pub(super) fn find_features(&mut self, context: &Context, state: &State, span: &Span) {
        self.pairs.clear();
        let sheet = &context.model.sheet;
        if !self.sheet.as_ref().is_some_and(|known| Arc::ptr_eq(known, sheet)) {
            let elements = &sheet.elements;
            self.tree = Tree::new(&elements.rest, &elements.triangles, &elements.edges);
            self.sheet = Some(sheet.clone());
        }
        // A body that moves would drop by as much as is left out when it comes from a triangle to a
        // particle, so nothing is.
        for (moves, sag) in [(false, SAG), (true, 0.0)] {
            let near = self.near_solids(context.model, span, |shape, unknown| {
                unknown == moves && sags(shape, sheet.edge_length)
            });
            if near.is_empty() {
                continue;
            }
            let particles =
                Particles { x: &state.particles.x, reach: &self.reach, groups: &sheet.groups };
            self.tree.near_solids(&particles, &near, sag, &mut self.layers);
            let deepest = self.layers.iter().fold(0.0, |d: f64, hit| d.max(-hit.distance));
            self.depth_before = self.depth_before.max(deepest);
            self.add_pairs(context, state, span, false);
        }
    }

    /// How deep vertices and triangles are in solids at the end of the step found, m.
    pub(super) fn depth_after(&mut self, context: &Context, span: &Span) -> (f64, f64) {
        let sheet = &*context.model.sheet;
        let held = self.touches.iter().fold(0.0_f64, |d, touch| d.max(-touch.distance));
        let mut near =
            self.near_solids(context.model, span, |shape, _| sags(shape, sheet.edge_length));
        if near.is_empty() {
            return (held, 0.0);
        }
        for solid in &mut near {
            let Some(found) = self.solids.find(solid.slot) else { continue };
            let found = &self.solids.list[found];
            let delta = match found.unknown {
                NONE => [Vec3::ZERO; 2],
                unknown => self.u_bodies[unknown as usize],
            };
            let center = super::solids::surface(context.model, solid.slot).1;
            (solid.pose, solid.margin) = (found.changed(&delta, span.h).pose(center), 0.0);
        }
        for (reach, skin) in self.reach.iter_mut().zip(&sheet.elements.skin) {
            *reach = reach.min(*skin);
        }
        let particles = Particles { x: &self.x1, reach: &self.reach, groups: &sheet.groups };
        self.tree.near_solids(&particles, &near, SAG, &mut self.layers);
        (held, self.layers.iter().fold(0.0, |d, hit| d.max(-hit.distance)))
    }

    /// Cloth near cloth.
    pub(super) fn find_layers(&mut self, context: &Context, state: &State, span: &Span) {
        let sheet = &*context.model.sheet;
        if !sheet.self_collision {
            return;
        }
        self.radius.clear();
        let owners = sheet.elements.owner.iter().zip(&sheet.elements.radius);
        let shy = |owner: u32| sheet.shy[owner as usize];
        self.radius.extend(owners.map(|(&owner, &r)| if shy(owner) { -1.0 } else { r }));
        let v = &state.particles.v;
        let mean = v.iter().sum::<Vec3>() / v.len() as f64;
        let spread = v.iter().map(|v| (*v - mean).length_squared()).fold(0.0, f64::max).sqrt();
        let margin = (2.0 * span.h * spread).min(0.2 * sheet.edge_length);
        let x = &state.particles.x;
        self.ahead.clear();
        self.ahead.extend(x.iter().zip(v).map(|(x, v)| *x + span.h * (*v - mean)));
        self.tree.proximity((x, &self.ahead), &self.radius, margin, &mut self.layers);
        self.add_pairs(context, state, span, false);
    }

    /// Pairs that would cross on the way to the positions found; true if there are any.
    pub(super) fn add_crossings(&mut self, context: &Context, state: &State, span: &Span) -> bool {
        self.tree.crossings(&state.particles.x, &self.x1, &mut self.layers);
        let radius = &self.radius;
        self.layers.retain(|hit| {
            let count = usize::from(hit.count);
            hit.particles[..count].iter().all(|&i| radius[i as usize] >= 0.0)
        });
        let crossing = !self.layers.is_empty();
        // so many that the step is past saving
        if self.layers.len() > self.x1.len() {
            return true;
        }
        let mut known: Vec<_> = self.pairs.iter().enumerate().map(|(i, p)| (p.key(), i)).collect();
        known.sort_unstable();
        let pairs = &mut self.pairs;
        self.layers.retain(|hit| match known.binary_search_by_key(&hit.key(), |k| k.0) {
            Ok(found) => {
                pairs[known[found].1].harden();
                false
            }
            Err(_) => true,
        });
        self.add_pairs(context, state, span, true);
        crossing
    }

    pub(super) fn add_pairs(
        &mut self,
        context: &Context,
        state: &State,
        span: &Span,
        crossing: bool,
    ) {
        let sheet = &*context.model.sheet;
        let (pattern, blocks) = (&sheet.layout().pattern, &self.blocks);
        for hit in &self.layers {
            let surface = sheet.elements.surface(hit.particles[0]);
            let mut mu = if self.plain { 0.0 } else { surface.friction };
            if hit.body != NO_BODY {
                let material = super::solids::surface(context.model, hit.body).2;
                let combine = crate::body::Combine::GeometricMean;
                mu = material.friction_combine.apply(material.friction, combine, mu);
            }
            let around = Surroundings {
                mass: &sheet.elements.mass,
                radius: &sheet.elements.radius,
                skin: &sheet.elements.skin,
                stiffness: &|i| {
                    let block = &blocks[pattern.diagonal[i] as usize];
                    (block[0][0] + block[1][1] + block[2][2]).wide() / 3.0
                },
                mu,
            };
            if let Some(mut pair) = Pair::new(hit, &self.solids, &around, crossing) {
                pair.begin(&self.solids, &state.particles.x, &self.x1, span);
                if !self.plain {
                    pair.resume(&state.cloth.pairs, span.h);
                }
                self.pairs.push(pair);
            }
        }
    }

    /// Near solids that `wanted` picks by their shape and whether cloth can move them, where they are at the beginning of the step.
    pub(super) fn near_solids<'m>(
        &self,
        model: &'m Model,
        span: &Span,
        wanted: impl Fn(&Shape, bool) -> bool,
    ) -> Vec<NearSolid<'m>> {
        let mut near = Vec::new();
        for s in &self.solids.list {
            let (shape, center, _, groups) = super::solids::surface(model, s.slot);
            if !wanted(shape, s.unknown != NONE) {
                continue;
            }
            let reach = model.bodies[s.slot as usize].reach;
            let turn = s.velocity.angular.length();
            let spin = if turn > 0.0 && reach.is_finite() { turn * reach } else { 0.0 };
            near.push(NearSolid {
                slot: s.slot,
                shape,
                pose: s.before.pose(center),
                groups,
                margin: span.h * (s.velocity.linear.length() + spin),
            });
        }
        near
    }
}
