//! Planks in a row, joined by hinges, ropes, or lying on supports, with a load on them.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Joint, JointKind, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a bridge.
pub fn make(draw: &mut Draw) -> Sketch {
    let length = draw.decades(0.1, 3.0);
    let frames = draw.whole(60, 100);
    let mut sketch = pieces::timed(draw, frames);
    sketch.wall("floor", Vec3::new(0.0, -20.0 * length, 0.0), Vec3::Y, [0.5, 0.0]);
    let (thick, deep) = (rounded(length * draw.between(0.03, 0.3), 3), length);
    let count = draw.whole(3, 16);
    let mass = rounded(pieces::density(draw) * length * thick * deep, 4);
    let kind = draw.pick(&[JointKind::Hinge, JointKind::Hinge, JointKind::Ball]);
    let pitch = 1.05 * length;
    let mut before = None;
    for i in 0..count {
        let shape = Shape::Box(Vec3::new(length, thick, deep));
        let x = pitch * i as f64;
        let body = Body::new(&format!("plank{i}"), shape, mass);
        let plank = sketch.add(body.at(Vec3::new(x, 0.0, 0.0), Quat::IDENTITY));
        let at = Vec3::new(x - 0.5 * pitch, 0.0, 0.0);
        // two balls across a joint are a hinge that carries on both sides
        let sides: &[f64] = if kind == JointKind::Ball { &[-0.4, 0.4] } else { &[0.0] };
        for (k, z) in sides.iter().enumerate() {
            let at = at + Vec3::new(0.0, 0.0, z * deep);
            let name = format!("joint{i}-{k}");
            sketch.joints.push(Joint::new(&name, kind, before, plank, at).along(Vec3::Z));
            if i == count - 1 && draw.chance(0.8) {
                let end = at + Vec3::new(pitch, 0.0, 0.0);
                sketch
                    .joints
                    .push(Joint::new(&format!("end{k}"), kind, None, plank, end).along(Vec3::Z));
            }
        }
        before = Some(plank);
    }
    for i in 0..draw.whole(0, 4) {
        let size = length * draw.between(0.2, 0.8);
        let shape = pieces::shape(draw, rounded(size, 3), 1.5);
        let mut load = pieces::body(draw, i, shape);
        load.mass = rounded(mass * draw.decades(0.05, 20.0), 3);
        let x = pitch * draw.between(0.0, count as f64 - 1.0);
        load.position = Vec3::new(rounded(x, 3), rounded(length * (1.0 + i as f64), 3), 0.0);
        load.rotation = draw.rotation();
        sketch.add(load);
    }
    sketch
}
