//! The changing part of free point masses.

use super::particles::Particles;
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// The changing part of a point mass, read by value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointState {
    /// m.
    pub position: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// Force that the caller asked for in the next step, N.
    pub push: Vec3,
}

impl PointState {
    /// Whether every number is finite, and so far from overflow that its square is too.
    pub fn is_finite(&self) -> bool {
        let sane = |v: Vec3| v.abs().max_element() < 1e100 && !v.is_nan();
        sane(self.position) && sane(self.velocity)
    }
}

/// All free point masses, one per slot of the model; those of free slots rest at the origin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointStates {
    /// Where they are and how they move; each is numbered by its slot.
    pub particles: Particles,
    /// Force that the caller asked for in the next step, N.
    pub push: Vec<Vec3>,
}

impl PointStates {
    /// Number of slots.
    pub fn len(&self) -> usize {
        self.particles.len()
    }

    /// Whether there is no slot.
    pub fn is_empty(&self) -> bool {
        self.particles.is_empty()
    }

    /// The point of a slot.
    pub fn get(&self, slot: usize) -> PointState {
        PointState {
            position: self.particles.x[slot],
            velocity: self.particles.v[slot],
            push: self.push[slot],
        }
    }

    /// All slots in order.
    pub fn iter(&self) -> impl Iterator<Item = PointState> + '_ {
        (0..self.len()).map(|slot| self.get(slot))
    }

    /// Overwrites the point of a slot.
    pub(crate) fn set(&mut self, slot: usize, point: PointState) {
        self.particles.x[slot] = point.position;
        self.particles.v[slot] = point.velocity;
        self.push[slot] = point.push;
    }

    /// Adds a slot.
    pub(crate) fn add(&mut self, point: PointState) {
        let slot = self.len() as u64;
        self.particles.push(point.position, point.velocity, slot);
        self.push.push(point.push);
    }

    /// Becomes a copy of others in the memory that it has.
    pub(crate) fn copy_from(&mut self, other: &PointStates) {
        let PointStates { particles, push } = other;
        self.particles.copy_from(particles);
        self.push.clone_from(push);
    }

    /// Whether the arrays belong together, with each point under the number of its slot.
    pub(crate) fn is_sound(&self) -> bool {
        self.particles.is_sound()
            && self.push.len() == self.len()
            && self.particles.id.iter().copied().eq(0..self.len() as u64)
    }
}
