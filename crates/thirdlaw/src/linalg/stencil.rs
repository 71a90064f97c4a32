//! Constraints that couple several particles, and perhaps a body, as stiff semi-definite terms of
//! the system: s gᵀ of a contact between a triangle and a corner, two edges, two layers of cloth.

use super::block::{Lane, Scalar, dot, lane, vector};
use super::filter::{Filter, NONE};
use super::hierarchy::Weights;
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

impl Stencil {
    /// Σ g_i·u_i of the particles, with g rounded to `gradient`.
    #[inline]
    fn along<T: Scalar>(&self, gradient: &[Lane<T>; 4], u: &[Lane<T>]) -> f64 {
        let mut along = 0.0;
        for (&particle, g) in self.particles.iter().zip(gradient) {
            along += dot(g, &u[particle as usize]).wide();
        }
        along
    }
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
    /// For every particle how many entries it has, then where the next of them goes.
    places: Vec<u32>,
    strengths: Vec<f64>,
}

impl<T: Scalar> Stencils<T> {
    /// Takes over the stencils in `list`, by counting: particles are many more than their stencils.
    pub fn index(&mut self) {
        let Stencils { list, gradients, rows, starts, entries, places, .. } = self;
        gradients.clear();
        gradients.extend(list.iter().map(|stencil| stencil.gradient.map(lane)));
        let used = |stencil: &Stencil, k: usize| stencil.gradient[k] != Vec3::ZERO;
        places.fill(0);
        for stencil in &*list {
            for (k, &particle) in stencil.particles.iter().enumerate() {
                if used(stencil, k) {
                    let particle = particle as usize;
                    if particle >= places.len() {
                        places.resize(particle + 1, 0);
                    }
                    places[particle] += 1;
                }
            }
        }
        rows.clear();
        starts.clear();
        let mut count = 0;
        for (row, place) in places.iter_mut().enumerate().filter(|(_, place)| **place > 0) {
            rows.push(row as u32);
            starts.push(count);
            count += std::mem::replace(place, count);
        }
        starts.push(count);
        entries.clear();
        entries.resize(count as usize, (0, 0));
        for (s, stencil) in list.iter().enumerate() {
            for (k, &particle) in stencil.particles.iter().enumerate() {
                if used(stencil, k) {
                    let place = &mut places[particle as usize];
                    entries[*place as usize] = (s as u32, k as u32);
                    *place += 1;
                }
            }
        }
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

    /// Finds what the stencils push with where particles and bodies move so.
    pub fn look(&mut self, p: &[Lane<T>], p_bodies: &[[Vec3; 2]]) {
        self.strengths.clear();
        for (stencil, gradient) in self.list.iter().zip(&self.gradients) {
            let mut along = stencil.along(gradient, p);
            if stencil.body != NONE {
                let [v, w] = &p_bodies[stencil.body as usize];
                along -= stencil.wrench[0].dot(*v) + stencil.wrench[1].dot(*w);
            }
            self.strengths.push(stencil.stiffness * along);
        }
    }

    /// Adds the stencils' part of the product: q += Σ k g (g·p), and the bodies' part to `q_bodies`.
    pub fn apply(
        &mut self,
        p: &[Lane<T>],
        p_bodies: &[[Vec3; 2]],
        q: &mut [Lane<T>],
        q_bodies: &mut [[Vec3; 2]],
    ) {
        self.look(p, p_bodies);
        let pushes = self.list.iter().zip(&self.strengths);
        for (stencil, strength) in pushes.filter(|(s, _)| s.body != NONE) {
            let out = &mut q_bodies[stencil.body as usize];
            out[0] -= *strength * stencil.wrench[0];
            out[1] -= *strength * stencil.wrench[1];
        }
        for (place, &row) in self.rows.iter().enumerate() {
            self.add_entries(place, &mut q[row as usize]);
        }
    }

    /// Adds one row of the product after [`Stencils::look`].
    pub fn add_row(&self, row: usize, q: &mut Lane<T>) {
        if let Ok(place) = self.rows.binary_search(&(row as u32)) {
            self.add_entries(place, q);
        }
    }

    #[inline]
    fn add_entries(&self, place: usize, q: &mut Lane<T>) {
        let range = self.starts[place] as usize..self.starts[place + 1] as usize;
        for &(s, k) in &self.entries[range] {
            let strength = T::of(self.strengths[s as usize]);
            let g = &self.gradients[s as usize][k as usize];
            for (q, g) in q.iter_mut().zip(g) {
                *q += strength * *g;
            }
        }
    }

    /// Adds what `filter` lets through of the stencils' part of the product where no bodies are unknowns,
    /// and returns its part of p·q. `p` is filtered.
    pub fn apply_filtered(&mut self, p: &[Lane<T>], filter: &Filter<T>, q: &mut [Lane<T>]) -> f64 {
        let Stencils { list, gradients, strengths, .. } = self;
        strengths.clear();
        let mut sum = 0.0;
        for (stencil, gradient) in list.iter().zip(&*gradients) {
            let along = stencil.along(gradient, p);
            let strength = stencil.stiffness * along;
            sum += strength * along;
            strengths.push(strength);
        }
        for (place, &row) in self.rows.iter().enumerate() {
            let mut push = [T::default(); 4];
            self.add_entries(place, &mut push);
            for (q, push) in q[row as usize].iter_mut().zip(filter.apply(row as usize, &push)) {
                *q += push;
            }
        }
        sum
    }

    /// Adds the diagonal blocks of the stencils asked for to `diagonal`, one block per particle.
    pub fn add_diagonal(
        &self,
        wanted: impl Fn(usize) -> bool,
        mut diagonal: impl FnMut(usize, Mat3),
    ) {
        for (_, stencil) in self.list.iter().enumerate().filter(|(s, _)| wanted(*s)) {
            for (&particle, g) in stencil.particles.iter().zip(&stencil.gradient) {
                if *g != Vec3::ZERO {
                    let block = crate::math::outer(stencil.stiffness * *g, *g);
                    diagonal(particle as usize, block);
                }
            }
        }
    }
}

/// Stencils on a coarse level: k g gᵀ with Pᵀg for g.
#[derive(Clone, Debug, Default)]
pub struct SpreadStencils<T> {
    /// k of each.
    stiffness: Vec<f64>,
    /// Where the entries of each begin; one more than stencils.
    start: Vec<u32>,
    /// Node and gradient, nodes ascending.
    entries: Vec<(u32, Lane<T>)>,
}

impl<T: Scalar> SpreadStencils<T> {
    /// Takes over the stencils of particles: what the filter leaves of them. What a body on the other
    /// side adds is left out.
    pub fn spread(&mut self, stencils: &Stencils<T>, filter: &Filter<T>, weights: &Weights) {
        self.clear();
        for (stencil, gradient) in stencils.list.iter().zip(&stencils.gradients) {
            let begin = self.entries.len();
            for (&particle, g) in stencil.particles.iter().zip(gradient) {
                let g = filter.apply(particle as usize, g);
                self.add(begin, &g, weights.row(particle as usize));
            }
            self.close(stencil.stiffness, begin);
        }
    }

