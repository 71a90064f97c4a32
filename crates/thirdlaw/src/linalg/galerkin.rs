//! The matrix of a coarse level, Pᵀ A P, with a pattern that is fixed beforehand.
//!
//! P acts on every coordinate alike, so the blocks of A are only scaled and added. It is done in two
//! steps, AP and Pᵀ(AP), each by rows in parallel; where each term goes is laid down when the mesh is
//! built, so that the steps only stream through memory.

use super::block::{Block, Pattern, Scalar, matrix};
use super::filter::Filter;
use super::hierarchy::Weights;
use crate::math::Mat3;
use crate::parallel::loops::{Ragged, each};

/// Where the terms of AP and Pᵀ(AP) go.
#[derive(Clone, Debug, Default)]
pub struct Galerkin {
    /// Where each row of AP begins.
    product_start: Vec<u32>,
    /// For every block of A in order, and every weight of its column: place in the row of AP.
    product_place: Vec<u16>,
    /// Where the places of a fine row begin.
    place_start: Vec<u32>,
    /// For every weight of a coarse row in order, and every block of that row of AP: place in the
    /// coarse row.
    coarse_place: Vec<u16>,
    /// Where the places of a coarse row begin.
    coarse_place_start: Vec<u32>,
    /// Where in a row of AP its own coarse nodes are, for each weight of the row.
    own_place: Vec<u16>,
}

/// Held directions count with this part of the particle's own stiffness on the coarse level, so that
/// an aggregate of which everything is held still has an inverse.
const HELD_STIFFNESS: f64 = 1e-3;

impl Galerkin {
    /// Lays down Pᵀ A P for a matrix with blocks `fine`; the pattern of the result comes with it.
    pub fn new(fine: &Pattern, weights: &Weights, transposed: &Weights) -> (Galerkin, Pattern) {
        let mut out = Galerkin {
            product_start: vec![0],
            place_start: vec![0],
            coarse_place_start: vec![0],
            ..Galerkin::default()
        };
        let mut product_column: Vec<u32> = Vec::new();
        let mut columns: Vec<u32> = Vec::new();
        let place = |columns: &[u32], c: u32| columns.binary_search(&c).unwrap_or(0) as u16;
        for i in 0..fine.rows() {
            let row = &fine.column[fine.range(i)];
            columns.clear();
            columns.extend(row.iter().flat_map(|&j| weights.row(j as usize).iter().map(|w| w.0)));
            columns.sort_unstable();
            columns.dedup();
            for &j in row {
                let places = weights.row(j as usize).iter().map(|w| place(&columns, w.0));
                out.product_place.extend(places);
            }
            out.own_place.extend(weights.row(i).iter().map(|w| place(&columns, w.0)));
            out.place_start.push(out.product_place.len() as u32);
            product_column.extend_from_slice(&columns);
            out.product_start.push(product_column.len() as u32);
        }
        let product_row = |i: usize, start: &[u32]| start[i] as usize..start[i + 1] as usize;
        let pattern = Pattern::new(transposed.rows(), |c, columns| {
            for &(i, _) in transposed.row(c) {
                let range = product_row(i as usize, &out.product_start);
                columns.extend_from_slice(&product_column[range]);
            }
        });
        for c in 0..transposed.rows() {
            let columns = &pattern.column[pattern.range(c)];
            for &(i, _) in transposed.row(c) {
                let range = product_row(i as usize, &out.product_start);
                out.coarse_place.extend(product_column[range].iter().map(|&d| place(columns, d)));
            }
            out.coarse_place_start.push(out.coarse_place.len() as u32);
        }
        (out, pattern)
    }

    /// Number of blocks of AP.
    pub fn product_len(&self) -> usize {
        self.product_start.last().map_or(0, |&n| n as usize)
    }

    /// AP, of S A S + (I − S) where there is a filter.
    pub fn product<T: Scalar>(
        &self,
        fine: &Pattern,
        blocks: &[Block<T>],
        weights: &Weights,
        filter: Option<&Filter<T>>,
        product: &mut [Block<T>],
    ) {
        let parts = Ragged { items: product, starts: &self.product_start };
        each(fine.rows(), parts, &|rows, parts: Ragged<Block<T>>| {
            let mut rest = parts.items;
            for i in rows {
                let count = (self.product_start[i + 1] - self.product_start[i]) as usize;
                let (out, others) = rest.split_at_mut(count);
                rest = others;
                self.product_row(fine, blocks, weights, filter, i, out);
            }
        });
    }

    #[inline(always)]
    fn product_row<T: Scalar>(
        &self,
        fine: &Pattern,
        blocks: &[Block<T>],
        weights: &Weights,
        filter: Option<&Filter<T>>,
        i: usize,
        out: &mut [Block<T>],
    ) {
        out.fill(Block::default());
        let mut places = self.place_start[i] as usize;
        for at in fine.range(i) {
            let j = fine.column[at] as usize;
            let row = weights.row(j);
            let held = filter.and_then(|f| f.held(j).map(|k| &f.free[k]));
            let block = match held {
                Some(free) => times(&blocks[at], free),
                None => blocks[at],
            };
            for (&(_, w), &place) in row.iter().zip(&self.product_place[places..]) {
                add_scaled(&mut out[place as usize], &block, w);
            }
            places += row.len();
        }
        let Some((filter, hold)) = filter.and_then(|f| f.held(i).map(|k| (f, k))) else { return };
        for block in &mut *out {
            *block = times(&filter.free[hold], block);
        }
        let own = matrix(&blocks[fine.diagonal[i] as usize]);
        let scale = HELD_STIFFNESS * (own.x_axis.x + own.y_axis.y + own.z_axis.z) / 3.0;
        let held: Mat3 = filter.holds[hold].held() * scale;
        let first = weights.start[i] as usize;
        for (k, &(_, w)) in weights.row(i).iter().enumerate() {
            let block = &mut out[self.own_place[first + k] as usize];
            add_scaled(block, &super::block::block_of(&held), w);
        }
    }

    /// Pᵀ(AP).
    pub fn coarse<T: Scalar>(
        &self,
        coarse: &Pattern,
        transposed: &Weights,
        product: &[Block<T>],
        out: &mut [Block<T>],
    ) {
        let parts = Ragged { items: out, starts: &coarse.row_start };
        each(coarse.rows(), parts, &|rows, parts: Ragged<Block<T>>| {
            let mut rest = parts.items;
            for c in rows {
                let (row, others) = rest.split_at_mut(coarse.range(c).len());
                rest = others;
                row.fill(Block::default());
                let mut places = self.coarse_place_start[c] as usize;
                for &(i, w) in transposed.row(c) {
                    let i = i as usize;
                    let range = self.product_start[i] as usize..self.product_start[i + 1] as usize;
                    let count = range.len();
                    for (block, &place) in product[range].iter().zip(&self.coarse_place[places..]) {
                        add_scaled(&mut row[place as usize], block, w);
                    }
                    places += count;
                }
            }
        });
    }
}

#[inline(always)]
fn add_scaled<T: Scalar>(out: &mut Block<T>, block: &Block<T>, w: f32) {
    let w = T::of(f64::from(w));
    for (out, column) in out.iter_mut().zip(block) {
        for k in 0..4 {
            out[k] += w * column[k];
        }
    }
}

/// a · b.
#[inline(always)]
fn times<T: Scalar>(a: &Block<T>, b: &Block<T>) -> Block<T> {
    let mut out = Block::default();
    for (out, column) in out.iter_mut().zip(b) {
        super::block::multiply_add(out, a, column);
    }
    out
}
