//! Stepping without a folder.

use super::{names, scene};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use thirdlaw_run::stepper::SavedFrame;
use thirdlaw_run::{Run, RunOptions, Stepper, stats, unwatched};

/// One world, and simulators that share a scene.
const SCENES: [&str; 2] = ["box-on-floor", "baraff1997/blocks"];

#[test]
fn a_stepper_makes_the_frames_of_a_run() {
    for name in SCENES {
        let folder = tempfile::tempdir().unwrap();
        let (source, scene) = scene(name, &[]);
        let mut stepper = Stepper::new(scene.clone()).unwrap();
        let options = RunOptions { frames: Some(8), ..RunOptions::default() };
        let mut run = Run::create(&source, scene, folder.path(), &options).unwrap();
        run.simulate(&mut unwatched).unwrap();
        let mut made = vec![stepper.stats().unwrap()];
        made.extend((0..8).map(|_| stepper.step().unwrap()));
        for (mut kept, made) in stats::read(folder.path()).unwrap().into_iter().zip(&made) {
            assert_eq!(made.step_ms, 0.0, "there is no clock");
            kept.step_ms = 0.0;
            assert_eq!(kept, *made, "{name}");
        }
        assert_eq!(run.stats().len(), made.len());
    }
}

#[test]
fn a_saved_frame_is_gone_back_to_through_its_bytes() {
    for name in SCENES {
        let (_, scene) = scene(name, &[]);
        let mut stepper = Stepper::new(scene.clone()).unwrap();
        for _ in 0..3 {
            stepper.step().unwrap();
        }
        let bytes = stepper.save().unwrap().to_bytes();
        let hashes: Vec<u64> = (0..3).map(|_| stepper.step().unwrap().hash).collect();
        let saved = SavedFrame::from_bytes(bytes).unwrap();
        // in the same stepper and in one that has never been there
        for mut stepper in [stepper, Stepper::new(scene).unwrap()] {
            stepper.restore(3, &saved).unwrap();
            assert_eq!((stepper.frame(), stepper.hash().unwrap()), (3, saved.hash()));
            let again: Vec<u64> = (0..3).map(|_| stepper.step().unwrap().hash).collect();
            assert_eq!(again, hashes, "{name}");
        }
    }
}

#[test]
fn expectations_see_what_a_stepper_measures() {
    let (_, scene) = scene("box-on-floor", &[]);
    let frames = scene.frames;
    let mut stepper = Stepper::new(scene).unwrap();
    for _ in 0..frames {
        stepper.step().unwrap();
    }
    let verdicts = stepper.verdicts();
    assert!(!verdicts.is_empty());
    for verdict in verdicts {
        assert!(verdict.passed && verdict.value.is_some(), "{verdict:?}");
    }
}

/// A microsecond later every time it is read.
fn ticking() -> u64 {
    static NOW: AtomicU64 = AtomicU64::new(0);
    NOW.fetch_add(1000, Ordering::Relaxed)
}

#[test]
fn times_are_those_of_the_clock_that_is_handed_in() {
    let (_, scene) = scene("box-on-floor", &[]);
    let mut stepper = Stepper::with_clock(scene, ticking).unwrap();
    let report = stepper.advance().unwrap();
    let stages: f64 = report.stages.ms().map(|(_, ms)| ms).sum();
    assert!(report.step_ms > 0.0 && stages > 0.0 && stages < report.step_ms, "{report:?}");
}

#[test]
fn a_scene_of_another_is_refused() {
    let (_, one) = scene("box-on-floor", &[]);
    let (_, other) = scene("pendulum", &[]);
    let saved = Stepper::new(one).unwrap().save().unwrap();
    assert!(Stepper::new(other).unwrap().restore(0, &saved).is_err());
}

/// What a browser does not have is not asked for: the stepper's files name neither files, clocks,
/// processes nor streams, and nothing of this crate that does.
#[test]
fn a_stepper_knows_no_file_clock_or_signal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stepper");
    for name in names(&folder) {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for word in ["std::fs", "std::time", "std::io", "std::path", "std::process", "print"] {
            let found =
                code.lines().find(|line| !line.trim().starts_with("//") && line.contains(word));
            // the model's fingerprint is no print
            let found = found.filter(|line| !line.contains("fingerprint"));
            assert_eq!(found, None, "{name}: {word}");
        }
        let mut of_crate = code.split("crate::").skip(1);
        assert!(of_crate.all(|path| path.starts_with("text")), "{name}: uses more of this crate");
    }
}
