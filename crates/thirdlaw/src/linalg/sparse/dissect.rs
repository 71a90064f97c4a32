//! Nested dissection: the order of blocks in which a factorization fills little in.
//!
//! The groups are parted in two halves so that few blocks reach over the cut; those come last, after the
//! blocks of either half, each of which is ordered the same way (George 1973, on the graph of the groups,
//! where the rows of a joint that is cut separate and not the six of a body). A square grid of n joints
//! so gets a factor of n log n entries for n^1.5 multiplications.
//!
//! Where to cut is read off distances in the graph: from four landmarks far from each other, alone, added and
//! subtracted in pairs. Of a square grid seen from its corners those are diagonals, rows and columns. The level
//! set that cuts least for the sizes of its sides is taken. No place in space is used, so that the
//! order depends on the graph alone.

use super::Groups;

/// Unknowns that are not parted any more.
const LEAF: u64 = 12;
/// Part of the groups that is left on either side of a cut.
const LEAST: usize = 8;

const NONE: u32 = u32::MAX;

/// Memory of a dissection.
struct Dissection<'a> {
    groups: &'a Groups,
    /// Groups of each block: first entry in `around`, and the end of the last.
    starts: Vec<u32>,
    around: Vec<u32>,
    /// Which part a group belongs to.
    part: Vec<u32>,
    /// Whether a block has been given its place.
    placed: Vec<bool>,
    parts: u32,
    /// Distance of every group from each landmark.
    distance: [Vec<u32>; 4],
    queue: Vec<u32>,
    level: Vec<i64>,
    seen: Vec<u32>,
    seen_now: u32,
}

/// What is left to do, last first.
enum Task {
    Part(Vec<u32>),
    Place(Vec<u32>),
}

/// Blocks in the order of their elimination.
pub(super) fn order(groups: &Groups) -> Vec<u32> {
    let blocks = groups.sizes.len();
    let mut starts = vec![0; blocks + 1];
    for &b in &groups.members {
        starts[b as usize + 1] += 1;
    }
    for b in 0..blocks {
        starts[b + 1] += starts[b];
    }
    let mut around = vec![0; groups.members.len()];
    let mut next = starts.clone();
    for g in 0..groups.count() {
        for &b in groups.group(g) {
            around[next[b as usize] as usize] = g as u32;
            next[b as usize] += 1;
        }
    }
    let count = groups.count();
    let mut work = Dissection {
        groups,
        starts,
        around,
        part: vec![0; count],
        placed: vec![false; blocks],
        parts: 1,
        distance: std::array::from_fn(|_| vec![NONE; count]),
        queue: Vec::new(),
        level: vec![0; count],
        seen: vec![0; blocks],
        seen_now: 0,
    };
    let mut sequence = Vec::with_capacity(blocks);
    let mut tasks = vec![Task::Part((0..count as u32).collect())];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Place(blocks) => sequence.extend(blocks),
            Task::Part(part) => work.divide(part, &mut tasks, &mut sequence),
        }
    }
    sequence.extend((0..blocks as u32).filter(|&b| !work.placed[b as usize]));
    sequence
}

