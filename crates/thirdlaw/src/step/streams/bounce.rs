//! Bounces: the simple collision law, and what happens to particles that have no room.
//!
//! With n the surface's normal and w the velocity relative to it before, the law is
//!
//!   n·w′ = −e n·w,   friction ≤ μ × the change along n, against the slip.
//!
//! The law alone takes what is struck for immovable. A body that many particles strike in one step
//! would then be given more than all of them carry: a light one would be thrown ahead faster than
//! the jet. So each particle meets its share of the body, as in mass splitting [tonge2012 §4]: with
//! H the mass of all particles that strike the body in the step and k the body's response at the
//! place, changes are divided by 1 + Hk. One particle bounces as from a free body, many as one lump
//! of their mass, and kinetic energy is not gained.
//!
//! The body answers only in the next step, so that a particle may still move toward its surface
//! after a bounce. Its velocity is kept, but its way u for the rest of the step is not let through.

use super::advance::{Flight, skin};
use super::corner::Corner;
use super::flight::{Chunk, Contact, Except, Meeting, Surroundings, Target};
use crate::math::Vec3;
use crate::model::emitter::model::EmitterModel;
use crate::state::stream::life;

/// Most bounces of a particle in a step. One that would bounce more often stays where it is on what
/// it struck last; if that would bring it into something else, it is crushed: it is taken out, and
/// its momentum goes to the heavier of the two, to a cloth as a whole. A heavy particle would throw the
/// three light vertices next to it with many times its energy.
pub const BOUNCES_MAX: u32 = 8;

/// What a particle pushes.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub target: Target,
    /// Share of each corner of a triangle.
    pub weights: [f64; 3],
    /// On what was struck, N·s.
    pub impulse: Vec3,
    /// Where, m.
    pub point: Vec3,
    /// Whether the whole cloth gets it and not the corners of a triangle alone.
    pub spread: bool,
}

/// Masses of the particles that strike things in a step, kg.
#[derive(Clone, Copy)]
pub struct Loads<'a> {
    /// One per slot of bodies.
    pub bodies: &'a [f64],
    /// One per vertex of cloth.
    pub vertices: &'a [f64],
}

/// What bounces of a chunk left behind.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub hits: Vec<Hit>,
    /// Particles whose life is over, in order.
    pub dead: Vec<u32>,
    pub crushed: u32,
}

/// The law for the particles of one emitter in one step.
pub struct Law<'a> {
    pub around: Surroundings<'a>,
    pub model: &'a EmitterModel,
    pub loads: Loads<'a>,
    /// Approach speeds below this do not bounce, m/s: what gravity gives in two steps.
    pub bounce_speed: f64,
}

/// A particle on its way through a step.
struct Traveller {
    x: Vec3,
    /// The velocity it will have.
    v: Vec3,
    /// The velocity it moves by.
    u: Vec3,
    time: f64,
    /// Surfaces that it touches.
    corner: Corner,
    /// Whether it has struck cloth in this step.
    struck_cloth: bool,
}

