//! How the elements of cloth add to the system: every row of the matrix knows its elements, so that
//! rows are summed in parallel, each in a fixed order.

use crate::cloth::elements::{Bend, Elements, Membrane, NONE};
use crate::energy::bend::{self, Fold};
use crate::energy::membrane::{self, Response, Weights};
use crate::math::Vec3;
use crate::solve::block::{Block, Lane, Pattern, Scalar, block_of, lane};
use crate::solve::hierarchy::{self, Level};
use crate::solve::parallel::{Ragged, each, sum};
use crate::solve::rows::Rows;
use std::ops::Range;

/// Rows, and the elements of each.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Blocks of the matrix.
    pub pattern: Pattern,
    /// Coarser levels for the preconditioner.
    pub levels: Vec<Level>,
    membranes: Rows<RowMembrane>,
    bends: Rows<RowBend>,
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
    /// Which of each hinge's four nodes the row is, or `NOT_HERE`.
    corner: [u8; 3],
    /// Blocks of each hinge's four nodes, counted from the row's first.
    blocks: [[u16; 4]; 3],
}

/// Marks hinges that the row has no part in.
const NOT_HERE: u8 = u8::MAX;

/// What elements contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct Contributions {
    /// Per membrane.
    pub membranes: Vec<Response>,
    /// Per hinge.
    pub folds: Vec<Fold>,
    /// Per bend: its moments.
    moments: Vec<[f64; 3]>,
    /// Per hinge: its angle at the beginning of the step, and at a place that is tried.
    angles: Vec<f64>,
    tried: Vec<f64>,
}

