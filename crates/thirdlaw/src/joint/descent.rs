//! Which bounded rows are free and which at a bound, where guessing does not end: a descent that has an
//! answer for every input.
//!
//! Rows w = J v + b + Γ z with bounds l ≤ z ≤ u and v = v₀ + M⁻¹Jᵀz are the conditions of the least
//!
//!   φ(z) = ½ vᵀM v + ½ zᵀΓ z + bᵀz    in the box,    ∇φ = w,
//!
//! which is convex. Limits, drives with an effort and dry friction of a tree are such rows. A step is that
//! of Newton on the rows that are not held by their bound (z at the bound and w pointing out of the box),
//! bent along the box, and as long as φ descends enough (Bertsekas 1982, projected Newton). Many rows
//! change in one step, and since φ falls in every step none returns to where it was. What is left if
//! it ends early is in the box, and has not more energy than the rows were given.

use super::system::{Status, System};
use crate::math::Twist;

/// Steps at most, over those that twice the number of bounded rows would take.
const STEPS: usize = 40;
/// Halvings of a step at most.
const HALVINGS: usize = 40;
/// Part of the descent along the slope that a step must keep.
const ENOUGH: f64 = 1e-4;

/// Solves with rows that give way until what is left of their defects is rounding.
const TIDY: usize = 2;

/// Memory of a descent.
#[derive(Clone, Debug, Default)]
pub(super) struct Descent {
    /// Impulses and velocities that the solve began with, and those of the step.
    entry: (Vec<f64>, Vec<Twist>),
    from: (Vec<f64>, Vec<Twist>),
    /// w there, and the step of Newton.
    slopes: Vec<f64>,
    steps: Vec<f64>,
}

impl System {
    /// Remembers what a solve begins with.
    pub(super) fn keep_entry(&mut self, v: &[Twist]) {
        let (impulses, velocities) = &mut self.descent.entry;
        impulses.clear();
        impulses.extend(self.rows.iter().map(|row| row.impulse));
        velocities.clear();
        velocities.extend_from_slice(v);
    }

    /// Goes back to it.
    pub(super) fn return_to_entry(&mut self, v: &mut [Twist]) {
        let (impulses, velocities) = &self.descent.entry;
        v.copy_from_slice(velocities);
        for (row, &z) in self.rows.iter_mut().zip(impulses) {
            row.impulse = z;
        }
    }

    /// Solves from there. Says whether all bounds came to agree.
    pub(super) fn descend(&mut self, v: &mut [Twist]) -> bool {
        self.return_to_entry(v);
        let mut memory = std::mem::take(&mut self.descent);
        memory.slopes.resize(self.rows.len(), 0.0);
        self.settle_in_box(v);
        let bounded = self.rows.iter().filter(|row| row.is_bounded()).count();
        let mut agreed = false;
        for _ in 0..STEPS + 2 * bounded {
            self.release(v, &mut memory.slopes);
            self.assemble(false);
            // rows that say the same tear at each other until one of them is at its bound
            if self.factor.redundant > 0 {
                self.assemble(true);
            }
            self.newton_step(v, &mut memory.steps);
            memory.from.0.clear();
            memory.from.0.extend(self.rows.iter().map(|row| row.impulse));
            memory.from.1.clear();
            memory.from.1.extend_from_slice(v);
            let (found, bent) = self.search(v, &memory);
            // nothing was bent and nothing would be released: done
            agreed = found && !bent && !self.contradicts(v);
            if agreed || !found {
                break;
            }
        }
        if !agreed {
            // a step that was bent leaves rows at bounds that hold them
            self.release(v, &mut memory.slopes);
        }
        self.descent = memory;
        if agreed && self.factor.gives_way {
            (0..TIDY).for_each(|_| self.correct(v));
        }
        self.factored = false;
        agreed
    }

    /// Brings all impulses into the box.
    fn settle_in_box(&mut self, v: &mut [Twist]) {
        for l in 0..self.links.len() {
            let link = self.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = self.rows[r];
                if row.status == Status::Off {
                    continue;
                }
                let z = row.impulse.max(row.lower).min(row.upper);
                if z != row.impulse {
                    self.apply(&link, r, z - row.impulse, v);
                    self.rows[r].impulse = z;
                }
            }
        }
    }

    /// w of all rows; rows that are at a bound which does not hold them become free, the others bound.
    fn release(&mut self, v: &[Twist], slopes: &mut [f64]) {
        for l in 0..self.links.len() {
            let link = self.links[l];
            let first = link.row_start as usize;
            let own = &mut slopes[first..first + link.row_count as usize];
            for (r, slope) in (first..).zip(own) {
                let mut row = self.rows[r];
                if row.status == Status::Off {
                    continue;
                }
                let w = self.rate(&link, r, v) + row.bias + row.compliance * row.impulse;
                *slope = w;
                row.status = match () {
                    _ if row.lower >= row.upper => Status::Lower,
                    _ if row.impulse <= row.lower && w > -row.small() => Status::Lower,
                    _ if row.impulse >= row.upper && w < row.small() => Status::Upper,
                    _ => Status::Free,
                };
                self.rows[r].status = row.status;
            }
        }
    }

    /// Whether a row at a bound is not held by it.
    fn contradicts(&self, v: &[Twist]) -> bool {
        self.links.iter().any(|link| {
            (link.row_start..link.row_start + link.row_count).any(|r| {
                let row = &self.rows[r as usize];
                let w = self.rate(link, r as usize, v) + row.bias + row.compliance * row.impulse;
                match row.status {
                    Status::Lower => row.lower < row.upper && w < -row.small(),
                    Status::Upper => w > row.small(),
                    _ => false,
                }
            })
        })
    }

    /// Goes along the step, bent into the box, as far as φ descends. Says whether a way was found, and
    /// whether it was bent or shortened.
    fn search(&mut self, v: &mut [Twist], memory: &Descent) -> (bool, bool) {
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            v.copy_from_slice(&memory.from.1);
            let mut bent = share < 1.0;
            for l in 0..self.links.len() {
                let link = self.links[l];
                for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                    let row = &mut self.rows[r];
                    if row.status != Status::Free {
                        continue;
                    }
                    let wanted = memory.from.0[r] + share * memory.steps[r];
                    row.impulse = wanted.max(row.lower).min(row.upper);
                    bent |= row.impulse != wanted;
                    let dz = row.impulse - memory.from.0[r];
                    if dz != 0.0 {
                        self.apply(&link, r, dz, v);
                    }
                }
            }
            if !bent {
                // the least there is on the free rows
                return (true, false);
            }
            let (mut change, mut along) = (0.0, 0.0);
            for link in &self.links {
                for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                    let row = &self.rows[r];
                    let dz = row.impulse - memory.from.0[r];
                    if row.status == Status::Free && dz != 0.0 {
                        let w = self.rate(link, r, v) + row.bias + row.compliance * row.impulse;
                        change += 0.5 * dz * (memory.slopes[r] + w);
                        along += dz * memory.slopes[r];
                    }
                }
            }
            if change <= ENOUGH * along {
                return (true, true);
            }
            share *= 0.5;
        }
        v.copy_from_slice(&memory.from.1);
        for (row, &z) in self.rows.iter_mut().zip(&memory.from.0) {
            row.impulse = z;
        }
        (false, true)
    }
}
