//! Going on with a run: from the last whole frame to the same bits.
//!
//! A frame is whole when its row in `stats.csv`, its rows in `poses.csv`, `points.csv`,
//! `joints.csv` and `coupling.csv` and its cache file are, and
//! the state in the file has the hash of the row. The run goes on after the longest sequence of
//! whole frames; since a frame is complete before the next one begins, a kill costs one at most.

use crate::failure::Failure;
use crate::folder::RunFolder;
use crate::frames::CachedFrame;
use crate::ledger::{self, CouplingRecord, Row};
use crate::motor::{Motor, state_hash};
use crate::record::{self, Machine, Outcome, RunRecord};
use crate::recording::read_record;
use crate::session::{Past, Session, Tables};
use crate::source::SceneSource;
use crate::table::{self, Table};
use crate::{points, poses, stages, stats};
use std::path::{Path, PathBuf};
use thirdlaw_scene::{ExpectTracker, FrameStats, Scene};

/// A run that goes on.
pub struct Resumed {
    /// Ready to simulate.
    pub session: Session,
    /// The last frame that was kept; `None` where the run begins anew.
    pub after: Option<u32>,
    /// A frame that cannot be used and is simulated again: its file, and why.
    pub skipped: Option<(PathBuf, String)>,
}

/// Opens the run in a folder, to go on after its last whole frame.
pub fn resume(folder: RunFolder, threads: usize) -> Result<Resumed, Failure> {
    let mut record = read_record(folder.path())?;
    let scene = load(&record, folder.path())?;
    record.machine = Machine::here(threads);
    record.outcome = Outcome::Running;
    reopen(scene, folder, record)
}

/// Builds the scene anew and makes sure that it is the one that was begun.
fn load(record: &RunRecord, folder: &Path) -> Result<Scene, Failure> {
    let refuse = |why: &str| {
        Err(Failure::Input(format!(
            "{} cannot be resumed: {why}\nstart it anew with `{}`",
            folder.display(),
            record.command(folder)
        )))
    };
    if record.version != record::VERSION {
        return refuse(&format!(
            "it was begun by thirdlaw {}, and {} may not give the same bits",
            record.version,
            record::VERSION
        ));
    }
    if !record.cache {
        return refuse("it was run with --no-cache, so no frames were kept");
    }
    let scene = SceneSource::of_record(record).load(&record.scene.overrides)?;
    if stats::hash_text(scene.world.model().fingerprint()) != record.model {
        return refuse("its bodies have changed; has one of its mesh files?");
    }
    if record::settings_value(&scene)? != record.settings {
        return refuse("the scene gives other settings than it did");
    }
    Ok(scene)
}

