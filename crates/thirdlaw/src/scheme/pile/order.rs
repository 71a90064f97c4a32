//! Which contacts go side by side: colours, within a colour by number of points, eight at a time.
//!
//! Contacts of a colour share no body that moves, so that the order within a colour does not matter
//! [tonge2012 §3.4.1]. Each contact takes the first colour that its bodies do not have yet, in the
//! order of the island's contacts.

use super::vector::LANES;
use std::ops::Range;

/// Colours; what finds none (a tray with a hundred things on it) goes one by one after them.
const COLORS: usize = 64;
/// Bundles that a thread takes at a time.
const CHUNK: usize = 8;
/// No contact in this lane.
pub const NONE: u32 = u32::MAX;

/// A contact as far as the order is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Lines of its bodies.
    pub body: [u32; 2],
    /// Which of them move under impulses.
    pub moves: [bool; 2],
    /// Points.
    pub count: u8,
    pub color: u8,
}

/// The order of an island's contacts.
#[derive(Debug, Default)]
pub struct Order {
    /// The contacts, in the order of the island.
    pub entries: Vec<Entry>,
    /// What goes into each bundle.
    pub groups: Vec<Group>,
    /// Bundles of each chunk with their records of points, colour after colour.
    pub chunks: Vec<Chunk>,
    /// Chunks of each colour; what goes one by one is the last.
    pub colors: Vec<Range<u32>>,
    taken: Vec<u64>,
    sorted: Vec<u32>,
}

/// The contacts of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The contact in each lane, or [`NONE`].
    pub lanes: [u32; LANES],
    /// First record of points.
    pub start: u32,
    /// Points of the contact with most.
    pub count: u8,
}

/// Bundles worked on by one thread.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub bundles: Range<usize>,
    pub points: Range<usize>,
}

impl Order {
    /// Orders the entries between bodies of so many lines. Returns the number of records of points.
    pub fn build(&mut self, lines: usize) -> usize {
        self.color(lines);
        let starts = self.sort();
        self.groups.clear();
        self.chunks.clear();
        self.colors.clear();
        let mut points = 0;
        for color in 0..=COLORS {
            let mine = starts[4 * color]..starts[4 * color + 4];
            if mine.is_empty() {
                continue;
            }
            let alone = color == COLORS;
            let first_chunk = self.chunks.len() as u32;
            let first = self.groups.len();
            for group in self.sorted[mine].chunks(if alone { 1 } else { LANES }) {
                let mut lanes = [NONE; LANES];
                lanes[..group.len()].copy_from_slice(group);
                // by number of points, most first
                let count = self.entries[group[0] as usize].count;
                self.groups.push(Group { lanes, start: points as u32, count });
                points += usize::from(count);
            }
            let last = self.groups.len();
            let size = if alone { last - first } else { CHUNK };
            for start in (first..last).step_by(size.max(1)) {
                let end = (start + size).min(last);
                let start_of = |i: usize| self.groups.get(i).map_or(points, |g| g.start as usize);
                let range = start_of(start)..start_of(end);
                self.chunks.push(Chunk { bundles: start..end, points: range });
            }
            self.colors.push(first_chunk..self.chunks.len() as u32);
        }
        points
    }

    fn color(&mut self, lines: usize) {
        self.taken.clear();
        self.taken.resize(lines, 0);
        for entry in &mut self.entries {
            let [a, b] = entry.body.map(|i| i as usize);
            let mut taken = 0;
            if entry.moves[0] {
                taken |= self.taken[a];
            }
            if entry.moves[1] {
                taken |= self.taken[b];
            }
            entry.color = (!taken).trailing_zeros() as u8;
            let bit = if usize::from(entry.color) < COLORS { 1 << entry.color } else { 0 };
            self.taken[a] |= bit;
            self.taken[b] |= bit;
        }
    }

    /// Sorts by colour, then by points, the most first; returns where each of these starts, and the end.
    fn sort(&mut self) -> [usize; 4 * (COLORS + 1) + 1] {
        let place = |e: &Entry| 4 * usize::from(e.color) + 4 - usize::from(e.count.clamp(1, 4));
        let mut starts = [0; 4 * (COLORS + 1) + 1];
        for entry in &self.entries {
            starts[place(entry) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts;
        self.sorted.clear();
        self.sorted.resize(self.entries.len(), 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let at = &mut next[place(entry)];
            self.sorted[*at] = i as u32;
            *at += 1;
        }
        starts
    }
}
