//! Which boxes a short path may meet: a grid of equal cells with the boxes that reach into each.
//!
//! Built anew in every step by counting, in memory that is kept. Boxes that would fill a large part
//! of the grid, and those without end, are listed apart and tried for every path.

use crate::math::Vec3;

/// A box in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub lo: Vec3,
    pub hi: Vec3,
}

impl Bounds {
    /// Around two points, and `margin` more.
    pub fn around(a: Vec3, b: Vec3, margin: f64) -> Bounds {
        let margin = Vec3::splat(margin);
        Bounds { lo: a.min(b) - margin, hi: a.max(b) + margin }
    }

    pub fn meets(&self, other: &Bounds) -> bool {
        self.lo.cmple(other.hi).all() && other.lo.cmple(self.hi).all()
    }
}

/// Most cells.
const CELLS_MAX: f64 = 262_144.0;
/// Most cells that one box may be listed in.
const SPREAD_MAX: usize = 512;

/// The grid.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    origin: Vec3,
    end: Vec3,
    /// Cells per metre.
    scale: Vec3,
    counts: [usize; 3],
    /// Where the list of each cell starts in `items`; one more than cells.
    starts: Vec<u32>,
    items: Vec<u32>,
    /// Boxes tried for every path.
    wide: Vec<u32>,
}

impl Grid {
    /// Sorts in `boxes`; those with a corner that is not finite are tried for every path, those with
    /// `lo > hi` never.
    pub fn build(&mut self, boxes: &[Bounds]) {
        self.wide.clear();
        self.starts.clear();
        self.items.clear();
        self.lay_out(boxes);
        let cells = self.counts.iter().product::<usize>();
        self.starts.resize(cells + 1, 0);
        // count, add up, fill in backwards: the lists come out in order of the boxes
        for (index, bounds) in boxes.iter().enumerate().filter(|(_, b)| real(b)) {
            match self.home(bounds) {
                Some(span) => self.each_cell(span, |starts, cell| starts[cell] += 1),
                None => self.wide.push(index as u32),
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.items.resize(sum as usize, 0);
        let mut items = std::mem::take(&mut self.items);
        for (index, bounds) in boxes.iter().enumerate().rev().filter(|(_, b)| real(b)) {
            if let Some(span) = self.home(bounds) {
                self.each_cell(span, |starts, cell| {
                    starts[cell] -= 1;
                    items[starts[cell] as usize] = index as u32;
                });
            }
        }
        self.items = items;
    }

    /// Cells of about the size of a usual box, over all boxes that are not much larger.
    fn lay_out(&mut self, boxes: &[Bounds]) {
        let size = |b: &Bounds| (b.hi - b.lo).max_element();
        let (mut sum, mut count) = (0.0, 0.0);
        for bounds in boxes.iter().filter(|b| real(b) && finite(b)) {
            // the harmonic mean: a floor among crates must not make cells of its own size
            sum += 1.0 / size(bounds).max(1e-9);
            count += 1.0;
        }
        self.counts = [0; 3];
        if count == 0.0 {
            return;
        }
        let usual = count / sum;
        let far = Vec3::splat(f64::INFINITY);
        let (mut lo, mut hi) = (far, -far);
        for bounds in boxes.iter().filter(|b| real(b) && finite(b) && size(b) <= 16.0 * usual) {
            lo = lo.min(bounds.lo);
            hi = hi.max(bounds.hi);
        }
        let extent = (hi - lo).max(Vec3::splat(1e-9));
        let mut cell = usual;
        let cells = |cell: f64| (extent / cell).ceil().max(Vec3::ONE);
        while cells(cell).element_product() > CELLS_MAX {
            cell *= 1.26;
        }
        let counts = cells(cell);
        (self.origin, self.end) = (lo, hi);
        self.scale = counts / extent;
        self.counts = [counts.x as usize, counts.y as usize, counts.z as usize];
    }

    /// The cells that list a box; none where it is listed apart.
    fn home(&self, bounds: &Bounds) -> Option<[[usize; 3]; 2]> {
        let inside = bounds.lo.cmpge(self.origin).all() && bounds.hi.cmple(self.end).all();
        if !inside {
            return None;
        }
        self.span(bounds).filter(|span| cells_in(span) <= SPREAD_MAX)
    }

    /// Cells from and to which a finite box reaches; none where it lies beside the grid.
    #[inline]
    fn span(&self, bounds: &Bounds) -> Option<[[usize; 3]; 2]> {
        if self.counts[0] == 0 {
            return None;
        }
        let lo = (bounds.lo - self.origin) * self.scale;
        let hi = (bounds.hi - self.origin) * self.scale;
        let mut span = [[0; 3]; 2];
        for k in 0..3 {
            let count = self.counts[k] as f64;
            // boxes end where the grid does, so both ends belong to it
            if hi[k] < 0.0 || lo[k] > count {
                return None;
            }
            // small integers convert faster
            let cell = |x: f64| x.clamp(0.0, count - 1.0) as i32 as usize;
            span[0][k] = cell(lo[k]);
            span[1][k] = cell(hi[k]);
        }
        Some(span)
    }

    fn each_cell(&mut self, [lo, hi]: [[usize; 3]; 2], mut work: impl FnMut(&mut [u32], usize)) {
        for z in lo[2]..=hi[2] {
            for y in lo[1]..=hi[1] {
                for x in lo[0]..=hi[0] {
                    work(&mut self.starts, (z * self.counts[1] + y) * self.counts[0] + x);
                }
            }
        }
    }

    /// Whether there is a box of `boxes`, as they were sorted in, that meets `path`.
    #[inline]
    pub fn any(&self, boxes: &[Bounds], path: &Bounds) -> bool {
        let meets = |index: &u32| boxes[*index as usize].meets(path);
        if self.wide.iter().any(meets) {
            return true;
        }
        let Some([lo, hi]) = self.span(path) else { return false };
        for z in lo[2]..=hi[2] {
            for y in lo[1]..=hi[1] {
                let row = (z * self.counts[1] + y) * self.counts[0];
                let items = self.starts[row + lo[0]]..self.starts[row + hi[0] + 1];
                if self.items[items.start as usize..items.end as usize].iter().any(meets) {
                    return true;
                }
            }
        }
        false
    }

    /// Calls `work` with every box of `boxes`, as they were sorted in, that meets `path`: each once
    /// or more, in an order that follows from the path alone.
    #[inline]
    pub fn near(&self, boxes: &[Bounds], path: &Bounds, mut work: impl FnMut(u32)) {
        for &index in &self.wide {
            if boxes[index as usize].meets(path) {
                work(index);
            }
        }
        let Some([lo, hi]) = self.span(path) else { return };
        for z in lo[2]..=hi[2] {
            for y in lo[1]..=hi[1] {
                let row = (z * self.counts[1] + y) * self.counts[0];
                // cells of a row lie side by side, and so do their lists
                let items = self.starts[row + lo[0]]..self.starts[row + hi[0] + 1];
                for &index in &self.items[items.start as usize..items.end as usize] {
                    if boxes[index as usize].meets(path) {
                        work(index);
                    }
                }
            }
        }
    }
}

fn real(bounds: &Bounds) -> bool {
    bounds.lo.cmple(bounds.hi).all()
}

fn finite(bounds: &Bounds) -> bool {
    bounds.lo.is_finite() && bounds.hi.is_finite()
}

fn cells_in([lo, hi]: &[[usize; 3]; 2]) -> usize {
    (0..3).map(|k| hi[k] - lo[k] + 1).product()
}
