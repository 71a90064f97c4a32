//! Parts of cloth that cannot touch themselves: where cloth is smooth, nothing needs to be looked for.
//!
//! Over a convex part of the rest plane let x be the positions as a function of the rest coordinates,
//! and F = [∂x/∂u ∂x/∂v], constant in each triangle. If for one pair Q of orthonormal vectors the
//! symmetric part of QᵀF has no eigenvalue below l > 0 in any triangle, then along the straight line
//! at rest between two points d·Qᵀ(x_b − x_a) ≥ l |d|²: the two points are no nearer than l times
//! their distance at rest. Where particles go straight, F is linear in time, and matrices with that
//! bound are a convex set: if it holds at the beginning and at the end, it holds all the way.
//!
//! So the rest plane of each piece is covered with overlapping rectangles in several sizes, and the
//! largest that pass are left out of the search. Pieces that are not flat at rest have none.

use crate::math::Vec3;
use crate::parallel::pool::prelude::*;

/// A rectangle in the rest plane of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    lo: [f64; 2],
    hi: [f64; 2],
    piece: u32,
}

/// The piece of a region that is in no rest plane, or in several.
const NO_PIECE: u32 = u32::MAX;

impl Region {
    pub const NOWHERE: Region = Region { lo: [0.0; 2], hi: [0.0; 2], piece: NO_PIECE };

    /// Holds both; nowhere unless both are of one piece.
    pub fn join(&self, other: &Region) -> Region {
        if self.piece != other.piece {
            return Region::NOWHERE;
        }
        Region {
            lo: std::array::from_fn(|k| self.lo[k].min(other.lo[k])),
            hi: std::array::from_fn(|k| self.hi[k].max(other.hi[k])),
            piece: self.piece,
        }
    }

    /// Whether `other` holds it.
    #[inline]
    pub fn within(&self, other: &Region) -> bool {
        self.piece == other.piece
            && other.lo[0] <= self.lo[0]
            && other.lo[1] <= self.lo[1]
            && self.hi[0] <= other.hi[0]
            && self.hi[1] <= other.hi[1]
    }
}

/// A rectangle with the triangles that cover it.
#[derive(Clone, Debug)]
struct Cell {
    rect: Region,
    /// Where its triangles are; none where they leave a part of it uncovered.
    cover: std::ops::Range<usize>,
}

/// Cells of one size over a piece, in rows.
#[derive(Clone, Debug)]
struct Grid {
    size: f64,
    across: usize,
    first: usize,
}

/// The cells of a piece.
#[derive(Clone, Debug)]
struct Chart {
    origin: [f64; 2],
    /// Largest first, each of half the size of the one before.
    grids: Vec<Grid>,
}

/// All cells of all pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    /// By piece; none where it is not flat at rest.
    charts: Vec<Option<Chart>>,
    cells: Vec<Cell>,
    cover: Vec<u32>,
    /// ∂/∂u and ∂/∂v of each triangle: weights of its corners.
    slopes: Vec<[[f64; 3]; 2]>,
    /// Place of each particle in the rest plane of its piece.
    flat: Vec<[f64; 2]>,
    /// F of each triangle at the beginning and, where things move, at the end.
    begin: Vec<[Vec3; 2]>,
    end: Vec<[Vec3; 2]>,
    proven: Vec<bool>,
}

/// Side of the smallest cells, and how far they overlap, in mean edges.
const CELL: f64 = 3.0;
const OVERLAP: f64 = 2.0;

