//! Everything that ends the command early, each with its exit code.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thirdlaw_run::error::{Occupant, ResumeRefusal, RunError};
use thirdlaw_run::stepper::SimulationError;
use thirdlaw_scene::SceneErrors;

/// Why the command did not end well.
#[derive(Debug)]
pub enum Failure {
    /// The run came to its end, but these expectations of the scene do not hold.
    Expectations(Vec<String>),
    /// Random scenes broke these laws.
    Laws(Vec<String>),
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
            Failure::Expectations(_) | Failure::Laws(_) => 1,
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
            Failure::Laws(broken) => {
                write!(f, "laws were broken:")?;
                broken.iter().try_for_each(|text| write!(f, "\n  {text}"))
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

impl From<RunError> for Failure {
    /// What the library says, with the options and commands that help.
    fn from(error: RunError) -> Failure {
        let text = error.to_string();
        match error {
            RunError::Simulation(_) => Failure::Simulation(text),
            RunError::Interrupted => Failure::Interrupted,
            RunError::File { action, path, reason } => Failure::file(action, &path)(reason),
            RunError::LostFrame { path, reason, command } => {
                let missing = match reason.kind() {
                    io::ErrorKind::NotFound if reason.get_ref().is_none() => {
                        "a frame of the run is missing; "
                    }
                    _ => "",
                };
                let hint = format!("{missing}run it anew with `{command}`");
                Failure::file("read", &path)(reason).with_hint(|| hint)
            }
            RunError::Picture { path, reason } => Failure::file("read", &path)(reason)
                .with_hint(|| "add --force to make all pictures anew".into()),
            other => Failure::Input(input(&other).unwrap_or(text)),
        }
    }
}

/// What the command says of bad input where it can say more than the library.
fn input(error: &RunError) -> Option<String> {
    let replace = "add --force to replace it, or --out DIR to keep both";
    Some(match error {
        RunError::NoScene { nearest: None, .. } => format!(
            "{error}\n`thirdlaw scenes` lists the built-in ones; the path of a file ends in .toml"
        ),
        RunError::Occupied { folder, by: Occupant::Unfinished } => {
            let folder = folder.display();
            format!("{error}\ngo on with it by `thirdlaw resume {folder}`, {replace}")
        }
        RunError::Occupied { .. } => format!("{error}\n{replace}"),
        RunError::NoFrames { folder, cache: false, command } => format!(
            "{} was run with --no-cache, so it has no frames to show\nrun it anew with `{command}`",
            folder.display()
        ),
        RunError::CannotResume { folder, why: ResumeRefusal::NoCache, command } => format!(
            "{} cannot be resumed: it was run with --no-cache, so no frames were kept\n\
             start it anew with `{command}`",
            folder.display()
        ),
        RunError::Exists { .. } => {
            format!("{error}\nadd --force to replace it, or --out to write elsewhere")
        }
        RunError::ForeignFile { .. } => format!("{error}; choose another folder with --out"),
        RunError::TooLarge => {
            format!("{error}\nexport fewer frames, such as `--frames ..:4`, or export to usd")
        }
        _ => return None,
    })
}

impl From<SceneErrors> for Failure {
    fn from(errors: SceneErrors) -> Failure {
        RunError::from(errors).into()
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Failure {
        RunError::from(error).into()
    }
}
