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

use crate::parallel::pool::prelude::*;
use crate::simd::f32x8::LANES;
use std::ops::Range;

/// Colours; what finds none (a tray with a hundred things on it) goes one by one after them.
const COLORS: usize = 64;
/// Places by colour and number of points.
const PLACES: usize = 4 * (COLORS + 1);
/// Bundles that are filled at a time.
const OPEN: usize = 64;
/// Bundles that a thread takes at a time.
const CHUNK: usize = 4;
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
    /// The block that it is in, or the number of blocks.
    pub part: u32,
}

/// The order of a pile's contacts.
#[derive(Debug, Default)]
pub struct Order {
    /// The contacts, in the order of the islands.
    pub entries: Vec<Entry>,
    /// Those within each block, colour after colour.
    pub inside: Vec<Chunk>,
    /// Those between blocks, colour after colour, and which of these chunks are of each colour; what goes
    /// one by one is the last.
    pub between: Vec<Chunk>,
    pub colors: Vec<Range<u32>>,
    /// Bundles in all, and records of points.
    pub bundles: usize,
    pub points: usize,
    /// Blocks, and what lies between them; at least as many as there are.
    parts: Vec<Part>,
    used: usize,
    /// Contacts by parts, and where each part begins.
    sorted: Vec<u32>,
    starts: Vec<u32>,
}

/// The contacts of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The contact in each lane, or [`NONE`].
    pub lanes: [u32; LANES],
    /// First record of points, within the part.
    pub start: u32,
    /// Points of the contact with most.
    pub count: u8,
}

/// Bundles worked on by one thread.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The part whose groups they are, and which of these.
    part: usize,
    groups: Range<usize>,
    pub bundles: Range<usize>,
    pub points: Range<usize>,
}

/// Contacts within a block, or between blocks, and memory to order them.
#[derive(Debug, Default)]
struct Part {
    groups: Vec<Group>,
    /// Records of points.
    points: usize,
    /// Between blocks, where the groups of each colour end.
    ends: Vec<usize>,
    /// The colour of each contact, and the contacts by places.
    colors: Vec<u8>,
    sorted: Vec<u32>,
    /// For each body from the first of the part on, the colours that it has, and the number of the bundle
    /// behind the last one that it is in.
    taken: Vec<u64>,
    behind: Vec<u32>,
}

impl Order {
    /// Orders the entries between bodies in blocks with these lines, of so many in all.
    pub fn build(
        &mut self,
        lines: usize,
        blocks: usize,
        block: impl Fn(usize) -> Range<usize> + Sync,
    ) {
        self.sort_parts(blocks);
        self.used = blocks + 1;
        if self.parts.len() < self.used {
            self.parts.resize_with(self.used, Part::default);
        }
        let Order { entries, sorted, starts, .. } = self;
        self.parts[..self.used].par_iter_mut().enumerate().for_each(|(i, part)| {
            let contacts = &sorted[starts[i] as usize..starts[i + 1] as usize];
            if i < blocks {
                part.order_inside(entries, contacts, block(i));
            } else {
                part.order_between(entries, contacts, lines);
            }
        });
        self.place();
    }

    /// The groups of a chunk.
    pub fn groups(&self, chunk: &Chunk) -> &[Group] {
        &self.parts[chunk.part].groups[chunk.groups.clone()]
    }

    /// All groups, in the order of bundles.
    pub fn all_groups(&self) -> impl Iterator<Item = &Group> {
        self.parts[..self.used].iter().flat_map(|part| &part.groups)
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
        self.sorted.resize(self.entries.len(), 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let at = &mut self.starts[entry.part as usize];
            self.sorted[*at as usize] = i as u32;
            *at += 1;
        }
        // each start has become that of the next
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Gives bundles and records of points their places: part after part.
    fn place(&mut self) {
        let Order { inside, between, colors, parts, used, .. } = self;
        inside.clear();
        between.clear();
        colors.clear();
        let (mut bundles, mut points) = (0, 0);
        for (number, part) in parts[..*used].iter().enumerate() {
            let chunk = |groups: Range<usize>| {
                let record =
                    |i: usize| part.groups.get(i).map_or(part.points, |g| g.start as usize);
                Chunk {
                    part: number,
                    bundles: bundles + groups.start..bundles + groups.end,
                    points: points + record(groups.start)..points + record(groups.end),
                    groups,
                }
            };
            if number + 1 < *used {
                inside.push(chunk(0..part.groups.len()));
            } else {
                let mut start = 0;
                for (color, &end) in part.ends.iter().enumerate() {
                    let size = if color == COLORS { end - start } else { CHUNK };
                    let first = between.len() as u32;
                    let starts = (start..end).step_by(size.max(1));
                    between.extend(starts.map(|start| chunk(start..(start + size).min(end))));
                    if start < end {
                        colors.push(first..between.len() as u32);
                    }
                    start = end;
                }
            }
            bundles += part.groups.len();
            points += part.points;
        }
        (self.bundles, self.points) = (bundles, points);
    }
}

impl Part {
    /// Orders contacts within a block whose bodies have these lines.
    fn order_inside(&mut self, entries: &[Entry], contacts: &[u32], lines: Range<usize>) {
        self.color(entries, contacts, &lines);
        self.sort(entries, contacts, |e, color| (COLORS + 1) * (4 - points_of(e)) + color);
        self.behind.clear();
        self.behind.resize(lines.len(), 0);
        self.groups.clear();
        self.fill(entries, lines.start);
        self.points = 0;
        for group in &mut self.groups {
            group.start = self.points as u32;
            self.points += usize::from(group.count);
        }
    }

