//! Scenes that several simulators share, from the file to the report.

use super::*;

/// A ball falls on a small cloth that another simulator holds; a crate of a third lies beside it.
const COUPLED: &str = r#"version = 1
title = "A ball falls on the cloth of another simulator"

[settings]
frames = 24

[bodies.floor]
kind = "fixed"
shape = { half_space = {} }
position = [0, -1, 0]

[bodies.ball]
shape = { sphere = { radius = 0.15 } }
mass = 0.3
position = [0.02, 0.2, 0.01]

[cloths.sheet]
mesh = { grid = { columns = 9, rows = 9, size = [1, 1] } }
pins = "border"

[simulators.cloth]
objects = ["sheet"]

[simulators.rigid]
kind = "thirdlaw"
objects = ["floor", "ball"]

[couplings.touch]
between = ["cloth", "rigid"]
limits = { imbalance = 1e-9, evaluations = 1 }

[expect]
"ball.y" = { above = -0.3 }
strain = { below = 0.2 }
"#;

fn workplace() -> Workplace {
    let workplace = Workplace::new();
    workplace.write("coupled.toml", COUPLED);
    workplace
}

fn ledger(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("coupling.csv")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_coupled_scene_is_checked_run_reported_and_exported() {
    let workplace = workplace();
    let checked = workplace.thirdlaw("check coupled.toml").expect_code(0);
    assert!(checked.stdout.contains("in 2 simulators"), "{}", checked.stdout);
    for kind in ["thirdlaw", "rapier"] {
        let set = format!("--set simulators.rigid.kind={kind}");
        let done = workplace.thirdlaw(&format!("run coupled.toml --poses --out {kind} {set}"));
        let done = done.expect_code(0);
        assert!(done.stdout.contains("overhead"), "{}", done.stdout);
        let run = Run::read(&workplace.path(kind));
        let coupling = &run.record["coupling"];
        assert_eq!(coupling["simulators"][1]["kind"], kind);
        assert_eq!(coupling["steps"], 24);
        let link = &coupling["couplings"][0];
        assert!(link["imbalance"].as_f64().unwrap() < 1e-9, "{link}");
        assert!(link["momentum"][1].as_f64().unwrap() < -0.1, "the ball pushes down: {link}");
        assert_eq!(ledger(&run.folder).len(), 1 + 24);
        let poses = std::fs::read_to_string(run.folder.join("poses.csv")).unwrap();
        let ys: Vec<f64> = poses
            .lines()
            .filter(|line| line.contains(",ball,"))
            .map(|line| line.split(',').nth(4).unwrap().parse().unwrap())
            .collect();
        assert_eq!(ys.len(), 25, "frames of every simulator are in the cache");
        assert!(ys[24] < ys[0] - 0.02, "{ys:?}");
    }
    let report = workplace.thirdlaw("report thirdlaw").expect_code(0);
    assert!(report.stdout.contains("report.html"));
    let page = std::fs::read_to_string(workplace.path("thirdlaw/report.html")).unwrap();
    assert!(page.contains("Force between simulators"));
    workplace.thirdlaw("export thirdlaw --to obj").expect_code(0);
    workplace.thirdlaw("render thirdlaw --poster-only --size 64x36 --samples 1").expect_code(0);
}

#[test]
fn a_crossed_limit_is_told_once_and_counted() {
    let workplace = workplace();
    let text =
        COUPLED.replace("imbalance = 1e-9, evaluations = 1", "mismatch = 0, passivity = 1e-30");
    workplace.write("coupled.toml", &text);
    let done = workplace
        .thirdlaw("run coupled.toml --out out --set settings.coupling.method=interleaved")
        .expect_code(0);
    let told = done.stderr.lines().filter(|l| l.contains("above its limit")).count();
    assert!((1..=2).contains(&told), "{}", done.stderr);
    let run = Run::read(&workplace.path("out"));
    let crossings = &run.record["coupling"]["couplings"][0]["crossings"];
    assert!(crossings["passivity"].as_u64().unwrap() > 1, "{crossings}");
}

#[test]
fn a_killed_coupled_run_ends_in_the_same_bits() {
    let workplace = workplace();
    for kind in ["thirdlaw", "rapier"] {
        let set = format!("--set simulators.rigid.kind={kind}");
        workplace.thirdlaw(&format!("run coupled.toml --out whole-{kind} {set}")).expect_code(0);
        let whole = Run::read(&workplace.path(&format!("whole-{kind}")));
        let name = format!("cut-{kind}");
        workplace.thirdlaw(&format!("run coupled.toml --out {name} {set}")).expect_code(0);
        // as a kill in frame 13 leaves it
        let folder = workplace.path(&name);
        for frame in 13..=24 {
            std::fs::remove_file(folder.join(format!("frames/frame-{frame:06}.3l"))).unwrap();
        }
        let record = std::fs::read_to_string(folder.join("run.json")).unwrap();
        let record = record.replace("\"outcome\": \"done\"", "\"outcome\": \"running\"");
        std::fs::write(folder.join("run.json"), record).unwrap();
        workplace.thirdlaw(&format!("resume {name} --threads 3")).expect_code(0);
        let resumed = Run::read(&folder);
        assert_eq!(resumed.column("hash"), whole.column("hash"), "{kind}");
        assert_eq!(ledger(&folder), ledger(&whole.folder), "{kind}");
        assert_eq!(resumed.record["coupling"]["couplings"], whole.record["coupling"]["couplings"]);
    }
}

#[test]
fn ways_of_coupling_are_compared() {
    let workplace = workplace();
    let done = workplace.thirdlaw("compare coupled.toml --frames 12 --out ways").expect_code(0);
    for way in ["interleaved", "iterated", "repaired", "monolithic"] {
        assert!(done.stdout.contains(way), "{}", done.stdout);
    }
    let table = std::fs::read_to_string(workplace.path("ways/compare.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 4 * 13);
    // one exchange with the ball among the unknowns of the cloth is what one world does
    let last = table.lines().find(|line| line.starts_with("12,") && line.contains(",iterated,"));
    let apart: f64 = last.unwrap().split(',').nth(3).unwrap().parse().unwrap();
    assert!(apart < 1e-3, "{apart}");
    let svg = std::fs::read_to_string(workplace.path("ways/compare.svg")).unwrap();
    assert!(svg.starts_with("<svg xmlns") && svg.trim_end().ends_with("</svg>"));
    let refused = workplace.thirdlaw("compare boxes.toml").expect_code(2);
    assert!(refused.stderr.contains("nothing to compare"), "{}", refused.stderr);
}

#[test]
fn what_rapier_cannot_hold_is_refused_in_its_place() {
    let workplace = workplace();
    let text = COUPLED.replace("objects = [\"sheet\"]", "kind = \"rapier\"\nobjects = [\"sheet\"]");
    workplace.write("coupled.toml", &text);
    let done = workplace.thirdlaw("check coupled.toml").expect_code(2);
    assert!(done.stderr.contains("coupled.toml:22:8"), "{}", done.stderr);
    assert!(done.stderr.contains("cloth cannot be built in Rapier"), "{}", done.stderr);
}

/// A rider tied to the ball, which touches the cloth.
fn ridden() -> String {
    let rider = "[bodies.rider]\nshape = { sphere = { radius = 0.05 } }\nmass = 0.1\n\
                 position = [0.02, 0.4, 0.01]\n\n[cloths.sheet]";
    let riders = "[simulators.riders]\nobjects = [\"rider\"]\n\n[couplings.touch]";
    let ride = "[couplings.ride]\nbetween = [\"rigid\", \"riders\"]\n\
                ties = [{ between = [\"ball\", \"rider\"], at = [0.02, 0.35, 0.01] }]\n\n[expect]";
    let text = COUPLED.replace("[cloths.sheet]", rider).replace("[couplings.touch]", riders);
    text.replace("[expect]", ride)
}

#[test]
fn a_rider_tied_to_a_ball_on_the_cloth_of_another_simulator_rides() {
    let workplace = workplace();
    workplace.write("ridden.toml", &ridden());
    workplace.thirdlaw("check ridden.toml").expect_code(0);
    workplace.thirdlaw("run ridden.toml --out ridden --frames 3").expect_code(0);
    let watched = ridden().replace("ties = [", "contact = \"watch\"\nties = [");
    workplace.write("watched.toml", &watched);
    workplace.thirdlaw("run watched.toml --out watched --frames 3").expect_code(0);
}
