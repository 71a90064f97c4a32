//! Linear elasticity of a tetrahedron: small strains of a Hookean solid.
//!
//! With the gradients g_i of the shape functions, constant in the tetrahedron, and the displacements
//! u_i = x_i − X_i from rest, the displacement gradient is G = Σ u_i g_iᵀ and the strain ε = ½(G + Gᵀ).
//! The energy is
//!
//!   E = V (½ λ tr²ε + μ ε:ε),   λ = Eν/((1 + ν)(1 − 2ν)),   μ = E/(2(1 + ν)),
//!
//! the forces are f_i = −V σ g_i with the stress σ = λ tr(ε) 1 + 2μ ε, and the stiffness is constant,
//!
//!   K_ij = V (λ g_i g_jᵀ + μ g_j g_iᵀ + μ (g_i·g_j) 1),
//!
//! which is never negative. Strain is taken from the rest shape, not from one that turns along: right for
//! small rotations only, large ones look like stretch. Damping acts on the rate of strain with the same
//! stiffness, D = τK.

use super::assemble::add_scaled;
use super::{ElementError, Energy, RowSum, Step, shifted};
use crate::linalg::block::{Scalar, block_of};
use crate::math::{Mat3, Vec3, outer};
use crate::parallel::loops::{each, largest, sum};
use std::hash::Hasher;

/// A Hookean solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearElastic {
    /// Young's modulus E, Pa.
    pub young: f64,
    /// Poisson's ratio ν, above −1 and below ½.
    pub poisson: f64,
    /// kg/m³; 0 where masses are given otherwise.
    pub density: f64,
    /// Time τ in which the stiffness acts on the rate of strain, s.
    pub damping: f64,
}

/// Tetrahedra of Hookean solids.
#[derive(Clone, Debug, Default)]
pub struct LinearTetrahedra {
    list: Vec<Tetrahedron>,
    materials: Vec<LinearElastic>,
}

#[derive(Clone, Copy, Debug)]
struct Tetrahedron {
    nodes: [u32; 4],
    /// Corners 1 to 3 at rest, from corner 0, m.
    rest: [Vec3; 3],
    /// ∇ of each corner's shape function, 1/m.
    gradients: [Vec3; 4],
    /// m³.
    volume: f64,
    material: u32,
}

/// What tetrahedra contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Per tetrahedron: V σ, with damping, N·m.
    stresses: Vec<Mat3>,
    /// Length of the step, s.
    h: f64,
}

/// A tetrahedron thinner than this part of its longest edge cubed has no volume that arithmetic can
/// trust.
const THINNEST: f64 = 1e-9;

impl LinearTetrahedra {
    /// Tetrahedra of one material between vertices that rest at these places (m). Seen from corner 0,
    /// the corners 1, 2 and 3 turn so that (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) > 0.
    pub fn new(
        rest: &[Vec3],
        tetrahedra: &[[u32; 4]],
        material: LinearElastic,
    ) -> Result<LinearTetrahedra, ElementError> {
        material.check()?;
        let mut list = Vec::with_capacity(tetrahedra.len());
        for (element, nodes) in tetrahedra.iter().enumerate() {
            list.push(Tetrahedron::new(rest, element, *nodes)?);
        }
        Ok(LinearTetrahedra { list, materials: vec![material] })
    }

    /// λ and μ of a tetrahedron, times its volume, J.
    fn lame(&self, tetrahedron: &Tetrahedron) -> [f64; 2] {
        let LinearElastic { young, poisson, .. } = self.materials[tetrahedron.material as usize];
        let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
        let mu = young / (2.0 * (1.0 + poisson));
        [tetrahedron.volume * lambda, tetrahedron.volume * mu]
    }

    fn damping(&self, tetrahedron: &Tetrahedron) -> f64 {
        self.materials[tetrahedron.material as usize].damping
    }
}

