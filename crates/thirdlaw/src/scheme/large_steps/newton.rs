//! Newton's method on the backward Euler step, for steps in which the paper's would make energy.
//!
//! The paper linearizes forces once, at the beginning of the step. Where threads buckle or turn much,
//! what that leaves out can be larger than all other forces: a slack sheet then trembles for ever. The
//! step is the least of
//!
//!   Φ(u) = ½ uᵀMu − uᵀ(M v₀ + h f_ext) + E(x₀ + h u),
//!
//! with E the energy of the elements (and what their damping takes, which acts like one). A step that
//! leaves Φ above what it is for cloth that stays where it is makes energy. Then further rounds linearize
//! forces where the last one ended, and go no farther than Φ falls.

use super::system::{Context, Work};
use crate::deformable::model::Sheet;
use crate::energy::Step;
use crate::math::Vec3;
use crate::solve::block::{Block, Lane, lane, matrix, vector};
use crate::solve::filter::NONE;
use crate::solve::parallel::{each_light, inside, sum_light};
use crate::solve::pcg;
use crate::solve::product::Matrix;
use crate::state::State;

/// Parts of the velocities at the beginning from which Newton's method may start.
const PARTS: [f64; 3] = [1.0, 0.5, 0.25];
/// Of sums over thousands of terms that partly cancel.
const ROUNDING: f64 = 1e-12;
/// Smallest part of a round that is tried.
const LEAST: f64 = 1.0 / 1024.0;
/// A round that goes less far than this is not worth the name: the step is too long.
const WORTH: f64 = 1.0 / 8.0;

/// Velocities of particles and bodies.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    pub particles: Vec<Lane<f64>>,
    pub bodies: Vec<[Vec3; 2]>,
}

impl Work {
    /// The system linearized at `x1`, where u leads: b = M v₀ + h f(x₁) + (h²K + hD) u.
    pub(super) fn relinearize(&mut self, context: &Context, state: &State, h: f64) {
        let sheet = &*context.model.sheet;
        let n = self.x1.len();
        self.undragged.clear();
        let (parts, energies) = (&mut self.parts, &sheet.elements.energies);
        let (blocks, forces) = (&mut self.blocks[..], &mut self.forces[..]);
        let (x0, x1) = (&state.particles.x[..], &self.x1[..]);
        inside(|| {
            parts.evaluate(energies, &Step { x0, x1, h });
            sheet.layout().assemble(energies, parts, blocks, forces);
        });
        self.own.clear();
        self.own.resize(n, Block::default());
        let stiff = &mut self.from.particles;
        stiff.resize(n, [0.0; 4]);
        let pattern = &sheet.layout().pattern;
        Matrix { pattern, blocks: &self.blocks, own: &self.own }.multiply(&self.u, stiff);
        for (i, base) in self.base.iter_mut().enumerate() {
            *base = self.given[i] + h * self.forces[i] + vector(&stiff[i]);
        }
        self.turned.fill(Vec3::ZERO);
        self.add_own(sheet, h);
        self.renewed = true;
    }

    /// Whether Φ is more than for cloth that stays where it is, but for what constraints prescribe; then
    /// u becomes the part of the velocities at the beginning for which Φ is least, to begin again from.
    pub(super) fn makes_energy(&mut self, sheet: &Sheet, state: &State, h: f64) -> bool {
        let (now, rounding) = self.potential(sheet, state, h);
        self.from.particles.clone_from(&self.u);
        self.from.bodies.clone_from(&self.u_bodies);
        self.go_on(state, h, 0.0);
        let (still, _) = self.potential(sheet, state, h);
        // what conjugate gradients leave is not energy made
        if now <= still + self.goal * self.goal + rounding {
            std::mem::swap(&mut self.u, &mut self.from.particles);
            std::mem::swap(&mut self.u_bodies, &mut self.from.bodies);
            self.place(state, h);
            return false;
        }
        let mut best = (still, 0.0);
        for part in PARTS {
            self.go_on(state, h, part);
            let (potential, _) = self.potential(sheet, state, h);
            if potential < best.0 {
                best = (potential, part);
            }
        }
        self.go_on(state, h, best.1);
        true
    }

    /// u as this part of the velocities at the beginning, but for what constraints prescribe.
    fn go_on(&mut self, state: &State, h: f64, part: f64) {
        for (u, v) in self.u.iter_mut().zip(&state.particles.v) {
            *u = lane(part * *v);
        }
        self.u_bodies.fill([Vec3::ZERO; 2]);
        self.prescribe();
        self.place(state, h);
    }

    /// Goes back towards where the round began until Φ is no more than there; false if little is left.
    pub(super) fn search(&mut self, sheet: &Sheet, state: &State, h: f64) -> bool {
        let (mut from, mut to) = (std::mem::take(&mut self.from), Motion::default());
        self.filter.carry(&from.bodies, &mut from.particles);
        std::mem::swap(&mut to.particles, &mut self.u);
        std::mem::swap(&mut to.bodies, &mut self.u_bodies);
        self.blend(&from, &to, 0.0);
        self.place(state, h);
        let (start, rounding) = self.potential(sheet, state, h);
        let mut part = 1.0;
        loop {
            self.blend(&from, &to, part);
            self.place(state, h);
            if part == 0.0 || self.potential(sheet, state, h).0 <= start + rounding {
                break;
            }
            part = if part > LEAST { 0.5 * part } else { 0.0 };
        }
        self.from = from;
        part >= WORTH
    }

    /// u, part of the way from one motion to another.
    fn blend(&mut self, from: &Motion, to: &Motion, part: f64) {
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

    /// x₁ = x₀ + h u.
    pub(super) fn place(&mut self, state: &State, h: f64) {
        let (x0, u) = (&state.particles.x, &self.u);
        each_light(x0.len(), &mut self.x1[..], &|rows, x1: &mut [Vec3]| {
            for (i, x1) in rows.zip(x1) {
                *x1 = x0[i] + h * vector(&u[i]);
            }
        });
    }

    /// Φ at u, which leads to `x1`, with the stiff terms of contacts, and what rounding may have made of
    /// it, J.
    fn potential(&mut self, sheet: &Sheet, state: &State, h: f64) -> (f64, f64) {
        let elements = &sheet.elements;
        let step = Step { x0: &state.particles.x, x1: &self.x1, h };
        let elastic = self.parts.energy_since(&elements.energies, &step);
        let (u, own) = (&self.u, &self.own);
        let (given, push, alter) = (&self.given, &self.push, &self.alter);
        let inertial = sum_light(u.len(), (), &|rows, ()| {
            let of = |i: usize| {
                let at = vector(&u[i]);
                let linear = given[i] + push[i] + (elements.mass[i] / h) * alter[i];
                at.dot(0.5 * (matrix(&own[i]) * at) - linear)
            };
            rows.map(of).sum()
        });
        let mut stiff = 0.0;
        for stencil in &self.stencils.list {
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
        for ((mass, given), u) in self.masses.iter().zip(&self.given_bodies).zip(&self.u_bodies) {
            let momentum = pcg::body_momentum(mass, u);
            bodies +=
                u[0].dot(0.5 * momentum[0] - given[0]) + u[1].dot(0.5 * momentum[1] - given[1]);
        }
        let size = elastic + inertial.abs() + stiff + bodies.abs();
        (elastic + inertial + stiff + bodies, ROUNDING * size)
    }
}
