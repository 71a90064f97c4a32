//! Tetrahedra of elastic solids.
//!
//! With the gradients g_i of the shape functions, constant in the tetrahedron, the deformation gradient is
//! F = Σ x_i g_iᵀ. The energy is V Ψ(F), the forces are f_i = −V P g_i with the stress P = ∂Ψ/∂F, and the
//! stiffness K_ij = V g_iᵀ (∂²Ψ/∂F²)₊ g_j, without its negative directions. What Ψ is stands in `solid`.

use super::assemble::add_scaled;
use super::solid::principal::{Blocks, PAIRS};
use super::solid::{SolidMaterial, linear};
use super::{ElementError, Energy, RowSum, Step, shifted};
use crate::linalg::block::{Scalar, block_of};
use crate::math::{Mat3, Vec3, outer};
use crate::parallel::loops::{each, largest, sum};
use std::hash::Hasher;

/// Tetrahedra of elastic solids.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Tetrahedra {
    list: Vec<Tetrahedron>,
    pub(crate) materials: Vec<SolidMaterial>,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Tetrahedron {
    nodes: [u32; 4],
    /// Corners 1 to 3 at rest, from corner 0, m.
    rest: [Vec3; 3],
    /// ∇ of the shape functions of corners 1 to 3, 1/m; that of corner 0 is minus their sum.
    gradients: [Vec3; 3],
    /// m³.
    volume: f64,
    material: u32,
}

/// What tetrahedra contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct TetrahedronParts {
    list: Vec<Part>,
    /// Length of the step, s.
    h: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Forces on corners 1 to 3, N.
    forces: [Vec3; 3],
    /// K and D/h between corners 1 to 3, N/m.
    blocks: Blocks,
}

/// A tetrahedron thinner than this part of its longest edge cubed has no volume that arithmetic can
/// trust.
const THINNEST: f64 = 1e-9;
/// Part of its strain that a solid shows to the check of strain. The stiffness of solids changes over
/// strains of order one, that of cloth over a few percent, so a step may strain them so much more.
const SHOWN: f64 = 0.05;

impl Tetrahedra {
    /// Tetrahedra of one material between vertices that rest at these places (m). Seen from corner 0,
    /// the corners 1, 2 and 3 turn so that (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) > 0.
    pub fn new(
        rest: &[Vec3],
        tetrahedra: &[[u32; 4]],
        material: SolidMaterial,
    ) -> Result<Tetrahedra, ElementError> {
        Tetrahedra::of_materials(rest, tetrahedra, vec![material], &[])
    }

    /// The same of several materials: `which` names that of each tetrahedron; where it ends, the first.
    pub fn of_materials(
        rest: &[Vec3],
        tetrahedra: &[[u32; 4]],
        materials: Vec<SolidMaterial>,
        which: &[u32],
    ) -> Result<Tetrahedra, ElementError> {
        for material in &materials {
            material.check(Tetrahedra::NAME)?;
        }
        let mut list = Vec::with_capacity(tetrahedra.len());
        for (element, nodes) in tetrahedra.iter().enumerate() {
            let material = which.get(element).copied().unwrap_or(0);
            if material as usize >= materials.len() {
                let problem = "is of a material that is not there";
                return Err(ElementError::Shape { energy: Tetrahedra::NAME, element, problem });
            }
            list.push(Tetrahedron { material, ..Tetrahedron::new(rest, element, *nodes)? });
        }
        Ok(Tetrahedra { list, materials })
    }

    /// m³ at rest.
    pub fn rest_volume(&self, element: usize) -> f64 {
        self.list[element].volume
    }

    /// F of an element.
    pub fn deformation(&self, element: usize, x: &[Vec3]) -> Mat3 {
        self.list[element].deformation(x)
    }

    /// What an element is made of.
    pub fn material(&self, element: usize) -> &SolidMaterial {
        &self.materials[self.list[element].material as usize]
    }

    /// Cauchy's stress σ = P Fᵀ/J of an element, Pa; without end where it is flat.
    pub fn cauchy_stress(&self, element: usize, x: &[Vec3]) -> Mat3 {
        let f = self.deformation(element, x);
        self.material(element).stress(&f) * f.transpose() * (1.0 / f.determinant())
    }

    fn of(&self, t: &Tetrahedron) -> &SolidMaterial {
        &self.materials[t.material as usize]
    }
}

