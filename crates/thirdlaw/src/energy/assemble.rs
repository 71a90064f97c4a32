//! How elements add to the system: every row of the matrix knows its elements, so that rows are summed
//! in parallel, each in a fixed order.
//!
//! Nothing here names an energy. Elements have stencils of N nodes; a row has an entry for each element
//! that its node belongs to, with the places of the element's blocks in the row, found once.

use super::{Contributions, ElementError, Energies, Energy, NONE, RowSum, Scatter, Stencil};
use crate::linalg::block::{Block, Pattern, Scalar};
use crate::linalg::factored::FactorPlan;
use crate::linalg::hierarchy::{self, Level};
use crate::linalg::rows::Rows;
use crate::math::Vec3;
use crate::parallel::loops::{Ragged, each};
use std::ops::Range;
use std::sync::OnceLock;

/// Rows, and the elements of each.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Blocks of the matrix.
    pub pattern: Pattern,
    /// Coarser levels for the preconditioner.
    pub levels: Vec<Level>,
    scatter: Scatter,
    /// Order and places of a factor, made when first asked for.
    order: OnceLock<FactorPlan>,
}

/// An element of a row.
#[derive(Clone, Copy, Debug)]
pub struct Entry<S: Stencil> {
    element: u32,
    /// Which of the element's nodes the row is.
    corner: u32,
    /// Blocks of the element's nodes, counted from the row's first.
    places: S::Places,
}

/// The elements of one energy, by row.
pub type ElementRows<E> = Rows<Entry<<E as Energy>::Nodes>>;

impl Layout {
    /// Lays out the rows of so many particles.
    pub fn new(energies: &Energies, particles: usize) -> Layout {
        let pattern = energies.pattern(particles);
        let scatter = energies.scatter(&pattern);
        let levels = hierarchy::levels(particles, &energies.rest_edges(), &pattern);
        Layout { pattern, levels, scatter, order: OnceLock::new() }
    }

    /// Where a factor of the matrix has its entries.
    pub fn factor_plan(&self, energies: &Energies) -> &FactorPlan {
        self.order.get_or_init(|| {
            let mut sets: Vec<Vec<u32>> = Vec::with_capacity(energies.len());
            energies.each_element(|nodes| {
                sets.push(nodes.iter().copied().filter(|&node| node != NONE).collect());
            });
            FactorPlan::new(&self.pattern, sets)
        })
    }

    /// Forces of all elements plus the matrix h²K + hD, into every block, from what they contribute.
    pub fn assemble<T: Scalar>(
        &self,
        energies: &Energies,
        parts: &Contributions,
        blocks: &mut [Block<T>],
        forces: &mut [Vec3],
    ) {
        let blocks = Ragged { items: blocks, starts: &self.pattern.row_start };
        let elements = (energies, parts);
        each(self.pattern.rows(), (blocks, forces), &|rows,
                                                      (blocks, forces): (
            Ragged<Block<T>>,
            &mut [Vec3],
        )| {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has what the function was compiled for
                return unsafe { self.assemble_rows_avx2(elements, rows, blocks.items, forces) };
            }
            self.assemble_rows(elements, rows, blocks.items, forces);
        });
    }

    /// The same operations in the same order with wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn assemble_rows_avx2<T: Scalar>(
        &self,
        elements: (&Energies, &Contributions),
        rows: Range<usize>,
        blocks: &mut [Block<T>],
        forces: &mut [Vec3],
    ) {
        self.assemble_rows(elements, rows, blocks, forces);
    }

    #[inline(always)]
    fn assemble_rows<T: Scalar>(
        &self,
        elements: (&Energies, &Contributions),
        rows: Range<usize>,
        mut blocks: &mut [Block<T>],
        forces: &mut [Vec3],
    ) {
        for (row, force) in rows.zip(forces) {
            let (row_blocks, others) = blocks.split_at_mut(self.pattern.range(row).len());
            blocks = others;
            row_blocks.fill(Block::default());
            *force = self.scatter.assemble_row(elements, row, row_blocks);
        }
    }

    /// Forces that the linearization leaves out, as [`Contributions::overshoot`] found them.
    pub fn gather_overshoot(
        &self,
        energies: &Energies,
        parts: &Contributions,
        forces: &mut [Vec3],
    ) {
        each(self.pattern.rows(), forces, &|rows, forces: &mut [Vec3]| {
            for (row, force) in rows.zip(forces) {
                *force = self.scatter.overshoot_row((energies, parts), row);
            }
        });
    }
}

