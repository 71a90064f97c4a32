//! Particles bound to places among others: E = ½ k |Σ c_i x_i|² \[SSIF07b\].
//!
//! The first node is the one that is bound, c = 1; the others are corners of a triangle or a tetrahedron whose
//! place −Σ c_i x_i, with Σ c = −1 over them, it keeps to. Forces −k c_i d lie along the gap d = Σ c_i x_i, so that
//! they have neither sum nor torque. The stiffness k c_i c_j is exact and constant; damping acts on the rate
//! of the gap, D = τ k.

use super::assemble::add_scaled;
use super::{ElementError, Energy, NONE, RowSum, Step, shifted};
use crate::linalg::block::{Scalar, block_of};
use crate::math::{Mat3, Vec3};
use std::hash::Hasher;

/// A particle bound to a place among others.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BoundParticle {
    /// The particle, then corners; missing ones are [`NONE`].
    pub nodes: [u32; 5],
    /// c of each: 1, and what sums to −1.
    pub weights: [f64; 5],
    /// k, N/m.
    pub stiffness: f64,
    /// τ, s.
    pub damping: f64,
}

/// Bound particles.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct BoundParticles {
    list: Vec<BoundParticle>,
}

/// What they contribute at one state: the force on the bound particle, N, and k + τk/h, N/m.
#[derive(Clone, Debug, Default)]
pub struct BoundParts {
    list: Vec<(Vec3, f64)>,
    h: f64,
}

impl BoundParticles {
    /// These.
    pub fn new(list: Vec<BoundParticle>) -> Result<BoundParticles, ElementError> {
        for (element, bound) in list.iter().enumerate() {
            let BoundParticle { nodes, weights, stiffness, damping } = bound;
            let problem = |problem| ElementError::Shape { energy: Self::NAME, element, problem };
            let usable = |x: f64| (0.0..1e15).contains(&x);
            if !(usable(*stiffness) && usable(*damping)) {
                return Err(problem("needs a stiffness and a damping that are not negative"));
            }
            let sum: f64 = weights.iter().sum();
            if weights[0] != 1.0 || sum.is_nan() || sum.abs() > 1e-9 {
                return Err(problem("needs weights of its corners that sum to one"));
            }
            let twice = (0..5).any(|i| nodes[i] != NONE && nodes[..i].contains(&nodes[i]));
            if twice {
                return Err(problem("names a vertex twice"));
            }
        }
        Ok(BoundParticles { list })
    }

    /// One of them.
    pub fn get(&self, element: usize) -> &BoundParticle {
        &self.list[element]
    }
}

impl BoundParticle {
    /// From the place that it is bound to, m.
    pub fn gap(&self, x: &[Vec3]) -> Vec3 {
        // from the particle, so that far from the origin no digits are lost; the weights sum to zero
        let at = x[self.nodes[0] as usize];
        let there = self.nodes.iter().zip(&self.weights).filter(|(node, _)| **node != NONE);
        there.map(|(node, weight)| *weight * (x[*node as usize] - at)).sum()
    }
}

impl Energy for BoundParticles {
    const NAME: &'static str = "binding";
    type Nodes = [u32; 5];
    type Parts = BoundParts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 5] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &BoundParticles, first: u32) {
        let moved =
            |b: &BoundParticle| BoundParticle { nodes: b.nodes.map(|n| shifted(n, first)), ..*b };
        self.list.extend(other.list.iter().map(moved));
    }

    fn fingerprint(&self, hasher: &mut dyn Hasher) {
        for bound in &self.list {
            bound.nodes.iter().for_each(|&n| hasher.write_u32(n));
            for x in bound.weights.iter().chain([&bound.stiffness, &bound.damping]) {
                hasher.write_u64(x.to_bits());
            }
        }
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        let bound = &self.list[element];
        0.5 * bound.stiffness * bound.gap(x).length_squared()
    }

    fn evaluate(&self, step: &Step, parts: &mut BoundParts) {
        parts.h = step.h;
        parts.list.clear();
        parts.list.extend(self.list.iter().map(|bound| {
            let gap = bound.gap(step.x1);
            let rate = bound.damping * bound.stiffness / step.h;
            let force = -bound.stiffness * gap - rate * (gap - bound.gap(step.x0));
            (force, bound.stiffness + rate)
        }));
    }

    #[inline(always)]
    fn add_row<T: Scalar>(
        &self,
        parts: &BoundParts,
        element: usize,
        i: usize,
        row: &mut RowSum<'_, T>,
    ) {
        let BoundParticle { nodes, weights, .. } = &self.list[element];
        let (force, stiffness) = &parts.list[element];
        *row.force += weights[i] * *force;
        let unit = block_of(&Mat3::IDENTITY);
        for j in (0..5).filter(|&j| nodes[j] != NONE) {
            let scale = parts.h * parts.h * stiffness * weights[i] * weights[j];
            add_scaled(row.block(j), &unit, T::of(scale));
        }
    }

    fn energy_since(&self, step: &Step, _: &mut BoundParts) -> f64 {
        let energy = |bound: &BoundParticle| {
            let (before, after) = (bound.gap(step.x0), bound.gap(step.x1));
            let rate = bound.damping / step.h * (after - before).length_squared();
            0.5 * bound.stiffness * (after.length_squared() + rate)
        };
        self.list.iter().map(energy).sum()
    }
}
