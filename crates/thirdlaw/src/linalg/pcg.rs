//! The modified conjugate gradients of (baraff1998): A u = b in the free directions, u prescribed in
//! the others, with rigid bodies as further unknowns where particles follow them.
//!
//! Every search direction passes the filter S, so that the prescribed part of the start never
//! changes; with T the map of free unknowns to particle velocities (linalg/filter.rs) this is
//! conjugate gradients on TᵀAT, which is definite. The constraint impulse is what the unfiltered
//! residual A u − b leaves at held particles.

use super::block::{Lane, Scalar, dot};
use super::error_bound::{ErrorBound, Watch};
use super::filter::{Filter, NONE};
use super::narrow::Narrow;
use super::passes::{self, shorten};
use super::precondition::Precondition;
use super::product::Matrix;
use super::stencil::Stencils;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};
use crate::parallel::loops::{each_light, inside, sum, sum_light};
use std::ops::Range;

/// The matrix.
#[derive(Debug)]
pub struct System<'a, T> {
    /// Blocks of particles.
    pub matrix: Matrix<'a, T>,
    /// The same in single precision, for search directions where no bodies are unknowns.
    pub narrow: Option<&'a Narrow>,
    /// Terms outside of the pattern.
    pub stencils: &'a mut Stencils<T>,
    /// Held particles.
    pub filter: &'a Filter<T>,
    /// Rigid bodies that are unknowns.
    pub bodies: &'a [BodyMass],
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Most iterations.
    pub iterations: u32,
    /// Residual relative to `reference`.
    pub tolerance: f64,
    /// √(rᵀP⁻¹r) that counts as one; where it is 0, the residual at the start, if that is more than
    /// `least`.
    pub reference: f64,
    /// See there.
    pub least: f64,
    /// The error to end at instead of a residual.
    pub finish: Option<Finish>,
    /// Speed to which bodies must be right, m/s.
    pub speed: f64,
}

/// The error to end at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finish {
    /// √(eᵀAe) of the error e that may be left, √(2 J): no more than that is left of its momentum
    /// norm √(eᵀMe) either.
    pub error: f64,
    /// The same relative to √(dᵀAd) of the way d that was gone, if that is more.
    pub relative: f64,
    /// How that is told.
    pub watch: Watch,
}

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Iterations made.
    pub iterations: u32,
    /// √(rᵀP⁻¹r) at the start.
    pub start: f64,
    /// √(rᵀP⁻¹r) that counted as one.
    pub reference: f64,
    /// √(rᵀP⁻¹r) at the end.
    pub end: f64,
    /// √(eᵀAe) that is left, as far as it can be told, √(2 J).
    pub error: f64,
    /// What it was to be.
    pub goal: f64,
    /// √(dᵀAd) of the way d from the start, √(2 J).
    pub progress: f64,
    /// Whether that is as small as it was to be, and bodies as right.
    pub converged: bool,
    /// Whether it ended because it was, or because that is small beside the way.
    pub enough: bool,
    /// Whether the matrix was found not to be positive definite.
    pub indefinite: bool,
}

impl Outcome {
    /// Together with an iteration that went on from there.
    pub fn followed_by(&self, next: &Outcome) -> Outcome {
        Outcome {
            iterations: self.iterations + next.iterations,
            progress: self.progress.hypot(next.progress),
            ..*next
        }
    }
}

/// Memory of the iteration.
#[derive(Clone, Debug, Default)]
pub struct Scratch<T> {
    r: Vec<Lane<T>>,
    z: Vec<Lane<T>>,
    p: Vec<Lane<T>>,
    q: Vec<Lane<T>>,
    short: Short,
    body: Bodies,
}

/// A search direction and its product in single precision.
#[derive(Clone, Debug, Default)]
struct Short {
    p: Vec<Lane<f32>>,
    q: Vec<Lane<f32>>,
}

#[derive(Clone, Debug, Default)]
struct Bodies {
    r: Vec<[Vec3; 2]>,
    z: Vec<[Vec3; 2]>,
    p: Vec<[Vec3; 2]>,
    q: Vec<[Vec3; 2]>,
}

fn body_dot(a: &[[Vec3; 2]], b: &[[Vec3; 2]]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a[0].dot(b[0]) + a[1].dot(b[1])).sum()
}