/// Forces of a row's elements, with their blocks.
#[inline(always)]
pub(super) fn row<E: Energy, T: Scalar>(
    (set, parts): (&E, &E::Parts),
    entries: &[Entry<E::Nodes>],
    blocks: &mut [Block<T>],
) -> Vec3 {
    let mut force = Vec3::ZERO;
    for Entry { element, corner, places } in entries {
        let row = &mut RowSum { force: &mut force, blocks, places: places.as_ref() };
        set.add_row(parts, *element as usize, *corner as usize, row);
    }
    force
}

/// Adds what the linearization leaves out of the forces of a row's elements.
pub(super) fn add_overshoot<E: Energy>(
    (set, parts): (&E, &E::Parts),
    entries: &[Entry<E::Nodes>],
    force: &mut Vec3,
) {
    for entry in entries {
        *force += set.overshoot_force(parts, entry.element as usize, entry.corner as usize);
    }
}

/// Every element with its nodes that are there.
fn each_node<E: Energy>(set: &E) -> impl Iterator<Item = (u32, u32)> + '_ {
    (0..set.len()).flat_map(|element| {
        let nodes = set.nodes(element);
        (0..nodes.as_ref().len())
            .map(move |k| (nodes.as_ref()[k], element as u32))
            .filter(|(node, _)| *node != NONE)
    })
}

/// The elements around each node.
pub(super) fn around<E: Energy>(set: &E, rows: usize) -> Rows<u32> {
    Rows::gathered(rows, &each_node(set).collect::<Vec<_>>())
}

/// The nodes of these elements.
pub(super) fn add_columns<E: Energy>(set: &E, elements: &[u32], columns: &mut Vec<u32>) {
    for &element in elements {
        let nodes = set.nodes(element as usize);
        columns.extend(nodes.as_ref().iter().filter(|n| **n != NONE));
    }
}

/// The rows that elements add to.
pub(super) fn element_rows<E: Energy>(set: &E, pattern: &Pattern) -> ElementRows<E> {
    let mut all = Vec::with_capacity(set.len());
    for element in 0..set.len() {
        let nodes = set.nodes(element);
        let nodes = nodes.as_ref();
        for (corner, &row) in nodes.iter().enumerate().filter(|(_, n)| **n != NONE) {
            let first = pattern.row_start[row as usize];
            let mut places = <E::Nodes as Stencil>::NOWHERE;
            for (place, &node) in places.as_mut().iter_mut().zip(nodes) {
                // every pair of an element's nodes is in the pattern
                if let Some(found) = pattern.find(row as usize, node) {
                    *place = found - first;
                }
            }
            all.push((row, Entry { element: element as u32, corner: corner as u32, places }));
        }
    }
    Rows::gathered(pattern.rows(), &all)
}

/// Whether all nodes are among so many particles.
pub(super) fn check_nodes<E: Energy>(set: &E, particles: usize) -> Result<(), ElementError> {
    match each_node(set).find(|(node, _)| *node as usize >= particles) {
        Some((vertex, element)) => {
            Err(ElementError::NoSuchVertex { energy: E::NAME, element: element as usize, vertex })
        }
        None => Ok(()),
    }
}

/// Adds what each node gets from its elements, kg.
pub(super) fn add_masses<E: Energy>(set: &E, masses: &mut [f64]) {
    for (node, element) in each_node(set) {
        masses[node as usize] += set.mass_share(element as usize);
    }
}

/// block += w · m.
#[inline(always)]
pub(super) fn add_scaled<T: Scalar>(block: &mut Block<T>, m: &Block<T>, w: T) {
    for (column, m) in block.iter_mut().zip(m) {
        for k in 0..4 {
            column[k] += w * m[k];
        }
    }
}