    /// Takes over the stencils of the level above.
    pub fn coarsen(&mut self, above: &SpreadStencils<T>, weights: &Weights) {
        self.clear();
        for (s, &stiffness) in above.stiffness.iter().enumerate() {
            let begin = self.entries.len();
            for (node, g) in above.of(s) {
                self.add(begin, g, weights.row(*node as usize));
            }
            self.close(stiffness, begin);
        }
    }

    fn clear(&mut self) {
        self.stiffness.clear();
        self.entries.clear();
        self.start.clear();
        self.start.push(0);
    }

    fn add(&mut self, begin: usize, g: &Lane<T>, weights: &[(u32, f32)]) {
        if *g == [T::default(); 4] {
            return;
        }
        for &(node, w) in weights {
            let w = T::of(f64::from(w));
            let mine = &mut self.entries[begin..];
            match mine.iter_mut().find(|e| e.0 == node) {
                Some((_, sum)) => sum.iter_mut().zip(g).for_each(|(sum, g)| *sum += w * *g),
                None => self.entries.push((node, g.map(|g| w * g))),
            }
        }
    }

    fn close(&mut self, stiffness: f64, begin: usize) {
        self.entries[begin..].sort_unstable_by_key(|e| e.0);
        self.stiffness.push(stiffness);
        self.start.push(self.entries.len() as u32);
    }

    fn of(&self, s: usize) -> &[(u32, Lane<T>)] {
        &self.entries[self.start[s] as usize..self.start[s + 1] as usize]
    }

    /// q += Σ k g (g·p).
    pub fn apply(&self, p: &[Lane<T>], q: &mut [Lane<T>]) {
        self.add_product(1.0, p, q);
    }

    /// q −= Σ k g (g·p).
    pub fn subtract(&self, p: &[Lane<T>], q: &mut [Lane<T>]) {
        self.add_product(-1.0, p, q);
    }

    fn add_product(&self, sign: f64, p: &[Lane<T>], q: &mut [Lane<T>]) {
        for (s, &stiffness) in self.stiffness.iter().enumerate() {
            let along: f64 = self.of(s).iter().map(|(n, g)| dot(g, &p[*n as usize]).wide()).sum();
            let strength = T::of(sign * stiffness * along);
            for (node, g) in self.of(s) {
                for (q, g) in q[*node as usize].iter_mut().zip(g) {
                    *q += strength * *g;
                }
            }
        }
    }

    /// Adds the diagonal blocks.
    pub fn add_diagonal(&self, diagonal: &mut [Mat3]) {
        for (s, &stiffness) in self.stiffness.iter().enumerate() {
            for (node, g) in self.of(s) {
                let g = vector(g);
                diagonal[*node as usize] += crate::math::outer(stiffness * g, g);
            }
        }
    }

    /// Calls `add` with every block.
    pub fn each_pair(&self, mut add: impl FnMut(usize, usize, &Mat3)) {
        for (s, &stiffness) in self.stiffness.iter().enumerate() {
            for (i, a) in self.of(s) {
                for (j, b) in self.of(s) {
                    let (a, b) = (vector(a), vector(b));
                    let block = crate::math::outer(stiffness * a, b);
                    add(*i as usize, *j as usize, &block);
                }
            }
        }
    }
}
