//! An interior-point approach to the solution with friction, for starts from which the exact steps of
//! `direct` run away.
//!
//! Bounds are kept away from by their slacks: z − l and u − z of an interval row, with multipliers
//! p and q; for friction within the cone g = ½(μ²z_n² − ‖z_t‖²) with one multiplier p, so that
//!
//!   w = p − q,  (z − l) p = τ,  (u − z) q = τ;      w_t = −p z_t,  g p = τ.
//!
//! τ → 0 gives complementarity, and friction against the slip. Newton steps with the multipliers
//! eliminated; g's dependence on z_n makes the matrix unsymmetric. A pyramid has slacks μ z_n ± z_t.
//!
//! There is no guarantee: a light box that rolls over its edge under a thousandfold load is reached,
//! under a millionfold one it is not; nor is friction that holds several light boxes under a load of
//! 10⁸ times theirs.

use super::direct::{Newton, unit};
use super::problem::Bound;
use crate::model::settings::FrictionModel;

const ROUNDS: usize = 200;

/// Moves impulses and velocities near a solution; false if it fails to.
pub(super) fn approach(newton: &mut Newton) -> bool {
    enter(newton);
    newton.measure();
    let rows = newton.problem.rows.len();
    let mut target = start(newton);
    let first = target;
    for _ in 0..ROUNDS {
        if !direction(newton, target) {
            return false;
        }
        let step = longest_step(newton);
        move_multipliers(newton, target, step);
        for change in &mut newton.memory.change {
            *change *= step;
        }
        newton.shift();
        let gap = complementarity(newton);
        if gap <= 1e-15 * first || newton.worst() <= 1e-11 * newton.scale() {
            break;
        }
        // short steps want to come back to the middle before going on
        target = gap
            * match step {
                s if s > 0.8 => 0.1,
                s if s > 0.3 => 0.5,
                _ => 1.0,
            };
    }
    rows == 0 || newton.worst() <= 1e-3 * newton.scale()
}

/// The slacks of row `i`; for the first friction row of a cone g, for the second nothing.
fn slacks(newton: &Newton, z: &[f64], i: usize) -> [f64; 2] {
    match newton.problem.rows[i].bound {
        Bound::Interval { lower, upper } => [z[i] - lower, upper - z[i]],
        Bound::Friction { normal, coefficient } => {
            let radius = coefficient * z[normal as usize];
            match newton.problem.friction {
                FrictionModel::Pyramid => [radius + z[i], radius - z[i]],
                FrictionModel::Cone if is_first(newton, i) => {
                    [0.5 * (radius * radius - z[i] * z[i] - z[i + 1] * z[i + 1]), f64::INFINITY]
                }
                FrictionModel::Cone => [f64::INFINITY; 2],
            }
        }
    }
}

/// Contact points have their two friction rows right after the normal, or pairs in a run.
fn is_first(newton: &Newton, i: usize) -> bool {
    !newton.is_second(i)
}

/// Impulses strictly within their bounds.
fn enter(newton: &mut Newton) {
    let m = &mut *newton.memory;
    let speed = m.defect.iter().fold(1e-9_f64, |s, w| s.max(w.abs()));
    // what stops the heaviest: impulses of a stack are of the size of its heaviest body's
    let softest = newton.effective.iter().map(|e| e.largest).filter(|&r| r > 0.0);
    let size = speed / softest.fold(f64::INFINITY, f64::min);
    m.change.clear();
    m.change.resize(m.impulses.len(), 0.0);
    for pass in 0..2 {
        for (i, row) in newton.problem.rows.iter().enumerate() {
            let z = m.impulses[i];
            match row.bound {
                Bound::Interval { lower, upper } if pass == 0 => {
                    let margin = size.min(0.1 * (upper - lower));
                    m.change[i] = z.max(lower + margin).min(upper - margin) - z;
                }
                Bound::Friction { normal, coefficient } if pass == 1 => {
                    let n = normal as usize;
                    let radius = 0.5 * coefficient * (m.impulses[n] + m.change[n]);
                    m.change[i] = z.max(-radius).min(radius) - z;
                }
                _ => {}
            }
        }
    }
    newton.shift();
}

/// Multipliers to start from; returns τ.
fn start(newton: &mut Newton) -> f64 {
    let rows = newton.problem.rows.len();
    let (mut sum, mut count) = (0.0, 0.0);
    for i in 0..rows {
        sum += (newton.memory.impulses[i] * newton.memory.defect[i]).abs();
        count += 1.0;
    }
    let target = f64::max(sum / count, 1e-12);
    newton.memory.multipliers.clear();
    for i in 0..rows {
        let s = slacks(newton, &newton.memory.impulses, i);
        newton.memory.multipliers.push(s.map(|s| if s.is_finite() { target / s } else { 0.0 }));
    }
    target
}

/// Mean of slack times multiplier.
fn complementarity(newton: &Newton) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (i, p) in newton.memory.multipliers.iter().enumerate() {
        let s = slacks(newton, &newton.memory.impulses, i);
        for k in 0..2 {
            if s[k].is_finite() {
                sum += s[k] * p[k];
                count += 1.0;
            }
        }
    }
    sum / f64::max(count, 1.0)
}