impl Dissection<'_> {
    fn groups_of(&self, block: u32) -> &[u32] {
        &self.around[self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize]
    }

    /// Blocks of a part that have no place yet, each once.
    fn open_blocks(&mut self, part: &[u32]) -> Vec<u32> {
        self.seen_now += 1;
        let mut blocks = Vec::new();
        for &g in part {
            for &b in self.groups.group(g as usize) {
                if !self.placed[b as usize] && self.seen[b as usize] != self.seen_now {
                    self.seen[b as usize] = self.seen_now;
                    blocks.push(b);
                }
            }
        }
        blocks
    }

    /// Orders a part, or divides it.
    fn divide(&mut self, part: Vec<u32>, tasks: &mut Vec<Task>, sequence: &mut Vec<u32>) {
        let blocks = self.open_blocks(&part);
        let unknowns: u64 = blocks.iter().map(|&b| u64::from(self.groups.sizes[b as usize])).sum();
        if part.len() < 2 || unknowns <= LEAF {
            blocks.iter().for_each(|&b| self.placed[b as usize] = true);
            sequence.extend(blocks);
            return;
        }
        let name = self.parts;
        self.parts += 1;
        part.iter().for_each(|&g| self.part[g as usize] = name);
        let pieces = self.pieces(&part, name);
        let mut cut = Vec::new();
        let pieces = if pieces.len() > 1 { pieces } else { self.halve(part, name, &blocks) };
        for (k, piece) in pieces.iter().enumerate() {
            piece.iter().for_each(|&g| self.part[g as usize] = name + k as u32);
        }
        self.parts += pieces.len() as u32;
        for &b in &blocks {
            let around = self.groups_of(b);
            let first = self.part[around[0] as usize];
            if around.iter().any(|&g| self.part[g as usize] != first) {
                cut.push(b);
            }
        }
        cut.iter().for_each(|&b| self.placed[b as usize] = true);
        tasks.push(Task::Place(cut));
        tasks.extend(pieces.into_iter().rev().map(Task::Part));
    }

    /// What hangs together, but for blocks that reach everywhere. Leaves distances from the first group.
    fn pieces(&mut self, part: &[u32], name: u32) -> Vec<Vec<u32>> {
        part.iter().for_each(|&g| self.distance[0][g as usize] = NONE);
        let mut pieces = Vec::new();
        for &g in part {
            if self.distance[0][g as usize] == NONE {
                self.walk(0, g, name);
                pieces.push(self.queue.clone());
            }
        }
        pieces
    }

    /// Distances within a part from a group; the queue becomes all that was reached, the farthest last.
    fn walk(&mut self, landmark: usize, from: u32, name: u32) {
        self.seen_now += 1;
        self.queue.clear();
        self.queue.push(from);
        self.distance[landmark][from as usize] = 0;
        let mut next = 0;
        while let Some(&g) = self.queue.get(next) {
            next += 1;
            let far = self.distance[landmark][g as usize] + 1;
            for &b in self.groups.group(g as usize) {
                let b = b as usize;
                let around = self.starts[b] as usize..self.starts[b + 1] as usize;
                if self.placed[b]
                    || self.seen[b] == self.seen_now
                    || around.len() > self.groups.far_reaching as usize
                {
                    continue;
                }
                self.seen[b] = self.seen_now;
                for &other in &self.around[around] {
                    let known = &mut self.distance[landmark][other as usize];
                    if self.part[other as usize] == name && *known == NONE {
                        *known = far;
                        self.queue.push(other);
                    }
                }
            }
        }
    }

    /// Distances of a connected part from four groups far from each other.
    fn survey(&mut self, part: &[u32], name: u32) {
        let mut at = self.queue.last().copied().unwrap_or(part[0]);
        for landmark in 0..4 {
            part.iter().for_each(|&g| self.distance[landmark][g as usize] = NONE);
            self.walk(landmark, at, name);
            let nearest = |g: u32| (0..=landmark).map(|k| self.distance[k][g as usize]).min();
            let mut best = nearest(at);
            for &g in part {
                if nearest(g) > best {
                    (best, at) = (nearest(g), g);
                }
            }
        }
    }

    /// Two halves of a connected part, along the best level set.
    fn halve(&mut self, part: Vec<u32>, name: u32, blocks: &[u32]) -> Vec<Vec<u32>> {
        self.survey(&part, name);
        let mut best = (f64::INFINITY, 0, 0);
        for way in 0..16 {
            self.set_levels(&part, way);
            let (score, threshold) = self.best_cut(&part, blocks);
            if score < best.0 {
                best = (score, way, threshold);
            }
        }
        self.set_levels(&part, best.1);
        if best.0.is_finite() {
            let (low, high) = part.into_iter().partition(|&g| self.level[g as usize] <= best.2);
            return vec![low, high];
        }
        // no level set leaves enough on both sides
        let mut low = part;
        low.sort_by_key(|&g| (self.level[g as usize], g));
        let high = low.split_off(low.len() / 2);
        vec![low, high]
    }

    /// Levels of all groups of a part, from 0: a distance, or a sum or difference of two.
    fn set_levels(&mut self, part: &[u32], way: usize) {
        const PAIRS: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let mut least = i64::MAX;
        for &g in part {
            let d = |k: usize| i64::from(self.distance[k][g as usize]);
            let level = match way {
                0..4 => d(way),
                4..10 => d(PAIRS[way - 4].0) + d(PAIRS[way - 4].1),
                _ => d(PAIRS[way - 10].0) - d(PAIRS[way - 10].1),
            };
            self.level[g as usize] = level;
            least = least.min(level);
        }
        part.iter().for_each(|&g| self.level[g as usize] -= least);
    }

    /// The level up to which groups are on the one side, and what that costs: the cut over the product of
    /// the sides.
    fn best_cut(&self, part: &[u32], blocks: &[u32]) -> (f64, i64) {
        let levels = part.iter().map(|&g| self.level[g as usize]).max().unwrap_or(0) as usize + 1;
        let mut here = vec![0_usize; levels];
        part.iter().for_each(|&g| here[self.level[g as usize] as usize] += 1);
        let mut changes = vec![0_i64; levels + 1];
        for &b in blocks {
            let level = |&g: &u32| self.level[g as usize];
            let low = self.groups_of(b).iter().map(level).min().unwrap_or(0);
            let high = self.groups_of(b).iter().map(level).max().unwrap_or(0);
            let size = i64::from(self.groups.sizes[b as usize]);
            changes[low as usize] += size;
            changes[high as usize] -= size;
        }
        let mut best = (f64::INFINITY, 0);
        let (mut below, mut cut) = (0, 0);
        for level in 0..levels - 1 {
            below += here[level];
            cut += changes[level];
            let above = part.len() - below;
            if LEAST * below.min(above) < part.len() {
                continue;
            }
            let score = cut as f64 / (below as f64 * above as f64);
            if score < best.0 {
                best = (score, level as i64);
            }
        }
        best
    }
}
