//! Which contacts go side by side: by blocks, within a block by colours, within a colour by number of
//! points, eight at a time. Contacts between two blocks are a part of their own.
//!
//! Contacts of a colour share no body that moves, so that the order within a colour does not matter
//! [tonge2012 §3.4.1]. Each contact takes the first colour that its bodies do not have yet within its part,
//! in the order of the island's contacts.

use super::vector::LANES;
use std::ops::Range;

/// Colours; what finds none (a tray with a hundred things on it) goes one by one after them.
const COLORS: usize = 64;
/// Places by colour and number of points.
const PLACES: usize = 4 * (COLORS + 1);
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
    /// The block that it is in, or the number of blocks.
    pub part: u32,
}

/// The order of a pile's contacts.
#[derive(Debug, Default)]
pub struct Order {
    /// The contacts, in the order of the islands.
    pub entries: Vec<Entry>,
    /// What goes into each bundle.
    pub groups: Vec<Group>,
    /// Those within each block, colour after colour.
    pub inside: Vec<Chunk>,
    /// Those between blocks, colour after colour, and which of these chunks are of each colour; what goes
    /// one by one is the last.
    pub between: Vec<Chunk>,
    pub colors: Vec<Range<u32>>,
    /// Colours of each body among contacts within blocks and between them.
    taken: [Vec<u64>; 2],
    /// Contacts by parts, and where each part begins.
    parts: Vec<u32>,
    starts: Vec<u32>,
    /// Contacts of a part by places.
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
    /// Orders the entries between bodies of so many lines in so many blocks. Returns the number of records
    /// of points.
    pub fn build(&mut self, lines: usize, blocks: usize) -> usize {
        self.color(lines, blocks);
        self.sort_parts(blocks);
        self.groups.clear();
        self.inside.clear();
        self.between.clear();
        self.colors.clear();
        let mut points = 0;
        for part in 0..=blocks {
            let first = (self.groups.len(), points);
            let mine = self.starts[part] as usize..self.starts[part + 1] as usize;
            let starts = self.sort(mine);
            for color in 0..=COLORS {
                let begun = self.groups.len();
                self.group(color == COLORS, starts[4 * color]..starts[4 * color + 4], &mut points);
                if part == blocks && begun < self.groups.len() {
                    let first_chunk = self.between.len() as u32;
                    let size = if color == COLORS { self.groups.len() } else { CHUNK };
                    self.between.extend(chunks(&self.groups, begun, size, points));
                    self.colors.push(first_chunk..self.between.len() as u32);
                }
            }
            if part < blocks {
                let bundles = first.0..self.groups.len();
                self.inside.push(Chunk { bundles, points: first.1..points });
            }
        }
        points
    }

    fn color(&mut self, lines: usize, blocks: usize) {
        for taken in &mut self.taken {
            taken.clear();
            taken.resize(lines, 0);
        }
        for entry in &mut self.entries {
            let all_taken = &mut self.taken[usize::from(entry.part == blocks as u32)];
            let [a, b] = entry.body.map(|i| i as usize);
            let mut taken = 0;
            if entry.moves[0] {
                taken |= all_taken[a];
            }
            if entry.moves[1] {
                taken |= all_taken[b];
            }
            entry.color = (!taken).trailing_zeros() as u8;
            let bit = if usize::from(entry.color) < COLORS { 1 << entry.color } else { 0 };
            all_taken[a] |= bit;
            all_taken[b] |= bit;
        }
    }

    fn sort_parts(&mut self, blocks: usize) {
        self.starts.clear();
        self.starts.resize(blocks + 2, 0);
        for entry in &self.entries {
            self.starts[entry.part as usize + 1] += 1;
        }
        for part in 1..self.starts.len() {
            self.starts[part] += self.starts[part - 1];
        }
        self.parts.resize(self.entries.len(), 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let at = &mut self.starts[entry.part as usize];
            self.parts[*at as usize] = i as u32;
            *at += 1;
        }
        // each start has become that of the next
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Sorts a part by colour, then by points, the most first; returns where each of these starts, and the
    /// end.
    fn sort(&mut self, part: Range<usize>) -> [usize; PLACES + 1] {
        let place = |e: &Entry| 4 * usize::from(e.color) + 4 - usize::from(e.count.clamp(1, 4));
        let part = &self.parts[part];
        let mut starts = [0; PLACES + 1];
        for &i in part {
            starts[place(&self.entries[i as usize]) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts;
        self.sorted.clear();
        self.sorted.resize(part.len(), 0);
        for &i in part {
            let at = &mut next[place(&self.entries[i as usize])];
            self.sorted[*at] = i;
            *at += 1;
        }
        starts
    }

    /// Makes groups of contacts of a colour.
    fn group(&mut self, alone: bool, sorted: Range<usize>, points: &mut usize) {
        for group in self.sorted[sorted].chunks(if alone { 1 } else { LANES }) {
            let mut lanes = [NONE; LANES];
            lanes[..group.len()].copy_from_slice(group);
            // by number of points, most first
            let count = self.entries[group[0] as usize].count;
            self.groups.push(Group { lanes, start: *points as u32, count });
            *points += usize::from(count);
        }
    }
}

/// The groups from `first` on in chunks of `size`, of so many points in all.
fn chunks(
    groups: &[Group],
    first: usize,
    size: usize,
    points: usize,
) -> impl Iterator<Item = Chunk> {
    (first..groups.len()).step_by(size.max(1)).map(move |start| {
        let end = (start + size).min(groups.len());
        let start_of = |i: usize| groups.get(i).map_or(points, |group| group.start as usize);
        Chunk { bundles: start..end, points: start_of(start)..start_of(end) }
    })
}
