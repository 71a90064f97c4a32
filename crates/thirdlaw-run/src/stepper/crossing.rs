//! What crossed each coupling in each step, in numbers; the rows of `coupling.csv` and what
//! expectations read.

use super::CoupledStep;
use thirdlaw_scene::coupled::SceneCoupling;
use thirdlaw_scene::{CouplingFrame, Partition};

/// One coupling in one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouplingRow {
    /// The frame that the step belongs to.
    pub frame: u32,
    /// At the end of the step, s.
    pub time: f64,
    /// Name of the coupling.
    pub coupling: String,
    /// Momentum and angular momentum of the first simulator, work of both, stored energy, imbalance,
    /// angular imbalance, passivity error, energy that each simulator has beyond what it was given. What is
    /// not known is NaN.
    pub numbers: [f64; 14],
    /// `evaluations`, `trials`, `exchanges`.
    pub counts: [u32; 3],
    /// `residual`, `mismatch`, m/s.
    pub errors: [f64; 2],
    /// By how much a lagged exchange shrinks its error, where that was measured.
    pub contraction: Option<f64>,
    /// `converged`, `switched`.
    pub flags: [bool; 2],
    /// The two simulators.
    pub between: String,
}

impl CouplingRow {
    /// The rows of a frame.
    pub fn of_frame(frame: u32, steps: &[CoupledStep], partition: &Partition) -> Vec<CouplingRow> {
        steps.iter().flat_map(|step| CouplingRow::of_step(frame, step, partition)).collect()
    }

    fn of_step(frame: u32, step: &CoupledStep, partition: &Partition) -> Vec<CouplingRow> {
        let names = partition.couplings.iter().map(|c| (c, between(partition, c)));
        let row = |((coupling, between), entry): ((&SceneCoupling, String), &_)| {
            let entry: &thirdlaw::couple::LedgerEntry = entry;
            let (p, l) = (entry.impulse[0], entry.angular_impulse[0]);
            let report = &step.report;
            let gained = |side: usize| entry.accounts[side].map_or(f64::NAN, |a| a.gained);
            CouplingRow {
                frame,
                time: step.time,
                coupling: coupling.name.clone(),
                numbers: [
                    p.x,
                    p.y,
                    p.z,
                    l.x,
                    l.y,
                    l.z,
                    entry.work[0],
                    entry.work[1],
                    entry.stored,
                    entry.imbalance().unwrap_or(f64::NAN),
                    entry.angular_imbalance(),
                    entry.passivity_error(),
                    gained(0),
                    gained(1),
                ],
                counts: [report.evaluations, report.trials, report.exchanges],
                errors: [report.residual, report.mismatch],
                contraction: report.contraction.filter(|c| c.is_finite()),
                flags: [report.converged, report.switched],
                between,
            }
        };
        names.zip(&step.crossed).map(row).collect()
    }
}

fn between(partition: &Partition, coupling: &SceneCoupling) -> String {
    coupling.between.map(|i| partition.simulators[i].name.as_str()).join(" ")
}

/// What the rows of a frame say of each coupling; nothing where it has none.
pub fn of_frame(rows: &[CouplingRow], frame: u32, partition: &Partition) -> Vec<CouplingFrame> {
    let first = rows.partition_point(|row| row.frame < frame);
    let rows: Vec<&CouplingRow> =
        rows[first..].iter().take_while(|row| row.frame == frame).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let sum = |coupling: &SceneCoupling| {
        let mut sum = CouplingFrame::default();
        for row in rows.iter().filter(|row| row.coupling == coupling.name) {
            sum.join(&CouplingFrame {
                imbalance: Some(row.numbers[9]).filter(|x| !x.is_nan()),
                angular_imbalance: row.numbers[10],
                passivity_error: row.numbers[11],
                gained: row.numbers[12..14]
                    .iter()
                    .copied()
                    .filter(|x| !x.is_nan())
                    .reduce(|a, b| a + b),
                evaluations: row.counts[0],
                exchanges: row.counts[2],
                residual: row.errors[0],
                mismatch: row.errors[1],
                unconverged: u32::from(!row.flags[0]),
            });
        }
        sum
    };
    partition.couplings.iter().map(sum).collect()
}
