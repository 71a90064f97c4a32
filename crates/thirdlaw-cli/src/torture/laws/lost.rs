//! Nothing passes through floors and walls, and what flies at each other does not pass through each other.
//!
//! A scene promises what its makers know: walls on all sides, a ground without holes, bodies on one line.
//! A body is lost when its centre of mass lies behind a wall by more than the ball inside of it: then no part
//! of a flat or thin body is before the wall any more.

use super::super::sketch::{Promise, Shape};
use super::super::trace::{BodyFacts, Frame};
use super::{Case, Verdict};
use thirdlaw::math::Vec3;

/// Whether all promises were kept.
pub fn judge(case: &Case) -> Verdict {
    // whoever turns the sweep off knows that fast things pass
    if case.sketch.promises.is_empty() || !case.sketch.continuous {
        return Verdict::Silent;
    }
    for (number, frame) in case.trace.frames.iter().enumerate() {
        for promise in &case.sketch.promises {
            if let Some(what) = broken(case, promise, frame) {
                return Verdict::Failed(format!("frame {number}: {what}"));
            }
        }
    }
    Verdict::Held
}

fn broken(case: &Case, promise: &Promise, frame: &Frame) -> Option<String> {
    let bodies = || {
        let all = case.trace.bodies.iter().zip(&frame.bodies);
        all.filter(|(body, _)| body.dynamic)
    };
    match *promise {
        Promise::Before(point, normal) => {
            let body = bodies().find_map(|(body, now)| {
                let depth = -(now.center - point).dot(normal);
                let name = &body.name;
                (depth > room(body)).then(|| format!("{name} is {depth:.3e} m behind a wall"))
            });
            body.or_else(|| {
                // of a scene with one soft body: its middle
                let soft = case.sketch.softs.first()?;
                let middle = frame.vertices.iter().sum::<Vec3>() / frame.vertices.len() as f64;
                let depth = -(middle - point).dot(normal);
                let name = &soft.name;
                (depth > 0.0)
                    .then(|| format!("the middle of {name} is {depth:.3e} m behind a wall"))
            })
        }
        Promise::Order(first, second, axis) => {
            let (a, b) = (frame.bodies.get(first)?, frame.bodies.get(second)?);
            let names = (&case.trace.bodies[first].name, &case.trace.bodies[second].name);
            let gap = (b.center - a.center).dot(axis);
            (gap < 0.0).then(|| format!("{} and {} have changed sides", names.0, names.1))
        }
        Promise::Above(field) => {
            let Shape::HeightField(heights, size) = &case.sketch.bodies[field].shape else {
                return None;
            };
            let pose = frame.bodies.get(field)?.pose();
            bodies().find_map(|(body, now)| {
                let x = pose.inverse() * now.center;
                let depth = height(heights, *size, x)? - x.y;
                // a height field may be steep: a body that leans on a slope is nearer than it is high
                let name = &body.name;
                (depth > 2.0 * room(body)).then(|| format!("{name} is {depth:.3e} m below ground"))
            })
        }
    }
}

/// How far the centre of a body may be behind a wall, m.
fn room(body: &BodyFacts) -> f64 {
    if body.thick > 0.0 { body.thick } else { 0.2 * body.reach }
}

/// Largest height of the corners of the cell under a place; none beyond the border.
fn height(heights: &[Vec<f64>], [wide, deep]: [f64; 2], x: Vec3) -> Option<f64> {
    let (rows, columns) = (heights.len() - 1, heights[0].len() - 1);
    let (u, v) = ((x.x / wide + 0.5) * columns as f64, (x.z / deep + 0.5) * rows as f64);
    if !(0.0..columns as f64).contains(&u) || !(0.0..rows as f64).contains(&v) {
        return None;
    }
    let (i, j) = (u as usize, v as usize);
    let corners = [heights[j][i], heights[j][i + 1], heights[j + 1][i], heights[j + 1][i + 1]];
    // the lowest: whoever is below it is below the ground however its cell is cut
    Some(corners.into_iter().fold(f64::INFINITY, f64::min))
}
