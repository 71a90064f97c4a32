//! Newton's iteration on r(λ) = 0, where a value of r costs a step of every simulator.
//!
//! The Jacobian is measured once, by trying, and from then on corrected by what every trial shows
//! (Broyden's update, in λ scaled by how strongly r answers):
//!
//!   J ← J + (Δr − JΔλ) (WΔλ)ᵀ / (Δλ·WΔλ),   W = diag |J e_j|².
//!
//! A trial that does not lower |r|, that a simulator could not step, or in which a handle turned too
//! far is taken back by half; where that does not help, or |r| falls slowly, the Jacobian is measured
//! anew. The last λ evaluated is the one returned, so the simulators are left in its state.

use crate::couple::error::CoupleError;
use crate::linalg::lu::Lu;

/// Most halvings of a direction.
const HALVINGS: u32 = 6;
/// Most measurements of the Jacobian in a solve.
const MEASUREMENTS: u32 = 3;
/// A trial that leaves more than this share of |r| was slow.
const SLOW: f64 = 0.3;

/// What is solved.
pub(crate) trait Problem {
    /// Writes the residual of λ after stepping under it; false where that is no answer.
    fn evaluate(&mut self, lambda: &[f64], r: &mut [f64]) -> Result<bool, CoupleError>;

    /// The last trial is where further ones start from. Returns whether r has changed by that.
    fn keep(&mut self) -> bool;

    /// ∂r/∂λ, row-major.
    fn jacobian(&mut self) -> &mut Vec<f64>;

    /// Measures ∂r/∂λ at λ.
    fn measure(&mut self, lambda: &[f64]) -> Result<(), CoupleError>;
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub tolerance: f64,
    /// Below this the simulators' own digits may be all that is left of the residual.
    pub enough: f64,
    pub evaluations: u32,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub evaluations: u32,
    /// Largest residual left.
    pub residual: f64,
    /// Whether there was any λ under which all simulators could step.
    pub answered: bool,
}

fn largest(r: &[f64]) -> f64 {
    r.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}

