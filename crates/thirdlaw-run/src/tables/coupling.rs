//! `coupling.csv`: what crossed each coupling in each step.
//!
//! Momentum (N·s) and angular momentum about the world's origin (N·m·s) are what the first of the two
//! simulators got in the step, energy (J) what each got. Imbalance is momentum that appeared from
//! nowhere, passivity error is energy that did. Energy gained is what a simulator has beyond what it was given.
//! Cells are empty where a number is not known.

use super::table;
use crate::error::RunError;
use crate::stats::exact;
use crate::stepper::crossing::CouplingRow;
use std::path::Path;

/// The columns of `coupling.csv`.
pub const COLUMNS: [&str; 26] = [
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
    "gained_first",
    "gained_second",
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

impl CouplingRow {
    /// The fields of the row.
    pub fn fields(&self) -> Vec<String> {
        let mut fields = vec![self.frame.to_string(), exact(self.time), self.coupling.clone()];
        fields.extend(self.numbers.map(|x| if x.is_nan() { String::new() } else { exact(x) }));
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
            contraction: number(22),
            between: fields[25].into(),
            ..CouplingRow::default()
        };
        for (i, slot) in row.numbers.iter_mut().enumerate() {
            *slot = if fields[3 + i].is_empty() { f64::NAN } else { number(3 + i)? };
        }
        for (i, slot) in row.counts.iter_mut().enumerate() {
            *slot = fields[17 + i].parse().ok()?;
        }
        row.errors = [number(20)?, number(21)?];
        row.flags = [&fields[23] == "1", &fields[24] == "1"];
        Some(row)
    }
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
            numbers: [
                1.0, -2.5e-9, 3.0, 0.1, 0.2, 0.3, 4.0, 5.0, 6.0, 7e-20, 8.0, -9.0, 1e-3, -2.0,
            ],
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
