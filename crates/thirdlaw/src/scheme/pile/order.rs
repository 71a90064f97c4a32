//! Which contacts go side by side, eight at a time: those within a block, those between blocks.
//!
//! Contacts of a colour share no body that moves, so that the order within a colour does not matter
//! [tonge2012 §3.4.1]. Each contact takes the first colour that its bodies do not have yet within its part,
//! in the order of the island's contacts.
//!
//! Between blocks threads share a colour, and a bundle holds contacts of one. Within a block one thread goes
//! from bundle to bundle, so that contacts of several colours may lie in one, if only each comes behind
//! those before it that share a body with it: hardly a lane stays empty, and what a contact finds does not
//! depend on which others are in the block.

use super::vector::LANES;
use std::ops::Range;

/// Colours; what finds none (a tray with a hundred things on it) goes one by one after them.
const COLORS: usize = 64;
/// Places by colour and number of points.
const PLACES: usize = 4 * (COLORS + 1);
/// Bundles that are filled at a time.
const OPEN: usize = 64;
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
    /// For each body, number in its block of the bundle behind the last one that it is in.
    behind: Vec<u32>,
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
        self.behind.clear();
        self.behind.resize(lines, 0);
        let mut points = 0;
        for part in 0..blocks {
            let first = (self.groups.len(), points);
            self.sort(part, |e| (COLORS + 1) * (4 - points_of(e)) + usize::from(e.color));
            self.fill();
            for group in &mut self.groups[first.0..] {
                group.start = points as u32;
                points += usize::from(group.count);
            }
            self.inside
                .push(Chunk { bundles: first.0..self.groups.len(), points: first.1..points });
        }
        let starts = self.sort(blocks, |e| 4 * usize::from(e.color) + 4 - points_of(e));
        for color in 0..=COLORS {
            let begun = self.groups.len();
            self.group(color == COLORS, starts[4 * color]..starts[4 * color + 4], &mut points);
            if begun < self.groups.len() {
                let first_chunk = self.between.len() as u32;
                let size = if color == COLORS { self.groups.len() } else { CHUNK };
                self.between.extend(chunks(&self.groups, begun, size, points));
                self.colors.push(first_chunk..self.between.len() as u32);
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

    /// Sorts a part by places; returns where each of these starts, and the end.
    fn sort(&mut self, part: usize, place: impl Fn(&Entry) -> usize) -> [usize; PLACES + 1] {
        let part = &self.parts[self.starts[part] as usize..self.starts[part + 1] as usize];
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

    /// Makes groups of the sorted contacts of a block.
    fn fill(&mut self) {
        let first = self.groups.len();
        // those that are not full are bits, from number `base` on
        let (mut base, mut open) = (0, 0_u64);
        for &i in &self.sorted {
            let entry = &self.entries[i as usize];
            let movers = || (0..2).filter(|&side| entry.moves[side]).map(|side| entry.body[side]);
            let behind = movers().map(|line| self.behind[line as usize] as usize).max();
            let from = behind.unwrap_or(0).saturating_sub(base);
            let fit = if from < OPEN { open & (u64::MAX << from) } else { 0 };
            let number = if fit == 0 {
                let new = self.groups.len() - first;
                if new >= base + OPEN {
                    (base, open) = (base + 1, open >> 1);
                }
                open |= 1 << (new - base);
                self.groups.push(Group { lanes: [NONE; LANES], start: 0, count: entry.count });
                new
            } else {
                base + fit.trailing_zeros() as usize
            };
            let lanes = &mut self.groups[first + number].lanes;
            let used = lanes.iter().take_while(|&&lane| lane != NONE).count();
            lanes[used] = i;
            if used + 1 == LANES {
                open &= !(1 << (number - base));
            }
            movers().for_each(|line| self.behind[line as usize] = number as u32 + 1);
        }
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

fn points_of(entry: &Entry) -> usize {
    usize::from(entry.count.clamp(1, 4))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Contacts between neighbours on a square grid of `side`² bodies in blocks of rows, with each its floor.
    fn grid(side: u32, rows: u32) -> Order {
        let mut order = Order::default();
        let blocks = side.div_ceil(rows);
        let line = |x: u32, y: u32| 1 + x + side * y;
        for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
            let mut add = |x2: u32, y2: u32, count: u8| {
                let floor = x2 == side || y2 == side;
                let same = floor || y / rows == y2 / rows;
                order.entries.push(Entry {
                    body: [line(x, y), if floor { 0 } else { line(x2, y2) }],
                    moves: [true, !floor],
                    count,
                    color: 0,
                    part: if same { y / rows } else { blocks },
                });
            };
            add(x + 1, y, 4);
            add(x, y + 1, 2 + (x % 2) as u8);
        }
        order.build(1 + (side * side) as usize, blocks as usize);
        order
    }

    #[test]
    fn every_contact_lies_in_one_lane_and_no_bundle_has_a_body_twice() {
        let order = grid(40, 8);
        let mut seen = vec![0; order.entries.len()];
        for group in &order.groups {
            let mut bodies = Vec::new();
            for &i in group.lanes.iter().filter(|&&i| i != NONE) {
                let entry = &order.entries[i as usize];
                assert!(entry.count <= group.count);
                seen[i as usize] += 1;
                bodies.extend((0..2).filter(|&k| entry.moves[k]).map(|k| entry.body[k]));
            }
            let count = bodies.len();
            bodies.sort_unstable();
            bodies.dedup();
            assert_eq!(bodies.len(), count);
        }
        assert!(seen.iter().all(|&n| n == 1));
        let inside: usize = order.inside.iter().map(|chunk| chunk.bundles.len()).sum();
        let contacts = order.entries.iter().filter(|e| (e.part as usize) < order.inside.len());
        assert!(
            inside < contacts.count().div_ceil(LANES) + 2 * order.inside.len(),
            "few stay empty"
        );
    }

    #[test]
    fn contacts_that_share_a_body_keep_their_order_in_any_company() {
        let of = |order: &Order, body: u32| -> Vec<[u32; 2]> {
            let first = &order.groups[order.inside[0].bundles.clone()];
            let lanes = first.iter().flat_map(|group| group.lanes).filter(|&i| i != NONE);
            let entries = lanes.map(|i| &order.entries[i as usize]);
            entries.filter(|e| e.body.contains(&body)).map(|e| e.body).collect()
        };
        let alone = grid(20, 20);
        // another island in the same block, before and after
        let mut company = Order::default();
        for (i, entry) in alone.entries.iter().enumerate() {
            for far in [0, 1_000] {
                if far == 0 || i % 3 == 0 {
                    let body = entry.body.map(|b| if b == 0 { 0 } else { b + far });
                    company.entries.push(Entry { body, ..*entry });
                }
            }
        }
        company.build(2_000, 1);
        (1..=400).for_each(|body| assert_eq!(of(&alone, body), of(&company, body)));
    }
}
