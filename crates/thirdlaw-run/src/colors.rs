//! The colour of every body, cloth and stream that the scene does not paint.

use thirdlaw::BodyKind;
use thirdlaw_scene::Scene;

/// Of fixed bodies: warm stone.
const STONE: [f32; 3] = [0.66, 0.63, 0.58];
/// Colours nearer than this, as distance in sRGB, would be taken for each other.
const ALIKE: f32 = 0.25;

/// Colours that sit well beside each other under a warm sun; neighbours differ in hue and lightness.
const PALETTE: [u32; 12] = [
    0xE4572E, // vermilion
    0x2E86AB, // lake blue
    0xF3B61F, // saffron
    0x4BA36B, // fern
    0x8E5EA8, // plum
    0xF29E6D, // apricot
    0x1F5F7A, // deep teal
    0xEAD8B1, // sand
    0xC8374E, // raspberry
    0x5FC4B8, // aqua
    0x4A5A8C, // indigo
    0xA9C052, // moss
];

/// The `i`-th colour, sRGB; after twelve the sequence repeats.
pub fn palette(i: usize) -> [f32; 3] {
    let hex = PALETTE[i % PALETTE.len()];
    [16, 8, 0].map(|shift| ((hex >> shift) & 0xff) as f32 / 255.0)
}

/// sRGB of each body, in the order of the scene. What the scene paints keeps its colour; the rest
/// gets one colour an object table, unlike those in use, and a shade of it for each copy.
pub fn body_colors(scene: &Scene) -> Vec<[f32; 3]> {
    all_colors(scene).0
}

/// sRGB of each cloth, by the same rule.
pub fn cloth_colors(scene: &Scene) -> Vec<[f32; 3]> {
    all_colors(scene).1
}

/// sRGB of each stream of particles, by the same rule.
pub fn emitter_colors(scene: &Scene) -> Vec<[f32; 3]> {
    all_colors(scene).2
}

type Colors = Vec<[f32; 3]>;

fn all_colors(scene: &Scene) -> (Colors, Colors, Colors) {
    let is_fixed = |i: usize| {
        scene.world.body(scene.bodies[i].id).is_ok_and(|body| body.kind == BodyKind::Fixed)
    };
    let mut used: Vec<[f32; 3]> = Vec::new();
    for (i, body) in scene.bodies.iter().enumerate() {
        used.extend(body.color.filter(|color| !is_fixed(i) && !used.contains(color)));
    }
    used.extend(scene.cloths.iter().filter_map(|cloth| cloth.color));
    used.extend(scene.emitters.iter().filter_map(|emitter| emitter.color));
    let mut chosen: Vec<(usize, [f32; 3])> = Vec::new();
    let mut color_of_object = |object: usize| {
        if let Some((_, color)) = chosen.iter().find(|(other, _)| *other == object) {
            return *color;
        }
        let mut candidates = (0..PALETTE.len()).map(palette);
        let color = candidates
            .find(|candidate| used.iter().all(|color| distance(*color, *candidate) > ALIKE))
            .unwrap_or_else(|| palette(object));
        used.push(color);
        chosen.push((object, color));
        color
    };
    let bodies = scene.bodies.iter().enumerate().map(|(i, body)| match body.color {
        Some(color) => color,
        None if is_fixed(i) => shade(STONE, i),
        None => shade(color_of_object(body.object), i),
    });
    let bodies = bodies.collect();
    let cloths = scene.cloths.iter().enumerate().map(|(i, cloth)| match cloth.color {
        Some(color) => color,
        None => shade(color_of_object(cloth.object), i),
    });
    let cloths = cloths.collect();
    let emitters = scene.emitters.iter();
    let emitters = emitters.map(|e| e.color.unwrap_or_else(|| color_of_object(e.object)));
    (bodies, cloths, emitters.collect())
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum::<f32>().sqrt()
}

/// A colour a little lighter or darker, warmer or cooler.
fn shade(color: [f32; 3], seed: usize) -> [f32; 3] {
    // multiples of the golden section: neighbours, which often touch, differ most
    let step = |section: f64| libm::fmod(seed as f64 * section, 1.0) as f32 - 0.5;
    let light = 1.0 + 0.24 * step(0.618_033_988_749_895);
    let warm = 0.10 * step(0.754_877_666_246_693);
    let factors = [light * (1.0 + warm), light, light * (1.0 - warm)];
    [0, 1, 2].map(|k| (color[k] * factors[k]).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn painted_bodies_keep_their_colour_and_objects_differ() {
        let text = "version = 1\ntitle = \"t\"\n\
            [bodies.a]\nshape = { sphere = { radius = 1 } }\ncolor = [0.9, 0.3, 0.2]\n\
            [bodies.b]\nshape = { sphere = { radius = 1 } }\nposition = [3, 0, 0]\n\
            [bodies.c]\nshape = { sphere = { radius = 1 } }\nposition = [6, 0, 0]\n";
        let scene = thirdlaw_scene::load("t", text, None, &[]).unwrap();
        let colors = body_colors(&scene);
        assert_eq!(colors[0], [0.9, 0.3, 0.2]);
        for (i, a) in colors.iter().enumerate() {
            for b in &colors[..i] {
                assert!(distance(*a, *b) > 0.15, "{a:?} {b:?}");
            }
        }
    }

    /// Exports are made without the ray tracer, but look like its pictures.
    #[cfg(feature = "pictures")]
    #[test]
    fn the_palette_is_that_of_pictures() {
        for i in 0..2 * PALETTE.len() {
            assert_eq!(palette(i), thirdlaw_render::palette(i));
        }
    }
}
