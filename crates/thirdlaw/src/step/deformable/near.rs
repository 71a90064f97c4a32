//! What was found near becomes touches of particles, and pairs that several particles have a part in,
//! with what the last step knew of them.

use super::layers::{Pair, Surface};
use super::linear::Linear;
use super::solids::{Solids, surface};
use super::solution::Solution;
use super::system::Trial;
use super::touch::Touch;
use crate::collide::deformable::{DeformableContact, Detector, Obstacle, Solid, Surroundings};
use crate::ids::BodyId;
use crate::linalg::block::Scalar;
use crate::linalg::filter::NONE;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::deformable::model::PinHold;
use crate::state::cloth::LastTouch;

/// A cloth step before its first round.
#[derive(Clone, Copy)]
pub struct Prediction<'a> {
    /// Bodies, placed.
    pub solids: &'a Solids,
    /// The system, formed.
    pub linear: &'a Linear,
    /// Where particles are on their way to.
    pub solution: &'a Solution,
}

/// What is near in a cloth step.
#[derive(Debug, Default)]
pub struct Contacts {
    /// Particles near solids.
    pub touches: Vec<Touch>,
    /// Features of solids near triangles, and surfaces near each other.
    pub pairs: Vec<Pair>,
    /// Whether the last round took particles into a solid.
    pub entered: bool,
    /// Whether contacts have no friction and no memory.
    pub plain: bool,
}

impl Contacts {
    /// Particles near solids.
    pub fn find_touches(
        &mut self,
        trial: &Trial,
        prediction: &Prediction,
        detector: &mut Detector,
    ) {
        let Trial { context, state, span } = trial;
        let Prediction { solids, solution, .. } = prediction;
        let (model, sheet) = (context.model, &context.model.sheet);
        let h = span.h;
        self.touches.clear();
        let gravity = context.settings.gravity;
        let (x, v) = (&state.particles.x, &state.particles.v);
        let obstacles = obstacles(model, solids, h);
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: self.plain };
        detector.vertices(&around, x, &solution.x1);
        let last = &state.cloth.touches;
        for contact in &detector.found {
            let hit = &contact.hit;
            let i = hit.particles[0] as usize;
            if carries(model, hit.particles[0], hit.body) {
                continue;
            }
            let Some(mut touch) = Touch::new(solids, contact) else { continue };
            let key = |t: &LastTouch| (t.particle, t.body);
            let known = last.binary_search_by_key(&(hit.particles[0], hit.body), key);
            match known {
                _ if self.plain => touch.smooth(),
                Ok(found) => touch.resume(&last[found], h),
                Err(_) => {}
            }
            let solid = &solids.list[touch.solid as usize];
            let (x0, v0) = (x[i], v[i]);
            // What comes nearer no faster than weight makes it in a step is taken to go on as it
            // does: what hangs beside a solid is held by its threads, and would only have to be let
            // go again.
            let nearer = -hit.normal.dot(v0 - solid.velocity_before(hit.point));
            let falls = nearer > h * gravity.length();
            let guess = if falls { solution.x1[i] } else { x0 + h * v0 };
            touch.begin(model, solid, x0, guess, span);
            touch.glide(solid, v0, span);
            self.touches.push(touch);
        }
    }

    /// Corners, edges and round parts of solids near the insides of triangles.
    pub fn find_features(
        &mut self,
        trial: &Trial,
        prediction: &Prediction,
        detector: &mut Detector,
    ) {
        let Trial { context, state, span } = trial;
        self.pairs.clear();
        let obstacles = obstacles(context.model, prediction.solids, span.h);
        let sheet = &context.model.sheet;
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: self.plain };
        detector.features(&around, &state.particles.x);
        self.add_pairs(trial, prediction, &detector.found, false);
    }

    /// Everything pushed only this part of what it did.
    pub fn weaken(&mut self, part: f64) {
        let scaled = |x: f64| if part > 0.0 { part * x } else { 0.0 };
        for touch in &mut self.touches {
            touch.pressure = scaled(touch.pressure);
            touch.friction = if part > 0.0 { part * touch.friction } else { Vec3::ZERO };
        }
        self.pairs.iter_mut().for_each(|pair| pair.weaken(part));
    }

    /// How deep vertices and triangles are in solids at the end of the step found, m.
    pub fn depth_after(
        &self,
        trial: &Trial,
        solids: &Solids,
        solution: &Solution,
        detector: &mut Detector,
    ) -> (f64, f64) {
        let Trial { context, span, .. } = trial;
        let held = self.touches.iter().fold(0.0_f64, |d, touch| d.max(-touch.distance));
        let mut obstacles = obstacles(context.model, solids, span.h);
        for Obstacle { solid, .. } in &mut obstacles {
            let Some(found) = solids.find(solid.slot) else { continue };
            let found = &solids.list[found];
            let delta = match found.unknown {
                NONE => [Vec3::ZERO; 2],
                unknown => solution.u_bodies[unknown as usize],
            };
            let center = surface(context.model, solid.slot).1;
            (solid.pose, solid.margin) = (found.changed(&delta, span.h).pose(center), 0.0);
        }
        let sheet = &context.model.sheet;
        let around = Surroundings { sheet, obstacles: &obstacles, smooth: self.plain };
        (held, detector.depth_of_triangles(&around, &solution.x1))
    }

    /// Cloth near cloth.
    pub fn find_layers(&mut self, trial: &Trial, prediction: &Prediction, detector: &mut Detector) {
        let Trial { context, state, span } = trial;
        let sheet = &context.model.sheet;
        if !sheet.self_collision {
            return;
        }
        let around = Surroundings { sheet, obstacles: &[], smooth: self.plain };
        detector.layers(&around, &state.particles.x, &state.particles.v, span.h);
        self.add_pairs(trial, prediction, &detector.found, false);
    }

    /// Pairs that would cross on the way to the positions found; true if there are any.
    pub fn add_crossings(
        &mut self,
        trial: &Trial,
        prediction: &Prediction,
        detector: &mut Detector,
    ) -> bool {
        let Trial { context, state, .. } = trial;
        let solution = prediction.solution;
        let sheet = &context.model.sheet;
        let around = Surroundings { sheet, obstacles: &[], smooth: self.plain };
        detector.crossings(&around, &state.particles.x, &solution.x1);
        let found = &mut detector.found;
        let crossing = !found.is_empty();
        // so many that the step is past saving
        if found.len() > solution.x1.len() {
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
        self.add_pairs(trial, prediction, &detector.found, true);
        crossing
    }

    /// Takes in what was found as pairs.
    fn add_pairs(
        &mut self,
        trial: &Trial,
        prediction: &Prediction,
        found: &[DeformableContact],
        crossing: bool,
    ) {
        let Prediction { solids, linear, solution } = prediction;
        let Trial { state, span, .. } = trial;
        let sheet = trial.sheet();
        let (pattern, blocks) = (&sheet.layout().pattern, &linear.blocks);
        let around = Surface {
            mass: &sheet.elements.mass,
            stiffness: &|i| {
                let block = &blocks[pattern.diagonal[i] as usize];
                (block[0][0] + block[1][1] + block[2][2]).wide() / 3.0
            },
        };
        for contact in found {
            if let Some(mut pair) = Pair::new(contact, solids, &around, crossing) {
                pair.begin(solids, &state.particles.x, &solution.x1, span);
                if span.turns {
                    let moving = (&state.particles.x[..], &state.particles.v[..]);
                    pair.aim(trial.context.model, solids, moving, span);
                }
                if !self.plain {
                    pair.resume(&state.cloth.pairs, span.h);
                }
                self.pairs.push(pair);
            }
        }
    }
}