impl Energy for LinearTetrahedra {
    const NAME: &'static str = "linear tetrahedron";
    type Nodes = [u32; 4];
    type Parts = Parts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 4] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &LinearTetrahedra, first: u32) {
        let materials = self.materials.len() as u32;
        self.materials.extend_from_slice(&other.materials);
        self.list.extend(other.list.iter().map(|t| Tetrahedron {
            nodes: t.nodes.map(|n| shifted(n, first)),
            material: t.material + materials,
            ..*t
        }));
    }

    fn fingerprint(&self, hasher: &mut dyn Hasher) {
        for t in &self.list {
            t.nodes.iter().for_each(|&n| hasher.write_u32(n));
            let places = t.rest.iter().flat_map(|p| p.to_array());
            places.for_each(|x| hasher.write_u64(x.to_bits()));
            hasher.write_u32(t.material);
        }
        for m in &self.materials {
            for x in [m.young, m.poisson, m.density, m.damping] {
                hasher.write_u64(x.to_bits());
            }
        }
    }

    fn mass_share(&self, element: usize) -> f64 {
        let t = &self.list[element];
        0.25 * t.volume * self.materials[t.material as usize].density
    }

    fn rest_edges(&self, element: usize, edge: &mut dyn FnMut([u32; 2], f64)) {
        let Tetrahedron { nodes, rest: [a, b, c], .. } = self.list[element];
        let corners = [Vec3::ZERO, a, b, c];
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            edge([nodes[i], nodes[j]], (corners[j] - corners[i]).length_squared());
        }
    }

    /// (λ + 2μ) h²/(ρ l²).
    fn stiffness_ratio(&self, h: f64, edge: f64) -> f64 {
        let of = |t: &Tetrahedron| {
            let [lambda, mu] = self.lame(t);
            let mass = t.volume * self.materials[t.material as usize].density;
            h * h * (lambda + 2.0 * mu) / (mass * edge * edge)
        };
        self.list.iter().map(of).fold(0.0, f64::max)
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        let t = &self.list[element];
        density(self.lame(t), &symmetric(&t.displacement_gradient(x)))
    }

    fn evaluate(&self, step: &Step, parts: &mut Parts) {
        parts.h = step.h;
        parts.stresses.resize(self.list.len(), Mat3::ZERO);
        each(self.list.len(), &mut parts.stresses[..], &|rows, out: &mut [Mat3]| {
            for (out, t) in out.iter_mut().zip(&self.list[rows]) {
                let now = t.displacement_gradient(step.x1);
                let change = now - t.displacement_gradient(step.x0);
                let lag = self.damping(t) / step.h;
                let strain = symmetric(&(now + change * lag));
                let [lambda, mu] = self.lame(t);
                *out =
                    Mat3::from_diagonal(Vec3::splat(lambda * trace(&strain))) + strain * (2.0 * mu);
            }
        });
    }

    #[inline(always)]
    fn add_row<T: Scalar>(&self, parts: &Parts, element: usize, i: usize, row: &mut RowSum<'_, T>) {
        let t = &self.list[element];
        let g = &t.gradients;
        *row.force -= parts.stresses[element] * g[i];
        let [lambda, mu] = self.lame(t);
        let scale = T::of(parts.h * parts.h + parts.h * self.damping(t));
        for j in 0..4 {
            let k = outer(g[i] * lambda, g[j])
                + outer(g[j] * mu, g[i])
                + Mat3::from_diagonal(Vec3::splat(mu * g[i].dot(g[j])));
            add_scaled(row.block(j), &block_of(&k), scale);
        }
    }

    fn energy_since(&self, step: &Step, _: &mut Parts) -> f64 {
        sum(0..self.list.len(), (), &|rows, ()| {
            let energy = |t: &Tetrahedron| {
                let now = t.displacement_gradient(step.x1);
                let change = now - t.displacement_gradient(step.x0);
                let of = |g: &Mat3| density(self.lame(t), &symmetric(g));
                of(&now) + self.damping(t) / step.h * of(&change)
            };
            self.list[rows].iter().map(energy).sum()
        })
    }

    /// No less than the largest stretch: the norm of the displacement gradient.
    fn largest_strain(&self, x: &[Vec3]) -> f64 {
        largest(self.list.len(), (), &|rows, ()| {
            let mut largest: f64 = 0.0;
            for t in &self.list[rows] {
                let g = t.displacement_gradient(x);
                let strain = contraction(&g, &g).sqrt();
                largest = if strain.is_nan() { f64::INFINITY } else { largest.max(strain) };
            }
            largest
        })
    }
}

