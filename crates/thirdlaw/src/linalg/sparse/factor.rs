//! The numbers of a sparse factor A = L D Lᵀ, panel by panel: a panel that is complete is factored, and
//! what its columns take from later ones is given to their panels at once.
//!
//! The matrix is quasi-definite: unknowns with a positive diagonal beside others with a negative one, so that
//! every order has all pivots (Vanderbei 1995). A pivot that rounding has used up carries nothing.

use super::kernel::{self, Pivots};
use super::plan::{Entry, Plan};
use crate::simd::f64x4::{LANES, Wide};

/// Part of a diagonal entry that must be left for a pivot.
const RANK: f64 = 1e-14;

/// The numbers of a factor, and memory to find them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    panels: Vec<Wide>,
    inverse: Vec<f64>,
    least: Vec<f64>,
    scaled: Vec<Wide>,
    square: Vec<Wide>,
    /// Unknowns of a panel, and the rows below.
    part: Vec<Wide>,
    /// Columns without a pivot.
    pub without: u32,
}

/// The numbers in registers.
fn flat(registers: &[Wide]) -> &[f64] {
    // SAFETY: a `Wide` is four numbers and nothing else
    unsafe { std::slice::from_raw_parts(registers.as_ptr().cast(), registers.len() * LANES) }
}

fn flat_mut(registers: &mut [Wide]) -> &mut [f64] {
    // SAFETY: as above
    unsafe {
        std::slice::from_raw_parts_mut(registers.as_mut_ptr().cast(), registers.len() * LANES)
    }
}

impl Numbers {
    /// Makes all entries zero.
    pub fn clear(&mut self, plan: &Plan) {
        self.panels.clear();
        self.panels.resize(plan.registers, Wide::default());
        self.inverse.resize(plan.unknowns, 0.0);
        self.least.resize(plan.unknowns, 0.0);
        self.scaled.resize(plan.largest[0], Wide::default());
        self.square.resize(plan.largest[1], Wide::default());
    }

    /// Adds to the entry at a row of the first block and a column of the second. Of a block with itself the
    /// lower half is read.
    #[inline]
    pub fn add(&mut self, entry: &Entry, row: usize, column: usize, x: f64) {
        let (row, column) = if entry.turned { (column, row) } else { (row, column) };
        let at = entry.at as usize + column * entry.stride as usize + row;
        self.panels[at / LANES].0[at % LANES] += x;
    }

    /// Factors what was added.
    pub fn factor(&mut self, plan: &Plan) {
        self.without = 0;
        for panel in &plan.panels {
            let shape = panel.shape();
            for k in 0..shape.columns {
                let diagonal = &self.panels[panel.start as usize + k * shape.stride + k / LANES];
                self.least[panel.first as usize + k] = RANK * diagonal.0[k % LANES];
            }
        }
        for panel in &plan.panels {
            let shape = panel.shape();
            let start = panel.start as usize;
            let (done, rest) = self.panels.split_at_mut(start + shape.columns * shape.stride);
            let numbers = &mut done[start..];
            let columns = panel.first as usize..(panel.first + panel.columns) as usize;
            let pivots =
                Pivots { least: &self.least[columns.clone()], inverse: &mut self.inverse[columns] };
            let scaled = &mut self.scaled[..shape.columns * shape.stride];
            self.without += kernel::factor_columns(numbers, scaled, shape, pivots);
            let below = shape.stride - shape.own;
            if below == 0 {
                continue;
            }
            let square = &mut self.square[..below * below * LANES];
            kernel::square_below(numbers, scaled, shape, square);
            let square = flat(square);
            let offset = done.len();
            for gift in &plan.gifts[panel.gifts.0 as usize..panel.gifts.1 as usize] {
                let target = &plan.panels[gift.to as usize];
                let stride = target.shape().stride * LANES;
                let into = flat_mut(&mut rest[target.start as usize - offset..]);
                let runs = &plan.runs[gift.runs.0 as usize..gift.runs.1 as usize];
                for column in gift.columns.0..gift.columns.1 {
                    let place = plan.rows[(panel.below.0 + column) as usize] - target.first;
                    let into = &mut into[place as usize * stride..][..stride];
                    let from = &square[column as usize * below * LANES..][..below * LANES];
                    for run in runs {
                        let skip = column.saturating_sub(run.from).min(run.length);
                        let length = (run.length - skip) as usize;
                        let into = &mut into[(run.to + skip) as usize..][..length];
                        let from = &from[(run.from + skip) as usize..][..length];
                        into.iter_mut().zip(from).for_each(|(x, y)| *x -= y);
                    }
                }
            }
        }
    }