/// Whether a particle is bound to a body, which then does not touch it.
fn carries(model: &Model, particle: u32, slot: u32) -> bool {
    let sheet = &model.sheet;
    let is = |body: BodyId| model.slot(body) == Ok(slot as usize);
    let pin = sheet.pins.binary_search_by_key(&particle, |pin| pin.0);
    let bond = sheet.body_bonds.binary_search_by_key(&particle, |bond| bond.particle);
    pin.is_ok_and(|k| matches!(&sheet.pins[k].1, PinHold::Body { body, .. } if is(*body)))
        || bond.is_ok_and(|k| is(sheet.body_bonds[k].body))
}

/// Near solids, where they are at the beginning of a step of `h` seconds.
fn obstacles<'m>(model: &'m Model, solids: &Solids, h: f64) -> Vec<Obstacle<'m>> {
    let obstacle = |s: &super::solids::Solid| {
        let (shape, center, material, groups) = surface(model, s.slot);
        let reach = model.bodies[s.slot as usize].reach;
        let turn = s.velocity.angular.length();
        let spin = if turn > 0.0 && reach.is_finite() { turn * reach } else { 0.0 };
        let margin = h * (s.velocity.linear.length() + spin);
        let pose = s.before.pose(center);
        Obstacle {
            solid: Solid {
                slot: s.slot,
                shape,
                parts: &model.bodies[s.slot as usize].parts,
                pose,
                groups,
                margin,
            },
            material,
            movable: s.unknown != NONE,
        }
    };
    solids.list.iter().map(obstacle).collect()
}
