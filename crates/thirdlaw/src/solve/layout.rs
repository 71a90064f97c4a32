//! How the elements of cloth add to the system: every row of the matrix knows its elements, so that
//! rows are summed in parallel, each in a fixed order.

use super::block::{Block, Pattern, Scalar, lane};
use super::parallel::{Ragged, each};
use crate::cloth::elements::{Bend, Elements, NONE};
use crate::energy::bend::{self, Fold};
use crate::energy::membrane::{self, Response, Weights};
use crate::math::{Mat3, Vec3};

/// Rows, and the elements of each.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Blocks of the matrix.
    pub pattern: Pattern,
    membrane_start: Vec<u32>,
    membranes: Vec<RowMembrane>,
    bend_start: Vec<u32>,
    bends: Vec<RowBend>,
}

#[derive(Clone, Copy, Debug)]
struct RowMembrane {
    element: u32,
    corner: u32,
    blocks: [u32; 3],
}

#[derive(Clone, Copy, Debug)]
struct RowBend {
    element: u32,
    node: u32,
    blocks: [u32; 6],
}

/// What elements contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct Contributions {
    /// Per membrane.
    pub membranes: Vec<Response>,
    /// Per hinge.
    pub folds: Vec<Fold>,
    /// Per bend.
    bends: Vec<BendResponse>,
}

/// Of each hinge of a bend, per node: ∇θ_p, and Σ_q q_pq ∇θ_q; and the moments.
#[derive(Clone, Copy, Debug, Default)]
struct BendResponse {
    gradient: [[Vec3; 6]; 3],
    coupled: [[Vec3; 6]; 3],
    moments: [f64; 3],
}

impl Layout {
    /// Lays out the rows of `elements`.
    pub fn new(elements: &Elements) -> Layout {
        let rows = elements.mass.len();
        let mut pairs = Vec::new();
        for membrane in &elements.membranes {
            all_pairs(&membrane.nodes, &mut pairs);
        }
        for bend in &elements.bends {
            all_pairs(&bend.nodes, &mut pairs);
        }
        let pattern = Pattern::new(rows, pairs);
        // every pair of an element's nodes is in the pattern
        let place = |i: u32, j: u32| {
            if j == NONE { NONE } else { pattern.find(i as usize, j).unwrap_or(NONE) }
        };
        let mut membranes = Vec::with_capacity(3 * elements.membranes.len());
        for (element, membrane) in elements.membranes.iter().enumerate() {
            for (corner, &node) in membrane.nodes.iter().enumerate() {
                let blocks = membrane.nodes.map(|j| place(node, j));
                let entry = RowMembrane { element: element as u32, corner: corner as u32, blocks };
                membranes.push((node, entry));
            }
        }
        let mut bends = Vec::with_capacity(6 * elements.bends.len());
        for (element, bend) in elements.bends.iter().enumerate() {
            for (index, &node) in bend.nodes.iter().enumerate().filter(|(_, n)| **n != NONE) {
                let blocks = bend.nodes.map(|j| place(node, j));
                bends.push((node, RowBend { element: element as u32, node: index as u32, blocks }));
            }
        }
        let (membrane_start, membranes) = by_row(rows, membranes);
        let (bend_start, bends) = by_row(rows, bends);
        Layout { pattern, membrane_start, membranes, bend_start, bends }
    }

    /// Forces of all elements at `x` plus the matrix h²K + hD, into every block.
    pub fn assemble<T: Scalar>(
        &self,
        elements: &Elements,
        parts: &Contributions,
        h: f64,
        blocks: &mut [Block<T>],
        forces: &mut [Vec3],
    ) {
        let blocks = Ragged { items: blocks, starts: &self.pattern.row_start };
        let parallel = (blocks, forces);
        each(self.pattern.rows(), parallel, &|rows, (blocks, forces): (Ragged<_>, &mut [_])| {
            let mut rest = blocks.items;
            for (row, force) in rows.zip(forces) {
                let (row_blocks, others) = rest.split_at_mut(self.pattern.range(row).len());
                rest = others;
                row_blocks.fill(Block::default());
                *force = self.row_membranes(elements, parts, row, row_blocks);
                *force += self.row_bends(elements, parts, h, row, row_blocks);
            }
        });
    }

    /// Adds up (p_u, p_v) of every membrane as forces on its corners.
    pub fn gather(&self, elements: &Elements, pulls: &[(Vec3, Vec3)], forces: &mut [Vec3]) {
        each(self.pattern.rows(), forces, &|rows, forces: &mut [Vec3]| {
            for (row, force) in rows.zip(forces) {
                let range =
                    self.membrane_start[row] as usize..self.membrane_start[row + 1] as usize;
                *force = Vec3::ZERO;
                for entry in &self.membranes[range] {
                    let membrane = &elements.membranes[entry.element as usize];
                    let (p_u, p_v) = pulls[entry.element as usize];
                    let corner = entry.corner as usize;
                    *force -= membrane.du[corner] * p_u + membrane.dv[corner] * p_v;
                }
            }
        });
    }

    fn row_membranes<T: Scalar>(
        &self,
        elements: &Elements,
        parts: &Contributions,
        row: usize,
        blocks: &mut [Block<T>],
    ) -> Vec3 {
        let first = self.pattern.row_start[row];
        let mut force = Vec3::ZERO;
        let range = self.membrane_start[row] as usize..self.membrane_start[row + 1] as usize;
        for entry in &self.membranes[range] {
            let membrane = &elements.membranes[entry.element as usize];
            let response = &parts.membranes[entry.element as usize];
            let i = entry.corner as usize;
            force += response.force(membrane, i);
            for (j, &place) in entry.blocks.iter().enumerate() {
                add(&mut blocks[(place - first) as usize], &response.block(membrane, i, j));
            }
        }
        force
    }

