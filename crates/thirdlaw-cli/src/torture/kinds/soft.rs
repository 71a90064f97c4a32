//! Soft bodies: thrown, crushed under weights, twisted between turning ends, pinched between bodies.
//!
//! Young's modulus over four decades, Poisson's ratio up to 0.49. What crushes and twists are bodies, so that all
//! energy is there at the start.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Shape, Sketch, Soft, SoftMesh};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a soft body and what is done to it.
pub fn make(draw: &mut Draw) -> Sketch {
    let mut sketch = pieces::timed(draw, 60);
    sketch.fps = draw.pick(&[60.0, 60.0, 120.0]);
    (sketch.substeps, sketch.continuous) = (8, true);
    let size = draw.decades(0.05, 1.0);
    let mut soft = body(draw, size);
    match draw.whole(0, 3) {
        0 => thrown(draw, &mut sketch, &mut soft, size),
        1 => crushed(draw, &mut sketch, &mut soft, size),
        2 => twisted(draw, &mut sketch, &mut soft, size),
        _ => pinched(draw, &mut sketch, &mut soft, size),
    }
    sketch.softs.push(soft);
    sketch
}

fn body(draw: &mut Draw, size: f64) -> Soft {
    let mesh = match draw.whole(0, 2) {
        0 => SoftMesh::Ball { radius: rounded(0.5 * size, 3), spacing: rounded(0.2 * size, 3) },
        _ => {
            let slender = draw.pick(&[1.0, 1.0, 2.0, 4.0]);
            let thin = rounded(size / slender, 3);
            let along = (2.0 * slender) as usize;
            SoftMesh::Box { size: Vec3::new(size, thin, thin), cells: [along.max(3), 2, 2] }
        }
    };
    let density = if draw.chance(0.7) { 1000.0 } else { draw.decades(100.0, 5e3) };
    // soft enough to matter, stiff enough to stand: from a few times its own weight to ten thousand times that
    let own = density * 9.81 * size;
    Soft {
        name: "soft".into(),
        mesh,
        young: rounded(own * draw.decades(3.0, 3e4), 3),
        poisson: rounded(draw.between(0.0, 0.49), 3),
        density,
        damping: if draw.chance(0.5) { 0.0 } else { draw.decades(1e-3, 0.1) },
        law: draw.pick(&["neo-hookean", "neo-hookean", "corotated", "st-venant-kirchhoff"]),
        incompressible: draw.chance(0.25),
        friction: draw.between(0.0, 1.0),
        position: Vec3::ZERO,
        rotation: if draw.chance(0.5) { draw.rotation() } else { Quat::IDENTITY },
        velocity: Vec3::ZERO,
        pins: Vec::new(),
    }
}

/// At the floor or a wall, fast.
fn thrown(draw: &mut Draw, sketch: &mut Sketch, soft: &mut Soft, size: f64) {
    let half = 3.0 * size;
    let low = Vec3::new(-half, 0.0, -half);
    pieces::room(draw, sketch, low, Vec3::new(half, 2.0 * half, half));
    soft.position = Vec3::new(0.0, 1.5 * size, 0.0);
    soft.velocity = (9.81 * size).sqrt() * draw.decades(0.3, 10.0) * draw.direction();
}

/// Under a plate that falls on it.
fn crushed(draw: &mut Draw, sketch: &mut Sketch, soft: &mut Soft, size: f64) {
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, pieces::surface(draw));
    soft.position = Vec3::new(0.0, 0.9 * size, 0.0);
    let shape = Shape::Box(Vec3::new(4.0 * size, 0.3 * size, 4.0 * size));
    let mass = soft.mass() * draw.decades(0.1, 100.0);
    let mut plate = Body::new("plate", shape, rounded(mass, 3)).surface(pieces::surface(draw));
    plate.restitution = 0.0;
    let height = (2.2 + draw.between(0.0, 3.0)) * size;
    sketch.add(plate.at(Vec3::new(0.0, height, 0.0), Quat::IDENTITY));
}

/// Between two bodies that turn against each other, in free flight.
fn twisted(draw: &mut Draw, sketch: &mut Sketch, soft: &mut Soft, size: f64) {
    sketch.gravity = Vec3::ZERO;
    soft.mesh = SoftMesh::Box { size: Vec3::new(size, 0.3 * size, 0.3 * size), cells: [6, 2, 2] };
    soft.rotation = Quat::IDENTITY;
    let mass = rounded(soft.mass() * draw.decades(0.3, 30.0), 3);
    let speed = draw.decades(0.3, 30.0);
    for (side, name, sign) in [("left", "west", -1.0), ("right", "east", 1.0)] {
        let shape = Shape::Box(Vec3::new(0.2 * size, 0.5 * size, 0.5 * size));
        let mut end = Body::new(name, shape, mass);
        end.position = Vec3::new(sign * 0.61 * size, 0.0, 0.0);
        end.spin = Vec3::new(rounded(sign * speed, 3), 0.0, 0.0);
        sketch.add(end);
        soft.pins.push((side, name.into()));
    }
}

/// Between two bodies that come from both sides.
fn pinched(draw: &mut Draw, sketch: &mut Sketch, soft: &mut Soft, size: f64) {
    if draw.chance(0.5) {
        sketch.gravity = Vec3::ZERO;
    } else {
        sketch.wall("floor", Vec3::new(0.0, -1.5 * size, 0.0), Vec3::Y, pieces::surface(draw));
    }
    let speed = (9.81 * size).sqrt() * draw.decades(0.3, 3.0);
    for (i, sign) in [-1.0, 1.0].into_iter().enumerate() {
        let shape = pieces::shape(draw, rounded(0.8 * size, 3), 1.5);
        let mut body = pieces::body(draw, i, shape);
        body.mass = rounded(soft.mass() * draw.decades(0.1, 30.0), 3);
        body.restitution = 0.0;
        body.position = Vec3::new(sign * 1.6 * size, 0.0, 0.0);
        body.velocity = Vec3::new(rounded(-sign * speed, 3), 0.0, 0.0);
        sketch.add(body);
    }
}
