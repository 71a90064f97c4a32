//! The changing part of streams: plain arrays, dense, in no particular order.

use super::particles::Particles;
use crate::math::Vec3;
use crate::math::random::unit;
use crate::model::emitter::model::EmitterModel;
use serde::{Deserialize, Serialize};

/// The particles of one emitter. The arrays have equal lengths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Where they are and how they move; each is numbered in the order of births.
    pub particles: Particles,
    /// Time since birth, s.
    pub age: Vec<f64>,
    /// Share of a particle that is due beyond those born.
    pub due: f64,
    /// Particles born so far.
    pub born: u64,
    /// A particle whose state became infinite or NaN; the world does not go on from it.
    pub failed: Option<u64>,
}

/// What particles do besides being somewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// One per slot of the model.
    pub list: Vec<Stream>,
    /// Bodies struck in the last step, in order of slots.
    pub struck: Vec<Struck>,
    /// Length of the last step, s.
    pub span: f64,
}

/// What a body was struck with in one step; one that can move gets it in the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Struck {
    /// Slot of the body.
    pub body: u32,
    /// Bounces and births.
    pub count: u32,
    /// N·s.
    pub impulse: Vec3,
    /// About the centre of mass at the end of the step, N·m·s.
    pub angular: Vec3,
}

impl Streams {
    /// Becomes a copy of others in the memory that it has.
    pub fn copy_from(&mut self, other: &Streams) {
        let Streams { list, struck, span } = other;
        self.list.resize_with(list.len(), Stream::default);
        self.list.iter_mut().zip(list).for_each(|(stream, other)| stream.copy_from(other));
        self.struck.clone_from(struck);
        self.span = *span;
    }
}

impl Stream {
    fn copy_from(&mut self, other: &Stream) {
        let Stream { particles, age, due, born, failed } = other;
        self.particles.copy_from(particles);
        self.age.clone_from(age);
        (self.due, self.born, self.failed) = (*due, *born, *failed);
    }

    /// An empty stream with room for `capacity` particles; none if there is no memory for it.
    pub(crate) fn with_room(capacity: u32) -> Option<Stream> {
        let mut stream = Stream::default();
        let count = capacity as usize;
        stream.particles.try_reserve(count).ok()?;
        stream.age.try_reserve_exact(count).ok()?;
        Some(stream)
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.particles.len()
    }

    /// Whether there is no particle.
    pub fn is_empty(&self) -> bool {
        self.particles.is_empty()
    }

    pub(crate) fn push(&mut self, x: Vec3, v: Vec3, age: f64) {
        self.particles.push(x, v, self.born);
        self.age.push(age);
        self.born += 1;
    }

    /// Takes out a particle; the last one takes its place.
    pub(crate) fn remove(&mut self, index: usize) {
        self.particles.swap_remove(index);
        self.age.swap_remove(index);
    }

    /// Whether the arrays belong together and hold what steps can have left in them.
    pub(crate) fn is_sound(&self, model: &EmitterModel) -> bool {
        let count = self.len();
        self.particles.is_sound()
            && self.age.len() == count
            && count <= if model.alive { model.capacity as usize } else { 0 }
            && (0.0..1.0).contains(&self.due)
            && (self.failed.is_some()
                || (self.particles.is_finite() && self.age.iter().all(|a| a.is_finite())))
    }
}

impl Streams {
    /// Number of all particles.
    pub fn count(&self) -> usize {
        self.list.iter().map(Stream::len).sum()
    }
}

/// How long the particle `id` of an emitter lives, s.
pub(crate) fn life(model: &EmitterModel, id: u64) -> f64 {
    let e = &model.emitter;
    if e.life_spread == 0.0 {
        return e.life;
    }
    e.life * (1.0 + e.life_spread * (2.0 * unit(e.seed, id, LIFE) - 1.0))
}

/// The draw that decides about the life of a particle; those of its birth come before it.
const LIFE: u32 = 7;
