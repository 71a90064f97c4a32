//! What was found near becomes touches of particles, and pairs that several particles have a part in,
//! with what the last step knew of them.

use super::layers::{Pair, Surface};
use super::solids;
use super::system::{Context, Work};
use super::touch::{LastTouch, Span, Touch};
use crate::collide::deformable::{Obstacle, Solid, Surroundings};
use crate::math::Vec3;
use crate::model::Model;
use crate::solve::block::Scalar;
use crate::solve::filter::NONE;
use crate::state::State;

impl Work {
    /// Particles near solids.
    pub(super) fn find_touches(&mut self, context: &Context, state: &State, span: &Span) {
        let (model, sheet) = (context.model, &context.model.sheet);
        let h = span.h;
        self.touches.clear();
        let gravity = context.settings.gravity;
        let (x, v) = (&state.particles.x, &state.particles.v);
        for (i, x1) in self.x1.iter_mut().enumerate() {
            *x1 = x[i] + h * (v[i] + h * sheet.gravity_scale[i] * gravity);
        }
        let obstacles = self.obstacles(model, h);
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: self.plain };
        self.detector.vertices(&around, x, &self.x1);
        let last = &state.cloth.touches;
        for contact in &self.detector.found {
            let hit = &contact.hit;
            let i = hit.particles[0] as usize;
            let Some(mut touch) = Touch::new(&self.solids, contact) else { continue };
            let key = |t: &LastTouch| (t.particle, t.body);
            let known = last.binary_search_by_key(&(hit.particles[0], hit.body), key);
            match known {
                _ if self.plain => touch.slip(),
                Ok(found) => touch.resume(&last[found], h),
                Err(_) => {}
            }
            let solid = &self.solids.list[touch.solid as usize];
            let (x0, v0) = (x[i], v[i]);
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

    /// Corners, edges and round parts of solids near the insides of triangles.
    pub(super) fn find_features(&mut self, context: &Context, state: &State, span: &Span) {
        self.pairs.clear();
        let obstacles = self.obstacles(context.model, span.h);
        let sheet = &context.model.sheet;
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: self.plain };
        self.detector.features(&around, &state.particles.x);
        self.add_pairs(context, state, span, false);
    }

    /// How deep vertices and triangles are in solids at the end of the step found, m.
    pub(super) fn depth_after(&mut self, context: &Context, span: &Span) -> (f64, f64) {
        let held = self.touches.iter().fold(0.0_f64, |d, touch| d.max(-touch.distance));
        let mut obstacles = self.obstacles(context.model, span.h);
        for Obstacle { solid, .. } in &mut obstacles {
            let Some(found) = self.solids.find(solid.slot) else { continue };
            let found = &self.solids.list[found];
            let delta = match found.unknown {
                NONE => [Vec3::ZERO; 2],
                unknown => self.u_bodies[unknown as usize],
            };
            let center = solids::surface(context.model, solid.slot).1;
            (solid.pose, solid.margin) = (found.changed(&delta, span.h).pose(center), 0.0);
        }
        let sheet = &context.model.sheet;
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: self.plain };
        (held, self.detector.depth_of_triangles(&around, &self.x1))
    }

    /// Cloth near cloth.
    pub(super) fn find_layers(&mut self, context: &Context, state: &State, span: &Span) {
        let sheet = &context.model.sheet;
        if !sheet.self_collision {
            return;
        }
        let around = Surroundings { sheet, obstacles: &[], smooth: self.plain };
        self.detector.layers(&around, &state.particles.x, &state.particles.v, span.h);
        self.add_pairs(context, state, span, false);
    }

    /// Pairs that would cross on the way to the positions found; true if there are any.
    pub(super) fn add_crossings(&mut self, context: &Context, state: &State, span: &Span) -> bool {
        let sheet = &context.model.sheet;
        let around = Surroundings { sheet, obstacles: &[], smooth: self.plain };
        self.detector.crossings(&around, &state.particles.x, &self.x1);
        let found = &mut self.detector.found;
        let crossing = !found.is_empty();
        // so many that the step is past saving
        if found.len() > self.x1.len() {
            return true;
        }
        let mut known: Vec<_> = self.pairs.iter().enumerate().map(|(i, p)| (p.key(), i)).collect();
        known.sort_unstable();
        let pairs = &mut self.pairs;
        found.retain(|contact| {
            let key = contact.hit.key();
            match known.binary_search_by_key(&key, |k| k.0) {
                Ok(found) => {
                    pairs[known[found].1].harden();
                    false
                }
                Err(_) => true,
            }
        });
        self.add_pairs(context, state, span, true);
        crossing
    }

    /// Takes in what was found as pairs.
    fn add_pairs(&mut self, context: &Context, state: &State, span: &Span, crossing: bool) {
        let sheet = &*context.model.sheet;
        let (pattern, blocks) = (&sheet.layout().pattern, &self.blocks);
        let around = Surface {
            mass: &sheet.elements.mass,
            stiffness: &|i| {
                let block = &blocks[pattern.diagonal[i] as usize];
                (block[0][0] + block[1][1] + block[2][2]).wide() / 3.0
            },
        };
        for contact in &self.detector.found {
            if let Some(mut pair) = Pair::new(contact, &self.solids, &around, crossing) {
                pair.begin(&self.solids, &state.particles.x, &self.x1, span);
                if !self.plain {
                    pair.resume(&state.cloth.pairs, span.h);
                }
                self.pairs.push(pair);
            }
        }
    }

    /// Near solids, where they are at the beginning of a step of `h` seconds.
    fn obstacles<'m>(&self, model: &'m Model, h: f64) -> Vec<Obstacle<'m>> {
        let obstacle = |s: &solids::Solid| {
            let (shape, center, material, groups) = solids::surface(model, s.slot);
            let reach = model.bodies[s.slot as usize].reach;
            let turn = s.velocity.angular.length();
            let spin = if turn > 0.0 && reach.is_finite() { turn * reach } else { 0.0 };
            let margin = h * (s.velocity.linear.length() + spin);
            let pose = s.before.pose(center);
            Obstacle {
                solid: Solid { slot: s.slot, shape, pose, groups, margin },
                material,
                movable: s.unknown != NONE,
            }
        };
        self.solids.list.iter().map(obstacle).collect()
    }
}