impl Patches {
    /// For triangles at rest at `rest`; `piece` numbers the piece of each particle.
    pub fn new(rest: &[Vec3], triangles: &[[u32; 3]], piece: &[u32]) -> Patches {
        let pieces = piece.iter().max().map_or(0, |&p| p as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); pieces];
        for (t, corners) in triangles.iter().enumerate() {
            if let Some(&p) = piece.get(corners[0] as usize) {
                members[p as usize].push(t as u32);
            }
        }
        let mut out = Patches {
            flat: rest.iter().map(|x| [x.x, x.z]).collect(),
            slopes: vec![[[0.0; 3]; 2]; triangles.len()],
            ..Patches::default()
        };
        for (number, members) in members.iter().enumerate() {
            let chart = out.chart(rest, triangles, members, number as u32);
            out.charts.push(chart);
        }
        out.proven = vec![false; out.cells.len()];
        out.begin = vec![[Vec3::ZERO; 2]; triangles.len()];
        out.end = out.begin.clone();
        out
    }

    fn chart(
        &mut self,
        rest: &[Vec3],
        triangles: &[[u32; 3]],
        members: &[u32],
        piece: u32,
    ) -> Option<Chart> {
        let corners = |t: u32| triangles[t as usize].map(|i| self.flat[i as usize]);
        let height = rest[triangles[*members.first()? as usize][0] as usize].y;
        let (mut lo, mut hi) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        let mut edges = 0.0;
        for &t in members {
            let flat = triangles[t as usize].iter().all(|&i| rest[i as usize].y == height);
            let area = area(&corners(t));
            if !flat || area == 0.0 || !area.is_finite() {
                return None;
            }
            for [u, v] in corners(t) {
                lo = [lo[0].min(u), lo[1].min(v)];
                hi = [hi[0].max(u), hi[1].max(v)];
            }
            edges += (2.0 * area.abs()).sqrt();
        }
        for &t in members {
            self.slopes[t as usize] = slopes(&corners(t));
        }
        let edge = edges / members.len() as f64;
        let longest = (hi[0] - lo[0]).max(hi[1] - lo[1]);
        let mut size = CELL * edge;
        // rounding alone must not ask for cells twice as large
        while size < 0.999 * longest {
            size *= 2.0;
        }
        let mut grids = Vec::new();
        while size > 0.9 * CELL * edge {
            let count = |k: usize| ((hi[k] - lo[k]) / size - 1e-3).ceil().max(1.0) as usize;
            let grid = Grid { size, across: count(0), first: self.cells.len() };
            self.lay(&grid, count(1), (lo, hi), OVERLAP * edge, triangles, members, piece);
            grids.push(grid);
            size *= 0.5;
        }
        Some(Chart { origin: lo, grids })
    }

    /// Adds the cells of a grid with their triangles.
    #[allow(clippy::too_many_arguments)]
    fn lay(
        &mut self,
        grid: &Grid,
        down: usize,
        (lo, hi): ([f64; 2], [f64; 2]),
        overlap: f64,
        triangles: &[[u32; 3]],
        members: &[u32],
        piece: u32,
    ) {
        let mut touched: Vec<Vec<u32>> = vec![Vec::new(); grid.across * down];
        let limits = [grid.across, down];
        for &t in members {
            let corners = triangles[t as usize].map(|i| self.flat[i as usize]);
            let span = |k: usize| {
                let at = corners.map(|c| c[k]);
                let from = at.iter().fold(f64::INFINITY, |m, x| m.min(*x)) - overlap;
                let to = at.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x)) + overlap;
                let cell = |x: f64| ((x - lo[k]) / grid.size).max(0.0) as usize;
                cell(from)..=cell(to).min(limits[k] - 1)
            };
            for j in span(1) {
                for i in span(0) {
                    touched[j * grid.across + i].push(t);
                }
            }
        }
        for (index, touched) in touched.iter().enumerate() {
            let at = [index % grid.across, index / grid.across].map(|i| i as f64);
            let rect = Region {
                lo: std::array::from_fn(|k| (lo[k] + at[k] * grid.size - overlap).max(lo[k])),
                hi: std::array::from_fn(|k| {
                    (lo[k] + (at[k] + 1.0) * grid.size + overlap).min(hi[k])
                }),
                piece,
            };
            let first = self.cover.len();
            let mut covered = 0.0;
            for &t in touched {
                let corners = triangles[t as usize].map(|i| self.flat[i as usize]);
                let part = clipped_area(&corners, &rect);
                if part > 0.0 {
                    covered += part;
                    self.cover.push(t);
                }
            }
            let whole = (rect.hi[0] - rect.lo[0]) * (rect.hi[1] - rect.lo[1]);
            if (covered - whole).abs() > 1e-9 * whole {
                self.cover.truncate(first);
            }
            self.cells.push(Cell { rect, cover: first..self.cover.len() });
        }
    }

    /// Where particles are in the rest plane.
    pub fn region(&self, particles: &[u32], piece: &[u32]) -> Region {
        particles
            .iter()
            .map(|&i| {
                let number = piece[i as usize];
                let chart = self.charts.get(number as usize).and_then(Option::as_ref);
                let flat = self.flat[i as usize];
                let piece = if chart.is_some() { number } else { NO_PIECE };
                Region { lo: flat, hi: flat, piece }
            })
            .reduce(|a, b| a.join(&b))
            .unwrap_or(Region::NOWHERE)
    }

    /// Finds the cells of which no two points come nearer than `least` times their distance at rest
    /// where particles are at `x0`, or on straight ways from there to `x1`.
    pub fn prove(&mut self, triangles: &[[u32; 3]], x0: &[Vec3], x1: Option<&[Vec3]>, least: f64) {
        if self.cells.is_empty() {
            return;
        }
        frames(&self.slopes, triangles, x0, &mut self.begin);
        if let Some(x1) = x1 {
            frames(&self.slopes, triangles, x1, &mut self.end);
        }
        let all = (&self.begin[..], x1.map(|_| &self.end[..]));
        let (cells, cover) = (&self.cells, &self.cover);
        for chart in self.charts.iter().flatten() {
            for (k, grid) in chart.grids.iter().enumerate() {
                let end = chart
                    .grids
                    .get(k + 1)
                    .map_or_else(|| grid.first + cells_of_last(cells, grid), |next| next.first);
                let (above, here) = self.proven.split_at_mut(grid.first);
                let here = &mut here[..end - grid.first];
                here.par_iter_mut().enumerate().with_min_len(4).for_each(|(index, proven)| {
                    let parent = k.checked_sub(1).map(|k| {
                        let parent = &chart.grids[k];
                        let (i, j) = (index % grid.across / 2, index / grid.across / 2);
                        above[parent.first + j * parent.across + i]
                    });
                    // what a larger cell says need not be said again
                    *proven = parent != Some(true)
                        && holds(&cover[cells[grid.first + index].cover.clone()], all, least);
                });
            }
        }
    }

    /// Whether all cells that were proven keep `least` of their distances on the way to `x1` as well.
    pub fn still_hold(&mut self, triangles: &[[u32; 3]], x1: &[Vec3], least: f64) -> bool {
        if self.cells.is_empty() {
            return true;
        }
        frames(&self.slopes, triangles, x1, &mut self.end);
        let (cover, all) = (&self.cover, (&self.begin[..], Some(&self.end[..])));
        let proven = self.cells.par_iter().zip(&self.proven).with_min_len(4);
        proven.all(|(cell, &proven)| !proven || holds(&cover[cell.cover.clone()], all, least))
    }

    /// The largest proven cell that holds `region`.
    pub fn around(&self, region: &Region) -> Option<&Region> {
        let chart = self.charts.get(region.piece as usize)?.as_ref()?;
        let middle = [0, 1].map(|k| 0.5 * (region.lo[k] + region.hi[k]) - chart.origin[k]);
        for (k, grid) in chart.grids.iter().enumerate() {
            let [i, j] = middle.map(|x| (x / grid.size).max(0.0) as usize);
            let index = grid.first + j * grid.across + i.min(grid.across - 1);
            let end = chart.grids.get(k + 1).map_or(self.cells.len(), |next| next.first);
            if index < end && self.proven[index] && region.within(&self.cells[index].rect) {
                return Some(&self.cells[index].rect);
            }
        }
        None
    }
}

