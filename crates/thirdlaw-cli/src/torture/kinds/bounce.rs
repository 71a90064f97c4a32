//! Balls and boxes that bounce: in columns, in rows as a cradle, in a box, with restitution from 0 to 1.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes things that bounce.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let e = if draw.chance(0.5) { 1.0 } else { draw.between(0.2, 1.0) };
    let friction = if draw.chance(0.5) { 0.0 } else { draw.between(0.1, 1.0) };
    let ball = draw.chance(0.7);
    let shape = if ball { Shape::Sphere(0.5 * size) } else { pieces::shape(draw, size, 1.5) };
    let mass = rounded(pieces::density(draw) * shape.volume(), 4);
    let count = draw.whole(1, 8);
    let (row, gap) = (draw.chance(0.3), rounded(size * draw.decades(1e-3, 1.0), 2));
    if row {
        sketch.gravity = Vec3::ZERO;
    } else {
        sketch.wall("floor", Vec3::ZERO, Vec3::Y, [friction, e]);
    }
    let drop = rounded(size * draw.decades(0.5, 30.0), 2);
    for i in 0..count {
        let step = (2.0 * shape.radius() + gap) * i as f64;
        let mass = if draw.chance(0.2) { mass * draw.decades(0.1, 10.0) } else { mass };
        let mut body = Body::new(&format!("b{i}"), shape.clone(), rounded(mass, 4));
        let at = if row { Vec3::new(step, 0.0, 0.0) } else { Vec3::new(0.0, drop + step, 0.0) };
        let turn = if ball { Quat::IDENTITY } else { draw.rotation() };
        body = body.surface([friction, e]).at(at + shape.radius() * Vec3::Y, turn);
        if row && i == 0 {
            body.velocity = Vec3::new(rounded(size * draw.decades(0.5, 50.0), 3), 0.0, 0.0);
        }
        if draw.chance(0.3) && !row {
            body.spin = draw.vector(10.0);
        }
        sketch.add(body);
    }
    sketch
}
