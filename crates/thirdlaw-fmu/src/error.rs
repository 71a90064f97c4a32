//! What can be wrong with an FMU.

use std::path::PathBuf;

/// Why an FMU cannot be used or written.
#[derive(Debug)]
pub enum FmuError {
    /// A file that cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is no FMU, or none that can be used here.
    Unusable {
        /// The FMU.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// It has no such variable, or one of another size or kind.
    Variable {
        /// Its name.
        name: String,
        /// Why it cannot be used.
        problem: String,
    },
    /// One of its functions failed.
    Refused {
        /// Which.
        function: &'static str,
        /// What it said, if anything.
        message: String,
    },
}

impl FmuError {
    pub(crate) fn unusable(path: &std::path::Path, problem: impl Into<String>) -> FmuError {
        FmuError::Unusable { path: path.to_path_buf(), problem: problem.into() }
    }

    pub(crate) fn file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> FmuError {
        move |source| FmuError::File { path: path.to_path_buf(), source }
    }
}

impl std::fmt::Display for FmuError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FmuError::File { path, source } => write!(f, "{}: {source}", path.display()),
            FmuError::Unusable { path, problem } => write!(f, "{}: {problem}", path.display()),
            FmuError::Variable { name, problem } => write!(f, "its variable `{name}`: {problem}"),
            FmuError::Refused { function, message } if message.is_empty() => {
                write!(f, "its {function} failed and said nothing")
            }
            FmuError::Refused { function, message } => {
                write!(f, "its {function} failed: {message}")
            }
        }
    }
}

impl std::error::Error for FmuError {}
