//! Two to five simulators that share bodies: tied by points, frames and springs on arms, touching, watched, in any
//! mixture; masses of 1e-4 to 1e4 of each other, steps of their own.

use super::super::draw::{Draw, rounded};
use super::super::sketch::{Body, Joint, JointKind, Partition, Shape, Sketch, Tie, TieKind, Touch};
use super::pieces;
use thirdlaw::math::{Quat, Vec3};

/// Frames of half a second at 60 frames/s.
const FRAMES: usize = 30;

/// Makes a coupling.
pub fn make(draw: &mut Draw) -> Sketch {
    let mut sketch = pieces::timed(draw, FRAMES);
    (sketch.fps, sketch.continuous) = (60.0, true);
    let count = draw.whole(2, 5);
    let steps = (0..count).map(|_| if draw.chance(0.3) { draw.whole(2, 4) as u32 } else { 1 });
    sketch.partition = Partition { steps: steps.collect(), ..Partition::default() };
    match draw.chance(0.6) {
        true => tied(draw, &mut sketch),
        false => touching(draw, &mut sketch),
    }
    sketch
}

/// A tree of bodies that touch nothing, each tied to an earlier one of another simulator, or joined to one of its
/// own.
fn tied(draw: &mut Draw, sketch: &mut Sketch) {
    let simulators = sketch.partition.steps.len();
    let free = draw.chance(0.5);
    if free && draw.chance(0.5) {
        sketch.gravity = Vec3::ZERO;
    }
    let size = draw.decades(0.05, 0.5);
    // how far apart masses are: every decade as likely
    let spread = draw.decades(1.0, 1e4);
    let bodies = simulators.max(draw.whole(2, 7));
    for i in 0..bodies {
        let home = if i < simulators { i } else { draw.whole(0, simulators - 1) };
        let mass = rounded(draw.decades(1.0, spread.max(1.01)) / spread.sqrt(), 3);
        let shape = match draw.chance(0.5) {
            true => Shape::Sphere(size),
            false => {
                Shape::Box(size * Vec3::new(1.0, draw.between(0.5, 1.5), draw.between(0.5, 1.5)))
            }
        };
        let body = Body::new(&format!("b{i}"), shape, mass).alone();
        let before = (i > 0).then(|| draw.whole(0, i - 1));
        let from = before.map_or(Vec3::ZERO, |b| sketch.bodies[b].position);
        let arm = size * draw.between(0.5, 4.0);
        let position = from + arm * draw.direction();
        let position = Vec3::from_array(position.to_array().map(|x| rounded(x, 4)));
        let number = sketch.add(body.at(position, draw.rotation()));
        sketch.partition.homes.push(home);
        match before {
            Some(before) => {
                let at = from.lerp(position, draw.unit());
                hold(draw, sketch, [before, number], at);
            }
            None if !free => {
                let at = position + size * draw.between(0.0, 2.0) * draw.direction();
                sketch.joints.push(Joint::new("top", JointKind::Ball, None, number, at));
            }
            None => {}
        }
    }
    if free {
        let v = draw.vector(1.0);
        sketch.bodies.iter_mut().for_each(|body| body.velocity = v);
        // turns as a whole: all bodies keep their places to each other
        let spin = draw.vector(2.0);
        let middle = sketch.bodies[0].position;
        for body in &mut sketch.bodies {
            body.velocity += spin.cross(body.position - middle);
            body.spin = spin;
        }
    }
}

/// Holds two bodies together, by a tie or, where one simulator has both, by a joint.
fn hold(draw: &mut Draw, sketch: &mut Sketch, bodies: [usize; 2], at: Vec3) {
    let homes = bodies.map(|body| sketch.partition.homes[body]);
    if homes[0] == homes[1] {
        let [a, b] = bodies;
        let name = format!("j{b}");
        sketch.joints.push(Joint::new(&name, JointKind::Ball, Some(a), b, at));
        return;
    }
    let least =
        bodies.map(|body| sketch.bodies[body].mass).into_iter().fold(f64::INFINITY, f64::min);
    let kind = match draw.whole(0, 3) {
        0 => {
            let rate = draw.between(2.0, 20.0);
            TieKind::Spring(rounded(least * rate * rate, 3), rounded(0.1 * least * rate, 3))
        }
        1 => TieKind::Frame,
        _ => TieKind::Point,
    };
    sketch.partition.ties.push(Tie { kind, bodies, at });
}

/// Balls and boxes that fall on each other and on a floor, all simulators touching; some are tied, too.
fn touching(draw: &mut Draw, sketch: &mut Sketch) {
    let simulators = sketch.partition.steps.len();
    let size = draw.decades(0.1, 0.5);
    let watched = draw.chance(0.4);
    for i in 0..simulators {
        for j in i + 1..simulators {
            sketch.partition.touches.push(Touch { between: [i, j], watched });
        }
    }
    sketch.wall("floor", Vec3::ZERO, Vec3::Y, [0.5, 0.0]);
    sketch.partition.homes.push(0);
    let spread = draw.decades(1.0, 1e4);
    let mut height = 0.0;
    for i in 0..simulators.max(draw.whole(2, 6)) {
        let home = if i < simulators { i } else { draw.whole(0, simulators - 1) };
        let mass = rounded(draw.decades(1.0, spread.max(1.01)) / spread.sqrt(), 3);
        let shape = match draw.chance(0.4) {
            true => Shape::Sphere(0.5 * size),
            false => Shape::Box(Vec3::splat(size)),
        };
        height += size * draw.between(1.01, 1.3);
        let place =
            Vec3::new(0.2 * size * draw.unit(), height - 0.45 * size, 0.2 * size * draw.unit());
        let place = Vec3::from_array(place.to_array().map(|x| rounded(x, 4)));
        let body = Body::new(&format!("b{i}"), shape, mass).at(place, Quat::IDENTITY);
        sketch.add(body.surface([draw.between(0.0, 0.8), 0.0]));
        sketch.partition.homes.push(home);
    }
    // a passenger beside the pile, tied to one of it
    if draw.chance(0.5) {
        let carrier = draw.whole(1, sketch.bodies.len() - 1);
        let mass = rounded(sketch.bodies[carrier].mass * draw.decades(0.01, 1.0), 3);
        let at = sketch.bodies[carrier].position;
        let mut body = Body::new("passenger", Shape::Sphere(0.2 * size), mass).alone();
        body.position = at + Vec3::new(0.0, 0.0, 1.2 * size);
        let number = sketch.add(body);
        let other = (sketch.partition.homes[carrier] + 1) % simulators;
        sketch.partition.homes.push(other);
        hold(draw, sketch, [carrier, number], at);
    }
}