impl Energy for Tetrahedra {
    const NAME: &'static str = "tetrahedron";
    type Nodes = [u32; 4];
    type Parts = TetrahedronParts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 4] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &Tetrahedra, first: u32) {
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
        self.materials.iter().for_each(|m| m.fingerprint(hasher));
    }

    fn mass_share(&self, element: usize) -> f64 {
        let t = &self.list[element];
        0.25 * t.volume * self.of(t).density
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
        let of = |material: &SolidMaterial| {
            let [lambda, mu] = material.lame();
            h * h * (lambda + 2.0 * mu) / (material.density * edge * edge)
        };
        self.materials.iter().map(of).fold(0.0, f64::max)
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        let t = &self.list[element];
        t.volume * self.of(t).energy_density(&t.deformation(x))
    }

    fn evaluate(&self, step: &Step, parts: &mut TetrahedronParts) {
        parts.h = step.h;
        parts.list.resize(self.list.len(), Part::default());
        each(self.list.len(), &mut parts.list[..], &|rows, out: &mut [Part]| {
            for (out, t) in out.iter_mut().zip(&self.list[rows]) {
                let material = self.of(t);
                let mut blocks = [Mat3::ZERO; 6];
                let f = t.deformation(step.x1);
                let mut stress = material.respond(&f, &t.gradients, &mut blocks);
                if material.damping > 0.0 {
                    let f0 = t.deformation(step.x0);
                    let into = (&mut stress, &mut blocks);
                    material.damp((&f0, &f), step.h, &t.gradients, into);
                }
                out.forces = t.gradients.map(|g| stress * (-t.volume * g));
                out.blocks = blocks.map(|b| b * t.volume);
            }
        });
    }

    #[inline(always)]
    fn add_row<T: Scalar>(
        &self,
        parts: &TetrahedronParts,
        element: usize,
        i: usize,
        row: &mut RowSum<'_, T>,
    ) {
        let part = &parts.list[element];
        let scale = T::of(parts.h * parts.h);
        if i == 0 {
            // all rows sum to zero
            let mut own = Mat3::ZERO;
            for j in 0..3 {
                let column = part.block(0, j) + part.block(1, j) + part.block(2, j);
                own += column;
                add_scaled(row.block(j + 1), &block_of(&-column), scale);
            }
            add_scaled(row.block(0), &block_of(&own), scale);
            *row.force -= part.forces[0] + part.forces[1] + part.forces[2];
            return;
        }
        let blocks = [0, 1, 2].map(|j| part.block(i - 1, j));
        add_scaled(row.block(0), &block_of(&-(blocks[0] + blocks[1] + blocks[2])), scale);
        for (j, block) in blocks.iter().enumerate() {
            add_scaled(row.block(j + 1), &block_of(block), scale);
        }
        *row.force += part.forces[i - 1];
    }

    fn energy_since(&self, step: &Step, _: &mut TetrahedronParts) -> f64 {
        sum(0..self.list.len(), (), &|rows, ()| {
            let energy = |t: &Tetrahedron| {
                let (material, f) = (self.of(t), t.deformation(step.x1));
                let mut density = material.energy_density(&f);
                if material.damping > 0.0 {
                    density += material.damped(&t.deformation(step.x0), &f, step.h);
                }
                t.volume * density
            };
            self.list[rows].iter().map(energy).sum()
        })
    }

    /// A part of a bound on the largest stretch: √(1 + |FᵀF − 1|) − 1.
    fn largest_strain(&self, x: &[Vec3]) -> f64 {
        largest(self.list.len(), (), &|rows, ()| {
            let mut most: f64 = 0.0;
            for t in &self.list[rows] {
                let f = t.deformation(x);
                let green = f.transpose() * f - Mat3::IDENTITY;
                let square = linear::contraction(&green, &green);
                most = if square.is_nan() { f64::INFINITY } else { most.max(square) };
            }
            SHOWN * ((1.0 + most.sqrt()).sqrt() - 1.0)
        })
    }
}

impl Part {
    /// K between corners i + 1 and j + 1.
    #[inline(always)]
    fn block(&self, i: usize, j: usize) -> Mat3 {
        const PLACE: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];
        let block = self.blocks[PLACE[i][j]];
        if i <= j { block } else { block.transpose() }
    }
}

// the table above and the order of blocks say the same
const _: () = assert!(PAIRS[3].0 == 0 && PAIRS[3].1 == 1 && PAIRS[5].0 == 1 && PAIRS[5].1 == 2);

impl Tetrahedron {
    fn new(rest: &[Vec3], element: usize, nodes: [u32; 4]) -> Result<Tetrahedron, ElementError> {
        let energy = Tetrahedra::NAME;
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
        let gradients = [b.cross(c), c.cross(a), a.cross(b)].map(|n| n / six_volumes);
        let volume = six_volumes / 6.0;
        Ok(Tetrahedron { nodes, rest: [a, b, c], gradients, volume, material: 0 })
    }

    /// F = 1 + Σ u_i g_iᵀ, from corner 0 and the displacements, so that far from the origin and near to
    /// rest no digits are lost.
    #[inline]
    fn deformation(&self, x: &[Vec3]) -> Mat3 {
        let [x0, x1, x2, x3] = self.nodes.map(|i| x[i as usize]);
        let [r1, r2, r3] = self.rest;
        let [g1, g2, g3] = self.gradients;
        let moved = outer(x1 - x0 - r1, g1) + outer(x2 - x0 - r2, g2) + outer(x3 - x0 - r3, g3);
        Mat3::IDENTITY + moved
    }
}
