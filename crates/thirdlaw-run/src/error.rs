//! Why a run, an export or a rendering could not be made.

use crate::stepper::SimulationError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thirdlaw_scene::SceneErrors;

/// Why something could not be done with a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The scene is wrong; says where and how.
    Scene(SceneErrors),
    /// There is neither a built-in scene nor a file of this name.
    NoScene {
        /// As it was asked for.
        name: String,
        /// The built-in scene that may have been meant.
        nearest: Option<&'static str>,
    },
    /// A scene file that is not UTF-8.
    NotText {
        /// As it was asked for.
        name: String,
        /// The first byte that is wrong.
        byte: usize,
    },
    /// The simulation broke down; says where and when.
    Simulation(SimulationError),
    /// A file could not be read or written.
    File {
        /// What was tried: `read`, `write`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason of the operating system.
        reason: io::Error,
    },
    /// Another process is writing to the folder.
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds a run already.
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// What of a run is there.
        by: Occupant,
    },
    /// A `run.json` that is none, or of another version.
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The folder holds no run.
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The run has no frames to look at.
    NoFrames {
        /// Of the run.
        folder: PathBuf,
        /// Whether frames are kept at all.
        cache: bool,
        /// Begins the run again.
        command: String,
    },
    /// A frame of a run is missing or damaged.
    LostFrame {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        reason: io::Error,
        /// Begins the run again.
        command: String,
    },
    /// A frame that is whole, but not of this scene.
    ForeignFrame {
        /// Its file or number.
        frame: String,
        /// What is wrong with it.
        why: String,
    },
    /// The run cannot go on to the same bits.
    CannotResume {
        /// Of the run.
        folder: PathBuf,
        /// Why not.
        why: ResumeRefusal,
        /// Begins the run again.
        command: String,
    },
    /// What was to be written is there already.
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// A folder that was to be replaced holds a file of somebody else.
    ForeignFile {
        /// The folder.
        folder: PathBuf,
        /// Name of the file.
        name: String,
    },
    /// The run does not fit into one glTF file.
    TooLarge,
    /// A picture that was made before cannot be read.
    Picture {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        reason: io::Error,
    },
    /// The caller ended the work; nothing half done is left.
    Interrupted,
}

/// What of a run is in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// One that has ended.
    Finished,
    /// One that can be resumed.
    Unfinished,
    /// Files of a run without its record.
    Parts,
}

/// Why a run cannot go on to the same bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeRefusal {
    /// Another version of thirdlaw began it.
    OtherVersion(String),
    /// No frames were kept.
    NoCache,
    /// The scene has other bodies than it had.
    OtherBodies,
    /// The scene gives other settings than it did.
    OtherSettings,
}

impl RunError {
    /// For `map_err` on an operation on `path`.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
        let path = path.to_owned();
        move |reason| RunError::File { action, path, reason }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Scene(errors) => write!(f, "{}", errors.to_string().trim_end()),
            RunError::NoScene { name, nearest } => {
                write!(f, "there is no scene called {name}")?;
                nearest.map_or(Ok(()), |name| write!(f, "\ndid you mean {name}?"))
            }
            RunError::NotText { name, byte } => {
                write!(f, "{name}: not a text: byte {byte} is not UTF-8")
            }
            RunError::Simulation(error) => error.fmt(f),
            RunError::File { action, path, reason } => {
                write!(f, "cannot {action} {}: {reason}", path.display())
            }
            RunError::Locked { folder } => {
                let folder = folder.display();
                write!(
                    f,
                    "another thirdlaw is writing to {folder}; wait for it or choose another folder"
                )
            }
            RunError::Occupied { folder, by } => write!(f, "{} holds {by}", folder.display()),
            RunError::NotARecord { path, why } => write!(f, "{}: {why}", path.display()),
            RunError::NoRun { folder } => {
                let name = crate::record::FILE_NAME;
                write!(f, "{} holds no run: there is no {name} in it", folder.display())
            }
            RunError::NoFrames { folder, cache, command } => {
                let why = if *cache { "has no frames yet" } else { "was run without a cache" };
                write!(f, "{} {why}\nrun it anew with `{command}`", folder.display())
            }
            RunError::LostFrame { path, reason, command } => {
                write!(f, "cannot read {}: {reason}\nrun it anew with `{command}`", path.display())
            }
            RunError::ForeignFrame { frame, why } => write!(f, "{frame} cannot be used: {why}"),
            RunError::CannotResume { folder, why, command } => write!(
                f,
                "{} cannot be resumed: {why}\nstart it anew with `{command}`",
                folder.display()
            ),
            RunError::Exists { path } => write!(f, "{} is there already", path.display()),
            RunError::ForeignFile { folder, name } => {
                write!(f, "{} holds {name}, which is no export", folder.display())
            }
            RunError::TooLarge => write!(f, "this run is too large for one glTF file (2 GB)"),
            RunError::Picture { path, reason } => {
                write!(f, "cannot read {}: {reason}", path.display())
            }
            RunError::Interrupted => write!(f, "interrupted"),
        }
    }
}

impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Occupant::Finished => "a finished run",
            Occupant::Unfinished => "a run that is not finished",
            Occupant::Parts => "parts of a run",
        })
    }
}

impl fmt::Display for ResumeRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResumeRefusal::OtherVersion(begun_by) => write!(
                f,
                "it was begun by thirdlaw {begun_by}, and {} may not give the same bits",
                crate::record::VERSION
            ),
            ResumeRefusal::NoCache => write!(f, "it was run without a cache"),
            ResumeRefusal::OtherBodies => {
                write!(f, "its bodies have changed; has one of its mesh files?")
            }
            ResumeRefusal::OtherSettings => write!(f, "the scene gives other settings than it did"),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Scene(errors) => Some(errors),
            RunError::Simulation(error) => Some(error),
            RunError::File { reason, .. }
            | RunError::LostFrame { reason, .. }
            | RunError::Picture { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

impl From<SceneErrors> for RunError {
    fn from(errors: SceneErrors) -> RunError {
        RunError::Scene(errors)
    }
}

impl From<SimulationError> for RunError {
    fn from(error: SimulationError) -> RunError {
        RunError::Simulation(error)
    }
}
