//! Sheets of cloth: hanging, falling on balls and boxes, carrying bodies, on the floor.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Cloth, Fabric, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a cloth.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = draw.decades(0.3, 3.0);
    let mut sketch = pieces::timed(draw, 40);
    sketch.fps = draw.pick(&[60.0, 60.0, 120.0]);
    sketch.substeps = 8;
    let fabric = Fabric {
        density: draw.decades(0.05, 1.0),
        stretch: draw.decades(2e3, 1e5),
        shear: draw.decades(20.0, 1e3),
        bend: draw.decades(3e-6, 3e-4),
        damping: draw.decades(1e-3, 1e-2),
        friction: draw.between(0.0, 0.8),
        thickness: draw.decades(2e-4, 2e-3),
    };
    let counts = [draw.whole(6, 16), draw.whole(6, 16)];
    let pins = draw.pick(&["", "", "corners", "edge.top", "corner.top-left"]);
    let position = Vec3::new(0.0, rounded(1.2 * size, 3), 0.0);
    let rotation = if draw.chance(0.3) { draw.rotation() } else { Quat::IDENTITY };
    let (name, size2) = ("sheet".into(), [size, rounded(size * draw.between(0.4, 1.0), 3)]);
    sketch.cloths.push(Cloth { name, counts, size: size2, position, rotation, fabric, pins });
    if draw.chance(0.7) {
        sketch.wall("floor", Vec3::ZERO, Vec3::Y, pieces::surface(draw));
    }
    if draw.chance(0.6) {
        let ball = Shape::Sphere(rounded(0.2 * size, 3));
        let block = Shape::Box(Vec3::splat(rounded(0.35 * size, 3)));
        let shape = if draw.chance(0.5) { ball } else { block };
        let body = Body::new("support", shape, 1.0).fixed().surface(pieces::surface(draw));
        sketch.add(body.at(Vec3::new(0.0, 0.6 * size, 0.0), Quat::IDENTITY));
    }
    for i in 0..draw.whole(0, 3) {
        let shape = pieces::shape(draw, rounded(0.15 * size, 3), 1.5);
        let mut body = pieces::body(draw, i, shape);
        let sheet = fabric.density * size2[0] * size2[1];
        body.mass = rounded(sheet * draw.decades(0.1, 10.0), 3);
        body.restitution = 0.0;
        body.position =
            Vec3::new(0.2 * size * (i as f64 - 1.0), (1.5 + 0.2 * i as f64) * size, 0.0);
        sketch.add(body);
    }
    sketch
}
