//! Springs along edges: E = ½ k (l − l₀)².
//!
//! Of the Hessian k (n nᵀ + (1 − l₀/l)(1 − n nᵀ)) the part across the spring is kept where it is positive:
//! a compressed spring would rather turn aside. Damping acts on the rate of length, D = τ k n nᵀ with the
//! direction n of the beginning of the step.

use super::assemble::add_scaled;
use super::{ElementError, Energy, RowSum, Step, shifted};
use crate::linalg::block::{Scalar, block_of};
use crate::math::{Mat3, Vec3, outer};
use crate::parallel::loops::{each, largest, sum};
use std::hash::Hasher;

/// A spring between two vertices.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EdgeSpring {
    /// The vertices.
    pub nodes: [u32; 2],
    /// Length at rest l₀, m.
    pub length: f64,
    /// k, N/m.
    pub stiffness: f64,
    /// τ, s.
    pub damping: f64,
}

/// Springs along edges.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct EdgeSprings {
    list: Vec<EdgeSpring>,
}

/// What springs contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct EdgeParts {
    /// Force on the first vertex, N, and K + D/h, N/m.
    list: Vec<(Vec3, Mat3)>,
    h: f64,
}

/// Part of its strain that a spring of a solid shows to the check of strain, as tetrahedra do.
const SHOWN: f64 = 0.05;

impl EdgeSprings {
    /// These springs.
    pub fn new(list: Vec<EdgeSpring>) -> Result<EdgeSprings, ElementError> {
        for (element, spring) in list.iter().enumerate() {
            let EdgeSpring { nodes, length, stiffness, damping } = *spring;
            let usable = |x: f64| (0.0..1e15).contains(&x);
            if !(usable(length) && usable(stiffness) && usable(damping) && length > 0.0) {
                let problem = "needs a length above 0, and no negative stiffness or damping";
                return Err(ElementError::Shape { energy: EdgeSprings::NAME, element, problem });
            }
            if nodes[0] == nodes[1] {
                let problem = "joins a vertex to itself";
                return Err(ElementError::Shape { energy: EdgeSprings::NAME, element, problem });
            }
        }
        Ok(EdgeSprings { list })
    }

    /// Springs along all edges of tetrahedra of Young's modulus `young` (Pa), damped over `damping` (s):
    /// each tetrahedron gives its edges k = (2√2/25) E l \[lloyd2007\].
    pub fn of_tetrahedra(
        rest: &[Vec3],
        tetrahedra: &[[u32; 4]],
        young: f64,
        damping: f64,
    ) -> Result<EdgeSprings, ElementError> {
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(6 * tetrahedra.len());
        for t in tetrahedra {
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                edges.push([t[i].min(t[j]), t[i].max(t[j])]);
            }
        }
        edges.sort_unstable();
        let mut list: Vec<EdgeSpring> = Vec::new();
        let share = 2.0 * std::f64::consts::SQRT_2 / 25.0 * young;
        for nodes in edges {
            let [Some(a), Some(b)] = nodes.map(|n| rest.get(n as usize)) else {
                let vertex = nodes[1];
                let energy = EdgeSprings::NAME;
                return Err(ElementError::NoSuchVertex { energy, element: list.len(), vertex });
            };
            let length = a.distance(*b);
            match list.last_mut() {
                Some(last) if last.nodes == nodes => last.stiffness += share * length,
                _ => list.push(EdgeSpring { nodes, length, stiffness: share * length, damping }),
            }
        }
        EdgeSprings::new(list)
    }
}

impl Energy for EdgeSprings {
    const NAME: &'static str = "edge spring";
    type Nodes = [u32; 2];
    type Parts = EdgeParts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 2] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &EdgeSprings, first: u32) {
        let moved = |s: &EdgeSpring| EdgeSpring { nodes: s.nodes.map(|n| shifted(n, first)), ..*s };
        self.list.extend(other.list.iter().map(moved));
    }

    fn fingerprint(&self, hasher: &mut dyn Hasher) {
        for s in &self.list {
            s.nodes.iter().for_each(|&n| hasher.write_u32(n));
            for x in [s.length, s.stiffness, s.damping] {
                hasher.write_u64(x.to_bits());
            }
        }
    }

    fn rest_edges(&self, element: usize, edge: &mut dyn FnMut([u32; 2], f64)) {
        let s = &self.list[element];
        edge(s.nodes, s.length * s.length);
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        self.list[element].energy(x)
    }

    fn evaluate(&self, step: &Step, parts: &mut EdgeParts) {
        parts.h = step.h;
        parts.list.resize(self.list.len(), (Vec3::ZERO, Mat3::ZERO));
        each(self.list.len(), &mut parts.list[..], &|rows, out: &mut [(Vec3, Mat3)]| {
            for (out, s) in out.iter_mut().zip(&self.list[rows]) {
                let along = s.along(step.x1);
                let length = along.length();
                let n = if length > 0.0 { along / length } else { Vec3::Y };
                let side = if length > s.length { 1.0 - s.length / length } else { 0.0 };
                let mut k = Mat3::from_diagonal(Vec3::splat(s.stiffness * side))
                    + outer(n * (s.stiffness * (1.0 - side)), n);
                let mut force = s.stiffness * (length - s.length) * n;
                if s.damping > 0.0 {
                    let before = s.along(step.x0).normalize_or(Vec3::Y);
                    let rate = s.stiffness * s.damping / step.h;
                    force += rate * before.dot(along - s.along(step.x0)) * before;
                    k += outer(before * rate, before);
                }
                *out = (force, k);
            }
        });
    }

    #[inline(always)]
    fn add_row<T: Scalar>(
        &self,
        parts: &EdgeParts,
        element: usize,
        i: usize,
        row: &mut RowSum<'_, T>,
    ) {
        let (force, k) = &parts.list[element];
        *row.force += if i == 0 { *force } else { -*force };
        let (scale, block) = (T::of(parts.h * parts.h), block_of(k));
        add_scaled(row.block(i), &block, scale);
        add_scaled(row.block(1 - i), &block, -scale);
    }

    fn energy_since(&self, step: &Step, _: &mut EdgeParts) -> f64 {
        sum(0..self.list.len(), (), &|rows, ()| {
            let energy = |s: &EdgeSpring| {
                let before = s.along(step.x0);
                let rate = before.normalize_or(Vec3::Y).dot(s.along(step.x1) - before);
                s.energy(step.x1) + 0.5 * s.stiffness * s.damping / step.h * rate * rate
            };
            self.list[rows].iter().map(energy).sum()
        })
    }

    fn largest_strain(&self, x: &[Vec3]) -> f64 {
        largest(self.list.len(), (), &|rows, ()| {
            let strain = |s: &EdgeSpring| s.along(x).length() / s.length - 1.0;
            let worse = |a: f64, b: f64| if b.is_nan() { f64::INFINITY } else { a.max(b) };
            SHOWN * self.list[rows].iter().map(strain).fold(0.0, worse)
        })
    }
}

impl EdgeSpring {
    fn along(&self, x: &[Vec3]) -> Vec3 {
        x[self.nodes[1] as usize] - x[self.nodes[0] as usize]
    }

    fn energy(&self, x: &[Vec3]) -> f64 {
        let stretch = self.along(x).length() - self.length;
        0.5 * self.stiffness * stretch * stretch
    }
}
