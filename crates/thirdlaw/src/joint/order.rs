//! The order in which a system of joints is eliminated, and where its blocks lie.
//!
//! The vertices are the bodies and the joints of an island; a joint is a neighbour of the bodies it
//! holds (Baraff96). The vertex with the fewest neighbours goes next: on a tree the leaves first,
//! which fills nothing in and costs time linear in the size; in loops minimum degree keeps the fill
//! small.
//!
//! A joint has nothing on its own diagonal and must wait for what the bodies leave there. Joints that
//! span the island like a tree, from what is held by the world, wait for the body on their far side:
//! nothing that went before can have taken a freedom from it. A joint that closes a loop waits for all
//! joints of the loop. So a row without a pivot is one that the loop holds already, never one whose
//! other body is yet to come.
//!
//! Where many loops share their joints such waiting fills everything in; those are left to `web`.

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
    waiting: Vec<u32>,
    gone: Vec<bool>,
    /// (v, link): the link waits for v; ordered.
    waits: Vec<(u32, u32)>,
    /// Edges of the graph, ordered by links.
    given: Vec<(u32, u32)>,
    /// For every body the joint and the body (or NONE, the world) it hangs from.
    hangs: Vec<(u32, u32)>,
    depth: Vec<u32>,
    queue: Vec<u32>,
    merged: Vec<u32>,
    /// Joints that close a loop.
    pub loops: usize,
    /// What the order was made for: it is made anew only where that changes.
    known: (Vec<Vertex>, Vec<u32>, Vec<(u32, u32)>),
}

const NONE: u32 = u32::MAX;
/// Loops up to which their joints wait for each other: rows that a few loops hold twice are found and left
/// out exactly. Beyond that the fill costs more than rows that give way.
const LOOPS: usize = 32;

impl Order {
    /// Orders a graph: kinds and sizes of vertices, and edges from links to bodies.
    pub fn build(&mut self, kinds: &[Vertex], sizes: &[u32], edges: &[(u32, u32)]) {
        if self.known.0 == kinds && self.known.1 == sizes && self.known.2 == edges {
            return;
        }
        self.known.0.clear();
        self.known.0.extend_from_slice(kinds);
        self.known.1.clear();
        self.known.1.extend_from_slice(sizes);
        self.known.2.clear();
        self.known.2.extend_from_slice(edges);
        let count = kinds.len();
        self.size.clear();
        self.size.extend_from_slice(sizes);
        if self.neighbors.len() < count {
            self.neighbors.resize_with(count, Vec::new);
        }
        self.neighbors[..count].iter_mut().for_each(Vec::clear);
        for &(a, b) in edges {
            self.neighbors[a as usize].push(b);
            self.neighbors[b as usize].push(a);
        }
        self.neighbors[..count].iter_mut().for_each(|n| n.sort_unstable());
        self.given.clear();
        self.given.extend_from_slice(edges);
        self.given.sort_unstable();
        self.span(kinds);
        self.loops = self.count_loops();
        if self.has_many_loops() {
            return;
        }
        self.set_waits(kinds);
        self.eliminate(kinds);
        self.lay_out(count);
    }

    /// The bodies of a link, as a range of `given`.
    fn bodies(&self, link: u32) -> std::ops::Range<usize> {
        let start = self.given.partition_point(|e| e.0 < link);
        start..start + self.given[start..].partition_point(|e| e.0 == link)
    }

    /// Spans every part of the graph by a tree, from a body that the world holds if there is one.
    fn span(&mut self, kinds: &[Vertex]) {
        self.hangs.clear();
        self.hangs.resize(kinds.len(), (NONE, NONE));
        self.depth.clear();
        self.depth.resize(kinds.len(), NONE);
        let mut i = 0;
        while i < self.given.len() {
            let (link, body) = self.given[i];
            let count = self.given[i..].partition_point(|e| e.0 == link);
            if count == 1 && self.depth[body as usize] == NONE {
                self.grow(body, link);
            }
            i += count;
        }
        for (body, &kind) in kinds.iter().enumerate() {
            if kind != Vertex::Link && self.depth[body] == NONE {
                self.grow(body as u32, NONE);
            }
        }
    }

