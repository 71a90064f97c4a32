//! `thirdlaw resume`: from the last whole frame to the same bits.
//!
//! A frame is whole when its row in `stats.csv`, its rows in `poses.csv` and `joints.csv` and its cache file are, and
//! the state in the file has the hash of the row. The run goes on after the longest sequence of
//! whole frames; since a frame is complete before the next one begins, a kill costs one at most.

use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::folder::RunFolder;
use crate::frames::CachedFrame;
use crate::interrupt::Interrupt;
use crate::record::{self, Machine, Outcome, RunRecord, core_count};
use crate::recording::read_record;
use crate::session::{Past, Session, Tables};
use crate::source::SceneSource;
use crate::table::{self, Table};
use crate::{poses, print, run, stats, summary, threads};
use std::path::Path;
use thirdlaw_scene::{ExpectTracker, FrameStats, Scene};

/// Goes on with the run in a folder.
pub fn resume(args: &ResumeArgs) -> Result<(), Failure> {
    // before the folder is claimed, which leaves a file in it
    let record = read_record(&args.folder)?;
    if record.outcome.is_final() {
        let shown = args.folder.display();
        print::result(&format!("{shown} is finished: {}\n", record.outcome_text()))?;
        return summary::verdict(&record);
    }
    let folder = RunFolder::claim(&args.folder)?;
    let mut record = read_record(&args.folder)?;
    let scene = load(&record, &args.folder)?;
    record.machine = Machine::here(args.threads.unwrap_or_else(core_count));
    record.outcome = Outcome::Running;
    let interrupt = Interrupt::listen()?;
    threads::install(record.machine.threads, || {
        run::work(reopen(scene, folder, record)?, &interrupt, args.quiet)
    })
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
    if run::settings_value(&scene)? != record.settings {
        return refuse("the scene gives other settings than it did");
    }
    Ok(scene)
}

/// Finds the last whole frame, brings the scene to it, and cuts off what lies beyond.
fn reopen(mut scene: Scene, folder: RunFolder, mut record: RunRecord) -> Result<Session, Failure> {
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
    let mut tracker = ExpectTracker::new(&scene);
    let whole = replay(&mut scene, &folder, &frames, &mut tracker)?;
    frames.truncate(whole);
    if frames.is_empty() {
        print::remark(&format!("{}: no frame was kept, begins anew", folder.path().display()));
        folder.clear(true)?;
        return Session::begin(scene, folder, record);
    }
    let last = frames.len() as u32 - 1;
    print::remark(&format!(
        "{}: goes on after frame {last} of {}",
        folder.path().display(),
        record.frames
    ));
    folder.frames().remove_after(Some(last))?;
    let poses = match record.poses {
        true => Some(Table::reopen(&folder.poses(), last + 1)?),
        false => None,
    };
    let joints = match record.joints {
        true => Some(Table::reopen(&folder.joints(), last + 1)?),
        false => None,
    };
    let tables = Tables { stats: Table::reopen(&folder.stats(), last + 1)?, poses, joints };
    record.resumed.push(last);
    record.write(folder.path())?;
    Ok(Session::resume(scene, folder, record, Past { frames, tracker, tables }))
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
/// whole one; returns how many there are.
fn replay(
    scene: &mut Scene,
    folder: &RunFolder,
    frames: &[FrameStats],
    tracker: &mut ExpectTracker,
) -> Result<usize, Failure> {
    let cache = folder.frames();
    let refuse = |frame: u32, why: &str| {
        Failure::Input(format!("{} cannot be used: {why}", cache.path(frame).display()))
    };
    for stats in frames {
        let damage = match cache.read(stats.frame)? {
            CachedFrame::Intact(snapshot) if snapshot.state.hash() == stats.hash => {
                scene
                    .world
                    .restore(&snapshot)
                    .map_err(|error| refuse(stats.frame, &error.to_string()))?;
                tracker.observe(stats.time, stats, &scene.world, &scene.bodies);
                continue;
            }
            CachedFrame::OtherVersion(why) => return Err(refuse(stats.frame, &why)),
            CachedFrame::Intact(_) => "its hash is not the one in stats.csv".into(),
            CachedFrame::Damaged(why) => why,
            CachedFrame::Missing => return Ok(stats.frame as usize),
        };
        print::remark(&format!(
            "{} is skipped and simulated again: {damage}",
            cache.path(stats.frame).display()
        ));
        return Ok(stats.frame as usize);
    }
    Ok(frames.len())
}
