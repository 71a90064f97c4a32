//! A linearly implicit method for springs, drives and friction that parts of a substep do not resolve
//! (ROS2 of Verwer, Spee, Blom and Hundsdorfer 1999), of second order:
//!
//!   (1 − γ h A) k₁ = f(y₀)
//!   (1 − γ h A) k₂ = f(y₀ + h k₁) − 2 k₁
//!   y₁ = y₀ + h (3/2 k₁ + 1/2 k₂),    γ = 1 − 1/√2
//!
//! It keeps its order for any A, so A holds the laws of `rows` alone, Jᵀ(k, d)J; its part for the rates is
//! (M + E) u̇ = …, E = Jᵀ(γ h d + γ²h²k)J, which only adds to the pivots of single limbs: gains go into the
//! articulated inertia. It is L-stable: no gain is too stiff, and what a stiff drive holds is where it
//! should be after one part, at rest. What rests under a load is at rest exactly, since f = 0 there.
//!
//! Targets that move enter by their rate at the start, γ h ∂f/∂t. Laws at their limit are constant
//! forces; which are is guessed, tried and changed until mean force and outcome agree.

use super::Tree;
use super::advance::Around;
use std::f64::consts::FRAC_1_SQRT_2;

const GAMMA: f64 = 1.0 - FRAC_1_SQRT_2;
/// Tries at most, and from which on limits are only taken on.
const TRIES: usize = 16;
const SETTLED: usize = 4;

impl Tree {
    /// Advances by a part of `h` seconds. False: what is at its limits did not come to agree.
    pub(super) fn implicit_part(&mut self, around: &Around, time: f64, h: f64) -> bool {
        self.begin_part();
        self.guess_rows(around, time, h);
        for round in 0..TRIES {
            self.try_implicit(around, time, h);
            let mut changed = false;
            self.each_row(|row, limb, place, rates| {
                if row.limit.is_finite() {
                    row.look(limb, place, around.model);
                    let target = row.target(around.model, around.locals, time + h);
                    let law = row.law(row.gains(h), target, row.rate(rates));
                    changed |= row.change(law, round >= SETTLED);
                }
            });
            if !changed {
                return true;
            }
            self.places.copy_from_slice(&self.start);
            self.rates.copy_from_slice(&self.start_rates);
            self.books.part.fill(Default::default());
        }
        false
    }

    fn guess_rows(&mut self, around: &Around, time: f64, h: f64) {
        self.each_row(|row, limb, place, rates| {
            row.look(limb, place, around.model);
            let target = row.target(around.model, around.locals, time);
            row.guess(h, target, row.rate(rates));
        });
    }

    /// u̇ of the first stage of a part, without booking anything.
    pub(super) fn foresee(&mut self, around: &Around, time: f64, h: f64) {
        self.guess_rows(around, time, h);
        self.first_stage(around, time, h, 0.0);
    }

    /// Solves the first stage; what acts from outside is booked with a weight in s.
    fn first_stage(&mut self, around: &Around, time: f64, h: f64, weight: f64) {
        let step = GAMMA * h;
        self.put(around.poses);
        self.weigh(around, weight);
        self.efforts.fill(0.0);
        self.each_pushed(|row, limb, place, rates, efforts| {
            row.look(limb, place, around.model);
            let [stiffness, damping] = row.gains(h);
            let target = row.target(around.model, around.locals, time);
            let rate = row.rate(rates);
            row.extra = step * damping + step * step * stiffness;
            row.stages[0] =
                row.law([stiffness, damping], target, rate) - step * stiffness * (rate - target.1);
            if let Some(bound) = row.bound() {
                (row.extra, row.stages[0]) = (0.0, bound);
            }
            row.push(row.stages[0], efforts);
        });
        self.solve(true);
    }

    fn try_implicit(&mut self, around: &Around, time: f64, h: f64) {
        let step = GAMMA * h;
        self.first_stage(around, time, h, 0.5 * h);
        self.stages.first_gain.copy_from_slice(&self.found);
        self.each_found(|row, found| row.stages[0] -= row.extra * row.rate(found));
        for k in 0..self.rates.len() {
            self.stages.first_move[k] = self.start_rates[k] + step * self.found[k];
            self.stages.step[k] = h * self.stages.first_move[k];
            self.rates[k] = self.start_rates[k] + h * self.found[k];
        }
        self.advance_places();

        self.put(around.poses);
        self.weigh(around, 0.5 * h);
        let stages = &mut self.stages;
        stages.moved.copy_from_slice(&self.rates);
        for limb in &self.limbs {
            let range = limb.first as usize..(limb.first + limb.count) as usize;
            limb.step_rates(&stages.step[range.clone()], &mut stages.moved[range]);
        }
        for k in 0..stages.moved.len() {
            stages.moved[k] -= 2.0 * stages.first_move[k];
        }
        self.efforts.fill(0.0);
        let (moved, first) =
            (std::mem::take(&mut self.stages.moved), std::mem::take(&mut self.stages.first_gain));
        self.each_pushed(|row, limb, place, rates, efforts| {
            let range = limb.first as usize..(limb.first + limb.count) as usize;
            let began = row.target(around.model, around.locals, time);
            row.look(limb, place, around.model);
            let gains = row.gains(h);
            let target = row.target(around.model, around.locals, time + h);
            row.stages[1] = match row.bound() {
                Some(bound) => bound,
                None => {
                    row.law(gains, target, row.rate(rates))
                        - step * gains[0] * (row.rate(&moved[range.clone()]) + began.1)
                }
            };
            let again = 2.0 * row.extra * row.rate(&first[range]);
            row.push(row.stages[1] + again, efforts);
        });
        (self.stages.moved, self.stages.first_gain) = (moved, first);
        self.solve(true);
        let stages = &mut self.stages;
        for k in 0..self.rates.len() {
            self.found[k] -= 2.0 * stages.first_gain[k];
            let second = stages.moved[k] + step * self.found[k];
            stages.step[k] = h * (1.5 * stages.first_move[k] + 0.5 * second);
            self.rates[k] =
                self.start_rates[k] + h * (1.5 * stages.first_gain[k] + 0.5 * self.found[k]);
        }
        self.each_found(|row, found| row.stages[1] -= row.extra * row.rate(found));
        self.advance_places();
    }
}
