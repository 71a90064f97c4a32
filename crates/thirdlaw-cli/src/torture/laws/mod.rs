//! What holds in every scene, one file each. A law reads what a scene did and says whether it was kept; those
//! that compare let the scene be run again, otherwise.
//!
//! Adding a law: a file with `judge`, and a line in [`LAWS`].

mod compare;
mod energy;
mod finite;
mod half_step;
mod inverted;
mod lost;
mod measures;
mod momentum;
mod one_world;
mod overlap;
mod paths;
mod solved;
mod symmetry;
mod time;

use super::sketch::Sketch;
use super::trace::Trace;
use std::cell::OnceCell;

/// What became of a law.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Kept.
    Held,
    /// Broken; says how.
    Failed(String),
    /// Could not be judged, though it applies; says why.
    Skipped(&'static str),
    /// Does not apply to this scene.
    Silent,
}

/// A law.
#[derive(Clone, Copy)]
pub struct Law {
    /// Its name in tables.
    pub name: &'static str,
    /// Whether it was kept.
    pub judge: fn(&Case) -> Verdict,
    /// Whether it runs the scene again, so that it is not worth asking once the first run broke.
    pub compares: bool,
}

/// All laws, in the order in which they are judged.
pub const LAWS: [Law; 16] = [
    Law { name: "finite", judge: finite::judge, compares: false },
    Law { name: "lost", judge: lost::judge, compares: false },
    Law { name: "inverted", judge: inverted::judge, compares: false },
    Law { name: "time", judge: time::judge, compares: false },
    Law { name: "energy", judge: energy::judge, compares: false },
    Law { name: "momentum", judge: momentum::judge, compares: false },
    Law { name: "overlap", judge: overlap::judge, compares: false },
    Law { name: "measures", judge: measures::judge, compares: false },
    Law { name: "solved", judge: solved::judge, compares: false },
    Law { name: "one-world", judge: one_world::judge, compares: true },
    Law { name: "paths", judge: paths::judge, compares: true },
    Law { name: "half-step", judge: half_step::judge, compares: true },
    Law { name: "shift", judge: symmetry::shift, compares: true },
    Law { name: "turn", judge: symmetry::turn, compares: true },
    Law { name: "mirror", judge: symmetry::mirror, compares: true },
    Law { name: "scale", judge: symmetry::scale, compares: true },
];

/// Runs a scene for so many frames; an error says why it was refused.
pub type Run<'a> = &'a dyn Fn(&Sketch, u32) -> Result<Trace, String>;

/// A scene and what it did.
pub struct Case<'a> {
    /// The scene.
    pub sketch: &'a Sketch,
    /// What it did.
    pub trace: &'a Trace,
    /// Runs others.
    pub run: Run<'a>,
    horizon: OnceCell<usize>,
    solved: OnceCell<Option<symmetry::Solved>>,
}

impl<'a> Case<'a> {
    /// A scene and what it did.
    pub fn new(sketch: &'a Sketch, trace: &'a Trace, run: Run<'a>) -> Case<'a> {
        Case { sketch, trace, run, horizon: OnceCell::new(), solved: OnceCell::new() }
    }
}

/// The law of this name.
pub fn find(name: &str) -> Option<Law> {
    LAWS.into_iter().find(|law| law.name == name)
}

#[cfg(test)]
mod tests;
