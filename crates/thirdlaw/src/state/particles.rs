//! The store of all particles: vertices of deformable objects, free point masses, drops of streams.

use crate::math::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::TryReserveError;
use std::ops::Range;

/// Point masses as plain arrays of equal lengths. Masses are in the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// Positions, m.
    pub x: Vec<Vec3>,
    /// Velocities, m/s.
    pub v: Vec<Vec3>,
    /// Number of each particle, which it keeps while others come and go: of a vertex within its object,
    /// of a drop in the order of births, of a free point that of its slot.
    pub id: Vec<u64>,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there is no particle.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Takes the memory for `count` particles more.
    pub(crate) fn try_reserve(&mut self, count: usize) -> Result<(), TryReserveError> {
        self.x.try_reserve_exact(count)?;
        self.v.try_reserve_exact(count)?;
        self.id.try_reserve_exact(count)
    }

    /// Adds a particle behind the others.
    pub fn push(&mut self, x: Vec3, v: Vec3, id: u64) {
        self.x.push(x);
        self.v.push(v);
        self.id.push(id);
    }

    /// Takes out a particle; the last one takes its place.
    pub fn swap_remove(&mut self, index: usize) {
        self.x.swap_remove(index);
        self.v.swap_remove(index);
        self.id.swap_remove(index);
    }

    /// Puts an object's particles, numbered from 0, between the others; all move alike.
    pub(crate) fn insert(&mut self, at: usize, x: Vec<Vec3>, v: Vec3) {
        let count = x.len();
        self.x.splice(at..at, x);
        self.v.splice(at..at, std::iter::repeat_n(v, count));
        self.id.splice(at..at, 0..count as u64);
    }

    /// Takes out an object's particles; those behind move up.
    pub(crate) fn remove(&mut self, range: Range<usize>) {
        self.x.drain(range.clone());
        self.v.drain(range.clone());
        self.id.drain(range);
    }

    /// Takes out all particles and keeps the memory.
    pub fn clear(&mut self) {
        self.x.clear();
        self.v.clear();
        self.id.clear();
    }

    /// Where the particle of a number is, if it is here; looks at all of them.
    pub fn index_of(&self, number: u64) -> Option<usize> {
        self.id.iter().position(|&id| id == number)
    }

    /// Becomes a copy of others in the memory that it has.
    pub fn copy_from(&mut self, other: &Particles) {
        let Particles { x, v, id } = other;
        self.x.clone_from(x);
        self.v.clone_from(v);
        self.id.clone_from(id);
    }

    /// Whether the arrays belong together.
    pub fn is_sound(&self) -> bool {
        [self.v.len(), self.id.len()] == [self.x.len(); 2]
    }

    /// Whether every position and velocity is finite.
    pub fn is_finite(&self) -> bool {
        self.x.iter().chain(&self.v).all(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Particles {
        let mut particles = Particles::default();
        particles.insert(0, vec![Vec3::X, Vec3::Y, Vec3::Z], Vec3::ONE);
        particles
    }

    #[test]
    fn numbers_stay_with_their_particles() {
        let mut particles = three();
        particles.swap_remove(0);
        assert_eq!((&particles.id[..], particles.x[0]), (&[2, 1][..], Vec3::Z));
        particles.push(Vec3::ZERO, Vec3::ZERO, 3);
        assert_eq!(particles.id, [2, 1, 3]);
        particles.remove(0..2);
        assert_eq!((particles.len(), particles.id[0]), (1, 3));
        particles.insert(0, vec![Vec3::X; 2], Vec3::ZERO);
        assert_eq!(particles.id, [0, 1, 3]);
        assert!(particles.is_sound());
    }

    #[test]
    fn arrays_that_do_not_belong_together_and_broken_numbers_are_seen() {
        let mut particles = three();
        assert!(particles.is_sound() && particles.is_finite());
        particles.v[1].y = f64::NAN;
        assert!(!particles.is_finite());
        let mut copy = Particles::default();
        copy.copy_from(&three());
        assert_eq!(copy, three());
        copy.id.pop();
        assert!(!copy.is_sound());
        copy.clear();
        assert!(copy.is_sound() && copy.is_empty());
    }
}
