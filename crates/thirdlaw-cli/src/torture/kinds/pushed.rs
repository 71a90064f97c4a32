//! A kinematic wall, floor or paddle moves among resting bodies.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Motion, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a scene with something that pushes.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = pieces::size(draw);
    let frames = draw.whole(60, 90);
    let mut sketch = pieces::timed(draw, frames);
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, pieces::surface(draw));
    let speed = (9.81 * size).sqrt() * draw.decades(0.1, 10.0);
    let (count, seconds) = (draw.whole(1, 8), f64::from(sketch.frames) / sketch.fps);
    for i in 0..count {
        let shape = pieces::shape(draw, size, 2.0);
        let mut body = pieces::body(draw, i, shape);
        let lift = body.shape.radius() + 0.01 * size;
        body.position =
            Vec3::new(1.8 * size * (i / 3) as f64, lift, 1.8 * size * ((i % 3) as f64 - 1.0));
        sketch.add(body);
    }
    let way = rounded((speed * seconds).min(15.0 * size), 3);
    let time = rounded(way / speed, 3);
    let (shape, from, to) = match draw.whole(0, 1) {
        0 => {
            // a wall from the side
            let wall = Shape::Box(Vec3::new(0.5 * size, 4.0 * size, 8.0 * size));
            let from = Vec3::new(-1.6 * size, 2.05 * size, 0.0);
            (wall, from, from + way * Vec3::X)
        }
        _ => {
            // a lid from above that stops in time
            let lid = Shape::Box(Vec3::new(12.0 * size, 0.5 * size, 12.0 * size));
            let from = Vec3::new(0.0, 6.0 * size, 0.0);
            (lid, from, from - way.min(3.0 * size) * Vec3::Y)
        }
    };
    let mut pusher = Body::new("pusher", shape, 1.0).at(from, Quat::IDENTITY);
    pusher.motion = Motion::Kinematic(vec![(0.0, from), (time, to)]);
    sketch.add(pusher.surface(pieces::surface(draw)));
    sketch
}
