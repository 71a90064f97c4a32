//! Bodies stand on each other: towers, walls, pyramids, of equal or of different masses.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a tower.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let friction = draw.between(0.2, 1.0);
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, [friction, 0.0]);
    let (wide, high, deep) = (size, rounded(size * draw.between(0.1, 1.5), 3), size);
    let gap = if draw.chance(0.5) { 0.0 } else { rounded(0.01 * size * draw.unit(), 2) };
    let ratio = if draw.chance(0.5) { 1.0 } else { draw.decades(0.1, 10.0) };
    let round = draw.chance(0.2);
    let shape = match round {
        true => Shape::Cylinder(0.5 * wide, high),
        false => Shape::Box(Vec3::new(wide, high, deep)),
    };
    let (rows, pyramid) = (draw.whole(1, 8), draw.chance(0.4));
    let mut mass = rounded(pieces::density(draw) * shape.volume(), 4);
    let mut number = 0;
    for row in 0..rows {
        let columns = if pyramid { rows - row } else { 1 };
        for column in 0..columns {
            let x = 1.02 * wide * (column as f64 - 0.5 * (columns as f64 - 1.0));
            let y = 0.5 * high + (high + gap) * row as f64 + gap;
            let mut body = Body::new(&format!("b{number}"), shape.clone(), mass);
            body = body.surface([friction, 0.0]).at(Vec3::new(x, y, 0.0), Quat::IDENTITY);
            sketch.add(body);
            number += 1;
        }
        mass = rounded(mass * ratio, 4);
    }
    sketch
}
