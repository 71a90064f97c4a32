//! Cloth from scene file to tables, pictures and figures.

use super::*;

const CLOTH: &str = r#"version = 1
title = "A cloth over a ball"

[settings]
frames = 12

[bodies.ball]
kind = "fixed"
shape = { sphere = { radius = 0.3 } }

[cloths.sheet]
mesh = { grid = { columns = 9, rows = 9, size = [1, 1] } }
position = [0, 0.35, 0]

[expect]
strain = { below = 0.2 }
"sheet.y" = { below = 0.34, at = 0.2 }
"#;

#[test]
fn points_and_statistics_of_cloth_are_written() {
    let workplace = Workplace::new();
    workplace.write("cloth.toml", CLOTH);
    let done = workplace.thirdlaw("run cloth.toml --points --out whole").expect_code(0);
    assert!(
        done.stdout.contains("points.csv") && done.stdout.contains("strain"),
        "{}",
        done.stdout
    );
    let text = std::fs::read_to_string(workplace.path("whole/points.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("frame,time,object,index,x,y,z"));
    assert_eq!(lines.next(), Some("0,0,sheet,0,-0.5,0.35,-0.5"));
    assert_eq!(lines.count(), 13 * 81 - 1);
    let run = Run::read(&workplace.path("whole"));
    for column in ["elastic", "strain", "cg_iterations", "substeps"] {
        let last: f64 = run.column(column).last().unwrap().parse().unwrap();
        assert!(last > 0.0, "{column}");
    }
}

#[test]
fn an_interrupted_run_of_cloth_ends_in_the_same_bits() {
    let workplace = Workplace::new();
    workplace.write("cloth.toml", CLOTH);
    workplace.thirdlaw("run cloth.toml --points --out whole").expect_code(0);
    workplace.thirdlaw("run cloth.toml --points --out cut").expect_code(0);
    // as if it had been killed: the last frames are missing and the record says so
    let record = workplace.path("cut/run.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"outcome\": \"done\"", "\"outcome\": \"running\""))
        .unwrap();
    for frame in 7..=12 {
        std::fs::remove_file(workplace.path(&format!("cut/frames/frame-{frame:06}.3l"))).unwrap();
    }
    workplace.thirdlaw("resume cut --threads 1").expect_code(0);
    let (whole, cut) = (Run::read(&workplace.path("whole")), Run::read(&workplace.path("cut")));
    assert_eq!(cut.record["resumed"][0], 6);
    assert_eq!(cut.column("hash"), whole.column("hash"));
    let points = |run: &str| std::fs::read(workplace.path(&format!("{run}/points.csv"))).unwrap();
    assert!(points("cut") == points("whole"));
}

#[test]
fn cloth_is_drawn() {
    let workplace = Workplace::new();
    workplace.write("cloth.toml", CLOTH);
    workplace.thirdlaw("run cloth.toml").expect_code(0);
    workplace.thirdlaw("render out/cloth --poster-only --size 64x48 --samples 1").expect_code(0);
    let with = std::fs::read(workplace.path("out/cloth/poster.png")).unwrap();
    workplace.write("bare.toml", &CLOTH.replace("columns = 9", "columns = 3"));
    workplace.thirdlaw("run bare.toml --frames 1").expect_code(0);
    workplace.thirdlaw("render out/bare --poster-only --size 64x48 --samples 1").expect_code(0);
    let other = std::fs::read(workplace.path("out/bare/poster.png")).unwrap();
    assert_ne!(with, other);
}

#[test]
fn bench_prints_the_table_of_cloth() {
    let workplace = Workplace::new();
    workplace.write("cloth.toml", CLOTH);
    let done = workplace.thirdlaw("bench cloth.toml --json figures.json").expect_code(0);
    for word in ["EVAL %", "CG %", "C/C %", "C/S %", "12/"] {
        assert!(done.stdout.contains(word), "{word} in {}", done.stdout);
    }
    let text = std::fs::read(workplace.path("figures.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let cloth = &report["figures"][0]["cloth"];
    assert_eq!(cloth["vertices"], 81);
    assert!(cloth["steps"].as_u64().unwrap() >= 12);
    let largest = cloth["largest_step_ms"].as_f64().unwrap();
    let smallest = cloth["smallest_step_ms"].as_f64().unwrap();
    assert!(0.0 < smallest && smallest <= largest && largest < 16.7);
    let shares = ["eval_percent", "cg_percent", "cloth_cloth_percent", "cloth_solid_percent"];
    let sum: f64 = shares.iter().map(|s| cloth[*s].as_f64().unwrap()).sum();
    assert!((10.0..=100.0).contains(&sum), "{sum}");
}
