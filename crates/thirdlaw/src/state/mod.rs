//! What a step changes: poses, velocities, sleep, contacts with their impulses. A clone is a
//! checkpoint; `hash` covers every bit.

pub mod body;
pub mod cloth;
pub mod contact;
pub mod joint;
pub mod particles;
pub mod point;
pub mod snapshot;
pub mod stream;

pub use body::{BodyState, Push};
pub use particles::Particles;

use crate::math::Vec3;
use crate::math::hash::BitHasher;
use crate::model::Model;
pub use cloth::{ClothState, Grip, LastTouch};
use contact::{Contact, ContactKey, RunningSurface};
use joint::JointState;
use point::PointStates;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use stream::{Stream, Streams};

/// The changing part of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time, s.
    pub time: f64,
    /// Steps made.
    pub step: u64,
    /// One per slot of the model.
    pub bodies: Vec<BodyState>,
    /// Contacts of the last step with the impulses that solved it, in order of their keys. Among them are
    /// free places: contacts that have ended and have no points.
    pub contacts: Vec<Contact>,
    /// Surfaces that run as a hook says, in the order of contacts; none between steps.
    #[serde(skip)]
    pub(crate) runs: Vec<RunningSurface>,
    /// Length of the last substep, s: impulses carried on are scaled when it changes.
    pub substep: f64,
    /// The vertices of all deformable objects, one object after the other in the order of slots.
    pub particles: Particles,
    /// What cloth carries on besides.
    pub cloth: ClothState,
    /// Pressure at each particle, Pa; none where nothing is incompressible.
    pub pressures: Vec<f64>,
    /// Free point masses, one per slot of the model.
    pub points: PointStates,
    /// Joints, one per slot of the model.
    pub joints: Vec<JointState>,
    /// Particles of emitters, and what they struck.
    pub streams: Streams,
}

impl State {
    /// Becomes a copy of another state in the memory that it has: a checkpoint in every step is cheap.
    pub fn copy_from(&mut self, other: &State) {
        // taken apart, so that a field added later is not forgotten
        let State {
            time,
            step,
            bodies,
            contacts,
            runs: _,
            substep,
            particles,
            cloth,
            pressures,
            points,
            joints,
            streams,
        } = other;
        (self.time, self.step, self.substep) = (*time, *step, *substep);
        self.bodies.clone_from(bodies);
        self.contacts.clone_from(contacts);
        self.particles.copy_from(particles);
        self.cloth.clone_from(cloth);
        self.pressures.clone_from(pressures);
        self.points.copy_from(points);
        self.joints.clone_from(joints);
        self.streams.copy_from(streams);
    }

    /// How the surfaces of a contact run, where a hook says so: that of b less that of a, m/s.
    pub(crate) fn run_of(&self, key: &ContactKey) -> Option<Vec3> {
        let place = self.runs.binary_search_by_key(key, |run| run.key).ok()?;
        self.runs.get(place).map(|run| run.velocity)
    }

    /// Whether every body and contact named here exists in the model, and contacts are in order.
    pub fn fits(&self, model: &Model) -> bool {
        let alive = |slot: u32| model.bodies.get(slot as usize).is_some_and(|b| b.alive);
        let particles = model.sheet.elements.mass.len();
        let touches = &self.cloth.touches;
        let pushes = &self.cloth.pushes;
        let pairs = &self.cloth.pairs;
        self.bodies.len() == model.bodies.len()
            && self.particles.len() == particles
            && (self.pressures.is_empty() || self.pressures.len() == particles)
            && self.pressures.iter().all(|p| p.is_finite())
            && self.vertices_fit(model)
            && touches.is_sorted_by(|a, b| (a.particle, a.body) < (b.particle, b.body))
            && touches.iter().all(|t| (t.particle as usize) < particles && alive(t.body))
            && pushes.is_sorted_by(|a, b| a.0 < b.0)
            && pushes.iter().all(|p| alive(p.0))
            && pairs.is_sorted_by_key(|p| (p.kind, p.feature, p.body))
            && pairs.iter().all(|p| p.pressure.is_finite() && p.slip.is_finite())
            && self.cloth.pins.iter().all(|p| (p.0 as usize) < particles)
            && self.time.is_finite()
            && self.substep.is_finite()
            && self.points.len() == model.points.len()
            && self.points.is_sound()
            && self.joints.len() == model.joints.len()
            && self.joints.iter().all(JointState::is_finite)
            && self.streams_fit(model)
            && self.contacts.is_sorted_by(|a, b| a.key < b.key)
            && self
                .contacts
                .iter()
                .all(|c| c.key.a < c.key.b && alive(c.key.a) && alive(c.key.b) && c.is_sound())
    }

    /// Whether every object has its vertices, numbered from 0.
    fn vertices_fit(&self, model: &Model) -> bool {
        let numbered = |range: std::ops::Range<usize>| {
            let count = range.len() as u64;
            self.particles.id.get(range).is_some_and(|id| id.iter().copied().eq(0..count))
        };
        let living = model.cloths.iter().filter(|object| object.alive);
        self.particles.is_sound() && living.map(|object| object.range()).all(numbered)
    }

    fn streams_fit(&self, model: &Model) -> bool {
        let Streams { list, struck, span } = &self.streams;
        let alive = |slot: u32| model.bodies.get(slot as usize).is_some_and(|b| b.alive);
        let sound = |(stream, model): (&Stream, _)| stream.is_sound(model);
        list.len() == model.emitters.len()
            && list.iter().zip(&model.emitters).all(sound)
            && struck.is_sorted_by(|a, b| a.body < b.body)
            && struck.iter().all(|s| alive(s.body))
            && struck.iter().all(|s| s.impulse.is_finite() && s.angular.is_finite())
            && span.is_finite()
    }

    /// A number that changes when any bit of the state changes.
    pub fn hash(&self) -> u64 {
        // The serialized form holds every field; feeding the hasher as the bytes come needs no
        // buffer. Taking the state apart makes sure that a field added later is not forgotten.
        // What a world does not have leaves no trace, so that its number stays what it was.
        let State {
            time,
            step,
            bodies,
            contacts,
            runs: _,
            substep,
            particles,
            cloth,
            pressures,
            points,
            joints,
            streams,
        } = self;
        let flavor = HashFlavor(BitHasher::default());
        let rigid = (time, step, bodies, contacts, substep);
        let no_cloth = particles.is_empty() && *cloth == ClothState::default();
        let no_streams = streams.list.is_empty() && streams.struck.is_empty();
        if no_streams && no_cloth && points.is_empty() && joints.is_empty() {
            return postcard::serialize_with_flavor(&rigid, flavor).unwrap_or(0);
        }
        let whole = (rigid, particles, cloth, points, joints);
        if no_streams && pressures.is_empty() {
            return postcard::serialize_with_flavor(&whole, flavor).unwrap_or(0);
        }
        if pressures.is_empty() {
            return postcard::serialize_with_flavor(&(whole, streams), flavor).unwrap_or(0);
        }
        postcard::serialize_with_flavor(&(whole, streams, pressures), flavor).unwrap_or(0)
    }
}

struct HashFlavor(BitHasher);

impl postcard::ser_flavors::Flavor for HashFlavor {
    type Output = u64;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.write_u8(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.write(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<u64> {
        Ok(self.0.finish())
    }
}
