//! Bodies of a pile in blocks of neighbours: what lies within a block stays in a core's cache through a
//! whole substep, and no thread waits for another meanwhile.
//!
//! A large island is cut along a curve that fills the plane of its two longest sides (Hilbert's), so that
//! stacks, which rarely stand along the longest, stay in one piece. Small islands share blocks as they come.

use crate::math::Vec3;
use std::ops::Range;

/// Bodies from which a block of a large island is full.
const BODIES: usize = 192;
/// Contacts from which an island is cut.
const LARGE: usize = 800;
/// Contacts from which a block of small islands is full.
const CONTACTS: usize = 400;

/// The blocks of a pile.
#[derive(Debug, Default)]
pub struct Blocks {
    /// Where each begins among the bodies.
    starts: Vec<u32>,
    /// Contacts of the small islands in the last one; none where it takes no more.
    filling: usize,
    of_lines: Vec<u32>,
    cells: Vec<u32>,
    counts: Vec<u32>,
    sorted: Vec<u32>,
}

impl Blocks {
    /// Takes everything out.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.filling = 0;
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Bodies of a block, of `bodies` in all.
    pub fn range(&self, block: usize, bodies: usize) -> Range<usize> {
        let end = self.starts.get(block + 1).map_or(bodies, |&end| end as usize);
        self.starts[block] as usize..end
    }

    /// The block of each line, of which the first is the world's, of `bodies`.
    pub fn of_lines(&mut self, bodies: usize) -> &[u32] {
        self.of_lines.clear();
        self.of_lines.resize(1 + bodies, 0);
        for block in 0..self.len() {
            let Range { start, end } = self.range(block, bodies);
            self.of_lines[1 + start..1 + end].fill(block as u32);
        }
        &self.of_lines
    }

    /// Takes in an island that stays whole, behind `bodies` others.
    fn add_whole(&mut self, bodies: usize, contacts: usize) {
        if self.filling == 0 || self.filling >= CONTACTS {
            self.starts.push(bodies as u32);
            self.filling = 0;
        }
        self.filling += contacts;
    }

    /// Takes in an island with so many contacts behind `bodies` others. Returns the order in which its
    /// bodies are to come, none where they stay as they are.
    pub fn add(
        &mut self,
        bodies: usize,
        contacts: usize,
        count: usize,
        position: impl Fn(usize) -> Vec3,
    ) -> Option<&[u32]> {
        if contacts < LARGE {
            self.add_whole(bodies, contacts);
            return None;
        }
        self.filling = 0;
        let side = self.place(count, position);
        // sorted by cells
        self.counts.clear();
        self.counts.resize(side * side + 1, 0);
        self.cells.iter().for_each(|&cell| self.counts[cell as usize + 1] += 1);
        let mut block = 0;
        self.starts.push(bodies as u32);
        for cell in 0..side * side {
            block += self.counts[cell + 1] as usize;
            self.counts[cell + 1] += self.counts[cell];
            let after = self.counts[cell + 1] as usize;
            if block >= BODIES && after < count {
                self.starts.push((bodies + after) as u32);
                block = 0;
            }
        }
        self.sorted.resize(count, 0);
        for (body, &cell) in self.cells.iter().enumerate() {
            let at = &mut self.counts[cell as usize];
            self.sorted[*at as usize] = body as u32;
            *at += 1;
        }
        Some(&self.sorted)
    }

    /// Finds the cell of each body along the curve; returns the cells in a row.
    fn place(&mut self, count: usize, position: impl Fn(usize) -> Vec3) -> usize {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for body in 0..count {
            let at = position(body);
            (low, high) = (low.min(at), high.max(at));
        }
        let extent = high - low;
        let mut axes = [0, 1, 2];
        // the longest first; of equals the first
        axes.sort_by(|&a, &b| extent[b].total_cmp(&extent[a]));
        let bits = (count / 8).max(4).ilog2().div_ceil(2).min(8);
        let side = 1_usize << bits;
        let scale = side as f64 / extent[axes[0]].max(f64::MIN_POSITIVE);
        self.cells.clear();
        self.cells.extend((0..count).map(|body| {
            let at = scale * (position(body) - low);
            let [x, y] = [at[axes[0]], at[axes[1]]].map(|x| (x as usize).min(side - 1) as u32);
            along_curve(side as u32, x, y)
        }));
        side
    }
}

/// Number of the cell (x, y) along Hilbert's curve through a square of `side`² cells, a power of two.
fn along_curve(side: u32, mut x: u32, mut y: u32) -> u32 {
    let (mut s, mut out) = (side / 2, 0);
    while s > 0 {
        let (right, upper) = (x & s > 0, y & s > 0);
        out += s * s * ((3 * u32::from(right)) ^ u32::from(upper));
        // the quarter as the whole lies
        if !upper {
            if right {
                (x, y) = (side - 1 - x, side - 1 - y);
            }
            std::mem::swap(&mut x, &mut y);
        }
        s /= 2;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_through_every_cell_from_neighbour_to_neighbour() {
        let side = 16;
        let mut cells = vec![None; (side * side) as usize];
        for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
            let cell = &mut cells[along_curve(side, x, y) as usize];
            assert!(cell.is_none(), "two cells in one place");
            *cell = Some((x, y));
        }
        for pair in cells.windows(2) {
            let [(x, y), (u, v)] = [pair[0].unwrap(), pair[1].unwrap()];
            assert_eq!(x.abs_diff(u) + y.abs_diff(v), 1);
        }
    }

    #[test]
    fn a_heap_is_cut_into_compact_blocks_that_hold_every_body_once() {
        // columns of five on a square
        let at = |i: usize| Vec3::new((i / 5 % 30) as f64, (i % 5) as f64, (i / 150) as f64);
        let (mut blocks, count) = (Blocks::default(), 4_500);
        let order = blocks.add(7, 10_000, count, at).unwrap().to_vec();
        let mut seen = order.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(i, &body)| i == body as usize));
        assert!(blocks.len() > 10);
        for block in 0..blocks.len() {
            let bodies = blocks.range(block, 7 + count);
            let bodies = &order[bodies.start - 7..bodies.end - 7];
            assert!(bodies.len() < 2 * BODIES);
            let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            for &body in bodies {
                (low, high) = (low.min(at(body as usize)), high.max(at(body as usize)));
                // columns stay whole
                let column = 5 * (body / 5)..5 * (body / 5) + 5;
                assert!(column.into_iter().all(|other| bodies.contains(&other)));
            }
            assert!((high - low).length() < 18.0, "{low} to {high}");
        }
    }

    #[test]
    fn small_islands_share_blocks() {
        let mut blocks = Blocks::default();
        for island in 0..100 {
            assert!(blocks.add(10 * island, 30, 10, |_| Vec3::ZERO).is_none());
        }
        assert!((2..20).contains(&blocks.len()));
        let all: usize = (0..blocks.len()).map(|block| blocks.range(block, 1_000).len()).sum();
        assert_eq!(all, 1_000);
    }
}
