//! Free flight without gravity: spinning bodies, and clouds of them that collide with each other only.

use super::super::draw::Draw;
use super::super::sketch::Sketch;
use super::pieces;
use thirdlaw::math::Vec3;

/// Makes a flight.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    if draw.chance(0.8) {
        sketch.gravity = Vec3::ZERO;
    }
    let count = draw.whole(1, 12);
    let (slender, speed) = (pieces::slenderness(draw), size * draw.between(0.1, 5.0));
    for i in 0..count {
        let shape = pieces::shape(draw, size, slender.min(30.0));
        let mut body = pieces::body(draw, i, shape);
        let (x, y) = (i % 3, i / 3);
        body.position = 1.6 * size * Vec3::new(x as f64 - 1.0, y as f64 - 1.5, 0.0);
        body.rotation = draw.rotation();
        // towards the middle
        body.velocity = draw.vector(0.3 * speed) - speed * body.position / (3.0 * size);
        body.spin = draw.vector(6.0);
        sketch.add(body);
    }
    sketch
}
