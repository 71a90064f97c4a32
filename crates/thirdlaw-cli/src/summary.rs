//! What a run came to, for people, and the verdict for the shell.

use crate::failure::Failure;
use crate::print::{duration, number, plural};
use std::fmt::Write;
use thirdlaw_run::Run;
use thirdlaw_run::record::{CouplingRecord, LinkRecord};
use thirdlaw_run::record::{RunOutcome, RunRecord};

/// The text that ends a run.
pub fn text(run: &Run) -> String {
    let record = run.record();
    let (totals, frames) = (&record.totals, run.stats());
    let last = run.last_frame();
    let mut text = String::new();
    let count = match record.outcome.is_final() && last == record.frames {
        true => format!("{last} frames"),
        false => format!("{last} of {} frames", record.frames),
    };
    let _ = writeln!(
        text,
        "{}: {count}, {} s simulated in {} with {}",
        record.scene.name,
        number(f64::from(last) / record.fps),
        duration(totals.wall_s),
        plural(record.machine.threads, "thread")
    );
    let times = frames.iter().skip(1).map(|f| f.step_ms);
    let count = frames.len().saturating_sub(1).max(1);
    let _ = writeln!(
        text,
        "  stepping     {} ms/frame median, {} mean, {} at most",
        number(totals.ms_per_frame_median),
        number(times.clone().sum::<f64>() / count as f64),
        number(times.fold(0.0, f64::max))
    );
    if let Some(end) = frames.last() {
        let deepest = frames.iter().map(|f| f.penetration).fold(0.0, f64::max);
        let most = frames.iter().map(|f| f.contacts).max().unwrap_or(0);
        let _ = writeln!(text, "  contacts     {} at the end, {most} at most", end.contacts);
        if !run.stepper().scene().cloths.is_empty() {
            let most = frames.iter().map(|f| f.strain).fold(0.0, f64::max);
            let _ = writeln!(
                text,
                "  strain       {} % at the end, {} % at most",
                number(end.strain * 1e2),
                number(most * 1e2)
            );
        }
        let _ = writeln!(
            text,
            "  penetration  {} mm at the end, {} mm at most",
            number(end.penetration * 1e3),
            number(deepest * 1e3)
        );
        if !run.stepper().scene().emitters.is_empty() {
            let most = frames.iter().map(|f| f.particles).max().unwrap_or(0);
            let _ = writeln!(text, "  particles    {} at the end, {most} at most", end.particles);
        }
        if !run.stepper().scene().joints.is_empty() {
            let widest = frames.iter().map(|f| f.joint_error).fold(0.0, f64::max);
            let _ = writeln!(text, "  joints       {} mm apart at most", number(widest * 1e3));
        }
    }
    text.push_str(&record.coupling.as_ref().map(coupling_text).unwrap_or_default());
    text.push_str(&expectation_table(record));
    text.push_str(&where_results_are(run));
    text
}

/// Largest momentum from nowhere, and in how many steps that is known.
fn imbalance(link: &LinkRecord, steps: u64) -> String {
    match link.accounted {
        0 => "unknown".into(),
        n if n == steps => format!("{} N·s at most", number(link.imbalance)),
        n => format!("{} N·s at most (known in {n} of {steps} steps)", number(link.imbalance)),
    }
}

/// What crossed between simulators.
fn coupling_text(coupling: &CouplingRecord) -> String {
    let inside: f64 = coupling.simulators.iter().map(|s| s.step_s).sum();
    let shares: Vec<String> = coupling
        .simulators
        .iter()
        .map(|s| format!("{} {:.1} %", s.name, 100.0 * s.step_s / inside.max(f64::MIN_POSITIVE)))
        .collect();
    let per_step = coupling.evaluations as f64 / coupling.steps.max(1) as f64;
    let mut text = format!(
        "  coupling     {}, {} evaluations a step, {} of {} steps unconverged, overhead {:.3} ({})\n",
        coupling.method,
        number(per_step),
        coupling.unconverged,
        coupling.steps,
        coupling.overhead,
        shares.join(", ")
    );
    for link in &coupling.couplings {
        text += &format!(
            "    {:<10} imbalance {}, passivity error {} J in all, {} J in a step\n",
            link.name,
            imbalance(link, coupling.steps),
            number(link.passivity_error),
            number(link.passivity_error_of_step)
        );
        for (limit, count) in &link.crossings {
            let name = limit.replace('_', " ");
            text += &format!("      {}: limit crossed in {count} steps\n", name);
        }
    }
    text
}

fn expectation_table(record: &RunRecord) -> String {
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let keys = width(&mut record.expectations.iter().map(|e| e.key.chars().count()));
    let wants = width(&mut record.expectations.iter().map(|e| e.wanted.chars().count()));
    let mut text = String::new();
    for (i, e) in record.expectations.iter().enumerate() {
        let head = if i == 0 { "expected" } else { "" };
        let verdict = match (e.passed, e.value) {
            (true, None) => "–",
            (true, Some(_)) => "ok",
            (false, _) => "FAILED",
        };
        let _ = writeln!(
            text,
            "  {head:<11}  {verdict:<6}  {:<keys$}  {:<wants$}  {}",
            e.key,
            e.wanted,
            e.value_text()
        );
    }
    text
}

fn where_results_are(run: &Run) -> String {
    let record = run.record();
    let folder = run.folder().display();
    let mut files = vec!["run.json", "stats.csv", "stages.csv"];
    files.extend(record.poses.then_some("poses.csv"));
    files.extend(record.joints.then_some("joints.csv"));
    files.extend(record.contacts.then_some("contacts.csv"));
    files.extend(record.points.then_some("points.csv"));
    files.extend(record.coupling.is_some().then_some("coupling.csv"));
    files.extend(record.cache.then_some("frames/"));
    let mut text = format!("results in {folder}: {}\n", files.join(", "));
    if record.outcome == RunOutcome::Interrupted {
        let _ = match record.cache {
            true => writeln!(text, "interrupted; go on with `thirdlaw resume {folder}`"),
            false => writeln!(text, "interrupted; without a cache it can only be started anew"),
        };
    }
    text
}

/// What the outcome means for the shell.
pub fn verdict(record: &RunRecord) -> Result<(), Failure> {
    match record.outcome {
        RunOutcome::Done => Ok(()),
        RunOutcome::Running | RunOutcome::Interrupted => Err(Failure::Interrupted),
        RunOutcome::SimulationFailed => Err(Failure::Simulation(
            record.failure.clone().unwrap_or_else(|| "the simulation failed".into()),
        )),
        RunOutcome::ExpectationFailed => {
            let failed = record.expectations.iter().filter(|e| !e.passed);
            let text = |e: &thirdlaw_run::record::ExpectationRecord| {
                format!("{}: wanted {}, got {}", e.key, e.wanted, e.value_text())
            };
            Err(Failure::Expectations(failed.map(text).collect()))
        }
    }
}
