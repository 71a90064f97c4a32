//! The filter S of (baraff1998): which directions of a particle are free, and what the others
//! follow.
//!
//! A constrained particle moves as u_i = S_i y_i + z_i + P_i (V + ω × r_i), with P_i = I − S_i: free
//! in some directions, prescribed (z_i) in the rest, and there also following a rigid body whose
//! velocity is an unknown of the same system, if one holds it.

use super::block::{Block, Lane, Scalar, block_of, lane};
use crate::math::{Mat3, Vec3};

/// Marks particles without a constraint, and constraints that follow no unknown body.
pub const NONE: u32 = u32::MAX;

/// A constrained particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Which particle.
    pub particle: u32,
    /// S: projector onto the free directions.
    pub free: Mat3,
    /// z: velocity in the other directions, m/s.
    pub prescribed: Vec3,
    /// Which unknown body it follows, or `NONE`.
    pub body: u32,
    /// From that body's centre to the particle, m.
    pub arm: Vec3,
}

impl Hold {
    /// P = I − S.
    pub fn held(&self) -> Mat3 {
        Mat3::IDENTITY - self.free
    }

    /// P(V + ω × r) for the body's velocity `twist` (linear, angular).
    pub fn follow(&self, twist: &[Vec3; 2]) -> Vec3 {
        self.held() * (twist[0] + twist[1].cross(self.arm))
    }
}

/// All constrained particles, each once.
#[derive(Clone, Debug, Default)]
pub struct Filter<T> {
    /// In order of particles.
    pub holds: Vec<Hold>,
    /// Index into `holds` per particle, or `NONE`.
    pub index: Vec<u32>,
    /// S of each hold in the kernel's precision.
    pub free: Vec<Block<T>>,
}

impl<T: Scalar> Filter<T> {
    /// Takes over `holds` for `particles` particles.
    pub fn set(&mut self, particles: usize, holds: impl IntoIterator<Item = Hold>) {
        self.holds.clear();
        self.holds.extend(holds);
        self.index.clear();
        self.index.resize(particles, NONE);
        self.free.clear();
        for (i, hold) in self.holds.iter().enumerate() {
            self.index[hold.particle as usize] = i as u32;
            self.free.push(block_of(&hold.free));
        }
    }

    /// Which hold a particle has.
    #[inline(always)]
    pub fn held(&self, particle: usize) -> Option<usize> {
        match self.index[particle] {
            NONE => None,
            hold => Some(hold as usize),
        }
    }

    /// S v of one particle.
    #[inline(always)]
    pub fn apply(&self, particle: usize, v: &Lane<T>) -> Lane<T> {
        let i = self.index[particle];
        if i == NONE {
            return *v;
        }
        let mut out = [T::default(); 4];
        super::block::multiply_add(&mut out, &self.free[i as usize], v);
        out
    }

    /// Adds to `v` what unknown bodies make their particles do.
    pub fn carry(&self, bodies: &[[Vec3; 2]], v: &mut [Lane<T>]) {
        for hold in self.holds.iter().filter(|h| h.body != NONE) {
            let add: Lane<T> = lane(hold.follow(&bodies[hold.body as usize]));
            for (x, a) in v[hold.particle as usize].iter_mut().zip(add) {
                *x += a;
            }
        }
    }
}
