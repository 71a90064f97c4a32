//! Runs in folders: ended, gone on with, exported, reported.

use super::{names, scene};
use std::ops::ControlFlow;
use std::path::Path;
use tempfile::TempDir;
use thirdlaw_run::error::Occupant;
use thirdlaw_run::{
    Export, ExportFormat, Progress, Recording, Run, RunError, RunFolder, RunOptions, RunOutcome,
    report, resume, unwatched,
};

fn begin(name: &str, frames: u32) -> (TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let (source, scene) = scene(name, &[]);
    let options = RunOptions { frames: Some(frames), poses: true, ..RunOptions::default() };
    let run = Run::create(&source, scene, folder.path(), &options).unwrap();
    (folder, run)
}

/// Ends the work when so many frames are done.
fn until(frame: u32) -> impl FnMut(&Progress<'_>) -> ControlFlow<()> {
    move |progress| match progress.done >= frame {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// All that does not tell of time is the same, to the bit.
fn assert_same(a: &Path, b: &Path) {
    assert_eq!(names(&a.join("frames")), names(&b.join("frames")));
    for name in names(&a.join("frames")) {
        let read = |run: &Path| std::fs::read(run.join("frames").join(&name)).unwrap();
        assert!(read(a) == read(b), "{name}");
    }
    let read = |run: &Path| std::fs::read(run.join("poses.csv")).unwrap();
    assert!(read(a) == read(b));
    let read = |run: &Path| {
        let mut stats = thirdlaw_run::stats::read(run).unwrap();
        stats.iter_mut().for_each(|frame| frame.step_ms = 0.0);
        stats
    };
    assert_eq!(read(a), read(b));
}

#[test]
fn a_run_that_its_caller_ends_goes_on_to_the_same_bits() {
    for name in ["box-on-floor", "baraff1997/blocks"] {
        let (whole, mut run) = begin(name, 12);
        let outcome = run.simulate(&mut unwatched).unwrap();
        assert!(outcome.is_complete());
        let (folder, mut run) = begin(name, 12);
        assert_eq!(run.simulate(&mut until(5)).unwrap(), RunOutcome::Interrupted);
        assert_eq!(run.last_frame(), 5);
        // by the same program
        assert_eq!(run.simulate(&mut until(8)).unwrap(), RunOutcome::Interrupted);
        drop(run);
        // and by another one
        let mut resumed = resume(folder.path()).unwrap();
        assert_eq!((resumed.after, &resumed.skipped), (Some(8), &None));
        assert_eq!(resumed.run.simulate(&mut unwatched).unwrap(), outcome);
        assert_same(folder.path(), whole.path());
    }
}

#[test]
fn the_last_frame_completes_a_run_whoever_wants_it_to_end() {
    let (_folder, mut run) = begin("box-on-floor", 2);
    let mut told = Vec::new();
    let outcome = run.simulate(&mut |progress| {
        told.push((progress.done, progress.total));
        if progress.done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(outcome.unwrap().is_complete());
    assert_eq!(told, [(0, 2), (1, 2), (2, 2)]);
}

#[test]
fn errors_can_be_told_apart_and_sent() {
    fn sendable<E: std::error::Error + Send + Sync + 'static>() {}
    sendable::<RunError>();
    let (folder, run) = begin("box-on-floor", 2);
    let locked = resume(folder.path());
    assert!(matches!(locked, Err(RunError::Locked { .. })));
    drop(run);
    let claimed = RunFolder::claim(folder.path()).unwrap();
    let used = claimed.clear(false);
    assert!(matches!(used, Err(RunError::Occupied { by: Occupant::Unfinished, .. })));
    let none = thirdlaw_run::SceneSource::find("box-on-flor");
    assert!(matches!(none, Err(RunError::NoScene { nearest: Some("box-on-floor"), .. })));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(Recording::open(empty.path()), Err(RunError::NoRun { .. })));
}

#[test]
fn an_export_is_whole_or_not_there() {
    let (folder, mut run) = begin("box-on-floor", 4);
    run.simulate(&mut unwatched).unwrap();
    let recording = Recording::open(folder.path()).unwrap();
    let export = Export::of(&recording, None).unwrap();
    for format in [ExportFormat::Usd, ExportFormat::Vtk, ExportFormat::Obj, ExportFormat::Gltf] {
        let out = format.default_path(folder.path());
        let ended = export.write(format, &out, false, &mut until(2));
        assert!(matches!(ended, Err(RunError::Interrupted)), "{format:?}");
        assert!(!out.exists());
        export.write(format, &out, false, &mut unwatched).unwrap();
        let again = export.write(format, &out, false, &mut unwatched);
        assert!(out.exists() && matches!(again, Err(RunError::Exists { .. })), "{format:?}");
    }
    assert_eq!(names(&folder.path().join("export")), ["obj", "scene.glb", "scene.usda", "vtk"]);
}

#[test]
fn a_report_has_pictures_where_they_are_built() {
    let (folder, mut run) = begin("box-on-floor", 4);
    run.simulate(&mut unwatched).unwrap();
    let scene = run.stepper().scene().clone();
    report::write(folder.path(), run.record().clone(), scene).unwrap();
    let page = std::fs::read_to_string(folder.path().join(report::FILE_NAME)).unwrap();
    assert!(page.contains("<svg") && page.contains(run.record().final_hash.as_ref().unwrap()));
    assert_eq!(page.contains("<img"), cfg!(feature = "pictures"));
}
