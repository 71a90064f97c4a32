//! Mechanisms: four-bar loops, slider–cranks, doors with two hinges, springs, motors and drives with effort
//! limits, stops and friction.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Drive, Joint, JointKind, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a machine.
pub fn make(draw: &mut Draw) -> Sketch {
    let size = draw.decades(0.05, 2.0);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let mass = rounded(1000.0 * 0.05 * size * size * size, 3);
    match draw.whole(0, 5) {
        0 => four_bar(draw, &mut sketch, size, mass),
        1 => slider_crank(draw, &mut sketch, size, mass),
        2 => door(draw, &mut sketch, size, mass),
        3 => train(draw, &mut sketch, size, mass),
        _ => arm(draw, &mut sketch, size, mass),
    }
    let torque = mass * 9.81 * size;
    for joint in &mut sketch.joints {
        if draw.chance(0.3) && joint.turns() {
            joint.friction = rounded(torque * draw.between(0.0, 0.2), 2);
        }
    }
    sketch
}

/// A bar between two points.
fn bar(sketch: &mut Sketch, name: &str, mass: f64, ends: [Vec3; 2]) -> usize {
    let along = ends[1] - ends[0];
    let length = along.length();
    let shape = Shape::Box(Vec3::new(0.1 * length, length, 0.1 * length));
    let rotation = Quat::from_rotation_arc(Vec3::Y, along / length);
    let body = Body::new(name, shape, mass).at(0.5 * (ends[0] + ends[1]), rotation);
    sketch.add(body)
}

fn motor(draw: &mut Draw, torque: f64) -> Drive {
    let limit = rounded(torque * draw.decades(0.1, 10.0), 3);
    match draw.chance(0.5) {
        true => Drive::Motor { velocity: draw.between(-10.0, 10.0), limit },
        false => Drive::Pd {
            stiffness: rounded(torque * draw.decades(1.0, 300.0), 3),
            damping: rounded(torque * draw.decades(0.01, 3.0), 3),
            target: draw.between(-1.5, 1.5),
            limit,
        },
    }
}

/// Three bars and the ground: a loop.
fn four_bar(draw: &mut Draw, sketch: &mut Sketch, size: f64, mass: f64) {
    let (a, d) = (Vec3::ZERO, Vec3::new(1.5 * size, 0.0, 0.0));
    let b = Vec3::new(0.1 * size, rounded(size * draw.between(0.4, 0.9), 3), 0.0);
    let c = Vec3::new(1.6 * size, rounded(size * draw.between(0.8, 1.4), 3), 0.0);
    let crank = bar(sketch, "crank", mass, [a, b]);
    let coupler = bar(sketch, "coupler", mass, [b, c]);
    let rocker = bar(sketch, "rocker", mass, [c, d]);
    let pins = [
        (None, crank, a),
        (Some(crank), coupler, b),
        (Some(coupler), rocker, c),
        (None, rocker, d),
    ];
    for (i, (first, second, at)) in pins.into_iter().enumerate() {
        let name = format!("pin{i}");
        sketch.joints.push(Joint::new(&name, JointKind::Hinge, first, second, at).along(Vec3::Z));
    }
    if draw.chance(0.7) {
        sketch.joints[0].drive = Some(motor(draw, mass * 9.81 * size));
    }
}

/// A crank, a rod and a piston on a rail.
fn slider_crank(draw: &mut Draw, sketch: &mut Sketch, size: f64, mass: f64) {
    let (o, p) = (Vec3::ZERO, Vec3::new(0.3 * size, 0.4 * size, 0.0));
    let reach = rounded(size * draw.between(1.0, 2.0), 3);
    let q = Vec3::new(0.3 * size + (reach * reach - 0.16 * size * size).sqrt(), 0.0, 0.0);
    let crank = bar(sketch, "crank", mass, [o, p]);
    let rod = bar(sketch, "rod", mass, [p, q]);
    let piston = Body::new("piston", Shape::Box(Vec3::splat(0.3 * size)), 2.0 * mass);
    let piston = sketch.add(piston.at(q, Quat::IDENTITY));
    let pins = [(None, crank, o), (Some(crank), rod, p), (Some(rod), piston, q)];
    for (i, (first, second, at)) in pins.into_iter().enumerate() {
        let name = format!("pin{i}");
        sketch.joints.push(Joint::new(&name, JointKind::Hinge, first, second, at).along(Vec3::Z));
    }
    let mut rail = Joint::new("rail", JointKind::Slider, None, piston, q).along(Vec3::X);
    if draw.chance(0.5) {
        rail.spring = Some([rounded(mass * 100.0, 3), rounded(mass, 3)]);
    }
    if draw.chance(0.3) {
        rail.limits = Some([-rounded(0.2 * size, 3), rounded(0.2 * size, 3)]);
    }
    sketch.joints.push(rail);
    if draw.chance(0.7) {
        sketch.joints[0].drive = Some(motor(draw, mass * 9.81 * size));
    }
}