    /// Orders contacts between blocks.
    fn order_between(&mut self, entries: &[Entry], contacts: &[u32], lines: usize) {
        self.color(entries, contacts, &(0..lines));
        let starts = self.sort(entries, contacts, |e, color| 4 * color + 4 - points_of(e));
        self.groups.clear();
        self.ends.clear();
        self.points = 0;
        for color in 0..=COLORS {
            let own = starts[4 * color]..starts[4 * color + 4];
            for lanes in self.sorted[own].chunks(if color == COLORS { 1 } else { LANES }) {
                let mut group = Group {
                    lanes: [NONE; LANES],
                    start: self.points as u32,
                    // by number of points, most first
                    count: entries[lanes[0] as usize].count,
                };
                group.lanes[..lanes.len()].copy_from_slice(lanes);
                self.points += usize::from(group.count);
                self.groups.push(group);
            }
            self.ends.push(self.groups.len());
        }
    }

    /// Gives each contact the first colour that its bodies do not have yet.
    fn color(&mut self, entries: &[Entry], contacts: &[u32], lines: &Range<usize>) {
        self.taken.clear();
        self.taken.resize(lines.len(), 0);
        self.colors.clear();
        for &i in contacts {
            let movers = || movers(&entries[i as usize]).map(|line| line as usize - lines.start);
            let taken = movers().fold(0, |taken, line| taken | self.taken[line]);
            let color = (!taken).trailing_zeros() as u8;
            self.colors.push(color);
            let bit = if usize::from(color) < COLORS { 1 << color } else { 0 };
            movers().for_each(|line| self.taken[line] |= bit);
        }
    }

    /// Sorts contacts by places; returns where each of these starts, and the end.
    fn sort(
        &mut self,
        entries: &[Entry],
        contacts: &[u32],
        place: impl Fn(&Entry, usize) -> usize,
    ) -> [usize; PLACES + 1] {
        let place = |i: u32, color: u8| place(&entries[i as usize], usize::from(color));
        let mut starts = [0; PLACES + 1];
        for (&i, &color) in contacts.iter().zip(&self.colors) {
            starts[place(i, color) + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts;
        self.sorted.resize(contacts.len(), 0);
        for (&i, &color) in contacts.iter().zip(&self.colors) {
            let at = &mut next[place(i, color)];
            self.sorted[*at] = i;
            *at += 1;
        }
        starts
    }

    /// Makes groups of the sorted contacts of a block, whose first line this is.
    fn fill(&mut self, entries: &[Entry], line: usize) {
        // those that are not full are bits, from number `base` on
        let (mut base, mut open) = (0, 0_u64);
        for &i in &self.sorted {
            let entry = &entries[i as usize];
            let movers = || movers(entry).map(|mover| mover as usize - line);
            let behind = movers().map(|mover| self.behind[mover] as usize).max();
            let from = behind.unwrap_or(0).saturating_sub(base);
            let fit = if from < OPEN { open & (u64::MAX << from) } else { 0 };
            let number = if fit == 0 {
                let new = self.groups.len();
                if new >= base + OPEN {
                    (base, open) = (base + 1, open >> 1);
                }
                open |= 1 << (new - base);
                self.groups.push(Group { lanes: [NONE; LANES], start: 0, count: entry.count });
                new
            } else {
                base + fit.trailing_zeros() as usize
            };
            let lanes = &mut self.groups[number].lanes;
            let used = lanes.iter().take_while(|&&lane| lane != NONE).count();
            lanes[used] = i;
            if used + 1 == LANES {
                open &= !(1 << (number - base));
            }
            movers().for_each(|mover| self.behind[mover] = number as u32 + 1);
        }
    }
}

/// Lines of the bodies that a contact moves.
fn movers(entry: &Entry) -> impl Iterator<Item = u32> {
    (0..2).filter(|&side| entry.moves[side]).map(|side| entry.body[side])
}

fn points_of(entry: &Entry) -> usize {
    usize::from(entry.count.clamp(1, 4))
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
                    part: if same { y / rows } else { blocks },
                });
            };
            add(x + 1, y, 4);
            add(x, y + 1, 2 + (x % 2) as u8);
        }
        let bodies = (side * side) as usize;
        let block = |i: usize| 1 + i * (rows * side) as usize..1 + (i + 1) * (rows * side) as usize;
        order.build(1 + bodies, blocks as usize, block);
        order
    }

    #[test]
    fn every_contact_lies_in_one_lane_and_no_bundle_has_a_body_twice() {
        let order = grid(40, 8);
        let mut seen = vec![0; order.entries.len()];
        for group in order.all_groups() {
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
            let first = order.groups(&order.inside[0]);
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
        company.build(2_000, 1, |_| 1..2_000);
        (1..=400).for_each(|body| assert_eq!(of(&alone, body), of(&company, body)));
    }
}
