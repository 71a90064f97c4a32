//! Exit codes and what is said with them.

use super::*;

#[test]
fn a_failed_expectation_is_1_and_told_with_its_value() {
    let workplace = Workplace::new();
    let text = format!("{BOXES}\"box.0.y\" = {{ above = 100, from = 0.5 }}\n");
    workplace.write("boxes.toml", &text);
    let done = workplace.thirdlaw("run boxes.toml").expect_code(1);
    assert!(done.stderr.contains("box.0.y") && done.stderr.contains("100"), "{}", done.stderr);
    assert!(done.stdout.contains("FAILED"), "{}", done.stdout);
    let run = Run::read(&workplace.path("out/boxes"));
    assert_eq!(run.record["outcome"], "expectation-failed");
    workplace.thirdlaw("resume out/boxes").expect_code(1);
}

#[test]
fn an_expectation_beyond_a_shortened_run_is_not_judged() {
    let workplace = Workplace::new();
    let text = format!("{BOXES}\"box.0.y\" = {{ above = 100, from = 0.5 }}\n");
    workplace.write("boxes.toml", &text);
    let done = workplace.thirdlaw("run boxes.toml --frames 5").expect_code(0);
    assert!(done.stdout.contains("not reached"), "{}", done.stdout);
}

#[test]
fn a_typo_in_a_scene_is_2_and_points_at_its_place() {
    let workplace = Workplace::new();
    workplace.write("boxes.toml", &BOXES.replace("position = ", "positon = "));
    for command in ["run boxes.toml", "check boxes.toml", "bench boxes.toml"] {
        let done = workplace.thirdlaw(command).expect_code(2);
        assert!(done.stderr.contains("boxes.toml:15:1"), "{}", done.stderr);
        assert!(done.stderr.contains("position"), "{}", done.stderr);
    }
    assert!(!workplace.path("out").exists(), "nothing is begun");
}

#[test]
fn bad_words_are_2_with_a_hint() {
    let workplace = Workplace::new();
    let scene = box_on_floor(&workplace);
    let typo = scene.replace("box-on-floor", "box-on-flor");
    let done = workplace.thirdlaw(&format!("run {typo}")).expect_code(2);
    assert!(done.stderr.contains(&scene), "{}", done.stderr);
    for bad in [
        "run boxes.toml --threads 0",
        "run boxes.toml --set nonsense",
        "run boxes.toml --set solver.iteratons=3",
        "run boxes.toml --frames 3 --seconds 1",
        "run boxes.toml --seconds 1e300",
        "run",
        "fly",
        "resume .",
    ] {
        let done = workplace.thirdlaw(bad).expect_code(2);
        assert!(!done.stderr.is_empty(), "{bad}");
    }
}

#[test]
fn a_binary_file_is_no_scene() {
    let workplace = Workplace::new();
    std::fs::write(workplace.path("x.toml"), [0x76, 0xFF, 0xFE]).unwrap();
    workplace.thirdlaw("run x.toml").expect_code(2);
}

#[test]
fn a_simulation_that_breaks_down_is_3_and_names_the_body() {
    let workplace = Workplace::new();
    let text = BOXES.replace(
        "position = ",
        "mass = 1e-6\nforces = [{ force = [1e308, 1e308, 0], from = 0.1 }]\nposition = ",
    );
    workplace.write("boxes.toml", &text);
    let done = workplace.thirdlaw("run boxes.toml").expect_code(3);
    assert!(done.stderr.contains("box.") && done.stderr.contains("t = "), "{}", done.stderr);
    let run = Run::read(&workplace.path("out/boxes"));
    assert_eq!(run.record["outcome"], "simulation-failed");
    assert!(run.stats.len() > 6, "frames before the failure are kept");
    workplace.thirdlaw("resume out/boxes").expect_code(3);
}

#[test]
fn a_missing_file_is_4_with_the_reason() {
    let workplace = Workplace::new();
    for bad in ["run nowhere.toml", "check nowhere.toml", "resume nowhere.toml"] {
        let done = workplace.thirdlaw(bad).expect_code(4);
        assert!(done.stderr.contains("nowhere.toml: No such file"), "{}", done.stderr);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_4() {
    let workplace = Workplace::new();
    let done = workplace.thirdlaw("run boxes.toml --out boxes.toml/out").expect_code(4);
    assert!(done.stderr.contains("boxes.toml/out"), "{}", done.stderr);
}

/// A limit on the size of files stands in for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_4_and_the_run_goes_on_once_there_is_room() {
    let workplace = Workplace::new();
    let limited = format!(
        "trap '' XFSZ; ulimit -f 16; exec {} run boxes.toml --poses",
        env!("CARGO_BIN_EXE_thirdlaw")
    );
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(limited).current_dir(workplace.folder.path());
    let done = Done::from(shell.output().unwrap()).expect_code(4);
    assert!(done.stderr.contains(".csv") || done.stderr.contains(".3l"), "{}", done.stderr);
    workplace.thirdlaw("run boxes.toml --poses --out whole").expect_code(0);
    workplace.thirdlaw("resume out/boxes").expect_code(0);
    let (resumed, whole) =
        (Run::read(&workplace.path("out/boxes")), Run::read(&workplace.path("whole")));
    assert_eq!(resumed.column("hash"), whole.column("hash"));
}

#[cfg(unix)]
#[test]
fn a_reader_who_goes_away_is_no_failure() {
    let workplace = Workplace::new();
    let binary = env!("CARGO_BIN_EXE_thirdlaw");
    for command in ["scenes", "schema", "--help", "run boxes.toml --force", "check boxes.toml"] {
        // `true` reads nothing; 141 would be death by SIGPIPE, 101 a panic
        let line = format!("{{ {binary} {command}; echo $? >code; }} 2>words | true");
        Command::new("sh")
            .arg("-c")
            .arg(line)
            .current_dir(workplace.folder.path())
            .status()
            .unwrap();
        let read = |name| std::fs::read_to_string(workplace.path(name)).unwrap();
        assert_eq!(read("code").trim(), "0", "{command}: {}", read("words"));
    }
}

#[test]
fn check_tells_about_every_scene() {
    let workplace = Workplace::new();
    workplace.write("bad.toml", "version = 1\nspeling = 2\n");
    workplace.write("worse.toml", "version = ");
    let done = workplace.thirdlaw("check bad.toml boxes.toml worse.toml").expect_code(2);
    assert!(done.stdout.contains("boxes.toml: ok"), "{}", done.stdout);
    assert!(done.stderr.contains("bad.toml:2:1"), "{}", done.stderr);
    assert!(done.stderr.contains("worse.toml:1:"), "{}", done.stderr);
}