    /// Grows a tree from a root that hangs from the world by `link`.
    fn grow(&mut self, root: u32, link: u32) {
        self.hangs[root as usize] = (link, NONE);
        self.depth[root as usize] = 0;
        self.queue.clear();
        self.queue.push(root);
        let mut next = 0;
        while let Some(&body) = self.queue.get(next) {
            next += 1;
            for i in 0..self.neighbors[body as usize].len() {
                let link = self.neighbors[body as usize][i];
                let ends = self.bodies(link);
                if ends.len() != 2 {
                    continue;
                }
                let [a, b] = [self.given[ends.start].1, self.given[ends.start + 1].1];
                let other = if a == body { b } else { a };
                if self.depth[other as usize] == NONE {
                    self.depth[other as usize] = self.depth[body as usize] + 1;
                    self.hangs[other as usize] = (link, body);
                    self.queue.push(other);
                }
            }
        }
    }

    /// What every link has to wait for.
    fn set_waits(&mut self, kinds: &[Vertex]) {
        self.waits.clear();
        self.waiting.clear();
        self.waiting.resize(kinds.len(), 0);
        let mut i = 0;
        while i < self.given.len() {
            let link = self.given[i].0;
            let ends = i..i + self.given[i..].partition_point(|e| e.0 == link);
            i = ends.end;
            let far = ends.clone().find(|&e| self.hangs[self.given[e].1 as usize].0 == link);
            match far.map(|e| self.given[e].1) {
                Some(body) if kinds[body as usize] == Vertex::Free => self.waits.push((body, link)),
                _ => self.wait_for_loop(link, ends),
            }
        }
        self.waits.sort_unstable();
        self.waits.dedup();
        for &(_, link) in &self.waits {
            self.waiting[link as usize] += 1;
        }
    }

    /// Links that nothing hangs from.
    fn count_loops(&self) -> usize {
        let mut links = 0;
        let mut i = 0;
        while i < self.given.len() {
            i += self.given[i..].partition_point(|e| e.0 == self.given[i].0);
            links += 1;
        }
        links - self.hangs.iter().filter(|(link, _)| *link != NONE).count()
    }

    /// Whether there are too many loops for an order in which joints wait for each other.
    pub fn has_many_loops(&self) -> bool {
        self.loops > LOOPS
    }

    /// A link that closes a loop waits for its bodies and for the joints on the way from each of them to
    /// where the ways meet; one of a body with locked axes for those on the way to the world.
    fn wait_for_loop(&mut self, link: u32, ends: std::ops::Range<usize>) {
        for e in ends.clone() {
            self.waits.push((self.given[e].1, link));
        }
        let pair = ends.len() == 2;
        let mut at = [self.given[ends.start].1, self.given[ends.end - 1].1];
        let hung = at.iter().any(|&b| self.hangs[b as usize].0 == link);
        if pair && !hung {
            while at[0] != at[1] && (at[0] != NONE || at[1] != NONE) {
                let depth = |b: u32| if b == NONE { -1 } else { i64::from(self.depth[b as usize]) };
                let deeper = usize::from(depth(at[1]) > depth(at[0]));
                let (by, up) = self.hangs[at[deeper] as usize];
                if by != NONE {
                    self.waits.push((by, link));
                }
                at[deeper] = up;
            }
            return;
        }
        for e in ends {
            let mut body = self.given[e].1;
            while body != NONE {
                let (by, up) = self.hangs[body as usize];
                if by != NONE && by != link {
                    self.waits.push((by, link));
                }
                body = up;
            }
        }
    }

    fn eliminate(&mut self, kinds: &[Vertex]) {
        let count = kinds.len();
        self.sequence.clear();
        self.gone.clear();
        self.gone.resize(count, false);
        self.heap.clear();
        for v in 0..count {
            if self.waiting[v] == 0 {
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
                if self.waiting[w as usize] == 0 {
                    self.heap.push(Reverse((self.neighbors[w as usize].len() as u32, w)));
                }
            }
            self.neighbors[vertex] = around;
            let first = self.waits.partition_point(|w| w.0 < v);
            for i in first..self.waits.len() {
                let (waited, link) = self.waits[i];
                if waited != v {
                    break;
                }
                self.waiting[link as usize] -= 1;
                if self.waiting[link as usize] == 0 {
                    let degree = self.neighbors[link as usize].len() as u32;
                    self.heap.push(Reverse((degree, link)));
                }
            }
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