fn length(r: &[f64]) -> f64 {
    r.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Changes `lambda` until the residual vanishes.
pub(crate) fn solve(
    problem: &mut dyn Problem,
    stop: Stop,
    lambda: &mut [f64],
) -> Result<Outcome, CoupleError> {
    let n = lambda.len();
    let mut at = Iterate { r: vec![0.0; n], outcome: Outcome::default(), left: false };
    let mut answered = problem.evaluate(lambda, &mut at.r)?;
    at.outcome.evaluations = 1;
    if !answered {
        // under no force at all nothing turns but by what it does anyway
        lambda.fill(0.0);
        answered = problem.evaluate(lambda, &mut at.r)?;
        at.outcome.evaluations += 1;
    }
    at.outcome.answered = answered;
    at.outcome.residual = if answered { largest(&at.r) } else { f64::INFINITY };
    let mut changed = problem.keep();
    let mut measurements = 0;
    while answered
        && at.outcome.residual > stop.tolerance
        && at.outcome.evaluations < stop.evaluations
    {
        let before = length(&at.r);
        let better = at.search(problem, stop, lambda, changed)?;
        if better {
            changed = problem.keep();
        }
        let slow = !better || length(&at.r) > SLOW * before;
        if at.outcome.residual <= stop.enough {
            if better {
                continue;
            }
            break;
        }
        if slow {
            if measurements == MEASUREMENTS {
                if better {
                    continue;
                }
                break;
            }
            measurements += 1;
            problem.measure(lambda)?;
            at.left = true;
        }
    }
    if at.left {
        // the simulators are where another trial left them
        problem.evaluate(lambda, &mut at.r)?;
        at.outcome.evaluations += 1;
        at.outcome.residual = largest(&at.r);
    }
    Ok(at.outcome)
}

/// Where the iteration is.
struct Iterate {
    r: Vec<f64>,
    outcome: Outcome,
    /// Whether the last trial was of another λ.
    left: bool,
}

impl Iterate {
    /// Goes along Newton's direction as far as |r| falls; whether it did.
    fn search(
        &mut self,
        problem: &mut dyn Problem,
        stop: Stop,
        lambda: &mut [f64],
        changed: bool,
    ) -> Result<bool, CoupleError> {
        let n = lambda.len();
        let Some(way) = way_down(n, problem.jacobian(), &self.r) else { return Ok(false) };
        let (mut trial, mut r) = (vec![0.0; n], vec![0.0; n]);
        let mut part = 1.0;
        let before = length(&self.r);
        for _ in 0..=HALVINGS {
            (0..n).for_each(|i| trial[i] = lambda[i] + part * way[i]);
            let answered = problem.evaluate(&trial, &mut r)? && r.iter().all(|x| x.is_finite());
            self.outcome.evaluations += 1;
            self.left = true;
            if answered {
                if !changed {
                    correct(problem.jacobian(), (lambda, &trial), (&self.r, &r));
                }
                let enough = length(&r) < (1.0 - 1e-3 * part) * before;
                if enough || largest(&r) <= stop.tolerance {
                    lambda.copy_from_slice(&trial);
                    self.r.copy_from_slice(&r);
                    self.outcome.residual = largest(&r);
                    self.left = false;
                    return Ok(true);
                }
            }
            if self.outcome.evaluations >= stop.evaluations {
                break;
            }
            part *= if answered { 0.5 } else { 0.25 };
        }
        Ok(false)
    }
}

/// Broyden's update.
fn correct(jacobian: &mut [f64], (x0, x1): (&[f64], &[f64]), (r0, r1): (&[f64], &[f64])) {
    let n = x0.len();
    let step: Vec<f64> = (0..n).map(|i| x1[i] - x0[i]).collect();
    let weight = |j: usize| (0..n).map(|i| jacobian[i * n + j].powi(2)).sum::<f64>();
    let scaled: Vec<f64> = (0..n).map(|j| weight(j) * step[j]).collect();
    let size: f64 = scaled.iter().zip(&step).map(|(a, b)| a * b).sum();
    if !(size > 0.0 && size.is_finite()) {
        return;
    }
    for i in 0..n {
        let row = &mut jacobian[i * n..(i + 1) * n];
        let foreseen: f64 = row.iter().zip(&step).map(|(a, b)| a * b).sum();
        let missing = (r1[i] - r0[i] - foreseen) / size;
        row.iter_mut().zip(&scaled).for_each(|(j, s)| *j += missing * s);
    }
}

/// Smallest share of a row's answer that is not taken for rounding.
const ROUNDING: f64 = 3e-5;
/// Rounds of a regularized solve.
const ROUNDS: u32 = 4;

/// Newton's direction: the least one, where rows say the same twice; else the exact one, since a light lever
/// answers across its arm a million times more than along it, and what is least takes that for rounding.
fn way_down(n: usize, jacobian: &[f64], r: &[f64]) -> Option<Vec<f64>> {
    if let Some(way) = direction(n, jacobian, r) {
        let left = |i: usize| r[i] + (0..n).map(|j| jacobian[i * n + j] * way[j]).sum::<f64>();
        let left: Vec<f64> = (0..n).map(left).collect();
        if length(&left) <= 1e-3 * length(r) {
            return Some(way);
        }
    }
    let lu = factored(n, jacobian)?;
    let mut way: Vec<f64> = r.iter().map(|r| -r).collect();
    lu.solve(&mut way);
    way.iter().all(|x| x.is_finite()).then_some(way)
}

/// The least d for which J d = −r as nearly as can be: of y = D d, with D the lengths of J's columns,
///
///   (J̃ᵀJ̃ + ε²) y = −J̃ᵀ r,   J̃ = J D⁻¹.
///
/// Rows that say the same twice share what they carry, and rows that nothing answers carry nothing.
fn direction(n: usize, jacobian: &[f64], r: &[f64]) -> Option<Vec<f64>> {
    let at = |i: usize, j: usize| jacobian[i * n + j];
    let lengths: Vec<f64> =
        (0..n).map(|j| (0..n).map(|i| at(i, j).powi(2)).sum::<f64>().sqrt()).collect();
    let largest = lengths.iter().fold(0.0, |m: f64, x| m.max(*x));
    let dead = |j: usize| lengths[j] <= 1e-14 * largest;
    let scaled = |i: usize, j: usize| if dead(j) { 0.0 } else { at(i, j) / lengths[j] };
    let mut lu = Lu::default();
    lu.reset(n);
    for j in 0..n {
        let row = lu.row_mut(j);
        for (k, x) in row.iter_mut().enumerate() {
            *x = (0..n).map(|i| scaled(i, j) * scaled(i, k)).sum();
        }
        row[j] += ROUNDING * ROUNDING;
    }
    if !lu.factor() {
        return None;
    }
    // what ε takes from rows that do answer comes back in a few rounds
    let mut y = vec![0.0; n];
    for _ in 0..ROUNDS {
        let missing: Vec<f64> =
            (0..n).map(|i| -r[i] - (0..n).map(|j| scaled(i, j) * y[j]).sum::<f64>()).collect();
        let mut change: Vec<f64> =
            (0..n).map(|j| (0..n).map(|i| scaled(i, j) * missing[i]).sum()).collect();
        lu.solve(&mut change);
        y.iter_mut().zip(&change).for_each(|(y, c)| *y += c);
    }
    (0..n).for_each(|j| y[j] = if dead(j) { 0.0 } else { y[j] / lengths[j] });
    y.iter().all(|x| x.is_finite()).then_some(y)
}

/// A factored matrix. Rows that nothing answers stay as they are.
pub(crate) fn factored(n: usize, matrix: &[f64]) -> Option<Lu> {
    let largest = (0..n).map(|i| matrix[i * n + i].abs()).fold(0.0, f64::max);
    for softer in [0.0, 1e-9, 1e-6] {
        let mut lu = Lu::default();
        lu.reset(n);
        for i in 0..n {
            let row = lu.row_mut(i);
            row.copy_from_slice(&matrix[i * n..(i + 1) * n]);
            let dead = row.iter().all(|x| x.abs() <= 1e-12 * largest);
            row[i] += if dead { largest.max(1e-300) } else { softer * largest };
        }
        if lu.factor() {
            return Some(lu);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bob of next to no inertia on an arm: where its end is to be, by force along and across.
    struct Lever {
        jacobian: Vec<f64>,
        ratio: f64,
        evaluations: u32,
    }

    impl Lever {
        fn residual(&self, x: &[f64]) -> [f64; 2] {
            let angle = self.ratio * x[0];
            [angle.sin() + x[0] - 0.2, angle.cos() - 1.0 + x[1] + 0.3]
        }
    }

    impl Problem for Lever {
        fn evaluate(&mut self, x: &[f64], r: &mut [f64]) -> Result<bool, CoupleError> {
            self.evaluations += 1;
            r.copy_from_slice(&self.residual(x));
            Ok((self.ratio * x[0]).abs() < 1.5)
        }
        fn keep(&mut self) -> bool {
            false
        }
        fn jacobian(&mut self) -> &mut Vec<f64> {
            &mut self.jacobian
        }
        fn measure(&mut self, x: &[f64]) -> Result<(), CoupleError> {
            let base = self.residual(x);
            for j in 0..2 {
                let mut moved = [x[0], x[1]];
                let push = 1e-3 / self.ratio;
                moved[j] += push;
                let r = self.residual(&moved);
                (0..2).for_each(|i| self.jacobian[i * 2 + j] = (r[i] - base[i]) / push);
            }
            Ok(())
        }
    }

    #[test]
    fn a_light_lever_is_brought_where_it_is_wanted_from_far_and_without_whole_turns() {
        for ratio in [1.0, 1e3, 1e6] {
            let mut lever = Lever { jacobian: vec![0.0; 4], ratio, evaluations: 0 };
            let mut x = [300.0, 5.0];
            let stop = Stop { tolerance: 1e-11, enough: 1e-11, evaluations: 60 };
            lever.measure(&[0.0, 0.0]).unwrap();
            let outcome = solve(&mut lever, stop, &mut x).unwrap();
            assert!(outcome.residual <= 1e-11, "{ratio}: {outcome:?}");
            assert!((ratio * x[0]).abs() < 0.25, "turned by {}", ratio * x[0]);
            assert!(outcome.evaluations < 25, "{outcome:?}");
        }
    }

    #[test]
    fn rows_that_say_the_same_twice_share_what_they_carry() {
        let twice = [2.0, 0.0, 2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 2.0];
        let x = direction(3, &twice, &[-4.0, -3.0, -4.0]).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[2] - 1.0).abs() < 1e-6, "{x:?}");
        assert!((x[1] - 3.0).abs() < 1e-6, "{x:?}");
        let x = direction(2, &[2.0, 0.0, 0.0, 0.0], &[-4.0, 7.0]).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-6 && x[1] == 0.0, "{x:?}");
    }
}