impl Law<'_> {
    /// Brings the particles that meet something to the end of the step, and lists those that end.
    pub fn finish(&self, chunk: &mut Chunk, contacts: &[Contact], out: &mut Outcome) {
        out.hits.clear();
        out.dead.clear();
        out.crushed = 0;
        for contact in contacts {
            let i = contact.particle as usize;
            let from = (self.around.dt - chunk.age[i]).max(0.0);
            let (x, v) = (chunk.x[i], chunk.v[i]);
            let corner = Corner::default();
            let mut traveller = Traveller { x, v, u: v, time: from, corner, struck_cloth: false };
            let room = self.travel(&mut traveller, contact.meeting, &mut out.hits);
            (chunk.x[i], chunk.v[i]) = (traveller.x, traveller.v);
            if !room {
                chunk.age[i] = f64::INFINITY;
                out.crushed += 1;
            }
        }
        for (i, (&age, &id)) in chunk.age.iter().zip(chunk.id).enumerate() {
            if age >= life(self.model, id) {
                out.dead.push(i as u32);
            }
        }
    }

    /// Bounces from `meeting` on; false if there is no room left for the particle.
    fn travel(&self, p: &mut Traveller, mut meeting: Meeting, hits: &mut Vec<Hit>) -> bool {
        let e = &self.model.emitter;
        let skin = skin(e.radius);
        let flight = |p: &Traveller| Flight {
            x: p.x,
            u: p.u,
            from: p.time,
            until: self.around.dt,
            radius: e.radius,
            skin,
        };
        for _ in 0..BOUNCES_MAX {
            let touch = meeting.touch;
            p.x += p.u * (touch.time - p.time);
            p.corner.leave(p.u, touch.time - p.time, skin);
            p.time = touch.time;
            if touch.gap < 0.25 * skin {
                p.x += touch.normal * (0.5 * skin - touch.gap).min(skin);
            }
            hits.extend(self.strike(p, &meeting));
            match self.around.first(&flight(p), e.groups, Except::Nothing) {
                Some(next) => meeting = next,
                None => {
                    p.x += p.u * (self.around.dt - p.time);
                    return true;
                }
            }
        }
        self.ride(p, &meeting, hits)
    }

    /// The collision law. Changes the velocity of the particle and its way, and returns what was
    /// pushed.
    fn strike(&self, p: &mut Traveller, meeting: &Meeting) -> Option<Hit> {
        let Meeting { touch, target, weights, .. } = *meeting;
        let n = touch.normal;
        let surface = self.surface(p.x, meeting);
        let w = p.v - surface.velocity;
        let approach = -n.dot(w);
        let mut hit = None;
        // vertices do not answer before the next step, and neighbouring triangles share them: what has
        // struck one is only led along the others
        let again = p.struck_cloth && matches!(target, Target::Triangle(_));
        if approach > 0.0 && !again {
            p.struck_cloth |= matches!(target, Target::Triangle(_));
            let yielding = 1.0 / (1.0 + surface.load_response);
            let bounce = if approach > self.bounce_speed { surface.restitution } else { 0.0 };
            let along = (1.0 + bounce) * approach * yielding;
            let slip = w + n * approach;
            let speed = slip.length();
            let rub = if speed > 0.0 {
                slip * (-(surface.friction * along).min(speed * yielding) / speed)
            } else {
                Vec3::ZERO
            };
            let change = n * along + rub;
            p.v += change;
            let impulse = -self.model.emitter.mass * change;
            hit = Some(Hit { target, weights, impulse, point: p.x, spread: false });
        }
        p.corner.add(n, surface.path);
        p.u = p.corner.way(p.v);
        hit
    }

    fn surface(&self, p: Vec3, meeting: &Meeting) -> Surface {
        let Meeting { touch, target, weights, piece } = *meeting;
        let e = &self.model.emitter;
        match target {
            Target::Body(slot) => {
                let solid = &self.around.solids.list[slot as usize];
                let load = self.loads.bodies[slot as usize].max(e.mass);
                let body = &self.around.model.bodies[slot as usize];
                let b = body.part_of(piece).map_or(&solid.material, |part| &part.part.material);
                let a = &e.material;
                Surface {
                    velocity: solid.velocity(p, touch.time),
                    path: solid.path_velocity(p, touch.time),
                    load_response: load * solid.response(p, touch.normal, touch.time).max(0.0),
                    friction: a.friction_combine.apply(a.friction, b.friction_combine, b.friction),
                    restitution: a.restitution_combine.apply(
                        a.restitution,
                        b.restitution_combine,
                        b.restitution,
                    ),
                }
            }
            Target::Triangle(triangle) => {
                let cloths = self.around.cloths;
                let nodes = cloths.nodes(triangle);
                let share = touch.time / self.around.dt;
                let mut load_response = 0.0;
                for (&i, w) in nodes.iter().zip(weights) {
                    let load = self.loads.vertices[i as usize].max(e.mass * w);
                    load_response += w * load / cloths.mass(i);
                }
                let friction = cloths.friction(triangle);
                let rule = e.material.friction_combine;
                Surface {
                    velocity: cloths.velocity(nodes, weights, share),
                    path: cloths.path_velocity(nodes, weights),
                    load_response,
                    friction: rule.apply(e.material.friction, rule, friction),
                    restitution: e.material.restitution,
                }
            }
        }
    }

    /// Keeps the particle where it is on what it struck last until the end of the step.
    fn ride(&self, p: &mut Traveller, meeting: &Meeting, hits: &mut Vec<Hit>) -> bool {
        let Meeting { touch, target, weights, .. } = *meeting;
        let (around, e) = (&self.around, &self.model.emitter);
        p.x += p.u * (touch.time - p.time);
        p.time = touch.time;
        let rest = around.dt - p.time;
        let (goal, except) = match target {
            Target::Body(slot) => {
                let solid = &around.solids.list[slot as usize];
                (solid.place(solid.local(p.x, p.time), around.dt), Except::Body(slot))
            }
            Target::Triangle(triangle) => {
                let nodes = around.cloths.nodes(triangle);
                let (q0, n0) = around.cloths.place(nodes, weights, p.time);
                let (q1, n1) = around.cloths.place(nodes, weights, around.dt);
                let d = p.x - q0;
                let height = d.dot(n0);
                // above the inside of a triangle, stay above it however it turns
                let above = height.abs() > 0.9 * d.length();
                (q1 + if above { n1 * height } else { d }, Except::Around(nodes))
            }
        };
        if rest <= 0.0 {
            return true;
        }
        p.u = (goal - p.x) / rest;
        let flight = Flight {
            x: p.x,
            u: p.u,
            from: p.time,
            until: around.dt,
            radius: e.radius,
            skin: skin(e.radius),
        };
        if let Some(other) = around.first(&flight, e.groups, except) {
            let response = |meeting: &Meeting| self.surface(p.x, meeting).load_response;
            let heavier = response(&other) < response(meeting);
            let Meeting { target, weights, .. } = if heavier { other } else { *meeting };
            let impulse = e.mass * p.v;
            hits.push(Hit { target, weights, impulse, point: p.x, spread: true });
            return false;
        }
        p.x = goal;
        true
    }
}

/// What the law wants to know about the place that is struck.
struct Surface {
    /// That decides about the bounce, m/s.
    velocity: Vec3,
    /// By which the place moves, m/s.
    path: Vec3,
    /// Mass that strikes in the step times the response to impulses.
    load_response: f64,
    friction: f64,
    restitution: f64,
}
