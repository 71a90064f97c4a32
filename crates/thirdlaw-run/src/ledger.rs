//! `coupling.csv`: what crossed each coupling in each step, and what it came to.
//!
//! Momentum (N·s) and angular momentum about the world's origin (N·m·s) are what the first of the two
//! simulators got in the step, energy (J) what each got. Imbalance is momentum that appeared from
//! nowhere, passivity error is energy that did.

use crate::failure::Failure;
use crate::motor::{StepBooks, Times};
use crate::stats::exact;
use crate::table;
use crate::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use thirdlaw_scene::coupled::{Limits, SceneCoupling};
use thirdlaw_scene::{CouplingFrame, Partition, SimulatorKind};

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
pub struct Row {
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

impl Row {
    /// The rows of a step.
    pub fn of_step(frame: u32, books: &StepBooks, partition: &Partition) -> Vec<Row> {
        let names = partition.couplings.iter().map(|c| (c, between(partition, c)));
        let row = |((coupling, between), entry): ((&SceneCoupling, String), &_)| {
            let entry: &thirdlaw::couple::LedgerEntry = entry;
            let (p, l) = (entry.impulse[0], entry.angular_impulse[0]);
            let report = &books.report;
            Row {
                frame,
                time: books.time,
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
        names.zip(&books.crossed).map(row).collect()
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
    fn read(fields: &csv::StringRecord) -> Option<Row> {
        if fields.len() != COLUMNS.len() {
            return None;
        }
        let number = |i: usize| fields[i].parse::<f64>().ok();
        let mut row = Row {
            frame: fields[0].parse().ok()?,
            time: number(1)?,
            coupling: fields[2].into(),
            contraction: number(20),
            between: fields[23].into(),
            ..Row::default()
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
pub fn frame(rows: &[Row], frame: u32, partition: &Partition) -> Vec<CouplingFrame> {
    let first = rows.partition_point(|row| row.frame < frame);
    let rows: Vec<&Row> = rows[first..].iter().take_while(|row| row.frame == frame).collect();
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
pub fn read(path: &Path) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    if path.exists() {
        table::scan(path, |frame, _, fields| {
            if frame.is_none() {
                return fields.iter().eq(COLUMNS);
            }
            let row = Row::read(fields);
            let whole = row.is_some();
            rows.extend(row);
            whole
        })?;
    }
    Ok(rows)
}

/// How many frames, from frame 0 on, have all their rows; frame 0 has none.
pub fn whole_frames(rows: &[Row], per_frame: usize) -> u32 {
    let mut next = 1;
    while per_frame > 0 && rows.iter().filter(|row| row.frame == next).count() == per_frame {
        next += 1;
    }
    if per_frame == 0 { u32::MAX } else { next }
}

/// What the ledger of a run came to, in `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CouplingRecord {
    /// How forces were found.
    pub method: String,
    /// Coupled time over the time inside the simulators' own steps.
    pub overhead: f64,
    /// Time of coupled steps, s.
    pub step_s: f64,
    /// In the order of the scene.
    pub simulators: Vec<SimulatorRecord>,
    /// Steps made.
    pub steps: u64,
    /// How often all simulators were stepped, steps taken back included.
    pub evaluations: u64,
    /// Steps in which the two sides did not agree to tolerance.
    pub unconverged: u64,
    /// Steps in which a lagged exchange would have diverged and was iterated.
    pub switched: u64,
    /// Largest error of a tie, m/s.
    pub worst_residual: f64,
    /// Largest difference between both sides of a contact, m/s.
    pub worst_mismatch: f64,
    /// In the order of the scene.
    pub couplings: Vec<LinkRecord>,
}

/// A simulator of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatorRecord {
    /// Its name.
    pub name: String,
    /// What made its steps.
    pub kind: String,
    /// Time inside its steps, s.
    pub step_s: f64,
}

/// What crossed a coupling in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// Its name.
    pub name: String,
    /// The two simulators.
    pub between: [String; 2],
    /// That the first got, N·s.
    pub momentum: [f64; 3],
    /// That the first got, N·m·s.
    pub angular_momentum: [f64; 3],
    /// That each got, J.
    pub energy: [f64; 2],
    /// Largest of a step, N·s.
    pub imbalance: f64,
    /// Largest of a step, N·m·s.
    pub angular_imbalance: f64,
    /// Sum, J.
    pub passivity_error: f64,
    /// Largest of a step, J.
    pub passivity_error_of_step: f64,
    /// Steps that crossed a limit of the scene, by limit.
    pub crossings: BTreeMap<String, u32>,
}

impl CouplingRecord {
    /// Of a run that begins.
    pub fn new(partition: &Partition) -> CouplingRecord {
        let simulator = |s: &thirdlaw_scene::coupled::SceneSimulator| SimulatorRecord {
            name: s.name.clone(),
            kind: match s.kind {
                SimulatorKind::Thirdlaw => "thirdlaw",
                SimulatorKind::Rapier => "rapier",
            }
            .into(),
            step_s: 0.0,
        };
        let link = |c: &SceneCoupling| LinkRecord {
            name: c.name.clone(),
            between: c.between.map(|i| partition.simulators[i].name.clone()),
            ..LinkRecord::default()
        };
        CouplingRecord {
            method: method_name(partition.settings.method).into(),
            simulators: partition.simulators.iter().map(simulator).collect(),
            couplings: partition.couplings.iter().map(link).collect(),
            ..CouplingRecord::default()
        }
    }

    /// Takes in a row; returns a line for each limit that is crossed for the first time.
    pub fn take(&mut self, row: &Row, partition: &Partition) -> Vec<String> {
        let Some(at) = partition.couplings.iter().position(|c| c.name == row.coupling) else {
            return Vec::new();
        };
        // what all couplings of a step share is counted once
        if at == 0 {
            self.steps += 1;
            self.evaluations += u64::from(row.counts[0]);
            self.unconverged += u64::from(!row.flags[0]);
            self.switched += u64::from(row.flags[1]);
            self.worst_residual = self.worst_residual.max(row.errors[0]);
            self.worst_mismatch = self.worst_mismatch.max(row.errors[1]);
        }
        let link = &mut self.couplings[at];
        let n = &row.numbers;
        for k in 0..3 {
            link.momentum[k] += n[k];
            link.angular_momentum[k] += n[3 + k];
        }
        for k in 0..2 {
            link.energy[k] += n[6 + k];
        }
        link.imbalance = link.imbalance.max(n[9]);
        link.angular_imbalance = link.angular_imbalance.max(n[10]);
        link.passivity_error += n[11];
        link.passivity_error_of_step = link.passivity_error_of_step.max(n[11].abs());
        let Limits { imbalance, angular_imbalance, passivity, residual, mismatch, evaluations } =
            partition.couplings[at].limits;
        let limits = [
            ("imbalance", "N·s", n[9], imbalance),
            ("angular_imbalance", "N·m·s", n[10], angular_imbalance),
            ("passivity", "J", n[11].abs(), passivity),
            ("residual", "m/s", row.errors[0], residual),
            ("mismatch", "m/s", row.errors[1], mismatch),
            ("evaluations", "steps", f64::from(row.counts[0]), evaluations),
        ];
        let mut lines = Vec::new();
        for (name, unit, value, limit) in limits {
            if value > limit {
                let count = link.crossings.entry(name.into()).or_default();
                *count += 1;
                if *count == 1 {
                    lines.push(format!(
                        "coupling {}: {} {} {unit} at t = {} s, above its limit of {}",
                        link.name,
                        name.replace('_', " "),
                        text::number(value),
                        text::number(row.time),
                        text::number(limit)
                    ));
                }
            }
        }
        lines
    }

    /// Adds the times of a session.
    pub fn add_times(&mut self, times: &Times) {
        self.step_s += times.total;
        for (simulator, spent) in self.simulators.iter_mut().zip(&times.simulators) {
            simulator.step_s += spent;
        }
        let inside: f64 = self.simulators.iter().map(|s| s.step_s).sum();
        self.overhead = if inside > 0.0 { self.step_s / inside } else { 0.0 };
    }

    /// Lines for people.
    pub fn text(&self) -> String {
        let inside: f64 = self.simulators.iter().map(|s| s.step_s).sum();
        let shares: Vec<String> = self
            .simulators
            .iter()
            .map(|s| {
                format!("{} {:.1} %", s.name, 100.0 * s.step_s / inside.max(f64::MIN_POSITIVE))
            })
            .collect();
        let per_step = self.evaluations as f64 / self.steps.max(1) as f64;
        let mut text = format!(
            "  coupling     {}, {} evaluations a step, {} of {} steps unconverged, overhead {:.3} ({})\n",
            self.method,
            text::number(per_step),
            self.unconverged,
            self.steps,
            self.overhead,
            shares.join(", ")
        );
        for link in &self.couplings {
            text += &format!(
                "    {:<10} imbalance {} N·s at most, passivity error {} J in all, {} J in a step\n",
                link.name,
                text::number(link.imbalance),
                text::number(link.passivity_error),
                text::number(link.passivity_error_of_step)
            );
            for (limit, count) in &link.crossings {
                let name = limit.replace('_', " ");
                text += &format!("      {}: limit crossed in {count} steps\n", name);
            }
        }
        text
    }
}

/// What scene files call a method.
pub fn method_name(method: thirdlaw::couple::Method) -> &'static str {
    use thirdlaw::couple::Method;
    match method {
        Method::Interleaved => "interleaved",
        Method::FixedPoint => "fixed-point",
        Method::Iterated => "iterated",
        Method::Repaired => "repaired",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_it_was() {
        let row = Row {
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
        assert_eq!(Row::read(&csv::StringRecord::from(fields)), Some(row.clone()));
        let with = Row { contraction: Some(0.5), ..row };
        assert_eq!(Row::read(&csv::StringRecord::from(with.fields())), Some(with));
    }

    #[test]
    fn frames_with_all_rows_count() {
        let row = |frame| Row { frame, ..Row::default() };
        let rows = [row(1), row(1), row(2), row(2), row(3)];
        assert_eq!(whole_frames(&rows, 2), 3, "frames 0, 1 and 2");
        assert_eq!(whole_frames(&[], 2), 1, "frame 0 has no rows");
    }
}
