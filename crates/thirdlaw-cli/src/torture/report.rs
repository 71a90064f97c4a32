//! What became of all scenes, as a table: kinds down, laws across.

use super::kinds::KINDS;
use super::laws::LAWS;
use super::worker::{Answer, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Pairs of kind and law that are known to break.
const KNOWN: &str = include_str!("known.txt");
/// Share of scenes refused and of laws skipped that is too much.
pub const TOO_MANY: f64 = 0.01;

/// Share of couplings that may end in an error which names a link.
pub const MAY_END: f64 = 0.02;
/// The law that they break; how many do is judged, not which.
const SOLVED: &str = "solved";

/// A scene and what became of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Number of the scene.
    pub scene: u64,
    /// Its kind.
    pub kind: &'static str,
    /// What became of it.
    pub answer: Answer,
}

/// A broken law.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Number of the scene.
    pub scene: u64,
    /// Its kind.
    pub kind: &'static str,
    /// The law.
    pub law: String,
    /// How it was broken.
    pub how: String,
}

impl Broken {
    /// Whether the engine is known to break this law in scenes of this kind.
    pub fn is_known(&self) -> bool {
        self.law == SOLVED || is_known(KNOWN, self.kind, &self.law)
    }
}

fn is_known(list: &str, kind: &str, law: &str) -> bool {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_whitespace()).any(|mut words| {
        let fits = |word: Option<&str>, name: &str| word.is_some_and(|w| w == name || w == "*");
        fits(words.next(), kind) && fits(words.next(), law)
    })
}

/// All broken laws, in the order of scenes.
pub fn broken(all: &[Judged]) -> Vec<Broken> {
    let mut list = Vec::new();
    for Judged { scene, kind, answer } in all {
        let mut push = |law: &str, how: &str| {
            list.push(Broken { scene: *scene, kind, law: law.into(), how: how.into() });
        };
        match answer {
            Answer::Judged(verdicts) => {
                for (law, outcome) in verdicts {
                    if let Outcome::Failed(how) = outcome {
                        push(law, how);
                    }
                }
            }
            Answer::Hung(what) => push("time", what),
            Answer::Died => push("finite", "the process that computed it died"),
            _ => {}
        }
    }
    list
}

/// Numbers of one cell.
#[derive(Clone, Copy, Default)]
struct Cell {
    judged: usize,
    failed: usize,
    known: usize,
    skipped: usize,
}

/// The table.
pub fn table(all: &[Judged]) -> String {
    let mut cells: BTreeMap<(&str, &str), Cell> = BTreeMap::new();
    for judged in all {
        let Answer::Judged(verdicts) = &judged.answer else { continue };
        for (law, outcome) in verdicts {
            let Some(law) = LAWS.iter().find(|l| l.name == law) else { continue };
            let cell = cells.entry((judged.kind, law.name)).or_default();
            cell.judged += usize::from(matches!(outcome, Outcome::Held | Outcome::Failed(_)));
            cell.skipped += usize::from(*outcome == Outcome::Skipped);
        }
    }
    let list = broken(all);
    for broken in &list {
        let Some(law) = LAWS.iter().find(|l| l.name == broken.law) else { continue };
        let cell = cells.entry((broken.kind, law.name)).or_default();
        if broken.is_known() { cell.known += 1 } else { cell.failed += 1 }
    }
    let mut out = format!("{:<12}{:>7}{:>8}", "kind", "scenes", "refused");
    for law in LAWS {
        let _ = write!(out, "{:>11}", law.name);
    }
    out.push('\n');
    for kind in KINDS {
        let of_kind = || all.iter().filter(|j| j.kind == kind.name);
        if of_kind().count() == 0 {
            continue;
        }
        let refused = of_kind().filter(|j| matches!(j.answer, Answer::Refused(_))).count();
        let _ = write!(out, "{:<12}{:>7}{refused:>8}", kind.name, of_kind().count());
        for law in LAWS {
            let cell = cells.get(&(kind.name, law.name)).copied().unwrap_or_default();
            let _ = write!(out, "{:>11}", text(cell));
        }
        out.push('\n');
    }
    out.push_str("judged, !failed, ~known to fail, ?skipped\n");
    out + &sums(all, &list, cells.values())
}

fn text(cell: Cell) -> String {
    let mut text = cell.judged.to_string();
    for (mark, count) in [('!', cell.failed), ('~', cell.known), ('?', cell.skipped)] {
        if count > 0 {
            let _ = write!(text, "{mark}{count}");
        }
    }
    text
}

fn sums<'a>(all: &[Judged], list: &[Broken], cells: impl Iterator<Item = &'a Cell>) -> String {
    let (mut judged, mut skipped) = (0, 0);
    cells.for_each(|cell| (judged, skipped) = (judged + cell.judged, skipped + cell.skipped));
    let known = list.iter().filter(|b| b.is_known()).count();
    let refused = share(all).0;
    format!(
        "{} scenes, {judged} verdicts: {} failed, {known} known; refused {:.2} %, skipped {:.2} %; couplings ended by \
         an error {:.2} %\n",
        all.len(),
        list.len() - known,
        100.0 * refused,
        100.0 * skipped as f64 / (judged + skipped).max(1) as f64,
        100.0 * unsolved(all)
    )
}

/// Share of couplings that ended in an error which names a link.
pub fn unsolved(all: &[Judged]) -> f64 {
    let (mut judged, mut ended) = (0, 0);
    for answer in all.iter().map(|judged| &judged.answer) {
        let Answer::Judged(verdicts) = answer else { continue };
        for (_, outcome) in verdicts.iter().filter(|(law, _)| law == SOLVED) {
            judged += usize::from(*outcome != Outcome::Silent);
            ended += usize::from(matches!(outcome, Outcome::Failed(_)));
        }
    }
    ended as f64 / judged.max(1) as f64
}

/// Share of scenes refused, and of verdicts skipped.
pub fn share(all: &[Judged]) -> (f64, f64) {
    let refused = all.iter().filter(|j| matches!(j.answer, Answer::Refused(_))).count();
    let outcomes = || {
        all.iter().flat_map(|j| match &j.answer {
            Answer::Judged(verdicts) => verdicts.as_slice(),
            _ => &[],
        })
    };
    let skipped = outcomes().filter(|(_, o)| *o == Outcome::Skipped).count();
    let asked = outcomes().filter(|(_, o)| *o != Outcome::Silent).count();
    (refused as f64 / all.len().max(1) as f64, skipped as f64 / asked.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_pairs_are_read_and_others_are_not() {
        let list = "# heap finite\ntower energy because\n* scale everywhere\n";
        assert!(is_known(list, "tower", "energy") && is_known(list, "heap", "scale"));
        assert!(!is_known(list, "heap", "finite") && !is_known(list, "tower", "lost"));
    }

    /// Every line of the list names a kind and a law that exist, and a reason.
    #[test]
    fn the_list_of_known_failures_is_sound() {
        for line in KNOWN.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let (kind, law) = (words.next().unwrap(), words.next().unwrap());
            assert!(kind == "*" || KINDS.iter().any(|k| k.name == kind), "{line}");
            assert!(LAWS.iter().any(|l| l.name == law), "{line}");
            assert!(words.count() >= 3, "{line}: a reason is missing");
        }
    }
}