/// Number of cells of the last grid of a piece, which end where another piece begins.
fn cells_of_last(cells: &[Cell], grid: &Grid) -> usize {
    let piece = cells[grid.first].rect.piece;
    cells[grid.first..].iter().take_while(|c| c.rect.piece == piece).count()
}

/// F of every triangle at `x`.
fn frames(slopes: &[[[f64; 3]; 2]], triangles: &[[u32; 3]], x: &[Vec3], out: &mut [[Vec3; 2]]) {
    out.par_iter_mut().enumerate().with_min_len(512).for_each(|(t, frame)| {
        let corner = |k: usize| x.get(triangles[t][k] as usize).copied();
        *frame = match (corner(0), corner(1), corner(2)) {
            (Some(a), Some(b), Some(c)) => {
                slopes[t].map(|slope| a * slope[0] + b * slope[1] + c * slope[2])
            }
            _ => [Vec3::ZERO; 2],
        };
    });
}

/// F of every triangle at the beginning, and at the end where that is another place.
type Frames<'a> = (&'a [[Vec3; 2]], Option<&'a [[Vec3; 2]]>);

/// Whether one Q does for all of these triangles.
fn holds(cover: &[u32], (begin, end): Frames, least: f64) -> bool {
    if cover.is_empty() {
        return false;
    }
    let (mut u, mut v) = (Vec3::ZERO, Vec3::ZERO);
    for &t in cover.iter().step_by(1 + cover.len() / 32) {
        for frames in [Some(begin), end].into_iter().flatten() {
            u += frames[t as usize][0];
            v += frames[t as usize][1];
        }
    }
    let (u, v) = (u.normalize_or_zero(), v.normalize_or_zero());
    // the sum and the difference of unit vectors are square to each other
    let (sum, difference) = ((u + v).normalize_or_zero(), (u - v).normalize_or_zero());
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let (p, q) = ((sum + difference) * half, (sum - difference) * half);
    let keeps = |[u, v]: &[Vec3; 2]| {
        let (a, d) = (p.dot(*u) - least, q.dot(*v) - least);
        let b = 0.5 * (p.dot(*v) + q.dot(*u));
        a > 0.0 && d > 0.0 && a * d > b * b
    };
    cover
        .iter()
        .all(|&t| keeps(&begin[t as usize]) && end.is_none_or(|end| keeps(&end[t as usize])))
}

