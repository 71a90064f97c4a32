//! What a run came to, for people, and the verdict for the shell.

use crate::print::{duration, number, plural};
use std::fmt::Write;
use thirdlaw_run::failure::Failure;
use thirdlaw_run::ledger::CouplingRecord;
use thirdlaw_run::record::{Outcome, RunRecord};
use thirdlaw_run::session::Session;

/// The text that ends a run.
pub fn text(session: &Session) -> String {
    let record = &session.record;
    let totals = &record.totals;
    let last = session.last_frame();
    let mut text = String::new();
    let frames = match record.outcome.is_final() && last == record.frames {
        true => format!("{last} frames"),
        false => format!("{last} of {} frames", record.frames),
    };
    let _ = writeln!(
        text,
        "{}: {frames}, {} s simulated in {} with {}",
        record.scene.name,
        number(f64::from(last) / record.fps),
        duration(totals.wall_s),
        plural(record.machine.threads, "thread")
    );
    let times = session.frames.iter().skip(1).map(|f| f.step_ms);
    let count = session.frames.len().saturating_sub(1).max(1);
    let _ = writeln!(
        text,
        "  stepping     {} ms/frame median, {} mean, {} at most",
        number(totals.ms_per_frame_median),
        number(times.clone().sum::<f64>() / count as f64),
        number(times.fold(0.0, f64::max))
    );
    if let Some(end) = session.frames.last() {
        let deepest = session.frames.iter().map(|f| f.penetration).fold(0.0, f64::max);
        let most = session.frames.iter().map(|f| f.contacts).max().unwrap_or(0);
        let _ = writeln!(text, "  contacts     {} at the end, {most} at most", end.contacts);
        if !session.scene.cloths.is_empty() {
            let most = session.frames.iter().map(|f| f.strain).fold(0.0, f64::max);
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
        if !session.scene.emitters.is_empty() {
            let most = session.frames.iter().map(|f| f.particles).max().unwrap_or(0);
            let _ = writeln!(text, "  particles    {} at the end, {most} at most", end.particles);
        }
        if !session.scene.joints.is_empty() {
            let widest = session.frames.iter().map(|f| f.joint_error).fold(0.0, f64::max);
            let _ = writeln!(text, "  joints       {} mm apart at most", number(widest * 1e3));
        }
    }
    text.push_str(&record.coupling.as_ref().map(CouplingRecord::text).unwrap_or_default());
    text.push_str(&expectation_table(record));
    text.push_str(&where_results_are(session));
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

fn where_results_are(session: &Session) -> String {
    let record = &session.record;
    let folder = session.folder.path().display();
    let mut files = vec!["run.json", "stats.csv", "stages.csv"];
    files.extend(record.poses.then_some("poses.csv"));
    files.extend(record.joints.then_some("joints.csv"));
    files.extend(record.points.then_some("points.csv"));
    files.extend(record.coupling.is_some().then_some("coupling.csv"));
    files.extend(record.cache.then_some("frames/"));
    let mut text = format!("results in {folder}: {}\n", files.join(", "));
    if record.outcome == Outcome::Interrupted {
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
        Outcome::Done => Ok(()),
        Outcome::Running | Outcome::Interrupted => Err(Failure::Interrupted),
        Outcome::SimulationFailed => Err(Failure::Simulation(
            record.failure.clone().unwrap_or_else(|| "the simulation failed".into()),
        )),
        Outcome::ExpectationFailed => {
            let failed = record.expectations.iter().filter(|e| !e.passed);
            let text = |e: &thirdlaw_run::record::ExpectationRecord| {
                format!("{}: wanted {}, got {}", e.key, e.wanted, e.value_text())
            };
            Err(Failure::Expectations(failed.map(text).collect()))
        }
    }
}
