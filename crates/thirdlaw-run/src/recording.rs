//! A run that is there already, to be looked at: its record, its scene, its frames.

use crate::cache::{CachedFrame, FrameCache};
use crate::error::RunError;
use crate::record::{self, RunRecord};
use crate::source::SceneSource;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use thirdlaw::Snapshot;
use thirdlaw_scene::Scene;

/// How deep runs are looked for; scenes are named `group/name` at most.
const DEPTH: usize = 4;

/// A run to be looked at.
pub struct Recording {
    /// Where it is.
    pub folder: PathBuf,
    /// What `run.json` says.
    pub record: RunRecord,
    /// The scene, built anew.
    pub scene: Scene,
    /// Number of the last frame that was kept; frame 0 is the initial state.
    pub last_frame: u32,
    cache: FrameCache,
    model: u64,
}

impl Recording {
    /// Opens the run in `folder`, which may still be at work.
    pub fn open(folder: &Path) -> Result<Recording, RunError> {
        let record = read_record(folder)?;
        if !record.cache {
            return Err(no_frames(folder, &record));
        }
        let scene = SceneSource::of_record(&record).load(&record.scene.overrides)?;
        Recording::of(folder, record, scene)
    }

    /// The run in `folder`, whose record and scene are at hand.
    pub(crate) fn of(
        folder: &Path,
        record: RunRecord,
        scene: Scene,
    ) -> Result<Recording, RunError> {
        let cache = FrameCache::of_run(folder);
        let kept = (0..=record.frames).take_while(|&frame| cache.path(frame).exists()).count();
        let Some(last_frame) = (kept as u32).checked_sub(1) else {
            return Err(no_frames(folder, &record));
        };
        if record.outcome.is_complete() && last_frame < record.frames {
            let (path, command) = (cache.path(last_frame + 1), record.command(folder));
            let reason = ErrorKind::NotFound.into();
            return Err(RunError::LostFrame { path, reason, command });
        }
        let model = scene.world.model().fingerprint();
        Ok(Recording { folder: folder.into(), record, scene, last_frame, cache, model })
    }

    /// The state of the world in a frame.
    pub fn frame(&self, frame: u32) -> Result<Snapshot, RunError> {
        let path = self.cache.path(frame);
        let refuse = |kind: ErrorKind, why: String| {
            let command = self.record.command(&self.folder);
            RunError::LostFrame { path, reason: Error::new(kind, why), command }
        };
        match self.cache.read(frame)? {
            CachedFrame::Intact(saved)
                if saved.snapshot.model == self.model
                    && saved.snapshot.state.bodies.len()
                        == self.scene.world.model().bodies.len() =>
            {
                Ok(saved.snapshot)
            }
            CachedFrame::Intact(..) => Err(refuse(
                ErrorKind::InvalidData,
                "it is of other bodies than the scene has; has one of its mesh files changed?"
                    .into(),
            )),
            CachedFrame::Missing => Err(refuse(ErrorKind::NotFound, "it is not there".into())),
            CachedFrame::Damaged(why) => {
                Err(refuse(ErrorKind::InvalidData, format!("the frame is damaged: {why}")))
            }
            CachedFrame::OtherVersion(why) => Err(refuse(ErrorKind::InvalidData, why)),
        }
    }
}

fn no_frames(folder: &Path, record: &RunRecord) -> RunError {
    let command = record.command(folder);
    RunError::NoFrames { folder: folder.into(), cache: record.cache, command }
}

/// The record of the run in `folder`.
pub fn read_record(folder: &Path) -> Result<RunRecord, RunError> {
    std::fs::read_dir(folder).map_err(RunError::file("read", folder))?;
    RunRecord::read(folder)?.ok_or_else(|| RunError::NoRun { folder: folder.into() })
}

/// The run under `folder` that was written to last.
pub fn latest(folder: &Path) -> Option<PathBuf> {
    let mut found = None;
    look_for_runs(folder, DEPTH, &mut found);
    found.map(|(_, folder)| folder)
}

/// Of two runs of the same moment the one whose name comes later counts as later.
fn look_for_runs(folder: &Path, depth: usize, latest: &mut Option<(SystemTime, PathBuf)>) {
    let record = folder.join(record::FILE_NAME);
    if let Ok(written) = record.metadata().and_then(|about| about.modified()) {
        let run = (written, folder.to_owned());
        if latest.as_ref().is_none_or(|best| *best < run) {
            *latest = Some(run);
        }
        return;
    }
    if depth == 0 {
        return;
    }
    // what cannot be read holds no run for this user
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            look_for_runs(&entry.path(), depth - 1, latest);
        }
    }
}