/// Twice the signed area.
fn area([a, b, c]: &[[f64; 2]; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Weights of the corners in ∂/∂u and ∂/∂v.
fn slopes(corners: &[[f64; 2]; 3]) -> [[f64; 3]; 2] {
    let [a, b, c] = corners;
    let inverse = 1.0 / area(corners);
    let u = [b[1] - c[1], c[1] - a[1], a[1] - b[1]];
    let v = [c[0] - b[0], a[0] - c[0], b[0] - a[0]];
    [u.map(|x| x * inverse), v.map(|x| x * inverse)]
}

/// Area of the part of a triangle inside a rectangle.
fn clipped_area(corners: &[[f64; 2]; 3], rect: &Region) -> f64 {
    let mut polygon: Vec<[f64; 2]> = corners.to_vec();
    for k in 0..2 {
        for (limit, sign) in [(rect.lo[k], 1.0), (rect.hi[k], -1.0)] {
            let mut inside = Vec::with_capacity(polygon.len() + 1);
            for (i, a) in polygon.iter().enumerate() {
                let b = &polygon[(i + 1) % polygon.len()];
                let (da, db) = (sign * (a[k] - limit), sign * (b[k] - limit));
                if da >= 0.0 {
                    inside.push(*a);
                }
                if (da > 0.0 && db < 0.0) || (da < 0.0 && db > 0.0) {
                    let s = da / (da - db);
                    inside.push([a[0] + (b[0] - a[0]) * s, a[1] + (b[1] - a[1]) * s]);
                }
            }
            polygon = inside;
        }
    }
    let fan = polygon.windows(2).skip(1);
    let twice: f64 = fan.map(|w| area(&[polygon[0], w[0], w[1]])).sum();
    0.5 * twice.abs()
}
