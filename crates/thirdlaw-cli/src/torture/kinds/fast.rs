//! Fast things: bullets at walls, plates and each other, from 10 to 1000 times their size per second and more.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Promise, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes something fast.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(30, 60);
    let mut sketch = pieces::timed(draw, frames);
    sketch.continuous = true;
    let speed = rounded(size * sketch.fps * draw.decades(0.3, 100.0), 3);
    if draw.chance(0.5) {
        sketch.gravity = Vec3::ZERO;
    }
    let e = if draw.chance(0.6) { 0.0 } else { draw.between(0.1, 1.0) };
    let bullet =
        if draw.chance(0.5) { Shape::Sphere(0.5 * size) } else { pieces::shape(draw, size, 2.0) };
    let mass = rounded(pieces::density(draw) * bullet.volume(), 4);
    // at a random place of a frame
    let start = speed / sketch.fps * draw.between(0.5, 4.0) + 3.0 * size;
    let turn = draw.rotation();
    match draw.whole(0, 2) {
        0 => {
            // head on
            for (i, side) in [-1.0, 1.0].into_iter().enumerate() {
                let mut body = Body::new(&format!("b{i}"), bullet.clone(), mass).surface([0.3, e]);
                body = body.at(Vec3::new(side * start, 0.0, 0.0), turn);
                body.velocity = Vec3::new(-side * speed, 0.0, 0.0);
                sketch.add(body);
            }
            sketch.promises.push(Promise::Order(0, 1, Vec3::X));
            sketch.gravity = Vec3::ZERO;
        }
        1 => {
            // at a wall, thick or thin, of a box, a half-space or triangles
            let high = rounded(4.0 * start + 20.0 * size, 2);
            sketch.promises.push(Promise::Before(Vec3::ZERO, -Vec3::X));
            let thin = rounded(size * draw.decades(0.01, 3.0), 2);
            let wall = match draw.whole(0, 2) {
                0 => Shape::HalfSpace,
                1 => Shape::Box(Vec3::new(thin, high, high)),
                _ => {
                    let corner = |y: f64, z: f64| 0.5 * high * Vec3::new(0.0, y, z);
                    let corners = [
                        corner(-1.0, -1.0),
                        corner(-1.0, 1.0),
                        corner(1.0, 1.0),
                        corner(1.0, -1.0),
                    ];
                    Shape::Mesh(corners.into(), vec![[0, 1, 2], [0, 2, 3]])
                }
            };
            let mut body = Body::new("wall", wall.clone(), 1.0).fixed().surface([0.3, e]);
            match wall {
                Shape::HalfSpace => body.rotation = Quat::from_rotation_arc(Vec3::Y, -Vec3::X),
                Shape::Box(_) => body.position.x = 0.5 * thin,
                _ => {}
            }
            sketch.add(body);
            let mut body = Body::new("bullet", bullet, mass).surface([0.3, e]);
            body = body.at(Vec3::new(-start, 0.0, 0.0), turn);
            body.velocity = Vec3::new(speed, 0.1 * speed * draw.between(-1.0, 1.0), 0.0);
            // a substep turns it by a quarter of a radian at most
            let spin = 0.25 * sketch.fps * f64::from(sketch.substeps) / 1.8;
            body.spin = draw.vector(rounded(spin.min(0.2 * speed / size), 2));
            sketch.add(body);
        }
        _ => {
            // around in a closed room
            let half = Vec3::splat(rounded(size * draw.between(3.0, 10.0), 2));
            pieces::solid_room(draw, &mut sketch, -half, half);
            for i in 0..draw.whole(1, 4) {
                let mut body = Body::new(&format!("b{i}"), bullet.clone(), mass).surface([0.3, e]);
                body.position = 1.3 * size * Vec3::new(i as f64 - 1.5, 0.0, 0.0);
                body.rotation = draw.rotation();
                body.velocity = speed * draw.direction();
                sketch.add(body);
            }
        }
    }
    sketch
}
