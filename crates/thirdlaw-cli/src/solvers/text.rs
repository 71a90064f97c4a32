//! What the command prints.

use super::converge::{Contacts, Convergence};
use super::simulate::Motion;
use crate::print::{number, plural};
use std::fmt::Write;

/// What the solvers work on.
pub fn contacts(name: &str, contacts: &Contacts) -> String {
    let colors: Vec<String> = contacts.colors.iter().map(usize::to_string).collect();
    format!(
        "{name}, frame {}: {} bodies touch in {} at {}, at most {} on one body\n{}: {}\n",
        contacts.frame,
        contacts.bodies,
        plural(contacts.pairs, "pair"),
        plural(contacts.points, "point"),
        contacts.most_on_a_body,
        plural(contacts.colors.len(), "colour"),
        colors.join(" ")
    )
}

/// How they converge.
pub fn convergence(all: &[Convergence], budget: (u32, u32)) -> String {
    let last = all.first().map_or(0, |c| c.steps.len() - 1);
    let mut at = [budget.0 as usize, budget.1 as usize, last].map(|i| i.min(last)).to_vec();
    at.sort_unstable();
    at.dedup();
    let mut text = String::from("\naverage constraint violation, m/s, after so many iterations\n");
    let _ = write!(text, "{:<26} {:>10} {:>10}", "solver", "setup ms", "ms each");
    for i in &at {
        let _ = write!(text, " {i:>10}");
    }
    for c in all {
        let times = [c.setup_ms, c.iteration_ms].map(number);
        let _ = write!(text, "\n{:<26} {:>10} {:>10}", c.name, times[0], times[1]);
        for &i in &at {
            let _ = write!(text, " {:>10}", number(c.steps[i].closing));
        }
    }
    text + "\n"
}

/// How the scene went with them.
pub fn motion(all: &[Motion]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nsimulated, at rest over the last third of the frames\n");
    let _ = writeln!(
        text,
        "{:<26} {:>10} {:>16} {:>10} {:>10} {:>10} {:>10} {:>8}",
        "solver",
        "iterations",
        "J/kg median",
        "mean",
        "ms/frame",
        "solve ms",
        "overlap mm",
        "points"
    );
    for m in all {
        let iterations = if m.iterations > 0 { m.iterations.to_string() } else { "–".into() };
        let _ = writeln!(
            text,
            "{:<26} {iterations:>10} {:>16} {:>10} {:>10} {:>10} {:>10} {:>8}",
            m.name,
            number(m.rest_median),
            number(m.rest_mean),
            number(m.frame_ms),
            number(m.solve_ms),
            number(m.overlap * 1e3),
            m.contacts
        );
        if let Some(why) = &m.broken {
            let _ = writeln!(text, "  {} ended early: {why}", m.name);
        }
    }
    text
}
