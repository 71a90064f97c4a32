//! Energies of deformation, one file each, and the forces and matrices that follow from them.
//!
//! An energy is a set of elements of one kind. Each element has a stencil of N nodes and gives, for
//! them, its value E, the forces −∂E/∂x, and the matrix h²K + hD of a step of `h` seconds: K the part
//! of ∂²E/∂x² that is kept, never negative, and D its damping. Damping acts within a step like a further
//! energy of what has changed since its beginning.
//!
//! A new energy is a file with a type that implements [`Energy`], and a line in the list below. The
//! assembly (`assemble`), the step potential, the strain check, the preconditioner and the measured
//! energy go through the list and know stencils of nodes, not energies by name. Every kind is a field
//! of its own, so that calls are static and loops over elements are made for each kind.

pub mod air;
pub mod altitude;
#[doc(hidden)]
pub mod assemble;
#[doc(hidden)]
pub mod bend;
pub mod binding;
mod error;
mod list;
#[doc(hidden)]
pub mod membrane;
pub mod one_ring;
pub mod solid;
pub mod spring;
#[cfg(test)]
mod tests;
pub mod tetrahedron;

pub use error::ElementError;

use crate::linalg::block::{Block, Scalar};
use crate::math::Vec3;
use std::fmt::Debug;
use std::hash::Hasher;

// Every energy there is, in the order in which their forces are summed.
list::energies! {
    membranes: membrane::Membranes,
    bends: bend::Bends,
    tetrahedra: tetrahedron::Tetrahedra,
    springs: spring::EdgeSprings,
    altitudes: altitude::AltitudeSprings,
    bindings: binding::BoundParticles,
}

/// Marks a node that an element lacks.
pub const NONE: u32 = u32::MAX;

/// The elements of one energy, strung together.
pub trait Energy: Clone + Debug + Default + Send + Sync {
    /// What errors and reports call it.
    const NAME: &'static str;
    /// `[u32; N]`.
    type Nodes: Stencil;
    /// What rows of the matrix are made from, at one state.
    type Parts: Clone + Debug + Default + Send + Sync;

    /// Number of elements.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes of an element, each once; missing ones are [`NONE`].
    fn nodes(&self, element: usize) -> Self::Nodes;

    /// Strings other elements behind these; their nodes are counted from `first`.
    fn append(&mut self, other: &Self, first: u32);

    /// Feeds every number that defines the elements to `hasher`.
    fn fingerprint(&self, hasher: &mut dyn Hasher);

    /// Mass that each node gets from an element, kg.
    fn mass_share(&self, _element: usize) -> f64 {
        0.0
    }

    /// Calls `edge` with each edge of an element and the square of its length at rest, m²: what the
    /// preconditioner gathers nodes along, and strain is measured on. None where another energy has
    /// the same edges.
    fn rest_edges(&self, _element: usize, _edge: &mut dyn FnMut([u32; 2], f64)) {}

    /// Stiffness of the stiffest element over a step of `h` seconds relative to its mass, with edges
    /// of this mean length (m).
    fn stiffness_ratio(&self, _h: f64, _edge: f64) -> f64 {
        0.0
    }

    /// E of an element, J.
    fn energy(&self, element: usize, x: &[Vec3]) -> f64;

    /// Evaluates every element at `x0`, the beginning of a step of `h` seconds.
    fn begin(&self, x0: &[Vec3], h: f64, parts: &mut Self::Parts) {
        self.evaluate(&Step { x0, x1: x0, h }, parts);
    }

    /// Evaluates every element at x₁, within the step that [`Energy::begin`] was called for.
    fn evaluate(&self, step: &Step, parts: &mut Self::Parts);

    /// Adds the forces on node `corner` of an element to its row, and its blocks of h²K + hD.
    fn add_row<T: Scalar>(
        &self,
        parts: &Self::Parts,
        element: usize,
        corner: usize,
        row: &mut RowSum<'_, T>,
    );

    /// E of all elements at x₁, and what damping takes on the way, J.
    fn energy_since(&self, step: &Step, parts: &mut Self::Parts) -> f64;

    /// Largest tensile strain of any element, by which a step may be refused; infinite where one is
    /// not a number.
    fn largest_strain(&self, _x: &[Vec3]) -> f64 {
        0.0
    }

    /// Whether [`Energy::overshoot`] finds anything.
    const OVERSHOOTS: bool = false;

    /// What the linearization leaves out of the forces when nodes move at `velocity`, into `parts`;
    /// by how much strain it has changed.
    fn overshoot(
        &self,
        _x0: &[Vec3],
        _velocity: &(impl Fn(u32) -> Vec3 + Sync),
        _h: f64,
        _parts: &mut Self::Parts,
    ) -> f64 {
        0.0
    }

    /// The force of it on node `corner` of an element, N.
    fn overshoot_force(&self, _parts: &Self::Parts, _element: usize, _corner: usize) -> Vec3 {
        Vec3::ZERO
    }
}

/// The nodes of an element.
pub trait Stencil: Copy + AsRef<[u32]> + Debug + Send + Sync {
    /// Where in a row each node's block is.
    type Places: Copy + AsRef<[u32]> + AsMut<[u32]> + Debug + Send + Sync;

    /// Places yet to be found.
    const NOWHERE: Self::Places;
}

impl<const N: usize> Stencil for [u32; N] {
    type Places = [u32; N];

    const NOWHERE: [u32; N] = [NONE; N];
}

/// A step so far.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Positions at its beginning, m.
    pub x0: &'a [Vec3],
    /// Positions where elements are evaluated, m.
    pub x1: &'a [Vec3],
    /// Its length, s.
    pub h: f64,
}

/// The row of a node, as one of its elements sees it.
#[derive(Debug)]
pub struct RowSum<'a, T> {
    /// Force on the node, N.
    pub force: &'a mut Vec3,
    blocks: &'a mut [Block<T>],
    places: &'a [u32],
}

impl<T> RowSum<'_, T> {
    /// The block between the row's node and a node of the element.
    #[inline(always)]
    pub fn block(&mut self, node: usize) -> &mut Block<T> {
        &mut self.blocks[self.places[node] as usize]
    }
}

/// `node` counted from `first`; a missing one stays missing.
pub fn shifted(node: u32, first: u32) -> u32 {
    if node == NONE { NONE } else { node + first }
}