/// The Newton step of all impulses, into `change`; false where the system is singular.
fn direction(newton: &mut Newton, target: f64) -> bool {
    let rows = newton.problem.rows.len();
    let m = &mut *newton.memory;
    m.lu.reset(rows);
    m.right.clear();
    for i in 0..rows {
        let e = &newton.effective[i];
        let si = if e.largest > 0.0 { unit(e) } else { 1.0 };
        m.right.push(-m.defect[i] * si);
        for j in 0..rows {
            let f = &newton.effective[j];
            let sj = if f.largest > 0.0 { unit(f) } else { 1.0 };
            m.lu.row_mut(i)[j] = si * m.matrix[i * rows + j] * sj;
        }
        m.lu.row_mut(i)[i] += 1e-11;
    }
    for i in 0..rows {
        add_barrier(newton, i, target);
    }
    let m = &mut *newton.memory;
    if !m.lu.factor() {
        return false;
    }
    m.lu.solve(&mut m.right);
    m.change.clear();
    for (x, e) in m.right.iter().zip(newton.effective) {
        m.change.push(if e.largest > 0.0 { x * unit(e) } else { 0.0 });
    }
    m.change.iter().all(|x| x.is_finite())
}

/// What the bounds of row `i` add to its equation.
fn add_barrier(newton: &mut Newton, i: usize, target: f64) {
    let s = slacks(newton, &newton.memory.impulses, i);
    let p = newton.memory.multipliers[i];
    let stiff = [0, 1].map(|k| if s[k].is_finite() { p[k] / s[k] } else { 0.0 });
    let push = [0, 1].map(|k| if s[k].is_finite() { target / s[k] } else { 0.0 });
    let cone = newton.problem.friction == FrictionModel::Cone;
    match newton.problem.rows[i].bound {
        Bound::Friction { normal, coefficient } if cone => {
            if is_first(newton, i) {
                let n = normal as usize;
                let m = &*newton.memory;
                let z = [m.impulses[i], m.impulses[i + 1]];
                let slope = coefficient * coefficient * m.impulses[n];
                for a in 0..2 {
                    add(newton, i + a, i + a, p[0]);
                    add(newton, i + a, n, -stiff[0] * z[a] * slope);
                    for b in 0..2 {
                        add(newton, i + a, i + b, stiff[0] * z[a] * z[b]);
                    }
                    let e = &newton.effective[i + a];
                    if e.largest > 0.0 {
                        newton.memory.right[i + a] -= push[0] * z[a] * unit(e);
                    }
                }
            }
        }
        bound => {
            add(newton, i, i, stiff[0] + stiff[1]);
            if let Bound::Friction { normal, coefficient } = bound {
                add(newton, i, normal as usize, coefficient * (stiff[0] - stiff[1]));
            }
            let e = &newton.effective[i];
            if e.largest > 0.0 {
                newton.memory.right[i] += (push[0] - push[1]) * unit(e);
            }
        }
    }
}

fn add(newton: &mut Newton, i: usize, j: usize, value: f64) {
    let (e, f) = (&newton.effective[i], &newton.effective[j]);
    if e.largest > 0.0 && f.largest > 0.0 {
        newton.memory.lu.row_mut(i)[j] += value * unit(e) * unit(f);
    }
}

/// How far along the step all slacks stay above a twentieth of what they are.
fn longest_step(newton: &mut Newton) -> f64 {
    let rows = newton.problem.rows.len();
    let mut trial = std::mem::take(&mut newton.memory.right);
    let mut step = 1.0;
    for _ in 0..60 {
        trial.clear();
        let m = &*newton.memory;
        trial.extend(m.impulses.iter().zip(&m.change).map(|(z, d)| z + step * d));
        let inside = (0..rows).all(|i| {
            let (old, new) = (slacks(newton, &m.impulses, i), slacks(newton, &trial, i));
            (0..2).all(|k| new[k] >= 0.05 * old[k])
        });
        if inside {
            break;
        }
        step *= 0.85;
    }
    newton.memory.right = trial;
    step
}

/// p += step·Δp with Δp = (τ − p s − p Δs)/s, kept above a twentieth of p.
fn move_multipliers(newton: &mut Newton, target: f64, step: f64) {
    for i in 0..newton.problem.rows.len() {
        let m = &*newton.memory;
        let s = slacks(newton, &m.impulses, i);
        let ds = slack_changes(newton, i);
        let p = m.multipliers[i];
        newton.memory.multipliers[i] = [0, 1].map(|k| {
            if !s[k].is_finite() {
                return 0.0;
            }
            let dp = (target - p[k] * s[k] - p[k] * ds[k]) / s[k];
            f64::max(p[k] + step * dp, 0.05 * p[k])
        });
    }
}

/// Linear change of the slacks along the whole step.
fn slack_changes(newton: &Newton, i: usize) -> [f64; 2] {
    let m = &*newton.memory;
    let d = &m.change;
    match newton.problem.rows[i].bound {
        Bound::Interval { .. } => [d[i], -d[i]],
        Bound::Friction { normal, coefficient } => {
            let n = normal as usize;
            match newton.problem.friction {
                FrictionModel::Pyramid => [coefficient * d[n] + d[i], coefficient * d[n] - d[i]],
                FrictionModel::Cone if is_first(newton, i) => {
                    let along = coefficient * coefficient * m.impulses[n] * d[n];
                    let z = &m.impulses;
                    [along - z[i] * d[i] - z[i + 1] * d[i + 1], 0.0]
                }
                FrictionModel::Cone => [0.0; 2],
            }
        }
    }
}
