//! Interruption at any moment, and going on to the same bits.

use super::*;
use std::time::{Duration, Instant};

/// Waits until the run in `folder` has at least this many frames.
fn wait_for_frames(run: &mut Started, folder: &Path, frames: usize) {
    let patience = Instant::now();
    while frame_files(folder) < frames {
        assert!(run.child().try_wait().unwrap().is_none(), "ended before frame {frames}");
        assert!(patience.elapsed() < Duration::from_secs(60), "no frame {frames} in a minute");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn assert_same(resumed: &Run, whole: &Run) {
    assert_eq!(resumed.column("frame"), whole.column("frame"));
    assert_eq!(resumed.column("hash"), whole.column("hash"));
    assert_eq!(resumed.final_hash(), whole.final_hash());
    assert_eq!(resumed.frame_files(), whole.frame_files());
    assert_eq!(resumed.record["expectations"], whole.record["expectations"]);
    let poses = |run: &Run| std::fs::read(run.folder.join("poses.csv")).unwrap();
    assert!(poses(resumed) == poses(whole), "poses differ");
}

#[test]
fn a_killed_run_ends_in_the_same_bits_and_loses_one_frame_at_most() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --poses --out whole").expect_code(0);
    let whole = Run::read(&workplace.path("whole"));
    for frames in [0, 1, 2, 13, 37, 58] {
        let name = format!("killed-{frames}");
        let folder = workplace.path(&name);
        let mut run = workplace.start(&format!("run boxes.toml --poses --out {name}"));
        wait_for_frames(&mut run, &folder, frames);
        run.kill();
        if !folder.join("run.json").exists() {
            continue; // killed before anything was begun
        }
        let kept = frame_files(&folder);
        workplace.thirdlaw(&format!("resume {name} --threads 3")).expect_code(0);
        let resumed = Run::read(&folder);
        assert_same(&resumed, &whole);
        if let Some(from) = resumed.record["resumed"][0].as_u64() {
            assert_eq!(from + 1, kept as u64, "every frame that has its file is kept");
        }
    }
}

/// At moments that have nothing to do with frames. A frame is simulated again only if it was measured
/// already, which its row in `stats.csv` shows, but its file was not there yet.
#[test]
#[ignore = "takes half a minute; scripts/test-long runs it"]
fn twenty_kills_at_random_moments_cost_one_frame_each_at_most() {
    let workplace = Workplace::new();
    let clock = Instant::now();
    workplace.thirdlaw("run boxes.toml --poses --out whole").expect_code(0);
    let length = clock.elapsed();
    let whole = Run::read(&workplace.path("whole"));
    let (mut kills, mut tries, mut again) = (0, 0, 0);
    let mut random = 0x2545_F491_4F6C_DD1Du64;
    while kills < 20 {
        tries += 1;
        assert!(tries < 200, "{kills} kills in {tries} tries");
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let name = format!("killed-{tries}");
        let folder = workplace.path(&name);
        let mut run = workplace.start(&format!("run boxes.toml --poses --out {name}"));
        std::thread::sleep(length.mul_f64((random % 1000) as f64 / 1000.0));
        if run.child().try_wait().unwrap().is_some() {
            continue; // over before the kill
        }
        run.kill();
        let Ok(rows) = std::fs::read_to_string(folder.join("stats.csv")) else {
            continue; // nothing was begun
        };
        let measured = rows.matches('\n').count().saturating_sub(1);
        if measured == 0 || measured > 60 {
            continue;
        }
        kills += 1;
        workplace.thirdlaw(&format!("resume {name}")).expect_code(0);
        let resumed = Run::read(&folder);
        assert_same(&resumed, &whole);
        let kept = resumed.record["resumed"][0].as_u64().map_or(0, |frame| frame as usize + 1);
        assert!(
            kept <= measured && measured - kept <= 1,
            "{measured} frames measured, {kept} kept"
        );
        again += measured - kept;
        std::fs::remove_dir_all(&folder).unwrap();
    }
    println!("{again} frames simulated again after {kills} kills");
}

#[test]
fn a_run_may_be_killed_many_times() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --poses --out whole").expect_code(0);
    let folder = workplace.path("killed");
    let mut run = workplace.start("run boxes.toml --poses --out killed");
    for frames in [5, 20, 33, 50] {
        wait_for_frames(&mut run, &folder, frames);
        run.kill();
        run = workplace.start("resume killed");
    }
    run.finish().expect_code(0);
    assert_same(&Run::read(&folder), &Run::read(&workplace.path("whole")));
}