impl Layout {
    /// Lays out the rows of `elements`.
    pub fn new(elements: &Elements) -> Layout {
        let rows = elements.mass.len();
        let pattern = pattern(elements);
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
            for &node in bend.nodes.iter().filter(|n| **n != NONE) {
                let mut entry =
                    RowBend { element: element as u32, corner: [NOT_HERE; 3], blocks: [[0; 4]; 3] };
                for (p, &hinge) in bend.hinges.iter().enumerate().filter(|(_, h)| **h != NONE) {
                    let nodes = &elements.hinges[hinge as usize].nodes;
                    if let Some(corner) = nodes.iter().position(|&n| n == node) {
                        entry.corner[p] = corner as u8;
                    }
                    let first = pattern.row_start[node as usize];
                    entry.blocks[p] = nodes.map(|j| (place(node, j) - first) as u16);
                }
                bends.push((node, entry));
            }
        }
        let membranes = Rows::gathered(rows, &membranes);
        let bends = Rows::gathered(rows, &bends);
        let levels = hierarchy::levels(elements, &pattern);
        Layout { pattern, levels, membranes, bends }
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
        let sources = Sources { elements, parts, h };
        each(self.pattern.rows(), (blocks, forces), &|rows,
                                                      (blocks, forces): (
            Ragged<Block<T>>,
            &mut [Vec3],
        )| {
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has what the function was compiled for
                return unsafe { self.assemble_rows_avx2(&sources, rows, blocks.items, forces) };
            }
            self.assemble_rows(&sources, rows, blocks.items, forces);
        });
    }

    /// The same operations in the same order with wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn assemble_rows_avx2<T: Scalar>(
        &self,
        sources: &Sources,
        rows: Range<usize>,
        blocks: &mut [Block<T>],
        forces: &mut [Vec3],
    ) {
        self.assemble_rows(sources, rows, blocks, forces);
    }

    #[inline(always)]
    fn assemble_rows<T: Scalar>(
        &self,
        sources: &Sources,
        rows: Range<usize>,
        mut blocks: &mut [Block<T>],
        forces: &mut [Vec3],
    ) {
        for (row, force) in rows.zip(forces) {
            let (row_blocks, others) = blocks.split_at_mut(self.pattern.range(row).len());
            blocks = others;
            row_blocks.fill(Block::default());
            *force = self.row_membranes(sources, row, row_blocks);
            *force += self.row_bends(sources, row, row_blocks);
        }
    }

    /// Adds up (p_u, p_v) of every membrane as forces on its corners.
    pub fn gather(&self, elements: &Elements, pulls: &[(Vec3, Vec3)], forces: &mut [Vec3]) {
        each(self.pattern.rows(), forces, &|rows, forces: &mut [Vec3]| {
            for (row, force) in rows.zip(forces) {
                *force = Vec3::ZERO;
                for entry in self.membranes.row(row) {
                    let membrane = &elements.membranes[entry.element as usize];
                    let (p_u, p_v) = pulls[entry.element as usize];
                    let corner = entry.corner as usize;
                    *force -= membrane.du[corner] * p_u + membrane.dv[corner] * p_v;
                }
            }
        });
    }

    /// With the rows R_u = du_i H_uu + dv_i H_uvᵀ and R_v = du_i H_uv + dv_i H_vv of a corner i, its
    /// blocks are K_ij = du_j R_u + dv_j R_v.
    #[inline(always)]
    fn row_membranes<T: Scalar>(
        &self,
        sources: &Sources,
        row: usize,
        blocks: &mut [Block<T>],
    ) -> Vec3 {
        let first = self.pattern.row_start[row];
        let mut force = Vec3::ZERO;
        for entry in self.membranes.row(row) {
            let membrane = &sources.elements.membranes[entry.element as usize];
            let response = &sources.parts.membranes[entry.element as usize];
            let i = entry.corner as usize;
            force += response.force(membrane, i);
            let (du, dv) = (membrane.du.map(T::of), membrane.dv.map(T::of));
            let [uu, vv] = [&response.h_uu, &response.h_vv].map(block_of);
            let (uv, vu) = (block_of(&response.h_uv), block_of(&response.h_uv.transpose()));
            let mut row_u = Block::default();
            let mut row_v = Block::default();
            add_scaled(&mut row_u, &uu, du[i]);
            add_scaled(&mut row_u, &vu, dv[i]);
            add_scaled(&mut row_v, &uv, du[i]);
            add_scaled(&mut row_v, &vv, dv[i]);
            for (j, &place) in entry.blocks.iter().enumerate() {
                let block = &mut blocks[(place - first) as usize];
                add_scaled(block, &row_u, du[j]);
                add_scaled(block, &row_v, dv[j]);
            }
        }
        force
    }

    /// Of K = Σ_pq q_pq ∇θ_p ∇θ_qᵀ the row of a node: Σ_q c_q ∇θ_qᵀ with c_q = Σ_p q_pq ∇θ_p.
    #[inline(always)]
    fn row_bends<T: Scalar>(&self, sources: &Sources, row: usize, blocks: &mut [Block<T>]) -> Vec3 {
        let Sources { elements, parts, h } = sources;
        let mut force = Vec3::ZERO;
        for entry in self.bends.row(row) {
            let bend = &elements.bends[entry.element as usize];
            let fabric = &elements.fabrics[bend.fabric as usize];
            let scale = h * h + h * fabric.damping[2];
            let mut own = [Vec3::ZERO; 3];
            for p in (0..3).filter(|&p| entry.corner[p] != NOT_HERE) {
                let fold = &parts.folds[bend.hinges[p] as usize];
                let g = fold.gradient[entry.corner[p] as usize];
                force -= parts.moments[entry.element as usize][p] * g;
                own[p] = scale * g;
            }
            let [q00, q11, q22, q01, q02, q12] = bend.q;
            let coupled = [
                q00 * own[0] + q01 * own[1] + q02 * own[2],
                q01 * own[0] + q11 * own[1] + q12 * own[2],
                q02 * own[0] + q12 * own[1] + q22 * own[2],
            ];
            for q in (0..3).filter(|&q| bend.hinges[q] != NONE) {
                let c: Lane<T> = lane(coupled[q]);
                let fold = &parts.folds[bend.hinges[q] as usize];
                for (g, &place) in fold.gradient.iter().zip(&entry.blocks[q]) {
                    add_outer(&mut blocks[place as usize], &c, *g);
                }
            }
        }
        force
    }
}

/// What rows are made from.
struct Sources<'a> {
    elements: &'a Elements,
    parts: &'a Contributions,
    h: f64,
}

impl Contributions {
    /// Evaluates every element at `x`, the beginning of a step of `h` seconds; membranes come scaled
    /// for its matrix: their Hessian is h²K + hD.
    pub fn evaluate(&mut self, elements: &Elements, x: &[Vec3], h: f64) {
        self.angles.clear();
        self.evaluate_since(elements, (x, x), h);
        self.angles.extend(self.folds.iter().map(|f| f.angle));
    }

