//! Going on with a run: from the last whole frame to the same bits.
//!
//! A frame is whole when its row in `stats.csv`, its rows in `poses.csv`, `points.csv`,
//! `joints.csv` and `coupling.csv` and its cache file are, and
//! the state in the file has the hash of the row. The run goes on after the longest sequence of
//! whole frames; since a frame is complete before the next one begins, a kill costs one at most.

use crate::cache::{CachedFrame, FrameCache};
use crate::clock;
use crate::coupling_record::CouplingRecord;
use crate::error::{ResumeRefusal, RunError};
use crate::folder::RunFolder;
use crate::record::{self, Machine, RunOutcome, RunRecord};
use crate::recording::read_record;
use crate::run::Run;
use crate::source::SceneSource;
use crate::stats;
use crate::stepper::Stepper;
use crate::stepper::crossing::{self, CouplingRow};
use crate::tables::Tables;
use crate::tables::coupling;
use crate::tables::table;
use std::path::{Path, PathBuf};
use thirdlaw_scene::{FrameStats, Scene};

/// A run that goes on.
pub struct Resumed {
    /// Ready to simulate.
    pub run: Run,
    /// The last frame that was kept; `None` where the run begins anew.
    pub after: Option<u32>,
    /// A frame that cannot be used and is simulated again: its file, and why.
    pub skipped: Option<(PathBuf, String)>,
}

/// Opens the run in `folder`, to go on after its last whole frame.
pub fn resume(folder: &Path) -> Result<Resumed, RunError> {
    let folder = RunFolder::claim(folder)?;
    let mut record = read_record(folder.path())?;
    let scene = load(&record, folder.path())?;
    record.machine = Machine::here(rayon::current_num_threads());
    record.outcome = RunOutcome::Running;
    reopen(scene, folder, record)
}

/// Builds the scene anew and makes sure that it is the one that was begun.
fn load(record: &RunRecord, folder: &Path) -> Result<Scene, RunError> {
    let refuse = |why: ResumeRefusal| {
        let command = record.command(folder);
        Err(RunError::CannotResume { folder: folder.into(), why, command })
    };
    if record.version != record::VERSION {
        return refuse(ResumeRefusal::OtherVersion(record.version.clone()));
    }
    if !record.cache {
        return refuse(ResumeRefusal::NoCache);
    }
    let scene = SceneSource::of_record(record).load(&record.scene.overrides)?;
    if stats::hash_text(scene.world.model().fingerprint()) != record.model {
        return refuse(ResumeRefusal::OtherBodies);
    }
    if record::settings_value(&scene)? != record.settings {
        return refuse(ResumeRefusal::OtherSettings);
    }
    Ok(scene)
}

/// Finds the last whole frame, brings the scene to it, and cuts off what lies beyond.
fn reopen(scene: Scene, folder: RunFolder, mut record: RunRecord) -> Result<Resumed, RunError> {
    let mut frames = stats_rows(&folder)?;
    frames.truncate(Tables::whole_frames(&folder, &record, &scene)?);
    let rows = coupling::read(&folder.coupling())?;
    if let Some(partition) = &scene.partition {
        let per_frame = partition.couplings.len() * scene.steps_per_frame as usize;
        frames.truncate(coupling::whole_frames(&rows, per_frame) as usize);
    }
    let mut stepper = Stepper::with_clock(scene.clone(), clock::monotonic)?;
    let (whole, skipped) = replay(&mut stepper, &folder.frames(), &frames, &rows)?;
    frames.truncate(whole);
    let Some(last) = frames.last().map(|stats| stats.frame) else {
        folder.clear(true)?;
        record.coupling = scene.partition.as_ref().map(CouplingRecord::new);
        let stepper = Stepper::with_clock(scene, clock::monotonic)?;
        let run = Run::begin(stepper, folder, record)?;
        return Ok(Resumed { run, after: None, skipped });
    };
    folder.frames().remove_after(Some(last))?;
    record.coupling = scene.partition.as_ref().map(|partition| {
        let mut books = CouplingRecord::new(partition);
        if let Some(before) = &record.coupling {
            (books.step_s, books.overhead) = (before.step_s, before.overhead);
            books.simulators.clone_from(&before.simulators);
        }
        for row in rows.iter().filter(|row| row.frame <= last) {
            // told when it happened
            let _told = books.take(row, partition);
        }
        books
    });
    let tables = Tables::reopen(&folder, &record, last + 1)?;
    record.resumed.push(last);
    record.write(folder.path())?;
    let run = Run::open(stepper, folder, record, frames, tables);
    Ok(Resumed { run, after: Some(last), skipped })
}

/// The measurements of the frames, as far as they go without a gap.
fn stats_rows(folder: &RunFolder) -> Result<Vec<FrameStats>, RunError> {
    let mut frames: Vec<FrameStats> = Vec::new();
    if !folder.stats().exists() {
        return Ok(frames);
    }
    table::scan(&folder.stats(), |frame, _, row| {
        if frame.is_none() {
            return row.iter().eq(stats::column_names());
        }
        match stats::from_row(row) {
            Some(stats) if stats.frame as usize == frames.len() => {
                frames.push(stats);
                true
            }
            _ => false,
        }
    })?;
    Ok(frames)
}

/// A frame that cannot be used: its file, and why.
type Skipped = Option<(PathBuf, String)>;

/// Shows the kept frames to the expectations, one after the other, and leaves the scene in the last
/// whole one; returns how many there are, and the file that ended them where it is damaged.
fn replay(
    stepper: &mut Stepper,
    cache: &FrameCache,
    frames: &[FrameStats],
    rows: &[CouplingRow],
) -> Result<(usize, Skipped), RunError> {
    let refuse = |frame: u32, why: String| {
        let frame = cache.path(frame).display().to_string();
        RunError::ForeignFrame { frame, why }
    };
    let mut last = None;
    let mut skipped = None;
    for stats in frames {
        let frame = stats.frame;
        let damage = match cache.read(frame)? {
            CachedFrame::Intact(saved) if saved.hash() == stats.hash => {
                let partition = stepper.scene().partition.as_ref();
                let books = partition.map_or(Vec::new(), |p| crossing::of_frame(rows, frame, p));
                stepper
                    .replay(stats, &saved, books)
                    .map_err(|error| refuse(frame, error.to_string()))?;
                last = Some((frame, saved));
                continue;
            }
            CachedFrame::OtherVersion(why) => return Err(refuse(frame, why)),
            CachedFrame::Missing => break,
            CachedFrame::Intact(_) => "its hash is not the one in stats.csv".into(),
            CachedFrame::Damaged(why) => why,
        };
        skipped = Some((cache.path(frame), damage));
        break;
    }
    let Some((frame, saved)) = last else { return Ok((0, skipped)) };
    stepper.load_coupled(&saved).map_err(|error| refuse(frame, error.to_string()))?;
    Ok((frame as usize + 1, skipped))
}