/// Finds the last whole frame, brings the scene to it, and cuts off what lies beyond.
fn reopen(mut scene: Scene, folder: RunFolder, mut record: RunRecord) -> Result<Resumed, Failure> {
    let mut frames = stats_rows(&folder)?;
    if record.poses {
        let whole = match folder.poses().exists() {
            true => poses::whole_frames(&folder.poses(), scene.bodies.len())?,
            false => 0,
        };
        frames.truncate(whole as usize);
    }
    if record.joints {
        let whole = match folder.joints().exists() {
            true => poses::whole_frames(&folder.joints(), scene.joints.len())?,
            false => 0,
        };
        frames.truncate(whole as usize);
    }
    if record.points {
        let whole = match folder.points().exists() {
            true => poses::whole_frames(&folder.points(), points::count(&scene))?,
            false => 0,
        };
        frames.truncate(whole as usize);
    }
    let mut motor = Motor::new(&scene)?;
    let rows = ledger::read(&folder.coupling())?;
    if let Some(partition) = &scene.partition {
        let per_frame = partition.couplings.len() * scene.steps_per_frame as usize;
        frames.truncate(ledger::whole_frames(&rows, per_frame) as usize);
    }
    let mut tracker = ExpectTracker::new(&scene);
    let (whole, skipped) = replay(&mut scene, &mut motor, &folder, (&frames, &rows), &mut tracker)?;
    frames.truncate(whole);
    if frames.is_empty() {
        folder.clear(true)?;
        record.coupling = scene.partition.as_ref().map(CouplingRecord::new);
        let motor = Motor::new(&scene)?;
        let session = Session::begin(scene, motor, folder, record)?;
        return Ok(Resumed { session, after: None, skipped });
    }
    let last = frames.len() as u32 - 1;
    folder.frames().remove_after(Some(last))?;
    let poses = match record.poses {
        true => Some(Table::reopen(&folder.poses(), last + 1)?),
        false => None,
    };
    let joints = match record.joints {
        true => Some(Table::reopen(&folder.joints(), last + 1)?),
        false => None,
    };
    let points = match record.points {
        true => Some(Table::reopen(&folder.points(), last + 1)?),
        false => None,
    };
    // times are for people: where the table is gone it begins anew
    let stages = match folder.stages().exists() {
        true => Table::reopen(&folder.stages(), last + 1)?,
        false => Table::create(&folder.stages(), &stages::COLUMNS)?,
    };
    let stats = Table::reopen(&folder.stats(), last + 1)?;
    let coupling = match &scene.partition {
        Some(partition) => {
            let mut books = CouplingRecord::new(partition);
            if let Some(before) = &record.coupling {
                (books.step_s, books.overhead) = (before.step_s, before.overhead);
                books.simulators.clone_from(&before.simulators);
            }
            for row in rows.iter().filter(|row| row.frame <= last) {
                // said when it happened
                let _said = books.take(row, partition);
            }
            record.coupling = Some(books);
            Some(Table::reopen(&folder.coupling(), last + 1)?)
        }
        None => None,
    };
    let tables = Tables { stats, poses, joints, points, coupling, stages };
    record.resumed.push(last);
    record.write(folder.path())?;
    let session = Session::resume(scene, folder, record, Past { motor, frames, tracker, tables });
    Ok(Resumed { session, after: Some(last), skipped })
}

/// The measurements of the frames, as far as they go without a gap.
fn stats_rows(folder: &RunFolder) -> Result<Vec<FrameStats>, Failure> {
    let mut frames: Vec<FrameStats> = Vec::new();
    if !folder.stats().exists() {
        return Ok(frames);
    }
    table::scan(&folder.stats(), |frame, _, row| {
        if frame.is_none() {
            return row.iter().eq(stats::COLUMNS);
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

/// Shows the kept frames to the expectations, one after the other, and leaves the world in the last
/// whole one; returns how many there are, and the file that ended them where it is damaged.
fn replay(
    scene: &mut Scene,
    motor: &mut Motor,
    folder: &RunFolder,
    (frames, rows): (&[FrameStats], &[Row]),
    tracker: &mut ExpectTracker,
) -> Result<(usize, Option<(PathBuf, String)>), Failure> {
    let cache = folder.frames();
    let refuse = |frame: u32, why: &str| {
        Failure::Input(format!("{} cannot be used: {why}", cache.path(frame).display()))
    };
    let mut last = Vec::new();
    let mut whole = frames.len();
    let mut skipped = None;
    for stats in frames {
        let damage = match cache.read(stats.frame)? {
            CachedFrame::Intact(snapshot, coupled)
                if state_hash(snapshot.state.hash(), &coupled) == stats.hash =>
            {
                scene
                    .world
                    .restore(&snapshot)
                    .map_err(|error| refuse(stats.frame, &error.to_string()))?;
                last = coupled;
                if let Some(partition) = &scene.partition {
                    tracker.keep_books(ledger::frame(rows, stats.frame, partition));
                }
                tracker.observe(stats.time, stats, &scene.world, &scene.bodies);
                continue;
            }
            CachedFrame::OtherVersion(why) => return Err(refuse(stats.frame, &why)),
            CachedFrame::Intact(..) => "its hash is not the one in stats.csv".into(),
            CachedFrame::Damaged(why) => why,
            CachedFrame::Missing => {
                whole = stats.frame as usize;
                break;
            }
        };
        skipped = Some((cache.path(stats.frame), damage));
        whole = stats.frame as usize;
        break;
    }
    if whole > 0 {
        motor.load(&last).map_err(|why| refuse(whole as u32 - 1, &why))?;
    }
    Ok((whole, skipped))
}
