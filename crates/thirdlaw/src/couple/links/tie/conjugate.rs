//! Conjugate gradients on (A + B) λ = D, where a product costs a step of every simulator
//! [baraff1997 §2.3].
//!
//! `evaluate(λ)` applies forces, steps, reads and returns the residual r(λ), which is affine in λ as
//! far as the simulators are linear in forces. A product with p is the difference of two residuals,
//! taken at the current guess, so that simulators that are only nearly linear are linearized where
//! it counts. Each product is at the same time a trial: where it happens to satisfy the constraints
//! (always, with a perfect preconditioner) nothing more is stepped. The last λ evaluated is the one
//! returned, so the simulators are left in its state.

use crate::couple::error::CoupleError;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Evaluations made.
    pub evaluations: u32,
    /// Steps of a side that preconditioning took.
    pub aids: u32,
    /// Largest residual left.
    pub residual: f64,
    /// Largest residual at the start.
    pub start: f64,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub tolerance: f64,
    pub evaluations: u32,
}

/// What is solved.
pub(crate) trait Problem {
    /// Writes the residual of forces λ, after stepping under them.
    fn evaluate(&mut self, lambda: &[f64], r: &mut [f64]) -> Result<(), CoupleError>;

    /// Turns a residual into a change of λ; does nothing where nothing better is known. λ is the guess
    /// at hand. Returns how many steps of a side that took.
    fn precondition(&mut self, lambda: &[f64], z: &mut [f64]) -> Result<u32, CoupleError>;
}

/// How often conjugate gradients start anew from a fresh residual.
const RESTARTS: u32 = 8;

fn largest(r: &[f64]) -> f64 {
    r.iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Changes `lambda` until the residual vanishes.
pub(crate) fn solve(
    problem: &mut dyn Problem,
    stop: Stop,
    lambda: &mut [f64],
) -> Result<Outcome, CoupleError> {
    let n = lambda.len();
    let mut r = vec![0.0; n];
    problem.evaluate(lambda, &mut r)?;
    let mut outcome =
        Outcome { evaluations: 1, aids: 0, residual: largest(&r), start: largest(&r) };
    let (mut trial, mut trial_r) = (vec![0.0; n], vec![0.0; n]);
    let mut best = (outcome.residual, lambda.to_vec());
    for _ in 0..RESTARTS {
        if outcome.residual <= stop.tolerance || outcome.evaluations >= stop.evaluations {
            return Ok(outcome);
        }
        let before = outcome.residual;
        let mut left: Vec<f64> = r.iter().map(|r| -r).collect();
        let mut z = left.clone();
        outcome.aids += problem.precondition(lambda, &mut z)?;
        let mut p = z.clone();
        let mut energy = dot(&left, &z);
        for _ in 0..2 * n + 2 {
            if outcome.evaluations >= stop.evaluations {
                break;
            }
            for i in 0..n {
                trial[i] = lambda[i] + p[i];
            }
            problem.evaluate(&trial, &mut trial_r)?;
            outcome.evaluations += 1;
            if largest(&trial_r) <= stop.tolerance {
                lambda.copy_from_slice(&trial);
                outcome.residual = largest(&trial_r);
                return Ok(outcome);
            }
            let product: Vec<f64> = (0..n).map(|i| trial_r[i] + left[i]).collect();
            let curvature = dot(&p, &product);
            if !(curvature > 0.0 && curvature.is_finite() && energy.is_finite()) {
                break;
            }
            let along = energy / curvature;
            for i in 0..n {
                lambda[i] += along * p[i];
                left[i] -= along * product[i];
            }
            if largest(&left) <= 0.5 * stop.tolerance {
                break;
            }
            z.copy_from_slice(&left);
            outcome.aids += problem.precondition(lambda, &mut z)?;
            let next = dot(&left, &z);
            let keep = next / energy;
            energy = next;
            for i in 0..n {
                p[i] = z[i] + keep * p[i];
            }
        }
        problem.evaluate(lambda, &mut r)?;
        outcome.evaluations += 1;
        outcome.residual = largest(&r);
        if outcome.residual < best.0 {
            best = (outcome.residual, lambda.to_vec());
        }
        // no nearer: this is all that the simulators' own digits allow
        if outcome.residual > 0.5 * before {
            break;
        }
    }
    if best.0 < outcome.residual {
        lambda.copy_from_slice(&best.1);
        problem.evaluate(lambda, &mut r)?;
        outcome.evaluations += 1;
        outcome.residual = largest(&r);
    }
    Ok(outcome)
}
