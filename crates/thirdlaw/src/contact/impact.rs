//! Restitution: impacts by generalized reflections, which cannot make energy.
//!
//! After Smith, Kaufman, Vouga, Tamstorf and Grinspun, "Reflections on Simultaneous Impact" (2012): of all points
//! that may bounce, those that approach are reflected together, then looked at again, until none approaches.
//! One round solves the inelastic problem of the approaching points A and repeats its impulses,
//!
//!   0 ≤ λ ⊥ J_A v + N λ ≥ 0,      v ← v + s·M⁻¹J_Aᵀ(1 + e)λ.
//!
//! With one e for all, s = 1 and kinetic energy changes by −½(1 − e²)λᵀNλ: kept at e = 1, lost below. Points
//! of different e, or a λ that has not converged, could gain; s is then shortened to where nothing is
//! gained, −2 pᵀJv/pᵀNp for impulses p. Blows travel through rows of balls that touch, since a point that
//! does not approach yet takes no part in a round.
//!
//! Friction follows by maximum dissipation: the tangent impulses within the discs of radius μ p that leave
//! the least kinetic energy. What still approaches afterwards is the contact solver's, without restitution.

use super::problem::{Bound, ContactProblem, Velocities};
use super::row::{Pair, row_apply, row_response, row_velocity};

/// Rounds beyond one for each point: a blow goes one pair of bodies farther in each.
const ROUNDS: usize = 64;
/// Sweeps at most for the impulses of one round, and for friction.
const SWEEPS: usize = 100;
/// Share of the largest approach speed at which sweeps end.
const CONVERGED: f64 = 1e-13;
/// Turns of normal impulses and friction, each of which can bring the other back.
const TURNS: usize = 3;

/// A contact point that may bounce.
#[derive(Clone, Copy, Debug)]
pub struct Strike {
    /// Its block.
    pub block: u32,
    /// Its normal row; friction rows may follow.
    pub row: u32,
    /// e between 0 and 1.
    pub restitution: f64,
    /// It bounces where it approaches faster than this, m/s.
    pub faster_than: f64,
    /// What the square of its speed gains on the way that is left until it meets, m²/s².
    pub gain: f64,
}

impl Strike {
    /// e between velocities where it is, for one that approaches at w < 0. On the way down and up again speed
    /// is gained and lost: e acts on w² + gain, and of what is left the gain is taken back.
    fn restitution_at(&self, w: f64) -> f64 {
        let e = self.restitution;
        let square = e * e * (w * w + self.gain) - self.gain;
        (square.max(0.0).sqrt() / -w).min(1.0)
    }
}

/// Memory of impacts.
#[derive(Clone, Debug, Default)]
pub struct ImpactScratch {
    /// Points of this round, by their place among the strikes.
    active: Vec<u32>,
    /// J v of each at the beginning of the round, m/s.
    approach: Vec<f64>,
    /// 1 + e of each.
    factor: Vec<f64>,
    /// λ of each, N·s.
    lambda: Vec<f64>,
    trial: Velocities,
    /// Normal impulses of all strikes so far, and friction, N·s.
    normal: Vec<f64>,
    friction: Vec<[f64; 2]>,
}

/// Lets all strikes bounce that approach. Returns whether any did.
pub fn impact(
    problem: &ContactProblem,
    strikes: &[Strike],
    velocities: &mut Velocities,
    scratch: &mut ImpactScratch,
) -> bool {
    scratch.normal.clear();
    scratch.normal.resize(strikes.len(), 0.0);
    scratch.friction.clear();
    scratch.friction.resize(strikes.len(), [0.0; 2]);
    let mut any = false;
    for _ in 0..TURNS {
        let mut struck = false;
        for _ in 0..ROUNDS + strikes.len() {
            if !scratch.reflect(problem, strikes, velocities) {
                break;
            }
            struck = true;
        }
        if !struck {
            break;
        }
        any = true;
        if !scratch.rub(problem, strikes, velocities) {
            break;
        }
    }
    any
}

impl ImpactScratch {
    /// One round; returns whether anything approached.
    fn reflect(
        &mut self,
        problem: &ContactProblem,
        strikes: &[Strike],
        velocities: &mut Velocities,
    ) -> bool {
        self.active.clear();
        self.approach.clear();
        self.factor.clear();
        for (i, strike) in strikes.iter().enumerate() {
            let w = speed(problem, strike, velocities);
            if w < -strike.faster_than {
                self.active.push(i as u32);
                self.approach.push(w);
                self.factor.push(1.0 + strike.restitution_at(w));
            }
        }
        if self.active.is_empty() {
            return false;
        }
        self.stop(problem, strikes, velocities);

        // the same impulses (1 + e)-fold
        self.lambda.iter_mut().zip(&self.factor).for_each(|(p, factor)| *p *= factor);
        self.trial.clone_from(velocities);
        for (&i, &p) in self.active.iter().zip(&self.lambda) {
            push(problem, &strikes[i as usize], p, &mut self.trial);
        }
        let (mut before, mut response) = (0.0, 0.0);
        for ((&i, &p), &w) in self.active.iter().zip(&self.lambda).zip(&self.approach) {
            before += p * w;
            response += p * (speed(problem, &strikes[i as usize], &self.trial) - w);
        }
        // where nothing is gained
        let most = if response > 0.0 { -2.0 * before / response } else { 0.0 };
        let s = most.clamp(0.0, 1.0);
        for (&i, &p) in self.active.iter().zip(&self.lambda) {
            self.normal[i as usize] += s * p;
            push(problem, &strikes[i as usize], s * p, velocities);
        }
        s > 0.0
    }

