//! Numbers for bodies so that those that touch have near ones: the reverse order of Cuthill and McKee.

use crate::contact::problem::{ContactProblem, ContactSide};

/// Number of what no impulse moves.
pub const NONE: u32 = u32::MAX;

/// The order of a problem's bodies.
#[derive(Debug, Default)]
pub struct Order {
    /// Number of each body.
    place: Vec<u32>,
    /// Body of each number.
    bodies: Vec<u32>,
    /// Least number that each number touches, or its own.
    least: Vec<u32>,
    /// Who touches whom, both ways, ordered.
    pairs: Vec<(u32, u32)>,
    starts: Vec<u32>,
}

impl Order {
    /// Bodies that move.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Number of a side's body, or `NONE`.
    #[inline]
    pub fn place(&self, side: &ContactSide) -> u32 {
        match *side {
            ContactSide::Body(body) => self.place[body as usize],
            _ => NONE,
        }
    }

    /// Bodies by their numbers.
    pub fn bodies(&self) -> &[u32] {
        &self.bodies
    }

    /// First columns of the rows of a matrix with six rows for each body.
    pub fn envelope(&self) -> impl Iterator<Item = u32> + '_ {
        self.least.iter().flat_map(|&least| [6 * least; 6])
    }

    /// Finds it.
    pub fn find(&mut self, problem: &ContactProblem) {
        let count = problem.bodies.len();
        self.pairs.clear();
        let moves = |side: &ContactSide| match *side {
            ContactSide::Body(body) if !problem.bodies[body as usize].is_fixed() => Some(body),
            _ => None,
        };
        for block in &problem.blocks {
            if let (Some(a), Some(b)) = (moves(&block.a), moves(&block.b)) {
                self.pairs.extend([(a, b), (b, a)]);
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        self.pairs.iter().for_each(|pair| self.starts[pair.0 as usize + 1] += 1);
        (0..count).for_each(|i| self.starts[i + 1] += self.starts[i]);

        self.place.clear();
        self.place.resize(count, NONE);
        self.bodies.clear();
        for root in 0..count {
            if self.place[root] == NONE && !problem.bodies[root].is_fixed() {
                let far = self.farthest(root as u32);
                self.visit(far);
            }
        }
        self.bodies.reverse();
        for (number, &body) in (0..).zip(&self.bodies) {
            self.place[body as usize] = number;
        }
        self.least.clear();
        for number in 0..self.bodies.len() {
            let near = self.neighbours(self.bodies[number]).iter();
            let least = near.map(|pair| self.place[pair.1 as usize]).fold(number as u32, u32::min);
            self.least.push(least);
        }
    }

    fn neighbours(&self, body: u32) -> &[(u32, u32)] {
        let start = |i: u32| self.starts[i as usize] as usize;
        &self.pairs[start(body)..start(body + 1)]
    }

    /// Breadth first from a body on: bodies are appended, those with few neighbours first.
    fn visit(&mut self, root: u32) {
        let mut at = self.bodies.len();
        self.bodies.push(root);
        self.place[root as usize] = 0;
        while at < self.bodies.len() {
            let body = self.bodies[at];
            at += 1;
            let first = self.bodies.len();
            for i in self.starts[body as usize]..self.starts[body as usize + 1] {
                let other = self.pairs[i as usize].1;
                if self.place[other as usize] == NONE {
                    self.place[other as usize] = 0;
                    self.bodies.push(other);
                }
            }
            let Order { bodies, starts, .. } = self;
            let degree = |body: u32| starts[body as usize + 1] - starts[body as usize];
            bodies[first..].sort_unstable_by_key(|&body| (degree(body), body));
        }
    }

    /// The last body that is met on the way from one, and the last from there: an end of the structure.
    fn farthest(&mut self, from: u32) -> u32 {
        let (first, mut root) = (self.bodies.len(), from);
        for _ in 0..2 {
            self.visit(root);
            root = self.bodies[self.bodies.len() - 1];
            for i in first..self.bodies.len() {
                self.place[self.bodies[i] as usize] = NONE;
            }
            self.bodies.truncate(first);
        }
        root
    }
}
