//! Plots of what crossed between simulators.

use super::Report;
use crate::plot::{Plot, Scale, Series};
use crate::stepper::crossing::CouplingRow;

impl Report {
    /// What crossed each coupling, frame by frame; nothing where one world held everything.
    pub fn ledger_plots(&self, times: &[f64]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.ledger {
            if !names.contains(&row.coupling.as_str()) {
                names.push(&row.coupling);
            }
        }
        if names.is_empty() {
            return String::new();
        }
        let curves = |read: &dyn Fn(&CouplingRow) -> f64, running: bool| -> Vec<Series<'_>> {
            let curve = |name: &&'_ str| {
                let mut values = vec![0.0; times.len()];
                for row in self.ledger.iter().filter(|row| row.coupling == **name) {
                    if let Some(slot) = values.get_mut(row.frame as usize) {
                        *slot += read(row);
                    }
                }
                if running {
                    let mut sum = 0.0;
                    for value in &mut values {
                        sum += *value;
                        *value = sum;
                    }
                }
                values
            };
            self.ledger
                .iter()
                .take(names.len())
                .zip(&names)
                .map(|(row, name)| Series { name: &row.coupling, values: curve(name) })
                .collect()
        };
        let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let per_second = self.record.fps;
        let plots = [
            Plot {
                title: "Force between simulators",
                unit: "N",
                note: "What the first of two coupled simulators is pushed with, mean over a frame.",
                times,
                series: curves(&|row| per_second * size(&row.numbers[..3]), false),
                scale: Scale::Linear,
            },
            Plot {
                title: "Energy crossed",
                unit: "J",
                note: "What the first of two coupled simulators got so far.",
                times,
                series: curves(&|row| row.numbers[6], true),
                scale: Scale::Linear,
            },
            Plot {
                title: "Energy from nowhere",
                unit: "J",
                note: "Passivity error of couplings so far: what both sides got together.",
                times,
                series: curves(&|row| row.numbers[11], true),
                scale: Scale::Linear,
            },
            Plot {
                title: "Momentum from nowhere",
                unit: "N·s",
                note: "Imbalance of couplings in a frame.",
                times,
                series: curves(&|row| row.numbers[9], false),
                scale: Scale::Log,
            },
            Plot {
                title: "Evaluations",
                unit: "",
                note: "Steps of all coupled simulators in a frame, those taken back included.",
                times,
                series: vec![Series {
                    name: "all",
                    values: self.evaluations(names[0], times.len()),
                }],
                scale: Scale::Linear,
            },
        ];
        plots.iter().filter(|plot| !plot.is_flat_zero()).map(Plot::html).collect()
    }

    fn evaluations(&self, coupling: &str, frames: usize) -> Vec<f64> {
        let mut values = vec![0.0; frames];
        for row in self.ledger.iter().filter(|row| row.coupling == coupling) {
            if let Some(slot) = values.get_mut(row.frame as usize) {
                *slot += f64::from(row.counts[0]);
            }
        }
        values
    }
}