impl<T: Scalar> System<'_, T> {
    /// q = Tᵀ A T p; returns p·q. `p` is filtered before and after.
    fn product(
        &mut self,
        p: &mut [Lane<T>],
        p_bodies: &[[Vec3; 2]],
        q: &mut [Lane<T>],
        q_bodies: &mut [[Vec3; 2]],
        short: &mut Short,
    ) -> f64 {
        let filter = self.filter;
        if self.bodies.is_empty() {
            let along = self.particle_product(p, q, short);
            return along + self.stencils.apply_filtered(p, filter, q);
        }
        self.full_product(p, p_bodies, q, q_bodies);
        for hold in &filter.holds {
            let i = hold.particle as usize;
            if hold.body != NONE {
                let held = hold.held() * super::block::vector(&q[i]);
                let out = &mut q_bodies[hold.body as usize];
                out[0] += held;
                out[1] += hold.arm.cross(held);
                p[i] = filter.apply(i, &p[i]);
            }
            q[i] = filter.apply(i, &q[i]);
        }
        let p = &*p;
        let q = &*q;
        let along = sum_light(p.len(), (), &|rows, ()| {
            rows.map(|i| dot(&p[i], &q[i])).fold(T::default(), |a, b| a + b).wide()
        });
        along + body_dot(p_bodies, q_bodies)
    }

    /// q = S A p and p·q where there are only particles, in one pass.
    fn particle_product(&self, p: &[Lane<T>], q: &mut [Lane<T>], short: &mut Short) -> f64 {
        let (matrix, filter) = (self.matrix, self.filter);
        let close = |rows: Range<usize>, q: &mut [Lane<T>]| {
            let mut along = [T::default(); 4];
            for (i, q) in rows.zip(q) {
                *q = filter.apply(i, q);
                for k in 0..4 {
                    along[k] += p[i][k] * q[k];
                }
            }
            ((along[0] + along[1]) + (along[2] + along[3])).wide()
        };
        let Some(narrow) = self.narrow else {
            return sum(0..p.len(), q, &|rows, q: &mut [Lane<T>]| {
                matrix.multiply_rows(p, rows.clone(), q);
                close(rows, q)
            });
        };
        let at = &short.p;
        let out = (q, &mut short.q[..]);
        sum(0..p.len(), out, &|rows, (q, short): (&mut [Lane<T>], &mut [Lane<f32>])| {
            narrow.multiply_rows(matrix.pattern, at, rows.clone(), short);
            for (q, short) in q.iter_mut().zip(short) {
                *q = short.map(|x| T::of(f64::from(x)));
            }
            close(rows, q)
        })
    }

    /// A u + stencils with the bodies' own mass, unfiltered; `p` gains what bodies carry.
    fn full_product(
        &mut self,
        p: &mut [Lane<T>],
        p_bodies: &[[Vec3; 2]],
        q: &mut [Lane<T>],
        q_bodies: &mut [[Vec3; 2]],
    ) {
        if !self.bodies.is_empty() {
            self.filter.carry(p_bodies, p);
        }
        self.matrix.multiply(p, q);
        for ((out, body), p) in q_bodies.iter_mut().zip(self.bodies).zip(p_bodies) {
            *out = body_momentum(body, p);
        }
        if !self.stencils.list.is_empty() {
            self.stencils.apply(p, p_bodies, q, q_bodies);
        }
    }

    /// Solves for `u` and `u_bodies`, which hold the start: prescribed parts right, the rest a
    /// guess. `u` must not contain what bodies carry; it does afterwards.
    pub fn solve(
        &mut self,
        precondition: &mut dyn Precondition<T>,
        b: (&[Lane<T>], &[[Vec3; 2]]),
        stop: &Stop,
        u: (&mut [Lane<T>], &mut [[Vec3; 2]]),
        scratch: &mut Scratch<T>,
    ) -> Outcome {
        inside(|| self.iterate(precondition, b, stop, u, scratch))
    }

    fn iterate(
        &mut self,
        precondition: &mut dyn Precondition<T>,
        (b, b_bodies): (&[Lane<T>], &[[Vec3; 2]]),
        stop: &Stop,
        (u, u_bodies): (&mut [Lane<T>], &mut [[Vec3; 2]]),
        scratch: &mut Scratch<T>,
    ) -> Outcome {
        let n = u.len();
        let Scratch { r, z, p, q, short, body } = scratch;
        for v in [&mut *r, &mut *z, &mut *p, &mut *q] {
            v.resize(n, [T::default(); 4]);
        }
        for v in [&mut body.r, &mut body.z, &mut body.p, &mut body.q] {
            v.clear();
            v.resize(self.bodies.len(), [Vec3::ZERO; 2]);
        }
        // r = Tᵀ(b − A u)
        self.full_product(u, u_bodies, q, &mut body.q);
        let mut carried = std::mem::take(&mut body.r);
        for (i, r) in carried.iter_mut().enumerate() {
            *r = [b_bodies[i][0] - body.q[i][0], b_bodies[i][1] - body.q[i][1]];
        }
        for hold in self.filter.holds.iter().filter(|h| h.body != NONE) {
            let i = hold.particle as usize;
            let rest = hold.held() * (super::block::vector(&b[i]) - super::block::vector(&q[i]));
            let out = &mut carried[hold.body as usize];
            out[0] += rest;
            out[1] += hold.arm.cross(rest);
        }
        body.r = carried;
        let filter = self.filter;
        each_light(n, &mut r[..], &|rows, r: &mut [Lane<T>]| {
            for (i, r) in rows.zip(r) {
                let mut rest = b[i];
                for (rest, q) in rest.iter_mut().zip(q[i]) {
                    *rest = *rest - q;
                }
                *r = filter.apply(i, &rest);
            }
        });
        let mut rz = precondition.apply(filter, (r, &body.r), (z, &mut body.z));
        p.copy_from_slice(z);
        body.p.copy_from_slice(&body.z);
        if self.narrow.is_some() {
            short.p.resize(n, [0.0; 4]);
            short.q.resize(n, [0.0; 4]);
            shorten(p, &mut short.p);
        } else {
            short.p.clear();
        }
        let mut outcome =
            Outcome { start: rz.max(0.0).sqrt(), end: rz.max(0.0).sqrt(), ..Outcome::default() };
        let own = stop.reference <= 0.0;
        outcome.reference = if own { outcome.start.max(stop.least) } else { stop.reference };
        let goal = stop.tolerance * outcome.reference;
        let mut bound = stop.finish.map(|finish| ErrorBound::new(finish.watch));
        outcome.goal = stop.finish.map_or(0.0, |finish| finish.error);
        outcome.error = bound.as_ref().map_or(0.0, |bound| bound.error(rz));
        let mut gone = 0.0;
        let bodies = self.bodies;
        let unsettled = |r: &[[Vec3; 2]]| bodies.iter().zip(r).any(|(m, r)| off(m, r) > stop.speed);
        let mut moving = unsettled(&body.r);
        let enough = |outcome: &Outcome, gone: f64| match stop.finish {
            None => outcome.end <= goal || outcome.end.is_nan(),
            Some(finish) => {
                let most = finish.error.max(finish.relative * gone.sqrt());
                outcome.error <= most || outcome.error.is_nan()
            }
        };
        // a NaN stops it by the product below
        while (!enough(&outcome, gone) || moving) && outcome.iterations < stop.iterations {
            let pq = self.product(p, &body.p, q, &mut body.q, short);
            if pq <= 0.0 || pq.is_nan() {
                outcome.indefinite = pq < 0.0;
                break;
            }
            let alpha = rz / pq;
            let fused = precondition.diagonal();
            let mut next = 0.0;
            if let Some(inverse) = fused {
                next = passes::advance_inverted(T::of(alpha), inverse, (p, q), (u, r, z));
            } else {
                passes::advance(T::of(alpha), (p, q), (u, r));
            }
            // what bodies carry follows their change
            for hold in self.filter.holds.iter().filter(|h| h.body != NONE) {
                let add: Lane<T> =
                    super::block::lane(alpha * hold.follow(&body.p[hold.body as usize]));
                for (u, a) in u[hold.particle as usize].iter_mut().zip(add) {
                    *u += a;
                }
            }
            for (u, p) in u_bodies.iter_mut().flatten().zip(body.p.iter().flatten()) {
                *u += alpha * *p;
            }
            for (r, q) in body.r.iter_mut().flatten().zip(body.q.iter().flatten()) {
                *r -= alpha * *q;
            }
            if fused.is_none() {
                next = precondition.apply(filter, (r, &body.r), (z, &mut body.z));
            }
            let beta = next / rz;
            if let Some(bound) = &mut bound {
                bound.advance(rz, alpha, beta);
            }
            gone += alpha * rz;
            rz = next;
            passes::turn(T::of(beta), z, p, &mut short.p);
            for (p, z) in body.p.iter_mut().flatten().zip(body.z.iter().flatten()) {
                *p = *z + beta * *p;
            }
            outcome.iterations += 1;
            outcome.end = rz.max(0.0).sqrt();
            outcome.error = bound.as_ref().map_or(0.0, |bound| bound.error(rz));
            moving = unsettled(&body.r);
        }
        outcome.progress = gone.sqrt();
        outcome.enough = enough(&outcome, gone) && !moving;
        outcome.converged = outcome.error <= outcome.goal && !moving;
        outcome
    }

    /// A u − b of one particle, unfiltered: at a held one the impulse of its constraint, N·s. `u` contains
    /// what bodies carry, and the stencils know it.
    pub fn impulse(&self, i: usize, b: &[Lane<T>], u: &[Lane<T>]) -> Vec3 {
        let mut product = [[T::default(); 4]];
        self.matrix.multiply_rows(u, i..i + 1, &mut product);
        self.stencils.add_row(i, &mut product[0]);
        super::block::vector(&product[0]) - super::block::vector(&b[i])
    }

    /// A u − b of all particles, unfiltered: at a held particle the impulse of its constraint, N·s.
    /// `u` contains what bodies carry.
    pub fn impulses<'s>(
        &mut self,
        b: &[Lane<T>],
        u: &[Lane<T>],
        u_bodies: &[[Vec3; 2]],
        scratch: &'s mut Scratch<T>,
    ) -> &'s [Lane<T>] {
        let Scratch { q, body, .. } = scratch;
        q.resize(u.len(), [T::default(); 4]);
        body.q.clear();
        body.q.resize(self.bodies.len(), [Vec3::ZERO; 2]);
        self.matrix.multiply(u, q);
        if !self.stencils.list.is_empty() {
            self.stencils.apply(u, u_bodies, q, &mut body.q);
        }
        each_light(u.len(), &mut q[..], &|rows, q: &mut [Lane<T>]| {
            for (q, b) in q.iter_mut().zip(&b[rows]) {
                for (q, b) in q.iter_mut().zip(b) {
                    *q = *q - *b;
                }
            }
        });
        q
    }
}

