//! The scenes inside the library. Each file under `scenes/` is an example, a test and a benchmark.

use crate::names::nearest;

/// A scene inside the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Path under `scenes/` without its ending: `peers/boxes`.
    pub name: &'static str,
    /// TOML.
    pub text: &'static str,
}

impl Builtin {
    /// What the scene shows, in a line: its `title`.
    pub fn title(&self) -> &'static str {
        let line = self.text.lines().find(|l| l.starts_with("title"));
        line.and_then(|l| l.split('"').nth(1)).unwrap_or(self.name)
    }
}

include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// All scenes, sorted by name.
pub fn builtin() -> &'static [Builtin] {
    SCENES
}

/// A scene by its name.
pub fn find_builtin(name: &str) -> Option<&'static Builtin> {
    SCENES.iter().find(|s| s.name == name)
}

/// The scene that was probably meant: near in spelling, or the only one with that last part.
pub fn nearest_builtin(name: &str) -> Option<&'static str> {
    let last = |full: &'static str| full.rsplit('/').next().unwrap_or(full);
    let same: Vec<&'static str> =
        SCENES.iter().map(|s| s.name).filter(|n| last(n) == name).collect();
    same.first().copied().or_else(|| nearest(name, SCENES.iter().map(|s| s.name)))
}
