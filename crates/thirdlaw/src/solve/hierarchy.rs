//! The levels of the multilevel preconditioner, derived once from the mesh: smoothed aggregation on
//! the graph of edges.
//!
//! Neighbouring vertices are gathered in aggregates, about nine in each. The velocity of a vertex
//! follows from those of the aggregates around it by weights W = (I − ω D⁻¹L) T, where T says which
//! aggregate a vertex belongs to and L is the Laplacian of the edges, weighted by 1/length²: one step
//! of smoothing makes neighbouring aggregates overlap, so that the weights fall off gently. Weights
//! sum to one, hence a common velocity of all is kept on every level. They depend on the rest shape
//! alone; the matrices of the coarse levels follow from them by Pᵀ A P (galerkin.rs).

use super::block::Pattern;
use super::galerkin::Galerkin;
use crate::cloth::elements::Elements;
use std::collections::BTreeMap;

/// Levels with no more nodes than this are solved directly.
pub const DIRECT_NODES: usize = 48;
/// How much weights are smoothed.
const SMOOTHING: f64 = 2.0 / 3.0;
/// Edges weaker than this part of a vertex's strongest do not gather.
const WEAK: f64 = 0.08;
/// Most levels; each has several times fewer nodes than the one before.
const LEVELS_MAX: usize = 16;

/// From a fine to a coarse level.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Weights of coarse nodes at each fine node.
    pub weights: Weights,
    /// The same by coarse node.
    pub transposed: Weights,
    /// How the coarse matrix is made.
    pub galerkin: Galerkin,
    /// Blocks of the coarse matrix.
    pub pattern: Pattern,
}

/// A sparse matrix of weights by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// Where each row begins; one more than rows.
    pub start: Vec<u32>,
    /// Column and weight of each entry, columns ascending.
    pub entries: Vec<(u32, f32)>,
}

impl Weights {
    /// Entries of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[(u32, f32)] {
        &self.entries[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    fn from_rows<'a>(rows: impl Iterator<Item = &'a [(u32, f32)]>) -> Weights {
        let mut out = Weights { start: vec![0], entries: Vec::new() };
        for row in rows {
            out.entries.extend_from_slice(row);
            out.start.push(out.entries.len() as u32);
        }
        out
    }

    fn transposed(&self, columns: usize) -> Weights {
        let mut rows = vec![Vec::new(); columns];
        for i in 0..self.rows() {
            for &(column, w) in self.row(i) {
                rows[column as usize].push((i as u32, w));
            }
        }
        Weights::from_rows(rows.iter().map(|r| &r[..]))
    }
}

/// An undirected graph with weighted edges, by node, neighbours ascending.
type Graph = Vec<Vec<(u32, f64)>>;

/// The levels of a mesh, finest first; none where the mesh is small.
pub fn levels(elements: &Elements, pattern: &Pattern) -> Vec<Level> {
    let mut out: Vec<Level> = Vec::new();
    let mut graph = edge_graph(elements);
    while graph.len() > DIRECT_NODES && out.len() < LEVELS_MAX {
        let (owner, count) = aggregates(&graph);
        // many cloths of a few vertices each: nothing left to gather
        if 4 * count > 3 * graph.len() {
            break;
        }
        let fine = out.last().map_or(pattern, |l: &Level| &l.pattern);
        let weights = smoothed(&graph, &owner);
        let transposed = weights.transposed(count);
        let (galerkin, pattern) = Galerkin::new(fine, &weights, &transposed);
        graph = coarse_graph(&graph, &owner, count);
        out.push(Level { weights, transposed, galerkin, pattern });
    }
    out
}

/// Edges of the triangles, weighted by 1/length² at rest.
fn edge_graph(elements: &Elements) -> Graph {
    let mut edges: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for membrane in &elements.membranes {
        let (du, dv) = (&membrane.du, &membrane.dv);
        // rest coordinates of corners 1 and 2 from corner 0: the inverse of the weights of w_u, w_v
        let det = du[1] * dv[2] - du[2] * dv[1];
        let uv = [[0.0, 0.0], [dv[2] / det, -du[2] / det], [-dv[1] / det, du[1] / det]];
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let (a, b) = (membrane.nodes[i], membrane.nodes[j]);
            let (u, v) = (uv[j][0] - uv[i][0], uv[j][1] - uv[i][1]);
            let weight = edges.entry((a.min(b), a.max(b))).or_insert(0.0);
            *weight = weight.max(1.0 / (u * u + v * v));
        }
    }
    let mut graph = vec![Vec::new(); elements.mass.len()];
    for ((a, b), weight) in edges {
        graph[a as usize].push((b, weight));
        graph[b as usize].push((a, weight));
    }
    for neighbours in &mut graph {
        neighbours.sort_unstable_by_key(|n| n.0);
    }
    graph
}

/// The aggregate of each node and their number: first a node with all its neighbours wherever they
/// are still free, then the rest to the aggregate that they are most strongly tied to.
fn aggregates(graph: &Graph) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX;
    let mut owner = vec![FREE; graph.len()];
    let mut count = 0_u32;
    let strong = |i: usize| {
        let most = graph[i].iter().fold(0.0_f64, |m, n| m.max(n.1));
        graph[i].iter().filter(move |n| n.1 >= WEAK * most)
    };
    for i in 0..graph.len() {
        if owner[i] == FREE && strong(i).all(|n| owner[n.0 as usize] == FREE) {
            owner[i] = count;
            strong(i).for_each(|n| owner[n.0 as usize] = count);
            count += 1;
        }
    }
    let gathered = owner.clone();
    for i in (0..graph.len()).filter(|&i| gathered[i] == FREE) {
        let mut ties: BTreeMap<u32, f64> = BTreeMap::new();
        for n in strong(i).filter(|n| gathered[n.0 as usize] != FREE) {
            *ties.entry(gathered[n.0 as usize]).or_insert(0.0) += n.1;
        }
        let mut best = (FREE, 0.0);
        for (aggregate, tie) in ties {
            if tie > best.1 {
                best = (aggregate, tie);
            }
        }
        if best.0 == FREE {
            best.0 = count;
            count += 1;
        }
        owner[i] = best.0;
    }
    (owner, count as usize)
}

/// (I − ω D⁻¹L) T.
fn smoothed(graph: &Graph, owner: &[u32]) -> Weights {
    let mut start = vec![0];
    let mut entries = Vec::new();
    for (i, neighbours) in graph.iter().enumerate() {
        let total: f64 = neighbours.iter().map(|n| n.1).sum();
        let mut row: BTreeMap<u32, f64> = BTreeMap::new();
        row.insert(owner[i], if total > 0.0 { 1.0 - SMOOTHING } else { 1.0 });
        for n in neighbours.iter().filter(|_| total > 0.0) {
            *row.entry(owner[n.0 as usize]).or_insert(0.0) += SMOOTHING * n.1 / total;
        }
        entries.extend(row.into_iter().map(|(column, w)| (column, w as f32)));
        start.push(entries.len() as u32);
    }
    Weights { start, entries }
}

fn coarse_graph(graph: &Graph, owner: &[u32], count: usize) -> Graph {
    let mut out = vec![BTreeMap::new(); count];
    for (i, neighbours) in graph.iter().enumerate() {
        for n in neighbours.iter().filter(|n| owner[n.0 as usize] != owner[i]) {
            *out[owner[i] as usize].entry(owner[n.0 as usize]).or_insert(0.0) += n.1;
        }
    }
    out.into_iter().map(|row| row.into_iter().collect()).collect()
}