/// Speed that a missing impulse stands for, at the body's centre of mass and about it.
fn off(body: &BodyMass, [linear, angular]: &[Vec3; 2]) -> f64 {
    let energy =
        (body.inv_mass * *linear).dot(*linear) + (body.inv_inertia * *angular).dot(*angular);
    (energy * body.inv_mass.max_element()).sqrt()
}

/// M (V, ω); an axis that cannot move has no momentum.
pub fn body_momentum(body: &BodyMass, twist: &[Vec3; 2]) -> [Vec3; 2] {
    let part = |inv: f64, v: f64| if inv > 0.0 { v / inv } else { 0.0 };
    let linear = Vec3::new(
        part(body.inv_mass.x, twist[0].x),
        part(body.inv_mass.y, twist[0].y),
        part(body.inv_mass.z, twist[0].z),
    );
    [linear, pseudo_inverse(&body.inv_inertia) * twist[1]]
}

/// The inertia that belongs to an inverse inertia, with zeros about locked axes.
fn pseudo_inverse(inv: &Mat3) -> Mat3 {
    let full = inv.inverse();
    if full.is_finite() && inv.determinant() != 0.0 {
        return full;
    }
    let eigen = glamx::DSymmetricEigen3::new(*inv);
    let largest = eigen.eigenvalues.abs().max_element();
    let part = |x: f64| if x > 1e-12 * largest { 1.0 / x } else { 0.0 };
    let values = eigen.eigenvalues;
    let diagonal = Vec3::new(part(values.x), part(values.y), part(values.z));
    let v = eigen.eigenvectors;
    v * Mat3::from_diagonal(diagonal) * v.transpose()
}
