//! What a run writes.

use super::*;

const STATS: &str = "frame,time,kinetic,jitter,gravity,elastic,px,py,pz,lx,ly,lz,contacts,\
    penetration,strain,volume_error,joint_error,contact_iterations,contact_residual,\
    cg_iterations,substeps,step_ms,hash,particles,path_free,path_batched,path_pile,\
    path_converged_pile,path_general,path_direct,path_reduced,path_joints,path_through_joints,\
    path_joints_in_turn,path_joints_interleaved,path_joint_rows,path_soft_joints,unfinished";
const POSES: &str = "frame,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz";

#[test]
fn a_built_in_scene_writes_every_file() {
    let workplace = Workplace::new();
    let scene = box_on_floor(&workplace);
    let done = workplace.thirdlaw(&format!("run {scene} --poses --frames 30"));
    // the scene's expectations may lie beyond frame 30, but none may fail before
    let done = done.expect_code(0);
    let folder = workplace.path("out").join(&scene);
    let run = Run::read(&folder);
    assert_eq!(run.stats[0].join(","), STATS);
    assert_eq!(run.stats.len(), 1 + 31, "a header, the initial state, thirty frames");
    assert_eq!(run.frame_files(), 31);
    assert!(folder.join("frames/frame-000030.3l").exists());
    let poses = std::fs::read_to_string(folder.join("poses.csv")).unwrap();
    assert_eq!(poses.lines().next(), Some(POSES));
    assert_eq!((poses.lines().count() - 1) % 31, 0);
    assert_eq!(run.record["outcome"], "done");
    assert_eq!(run.record["scene"]["name"], scene);
    assert_eq!(run.record["version"], env!("CARGO_PKG_VERSION"));
    assert!(run.record["scene"]["text"].as_str().unwrap().contains("version"));
    assert!(run.record["machine"]["cores"].as_u64().unwrap() >= 1);
    assert!(done.stdout.contains(&format!("results in out/{scene}")), "{}", done.stdout);
}

#[test]
fn rows_say_what_happened() {
    let workplace = Workplace::new();
    let done = workplace.thirdlaw("run boxes.toml --out here").expect_code(0);
    let run = Run::read(&workplace.path("here"));
    let frames: Vec<String> = (0..=60).map(|frame| frame.to_string()).collect();
    assert_eq!(run.column("frame"), frames);
    let times: Vec<f64> = run.column("time").iter().map(|t| t.parse().unwrap()).collect();
    assert_eq!(times[0], 0.0);
    assert!((times[60] - 1.0).abs() < 1e-9);
    let hashes = run.column("hash");
    let is_hex = |text: &String| text.len() == 16 && u64::from_str_radix(text, 16).is_ok();
    assert!(hashes.iter().all(is_hex));
    assert_eq!(run.final_hash(), hashes[60]);
    assert!(run.column("contacts")[60].parse::<u32>().unwrap() > 0);
    assert_eq!(run.column("step_ms")[0], "0.000");
    let expectation = &run.record["expectations"][0];
    assert_eq!(expectation["key"], "penetration");
    assert_eq!(expectation["passed"], true);
    assert!(done.stdout.contains("penetration"), "{}", done.stdout);
}

#[test]
fn overrides_are_used_and_recorded() {
    let workplace = Workplace::new();
    workplace
        .thirdlaw("run boxes.toml --out here --set settings.frames=7 --set solver.iterations=30")
        .expect_code(0);
    let run = Run::read(&workplace.path("here"));
    assert_eq!(run.stats.len(), 1 + 8);
    let overrides = &run.record["scene"]["overrides"];
    assert_eq!(overrides[1], serde_json::json!(["solver.iterations", "30"]));
    assert_eq!(run.record["settings"]["contact"]["iterations"], 30);
}

#[test]
fn seconds_become_frames() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --out here --seconds 0.1").expect_code(0);
    assert_eq!(Run::read(&workplace.path("here")).stats.len(), 1 + 7);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --out one --threads 1").expect_code(0);
    workplace.thirdlaw("run boxes.toml --out three --threads 3").expect_code(0);
    let (one, three) = (Run::read(&workplace.path("one")), Run::read(&workplace.path("three")));
    assert_eq!(one.column("hash"), three.column("hash"));
    assert_eq!(three.record["machine"]["threads"], 3);
}

#[test]
fn a_second_run_needs_force() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 9 --poses").expect_code(0);
    let refused = workplace.thirdlaw("run boxes.toml --frames 3").expect_code(2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(Run::read(&workplace.path("out/boxes")).stats.len(), 1 + 10, "left as it was");
    workplace.thirdlaw("run boxes.toml --frames 3 --force").expect_code(0);
    let run = Run::read(&workplace.path("out/boxes"));
    assert_eq!((run.stats.len(), run.frame_files()), (1 + 4, 4));
    assert!(!workplace.path("out/boxes/poses.csv").exists());
}

#[test]
fn without_a_cache_there_are_no_frames() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 3 --no-cache").expect_code(0);
    assert!(!workplace.path("out/boxes/frames").exists());
}

#[test]
fn a_run_without_frames_is_the_initial_state() {
    let workplace = Workplace::new();
    workplace.thirdlaw("run boxes.toml --frames 0").expect_code(0);
    assert_eq!(Run::read(&workplace.path("out/boxes")).stats.len(), 1 + 1);
}

#[test]
fn plain_lines_are_few() {
    let workplace = Workplace::new();
    let done = workplace.thirdlaw("run boxes.toml --quiet").expect_code(0);
    assert!(done.stderr.lines().count() <= 20, "{}", done.stderr);
}

#[test]
fn no_arguments_run_the_default_scene_again_and_again() {
    let workplace = Workplace::new();
    let first = workplace.thirdlaw("").expect_code(0);
    assert!(first.stdout.contains("results in out/"), "{}", first.stdout);
    assert!(first.stdout.contains("thirdlaw scenes"), "{}", first.stdout);
    let second = workplace.thirdlaw("").expect_code(0);
    assert!(second.stdout.contains("results in out/"), "{}", second.stdout);
}
