//! The colour of every body that the scene does not paint.

use thirdlaw::BodyKind;
use thirdlaw_render::palette;
use thirdlaw_scene::Scene;

/// Of fixed bodies: warm stone.
const STONE: [f32; 3] = [0.66, 0.63, 0.58];
/// Colours nearer than this, as distance in sRGB, would be taken for each other.
const ALIKE: f32 = 0.25;
const PALETTE_LENGTH: usize = 12;

/// sRGB of each body, in the order of the scene. What the scene paints keeps its colour; the rest
/// gets one colour an object table, unlike those in use, and a shade of it for each copy.
pub fn body_colors(scene: &Scene) -> Vec<[f32; 3]> {
    let is_fixed = |i: usize| {
        scene.world.body(scene.bodies[i].id).is_ok_and(|body| body.kind == BodyKind::Fixed)
    };
    let mut used: Vec<[f32; 3]> = Vec::new();
    for (i, body) in scene.bodies.iter().enumerate() {
        used.extend(body.color.filter(|color| !is_fixed(i) && !used.contains(color)));
    }
    let mut chosen: Vec<(usize, [f32; 3])> = Vec::new();
    let mut color_of_object = |object: usize| {
        if let Some((_, color)) = chosen.iter().find(|(other, _)| *other == object) {
            return *color;
        }
        let mut candidates = (0..PALETTE_LENGTH).map(palette);
        let color = candidates
            .find(|candidate| used.iter().all(|color| distance(*color, *candidate) > ALIKE))
            .unwrap_or_else(|| palette(object));
        used.push(color);
        chosen.push((object, color));
        color
    };
    let colors = scene.bodies.iter().enumerate().map(|(i, body)| match body.color {
        Some(color) => color,
        None if is_fixed(i) => shade(STONE, i),
        None => shade(color_of_object(body.object), i),
    });
    colors.collect()
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum::<f32>().sqrt()
}

/// A colour a little lighter or darker, warmer or cooler.
fn shade(color: [f32; 3], seed: usize) -> [f32; 3] {
    let bits = scramble(seed as u64);
    let unit = |shift: u32| ((bits >> shift) & 0xffff) as f32 / 65535.0 - 0.5;
    let (light, warm) = (1.0 + 0.22 * unit(0), 0.10 * unit(16));
    let factors = [light * (1.0 + warm), light, light * (1.0 - warm)];
    [0, 1, 2].map(|k| (color[k] * factors[k]).clamp(0.0, 1.0))
}

/// The finalizer of SplitMix64 [steele2014].
fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
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
}
