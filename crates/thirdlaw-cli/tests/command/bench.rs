//! Measuring, listing, and the schema.

use super::*;

#[test]
fn bench_measures_each_thread_count() {
    let workplace = Workplace::new();
    let done = workplace
        .thirdlaw("bench boxes.toml --threads 1,2 --repeat 2 --frames 12 --json figures.json")
        .expect_code(0);
    assert_eq!(done.stderr, "", "threads change no bit");
    let text = std::fs::read(workplace.path("figures.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let figures = report["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 2);
    for (figure, threads) in figures.iter().zip([1, 2]) {
        assert_eq!(figure["threads"], threads);
        assert_eq!((&figure["frames"], &figure["repeat"]), (&12.into(), &2.into()));
        for name in ["ms_per_frame", "total_ms", "rest_energy_median", "rest_energy_mean"] {
            assert!(figure[name].as_f64().unwrap() > 0.0, "{name}");
        }
        for name in ["broad_phase", "narrow_phase", "islands", "solve", "integrate"] {
            assert!(figure["stage_ms"][name].as_f64().unwrap() > 0.0, "{name}");
        }
    }
    assert_eq!(figures[0]["hash"], figures[1]["hash"]);
}

#[test]
fn bench_and_run_simulate_the_same() {
    let workplace = Workplace::new();
    workplace.thirdlaw("bench boxes.toml --frames 12 --json figures.json").expect_code(0);
    workplace.thirdlaw("run boxes.toml --frames 12").expect_code(0);
    let text = std::fs::read(workplace.path("figures.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let run = Run::read(&workplace.path("out/boxes"));
    assert_eq!(report["figures"][0]["hash"], run.final_hash());
}

#[test]
fn bench_puts_rapier_beside() {
    let workplace = Workplace::new();
    let line = "bench boxes.toml --against rapier --threads 1 --frames 9 --json figures.json";
    let done = workplace.thirdlaw(line).expect_code(0);
    assert!(done.stdout.contains("ours over Rapier's"), "{}", done.stdout);
    let text = std::fs::read(workplace.path("figures.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let engines: Vec<_> = report["figures"].as_array().unwrap().iter().collect();
    assert_eq!(engines.len(), 2);
    assert_eq!(
        (&engines[0]["engine"], &engines[1]["engine"]),
        (&"thirdlaw".into(), &"rapier".into())
    );
    // both simulate the same fall, and nothing has landed yet
    let energy = |i: usize| engines[i]["rest_energy_mean"].as_f64().unwrap();
    assert!((energy(0) / energy(1) - 1.0).abs() < 0.01, "{} {}", energy(0), energy(1));
    let ratio = report["ratios"][0]["rest_energy_mean"].as_f64().unwrap();
    assert!((ratio - energy(0) / energy(1)).abs() < 1e-9);
    let line = "bench boxes.toml --against rapier-anew --threads 1 --frames 9";
    let done = workplace.thirdlaw(line).expect_code(0);
    assert!(done.stdout.contains("  rapier-anew "), "{}", done.stdout);
}

#[test]
fn every_listed_scene_is_valid() {
    let workplace = Workplace::new();
    let list = workplace.thirdlaw("scenes").expect_code(0).stdout;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(!names.is_empty());
    workplace.thirdlaw(&format!("check {}", names.join(" "))).expect_code(0);
}

#[test]
fn the_schema_is_json() {
    let schema = Workplace::new().thirdlaw("schema").expect_code(0).stdout;
    assert!(serde_json::from_str::<serde_json::Value>(&schema).unwrap().is_object());
    let page = Workplace::new().thirdlaw("schema --markdown").expect_code(0).stdout;
    assert!(page.starts_with("# Scene files") && page.contains("| `title` | text |"));
}
