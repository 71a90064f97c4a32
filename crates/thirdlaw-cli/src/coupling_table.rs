//! What coupling costs beyond the simulators' own steps [baraff1997 §5].

use crate::print::number;
use serde::Serialize;
use std::fmt::Write;
use thirdlaw_run::Stepper;
use thirdlaw_run::record::method_name;
use thirdlaw_run::stepper::CoupledStep;

/// The figures of a coupled scene, over all frames.
#[derive(Clone, Debug, Serialize)]
pub struct CouplingFigures {
    method: &'static str,
    /// Coupled time over the time inside the simulators' own steps.
    overhead: f64,
    /// Mean number of times all simulators were stepped in a step.
    evaluations_per_step: f64,
    unconverged: usize,
    /// Name of each simulator and its percentage of the time inside the simulators' steps.
    shares: Vec<(String, f64)>,
}

impl CouplingFigures {
    /// Of a run that is done.
    pub fn new(stepper: &Stepper, steps: &[CoupledStep]) -> CouplingFigures {
        let times = stepper.coupling_times();
        let inside: f64 = times.simulators.iter().sum();
        let partition = stepper.scene().partition.as_ref();
        let names = partition.iter().flat_map(|p| &p.simulators).map(|s| s.name.clone());
        let shares = times.simulators.iter().map(|t| 100.0 * t / inside.max(f64::MIN_POSITIVE));
        let evaluations: u64 = steps.iter().map(|s| u64::from(s.report.evaluations)).sum();
        CouplingFigures {
            method: partition.map_or("", |p| method_name(p.settings.method)),
            overhead: times.overhead(),
            evaluations_per_step: evaluations as f64 / steps.len().max(1) as f64,
            unconverged: steps.iter().filter(|s| !s.report.converged).count(),
            shares: names.zip(shares).collect(),
        }
    }
}

/// The table; empty without coupled scenes.
pub fn text<'a>(
    figures: impl Iterator<Item = (&'a str, usize, &'a CouplingFigures)>,
    names: usize,
) -> String {
    let mut text = String::new();
    for (scene, threads, f) in figures {
        if text.is_empty() {
            let _ = writeln!(
                text,
                "\ncoupled time over that of the simulators' own steps\n{:<names$}  threads  \
                 method       overhead  evaluations/step  unconverged  shares",
                "scene"
            );
        }
        let share = |(name, percent): &(String, f64)| format!("{name} {percent:.1} %");
        let _ = writeln!(
            text,
            "{scene:<names$}  {threads:>7}  {:<11}  {:>8.3}  {:>16}  {:>11}  {}",
            f.method,
            f.overhead,
            number(f.evaluations_per_step),
            f.unconverged,
            f.shares.iter().map(share).collect::<Vec<_>>().join(", ")
        );
    }
    text
}
