//! The built-in scenes keep what they promise. The big ones take minutes and run on request:
//! `SCENE=chess SET="settings.substeps=8" cargo test --release --test it -- --ignored --nocapture`
//! runs those whose name contains `chess`, with overrides.

use thirdlaw::measure;
use thirdlaw_scene::{
    Builtin, CouplingFrame, ExpectTracker, FrameStats, Scene, Verdict, builtin, find_builtin, load,
};

/// Runs a scene to its end and returns its verdicts.
pub fn run(scene: &mut Scene) -> Vec<Verdict> {
    let mut tracker = ExpectTracker::new(scene);
    let dt = scene.dt();
    let mut coupled =
        scene.couple(&mut thirdlaw_scene::coupled::plain).expect("its simulators can be made");
    let mut books: Vec<CouplingFrame> = Vec::new();
    for frame in 0..=scene.frames {
        let (mut contacts, mut cg_iterations) = (0, 0);
        if frame > 0 {
            for _ in 0..scene.steps_per_frame {
                if let Some(coupled) = &mut coupled {
                    let report = coupled.step(dt).expect("the coupled scene steps");
                    let crossed = coupled.crossed();
                    books.resize(crossed.len(), CouplingFrame::default());
                    books
                        .iter_mut()
                        .zip(&crossed)
                        .for_each(|(book, entry)| book.add(entry, &report));
                    continue;
                }
                let report = scene.world.step(dt).expect("the scene steps");
                contacts = report.contacts;
                cg_iterations += report.cg_iterations;
            }
            if let Some(coupled) = &coupled {
                coupled.show(&mut scene.world);
            }
        }
        let energy = measure::energy(&scene.world);
        let (momentum, angular) = measure::momentum(&scene.world);
        let stats = FrameStats {
            frame,
            time: scene.world.time(),
            kinetic: energy.kinetic,
            gravity: energy.gravity,
            elastic: energy.elastic,
            jitter: measure::jitter(&scene.world),
            momentum: momentum.to_array(),
            angular: angular.to_array(),
            contacts,
            penetration: measure::penetration(&scene.world),
            joint_error: measure::joint_error(&scene.world),
            strain: measure::strain(&scene.world),
            cg_iterations,
            particles: scene.world.state().streams.count() as u64,
            ..FrameStats::default()
        };
        tracker.keep_books(std::mem::take(&mut books));
        tracker.observe(stats.time, &stats, &scene.world, &scene.bodies);
    }
    tracker.verdicts()
}

fn check(scene: &Builtin) -> Vec<String> {
    let mut overrides = Vec::new();
    for pair in std::env::var("SET").unwrap_or_default().split_whitespace() {
        overrides.extend(pair.split_once('=').map(|(k, v)| (k.to_string(), v.to_string())));
    }
    let mut loaded = match load(scene.name, scene.text, None, &overrides) {
        Ok(loaded) => loaded,
        Err(e) => return vec![e.to_string()],
    };
    let verdicts = run(&mut loaded);
    let tell = |v: &Verdict| {
        let mark = if v.passed { "ok  " } else { "FAIL" };
        println!("{mark} {}: {} {}, was {:?}", scene.name, v.key, v.wanted, v.value);
    };
    verdicts.iter().for_each(tell);
    let failed = verdicts.iter().filter(|v| !v.passed);
    failed.map(|v| format!("{}: {} {}, was {:?}", scene.name, v.key, v.wanted, v.value)).collect()
}

fn check_all(wanted: impl Fn(&str) -> bool) {
    let failures: Vec<String> =
        builtin().iter().filter(|s| wanted(s.name)).flat_map(check).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn small_scenes_keep_their_promises() {
    check_all(|name| name.starts_with("validate/") || !name.contains('/'));
}

#[test]
#[ignore = "minutes; run with --release -- --ignored"]
fn big_scenes_keep_their_promises() {
    let only = std::env::var("SCENE").unwrap_or_default();
    check_all(|name| name.contains('/') && !name.starts_with("validate/") && name.contains(&only));
}

#[test]
fn every_scene_loads_and_has_expectations() {
    for scene in builtin() {
        let loaded = load(scene.name, scene.text, None, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert!(!loaded.expect.is_empty(), "{} promises nothing", scene.name);
        assert_eq!(loaded.title, scene.title());
    }
}

#[test]
fn scenes_have_the_bodies_their_papers_count() {
    for (name, count) in [
        ("peers/boxes", 5160),
        ("peers/pyramid", 465),
        ("peers/card-house", 40),
        ("tonge2012/chain", 25),
        ("tonge2012/chess", 1000),
        ("tonge2012/card-house", 58),
        ("tonge2012/fracture", 277 + 3),
    ] {
        let scene = find_builtin(name).unwrap();
        let loaded = load(name, scene.text, None, &[]).unwrap();
        assert_eq!(loaded.bodies.len(), count + 1, "{name}, with its ground");
    }
}
