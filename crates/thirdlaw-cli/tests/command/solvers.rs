//! Contact solvers side by side.

use super::*;
use serde_json::Value;

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn solvers_work_on_the_same_contacts() {
    let workplace = Workplace::new();
    let line =
        "solvers boxes.toml --frame 30 --iterations 40 --frames 12 --threads 1 --json figures.json";
    let done = workplace.thirdlaw(line).expect_code(0);
    assert!(done.stdout.contains("average constraint violation"), "{}", done.stdout);
    let report = read(&workplace.path("figures.json"));
    let pairs = report["contacts"]["pairs"].as_u64().unwrap();
    let colors = report["contacts"]["colors"].as_array().unwrap();
    assert_eq!(colors.iter().map(|c| c.as_u64().unwrap()).sum::<u64>(), pairs);
    let of = |part: &str, name: &str| {
        let all = report[part].as_array().unwrap();
        all.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    let left =
        |name: &str, i: usize| of("convergence", name)["steps"][i]["closing"].as_f64().unwrap();
    // everyone starts from the same violation
    for name in ["colored-pgs", "shuffled-pgs", "jacobi-line-search"] {
        assert_eq!(left(name, 0), left("pgs", 0), "{name}");
        assert!(left(name, 40) < 0.5 * left(name, 0), "{name}: {}", left(name, 40));
    }
    // [tonge2012 §7]: Gauss–Seidel converges faster than splitting, blocks faster than rows
    assert!(left("pgs", 40) < left("block-mass-splitting", 40));
    assert!(left("block-mass-splitting", 40) < left("mass-splitting", 40));
    let single = left("pgs f32", 10) / left("pgs", 10);
    assert!((0.999..1.001).contains(&single) && single != 1.0, "{single}");

    let (few, many) = (of("motion", "pgs"), of("motion", "block-mass-splitting"));
    assert_eq!((&few["iterations"], &many["iterations"]), (&5.into(), &30.into()));
    assert_eq!(few["frames"].as_array().unwrap().len(), 13);
    assert!(of("motion", "settings of the scene")["rest_mean"].as_f64().unwrap() > 0.0);

    let folder = workplace.path("out/boxes/solvers");
    let table = std::fs::read_to_string(folder.join("convergence.csv")).unwrap();
    assert!(table.starts_with("iteration,solver,kind,ms,closing,normal,friction,largest\n0,pgs,"));
    let solvers = report["convergence"].as_array().unwrap().len();
    assert_eq!(table.lines().count(), 1 + 41 * solvers);
    let energy = std::fs::read_to_string(folder.join("energy.csv")).unwrap();
    assert_eq!(energy.lines().count(), 1 + 13 * report["motion"].as_array().unwrap().len());
    assert!(folder.join("colors.csv").exists());
    let picture = std::fs::read_to_string(folder.join("solvers.svg")).unwrap();
    assert!(picture.starts_with("<svg xmlns=") && picture.contains("block-mass-splitting f32"));
    assert!(!picture.contains("NaN"));
}

#[test]
fn solvers_are_chosen_by_name_and_repeat_their_numbers() {
    let workplace = Workplace::new();
    let line = "solvers boxes.toml --frame 20 --iterations 3 --frames 5 --only shuffled-pgs,jacobi";
    let energies = |out: &str, threads: u32| {
        let line = format!("{line} --threads {threads} --out {out} --json {out}.json");
        workplace.thirdlaw(&line).expect_code(0);
        let report = read(&workplace.path(&format!("{out}.json")));
        let motion = report["motion"].as_array().unwrap().clone();
        assert_eq!(motion.len(), 2);
        motion.iter().map(|m| m["rest_mean"].as_f64().unwrap().to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(energies("a", 1), energies("b", 2));
}

#[test]
fn solvers_say_what_they_cannot_compare() {
    let workplace = Workplace::new();
    let cases = [
        ("solvers boxes.toml --frame 0 --frames 0", "nothing touches in frame 0"),
        ("solvers baraff1997/posts", "shared among simulators"),
        ("solvers boxes.toml --only magic", "must be one of pgs"),
        ("solvers boxes.toml --budget 5", "must look like 5,30"),
    ];
    for (line, told) in cases {
        let done = workplace.thirdlaw(line).expect_code(2);
        assert!(done.stderr.contains(told), "{line}: {}", done.stderr);
    }
}

#[test]
fn frame_times_are_a_table() {
    let workplace = Workplace::new();
    let line = "solvers boxes.toml --table --frames 6 --threads 1 --out t --json table.json";
    let done = workplace.thirdlaw(line).expect_code(0);
    assert!(done.stdout.starts_with("scene"), "{}", done.stdout);
    let report = read(&workplace.path("table.json"));
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["solver"].as_str().unwrap()).collect();
    let wanted = ["pgs", "colored-pgs f32", "block-mass-splitting", "settings of the scene"];
    assert_eq!(names, wanted);
    for row in rows {
        let ms = |name: &str| row[name].as_f64().unwrap();
        assert!(ms("solve_ms") > 0.0 && ms("solve_ms") < ms("frame_ms"), "{row}");
        assert_eq!(row["bodies"], 64);
    }
    let table = std::fs::read_to_string(workplace.path("t/table.csv")).unwrap();
    assert_eq!(table.lines().count(), 5);
}
