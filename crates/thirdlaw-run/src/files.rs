//! Writing files so that a kill at any moment leaves either the old content or the new.

use crate::error::RunError;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ends the name of a file that is still being written.
pub(crate) const TEMPORARY: &str = ".tmp";

/// Replaces `path` by `bytes`, whole or not at all: written beside it, flushed to the disk, renamed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let temporary = temporary_name(path);
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|reason| {
        // what little was written may be what fills the disk
        let _ = fs::remove_file(&temporary);
        RunError::file("write", path)(reason)
    })
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Reads a file that may not be there.
pub(crate) fn read_if_present(path: &Path) -> Result<Option<Vec<u8>>, RunError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RunError::file("read", path)(error)),
    }
}

/// Where a file is written before it gets its name.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(TEMPORARY);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_reported_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/such/run.json");
        let error = write_whole(&path, b"x").unwrap_err();
        assert!(error.to_string().contains("no/such/run.json"), "{error}");
    }
}