    fn row_bends<T: Scalar>(
        &self,
        elements: &Elements,
        parts: &Contributions,
        h: f64,
        row: usize,
        blocks: &mut [Block<T>],
    ) -> Vec3 {
        let first = self.pattern.row_start[row];
        let mut force = Vec3::ZERO;
        let range = self.bend_start[row] as usize..self.bend_start[row + 1] as usize;
        for entry in &self.bends[range] {
            let bend = &elements.bends[entry.element as usize];
            let response = &parts.bends[entry.element as usize];
            let fabric = &elements.fabrics[bend.fabric as usize];
            let scale = h * h + h * fabric.damping[2];
            for p in 0..3 {
                if bend.hinges[p] == NONE {
                    continue;
                }
                let g = response.gradient[p][entry.node as usize];
                force -= response.moments[p] * g;
                let g = scale * g;
                for (u, &place) in response.coupled[p].iter().zip(&entry.blocks) {
                    if place != NONE {
                        add_outer(&mut blocks[(place - first) as usize], g, *u);
                    }
                }
            }
        }
        force
    }
}

impl Contributions {
    /// Evaluates every element at `x`; membranes come scaled for the matrix of a step of `h`
    /// seconds: their Hessian is h²K + hD.
    pub fn evaluate(&mut self, elements: &Elements, x: &[Vec3], h: f64) {
        self.membranes.resize(elements.membranes.len(), Response::default());
        each(elements.membranes.len(), &mut self.membranes[..], &|rows, out: &mut [Response]| {
            for (response, membrane) in out.iter_mut().zip(&elements.membranes[rows]) {
                let fabric = &elements.fabrics[membrane.fabric as usize];
                let weights = Weights {
                    stretch: h * h + h * fabric.damping[0],
                    shear: h * h + h * fabric.damping[1],
                    geometric: h * h,
                    projected: true,
                };
                *response = membrane::response(membrane, fabric, x, &weights);
            }
        });
        self.folds.resize(elements.hinges.len(), Fold::default());
        each(elements.hinges.len(), &mut self.folds[..], &|rows, out: &mut [Fold]| {
            for (fold, hinge) in out.iter_mut().zip(&elements.hinges[rows]) {
                *fold = bend::fold(hinge.nodes.map(|i| x[i as usize]));
            }
        });
        self.bends.resize(elements.bends.len(), BendResponse::default());
        let folds = &self.folds;
        each(elements.bends.len(), &mut self.bends[..], &|rows, out: &mut [BendResponse]| {
            for (response, bend) in out.iter_mut().zip(&elements.bends[rows]) {
                *response = bend_response(bend, elements, folds);
            }
        });
    }
}

fn bend_response(bend: &Bend, elements: &Elements, folds: &[Fold]) -> BendResponse {
    let mut out = BendResponse {
        moments: bend::moments(bend, &elements.hinges, folds),
        ..Default::default()
    };
    for p in (0..3).filter(|&p| bend.hinges[p] != NONE) {
        let fold = &folds[bend.hinges[p] as usize];
        for (place, g) in bend.places[p].iter().zip(&fold.gradient) {
            out.gradient[p][*place as usize] = *g;
        }
    }
    let q = &bend.q;
    let g = &out.gradient;
    for n in 0..6 {
        out.coupled[0][n] = q[0] * g[0][n] + q[3] * g[1][n] + q[4] * g[2][n];
        out.coupled[1][n] = q[3] * g[0][n] + q[1] * g[1][n] + q[5] * g[2][n];
        out.coupled[2][n] = q[4] * g[0][n] + q[5] * g[1][n] + q[2] * g[2][n];
    }
    out
}

fn all_pairs(nodes: &[u32], pairs: &mut Vec<(u32, u32)>) {
    for &a in nodes.iter().filter(|&&n| n != NONE) {
        pairs.extend(nodes.iter().filter(|&&n| n != NONE).map(|&b| (a, b)));
    }
}

fn by_row<E: Copy>(rows: usize, mut entries: Vec<(u32, E)>) -> (Vec<u32>, Vec<E>) {
    entries.sort_by_key(|e| e.0);
    let mut start = vec![0_u32; rows + 1];
    for (row, _) in &entries {
        start[*row as usize + 1] += 1;
    }
    for i in 0..rows {
        start[i + 1] += start[i];
    }
    (start, entries.into_iter().map(|e| e.1).collect())
}

#[inline(always)]
fn add<T: Scalar>(block: &mut Block<T>, m: &Mat3) {
    for (column, m) in block.iter_mut().zip([m.x_axis, m.y_axis, m.z_axis]) {
        column[0] += T::of(m.x);
        column[1] += T::of(m.y);
        column[2] += T::of(m.z);
    }
}

#[inline(always)]
fn add_outer<T: Scalar>(block: &mut Block<T>, a: Vec3, b: Vec3) {
    let a: [T; 4] = lane(a);
    for (column, b) in block.iter_mut().zip([b.x, b.y, b.z]) {
        let b = T::of(b);
        for k in 0..4 {
            column[k] += a[k] * b;
        }
    }
}
