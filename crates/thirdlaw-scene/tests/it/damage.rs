//! Scenes with random damage, for the tests and for the long fuzz, `thirdlaw-studies fuzz`.

use thirdlaw_scene::generate::Random;
use thirdlaw_scene::{Builtin, load};

/// Words and signs that scenes are made of, and some they should not be made of.
const SCRAPS: [&str; 28] = [
    "=", "[", "]", "{", "}", "\"", ".", ",", "\n", "#", "0", "-1", "1e308", "nan", "inf", "true",
    "version", "shape", "box", "size", "copies", "1e5", "\"2*n\"", "µ", "'''", "\t", "[expect]",
    "*",
];

/// A text with one to three changes at random places.
pub fn damage(text: &str, random: &mut Random) -> String {
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

/// A scene with something of everything, small, so that damage is built too.
pub const SMALL: &str = r##"version = 1
title = "Something of everything"

[settings]
fps = 60
frames = 4

[parameters]
n = 3

[materials.wood]
friction = 0.5
color = "#aa8844"

[bodies.floor]
kind = "fixed"
shape = { terrain = { size = 8, cells = 4 } }

[bodies.field]
kind = "fixed"
shape = { height_field = { heights = [[0, 1], [1, 0], [2, 1]], size = [3, 2] } }
position = [20, 0, 0]

[bodies.gate]
kind = "kinematic"
shape = { compound = { parts = [{ shape = { box = { size = [1, 1, 1] } } }, { shape = { capsule = { length = 1, radius = 0.2 } }, position = [1, 0, 0], rotation = { axis = [0, 0, 1], degrees = 30 } }] } }
position = [0, 30, 0]
keyframes = { keys = [{ time = 0, position = [0, 30, 0] }, { time = 1, position = [0, 31, 0] }], smooth = true }

[bodies.part]
shape = { decompose = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], resolution = 8, parts_max = 2 } }
position = [0, 40, 0]
inertia = { moments = [1, 1, 1] }
mass = 2

[bodies.hull]
shape = { hull = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "n/3"]] } }
position = [0, 50, 0]
copies = { grid = { count = ["n", 1, 2], spacing = [2, 2, 2] } }
forces = [{ force = [0, 1, 0], until = 2 }]
groups = { member = [1], collides = [0, 1] }

[generate.card]
make = { card_house = { levels = 2, card = [1, 0.6, 0.02], lean = 72 } }
position = [0, 60, 0]
material = "wood"

[generate.cube]
make = { pyramid = { base = 2, size = 1, spacing = 1.05 } }
position = [30, 70, 0]

[generate.drop]
make = { rain = { count = "n", row = 2, size = 0.5, spacing = 0.75, shift = 0.1, seed = 3 } }
position = [0, 80, 0]

[generate.link]
make = { chain = { count = 2, length = 0.4, width = 0.28, wire = 0.035 } }
position = [0, 90, 0]

[generate.cell]
make = { voronoi = { size = [1, 1, 1], cells = 4, impacts = [[0, 0.5, 0]], spread = 2, seed = 1 } }
position = [0, 100, 0]

[camera]
eye = [5, 4, 11]
target = [0, 1.8, 0]
keyframes = [{ time = 1, eye = [4, 4, 11] }]

[expect]
penetration = { below = 0.1 }
"hull.*.y" = { above = 0, from = 0.01 }
"##;

/// The text that is damaged. A damaged number may ask for a thousand times as many bodies: small
/// scenes stay quick, the others are refused before anything is built.
pub fn seed_text(scene: &Builtin) -> String {
    match scene.name.starts_with("validate/") || !scene.name.contains('/') {
        true => scene.text.to_string(),
        false => format!("{}\n[nothing]\n", scene.text),
    }
}

/// Loads a scene. Returns whether it is refused; panics where a refusal does not point into the
/// text, or cannot be told.
pub fn is_refused(name: &str, text: &str) -> bool {
    let Err(errors) = load(name, text, None, &[]) else { return false };
    assert!(!errors.errors.is_empty());
    for error in &errors.errors {
        let span = error.span.clone();
        assert!(span.start <= span.end && span.end <= text.len(), "{span:?} in:\n{text}");
        assert!(text.is_char_boundary(span.start), "{span:?} in:\n{text}");
        assert!(!error.message.is_empty());
    }
    assert!(!errors.to_string().is_empty());
    true
}
