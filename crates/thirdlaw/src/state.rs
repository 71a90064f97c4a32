//! What a step changes: poses, velocities, sleep, contacts with their impulses. A clone is a
//! checkpoint; `hash` covers every bit.

use crate::collide::contacts::Contact;
use crate::joint::JointState;
use crate::math::{Quat, Twist, Vec3};
use crate::model::Model;
use crate::particle::{Stream, Streams};
use crate::point::PointState;
pub use crate::scheme::large_steps::ClothState;
pub use crate::scheme::large_steps::touch::{Grip, LastTouch};
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

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
    /// Length of the last substep, s: impulses carried on are scaled when it changes.
    pub substep: f64,
    /// The vertices of all cloths, cloth after cloth in the order of slots.
    pub particles: Particles,
    /// What cloth carries on besides.
    pub cloth: ClothState,
    /// Free point masses, one per slot of the model.
    pub points: Vec<PointState>,
    /// Joints, one per slot of the model.
    pub joints: Vec<JointState>,
    /// Particles of emitters, and what they struck.
    pub streams: Streams,
}

/// Point masses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// Positions, m.
    pub x: Vec<Vec3>,
    /// Velocities, m/s.
    pub v: Vec<Vec3>,
}

/// The changing part of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Centre of mass, m.
    pub position: Vec3,
    /// Orientation of the body's own axes.
    pub rotation: Quat,
    /// Velocity of the centre of mass and angular velocity.
    pub velocity: Twist,
    /// Force (N) and torque (N·m) that the caller asked for in the next step.
    pub push: Push,
    /// How long the body has been slow, s.
    pub quiet: f64,
    /// Whether its island sleeps.
    pub asleep: bool,
}

/// A force at the centre of mass and a torque, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Push {
    /// N.
    pub force: Vec3,
    /// N·m.
    pub torque: Vec3,
}

impl BodyState {
    /// Whether every number is finite, and so far from overflow that its square is too.
    pub fn is_finite(&self) -> bool {
        let sane = |v: Vec3| v.abs().max_element() < 1e100 && !v.is_nan();
        sane(self.position)
            && self.rotation.is_finite()
            && sane(self.velocity.linear)
            && sane(self.velocity.angular)
    }
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
            substep,
            particles: Particles { x, v },
            cloth,
            points,
            joints,
            streams,
        } = other;
        (self.time, self.step, self.substep) = (*time, *step, *substep);
        self.bodies.clone_from(bodies);
        self.contacts.clone_from(contacts);
        self.particles.x.clone_from(x);
        self.particles.v.clone_from(v);
        self.cloth.clone_from(cloth);
        self.points.clone_from(points);
        self.joints.clone_from(joints);
        self.streams.copy_from(streams);
    }

    /// Whether every body and contact named here exists in the model, and contacts are in order.
    pub fn fits(&self, model: &Model) -> bool {
        let alive = |slot: u32| model.bodies.get(slot as usize).is_some_and(|b| b.alive);
        let particles = model.sheet.elements.mass.len();
        let touches = &self.cloth.touches;
        let pushes = &self.cloth.pushes;
        let pairs = &self.cloth.pairs;
        self.bodies.len() == model.bodies.len()
            && self.particles.x.len() == particles
            && self.particles.v.len() == particles
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
            && self.joints.len() == model.joints.len()
            && self.joints.iter().all(JointState::is_finite)
            && self.streams_fit(model)
            && self.contacts.is_sorted_by(|a, b| a.key < b.key)
            && self
                .contacts
                .iter()
                .all(|c| c.key.a < c.key.b && alive(c.key.a) && alive(c.key.b) && c.is_sound())
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
            substep,
            particles,
            cloth,
            points,
            joints,
            streams,
        } = self;
        let flavor = HashFlavor(BitHasher::default());
        let rigid = (time, step, bodies, contacts, substep);
        let no_cloth = particles.x.is_empty() && *cloth == ClothState::default();
        let no_streams = streams.list.is_empty() && streams.struck.is_empty();
        if no_streams && no_cloth && points.is_empty() && joints.is_empty() {
            return postcard::serialize_with_flavor(&rigid, flavor).unwrap_or(0);
        }
        let whole = (rigid, particles, cloth, points, joints);
        if no_streams {
            return postcard::serialize_with_flavor(&whole, flavor).unwrap_or(0);
        }
        postcard::serialize_with_flavor(&(whole, streams), flavor).unwrap_or(0)
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

/// A 64-bit hash of a byte stream, the same on every platform and in every version: each eight
/// bytes are folded in by a multiplication and a shift.
#[derive(Clone, Debug, Default)]
pub struct BitHasher {
    value: u64,
    pending: u64,
    pending_count: u32,
    length: u64,
}

impl BitHasher {
    fn fold(value: u64, word: u64) -> u64 {
        let mixed = (value ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
}

impl Hasher for BitHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.pending |= u64::from(byte) << (8 * self.pending_count);
            self.pending_count += 1;
            if self.pending_count == 8 {
                self.value = Self::fold(self.value, self.pending);
                self.pending = 0;
                self.pending_count = 0;
            }
        }
        self.length += bytes.len() as u64;
    }

    fn finish(&self) -> u64 {
        let value = Self::fold(Self::fold(self.value, self.pending), self.length);
        Self::fold(value, value >> 32)
    }
}
