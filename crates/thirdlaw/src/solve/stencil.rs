//! Constraints that couple several particles, and perhaps a body, as stiff semi-definite terms of
//! the system: s gᵀ of a contact between a triangle and a corner, two edges, two layers of cloth.

use super::block::{Lane, Scalar, dot, lane};
use super::filter::NONE;
use crate::math::{Mat3, Vec3};

/// k g gᵀ, with g·u = Σ g_i·u_i − (direction·V + arm·ω).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stencil {
    /// Particles; unused ones repeat the first with a zero gradient.
    pub particles: [u32; 4],
    /// g of each.
    pub gradient: [Vec3; 4],
    /// k: impulse per velocity along g, N·s/(m/s).
    pub stiffness: f64,
    /// g·u at which it pushes nothing, m/s.
    pub target: f64,
    /// Which unknown body is on the other side, or `NONE`.
    pub body: u32,
    /// Direction and r × direction of that body's part.
    pub wrench: [Vec3; 2],
}

/// Stencils, with the rows they add to.
#[derive(Clone, Debug, Default)]
pub struct Stencils<T> {
    /// All of them.
    pub list: Vec<Stencil>,
    gradients: Vec<[Lane<T>; 4]>,
    /// Rows they touch, ascending, and where the entries of each begin.
    rows: Vec<u32>,
    starts: Vec<u32>,
    /// (stencil, which of its particles).
    entries: Vec<(u32, u32)>,
    order: Vec<(u32, u32, u32)>,
    strengths: Vec<f64>,
}

impl<T: Scalar> Stencils<T> {
    /// Takes over the stencils in `list`.
    pub fn index(&mut self) {
        self.order.clear();
        self.gradients.clear();
        for (s, stencil) in self.list.iter().enumerate() {
            self.gradients.push(stencil.gradient.map(lane));
            for (k, &particle) in stencil.particles.iter().enumerate() {
                if stencil.gradient[k] != Vec3::ZERO {
                    self.order.push((particle, s as u32, k as u32));
                }
            }
        }
        self.order.sort_unstable();
        self.rows.clear();
        self.starts.clear();
        self.entries.clear();
        for &(row, s, k) in &self.order {
            if self.rows.last() != Some(&row) {
                self.rows.push(row);
                self.starts.push(self.entries.len() as u32);
            }
            self.entries.push((s, k));
        }
        self.starts.push(self.entries.len() as u32);
    }

    /// Adds what the targets pull with: b += Σ k t g.
    pub fn add_targets(&self, b: &mut [Lane<T>], b_bodies: &mut [[Vec3; 2]]) {
        for stencil in self.list.iter().filter(|s| s.target != 0.0) {
            let pull = stencil.stiffness * stencil.target;
            for (&particle, g) in stencil.particles.iter().zip(&stencil.gradient) {
                let add: Lane<T> = lane(pull * *g);
                for (b, a) in b[particle as usize].iter_mut().zip(add) {
                    *b += a;
                }
            }
            if stencil.body != NONE {
                let out = &mut b_bodies[stencil.body as usize];
                out[0] -= pull * stencil.wrench[0];
                out[1] -= pull * stencil.wrench[1];
            }
        }
    }

    /// Takes the stencils and what their targets added to the right side away.
    pub fn retract_targets(&mut self, b: &mut [Lane<T>]) {
        for stencil in &self.list {
            let pull = stencil.stiffness * stencil.target;
            for (&particle, g) in stencil.particles.iter().zip(&stencil.gradient) {
                let add: Lane<T> = lane(pull * *g);
                for (b, a) in b[particle as usize].iter_mut().zip(add) {
                    *b = *b - a;
                }
            }
        }
        self.list.clear();
        self.index();
    }

    /// Adds the stencils' part of the product: q += Σ k g (g·p), and the bodies' part to `q_bodies`.
    pub fn apply(
        &mut self,
        p: &[Lane<T>],
        p_bodies: &[[Vec3; 2]],
        q: &mut [Lane<T>],
        q_bodies: &mut [[Vec3; 2]],
    ) {
        self.strengths.clear();
        for (stencil, gradient) in self.list.iter().zip(&self.gradients) {
            let mut along = 0.0;
            for (&particle, g) in stencil.particles.iter().zip(gradient) {
                along += dot(g, &p[particle as usize]).wide();
            }
            if stencil.body != NONE {
                let [v, w] = &p_bodies[stencil.body as usize];
                along -= stencil.wrench[0].dot(*v) + stencil.wrench[1].dot(*w);
            }
            let strength = stencil.stiffness * along;
            if stencil.body != NONE {
                let out = &mut q_bodies[stencil.body as usize];
                out[0] -= strength * stencil.wrench[0];
                out[1] -= strength * stencil.wrench[1];
            }
            self.strengths.push(strength);
        }
        for (i, &row) in self.rows.iter().enumerate() {
            let range = self.starts[i] as usize..self.starts[i + 1] as usize;
            let out = &mut q[row as usize];
            for &(s, k) in &self.entries[range] {
                let strength = T::of(self.strengths[s as usize]);
                let g = &self.gradients[s as usize][k as usize];
                for (out, g) in out.iter_mut().zip(g) {
                    *out += strength * *g;
                }
            }
        }
    }

    /// Adds the diagonal blocks of all stencils to `diagonal`, one block per particle.
    pub fn add_diagonal(&self, mut diagonal: impl FnMut(usize, Mat3)) {
        for stencil in &self.list {
            for (&particle, g) in stencil.particles.iter().zip(&stencil.gradient) {
                if *g != Vec3::ZERO {
                    let block = crate::energy::membrane::outer(stencil.stiffness * *g, *g);
                    diagonal(particle as usize, block);
                }
            }
        }
    }
}
