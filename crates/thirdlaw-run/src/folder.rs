//! The folder of a run: what may be put there, what is ours in it, and who writes to it.

use crate::cache::FrameCache;
use crate::error::{Occupant, RunError};
use crate::files;
use crate::record::{self, RunRecord};
use crate::{export, picture_files, report};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the table of measurements.
pub(crate) const STATS: &str = "stats.csv";
/// Name of the table of times by stage.
pub(crate) const STAGES: &str = "stages.csv";
const POSES: &str = "poses.csv";
const JOINTS: &str = "joints.csv";
const CONTACTS: &str = "contacts.csv";
const POINTS: &str = "points.csv";
/// Name of the table of what crossed couplings.
pub(crate) const COUPLING: &str = "coupling.csv";
const LOCK: &str = ".lock";

/// A killed process holds its lock until the disk has let go of it.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// A run's folder that this process may write to.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held until the process ends, however it ends.
    _lock: File,
}

impl RunFolder {
    /// Makes the folder if need be and keeps other processes from writing to it.
    pub fn claim(path: &Path) -> Result<RunFolder, RunError> {
        Ok(RunFolder { path: path.into(), _lock: lock(path)? })
    }

    /// Makes room for a new run. What another run has left is removed with `force` and otherwise a
    /// reason to refuse; what is not ours stays.
    pub fn clear(&self, force: bool) -> Result<(), RunError> {
        if !force {
            self.refuse_if_used()?;
        }
        // the record first: without it nothing can take the rest for a run that can be resumed
        files::remove(&self.path.join(record::FILE_NAME))?;
        files::remove(&self.stats())?;
        files::remove(&self.poses())?;
        files::remove(&self.joints())?;
        files::remove(&self.contacts())?;
        files::remove(&self.points())?;
        files::remove(&self.coupling())?;
        files::remove(&self.stages())?;
        files::remove(&self.path.join(report::FILE_NAME))?;
        picture_files::remove_results(&self.path)?;
        export::remove_results(&self.path)?;
        self.frames().remove_after(None)
    }

    fn refuse_if_used(&self) -> Result<(), RunError> {
        let by = match RunRecord::read(&self.path)? {
            Some(record) if record.outcome.is_final() => Occupant::Finished,
            Some(_) => Occupant::Unfinished,
            None if self.stats().exists() || self.poses().exists() || self.frames().exists() => {
                Occupant::Parts
            }
            None => return Ok(()),
        };
        Err(RunError::Occupied { folder: self.path.clone(), by })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where `stats.csv` is.
    pub(crate) fn stats(&self) -> PathBuf {
        self.path.join(STATS)
    }

    /// Where `poses.csv` is.
    pub(crate) fn poses(&self) -> PathBuf {
        self.path.join(POSES)
    }

    /// Where `contacts.csv` is.
    pub(crate) fn contacts(&self) -> PathBuf {
        self.path.join(CONTACTS)
    }

    /// Where `joints.csv` is.
    pub(crate) fn joints(&self) -> PathBuf {
        self.path.join(JOINTS)
    }

    /// Where `points.csv` is.
    pub(crate) fn points(&self) -> PathBuf {
        self.path.join(POINTS)
    }

    /// Where `coupling.csv` is.
    pub(crate) fn coupling(&self) -> PathBuf {
        self.path.join(COUPLING)
    }

    /// Where `stages.csv` is.
    pub(crate) fn stages(&self) -> PathBuf {
        self.path.join(STAGES)
    }

    /// The cache.
    pub(crate) fn frames(&self) -> FrameCache {
        FrameCache::of_run(&self.path)
    }
}

/// Makes a folder if need be and keeps other processes from locking it as long as the file lives.
pub(crate) fn lock(path: &Path) -> Result<File, RunError> {
    std::fs::create_dir_all(path).map_err(RunError::file("create", path))?;
    let lock_path = path.join(LOCK);
    let lock = File::create(&lock_path).map_err(RunError::file("write", &lock_path))?;
    let patience = Instant::now();
    loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) if patience.elapsed() < LOCK_WAIT => {
                std::thread::sleep(LOCK_WAIT / 50);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(RunError::Locked { folder: path.into() });
            }
            // a file system without locks has to do without
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(lock),
        }
    }
}

/// Removes the mark that a lock leaves.
pub(crate) fn remove_lock(path: &Path) -> Result<(), RunError> {
    files::remove(&path.join(LOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let first = RunFolder::claim(folder.path()).unwrap();
        assert!(matches!(RunFolder::claim(folder.path()), Err(RunError::Locked { .. })));
        drop(first);
        RunFolder::claim(folder.path()).unwrap();
    }

    #[test]
    fn foreign_files_survive_and_parts_of_a_run_need_force() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        let claimed = RunFolder::claim(folder.path()).unwrap();
        claimed.clear(false).unwrap();
        std::fs::write(claimed.stats(), "").unwrap();
        let parts = |error| matches!(error, RunError::Occupied { by: Occupant::Parts, .. });
        assert!(claimed.clear(false).is_err_and(parts));
        claimed.clear(true).unwrap();
        assert!(!claimed.stats().exists());
        assert!(folder.path().join("notes.txt").exists());
    }
}
