//! The page itself.

use super::Report;
use super::gallery::{Drawn, Gallery};
use super::html::escape;
use crate::record::{ExpectationRecord, RunOutcome};
use crate::text::{duration, number, plural};
use serde_json::Value;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub fn page(report: &Report) -> String {
    let record = &report.record;
    let name = escape(&record.scene.name);
    let title = if report.title.is_empty() { name.clone() } else { escape(&report.title) };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"thirdlaw {version}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title} – thirdlaw</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><div><h1>{title}</h1><p class=\"scene\">{name}, run by thirdlaw {version} on {started}</p></div>\
         {badge}</header>\n",
        version = escape(&record.version),
        started = escape(&record.started.replace('T', " ").replace('Z', " UTC")),
        badge = badge(record.outcome),
    );
    if let Some(failure) = &record.failure {
        let _ = writeln!(page, "<p class=\"lead bad\">{}</p>", escape(failure));
    }
    page += "<div class=\"top\">\n";
    if let Some(gallery) = &report.gallery {
        page += &picture(&gallery.poster, &title);
    }
    page += &facts(report);
    page += "</div>\n";
    page += &expectations(&record.expectations);
    page += &report.gallery.as_ref().map_or_else(String::new, |gallery| strip(gallery, &title));
    let plots = report.plots();
    if !plots.is_empty() {
        let _ = write!(page, "<h2>How it went</h2>\n<div class=\"plots\">\n{plots}</div>\n");
    }
    page += &origins(report);
    page + "</main>\n</body>\n</html>\n"
}

fn badge(outcome: RunOutcome) -> String {
    let (class, text) = match outcome {
        RunOutcome::Done => ("good", "✓ done"),
        RunOutcome::ExpectationFailed => ("bad", "✗ an expectation failed"),
        RunOutcome::SimulationFailed => ("bad", "✗ the simulation failed"),
        RunOutcome::Interrupted => ("wait", "… interrupted"),
        RunOutcome::Running => ("wait", "… not finished"),
    };
    format!("<span class=\"badge {class}\">{text}</span>")
}

fn picture(drawn: &Drawn, title: &str) -> String {
    let time = number(drawn.time);
    let (width, height) = drawn.size;
    format!(
        "<figure><img width=\"{width}\" height=\"{height}\" alt=\"{title}, at {time} s\" \
         src=\"data:image/png;base64,{}\"><figcaption>{time} s, frame {}</figcaption></figure>\n",
        drawn.png, drawn.frame
    )
}

fn strip(gallery: &Gallery, title: &str) -> String {
    if gallery.strip.len() < 2 {
        return String::new();
    }
    let pictures: String = gallery.strip.iter().map(|drawn| picture(drawn, title)).collect();
    format!("<h2>From the first frame to the last</h2>\n<div class=\"strip\">\n{pictures}</div>\n")
}

/// The figures that are asked for first.
fn facts(report: &Report) -> String {
    let (record, frames) = (&report.record, &report.frames);
    let last = frames.last();
    let most =
        |read: fn(&thirdlaw_scene::FrameStats) -> f64| frames.iter().map(read).fold(0.0, f64::max);
    let mut list = vec![
        ("simulated", format!("{} s", number(last.map_or(0.0, |f| f.time))), String::new()),
        (
            "frames",
            format!("{}", frames.len().saturating_sub(1)),
            format!("of {} at {}/s", record.frames, number(record.fps)),
        ),
        ("took", duration(record.totals.wall_s), plural(record.machine.threads, "thread")),
        (
            "stepping",
            format!("{} ms", number(record.totals.ms_per_frame_median)),
            "a frame, median".into(),
        ),
        (
            "deepest overlap",
            format!("{} mm", number(1e3 * most(|f| f.penetration))),
            format!("{} at the end", number(1e3 * last.map_or(0.0, |f| f.penetration))),
        ),
        (
            "contacts",
            number(most(|f| f64::from(f.contacts))),
            format!("{} at the end", last.map_or(0, |f| f.contacts)),
        ),
    ];
    let strain = most(|f| f.strain);
    if strain > 0.0 {
        list.push(("largest strain", format!("{} %", number(100.0 * strain)), String::new()));
    }
    let gap = most(|f| f.joint_error);
    if gap > 0.0 {
        list.push(("largest joint gap", format!("{} mm", number(1e3 * gap)), String::new()));
    }
    if list.len() % 2 == 1 {
        list.push(("steps a frame", record.steps_per_frame.to_string(), String::new()));
    }
    let rows = list.iter().map(|(name, value, more)| {
        format!("<div><dt>{name}</dt><dd>{value} <small>{more}</small></dd></div>")
    });
    format!("<dl class=\"facts\">{}</dl>\n", rows.collect::<String>())
}

