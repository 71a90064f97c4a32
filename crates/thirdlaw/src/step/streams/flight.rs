//! The flight of particles: forces, and the first surface on the way.
//!
//! Velocities go by semi-implicit Euler, as those of bodies do, so that what falls together stays
//! together. Drag is solved exactly over the step for the rate that it begins with,
//!
//!   w′ = w e^{−kh} + a (1 − e^{−kh})/k,   k = drag + drag_quadratic·|w|,   w = v − wind,
//!
//! whose resting point a/k is the terminal velocity for any step.

use super::advance::{Flight, Touch, skin};
use super::grid::{Bounds, Grid};
use super::sheet::Cloths;
use super::solid::Solids;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::body::Groups;
use crate::model::emitter::field::ForceField;
use crate::model::emitter::model::EmitterModel;

/// Everything that particles may meet in a step.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub model: &'a Model,
    pub solids: &'a Solids,
    pub solid_grid: &'a Grid,
    pub cloths: &'a Cloths,
    pub cloth_grid: &'a Grid,
    pub dt: f64,
}

/// What a particle meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The body in a slot.
    Body(u32),
    /// A triangle of cloth.
    Triangle(u32),
}

/// A particle meets something.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    pub touch: Touch,
    pub target: Target,
    /// Share of each corner of a triangle.
    pub weights: [f64; 3],
    /// Which convex piece of a body.
    pub piece: u32,
}

/// What does not count in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Except {
    Nothing,
    /// A body.
    Body(u32),
    /// A triangle of cloth and all that share a corner with it.
    Around([u32; 3]),
}

impl Surroundings<'_> {
    /// Whether there is anything near the way from `a` to `b`: few particles are near anything.
    #[inline]
    fn crowded(&self, a: Vec3, b: Vec3) -> bool {
        let path = Bounds::around(a, b, 0.0);
        self.solid_grid.any(&self.solids.bounds, &path)
            || self.cloth_grid.any(&self.cloths.bounds, &path)
    }

    /// The first thing that a flight meets.
    pub fn first(&self, flight: &Flight, groups: Groups, except: Except) -> Option<Meeting> {
        let path = Bounds::around(flight.x, flight.at(flight.until), 0.0);
        let mut flight = *flight;
        let mut first = None;
        self.solid_grid.near(&self.solids.bounds, &path, |slot| {
            let solid = &self.solids.list[slot as usize];
            if !solid.groups.touch(groups) || except == Except::Body(slot) {
                return;
            }
            let found = solid.touch(&self.model.bodies[slot as usize], &flight, groups);
            let found = found.filter(|(t, _)| first.is_none() || t.time < flight.until);
            if let Some((touch, piece)) = found {
                flight.until = touch.time;
                let target = Target::Body(slot);
                first = Some(Meeting { touch, target, weights: [0.0; 3], piece });
            }
        });
        if self.cloths.bounds.is_empty() {
            return first;
        }
        self.cloth_grid.near(&self.cloths.bounds, &path, |triangle| {
            let nodes = self.cloths.nodes(triangle);
            if !self.cloths.groups(nodes).touch(groups) {
                return;
            }
            if let Except::Around(other) = except
                && nodes.iter().any(|i| other.contains(i))
            {
                return;
            }
            let found = self.cloths.touch(triangle, &flight);
            if let Some((touch, weights)) =
                found.filter(|f| first.is_none() || f.0.time < flight.until)
            {
                flight.until = touch.time;
                let target = Target::Triangle(triangle);
                first = Some(Meeting { touch, target, weights, piece: 0 });
            }
        });
        first
    }
}

/// What drives the particles of one emitter.
pub struct Forces<'a> {
    /// m/s².
    pub gravity: Vec3,
    /// m/s.
    pub wind: Vec3,
    /// 1/s.
    pub drag: f64,
    /// 1/m.
    pub drag_quadratic: f64,
    pub field: Option<&'a dyn ForceField>,
    /// Slot of the emitter.
    pub slot: u32,
    /// Beginning of the step, s.
    pub time: f64,
    /// Length of the step, s, and the factors of drag over it where they are the same for all.
    whole: (f64, [f64; 2]),
}

impl<'a> Forces<'a> {
    pub fn new(
        model: &'a Model,
        slot: u32,
        settings: &crate::model::settings::Settings,
        (time, dt): (f64, f64),
    ) -> Forces<'a> {
        let e = &model.emitters[slot as usize].emitter;
        let air = settings.cloth.air;
        let (drag, drag_quadratic) = if air { (e.drag, e.drag_quadratic) } else { (0.0, 0.0) };
        Forces {
            gravity: settings.gravity * e.gravity_scale,
            wind: e.wind.unwrap_or(settings.cloth.wind),
            drag,
            drag_quadratic,
            field: model.field.as_deref(),
            slot,
            time,
            whole: (dt, decay(drag, dt)),
        }
    }

    /// The velocity after `h` seconds of forces, `start` into the step.
    #[inline]
    pub fn kick(&self, x: Vec3, v: Vec3, start: f64, h: f64) -> Vec3 {
        let mut a = self.gravity;
        if let Some(field) = self.field {
            a += field.acceleration(self.slot, x, v, self.time + start);
        }
        if self.drag == 0.0 && self.drag_quadratic == 0.0 {
            return v + h * a;
        }
        let w = v - self.wind;
        let [keep, gain] = if self.drag_quadratic == 0.0 && h == self.whole.0 {
            self.whole.1
        } else {
            decay(self.drag + self.drag_quadratic * w.length(), h)
        };
        self.wind + keep * w + gain * a
    }
}

/// e^{−kh} and (1 − e^{−kh})/k.
fn decay(k: f64, h: f64) -> [f64; 2] {
    let gain = if k * h > 1e-12 { -libm::expm1(-k * h) / k } else { h };
    [1.0 - k * gain, gain]
}

/// The particles of one chunk of a stream.
pub struct Chunk<'a> {
    pub x: &'a mut [Vec3],
    pub v: &'a mut [Vec3],
    pub age: &'a mut [f64],
    pub id: &'a [u64],
}

/// A particle that meets something.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// Which of its chunk.
    pub particle: u32,
    pub meeting: Meeting,
}

/// Moves the particles of a chunk to the end of the step. Those that meet something stay where they
/// are, with their new velocity, and are listed. Returns a particle that is not finite.
pub fn fly(
    around: &Surroundings,
    model: &EmitterModel,
    forces: &Forces,
    chunk: &mut Chunk,
    contacts: &mut Vec<Contact>,
) -> Option<u64> {
    let e = &model.emitter;
    let skin = skin(e.radius);
    contacts.clear();
    let mut failed = None;
    for i in 0..chunk.x.len() {
        let from = (-chunk.age[i]).max(0.0);
        let (x, h) = (chunk.x[i], around.dt - from);
        let u = forces.kick(x, chunk.v[i], from, h);
        chunk.v[i] = u;
        chunk.age[i] += around.dt;
        // no f64 is left out: NaN compares false
        let sane = x.abs().max_element() < 1e100 && u.abs().max_element() < 1e100;
        if !(sane && u.is_finite()) {
            failed = failed.or(Some(chunk.id[i]));
            continue;
        }
        let end = x + h * u;
        if !around.crowded(x, end) {
            chunk.x[i] = end;
            continue;
        }
        let flight = Flight { x, u, from, until: around.dt, radius: e.radius, skin };
        match around.first(&flight, e.groups, Except::Nothing) {
            Some(meeting) => contacts.push(Contact { particle: i as u32, meeting }),
            None => chunk.x[i] = end,
        }
    }
    failed
}
