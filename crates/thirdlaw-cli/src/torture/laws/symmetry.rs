//! A scene that is turned, shifted, mirrored or scaled as a whole moves as before, but for rounding.
//!
//! Symmetry is one of the equations, so both runs solve them: in double precision, and with iterations enough
//! to converge (an iteration that stops early depends on the order of contacts, which a mirror changes; what
//! the defaults leave over is the affair of the law on paths). Twins that start
//! 1e-9 apart bound what rounding (1e-16 of the size, 1e-13 after the shift) can become; the other run may be
//! ten times as far off as twins may part. Scaling is by 4, so that its root is 2 and every product is exact.

use super::super::sketch::{Shape, Sketch, Transform};
use super::super::trace::Trace;
use super::compare::{LONGEST, worst};
use super::{Case, Verdict};
use thirdlaw::math::{Quat, Vec3, rotation_from_vector};

/// How far the other run may be off, as a share of the size of a body.
const OFF: f64 = 1e-2;

/// Shifted by a thousand times its size.
pub fn shift(case: &Case) -> Verdict {
    let size = case.trace.bodies.iter().map(|b| b.reach).filter(|r| r.is_finite());
    let far = 1000.0 * size.fold(case.trace.cloth_size, f64::max);
    let shift = far * Vec3::new(0.8, 0.36, -0.48);
    compare(case, &Transform { shift, ..Transform::NONE })
}

/// Turned, gravity with it.
pub fn turn(case: &Case) -> Verdict {
    let turn: Quat = rotation_from_vector(Vec3::new(0.4, -0.5, 0.3));
    compare(case, &Transform { turn, ..Transform::NONE })
}

/// Mirrored. Height fields, cloth, soft bodies and robots are not: their cells are cut along a diagonal, and a file of a
/// robot has no mirror image of this kind.
pub fn mirror(case: &Case) -> Verdict {
    let sketch = case.sketch;
    let cut = sketch.bodies.iter().any(|b| matches!(b.shape, Shape::HeightField(..)));
    if cut || !sketch.cloths.is_empty() || !sketch.softs.is_empty() || !sketch.robots.is_empty() {
        return Verdict::Silent;
    }
    compare(case, &Transform { mirror: true, ..Transform::NONE })
}

/// Four times as large, with gravity and density as they are.
pub fn scale(case: &Case) -> Verdict {
    if case.sketch.robots.iter().any(|robot| robot.links.iter().any(|link| link.slides)) {
        return Verdict::Silent;
    }
    compare(case, &Transform { scale: 4.0, ..Transform::NONE })
}

fn compare(case: &Case, transform: &Transform) -> Verdict {
    let Some(Solved { sketch, trace, last }) = case.solved.get_or_init(|| solve(case)) else {
        return Verdict::Skipped("refused in double precision");
    };
    if *last == 0 {
        return Verdict::Silent;
    }
    let Ok(other) = (case.run)(&transform.apply(sketch), *last as u32) else {
        return Verdict::Skipped("refused when transformed");
    };
    if let Some(why) = &other.broke {
        return Verdict::Failed(format!("breaks when transformed: {why}"));
    }
    let (off, frame, name) = worst(trace, &other, *last, transform);
    if off < OFF {
        return Verdict::Held;
    }
    Verdict::Failed(format!(
        "frame {frame} (of {last} comparable ones): {name} is off by {off:.1e} of its size"
    ))
}

/// Iterations that converge: they stop by themselves at the tolerance.
const ITERATIONS: u32 = 200;

/// The scene with its equations solved, what it did, and how long that can be compared.
pub struct Solved {
    sketch: Sketch,
    trace: Trace,
    last: usize,
}

fn solve(case: &Case) -> Option<Solved> {
    let sketch = with_iterations(case.sketch);
    let trace = (case.run)(&sketch, sketch.frames.min(LONGEST as u32)).ok()?;
    let last = Case::new(&sketch, &trace, case.run).horizon();
    Some(Solved { sketch, trace, last })
}

fn with_iterations(sketch: &Sketch) -> Sketch {
    let mut new = sketch.clone();
    new.solver.push(("precision".into(), "\"double\"".into()));
    for key in ["iterations", "relax_iterations"] {
        new.solver.push((key.into(), ITERATIONS.to_string()));
    }
    new
}
