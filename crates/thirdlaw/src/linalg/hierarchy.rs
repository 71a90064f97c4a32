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
use super::rows::{Rows, join};

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

/// A sparse matrix of weights: column and weight of each entry, columns ascending.
pub type Weights = Rows<(u32, f32)>;

fn transposed(weights: &Weights, columns: usize) -> Weights {
    let entry = |i: usize| weights.row(i).iter().map(move |&(column, w)| (column, (i as u32, w)));
    let all: Vec<(u32, (u32, f32))> = (0..weights.rows()).flat_map(entry).collect();
    Rows::gathered(columns, &all)
}

/// An undirected graph with weighted edges, by node, neighbours ascending.
type Graph = Rows<(u32, f64)>;

/// The levels of a mesh with so many nodes and these edges, with the squares of their lengths at rest
/// (m²), finest first; none where the mesh is small.
pub fn levels(nodes: usize, edges: &[([u32; 2], f64)], pattern: &Pattern) -> Vec<Level> {
    let mut out: Vec<Level> = Vec::new();
    let mut graph = edge_graph(nodes, edges);
    while graph.rows() > DIRECT_NODES && out.len() < LEVELS_MAX {
        let (owner, count) = aggregates(&graph);
        // many cloths of a few vertices each: nothing left to gather
        if 4 * count > 3 * graph.rows() {
            break;
        }
        let fine = out.last().map_or(pattern, |l: &Level| &l.pattern);
        let weights = smoothed(&graph, &owner);
        let transposed = transposed(&weights, count);
        let (galerkin, pattern) = Galerkin::new(fine, &weights, &transposed);
        graph = coarse_graph(&graph, &owner, count);
        out.push(Level { weights, transposed, galerkin, pattern });
    }
    out
}

/// The edges, each once, weighted by 1/length² at rest.
fn edge_graph(nodes: usize, edges: &[([u32; 2], f64)]) -> Graph {
    let mut sides = Vec::with_capacity(2 * edges.len());
    for &([a, b], square) in edges {
        let weight = 1.0 / square;
        sides.extend([(a, (b, weight)), (b, (a, weight))]);
    }
    let all = Rows::gathered(nodes, &sides);
    Rows::made(nodes, |i, row| {
        row.extend_from_slice(all.row(i));
        join(row, f64::max);
    })
}

/// The aggregate of each node and their number: first a node with all its neighbours wherever they
/// are still free, then the rest to the aggregate that they are most strongly tied to.
fn aggregates(graph: &Graph) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX;
    let mut owner = vec![FREE; graph.rows()];
    let mut count = 0_u32;
    let strong = |i: usize| {
        let most = graph.row(i).iter().fold(0.0_f64, |m, n| m.max(n.1));
        graph.row(i).iter().filter(move |n| n.1 >= WEAK * most)
    };
    for i in 0..graph.rows() {
        if owner[i] == FREE && strong(i).all(|n| owner[n.0 as usize] == FREE) {
            owner[i] = count;
            strong(i).for_each(|n| owner[n.0 as usize] = count);
            count += 1;
        }
    }
    let gathered = owner.clone();
    let mut ties = Vec::new();
    for i in (0..graph.rows()).filter(|&i| gathered[i] == FREE) {
        let held = strong(i).map(|n| (gathered[n.0 as usize], n.1)).filter(|n| n.0 != FREE);
        ties.clear();
        ties.extend(held);
        join(&mut ties, |a, b| a + b);
        let mut best = (FREE, 0.0);
        for &(aggregate, tie) in &ties {
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
    let mut sums = Vec::new();
    Rows::made(graph.rows(), |i, row| {
        let neighbours = graph.row(i);
        let total: f64 = neighbours.iter().map(|n| n.1).sum();
        sums.clear();
        sums.push((owner[i], if total > 0.0 { 1.0 - SMOOTHING } else { 1.0 }));
        for n in neighbours.iter().filter(|_| total > 0.0) {
            sums.push((owner[n.0 as usize], SMOOTHING * n.1 / total));
        }
        join(&mut sums, |a, b| a + b);
        row.extend(sums.iter().map(|&(column, w)| (column, w as f32)));
    })
}

fn coarse_graph(graph: &Graph, owner: &[u32], count: usize) -> Graph {
    let members: Vec<(u32, u32)> = owner.iter().zip(0..).map(|(&o, i)| (o, i)).collect();
    let members = Rows::gathered(count, &members);
    Rows::made(count, |aggregate, row| {
        for &i in members.row(aggregate) {
            let neighbours = graph.row(i as usize).iter().map(|n| (owner[n.0 as usize], n.1));
            row.extend(neighbours.filter(|n| n.0 as usize != aggregate));
        }
        join(row, |a, b| a + b);
    })
}