/// What a kill or a power cut may leave: each folder resumes to the same end.
#[test]
fn damage_at_the_end_is_repaired() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --poses --out whole").expect_code(0);
    let whole = Run::read(&workplace.path("whole"));
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 5] = [
        ("a half frame file", |folder| {
            let path = folder.join("frames/frame-000020.3l");
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("a flipped bit", |folder| {
            let path = folder.join("frames/frame-000020.3l");
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }),
        ("a file half written", |folder| {
            std::fs::write(folder.join("frames/frame-000021.3l.tmp"), "half").unwrap();
        }),
        ("half a row", |folder| append(&folder.join("stats.csv"), "21,0.35,1")),
        ("poses without their frame", |folder| append(&folder.join("poses.csv"), "21,0.35,fl")),
    ];
    for (what, damage) in damages {
        let folder = workplace.path("cut");
        workplace.thirdlaw("run boxes.toml --poses --frames 20 --force --out cut").expect_code(0);
        unfinish(&folder, 60);
        damage(&folder);
        let done = workplace.thirdlaw("resume cut").expect_code(0);
        let resumed = Run::read(&folder);
        assert_same(&resumed, &whole);
        let from = resumed.record["resumed"][0].as_u64().unwrap();
        assert!(from >= 19, "{what}: goes on after frame {from}\n{}", done.stderr);
        let is_told = done.stderr.contains("frame-000020.3l is skipped");
        assert_eq!(is_told, from == 19, "{what}: {}", done.stderr);
    }
}

fn append(path: &Path, text: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes.extend_from_slice(text.as_bytes());
    std::fs::write(path, bytes).unwrap();
}

/// Makes a finished run look like one that was killed on its way to `frames`.
fn unfinish(folder: &Path, frames: u32) {
    edit_record(folder, |record| {
        record["outcome"] = "running".into();
        record["frames"] = frames.into();
        record["frames_changed"] = false.into();
        record["finished"] = serde_json::Value::Null;
    });
}

fn edit_record(folder: &Path, edit: impl FnOnce(&mut serde_json::Value)) {
    let path = folder.join("run.json");
    let mut record = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edit(&mut record);
    std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
}

#[test]
fn runs_of_other_versions_or_bodies_are_refused() {
    let workplace = Workplace::new();
    type Edit = fn(&mut serde_json::Value);
    let edits: [(&str, Edit); 5] = [
        ("0.0.1", |record| record["version"] = "0.0.1".into()),
        ("format 99", |record| record["format"] = 99.into()),
        ("bodies", |record| {
            let text = record["scene"]["text"].as_str().unwrap().replace("0.5, 0.5", "0.5, 0.4");
            record["scene"]["text"] = text.into();
        }),
        ("settings", |record| record["settings"]["substeps"] = 99.into()),
        ("--no-cache", |record| record["cache"] = false.into()),
    ];
    for (word, edit) in edits {
        workplace.thirdlaw("run boxes.toml --frames 5 --force --out run").expect_code(0);
        unfinish(&workplace.path("run"), 60);
        edit_record(&workplace.path("run"), edit);
        let done = workplace.thirdlaw("resume run").expect_code(2);
        assert!(done.stderr.contains(word), "{word}: {}", done.stderr);
    }
}

#[test]
fn frames_of_another_run_are_refused() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 5 --out run").expect_code(0);
    workplace
        .thirdlaw("run boxes.toml --frames 5 --out other --set bodies.box.density=2000")
        .expect_code(0);
    unfinish(&workplace.path("run"), 60);
    for file in ["stats.csv", "frames/frame-000000.3l"] {
        std::fs::copy(workplace.path("other").join(file), workplace.path("run").join(file))
            .unwrap();
    }
    let done = workplace.thirdlaw("resume run").expect_code(2);
    assert!(done.stderr.contains("other bodies"), "{}", done.stderr);
}

#[test]
fn a_finished_run_says_so() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 3").expect_code(0);
    let done = workplace.thirdlaw("resume out/boxes").expect_code(0);
    assert!(done.stdout.contains("finished"), "{}", done.stdout);
}

#[test]
fn an_unfinished_run_is_not_overwritten() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 3").expect_code(0);
    unfinish(&workplace.path("out/boxes"), 60);
    let done = workplace.thirdlaw("run boxes.toml").expect_code(2);
    assert!(done.stderr.contains("thirdlaw resume out/boxes"), "{}", done.stderr);
    assert!(done.stderr.contains("--force"), "{}", done.stderr);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_after_the_frame_with_130() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --poses --out whole").expect_code(0);
    for signal in ["INT", "TERM"] {
        let name = format!("stopped-{signal}");
        let folder = workplace.path(&name);
        let mut run = workplace.start(&format!("run boxes.toml --poses --out {name}"));
        wait_for_frames(&mut run, &folder, 10);
        let id = run.child().id().to_string();
        Command::new("kill").args(["-s", signal, &id]).status().unwrap();
        let done = run.finish().expect_code(130);
        assert!(done.stdout.contains(&format!("thirdlaw resume {name}")), "{}", done.stdout);
        let stopped = Run::read(&folder);
        assert_eq!(stopped.record["outcome"], "interrupted");
        assert_eq!(stopped.stats.len(), 1 + stopped.frame_files());
        workplace.thirdlaw(&format!("resume {name}")).expect_code(0);
        assert_same(&Run::read(&folder), &Run::read(&workplace.path("whole")));
    }
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let workplace = Workplace::new();
    let mut run = workplace.start("run boxes.toml --frames 100000 --out shared");
    wait_for_frames(&mut run, &workplace.path("shared"), 2);
    let done = workplace.thirdlaw("run boxes.toml --force --out shared").expect_code(2);
    assert!(done.stderr.contains("another thirdlaw"), "{}", done.stderr);
    workplace.thirdlaw("resume shared").expect_code(2);
    run.kill();
}
