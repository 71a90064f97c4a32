//! Altitude springs: each corner of a tetrahedron is held at its height over the opposite face.
//!
//! E = ½ k (d − d₀)² with the signed height d = (x₀ − x₁)·n̂ over the face x₁, x₂, x₃. Its sign tells inside
//! from outside, so an inverted tetrahedron is pushed back through the face [molino2003, selle2008]. Of the
//! Hessian k ∇d ∇dᵀ is kept, which is never negative. Edge springs alone let a tetrahedron collapse;
//! with these it cannot. Damping acts on the rate of the height, D = τ k ∇d ∇dᵀ.

use super::assemble::add_scaled;
use super::{ElementError, Energy, RowSum, Step, shifted};
use crate::linalg::block::{Scalar, block_of};
use crate::math::{Vec3, outer};
use crate::parallel::loops::{each, sum};
use std::hash::Hasher;

/// A corner over a face.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AltitudeSpring {
    /// The corner, then the face, whose normal points to the corner at rest.
    pub nodes: [u32; 4],
    /// Height at rest d₀, m.
    pub height: f64,
    /// k, N/m.
    pub stiffness: f64,
    /// τ, s.
    pub damping: f64,
}

/// Altitude springs.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct AltitudeSprings {
    list: Vec<AltitudeSpring>,
}

/// Height and its gradient with respect to the four nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Height {
    value: f64,
    gradient: [Vec3; 4],
}

/// What springs contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct AltitudeParts {
    list: Vec<Part>,
    h: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    now: Height,
    before: [Vec3; 4],
    /// Force along −∇d of now and of the beginning, N.
    pulls: [f64; 2],
    /// k and τk/h, N/m.
    stiffness: [f64; 2],
}

impl AltitudeSprings {
    /// Four springs for every tetrahedron, of stiffness k = E V/d₀² each, damped over `damping` (s).
    pub fn of_tetrahedra(
        rest: &[Vec3],
        tetrahedra: &[[u32; 4]],
        young: f64,
        damping: f64,
    ) -> Result<AltitudeSprings, ElementError> {
        let energy = AltitudeSprings::NAME;
        let mut list = Vec::with_capacity(4 * tetrahedra.len());
        for (element, &[a, b, c, d]) in tetrahedra.iter().enumerate() {
            if let Some(&vertex) = [a, b, c, d].iter().find(|v| **v as usize >= rest.len()) {
                return Err(ElementError::NoSuchVertex { energy, element, vertex });
            }
            let [xa, xb, xc, xd] = [a, b, c, d].map(|v| rest[v as usize]);
            let volume = (xb - xa).dot((xc - xa).cross(xd - xa)) / 6.0;
            for nodes in [[a, b, d, c], [b, a, c, d], [c, a, d, b], [d, a, b, c]] {
                let height = height(nodes.map(|v| rest[v as usize])).value;
                if !(height > 0.0 && height.is_finite()) {
                    let problem = "has no height over a face at rest; spread its corners";
                    return Err(ElementError::Shape { energy, element, problem });
                }
                let stiffness = young * volume / (height * height);
                list.push(AltitudeSpring { nodes, height, stiffness, damping });
            }
        }
        Ok(AltitudeSprings { list })
    }
}

impl Energy for AltitudeSprings {
    const NAME: &'static str = "altitude spring";
    type Nodes = [u32; 4];
    type Parts = AltitudeParts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 4] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &AltitudeSprings, first: u32) {
        let moved =
            |s: &AltitudeSpring| AltitudeSpring { nodes: s.nodes.map(|n| shifted(n, first)), ..*s };
        self.list.extend(other.list.iter().map(moved));
    }

    fn fingerprint(&self, hasher: &mut dyn Hasher) {
        for s in &self.list {
            s.nodes.iter().for_each(|&n| hasher.write_u32(n));
            for x in [s.height, s.stiffness, s.damping] {
                hasher.write_u64(x.to_bits());
            }
        }
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        self.list[element].energy(x)
    }

    fn evaluate(&self, step: &Step, parts: &mut AltitudeParts) {
        parts.h = step.h;
        parts.list.resize(self.list.len(), Part::default());
        each(self.list.len(), &mut parts.list[..], &|rows, out: &mut [Part]| {
            for (out, s) in out.iter_mut().zip(&self.list[rows]) {
                let now = s.height(step.x1);
                let rate = s.stiffness * s.damping / step.h;
                let mut before = [Vec3::ZERO; 4];
                let mut lag = 0.0;
                if s.damping > 0.0 {
                    before = s.height(step.x0).gradient;
                    lag = rate * s.change(&before, step);
                }
                let pulls = [s.stiffness * (now.value - s.height), lag];
                *out = Part { now, before, pulls, stiffness: [s.stiffness, rate] };
            }
        });
    }

    #[inline(always)]
    fn add_row<T: Scalar>(
        &self,
        parts: &AltitudeParts,
        element: usize,
        i: usize,
        row: &mut RowSum<'_, T>,
    ) {
        let part = &parts.list[element];
        let (now, before) = (&part.now.gradient, &part.before);
        *row.force -= part.pulls[0] * now[i] + part.pulls[1] * before[i];
        let scale = T::of(parts.h * parts.h);
        for j in 0..4 {
            let k = outer(part.stiffness[0] * now[i], now[j])
                + outer(part.stiffness[1] * before[i], before[j]);
            add_scaled(row.block(j), &block_of(&k), scale);
        }
    }

    fn energy_since(&self, step: &Step, _: &mut AltitudeParts) -> f64 {
        sum(0..self.list.len(), (), &|rows, ()| {
            let energy = |s: &AltitudeSpring| {
                let mut energy = s.energy(step.x1);
                if s.damping > 0.0 {
                    let change = s.change(&s.height(step.x0).gradient, step);
                    energy += 0.5 * s.stiffness * s.damping / step.h * change * change;
                }
                energy
            };
            self.list[rows].iter().map(energy).sum()
        })
    }
}

impl AltitudeSpring {
    fn height(&self, x: &[Vec3]) -> Height {
        height(self.nodes.map(|n| x[n as usize]))
    }

    fn energy(&self, x: &[Vec3]) -> f64 {
        let change = self.height(x).value - self.height;
        0.5 * self.stiffness * change * change
    }

    /// ∇d·(x₁ − x₀).
    fn change(&self, gradient: &[Vec3; 4], step: &Step) -> f64 {
        let moved = self.nodes.map(|n| step.x1[n as usize] - step.x0[n as usize]);
        gradient.iter().zip(moved).map(|(g, d)| g.dot(d)).sum()
    }
}

/// Height of the first point over the plane of the others. Over a face without area there is none: 0.
fn height([p, a, b, c]: [Vec3; 4]) -> Height {
    let normal = (b - a).cross(c - a);
    let area = normal.length();
    if area == 0.0 {
        return Height::default();
    }
    let n = normal / area;
    let offset = p - a;
    let value = n.dot(offset);
    // the foot of p has barycentric coordinates by which the face's corners move it
    let wb = (offset.cross(c - a)).dot(n) / area;
    let wc = ((b - a).cross(offset)).dot(n) / area;
    Height { value, gradient: [n, -(1.0 - wb - wc) * n, -wb * n, -wc * n] }
}
