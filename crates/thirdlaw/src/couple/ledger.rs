//! The books of a coupling: what crossed each interface in a step, and whether both sides moved by that.

use super::account::Account;
use crate::math::{Vec3, rotation_vector};
use crate::simulator::{Motion, Wrench};
use serde::{Deserialize, Serialize};

/// What one link carried in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LedgerEntry {
    /// The two simulators.
    pub between: [usize; 2],
    /// Momentum that each got, N·s.
    pub impulse: [Vec3; 2],
    /// Angular momentum about the origin that each got, N·m·s.
    pub angular_impulse: [Vec3; 2],
    /// Energy that each got, J.
    pub work: [f64; 2],
    /// Energy that the link itself took up, J.
    pub stored: f64,
    /// How each simulator kept to what all its links gave it; `None` where it cannot be known.
    pub accounts: [Option<Account>; 2],
}

impl LedgerEntry {
    /// Momentum that appeared from nowhere, N·s: what one side was given and the other did not lose, and
    /// what the simulators have beyond what they were given. `None` where neither account is known and
    /// what crossed shows no fault.
    pub fn imbalance(&self) -> Option<f64> {
        let known = self.accounts.iter().flatten();
        let surplus = known.map(|account| account.surplus.length()).reduce(f64::max);
        let crossing = self.crossing_imbalance();
        let sound = crossing <= 1e-12 * self.impulse[0].length();
        if sound { surplus.map(|s| s + crossing) } else { Some(crossing + surplus.unwrap_or(0.0)) }
    }

    /// Momentum that one side was given and the other did not lose, N·s.
    pub fn crossing_imbalance(&self) -> f64 {
        (self.impulse[0] + self.impulse[1]).length()
    }

    /// Energy that the simulators have beyond what they were given, J; `None` where it is not known of either.
    pub fn gained(&self) -> Option<f64> {
        self.accounts.iter().flatten().map(|account| account.gained).reduce(|a, b| a + b)
    }

    /// Angular momentum that appeared from nowhere, N·m·s.
    pub fn angular_imbalance(&self) -> f64 {
        (self.angular_impulse[0] + self.angular_impulse[1]).length()
    }

    /// Energy that appeared from nowhere, J: what stray forces do [baraff1997 §2.5].
    pub fn passivity_error(&self) -> f64 {
        self.work[0] + self.work[1] + self.stored
    }

    /// Adds what a further part of the step carried.
    pub(super) fn add(&mut self, other: &LedgerEntry) {
        for side in 0..2 {
            self.impulse[side] += other.impulse[side];
            self.angular_impulse[side] += other.angular_impulse[side];
            self.work[side] += other.work[side];
        }
        self.stored += other.stored;
        for (own, other) in self.accounts.iter_mut().zip(other.accounts) {
            *own = other.or(*own);
        }
    }

    /// Books an impulse on one of the two sides.
    pub(super) fn book(
        &mut self,
        side: usize,
        impulse: Wrench,
        start: &Motion,
        end: &Motion,
        dt: f64,
    ) {
        self.impulse[side] += impulse.force;
        self.angular_impulse[side] += start.position.cross(impulse.force) + impulse.torque;
        let turn = rotation_vector(end.rotation * start.rotation.conjugate());
        let way = end.position - start.position;
        self.work[side] += (impulse.force.dot(way) + impulse.torque.dot(turn)) / dt;
    }
}

/// How a coupled step went. Where links connect several groups of simulators, each group is solved
/// alone; then counts and errors are the largest of any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CouplingReport {
    /// How often all linked simulators were stepped, retracted steps included.
    pub evaluations: u32,
    /// Further steps made to measure how simulators answer.
    pub trials: u32,
    /// Parts in which the step was made, since tied simulators did not agree over the whole of it.
    pub parts: u32,
    /// Exchanges of forces over contacts.
    pub exchanges: u32,
    /// Largest error of a tie, m/s.
    pub residual: f64,
    /// Largest difference between where a body is and where the simulator that touches it believes
    /// it to be, m/s.
    pub mismatch: f64,
    /// Whether both are below their tolerance; for ties at least a hundred thousandth of the speeds
    /// at hand and a gap of a few millionths of the coordinates, since simulators in single precision
    /// cannot do better.
    pub converged: bool,
    /// By how much the error of exchanged forces shrinks from one exchange to the next, where it was
    /// measured.
    pub contraction: Option<f64>,
    /// Whether a lagged exchange would have diverged and was iterated instead.
    pub switched: bool,
}

impl CouplingReport {
    /// Takes in how another group of simulators went.
    pub(super) fn add(&mut self, other: &CouplingReport) {
        self.evaluations = self.evaluations.max(other.evaluations);
        self.trials = self.trials.max(other.trials);
        self.exchanges = self.exchanges.max(other.exchanges);
        self.parts = self.parts.max(other.parts);
        self.residual = self.residual.max(other.residual);
        self.mismatch = self.mismatch.max(other.mismatch);
        self.converged &= other.converged;
        self.contraction = match (self.contraction, other.contraction) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        self.switched |= other.switched;
    }
}

/// Sums over all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerTotals {
    /// Steps made.
    pub steps: u64,
    /// Sum of momentum that appeared from nowhere, N·s.
    pub imbalance: Vec3,
    /// Sum of angular momentum that appeared from nowhere, N·m·s.
    pub angular_imbalance: Vec3,
    /// Sum of energy that appeared from nowhere, J.
    pub passivity_error: f64,
    /// Sum of evaluations.
    pub evaluations: u64,
    /// Steps that did not converge.
    pub unconverged: u64,
    /// Largest residual of any step, m/s.
    pub worst_residual: f64,
}

impl LedgerTotals {
    pub(super) fn add(&mut self, entries: &[LedgerEntry], report: &CouplingReport) {
        self.steps += 1;
        for entry in entries {
            self.imbalance += entry.impulse[0] + entry.impulse[1];
            self.angular_imbalance += entry.angular_impulse[0] + entry.angular_impulse[1];
            self.passivity_error += entry.passivity_error();
        }
        self.evaluations += u64::from(report.evaluations);
        self.unconverged += u64::from(!report.converged);
        self.worst_residual = self.worst_residual.max(report.residual);
    }
}
