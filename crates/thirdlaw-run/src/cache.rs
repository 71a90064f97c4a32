//! The cache of a run: one file a frame, the state of the world in it.
//!
//! `frames/frame-000123.3l` is a zstd-compressed [`SavedFrame`]. A frame is done when its file exists
//! under its name, so it is written last of all that belongs to the frame.

use crate::error::RunError;
use crate::files;
use crate::stepper::SavedFrame;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use thirdlaw::SnapshotError;

/// Ends the name of a frame.
const EXTENSION: &str = "3l";

/// States are mostly digits without pattern, on which higher levels gain little.
const COMPRESSION_LEVEL: i32 = 1;

/// The folder `frames/` of a run.
#[derive(Clone, Debug)]
pub struct FrameCache {
    folder: PathBuf,
}

/// What the file of a frame turned out to be.
#[derive(Debug)]
pub enum CachedFrame {
    /// One that can be used.
    Intact(Box<SavedFrame>),
    /// No such file.
    Missing,
    /// A file that cannot be used; says why.
    Damaged(String),
    /// A file in a format of another version; says which.
    OtherVersion(String),
}

impl FrameCache {
    /// The cache of the run in `folder`.
    pub fn of_run(folder: &Path) -> FrameCache {
        FrameCache { folder: folder.join("frames") }
    }

    /// Makes the folder.
    pub fn create(&self) -> Result<(), RunError> {
        fs::create_dir_all(&self.folder).map_err(RunError::file("create", &self.folder))
    }

    /// Whether there is anything in it.
    pub(crate) fn exists(&self) -> bool {
        self.folder.exists()
    }

    /// Where frame number `frame` is kept.
    pub fn path(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("frame-{frame:06}.{EXTENSION}"))
    }

    /// Reads a frame back. Only the operating system's refusal to read is a failure.
    pub fn read(&self, frame: u32) -> Result<CachedFrame, RunError> {
        let Some(bytes) = files::read_if_present(&self.path(frame))? else {
            return Ok(CachedFrame::Missing);
        };
        let Ok(bytes) = zstd::decode_all(bytes.as_slice()) else {
            return Ok(CachedFrame::Damaged("it cannot be decompressed".into()));
        };
        Ok(match SavedFrame::from_bytes(bytes) {
            Ok(saved) => CachedFrame::Intact(Box::new(saved)),
            Err(error @ (SnapshotError::Version { .. } | SnapshotError::Layout)) => {
                CachedFrame::OtherVersion(error.to_string())
            }
            Err(error) => CachedFrame::Damaged(error.to_string()),
        })
    }

    /// Removes the frames after `last` and what half-written files were left behind; all frames
    /// for `None`. Files that are not of this cache stay.
    pub(crate) fn remove_after(&self, last: Option<u32>) -> Result<(), RunError> {
        if !self.exists() {
            return Ok(());
        }
        let entries = fs::read_dir(&self.folder).map_err(RunError::file("read", &self.folder))?;
        for entry in entries {
            let path = entry.map_err(RunError::file("read", &self.folder))?.path();
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            let whole = name.strip_suffix(files::TEMPORARY);
            let stale = match frame_number(whole.unwrap_or(name)) {
                Some(frame) => whole.is_some() || last.is_none_or(|last| frame > last),
                None => false,
            };
            if stale {
                files::remove(&path)?;
            }
        }
        if last.is_none() {
            // fails where foreign files are left, which then keep their folder
            let _ = fs::remove_dir(&self.folder);
        }
        Ok(())
    }
}

/// Writes frames, each while the next one is simulated: waiting for the disk takes longer than many
/// a step. A frame is handed over only when the one before is safe, so a kill costs one at most.
#[derive(Debug)]
pub struct FrameWriter {
    cache: FrameCache,
    at_work: Option<JoinHandle<Result<(), RunError>>>,
}

impl FrameWriter {
    /// Writes to this cache.
    pub fn new(cache: FrameCache) -> FrameWriter {
        FrameWriter { cache, at_work: None }
    }

    /// Begins to write a frame. Only the disk is waited for elsewhere: compressing there would take
    /// time from the threads that step, and be measured as theirs.
    pub fn write(&mut self, frame: u32, saved: &SavedFrame) -> Result<(), RunError> {
        self.finish()?;
        let path = self.cache.path(frame);
        let bytes = zstd::encode_all(saved.to_bytes().as_slice(), COMPRESSION_LEVEL)
            .map_err(RunError::file("compress", &path))?;
        self.at_work = Some(std::thread::spawn(move || files::write_whole(&path, &bytes)));
        Ok(())
    }

    /// Waits until the last frame is on the disk.
    pub fn finish(&mut self) -> Result<(), RunError> {
        let Some(writing) = self.at_work.take() else {
            return Ok(());
        };
        let lost = || RunError::file("write", &self.cache.folder)(ErrorKind::Other.into());
        writing.join().unwrap_or_else(|_| Err(lost()))
    }
}

/// The number in the name of a frame's file.
fn frame_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("frame-")?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use thirdlaw::{Settings, World};

    fn cache() -> (tempfile::TempDir, FrameCache, SavedFrame) {
        let folder = tempfile::tempdir().unwrap();
        let cache = FrameCache::of_run(folder.path());
        cache.create().unwrap();
        let snapshot = World::new(Settings::default()).unwrap().save();
        (folder, cache, SavedFrame { snapshot, coupled: Vec::new() })
    }

    fn write(cache: &FrameCache, frame: u32, saved: &SavedFrame) {
        let mut writer = FrameWriter::new(cache.clone());
        writer.write(frame, saved).unwrap();
        writer.finish().unwrap();
    }

    #[test]
    fn a_frame_reads_back_as_it_was() {
        let (_folder, cache, alone) = cache();
        let with_others = SavedFrame { coupled: b"others".to_vec(), ..alone.clone() };
        for (frame, saved) in [(7, alone), (9, with_others)] {
            write(&cache, frame, &saved);
            let read = cache.read(frame).unwrap();
            assert!(matches!(read, CachedFrame::Intact(read) if *read == saved), "frame {frame}");
        }
        assert!(matches!(cache.read(8).unwrap(), CachedFrame::Missing));
    }

    #[test]
    fn a_frame_that_cannot_be_written_is_told() {
        let (folder, cache, snapshot) = cache();
        drop(folder);
        let mut writer = FrameWriter::new(cache);
        writer.write(0, &snapshot).unwrap();
        assert!(matches!(writer.write(1, &snapshot), Err(RunError::File { .. })));
    }

    #[test]
    fn every_cut_of_a_frame_is_noticed() {
        let (_folder, cache, snapshot) = cache();
        write(&cache, 0, &snapshot);
        let whole = fs::read(cache.path(0)).unwrap();
        for length in 0..whole.len() {
            fs::write(cache.path(0), &whole[..length]).unwrap();
            assert!(matches!(cache.read(0).unwrap(), CachedFrame::Damaged(_)), "{length} bytes");
        }
    }

    #[test]
    fn removal_spares_earlier_frames_and_foreign_files() {
        let (_folder, cache, snapshot) = cache();
        for frame in 0..4 {
            write(&cache, frame, &snapshot);
        }
        fs::write(cache.folder.join("frame-000001.3l.tmp"), "x").unwrap();
        fs::write(cache.folder.join("notes.txt"), "x").unwrap();
        cache.remove_after(Some(1)).unwrap();
        let mut names: Vec<_> = fs::read_dir(&cache.folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["frame-000000.3l", "frame-000001.3l", "notes.txt"]);
    }
}
