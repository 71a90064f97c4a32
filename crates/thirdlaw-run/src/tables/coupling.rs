//! `coupling.csv`: what crossed each coupling in each step.
//!
//! Momentum (N·s) and angular momentum about the world's origin (N·m·s) are what the first of the two
//! simulators got in the step, energy (J) what each got. Imbalance is momentum that appeared from
//! nowhere, passivity error is energy that did.

use super::table;
use crate::error::RunError;
use crate::stats::exact;
use crate::stepper::CoupledStep;
use std::path::Path;
use thirdlaw_scene::coupled::SceneCoupling;
use thirdlaw_scene::{CouplingFrame, Partition};

/// The columns of `coupling.csv`.
pub const COLUMNS: [&str; 24] = [
    "frame",
    "time",
    "coupling",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
    "work_first",
    "work_second",
    "stored",
    "imbalance",
    "angular_imbalance",
    "passivity_error",
    "evaluations",
    "trials",
    "exchanges",
    "residual",
    "mismatch",
    "contraction",
    "converged",
    "switched",
    "between",
];

/// A row of the table: one coupling in one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CouplingRow {
    /// The frame that the step belongs to.
    pub frame: u32,
    /// At the end of the step, s.
    pub time: f64,
    /// Name of the coupling.
    pub coupling: String,
    /// From `px` to `passivity_error`.
    pub numbers: [f64; 12],
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
                    entry.imbalance(),
                    entry.angular_imbalance(),
                    entry.passivity_error(),
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

    /// The fields of the row.
    pub fn fields(&self) -> Vec<String> {
        let mut fields = vec![self.frame.to_string(), exact(self.time), self.coupling.clone()];
        fields.extend(self.numbers.map(exact));
        fields.extend(self.counts.map(|n| n.to_string()));
        fields.extend(self.errors.map(exact));
        fields.push(self.contraction.map_or_else(String::new, exact));
        fields.extend(self.flags.map(|flag| u8::from(flag).to_string()));
        fields.push(self.between.clone());
        fields
    }

    /// Reads a row back; `None` if it is not one.
    fn read(fields: &csv::StringRecord) -> Option<CouplingRow> {
        if fields.len() != COLUMNS.len() {
            return None;
        }
        let number = |i: usize| fields[i].parse::<f64>().ok();
        let mut row = CouplingRow {
            frame: fields[0].parse().ok()?,
            time: number(1)?,
            coupling: fields[2].into(),
            contraction: number(20),
            between: fields[23].into(),
            ..CouplingRow::default()
        };
        for (i, slot) in row.numbers.iter_mut().enumerate() {
            *slot = number(3 + i)?;
        }
        for (i, slot) in row.counts.iter_mut().enumerate() {
            *slot = fields[15 + i].parse().ok()?;
        }
        row.errors = [number(18)?, number(19)?];
        row.flags = [&fields[21] == "1", &fields[22] == "1"];
        Some(row)
    }
}

fn between(partition: &Partition, coupling: &SceneCoupling) -> String {
    coupling.between.map(|i| partition.simulators[i].name.as_str()).join(" ")
}

/// What the rows of a frame say of each coupling; nothing where it has none.
pub fn frame(rows: &[CouplingRow], frame: u32, partition: &Partition) -> Vec<CouplingFrame> {
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
                imbalance: row.numbers[9],
                angular_imbalance: row.numbers[10],
                passivity_error: row.numbers[11],
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

/// All whole rows of a table, in their order; none where there is no table.
pub fn read(path: &Path) -> Result<Vec<CouplingRow>, RunError> {
    let mut rows = Vec::new();
    if path.exists() {
        table::scan(path, |frame, _, fields| {
            if frame.is_none() {
                return fields.iter().eq(COLUMNS);
            }
            let row = CouplingRow::read(fields);
            let whole = row.is_some();
            rows.extend(row);
            whole
        })?;
    }
    Ok(rows)
}

/// How many frames, from frame 0 on, have all their rows; frame 0 has none.
pub fn whole_frames(rows: &[CouplingRow], per_frame: usize) -> u32 {
    let mut next = 1;
    while per_frame > 0 && rows.iter().filter(|row| row.frame == next).count() == per_frame {
        next += 1;
    }
    if per_frame == 0 { u32::MAX } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_it_was() {
        let row = CouplingRow {
            frame: 3,
            time: 0.05,
            coupling: "a-b".into(),
            numbers: [1.0, -2.5e-9, 3.0, 0.1, 0.2, 0.3, 4.0, 5.0, 6.0, 7e-20, 8.0, -9.0],
            counts: [2, 7, 1],
            errors: [1e-12, 0.25],
            contraction: None,
            flags: [true, false],
            between: "cloth rigid".into(),
        };
        let fields = row.fields();
        assert_eq!(fields.len(), COLUMNS.len());
        assert_eq!(CouplingRow::read(&csv::StringRecord::from(fields)), Some(row.clone()));
        let with = CouplingRow { contraction: Some(0.5), ..row };
        assert_eq!(CouplingRow::read(&csv::StringRecord::from(with.fields())), Some(with));
    }

    #[test]
    fn frames_with_all_rows_count() {
        let row = |frame| CouplingRow { frame, ..CouplingRow::default() };
        let rows = [row(1), row(1), row(2), row(2), row(3)];
        assert_eq!(whole_frames(&rows, 2), 3, "frames 0, 1 and 2");
        assert_eq!(whole_frames(&[], 2), 1, "frame 0 has no rows");
    }
}
