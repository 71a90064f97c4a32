//! Bodies that overlap at the start, as scenes put together in a hurry do: they must come apart, and not fly.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Shape, Sketch};
use super::pieces;
use thirdlaw::math::Vec3;

/// Makes bodies that overlap.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, [draw.between(0.1, 1.0), 0.0]);
    let count = draw.whole(2, 10);
    let step = rounded(size * draw.between(0.4, 0.98), 3);
    let column = draw.chance(0.5);
    for i in 0..count {
        let shape = match draw.chance(0.7) {
            true => Shape::Box(Vec3::splat(size)),
            false => Shape::Sphere(0.5 * size),
        };
        let mut body = pieces::body(draw, i, shape);
        body.restitution = 0.0;
        body.position = match column {
            true => Vec3::new(0.0, 0.5 * size + step * i as f64, 0.0),
            false => Vec3::new(step * i as f64, 0.5 * size, 0.0),
        };
        sketch.add(body);
    }
    sketch
}
