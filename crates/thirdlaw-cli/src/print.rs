//! Text for people, to streams that may be closed at any moment (`thirdlaw scenes | head -1`).

use crate::failure::Failure;
use std::io::{ErrorKind, Write};
use std::path::Path;
pub use thirdlaw_run::text::{duration, number, plural};

/// Writes a result to standard output. A reader who has gone away is no failure; a full disk
/// behind `>` is.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::file("write", Path::new("standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Writes a remark to standard error, as a line. Nothing can be done where that is closed.
pub fn remark(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
