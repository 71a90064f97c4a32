//! The order in which a system of joints is eliminated, and where its blocks lie.
//!
//! The vertices are the bodies and the joints of an island; a joint is a neighbour of the bodies it
//! holds [Baraff96]. The vertex with the fewest neighbours goes next: on a tree the leaves first,
//! which fills nothing in and costs time linear in the size; in loops minimum degree keeps the fill
//! small. A joint has nothing on its own diagonal, so it waits until a body of its has gone, all of
//! them if that body cannot move every way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a vertex is to the ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertex {
    /// A body that moves every way (or a point mass).
    Free,
    /// A body with locked axes.
    Locked,
    /// A joint.
    Link,
}

/// The structure of a block factorization.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Vertices in the order of their elimination.
    pub sequence: Vec<u32>,
    /// Number of scalars of each vertex.
    pub size: Vec<u32>,
    /// Place of each vertex's first scalar in a vector.
    pub start: Vec<u32>,
    /// Place of each vertex's diagonal block.
    pub diagonal: Vec<u32>,
    /// Range of each vertex's entries in `below`: (first, count).
    pub range: Vec<(u32, u32)>,
    /// Vertices eliminated later that a vertex is coupled to, in the order of elimination, with the
    /// place of the block (rows of the later, columns of the earlier vertex).
    pub below: Vec<(u32, u32)>,
    /// For every vertex and pair of its entries (i ≥ j): the place of the block that the pair fills.
    pub targets: Vec<u32>,
    /// First target of each vertex.
    pub target_start: Vec<u32>,
    /// Numbers in all blocks.
    pub numbers: usize,
    /// Numbers in a vector.
    pub scalars: usize,
    neighbors: Vec<Vec<u32>>,
    position: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    ready: Vec<bool>,
    waiting: Vec<u32>,
    gone: Vec<bool>,
    /// Edges of the graph as it was given, ordered.
    given: Vec<(u32, u32)>,
    merged: Vec<u32>,
}

impl Order {
    /// Orders a graph: kinds and sizes of vertices, and edges from links to bodies.
    pub fn build(&mut self, kinds: &[Vertex], sizes: &[u32], edges: &[(u32, u32)]) {
        let count = kinds.len();
        self.size.clear();
        self.size.extend_from_slice(sizes);
        if self.neighbors.len() < count {
            self.neighbors.resize_with(count, Vec::new);
        }
        self.neighbors[..count].iter_mut().for_each(Vec::clear);
        self.waiting.clear();
        self.waiting.resize(count, 0);
        for &(a, b) in edges {
            self.neighbors[a as usize].push(b);
            self.neighbors[b as usize].push(a);
            for v in [a, b] {
                if kinds[v as usize] == Vertex::Link {
                    self.waiting[v as usize] += 1;
                }
            }
        }
        self.neighbors[..count].iter_mut().for_each(|n| n.sort_unstable());
        self.given.clear();
        self.given.extend_from_slice(edges);
        self.given.sort_unstable();
        self.eliminate(kinds);
        self.lay_out(count);
    }

    fn eliminate(&mut self, kinds: &[Vertex]) {
        let count = kinds.len();
        self.sequence.clear();
        self.gone.clear();
        self.gone.resize(count, false);
        self.ready.clear();
        self.ready.extend((0..count).map(|v| kinds[v] != Vertex::Link || self.waiting[v] == 0));
        self.heap.clear();
        for v in 0..count {
            if self.ready[v] {
                self.heap.push(Reverse((self.neighbors[v].len() as u32, v as u32)));
            }
        }
        while let Some(Reverse((degree, v))) = self.heap.pop() {
            let vertex = v as usize;
            if self.gone[vertex] || degree as usize != self.neighbors[vertex].len() {
                continue;
            }
            self.gone[vertex] = true;
            self.sequence.push(v);
            let around = std::mem::take(&mut self.neighbors[vertex]);
            for &w in &around {
                self.join(w, v, &around);
                // a body that only fill has made a neighbour says nothing about a joint's own rows
                if kinds[vertex] != Vertex::Link && self.given.binary_search(&(w, v)).is_ok() {
                    self.waiting[w as usize] -= 1;
                    self.ready[w as usize] |=
                        kinds[vertex] == Vertex::Free || self.waiting[w as usize] == 0;
                }
                if self.ready[w as usize] {
                    self.heap.push(Reverse((self.neighbors[w as usize].len() as u32, w)));
                }
            }
            self.neighbors[vertex] = around;
        }
    }

