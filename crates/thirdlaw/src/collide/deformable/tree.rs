//! The triangles, edges and particles of all cloths with their trees of boxes.

use super::Hit;
use super::bvh::{Box32, Bvh, NOTHING};
use super::patches::{Patches, Region};
use crate::math::Vec3;
use crate::parallel::pool;
use crate::parallel::pool::prelude::*;
use std::ops::Range;

/// All cloths of a world, ready to be asked where they come near themselves and each other.
///
/// Built once from the topology and the shape at rest; each query fits the boxes to the positions it
/// is given. It keeps the memory of its queries, and looks only at pairs that [`Tree::proximity`] came
/// across where that is enough; nothing it answers depends on that.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) rest: Vec<Vec3>,
    /// Which piece of cloth each particle belongs to.
    pub(super) piece: Vec<u32>,
    /// For each triangle, which of its corners (bits 0 to 2) and edges (bits 3 to 5, edge k from
    /// corner k to k + 1) it speaks for: each is spoken for by one triangle.
    pub(super) speaks: Vec<u8>,
    /// Particles with a triangle.
    pub(super) vertices: Vec<u32>,
    pub(super) triangle_tree: Bvh,
    pub(super) edge_tree: Bvh,
    pub(super) vertex_tree: Bvh,
    /// Box of each particle.
    pub(super) boxes: Vec<Box32>,
    /// Parts that need not be searched for themselves.
    pub(super) patches: Patches,
    chunks: Vec<Chunk>,
    pub(super) known: Known,
}

/// What a few leaves lead to.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    pub hits: Vec<Hit>,
    /// Features whose boxes met.
    pub pairs: Vec<[u32; 2]>,
}

/// What a search for near pairs went over.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Whether the pairs in the chunks and the proven patches are still those of that search.
    pub fresh: bool,
    /// Where particles were, and the boxes that were searched.
    pub x: Vec<Vec3>,
    pub boxes: Vec<Box32>,
}

/// Leaves handled together; fixed, so that the order of the hits is.
const CHUNK: usize = 16;

