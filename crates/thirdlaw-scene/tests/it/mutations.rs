//! Thousands of damaged scenes: none panics, and every refusal points into the text.

use thirdlaw_scene::generate::Random;
use thirdlaw_scene::{builtin, load};

/// Words and signs that scenes are made of, and some they should not be made of.
const SCRAPS: [&str; 28] = [
    "=", "[", "]", "{", "}", "\"", ".", ",", "\n", "#", "0", "-1", "1e308", "nan", "inf", "true",
    "version", "shape", "box", "size", "copies", "1e5", "\"2*n\"", "µ", "'''", "\t", "[expect]",
    "*",
];

fn damage(text: &str, random: &mut Random) -> String {
    let mut text = text.to_string();
    for _ in 0..1 + random.bits() % 3 {
        let boundary = |at: u64, text: &str| {
            let mut at = (at % (text.len() as u64 + 1)) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let from = boundary(random.bits(), &text);
        let to = boundary(from as u64 + random.bits() % 12, &text).max(from);
        let scrap = SCRAPS[(random.bits() % SCRAPS.len() as u64) as usize];
        match random.bits() % 4 {
            0 => text.insert_str(from, scrap),
            1 => text.replace_range(from..to, ""),
            2 => text.replace_range(from..to, scrap),
            _ => {
                let piece = text[from..to].to_string();
                let at = boundary(random.bits(), &text);
                text.insert_str(at, &piece);
            }
        }
    }
    text
}

#[test]
fn damaged_scenes_are_refused_in_place() {
    let mut random = Random::new(7);
    let mut refused = 0;
    for scene in builtin() {
        // a damaged number may ask for a thousand times as many bodies; small scenes stay quick
        let small = scene.name.starts_with("validate/") || !scene.name.contains('/');
        let text = if small {
            scene.text.to_string()
        } else {
            // the same text, but refused before anything is built
            format!("{}\n[nothing]\n", scene.text)
        };
        for _ in 0..200 {
            let text = damage(&text, &mut random);
            let Err(errors) = load(scene.name, &text, None, &[]) else { continue };
            refused += 1;
            assert!(!errors.errors.is_empty());
            for error in &errors.errors {
                let span = error.span.clone();
                assert!(span.start <= span.end && span.end <= text.len(), "{span:?} in:\n{text}");
                assert!(text.is_char_boundary(span.start), "{span:?} in:\n{text}");
            }
            assert!(!errors.to_string().is_empty());
        }
    }
    assert!(refused > 1000, "{refused}");
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
