//! Where the factor of a sparse matrix has entries, and where they lie.
//!
//! Blocks are eliminated in the order of `dissect`. A block's column has the rows of its own neighbours that
//! come later, and of the columns that hang below it in the elimination tree (the parent of a block is the
//! first of its rows). Columns with (nearly) the same rows are put together into panels, which are dense: up
//! to a share of zeros (relaxed amalgamation), for loops over panels are many times faster.

use super::kernel::{Shape, TALL, TILE};
use super::{Groups, dissect};
use crate::simd::f64x4::LANES;

/// Columns up to which a panel may have this share of zeros.
const ZEROS: [(u64, f64); 3] = [(16, 0.8), (48, 0.15), (u64::MAX, 0.05)];

/// The structure of a factor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    groups: Groups,
    /// Place of each block's first unknown in a vector of the solver.
    pub(super) place: Vec<u32>,
    /// Panel of each block.
    panel_of: Vec<u32>,
    pub(super) panels: Vec<Panel>,
    /// Rows below of all panels, as places in a vector.
    pub(super) rows: Vec<u32>,
    /// What the panels give to others, and their runs of rows.
    pub(super) gifts: Vec<Gift>,
    pub(super) runs: Vec<Run>,
    pub(super) unknowns: usize,
    /// Registers of all panels.
    pub(super) registers: usize,
    /// Registers that the largest panel, and the largest square of rows below, need.
    pub(super) largest: [usize; 2],
    /// Multiplications of a factorization and of a solve.
    pub(crate) work: [u64; 2],
}

/// Some columns of the factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Panel {
    /// Its columns in a vector.
    pub first: u32,
    pub columns: u32,
    /// Rows below in `rows`.
    pub below: (u32, u32),
    /// First register.
    pub start: u32,
    /// In `gifts`.
    pub gifts: (u32, u32),
}

/// What a panel gives to a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gift {
    pub to: u32,
    /// Rows below of the giver that are columns of the other.
    pub columns: (u32, u32),
    /// In `runs`.
    pub runs: (u32, u32),
}

/// Rows that follow each other in both panels: row below of the giver, row of the panel's numbers in the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub from: u32,
    pub to: u32,
    pub length: u32,
}

/// Where the entries of a pair of blocks lie.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// The number of the first row and column.
    pub at: u32,
    /// From column to column.
    pub stride: u32,
    /// Whether the columns are those of the first block.
    pub turned: bool,
}

/// A panel while they are put together.
#[derive(Default)]
struct Growing {
    blocks: Vec<u32>,
    columns: u64,
    rows: u64,
    zeros: u64,
}

impl Panel {
    pub fn shape(&self) -> Shape {
        let own = (self.columns as usize).div_ceil(TILE) * TALL;
        let below = ((self.below.1 - self.below.0) as usize).div_ceil(TILE) * TALL;
        Shape { columns: self.columns as usize, stride: own + below, own }
    }

    /// Row of a panel's numbers that holds a place: own, or the k-th below.
    fn own_row(&self, place: u32) -> Option<u32> {
        place.checked_sub(self.first).filter(|&row| row < self.columns)
    }
}

impl Plan {
    /// Plans anew where the groups have changed. Says whether they have.
    pub fn build(&mut self, groups: &Groups) -> bool {
        if self.groups == *groups {
            return false;
        }
        self.groups = groups.clone();
        let sequence = dissect::order(groups);
        let rows = self.rows_of_blocks(&sequence);
        let grown = self.grow(&sequence, &rows);
        self.lay_out(&grown, &sequence, &rows);
        self.give();
        true
    }

    /// Later blocks that each block's column has, as positions in the sequence.
    fn rows_of_blocks(&self, sequence: &[u32]) -> Vec<Vec<u32>> {
        let count = sequence.len();
        let mut position = vec![0; count];
        sequence.iter().enumerate().for_each(|(i, &b)| position[b as usize] = i as u32);
        let mut around = vec![Vec::new(); count];
        for g in 0..self.groups.count() {
            let group = self.groups.group(g);
            group.iter().for_each(|&b| around[position[b as usize] as usize].push(g));
        }
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut seen = vec![u32::MAX; count];
        for i in 0..count {
            let mut own = Vec::new();
            let mut add = |j: u32| {
                if j > i as u32 && seen[j as usize] != i as u32 {
                    seen[j as usize] = i as u32;
                    own.push(j);
                }
            };
            for &g in &around[i] {
                self.groups.group(g).iter().for_each(|&b| add(position[b as usize]));
            }
            for &child in &children[i] {
                rows[child].iter().for_each(|&j| add(j));
            }
            own.sort_unstable();
            if let Some(&parent) = own.first() {
                children[parent as usize].push(i);
            }
            rows[i] = own;
        }
        rows
    }

    /// Puts columns together into panels, each named by its last block.
    fn grow(&self, sequence: &[u32], rows: &[Vec<u32>]) -> Vec<Growing> {
        let size = |i: u32| u64::from(self.groups.sizes[sequence[i as usize] as usize]);
        let count = sequence.len();
        let mut grown: Vec<Growing> = Vec::with_capacity(count);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        for i in 0..count {
            let mut own = Growing {
                columns: size(i as u32),
                rows: rows[i].iter().map(|&j| size(j)).sum(),
                ..Growing::default()
            };
            for child in std::mem::take(&mut children[i]) {
                let other = &mut grown[child];
                let filled = other.columns * (own.columns + own.rows - other.rows);
                let zeros = own.zeros + other.zeros + filled;
                let columns = own.columns + other.columns;
                let all = columns * (columns + own.rows) - columns * columns / 2;
                let share = zeros as f64 / all as f64;
                if ZEROS.iter().any(|&(most, part)| columns <= most && share <= part) {
                    own.blocks.append(&mut other.blocks);
                    (own.columns, own.zeros, other.columns) = (columns, zeros, 0);
                }
            }
            own.blocks.push(i as u32);
            if let Some(&parent) = rows[i].first() {
                children[parent as usize].push(i);
            }
            grown.push(own);
        }
        grown
    }

