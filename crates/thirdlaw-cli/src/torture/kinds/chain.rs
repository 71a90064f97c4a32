//! Chains and ropes of bodies: hanging, free, with a weight at the end, of mass ratios up to 1000.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Joint, JointKind, Shape, Sketch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Makes a chain.
pub fn make(draw: &mut Draw) -> Sketch {
    let length = draw.decades(0.02, 2.0);
    let frames = draw.whole(60, 120);
    let mut sketch = pieces::timed(draw, frames);
    let thin = rounded(length / draw.decades(1.5, 30.0), 3);
    let count = draw.whole(2, 20);
    let kind = draw.pick(&[
        JointKind::Ball,
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Rod,
        JointKind::Rope,
    ]);
    let free = draw.chance(0.25);
    if free && draw.chance(0.5) {
        sketch.gravity = Vec3::ZERO;
    }
    let mass = rounded(pieces::density(draw) * length * thin * thin, 4);
    let friction = if draw.chance(0.3) { rounded(0.05 * mass * 9.81 * length, 2) } else { 0.0 };
    // from sideways to straight down
    let slope = draw.between(0.0, 1.57);
    let along = Vec3::new(slope.cos(), -slope.sin(), 0.0);
    let gap = if matches!(kind, JointKind::Rod | JointKind::Rope) { 0.3 * length } else { 0.0 };
    let mut before = None;
    for i in 0..count {
        let shape = match draw.chance(0.5) {
            true => Shape::Capsule(0.5 * thin, (0.9 * length - thin).max(0.05 * length)),
            false => Shape::Box(Vec3::new(thin, 0.9 * length, thin)),
        };
        let center = along * ((length + gap) * i as f64 + 0.5 * length + gap);
        let heavy = i + 1 == count && draw.chance(0.4);
        let mass = if heavy { rounded(mass * draw.decades(1.0, 1000.0), 3) } else { mass };
        let mut body = Body::new(&format!("link{i}"), shape, mass);
        body = body.at(center, Quat::from_rotation_arc(Vec3::Y, along));
        if free {
            (body.velocity, body.spin) = (draw.vector(1.0), Vec3::ZERO);
        }
        let link = sketch.add(body);
        if before.is_some() || !free {
            let (at, to) = (center - (0.5 * length + gap) * along, center - 0.5 * length * along);
            let axis = if draw.chance(0.7) { Vec3::Z } else { Vec3::new(0.0, 0.6, 0.8) };
            let mut joint = Joint::new(&format!("joint{i}"), kind, before, link, at).along(axis);
            joint.to = if gap > 0.0 { to } else { at };
            if kind == JointKind::Hinge {
                joint.friction = friction;
                if draw.chance(0.3) {
                    joint.limits = Some([draw.between(-1.0, -0.1), draw.between(0.1, 1.0)]);
                }
            }
            sketch.joints.push(joint);
        }
        before = Some(link);
    }
    if free {
        // bodies of one free chain move together at first
        let v = sketch.bodies[0].velocity;
        sketch.bodies.iter_mut().for_each(|body| body.velocity = v);
        sketch.bodies[0].spin = draw.vector(3.0);
        sketch.bodies[0].spin *= if kind == JointKind::Ball { 1.0 } else { 0.0 };
    } else if draw.chance(0.4) {
        // below the chain, however steep it hangs at the start
        let floor = -1.2 * (length + gap) * count as f64;
        sketch.wall("floor", Vec3::new(0.0, floor, 0.0), Vec3::Y, [0.5, 0.0]);
    }
    sketch
}