/// A door on two hinges: more conditions than needed.
fn door(draw: &mut Draw, sketch: &mut Sketch, size: f64, mass: f64) {
    let shape = Shape::Box(Vec3::new(size, 2.0 * size, 0.05 * size));
    let mut door =
        Body::new("door", shape, mass).at(Vec3::new(0.5 * size, size, 0.0), Quat::IDENTITY);
    let turn = draw.between(-4.0, 4.0);
    door.spin = Vec3::new(0.0, turn, 0.0);
    door.velocity = Vec3::new(0.0, 0.0, -0.5 * size * turn);
    let door = sketch.add(door);
    for (i, y) in [0.2, 1.8].into_iter().enumerate() {
        let at = Vec3::new(0.0, y * size, 0.0);
        let joint = Joint::new(&format!("hinge{i}"), JointKind::Hinge, None, door, at);
        sketch.joints.push(joint.along(Vec3::Y));
    }
    if draw.chance(0.5) {
        sketch.joints[0].limits = Some([draw.between(-2.0, -0.2), draw.between(0.2, 2.0)]);
    }
    if draw.chance(0.4) {
        sketch.joints[0].drive = Some(motor(draw, mass * 9.81 * size));
    }
}

/// Bars on each other with a drive in every hinge, stops, and something to reach for.
fn arm(draw: &mut Draw, sketch: &mut Sketch, size: f64, mass: f64) {
    let count = draw.whole(1, 6);
    let mut before = None;
    for i in 0..count {
        let (from, to) = (size * i as f64, size * (i + 1) as f64);
        let link =
            bar(sketch, &format!("bar{i}"), mass, [from, to].map(|y| Vec3::new(0.0, y, 0.0)));
        let axis = draw.pick(&[Vec3::X, Vec3::Y, Vec3::Z, Vec3::Z]);
        let at = Vec3::new(0.0, from, 0.0);
        let mut joint =
            Joint::new(&format!("joint{i}"), JointKind::Hinge, before, link, at).along(axis);
        let load = mass * 9.81 * size * (count - i) as f64;
        joint.drive = Some(motor(draw, load));
        if draw.chance(0.5) {
            joint.limits = Some([draw.between(-2.0, -0.1), draw.between(0.1, 2.0)]);
        }
        sketch.joints.push(joint);
        before = Some(link);
    }
    if draw.chance(0.5) {
        let shape = pieces::shape(draw, rounded(0.5 * size, 2), 1.5);
        let mut body = pieces::body(draw, 0, shape);
        body.position = Vec3::new(rounded(0.8 * size, 3), rounded(1.5 * size, 3), 0.0);
        sketch.add(body);
        sketch.wall("floor", Vec3::new(0.0, -0.1 * size, 0.0), Vec3::Y, pieces::surface(draw));
    }
}

/// Blocks in a row, each held by the one before through another kind of joint, or a spring.
fn train(draw: &mut Draw, sketch: &mut Sketch, size: f64, mass: f64) {
    let mut before = None;
    for i in 0..draw.whole(2, 6) {
        let shape = Shape::Box(Vec3::splat(0.5 * size));
        let at = Vec3::new(size * (i + 1) as f64, 0.0, 0.0);
        let mut block = Body::new(&format!("block{i}"), shape, mass).at(at, Quat::IDENTITY);
        if i == 1 {
            block.mass = rounded(mass * draw.decades(0.01, 100.0), 3);
        }
        let block = sketch.add(block);
        let rate = draw.between(3.0, 40.0);
        let spring =
            JointKind::Spring(rounded(mass * rate * rate, 3), rounded(mass * rate * 0.2, 3));
        let kind = draw.pick(&[
            JointKind::Fixed,
            JointKind::Ball,
            JointKind::Slider,
            JointKind::Universal,
            JointKind::Cylindrical,
            JointKind::Planar,
            spring,
        ]);
        let middle = at - 0.5 * size * Vec3::X;
        let name = format!("joint{i}");
        let mut joint = Joint::new(&name, kind, before, block, middle).along(draw.direction());
        if let JointKind::Spring(..) = kind {
            (joint.at, joint.to) = (at - 0.7 * size * Vec3::X, at - 0.3 * size * Vec3::X);
        }
        if kind == JointKind::Slider {
            joint.limits = Some([-rounded(0.3 * size, 2), rounded(0.3 * size, 2)]);
        }
        sketch.joints.push(joint);
        before = Some(block);
    }
    let floor = -rounded(size * draw.between(0.5, 6.0), 2);
    sketch.wall("floor", Vec3::new(0.0, floor, 0.0), Vec3::Y, [0.5, 0.0]);
}
