//! What can be read off the books of a coupling.

use thirdlaw::couple::{CouplingReport, LedgerEntry};

/// What a coupling's books say of a frame, over its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CouplingFrame {
    /// Momentum that appeared from nowhere, the largest of a step, N·s; `None` where that is not known.
    pub imbalance: Option<f64>,
    /// Angular momentum likewise, N·m·s.
    pub angular_imbalance: f64,
    /// Energy that appeared from nowhere, the sum, J.
    pub passivity_error: f64,
    /// Energy that simulators have beyond what they were given, the sum, J; `None` where that is not known.
    pub gained: Option<f64>,
    /// Times that all simulators were stepped, the most of a step.
    pub evaluations: u32,
    /// Exchanges of forces, the most of a step.
    pub exchanges: u32,
    /// Error of ties, the largest of a step, m/s.
    pub residual: f64,
    /// Difference between both sides of contacts, the largest of a step, m/s.
    pub mismatch: f64,
    /// Steps that did not converge.
    pub unconverged: u32,
}

impl CouplingFrame {
    /// Takes in a step.
    pub fn add(&mut self, crossed: &LedgerEntry, report: &CouplingReport) {
        let step = CouplingFrame {
            imbalance: crossed.imbalance(),
            angular_imbalance: crossed.angular_imbalance(),
            passivity_error: crossed.passivity_error(),
            gained: crossed.gained(),
            evaluations: report.evaluations,
            exchanges: report.exchanges,
            residual: report.residual,
            mismatch: report.mismatch,
            unconverged: u32::from(!report.converged),
        };
        self.join(&step);
    }

    /// Takes in other steps of the same frame.
    pub fn join(&mut self, other: &CouplingFrame) {
        // what is not a number stays so
        let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        let both = |f: &dyn Fn(f64, f64) -> f64, a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(f(a, b)),
            (a, b) => a.or(b),
        };
        self.imbalance = both(&larger, self.imbalance, other.imbalance);
        self.gained = both(&|a, b| a + b, self.gained, other.gained);
        self.angular_imbalance = larger(self.angular_imbalance, other.angular_imbalance);
        self.passivity_error += other.passivity_error;
        self.evaluations = self.evaluations.max(other.evaluations);
        self.exchanges = self.exchanges.max(other.exchanges);
        self.residual = larger(self.residual, other.residual);
        self.mismatch = larger(self.mismatch, other.mismatch);
        self.unconverged += other.unconverged;
    }
}

/// A quantity of a coupling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CouplingReading {
    /// See [`CouplingFrame::imbalance`].
    Imbalance,
    /// See [`CouplingFrame::angular_imbalance`].
    AngularImbalance,
    /// See [`CouplingFrame::passivity_error`].
    Passivity,
    /// See [`CouplingFrame::gained`].
    Gained,
    /// See [`CouplingFrame::evaluations`].
    Evaluations,
    /// See [`CouplingFrame::exchanges`].
    Exchanges,
    /// See [`CouplingFrame::residual`].
    Residual,
    /// See [`CouplingFrame::mismatch`].
    Mismatch,
    /// See [`CouplingFrame::unconverged`].
    Unconverged,
}

/// Coupling quantities by name.
pub const COUPLING_READINGS: [(&str, CouplingReading); 9] = [
    ("imbalance", CouplingReading::Imbalance),
    ("angular_imbalance", CouplingReading::AngularImbalance),
    ("passivity", CouplingReading::Passivity),
    ("gained", CouplingReading::Gained),
    ("evaluations", CouplingReading::Evaluations),
    ("exchanges", CouplingReading::Exchanges),
    ("residual", CouplingReading::Residual),
    ("mismatch", CouplingReading::Mismatch),
    ("unconverged", CouplingReading::Unconverged),
];

impl CouplingReading {
    /// Reads it off the books of a frame; `None` where they do not know.
    pub fn read(self, frame: &CouplingFrame) -> Option<f64> {
        Some(match self {
            CouplingReading::Imbalance => return frame.imbalance,
            CouplingReading::Gained => return frame.gained,
            CouplingReading::AngularImbalance => frame.angular_imbalance,
            CouplingReading::Passivity => frame.passivity_error,
            CouplingReading::Evaluations => f64::from(frame.evaluations),
            CouplingReading::Exchanges => f64::from(frame.exchanges),
            CouplingReading::Residual => frame.residual,
            CouplingReading::Mismatch => frame.mismatch,
            CouplingReading::Unconverged => f64::from(frame.unconverged),
        })
    }
}