    /// x ← L⁻¹x, in the order of the plan. Panels where all is zero are passed over; the others are
    /// noted.
    pub fn forward(&mut self, plan: &Plan, x: &mut [f64], touched: &mut Vec<u32>) {
        touched.clear();
        for (p, panel) in plan.panels.iter().enumerate() {
            let own = panel.first as usize..(panel.first + panel.columns) as usize;
            if x[own.clone()].iter().all(|&x| x == 0.0) {
                continue;
            }
            touched.push(p as u32);
            let shape = panel.shape();
            self.part.clear();
            self.part.resize(shape.stride, Wide::default());
            flat_mut(&mut self.part)[..shape.columns].copy_from_slice(&x[own.clone()]);
            let numbers = &self.panels[panel.start as usize..][..shape.columns * shape.stride];
            kernel::forward(numbers, shape, &mut self.part);
            let part = flat(&self.part);
            x[own].copy_from_slice(&part[..shape.columns]);
            let rows = &plan.rows[panel.below.0 as usize..panel.below.1 as usize];
            for (&row, y) in rows.iter().zip(&part[shape.own * LANES..]) {
                x[row as usize] += y;
            }
        }
    }

    /// D⁻¹ of an unknown, in the order of the plan.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// Solves for a right side, in the order of the plan.
    pub fn solve(&mut self, plan: &Plan, x: &mut [f64], touched: &mut Vec<u32>) {
        self.forward(plan, x, touched);
        x.iter_mut().zip(&self.inverse).for_each(|(x, inverse)| *x *= inverse);
        self.backward(plan, x);
    }

    /// x ← L⁻ᵀx, in the order of the plan.
    pub fn backward(&mut self, plan: &Plan, x: &mut [f64]) {
        for panel in plan.panels.iter().rev() {
            let own = panel.first as usize..(panel.first + panel.columns) as usize;
            let shape = panel.shape();
            self.part.clear();
            self.part.resize(shape.stride, Wide::default());
            let part = flat_mut(&mut self.part);
            part[..shape.columns].copy_from_slice(&x[own.clone()]);
            let rows = &plan.rows[panel.below.0 as usize..panel.below.1 as usize];
            for (&row, y) in rows.iter().zip(&mut part[shape.own * LANES..]) {
                *y = x[row as usize];
            }
            let numbers = &self.panels[panel.start as usize..][..shape.columns * shape.stride];
            kernel::backward(numbers, shape, &mut self.part);
            x[own].copy_from_slice(&flat(&self.part)[..shape.columns]);
        }
    }
}

impl Plan {
    /// Where the unknowns of a block are in a vector.
    pub fn unknowns(&self, block: u32) -> std::ops::Range<usize> {
        let start = self.place[block as usize] as usize;
        start..start + self.sizes()[block as usize] as usize
    }

    /// Unknowns in all.
    pub fn width(&self) -> usize {
        self.unknowns
    }

    /// Unknowns of a panel.
    pub fn panel_unknowns(&self, panel: u32) -> std::ops::Range<usize> {
        let panel = &self.panels[panel as usize];
        panel.first as usize..(panel.first + panel.columns) as usize
    }
}
