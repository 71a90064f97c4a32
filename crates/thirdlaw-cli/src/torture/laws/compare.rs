//! How far two runs of one scene are apart, and for how long that means anything.
//!
//! A scene is chaotic: two runs that differ by rounding part sooner or later. So a twin is run whose bodies
//! start 1e-9 of their size elsewhere; runs are compared only as long as twins have parted by less than 1e-3
//! of the size.

use super::super::draw::Draw;
use super::super::sketch::{Sketch, Transform};
use super::super::trace::{Frame, Trace};
use super::Case;
use thirdlaw::math::{Vec3, rotation_from_vector};

/// How far twins are apart at the start, as a share of the size.
const NUDGE: f64 = 1e-9;
/// How far they may be apart for others to be compared.
const PARTED: f64 = 1e-3;
/// Most frames that are compared.
pub const LONGEST: usize = 40;
/// Twins, each pushed another way.
const TWINS: u64 = 2;

impl Case<'_> {
    /// Last frame up to which runs of this scene can be compared.
    pub fn horizon(&self) -> usize {
        *self.horizon.get_or_init(|| {
            let mut last = LONGEST.min(self.trace.frames.len() - 1);
            for twin in 0..TWINS {
                let Ok(other) = (self.run)(&nudged(self.sketch, twin), last as u32) else {
                    return 0;
                };
                last = together(self.trace, &other, last, PARTED);
            }
            last
        })
    }
}

/// Last frame up to which two runs are within `most` of each other.
pub fn together(a: &Trace, b: &Trace, last: usize, most: f64) -> usize {
    let last = last.min(b.frames.len() - 1);
    let parted = (0..=last).find(|&i| {
        let off = apart(a, (&a.frames[i], &b.frames[i]), &Transform::NONE).0;
        off.is_nan() || off >= most
    });
    parted.map_or(last, |i| i.saturating_sub(1))
}

/// The scene with every body, cloth and robot a little elsewhere.
fn nudged(sketch: &Sketch, twin: u64) -> Sketch {
    let mut new = sketch.clone();
    let mut draw = Draw::new(0x7717, twin);
    let jointed = |i: usize| sketch.joints.iter().any(|j| j.a == Some(i) || j.b == i);
    let fall = sketch.gravity.length().max(1e-3);
    for (i, body) in new.bodies.iter_mut().enumerate() {
        if body.motion != super::super::sketch::Motion::Dynamic {
            continue;
        }
        let size = body.shape.radius();
        let speed = body.velocity.length().max((fall * size).sqrt());
        if !jointed(i) {
            body.position += NUDGE * size * draw.direction();
            body.rotation = rotation_from_vector(NUDGE * draw.direction()) * body.rotation;
        }
        body.velocity += NUDGE * speed * draw.direction();
        body.spin += NUDGE * speed / size * draw.direction();
    }
    for cloth in &mut new.cloths {
        cloth.position += NUDGE * cloth.size[0] * draw.direction();
        cloth.rotation = rotation_from_vector(NUDGE * draw.direction()) * cloth.rotation;
    }
    for soft in &mut new.softs {
        soft.position += NUDGE * soft.extent() * draw.direction();
    }
    for robot in &mut new.robots {
        robot.links.iter_mut().for_each(|link| link.mass *= 1.0 + NUDGE * draw.unit());
    }
    new
}

/// Largest distance of any point of a body from where `transform` takes it in the first run, as a share of the
/// body's size; and the body.
pub fn apart(
    first: &Trace,
    (a, b): (&Frame, &Frame),
    transform: &Transform,
) -> (f64, Option<usize>) {
    let mut worst = (0.0_f64, None);
    for (i, body) in first.bodies.iter().enumerate().filter(|(_, body)| body.dynamic) {
        let (x, y) = (&a.bodies[i], &b.bodies[i]);
        let size = body.reach;
        let mut off = transform.place(x.center).distance(y.center);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let there = transform.place(x.center + size * (x.rotation * axis));
            let here = y.center + y.rotation * transform.own(size * axis);
            off = off.max(there.distance(here));
        }
        let share = off / (transform.scale * size);
        if share.is_nan() || share > worst.0 {
            worst = (share, Some(i));
        }
    }
    for (x, y) in a.vertices.iter().zip(&b.vertices) {
        let share = transform.place(*x).distance(*y) / (transform.scale * first.cloth_size);
        if share.is_nan() || share > worst.0 {
            worst = (share, None);
        }
    }
    worst
}

/// The worst difference of two runs up to a frame: how far, in which frame, which body.
pub fn worst(a: &Trace, b: &Trace, last: usize, transform: &Transform) -> (f64, usize, String) {
    let mut worst = (0.0_f64, 0, String::new());
    for i in 0..=last.min(b.frames.len() - 1) {
        let (off, body) = apart(a, (&a.frames[i], &b.frames[i]), transform);
        if off.is_nan() || off > worst.0 {
            let name = body.map_or("cloth".into(), |body| a.bodies[body].name.clone());
            worst = (off, i, name);
        }
    }
    worst
}