fn expectations(list: &[ExpectationRecord]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let row = |e: &ExpectationRecord| {
        let (class, verdict) = match (e.passed, e.value) {
            (true, None) => ("wait", "– not reached"),
            (true, Some(_)) => ("good", "✓ holds"),
            (false, _) => ("bad", "✗ failed"),
        };
        format!(
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td class=\"value\">{}</td>\
             <td><span class=\"badge {class}\">{verdict}</span></td></tr>\n",
            escape(&e.key),
            escape(&e.wanted),
            escape(&e.value_text())
        )
    };
    format!(
        "<h2>What was expected</h2>\n<div class=\"scroll\"><table class=\"expect\">\n<thead><tr><th scope=\"col\">reading</th>\
         <th scope=\"col\">wanted</th><th scope=\"col\">worst value</th><th scope=\"col\">verdict</th></tr></thead>\n\
         <tbody>\n{}</tbody></table></div>\n",
        list.iter().map(row).collect::<String>()
    )
}

/// Where the run comes from: settings, scene, machine.
fn origins(report: &Report) -> String {
    let record = &report.record;
    let mut about = vec![
        ("command", format!("<code>{}</code>", escape(&record.command(&report.folder)))),
        ("version", format!("thirdlaw {}", escape(&record.version))),
        (
            "scene",
            format!(
                "{}, hash <code>{}</code>",
                escape(&record.scene.source),
                escape(&record.scene.hash)
            ),
        ),
        ("model", format!("hash <code>{}</code>", escape(&record.model))),
        (
            "final state",
            record.final_hash.as_deref().map_or_else(
                || "not reached".into(),
                |hash| format!("hash <code>{}</code>", escape(hash)),
            ),
        ),
        (
            "machine",
            format!(
                "{}, {}, {}",
                escape(&record.machine.os),
                plural(record.machine.cores, "core"),
                plural(record.machine.threads, "thread")
            ),
        ),
        ("began", escape(&record.started)),
        ("ended", escape(record.finished.as_deref().unwrap_or("not yet"))),
    ];
    if !record.scene.overrides.is_empty() {
        let changes: Vec<String> =
            record.scene.overrides.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        about.insert(3, ("changed", format!("<code>{}</code>", escape(&changes.join(", ")))));
    }
    if !record.resumed.is_empty() {
        let frames: Vec<String> = record.resumed.iter().map(u32::to_string).collect();
        about.push(("resumed", format!("after frame {}", frames.join(", "))));
    }
    let mut settings = Vec::new();
    flatten("", &record.settings, &mut settings);
    let settings: Vec<(&str, String)> =
        settings.iter().map(|(key, value)| (key.as_str(), escape(value))).collect();
    format!(
        "<h2>Where it comes from</h2>\n<div class=\"scroll\">{}</div>\n\
         <details><summary>Settings</summary><div class=\"scroll\">{}</div></details>\n\
         <details><summary>Scene file</summary><pre tabindex=\"0\">{}</pre></details>\n\
         <footer>The same scene, version and settings give the same bits on any machine: compare the \
         hash of the final state.</footer>\n",
        table(&about),
        table(&settings),
        escape(&record.scene.text)
    )
}

/// A table of names and values; values are markup.
fn table(rows: &[(&str, String)]) -> String {
    let row = |(name, value): &(&str, String)| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"value\">{value}</td></tr>\n",
            escape(name)
        )
    };
    format!("<table><tbody>\n{}</tbody></table>", rows.iter().map(row).collect::<String>())
}

/// Nested settings as dotted names.
fn flatten(prefix: &str, value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flatten(&name, value, out);
            }
        }
        Value::String(text) => out.push((prefix.into(), text.clone())),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            out.push((prefix.into(), items.join(", ")));
        }
        other => out.push((prefix.into(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_dotted_names() {
        let value = serde_json::json!({ "a": { "b": 1, "c": "x" }, "g": [0.0, -9.8] });
        let mut flat = Vec::new();
        flatten("", &value, &mut flat);
        let flat: Vec<(&str, &str)> = flat.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(flat, [("a.b", "1"), ("a.c", "x"), ("g", "0.0, -9.8")]);
    }

    #[test]
    fn a_failed_expectation_is_told_in_words() {
        let row = ExpectationRecord {
            key: "a<b.y".into(),
            wanted: "below 1".into(),
            value: Some(2.0),
            passed: false,
        };
        let html = expectations(&[row]);
        for part in ["a&lt;b.y", "below 1", ">2<", "failed"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