    /// λ: the inelastic impulses of the approaching points, by projected Gauss–Seidel.
    fn stop(&mut self, problem: &ContactProblem, strikes: &[Strike], velocities: &Velocities) {
        self.lambda.clear();
        self.lambda.resize(self.active.len(), 0.0);
        self.trial.clone_from(velocities);
        let fastest = self.approach.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            for (&i, lambda) in self.active.iter().zip(&mut self.lambda) {
                let strike = &strikes[i as usize];
                let block = &problem.blocks[strike.block as usize];
                let row = &problem.rows[strike.row as usize];
                let mut pair = Pair::gather(problem, block, &self.trial);
                let n = row_response(row, row, &pair);
                if n <= 0.0 {
                    continue;
                }
                let next = (*lambda - row_velocity(row, &pair) / n).max(0.0);
                let step = next - *lambda;
                *lambda = next;
                row_apply(row, &mut pair, step);
                pair.push += row.direction * step;
                pair.scatter(problem, block, &mut self.trial);
                change = change.max((n * step).abs());
            }
            if change <= CONVERGED * fastest {
                break;
            }
        }
    }

    /// Friction of what bounced; returns whether there was any.
    fn rub(
        &mut self,
        problem: &ContactProblem,
        strikes: &[Strike],
        velocities: &mut Velocities,
    ) -> bool {
        let mut any = false;
        for _ in 0..SWEEPS {
            let (mut change, mut fastest) = (0.0_f64, 0.0_f64);
            for ((strike, &normal), friction) in
                strikes.iter().zip(&self.normal).zip(&mut self.friction)
            {
                let limit = coefficient(problem, strike) * normal;
                if limit <= 0.0 {
                    continue;
                }
                let block = &problem.blocks[strike.block as usize];
                let first = strike.row as usize + 1;
                let [t, u] = [&problem.rows[first], &problem.rows[first + 1]];
                let mut pair = Pair::gather(problem, block, velocities);
                let [tt, tu, uu] = [(t, t), (t, u), (u, u)].map(|(i, k)| row_response(i, k, &pair));
                // the larger eigenvalue bounds both: such steps never gain
                let half = 0.5 * (tt - uu);
                let response = 0.5 * (tt + uu) + (half * half + tu * tu).sqrt();
                if response <= 0.0 {
                    continue;
                }
                let w = [t, u].map(|row| row_velocity(row, &pair));
                let mut next = [0, 1].map(|k| friction[k] - w[k] / response);
                let length = (next[0] * next[0] + next[1] * next[1]).sqrt();
                if length > limit {
                    next = next.map(|z| z * (limit / length));
                }
                for (k, row) in [t, u].into_iter().enumerate() {
                    let step = next[k] - friction[k];
                    row_apply(row, &mut pair, step);
                    pair.push += row.direction * step;
                    change = change.max((response * step).abs());
                    fastest = fastest.max(w[k].abs());
                }
                *friction = next;
                pair.scatter(problem, block, velocities);
                any = true;
            }
            if change <= 1e-9 * fastest {
                break;
            }
        }
        any
    }
}

/// μ of a point; 0 where no friction rows follow its normal row.
fn coefficient(problem: &ContactProblem, strike: &Strike) -> f64 {
    match problem.rows.get(strike.row as usize + 1).map(|row| row.bound) {
        Some(Bound::Friction { normal, coefficient }) if normal == strike.row => coefficient,
        _ => 0.0,
    }
}

/// J v of the normal row of a strike, m/s.
fn speed(problem: &ContactProblem, strike: &Strike, velocities: &Velocities) -> f64 {
    let pair = Pair::gather(problem, &problem.blocks[strike.block as usize], velocities);
    row_velocity(&problem.rows[strike.row as usize], &pair)
}

/// v + M⁻¹Jᵀp of a normal row.
fn push(problem: &ContactProblem, strike: &Strike, impulse: f64, velocities: &mut Velocities) {
    let block = &problem.blocks[strike.block as usize];
    let row = &problem.rows[strike.row as usize];
    let mut pair = Pair::gather(problem, block, velocities);
    row_apply(row, &mut pair, impulse);
    pair.push += row.direction * impulse;
    pair.scatter(problem, block, velocities);
}
