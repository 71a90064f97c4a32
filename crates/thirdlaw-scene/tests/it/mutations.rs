//! Thousands of damaged scenes: none panics, and every refusal points into the text. A million:
//! `cargo run --release -p thirdlaw-studies -- fuzz 1000000`.

use crate::damage::{SMALL, damage, is_refused, seed_text};
use thirdlaw_scene::generate::Random;
use thirdlaw_scene::{builtin, load};

#[test]
fn damaged_scenes_are_refused_in_place() {
    let mut random = Random::new(7);
    let mut refused = 0;
    for scene in builtin() {
        let text = seed_text(scene);
        for _ in 0..200 {
            refused += usize::from(is_refused(scene.name, &damage(&text, &mut random)));
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn damaged_scenes_are_built_or_refused() {
    assert!(!is_refused("small", SMALL), "it is whole");
    let mut random = Random::new(9);
    let refused = (0..1500).filter(|_| is_refused("small", &damage(SMALL, &mut random))).count();
    assert!(refused > 500, "{refused}");
}

#[test]
fn damaged_overrides_are_refused_in_place() {
    let scene = builtin().iter().find(|s| s.name == "box-on-floor").unwrap();
    let mut random = Random::new(8);
    for _ in 0..500 {
        let path = damage("bodies.box.position.1", &mut random);
        let value = damage("[1, 2.0, \"x\"]", &mut random);
        let written = format!("{path}={value}");
        let overrides = [(path, value)];
        if let Err(errors) = load(scene.name, scene.text, None, &overrides) {
            for error in errors.errors.iter().filter(|e| e.source.is_some()) {
                assert!(error.span.end <= written.len(), "{:?} in {written}", error.span);
            }
            assert!(!errors.to_string().is_empty());
        }
    }
}
