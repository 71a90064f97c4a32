//! Newton's method on the backward Euler step.
//!
//! The paper linearizes forces once, at the beginning of the step. Where threads buckle or turn much,
//! what that leaves out can be larger than all other forces: a slack sheet then trembles for ever. The
//! step is the least of
//!
//!   Φ(u) = ½ uᵀMu − uᵀ(M v₀ + h f_ext) + E(x₀ + h u),
//!
//! with E the energy of the elements (and what their damping takes, which acts like one). A step that
//! leaves Φ above what it is for cloth that stays where it is makes energy, and begins again from part of
//! the velocities at the beginning. Further rounds linearize forces where the last one ended, and go no
//! farther than Φ falls.

use super::constraints::Constraints;
use super::linear::Linear;
use super::solution::{Motion, Solution};
use super::system::Trial;
use crate::linalg::block::{lane, matrix, vector};
use crate::linalg::filter::NONE;
use crate::linalg::pcg;
use crate::math::Vec3;
use crate::parallel::loops::sum_light;

/// Parts of the velocities at the beginning from which Newton's method may start.
const PARTS: [f64; 3] = [1.0, 0.5, 0.25];
/// Of sums over thousands of terms that partly cancel.
const ROUNDING: f64 = 1e-12;
/// Smallest part of a round that is tried.
const LEAST: f64 = 1.0 / 1024.0;
/// A round that goes less far than this is not worth the name: the step is too long.
const WORTH: f64 = 1.0 / 8.0;

impl Solution {
    /// Whether Φ is more than for cloth that stays where it is, but for what constraints prescribe; then
    /// u becomes the part of the velocities at the beginning for which Φ is least, to begin again from.
    pub fn makes_energy(
        &mut self,
        trial: &Trial,
        linear: &mut Linear,
        constraints: &Constraints,
        goal: f64,
    ) -> bool {
        let (now, rounding) = self.potential(trial, linear, constraints);
        self.from.particles.clone_from(&self.u);
        self.from.bodies.clone_from(&self.u_bodies);
        self.go_on(trial, constraints, 0.0);
        let (still, _) = self.potential(trial, linear, constraints);
        // what conjugate gradients leave is not energy made
        if now <= still + goal * goal + rounding {
            std::mem::swap(&mut self.u, &mut self.from.particles);
            std::mem::swap(&mut self.u_bodies, &mut self.from.bodies);
            self.place(trial);
            return false;
        }
        let mut best = (still, 0.0);
        for part in PARTS {
            self.go_on(trial, constraints, part);
            let (potential, _) = self.potential(trial, linear, constraints);
            if potential < best.0 {
                best = (potential, part);
            }
        }
        self.go_on(trial, constraints, best.1);
        true
    }

    /// u as this part of the velocities at the beginning, but for what constraints prescribe.
    fn go_on(&mut self, trial: &Trial, constraints: &Constraints, part: f64) {
        for (u, v) in self.u.iter_mut().zip(&trial.state.particles.v) {
            *u = lane(part * *v);
        }
        self.u_bodies.fill([Vec3::ZERO; 2]);
        self.prescribe(&constraints.filter);
        self.place(trial);
    }

    /// Goes back towards where the round began until Φ is no more than there; false if little is left.
    /// `progress` is what the round went, in the norm of its matrix: where Φ cannot tell it from rounding,
    /// there is nothing to search.
    pub fn search(
        &mut self,
        trial: &Trial,
        linear: &mut Linear,
        constraints: &Constraints,
        progress: f64,
    ) -> bool {
        let (mut from, mut to) = (std::mem::take(&mut self.from), Motion::default());
        constraints.filter.carry(&from.bodies, &mut from.particles);
        std::mem::swap(&mut to.particles, &mut self.u);
        std::mem::swap(&mut to.bodies, &mut self.u_bodies);
        self.blend(&from, &to, 0.0);
        self.place(trial);
        let (start, rounding) = self.potential(trial, linear, constraints);
        let mut part = 1.0;
        loop {
            self.blend(&from, &to, part);
            self.place(trial);
            if part == 0.0 || 0.5 * progress * progress <= rounding {
                break;
            }
            if self.potential(trial, linear, constraints).0 <= start + rounding {
                break;
            }
            part = if part > LEAST { 0.5 * part } else { 0.0 };
        }
        self.from = from;
        part >= WORTH
    }

    /// Φ at u, which leads to `x1`, with the stiff terms of contacts, and what rounding may have made of
    /// it, J.
    fn potential(
        &self,
        trial: &Trial,
        linear: &mut Linear,
        constraints: &Constraints,
    ) -> (f64, f64) {
        let (elements, h) = (&trial.sheet().elements, trial.span.h);
        let elastic = linear.elastic(trial, &self.x1);
        let (u, own) = (&self.u, &linear.own);
        let (given, push, alter) = (&linear.given, &constraints.push, &constraints.alter);
        let inertial = sum_light(u.len(), (), &|rows, ()| {
            let of = |i: usize| {
                let at = vector(&u[i]);
                let linear = given[i] + push[i] + (elements.mass[i] / h) * alter[i];
                at.dot(0.5 * (matrix(&own[i]) * at) - linear)
            };
            rows.map(of).sum()
        });
        let mut stiff = 0.0;
        for stencil in &constraints.stencils.list {
            let mut along = -stencil.target;
            for (&particle, g) in stencil.particles.iter().zip(&stencil.gradient) {
                along += g.dot(vector(&u[particle as usize]));
            }
            if stencil.body != NONE {
                let [v, w] = self.u_bodies[stencil.body as usize];
                along -= stencil.wrench[0].dot(v) + stencil.wrench[1].dot(w);
            }
            stiff += 0.5 * stencil.stiffness * along * along;
        }
        let mut bodies = 0.0;
        for ((mass, given), u) in
            constraints.masses.iter().zip(&constraints.given_bodies).zip(&self.u_bodies)
        {
            let momentum = pcg::body_momentum(mass, u);
            bodies +=
                u[0].dot(0.5 * momentum[0] - given[0]) + u[1].dot(0.5 * momentum[1] - given[1]);
        }
        let size = elastic + inertial.abs() + stiff + bodies.abs();
        (elastic + inertial + stiff + bodies, ROUNDING * size)
    }
}
