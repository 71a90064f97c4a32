//! What crossed between simulators in a whole run, for `run.json`.

use crate::stepper::CouplingTimes;
use crate::stepper::crossing::CouplingRow;
use crate::text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thirdlaw_scene::coupled::{LedgerLimits, SceneCoupling};
use thirdlaw_scene::{Partition, SimulatorKind};

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
    /// Steps in which that was known.
    #[serde(default)]
    pub accounted: u64,
    /// Energy that simulators had beyond what they were given, in all, where that was known, J.
    #[serde(default)]
    pub gained: f64,
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
    pub(crate) fn new(partition: &Partition) -> CouplingRecord {
        let simulator = |s: &thirdlaw_scene::coupled::SceneSimulator| SimulatorRecord {
            name: s.name.clone(),
            kind: match s.kind {
                SimulatorKind::Thirdlaw => "thirdlaw",
                SimulatorKind::Rapier => "rapier",
                SimulatorKind::Fmu => "fmu",
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
    pub(crate) fn take(&mut self, row: &CouplingRow, partition: &Partition) -> Vec<String> {
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
        if !n[9].is_nan() {
            link.accounted += 1;
            link.imbalance = link.imbalance.max(n[9]);
        }
        link.gained += n[12..14].iter().filter(|x| !x.is_nan()).sum::<f64>();
        link.angular_imbalance = link.angular_imbalance.max(n[10]);
        link.passivity_error += n[11];
        link.passivity_error_of_step = link.passivity_error_of_step.max(n[11].abs());
        let LedgerLimits {
            imbalance,
            angular_imbalance,
            passivity,
            residual,
            mismatch,
            evaluations,
        } = partition.couplings[at].limits;
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
    pub(crate) fn add_times(&mut self, times: &CouplingTimes) {
        self.step_s += times.total;
        for (simulator, spent) in self.simulators.iter_mut().zip(&times.simulators) {
            simulator.step_s += spent;
        }
        let inside: f64 = self.simulators.iter().map(|s| s.step_s).sum();
        self.overhead = if inside > 0.0 { self.step_s / inside } else { 0.0 };
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
