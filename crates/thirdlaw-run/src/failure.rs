//! Everything that ends the command early, each with its exit code.

use crate::stepper::SimulationError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thirdlaw_scene::SceneErrors;

/// Why the command did not end well.
#[derive(Debug)]
pub enum Failure {
    /// The run came to its end, but these expectations of the scene do not hold.
    Expectations(Vec<String>),
    /// What was asked for makes no sense; says why and what would.
    Input(String),
    /// The simulation broke down; says where and when.
    Simulation(String),
    /// A file could not be read or written.
    File {
        /// What was tried: `read`, `write`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason of the operating system.
        reason: io::Error,
        /// What to do about it; may be empty.
        hint: String,
    },
    /// Stopped from outside; the summary has said how to go on.
    Interrupted,
}

impl Failure {
    /// For `map_err` on an operation on `path`.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        let path = path.to_owned();
        move |reason| Failure::File { action, path, reason, hint: String::new() }
    }

    /// The same failure with advice, where it is about a file.
    pub fn with_hint(self, advice: impl FnOnce() -> String) -> Failure {
        match self {
            Failure::File { action, path, reason, .. } => {
                Failure::File { action, path, reason, hint: advice() }
            }
            other => other,
        }
    }

    /// What the process returns to the shell.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Expectations(_) => 1,
            Failure::Input(_) => 2,
            Failure::Simulation(_) => 3,
            Failure::File { .. } => 4,
            Failure::Interrupted => 130,
        }
    }

    /// Whether the user has been told already.
    pub fn is_reported(&self) -> bool {
        matches!(self, Failure::Interrupted)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Expectations(failed) => {
                write!(
                    f,
                    "{} of the scene failed:",
                    if failed.len() == 1 { "an expectation" } else { "expectations" }
                )?;
                failed.iter().try_for_each(|text| write!(f, "\n  {text}"))
            }
            Failure::Input(what) | Failure::Simulation(what) => write!(f, "{what}"),
            Failure::File { action, path, reason, hint } => {
                write!(f, "cannot {action} {}: {reason}", path.display())?;
                if hint.is_empty() { Ok(()) } else { write!(f, "\n{hint}") }
            }
            Failure::Interrupted => write!(f, "interrupted"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<SceneErrors> for Failure {
    fn from(errors: SceneErrors) -> Failure {
        Failure::Input(errors.to_string().trim_end().into())
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Failure {
        Failure::Simulation(error.to_string())
    }
}