    fn lay_out(&mut self, grown: &[Growing], sequence: &[u32], rows: &[Vec<u32>]) {
        let count = sequence.len();
        self.place.clear();
        self.place.resize(count, 0);
        self.panel_of.clear();
        self.panel_of.resize(count, 0);
        self.panels.clear();
        self.rows.clear();
        let mut first = 0;
        for panel in grown.iter().filter(|panel| panel.columns > 0) {
            let start = first;
            for &i in &panel.blocks {
                let block = sequence[i as usize] as usize;
                self.place[block] = first;
                self.panel_of[block] = self.panels.len() as u32;
                first += self.groups.sizes[block];
            }
            let (columns, nothing) = (first - start, (0, 0));
            let panel = Panel { first: start, columns, below: nothing, start: 0, gifts: nothing };
            self.panels.push(panel);
        }
        self.unknowns = first as usize;
        let (mut start, mut panel) = (0, 0);
        (self.largest, self.work) = ([0; 2], [0; 2]);
        for (i, grown) in grown.iter().enumerate().filter(|(_, panel)| panel.columns > 0) {
            let begin = self.rows.len();
            for &j in &rows[i] {
                let block = sequence[j as usize] as usize;
                let place = self.place[block];
                self.rows.extend(place..place + self.groups.sizes[block]);
            }
            self.rows[begin..].sort_unstable();
            let below = self.rows.len() - begin;
            let now = &mut self.panels[panel];
            now.below = (begin as u32, self.rows.len() as u32);
            now.start = start as u32;
            let shape = now.shape();
            // whole tiles of columns are worked on
            let registers = shape.stride * shape.columns;
            start += registers;
            panel += 1;
            let square = (shape.stride - shape.own) * (shape.stride - shape.own) * LANES;
            self.largest = [self.largest[0].max(registers), self.largest[1].max(square)];
            let (c, r) = (grown.columns, below as u64);
            self.work[0] += c * c * c / 6 + c * c * r / 2 + c * r * r / 2;
            self.work[1] += c * c + 2 * c * r;
        }
        self.registers = start;
    }

    /// Where the rows below of every panel go.
    fn give(&mut self) {
        self.gifts.clear();
        self.runs.clear();
        let mut owner = vec![0_u32; self.unknowns];
        for (p, panel) in self.panels.iter().enumerate() {
            owner[panel.first as usize..(panel.first + panel.columns) as usize].fill(p as u32);
        }
        for p in 0..self.panels.len() {
            let begin = self.gifts.len() as u32;
            let rows = self.panels[p].below.0 as usize..self.panels[p].below.1 as usize;
            let rows = &self.rows[rows];
            let mut i = 0;
            while i < rows.len() {
                let to = owner[rows[i] as usize];
                let end = i + rows[i..].partition_point(|&row| owner[row as usize] == to);
                let runs = self.runs.len() as u32;
                let target = self.panels[to as usize];
                let own = (target.shape().own * LANES) as u32;
                let theirs = &self.rows[target.below.0 as usize..target.below.1 as usize];
                let mut next = 0;
                for (k, &row) in rows.iter().enumerate().skip(i) {
                    let at = target.own_row(row).unwrap_or_else(|| {
                        next += theirs[next..].partition_point(|&other| other < row);
                        own + next as u32
                    });
                    let same = self.runs.len() as u32 > runs;
                    match self.runs.last_mut() {
                        Some(run)
                            if same
                                && run.from + run.length == k as u32
                                && run.to + run.length == at =>
                        {
                            run.length += 1;
                        }
                        _ => self.runs.push(Run { from: k as u32, to: at, length: 1 }),
                    }
                }
                self.gifts.push(Gift {
                    to,
                    columns: (i as u32, end as u32),
                    runs: (runs, self.runs.len() as u32),
                });
                i = end;
            }
            self.panels[p].gifts = (begin, self.gifts.len() as u32);
        }
    }

    /// Sizes of all blocks.
    pub fn sizes(&self) -> &[u32] {
        &self.groups.sizes
    }

    /// Where the entries of two blocks lie, if the factor has any.
    pub fn find(&self, a: u32, b: u32) -> Option<Entry> {
        let places = [self.place[a as usize], self.place[b as usize]];
        let earlier = if places[0] < places[1] { a } else { b };
        let panel = &self.panels[self.panel_of[earlier as usize] as usize];
        let row = places[0].max(places[1]);
        let rows = &self.rows[panel.below.0 as usize..panel.below.1 as usize];
        let known = panel.own_row(row).is_some() || rows.binary_search(&row).is_ok();
        known.then(|| self.entry(a, b))
    }

    /// Where the entries of two coupled blocks lie.
    pub fn entry(&self, a: u32, b: u32) -> Entry {
        let [mut row, mut column] = [self.place[a as usize], self.place[b as usize]];
        let turned = row < column;
        if turned {
            std::mem::swap(&mut row, &mut column);
        }
        let panel = &self.panels[self.panel_of[if turned { a } else { b } as usize] as usize];
        let shape = panel.shape();
        let at = panel.own_row(row).unwrap_or_else(|| {
            let rows = &self.rows[panel.below.0 as usize..panel.below.1 as usize];
            (shape.own * LANES + rows.partition_point(|&other| other < row)) as u32
        });
        let stride = (shape.stride * LANES) as u32;
        let start = panel.start * LANES as u32;
        Entry { at: start + (column - panel.first) * stride + at, stride, turned }
    }
}