impl Tree {
    /// For cloth at rest at `rest` (m; one position for each particle of the world). Triangles and
    /// edges that name no particle are left out.
    pub fn new(rest: &[Vec3], triangles: &[[u32; 3]], edges: &[[u32; 2]]) -> Tree {
        let n = rest.len();
        let known = |i: &u32| (*i as usize) < n;
        let triangles: Vec<[u32; 3]> =
            triangles.iter().map(|t| if t.iter().all(known) { *t } else { [NOTHING; 3] }).collect();
        let edges: Vec<[u32; 2]> =
            edges.iter().map(|e| if e.iter().all(known) { *e } else { [NOTHING; 2] }).collect();
        let piece = pieces(n, &triangles, &edges);
        let mut vertices: Vec<u32> = triangles.iter().flatten().copied().filter(known).collect();
        vertices.sort_unstable();
        vertices.dedup();
        // Pieces may lie on top of each other at rest; side by side they share no boxes.
        let finite = |x: Vec3| if x.is_finite() { x } else { Vec3::ZERO };
        let far = 4.0 * rest.iter().map(|&x| finite(x).abs().max_element()).fold(1.0, f64::max);
        let place = |i: u32| match rest.get(i as usize) {
            Some(&x) => finite(x) + Vec3::X * (far * f64::from(piece[i as usize])),
            None => Vec3::ZERO,
        };
        let centers: Vec<Vec3> =
            triangles.iter().map(|t| (place(t[0]) + place(t[1]) + place(t[2])) / 3.0).collect();
        let mut triangle_tree = Bvh::new(&centers);
        let centers: Vec<Vec3> = edges.iter().map(|e| (place(e[0]) + place(e[1])) / 2.0).collect();
        let mut edge_tree = Bvh::new(&centers);
        let centers: Vec<Vec3> = vertices.iter().map(|&v| place(v)).collect();
        let mut vertex_tree = Bvh::new(&centers);
        let patches = Patches::new(rest, &triangles, &piece);
        let region = |particles: &[u32]| match particles.iter().all(known) {
            true => patches.region(particles, &piece),
            false => Region::NOWHERE,
        };
        triangle_tree.set_regions(|t| region(&triangles[t as usize]));
        edge_tree.set_regions(|e| region(&edges[e as usize]));
        vertex_tree.set_regions(|v| region(&vertices[v as usize..=v as usize]));
        let speaks = speakers(&triangles);
        Tree {
            triangles,
            edges,
            rest: rest.to_vec(),
            piece,
            speaks,
            vertices,
            triangle_tree,
            edge_tree,
            vertex_tree,
            boxes: Vec::new(),
            patches,
            chunks: Vec::new(),
            known: Known::default(),
        }
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Fits all boxes to particles that move from `x0` to `x1`, each with its reach; a negative reach
    /// leaves a particle out.
    pub(super) fn refit(&mut self, x0: &[Vec3], x1: &[Vec3], reach: impl Fn(usize) -> f64 + Sync) {
        let n = self.rest.len();
        self.boxes.resize(n, Box32::EMPTY);
        self.boxes.par_iter_mut().enumerate().with_min_len(1024).for_each(|(i, b)| {
            *b = match (x0.get(i), x1.get(i), reach(i)) {
                (Some(&a), Some(&b), r) if r >= 0.0 => Box32::around(a, b, r),
                _ => Box32::EMPTY,
            };
        });
        let (boxes, triangles, edges) = (&self.boxes, &self.triangles, &self.edges);
        let of = |i: u32| boxes.get(i as usize).copied().unwrap_or(Box32::EMPTY);
        // a feature with a particle left out is left out
        let all = |parts: &[Box32]| {
            let whole = parts.iter().fold(Box32::EMPTY, |sum, b| sum.join(b));
            if parts.contains(&Box32::EMPTY) { Box32::EMPTY } else { whole }
        };
        let (triangle_tree, edge_tree) = (&mut self.triangle_tree, &mut self.edge_tree);
        pool::join(
            || triangle_tree.refit(|t| all(&triangles[t as usize].map(of))),
            || edge_tree.refit(|e| all(&edges[e as usize].map(of))),
        );
        let vertices = &self.vertices;
        self.vertex_tree.refit(|v| of(vertices[v as usize]));
    }

    /// Runs `find` over the leaves of two trees, of so many leaves, in fixed chunks and gathers what
    /// it finds in their order. `find` is given a range of leaves and whether it is of the second.
    pub(super) fn gather(
        &mut self,
        counts: [usize; 2],
        out: &mut Vec<Hit>,
        find: impl Fn(&Tree, Range<usize>, bool, &mut Chunk) + Sync,
    ) {
        let mut chunks = std::mem::take(&mut self.chunks);
        let first = counts[0].div_ceil(CHUNK);
        let count = first + counts[1].div_ceil(CHUNK);
        chunks.resize_with(chunks.len().max(count), Chunk::default);
        let used = &mut chunks[..count];
        let tree = &*self;
        used.par_iter_mut().enumerate().with_min_len(4).for_each(|(index, chunk)| {
            chunk.hits.clear();
            let (index, second) =
                if index < first { (index, false) } else { (index - first, true) };
            let range = index * CHUNK..((index + 1) * CHUNK).min(counts[usize::from(second)]);
            find(tree, range, second, chunk);
        });
        out.clear();
        used.iter().for_each(|chunk| out.extend_from_slice(&chunk.hits));
        self.chunks = chunks;
    }

    /// Numbers of leaves of vertices and of edges.
    pub(super) fn vertex_and_edge_leaves(&self) -> [usize; 2] {
        [self.vertex_tree.leaves.len(), self.edge_tree.leaves.len()]
    }

    /// Pairs of a vertex and a triangle without it whose boxes meet, for leaves of vertices.
    pub(super) fn vertex_triangle_pairs(
        &self,
        leaves: Range<usize>,
        mut pair: impl FnMut(u32, u32),
    ) {
        for index in leaves {
            let leaf = &self.vertex_tree.leaves[index];
            let boxes = &self.vertex_tree.boxes[index];
            let proven = self.patches.around(&self.vertex_tree.leaf_region(index as u32));
            self.triangle_tree.leaves_near(&leaf.whole(), 0, proven, |near| {
                let outside = self.triangle_tree.outside(near, proven);
                let near = &self.triangle_tree.leaves[near as usize];
                for k in (0..4).filter(|&k| leaf.child[k] != NOTHING) {
                    let v = self.vertices[leaf.child[k] as usize];
                    let mut bits = near.meets(&boxes[k]) & outside;
                    while bits != 0 {
                        let t = near.child[bits.trailing_zeros() as usize];
                        bits &= bits - 1;
                        if !self.triangles[t as usize].contains(&v) {
                            pair(v, t);
                        }
                    }
                }
            });
        }
    }

    /// Pairs of edges without a common end whose boxes meet, each once, the smaller index first, for
    /// leaves of edges.
    pub(super) fn edge_pairs(&self, leaves: Range<usize>, mut pair: impl FnMut(u32, u32)) {
        for index in leaves {
            let leaf = &self.edge_tree.leaves[index];
            let boxes = &self.edge_tree.boxes[index];
            let proven = self.patches.around(&self.edge_tree.leaf_region(index as u32));
            self.edge_tree.leaves_near(&leaf.whole(), index as u32, proven, |other| {
                let outside = self.edge_tree.outside(other, proven);
                let near = &self.edge_tree.leaves[other as usize];
                for k in (0..4).filter(|&k| leaf.child[k] != NOTHING) {
                    let e = leaf.child[k];
                    let [a, b] = self.edges[e as usize];
                    let mut bits = near.meets(&boxes[k]) & outside;
                    if other as usize == index {
                        bits &= !((2 << k) - 1); // each pair of one leaf once
                    }
                    while bits != 0 {
                        let f = near.child[bits.trailing_zeros() as usize];
                        bits &= bits - 1;
                        let [c, d] = self.edges[f as usize];
                        if a != c && a != d && b != c && b != d {
                            pair(e.min(f), e.max(f));
                        }
                    }
                }
            });
        }
    }
}

/// Numbers the pieces that hang together.
fn pieces(n: usize, triangles: &[[u32; 3]], edges: &[[u32; 2]]) -> Vec<u32> {
    let mut root: Vec<u32> = (0..n as u32).collect();
    fn find(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            root[i as usize] = root[root[i as usize] as usize];
            i = root[i as usize];
        }
        i
    }
    let sides = triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]]]);
    for [a, b] in sides.chain(edges.iter().copied()).filter(|[a, _]| *a != NOTHING) {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        root[a.max(b) as usize] = a.min(b);
    }
    let mut number = vec![0; n];
    let mut count = 0;
    for i in 0..n as u32 {
        let r = find(&mut root, i);
        if r == i {
            number[i as usize] = count;
            count += 1;
        } else {
            number[i as usize] = number[r as usize]; // roots come first
        }
    }
    number
}

/// The first triangle speaks for a corner or an edge.
fn speakers(triangles: &[[u32; 3]]) -> Vec<u8> {
    let mut claims = Vec::with_capacity(6 * triangles.len());
    for (index, t) in triangles.iter().enumerate().filter(|(_, t)| t[0] != NOTHING) {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            claims.push(([a, a], index, k));
            claims.push(([a.min(b), a.max(b)], index, 3 + k));
        }
    }
    claims.sort_unstable();
    claims.dedup_by_key(|c| c.0);
    let mut speaks = vec![0; triangles.len()];
    claims.iter().for_each(|&(_, index, bit)| speaks[index] |= 1 << bit);
    speaks
}
