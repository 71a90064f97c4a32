//! Conjugate gradients on the velocities of all nodes, with constraints projected inside [shinar2008 §7.1, §7.3].
//!
//!   SᵀAS y = Sᵀ(b − A v₀),   v = v₀ + S y
//!
//! A is the mass of bodies and particles with their damping and the elements' matrix; it couples bodies with
//! nothing. SᵀAS is symmetric and never negative, so plain conjugate gradients do, preconditioned with the
//! inverse of the diagonal blocks, in which what nothing moves has a zero.

use super::sweeps::Links;
use crate::linalg::block::{self, Block, Lane, Pattern, lane, matrix, vector};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3};

/// A of bodies, then of particles.
pub struct System<'a> {
    /// Mass times 1 + h·damping, along each axis, and inertia likewise.
    pub bodies: &'a [(f64, Mat3)],
    /// Blocks of particles.
    pub pattern: &'a Pattern,
    /// Their values, masses included.
    pub blocks: &'a [Block<f64>],
}

/// Memory of the solve.
#[derive(Debug, Default)]
pub struct Gradients {
    residual: Vec<Twist>,
    image: Vec<Twist>,
    direction: Vec<Twist>,
    seen: Vec<Twist>,
    inverse: Vec<[Mat3; 2]>,
    lanes: [Vec<Lane<f64>>; 2],
}

/// Residual at which iteration ends, relative to the right side, both in the norm of the preconditioner.
const TOLERANCE: f64 = 1e-9;

impl Gradients {
    /// Solves A v = b from `v`, which obeys the links as far as they are to be obeyed; returns the iterations.
    pub fn solve(
        &mut self,
        system: &System,
        b: &[Twist],
        v: &mut [Twist],
        (links, mass): (&Links, &[BodyMass]),
        most: u32,
    ) -> u32 {
        self.precondition(system, mass);
        let scale = self.norm(b);
        self.seen.clear();
        self.seen.extend_from_slice(v);
        system.multiply(&self.seen, &mut self.image, &mut self.lanes);
        self.residual.clear();
        self.residual.extend(b.iter().zip(&self.image).map(|(b, a)| add(b, a, -1.0)));
        links.project_residual(&mut self.residual, mass);
        self.direction.clear();
        self.direction.resize(b.len(), Twist::default());
        let mut last = 0.0;
        for iteration in 0..most {
            let size = self.size();
            if size.is_nan() || size <= TOLERANCE * TOLERANCE * scale {
                return iteration;
            }
            let keep = if iteration == 0 { 0.0 } else { size / last };
            last = size;
            for (i, p) in self.direction.iter_mut().enumerate() {
                *p = add(&through(&self.inverse[i], &self.residual[i]), p, keep);
            }
            self.seen.clear();
            self.seen.extend_from_slice(&self.direction);
            links.project(&mut self.seen, mass);
            system.multiply(&self.seen, &mut self.image, &mut self.lanes);
            links.project_residual(&mut self.image, mass);
            let stiff: f64 = self.direction.iter().zip(&self.image).map(dot).sum();
            if stiff.is_nan() || stiff <= 0.0 {
                return iteration;
            }
            let step = size / stiff;
            v.iter_mut().zip(&self.seen).for_each(|(v, s)| *v = add(v, s, step));
            let parts = self.residual.iter_mut().zip(&self.image);
            parts.for_each(|(r, a)| *r = add(r, a, -step));
        }
        most
    }

    fn precondition(&mut self, system: &System, mass: &[BodyMass]) {
        let bodies = system.bodies.len();
        self.inverse.clear();
        for (i, m) in mass.iter().enumerate() {
            self.inverse.push(if i < bodies {
                let linear = if system.bodies[i].0 > 0.0 {
                    // axes that are locked have no response
                    m.inv_mass / (system.bodies[i].0 * m.inv_mass.max_element()).max(1e-300)
                } else {
                    Vec3::ZERO
                };
                [Mat3::from_diagonal(linear), m.inv_inertia]
            } else if m.inv_mass == Vec3::ZERO {
                [Mat3::ZERO; 2]
            } else {
                let place = system.pattern.diagonal[i - bodies] as usize;
                [matrix(&system.blocks[place]).inverse(), Mat3::ZERO]
            });
        }
    }

    /// Residual · preconditioned residual.
    fn size(&self) -> f64 {
        self.norm(&self.residual)
    }

    fn norm(&self, r: &[Twist]) -> f64 {
        r.iter().zip(&self.inverse).map(|(r, inverse)| dot((r, &through(inverse, r)))).sum()
    }
}

impl System<'_> {
    /// image ← A v.
    pub fn multiply(
        &self,
        v: &[Twist],
        image: &mut Vec<Twist>,
        [from, to]: &mut [Vec<Lane<f64>>; 2],
    ) {
        let count = self.bodies.len();
        from.clear();
        from.extend(v[count..].iter().map(|p| lane(p.linear)));
        to.resize(from.len(), Lane::default());
        block::multiply(self.pattern, self.blocks, from, to);
        image.clear();
        image.extend(v.iter().zip(self.bodies).map(|(p, (m, inertia))| Twist {
            linear: *m * p.linear,
            angular: *inertia * p.angular,
        }));
        image.extend(to.iter().map(|p| Twist { linear: vector(p), angular: Vec3::ZERO }));
    }
}

fn through(inverse: &[Mat3; 2], r: &Twist) -> Twist {
    Twist { linear: inverse[0] * r.linear, angular: inverse[1] * r.angular }
}

fn add(a: &Twist, b: &Twist, scale: f64) -> Twist {
    Twist { linear: a.linear + scale * b.linear, angular: a.angular + scale * b.angular }
}

fn dot((a, b): (&Twist, &Twist)) -> f64 {
    a.linear.dot(b.linear) + a.angular.dot(b.angular)
}