    /// Evaluates every element at `x`, in a step that began at `before`, where [`Self::evaluate`] was
    /// called.
    pub fn evaluate_since(&mut self, elements: &Elements, (before, x): (&[Vec3], &[Vec3]), h: f64) {
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
                *response = membrane::response_since(membrane, fabric, (before, x), &weights);
            }
        });
        self.folds.resize(elements.hinges.len(), Fold::default());
        each(elements.hinges.len(), &mut self.folds[..], &|rows, out: &mut [Fold]| {
            for (fold, hinge) in out.iter_mut().zip(&elements.hinges[rows]) {
                *fold = bend::fold(hinge.nodes.map(|i| x[i as usize]));
            }
        });
        self.moments.resize(elements.bends.len(), [0.0; 3]);
        let (folds, angles) = (&self.folds, &self.angles);
        each(elements.bends.len(), &mut self.moments[..], &|rows, out: &mut [[f64; 3]]| {
            for (moments, bend) in out.iter_mut().zip(&elements.bends[rows]) {
                let lag = elements.fabrics[bend.fabric as usize].damping[2] / h;
                *moments = bend::moments(bend, &elements.hinges, folds, (lag, angles));
            }
        });
    }

    /// Energy of all elements at `x`, and what damping takes, J.
    pub fn energy_since(
        &mut self,
        elements: &Elements,
        (before, x): (&[Vec3], &[Vec3]),
        h: f64,
    ) -> f64 {
        let membranes = sum(0..elements.membranes.len(), (), &|rows, ()| {
            let energy = |m: &Membrane| {
                membrane::energy_since(m, &elements.fabrics[m.fabric as usize], (before, x), h)
            };
            elements.membranes[rows].iter().map(energy).sum()
        });
        self.tried.resize(elements.hinges.len(), 0.0);
        let angles = &self.angles;
        each(elements.hinges.len(), &mut self.tried[..], &|rows, out: &mut [f64]| {
            for (h, angle) in rows.zip(out) {
                let nodes = elements.hinges[h].nodes.map(|i| i as usize);
                // most hinges of cloth that stays need not be measured again
                let same = nodes.iter().all(|&i| x[i] == before[i]);
                *angle = if same { angles[h] } else { bend::hinge_angle(nodes.map(|i| x[i])) };
            }
        });
        let (before, now) = (&self.angles, &self.tried);
        let bends = sum(0..elements.bends.len(), (), &|rows, ()| {
            let energy = |b: &Bend| {
                let lag = elements.fabrics[b.fabric as usize].damping[2] / h;
                bend::energy_since(b, &elements.hinges, now, (lag, before))
            };
            elements.bends[rows].iter().map(energy).sum()
        });
        membranes + bends
    }
}

/// A block for every pair of nodes of every element.
fn pattern(elements: &Elements) -> Pattern {
    let (membranes, bends) = (&elements.membranes, &elements.bends);
    let of_membranes = membranes.iter().flat_map(|m| m.nodes).zip(0..).map(|(n, at)| (n, at / 3));
    let first = membranes.len() as u32;
    let of_bends = bends.iter().zip(first..).flat_map(|(b, e)| b.nodes.map(|n| (n, e)));
    let all: Vec<(u32, u32)> = of_membranes.chain(of_bends).filter(|e| e.0 != NONE).collect();
    let rows = elements.mass.len();
    let around = Rows::gathered(rows, &all);
    Pattern::new(rows, |row, columns| {
        for &element in around.row(row) {
            let nodes = match element.checked_sub(first) {
                None => &membranes[element as usize].nodes[..],
                Some(bend) => &bends[bend as usize].nodes[..],
            };
            columns.extend(nodes.iter().filter(|n| **n != NONE));
        }
    })
}

/// block += w · m.
#[inline(always)]
fn add_scaled<T: Scalar>(block: &mut Block<T>, m: &Block<T>, w: T) {
    for (column, m) in block.iter_mut().zip(m) {
        for k in 0..4 {
            column[k] += w * m[k];
        }
    }
}

/// block += a bᵀ.
#[inline(always)]
fn add_outer<T: Scalar>(block: &mut Block<T>, a: &Lane<T>, b: Vec3) {
    for (column, b) in block.iter_mut().zip([b.x, b.y, b.z]) {
        let b = T::of(b);
        for k in 0..4 {
            column[k] += a[k] * b;
        }
    }
}