impl Tetrahedron {
    fn new(rest: &[Vec3], element: usize, nodes: [u32; 4]) -> Result<Tetrahedron, ElementError> {
        let energy = LinearTetrahedra::NAME;
        let mut corners = [Vec3::ZERO; 4];
        for (corner, &vertex) in corners.iter_mut().zip(&nodes) {
            let missing = ElementError::NoSuchVertex { energy, element, vertex };
            *corner = *rest.get(vertex as usize).ok_or(missing)?;
        }
        let wrong = |problem| ElementError::Shape { energy, element, problem };
        if corners.iter().any(|c| !c.is_finite()) {
            return Err(wrong("has a corner that is infinite or NaN"));
        }
        let [a, b, c] = [1, 2, 3].map(|k| corners[k] - corners[0]);
        let six_volumes = a.dot(b.cross(c));
        let longest = [a, b, c, b - a, c - a, c - b].map(Vec3::length).into_iter();
        let longest = longest.fold(0.0, f64::max);
        if six_volumes.abs() <= THINNEST * longest * longest * longest {
            return Err(wrong("has no volume at rest; remove it or spread its corners"));
        }
        if six_volumes < 0.0 {
            return Err(wrong("is inverted at rest; swap two of its corners"));
        }
        let [g1, g2, g3] = [b.cross(c), c.cross(a), a.cross(b)].map(|n| n / six_volumes);
        let gradients = [-(g1 + g2 + g3), g1, g2, g3];
        let volume = six_volumes / 6.0;
        Ok(Tetrahedron { nodes, rest: [a, b, c], gradients, volume, material: 0 })
    }

    /// G = Σ u_i g_iᵀ, from corner 0 so that far from the origin no digits are lost.
    fn displacement_gradient(&self, x: &[Vec3]) -> Mat3 {
        let [x0, x1, x2, x3] = self.nodes.map(|i| x[i as usize]);
        let [r1, r2, r3] = self.rest;
        let [_, g1, g2, g3] = self.gradients;
        outer(x1 - x0 - r1, g1) + outer(x2 - x0 - r2, g2) + outer(x3 - x0 - r3, g3)
    }
}

impl LinearElastic {
    fn check(&self) -> Result<(), ElementError> {
        let energy = LinearTetrahedra::NAME;
        let bounds = [
            ("young", self.young, 1e-6, 1e15),
            ("density", self.density, 0.0, 1e9),
            ("damping", self.damping, 0.0, 1e3),
        ];
        for (field, value, low, high) in bounds {
            if !(low..=high).contains(&value) {
                let problem = format!("must be between {low:e} and {high:e}, not {value}");
                return Err(ElementError::Material { energy, field, problem });
            }
        }
        if !(self.poisson > -1.0 && self.poisson < 0.5) {
            let problem = format!("must be above -1 and below 0.5, not {}", self.poisson);
            return Err(ElementError::Material { energy, field: "poisson", problem });
        }
        Ok(())
    }
}

/// ½ λ tr²ε + μ ε:ε.
fn density([lambda, mu]: [f64; 2], strain: &Mat3) -> f64 {
    let trace = trace(strain);
    0.5 * lambda * trace * trace + mu * contraction(strain, strain)
}

fn symmetric(m: &Mat3) -> Mat3 {
    (*m + m.transpose()) * 0.5
}

fn trace(m: &Mat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// a:b = Σ a_ij b_ij.
fn contraction(a: &Mat3, b: &Mat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}