    /// neighbours of w ← (neighbours of w ∪ around) without v and w.
    fn join(&mut self, w: u32, v: u32, around: &[u32]) {
        let own = &mut self.neighbors[w as usize];
        self.merged.clear();
        let (mut i, mut j) = (0, 0);
        while i < own.len() || j < around.len() {
            let next = match (own.get(i), around.get(j)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&a), None) => a,
                (None, Some(&b)) => b,
                (None, None) => break,
            };
            i += usize::from(own.get(i) == Some(&next));
            j += usize::from(around.get(j) == Some(&next));
            if next != v && next != w {
                self.merged.push(next);
            }
        }
        own.clear();
        own.extend_from_slice(&self.merged);
    }

    fn lay_out(&mut self, count: usize) {
        self.position.clear();
        self.position.resize(count, 0);
        for (i, &v) in self.sequence.iter().enumerate() {
            self.position[v as usize] = i as u32;
        }
        self.start.clear();
        self.diagonal.clear();
        self.diagonal.resize(count, 0);
        self.range.clear();
        self.range.resize(count, (0, 0));
        self.target_start.clear();
        self.target_start.resize(count, 0);
        self.below.clear();
        self.targets.clear();
        let mut scalars = 0;
        for &size in &self.size {
            self.start.push(scalars);
            scalars += size;
        }
        self.scalars = scalars as usize;
        let mut numbers = 0;
        for &v in &self.sequence {
            let v = v as usize;
            self.diagonal[v] = numbers;
            numbers += self.size[v] * self.size[v];
            let position = &self.position;
            self.neighbors[v].sort_unstable_by_key(|&w| position[w as usize]);
            self.range[v] = (self.below.len() as u32, self.neighbors[v].len() as u32);
            for &w in &self.neighbors[v] {
                self.below.push((w, numbers));
                numbers += self.size[v] * self.size[w as usize];
            }
        }
        self.numbers = numbers as usize;
        for &v in &self.sequence {
            let v = v as usize;
            self.target_start[v] = self.targets.len() as u32;
            let (first, count) = self.range[v];
            for i in 0..count {
                let later = self.below[(first + i) as usize].0;
                for j in 0..=i {
                    let earlier = self.below[(first + j) as usize].0;
                    let place = if i == j {
                        self.diagonal[earlier as usize]
                    } else {
                        self.block(later, earlier).unwrap_or_default()
                    };
                    self.targets.push(place);
                }
            }
        }
    }

    /// The place of the block of two coupled vertices, `later` eliminated after `earlier`.
    fn block(&self, later: u32, earlier: u32) -> Option<u32> {
        let (first, count) = self.range[earlier as usize];
        let entries = &self.below[first as usize..][..count as usize];
        let wanted = self.position[later as usize];
        let found = entries.binary_search_by_key(&wanted, |&(w, _)| self.position[w as usize]);
        found.ok().map(|i| entries[i].1)
    }

    /// The place of the block between a link and a body, and whether the body is the earlier one (then
    /// the block has the link's rows), if they are coupled.
    pub fn coupling(&self, link: u32, body: u32) -> Option<(u32, bool)> {
        if self.position[link as usize] > self.position[body as usize] {
            self.block(link, body).map(|place| (place, true))
        } else {
            self.block(body, link).map(|place| (place, false))
        }
    }
}
