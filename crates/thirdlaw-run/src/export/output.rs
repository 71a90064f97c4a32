//! Files and folders that appear when they are whole: written under another name, then renamed.

use crate::error::RunError;
use crate::files;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file being written; removed unless it is kept.
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    writer: Option<BufWriter<File>>,
}

impl NewFile {
    /// Begins a file; one that is there already is replaced only with `force`.
    pub fn create(path: &Path, force: bool) -> Result<NewFile, RunError> {
        refuse_existing(path, force)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(RunError::file("create", folder))?;
        }
        let temporary = files::temporary_name(path);
        let file = File::create(&temporary).map_err(RunError::file("write", path))?;
        let writer = Some(BufWriter::with_capacity(1 << 18, file));
        Ok(NewFile { path: path.into(), temporary, writer })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), RunError> {
        match &mut self.writer {
            Some(writer) => {
                writer.write_all(bytes.as_ref()).map_err(RunError::file("write", &self.path))
            }
            None => Ok(()),
        }
    }

    /// Gives the file its name.
    pub fn keep(mut self) -> Result<(), RunError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let finish = || -> std::io::Result<()> {
            writer.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_data()?;
            fs::rename(&self.temporary, &self.path)
        };
        finish().map_err(RunError::file("write", &self.path))
    }

    /// Ends writing and reads the file so far from its start, by `read`; then it is gone.
    pub fn into_scratch(
        mut self,
        read: impl FnOnce(&mut File) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.into_inner().map_err(|e| RunError::file("write", &self.path)(e.into_error()))?;
        let mut file = File::open(&self.temporary).map_err(RunError::file("read", &self.path))?;
        read(&mut file)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // renamed away where it was kept
        let _ = fs::remove_file(&self.temporary);
    }
}

/// A folder being filled; removed unless it is kept.
pub struct NewFolder {
    path: PathBuf,
    temporary: PathBuf,
}

impl NewFolder {
    /// Begins a folder; one that is there already is replaced only with `force`, and only if
    /// nothing is in it that `is_ours` does not know.
    pub fn create(
        path: &Path,
        force: bool,
        is_ours: fn(&str) -> bool,
    ) -> Result<NewFolder, RunError> {
        refuse_existing(path, force)?;
        if let Some(name) = foreign_file(path, is_ours)? {
            return Err(RunError::ForeignFile { folder: path.into(), name });
        }
        let temporary = files::temporary_name(path);
        if temporary.exists() {
            // left by a kill
            fs::remove_dir_all(&temporary).map_err(RunError::file("remove", &temporary))?;
        }
        fs::create_dir_all(&temporary).map_err(RunError::file("create", &temporary))?;
        Ok(NewFolder { path: path.into(), temporary })
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RunError> {
        let path = self.temporary.join(name);
        fs::write(&path, bytes).map_err(RunError::file("write", &path))
    }

    /// Gives the folder its name.
    pub fn keep(self) -> Result<(), RunError> {
        if self.path.exists() {
            fs::remove_dir_all(&self.path).map_err(RunError::file("remove", &self.path))?;
        }
        fs::rename(&self.temporary, &self.path).map_err(RunError::file("write", &self.path))
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

fn refuse_existing(path: &Path, force: bool) -> Result<(), RunError> {
    if !force && path.exists() {
        return Err(RunError::Exists { path: path.into() });
    }
    Ok(())
}

/// The first name in a folder that is not one of ours.
pub fn foreign_file(path: &Path, is_ours: fn(&str) -> bool) -> Result<Option<String>, RunError> {
    if !path.exists() {
        return Ok(None);
    }
    for entry in fs::read_dir(path).map_err(RunError::file("read", path))? {
        let name = entry.map_err(RunError::file("read", path))?.file_name();
        match name.to_str() {
            Some(name) if is_ours(name) => {}
            _ => return Ok(Some(name.to_string_lossy().into_owned())),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/a.usda");
        let mut file = NewFile::create(&path, false).unwrap();
        file.write("half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        let mut file = NewFile::create(&path, false).unwrap();
        file.write("whole").unwrap();
        file.keep().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert!(matches!(NewFile::create(&path, false), Err(RunError::Exists { .. })));
        assert!(NewFile::create(&path, true).is_ok());
        assert_eq!(fs::read(&path).unwrap(), b"whole", "not touched by what was not kept");
    }

    #[test]
    fn a_folder_is_replaced_whole_and_foreign_files_are_spared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vtk");
        let ours: fn(&str) -> bool = |name| name.ends_with(".vtu");
        let make = |name: &str, force| -> Result<(), RunError> {
            let new = NewFolder::create(&path, force, ours)?;
            new.write(name, b"x")?;
            new.keep()
        };
        make("a.vtu", false).unwrap();
        assert!(matches!(make("b.vtu", false), Err(RunError::Exists { .. })));
        make("b.vtu", true).unwrap();
        assert!(path.join("b.vtu").exists() && !path.join("a.vtu").exists());
        fs::write(path.join("notes.txt"), "mine").unwrap();
        let refused = make("c.vtu", true).unwrap_err();
        assert!(refused.to_string().contains("notes.txt"), "{refused}");
        assert!(path.join("notes.txt").exists() && !folder.path().join("vtk.tmp").exists());
    }
}
