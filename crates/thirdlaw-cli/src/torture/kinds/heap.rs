//! Bodies of all shapes fall into a heap, in a room of half-spaces, boxes or triangles, or on hills.

use super::super::draw::Draw;
use super::super::sketch::{Body, Promise, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a heap.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let slender = pieces::slenderness(draw);
    let same = draw.chance(0.4);
    let count = draw.whole(4, 30);
    let (across, spacing) = (draw.whole(2, 3), 1.25 * size);
    let wide = spacing * (across as f64 + 1.0);
    let high = spacing * (count as f64 / (across * across) as f64 + 3.0);
    let (low, high) =
        (Vec3::new(-0.5 * wide, 0.0, -0.5 * wide), Vec3::new(0.5 * wide, high, 0.5 * wide));
    let mut floor = 0.6 * size;
    match draw.whole(0, 3) {
        0 => pieces::solid_room(draw, &mut sketch, low, high),
        1 => {
            pieces::room(draw, &mut sketch, low - size * Vec3::Y, high);
            let ground = pieces::hills(draw, wide, 0.4 * size);
            let ground = Body::new("hills", ground, 1.0).fixed().surface(pieces::surface(draw));
            let number = sketch.add(ground);
            sketch.promises.push(Promise::Above(number));
            floor += 0.4 * size;
        }
        _ => pieces::room(draw, &mut sketch, low, high),
    }
    let model = pieces::shape(draw, size, slender);
    for i in 0..count {
        let shape = if same { model.clone() } else { pieces::shape(draw, size, slender) };
        let mut body = pieces::body(draw, i, shape);
        let place = |k: usize| spacing * (k as f64 - 0.5 * (across as f64 - 1.0));
        let (x, z) = (place(i % across), place(i / across % across));
        let y = floor + spacing * (i / (across * across)) as f64;
        body.position = Vec3::new(x, y, z);
        body.rotation = if draw.chance(0.8) { draw.rotation() } else { Quat::IDENTITY };
        if draw.chance(0.3) {
            let fall = (9.81 * size).sqrt();
            (body.velocity, body.spin) = (draw.vector(fall), draw.vector(fall / size));
        }
        sketch.add(body);
    }
    sketch
}
