//! What a cloth step solves for: the velocities u by which particles and bodies move, and where they
//! lead.

use super::system::Trial;
use crate::linalg::block::{Lane, lane, vector};
use crate::linalg::filter::Filter;
use crate::math::Vec3;
use crate::parallel::loops::each_light;

/// Velocities of particles and bodies.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    pub particles: Vec<Lane<f64>>,
    pub bodies: Vec<[Vec3; 2]>,
}

/// The solution so far.
#[derive(Debug, Default)]
pub struct Solution {
    /// u of particles, m/s.
    pub u: Vec<Lane<f64>>,
    /// Changes of the velocities of unknown bodies.
    pub u_bodies: Vec<[Vec3; 2]>,
    /// Where u leads, m.
    pub x1: Vec<Vec3>,
    /// Where a round began.
    pub from: Motion,
}

impl Solution {
    /// Makes room for the particles, and has them fly on freely.
    pub fn begin(&mut self, trial: &Trial) {
        let Trial { context, state, span } = trial;
        let (x, v, h) = (&state.particles.x, &state.particles.v, span.h);
        self.u.resize(x.len(), [0.0; 4]);
        self.x1.resize(x.len(), Vec3::ZERO);
        let (gravity, scale) = (context.settings.gravity, &trial.sheet().gravity_scale);
        for (i, x1) in self.x1.iter_mut().enumerate() {
            *x1 = x[i] + h * (v[i] + h * scale[i] * gravity);
        }
    }

    /// Gives held particles what is prescribed.
    pub fn prescribe(&mut self, filter: &Filter<f64>) {
        for hold in &filter.holds {
            let u = &mut self.u[hold.particle as usize];
            *u = lane(hold.free * vector(u) + hold.prescribed);
        }
    }

    /// √(ΔvᵀMΔv) of the change of velocity so far, or of one of `least` (m/s) everywhere if that is
    /// more.
    pub fn change(&self, trial: &Trial, least: f64) -> f64 {
        let (mass, v) = (&trial.sheet().elements.mass, &trial.state.particles.v);
        let mut sum = [0.0; 2];
        for ((mass, v), u) in mass.iter().zip(v).zip(&self.u) {
            sum[0] += mass * (vector(u) - *v).length_squared();
            sum[1] += mass * least * least;
        }
        sum[0].max(sum[1]).sqrt()
    }

    /// √(dᵀMd) of the way d of the particles since the round began.
    pub fn way(&self, mass: &[f64]) -> f64 {
        let squares = mass.iter().zip(&self.from.particles).zip(&self.u);
        let of = |((mass, from), to): ((&f64, &Lane<f64>), &Lane<f64>)| {
            mass * (vector(to) - vector(from)).length_squared()
        };
        squares.map(of).sum::<f64>().sqrt()
    }

    /// x₁ = x₀ + h u.
    pub fn place(&mut self, trial: &Trial) {
        let (x0, u, h) = (&trial.state.particles.x, &self.u, trial.span.h);
        each_light(x0.len(), &mut self.x1[..], &|rows, x1: &mut [Vec3]| {
            for (i, x1) in rows.zip(x1) {
                *x1 = x0[i] + h * vector(&u[i]);
            }
        });
    }

    /// u, part of the way from one motion to another.
    pub fn blend(&mut self, from: &Motion, to: &Motion, part: f64) {
        let back = 1.0 - part;
        self.u.clear();
        self.u.extend(from.particles.iter().zip(&to.particles).map(|(from, to)| {
            let (from, to) = (vector(from), vector(to));
            lane(to + back * (from - to))
        }));
        self.u_bodies.clear();
        let bodies = from.bodies.iter().zip(&to.bodies);
        self.u_bodies
            .extend(bodies.map(|(from, to)| [0, 1].map(|k| to[k] + back * (from[k] - to[k]))));
    }
}
