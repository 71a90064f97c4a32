//! Bodies that slide, roll and spin: on inclines, on floors, over the seams of meshes, over hills.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Promise, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes bodies that slide.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let friction = draw.between(0.0, 1.0);
    let slope = if draw.chance(0.5) { draw.between(0.0, 0.7) } else { 0.0 };
    let tilt = Quat::from_rotation_z(slope);
    let wide = rounded(40.0 * size, 2);
    let ground = draw.whole(0, 3);
    let mut clear = 0.0;
    match ground {
        0 => {
            let ground = Shape::Box(Vec3::new(wide, 2.0 * size, wide));
            let at = tilt * Vec3::new(0.0, -size, 0.0);
            let ground = Body::new("ground", ground, 1.0).fixed().surface([friction, 0.0]);
            sketch.add(ground.at(at, tilt));
        }
        1 => {
            let cells = draw.whole(2, 12);
            let ground = Body::new("ground", plane(wide, cells), 1.0).fixed();
            sketch.add(ground.surface([friction, 0.0]).at(Vec3::ZERO, tilt));
        }
        2 => {
            let ground = pieces::hills(draw, wide, 2.0 * size);
            let ground = Body::new("ground", ground, 1.0).fixed().surface([friction, 0.0]);
            let number = sketch.add(ground.at(Vec3::ZERO, tilt));
            sketch.promises.push(Promise::Above(number));
            clear = 2.0 * size;
        }
        _ => {
            sketch.wall("ground", Vec3::ZERO, tilt * Vec3::Y, [friction, 0.0]);
        }
    }
    for i in 0..draw.whole(1, 4) {
        let slender = pieces::slenderness(draw);
        let shape = pieces::shape(draw, size, slender.min(20.0));
        let mass = rounded(pieces::density(draw) * shape.volume(), 4);
        let upright = match shape {
            // lies on its side
            Shape::Cylinder(..) | Shape::Capsule(..) if draw.chance(0.5) => {
                Quat::from_rotation_x(std::f64::consts::FRAC_PI_2)
            }
            _ => Quat::IDENTITY,
        };
        let lift = clear + 0.02 * size + lowest(&shape, upright);
        let mut body = Body::new(&format!("b{i}"), shape, mass).surface([friction, 0.0]);
        let x = 2.5 * size * (i as f64 - 1.5);
        body = body.at(tilt * Vec3::new(x, rounded(lift, 4), 0.0), tilt * upright);
        let speed = (9.81 * size).sqrt() * draw.between(0.0, 3.0);
        let heading = draw.between(0.0, std::f64::consts::TAU);
        body.velocity = tilt * (speed * Vec3::new(heading.cos(), 0.0, heading.sin()));
        let turn = if draw.chance(0.5) { speed / size * draw.between(-2.0, 2.0) } else { 0.0 };
        body.spin = tilt * Vec3::new(0.0, turn, 0.0);
        sketch.add(body);
    }
    sketch
}

/// How far a shape that is turned so reaches down from its origin, or somewhat more.
fn lowest(shape: &Shape, turn: Quat) -> f64 {
    match shape {
        Shape::Box(size) => 0.5 * size.y,
        Shape::Cylinder(r, _) | Shape::Capsule(r, _) if turn != Quat::IDENTITY => *r,
        Shape::Cylinder(_, h) | Shape::Cone(_, h) => 0.5 * h,
        other => other.radius(),
    }
}

/// A flat square of triangles.
fn plane(wide: f64, cells: usize) -> Shape {
    let place = |i: usize| wide * (i as f64 / cells as f64 - 0.5);
    let corner = |i: usize| Vec3::new(place(i % (cells + 1)), 0.0, place(i / (cells + 1)));
    let vertices = (0..(cells + 1) * (cells + 1)).map(corner).collect();
    let mut triangles = Vec::new();
    for j in 0..cells {
        for i in 0..cells {
            let a = (j * (cells + 1) + i) as u32;
            let (b, c) = (a + 1, a + cells as u32 + 1);
            triangles.extend([[a, c, b], [b, c, c + 1]]);
        }
    }
    Shape::Mesh(vertices, triangles)
}
