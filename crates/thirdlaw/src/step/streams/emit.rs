//! Births: as many as the rate asks for, evenly over the step, from the emitter's own numbers.

use super::solid::Solid;
use crate::math::random::unit;
use crate::math::{Vec3, tangents};
use crate::model::emitter::Source;
use crate::model::emitter::model::EmitterModel;
use crate::state::stream::Stream;

/// A step in which particles are born.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Beginning, s.
    pub time: f64,
    /// Length, s.
    pub dt: f64,
}

/// What births did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Births {
    /// Particles born.
    pub born: u32,
    /// Particles for which there was no room.
    pub dropped: u32,
}

/// Makes the particles of a step. `carrier` is the body that carries the source, over the step;
/// `push` is told about the impulse with which a birth pushes it, and where.
pub(crate) fn emit(
    model: &EmitterModel,
    stream: &mut Stream,
    span: Span,
    carrier: Option<&Solid>,
    mut push: impl FnMut(Vec3, Vec3),
) -> Births {
    let e = &model.emitter;
    let begin = (e.from - span.time).clamp(0.0, span.dt);
    let end = (e.until - span.time).clamp(0.0, span.dt);
    let mut births = Births::default();
    if end <= begin || e.rate == 0.0 || (e.body.is_some() && carrier.is_none()) {
        return births;
    }
    // the k-th birth of this step is due when the sum passes k
    let sum = stream.due + e.rate * (end - begin);
    let count = sum.floor();
    for k in 0..count as u64 {
        if stream.len() >= model.capacity as usize {
            births.dropped = births.dropped.saturating_add((count as u64 - k) as u32);
            break;
        }
        let due = (k + 1) as f64 - stream.due;
        let time = (begin + due / e.rate).clamp(begin, end);
        let (local, direction) = start(model, stream.born);
        let turn = 2.0 * unit(e.seed, stream.born, 5) - 1.0;
        let speed = e.speed * (1.0 + e.speed_spread * turn);
        let at = e.pose.translation + e.pose.rotation * local;
        let way = e.pose.rotation * direction * speed;
        let (x, own, carried) = match carrier {
            Some(solid) => {
                let (x, way) = solid.carried(at, way, time);
                (x, way, solid.velocity(x, time))
            }
            None => (at, way, Vec3::ZERO),
        };
        if carrier.is_some() {
            push(-e.mass * own, x);
        }
        // an age below zero: born that long after the beginning of the step
        stream.push(x, carried + own, -time);
        births.born += 1;
    }
    // of a rate and a step beyond all numbers nothing is left over
    let left = sum - count;
    stream.due = if (0.0..1.0).contains(&left) { left } else { 0.0 };
    births
}

/// Where a particle starts and which way, in the frame of the emitter.
fn start(model: &EmitterModel, id: u64) -> (Vec3, Vec3) {
    let e = &model.emitter;
    let draw = |lane| unit(e.seed, id, lane);
    let (at, axis) = match &e.source {
        Source::Point => (Vec3::ZERO, Vec3::Y),
        Source::Disc { radius } => {
            let (r, angle) = (radius * draw(0).sqrt(), std::f64::consts::TAU * draw(1));
            (Vec3::new(r * libm::cos(angle), 0.0, r * libm::sin(angle)), Vec3::Y)
        }
        Source::Surface(_) => {
            let pick = draw(2);
            let index = model.facets.partition_point(|f| f.share <= pick);
            let facet = &model.facets[index.min(model.facets.len() - 1)];
            // even over the area of a triangle
            let (root, t) = (draw(0).sqrt(), draw(1));
            let [a, b, c] = facet.corners;
            (a * (1.0 - root) + b * (root * (1.0 - t)) + c * (root * t), facet.normal)
        }
    };
    if e.spread == 0.0 {
        return (at, axis);
    }
    // even over the cap of directions
    let cosine = 1.0 - draw(3) * (1.0 - libm::cos(e.spread));
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let angle = std::f64::consts::TAU * draw(4);
    let (t, b) = tangents(axis);
    (at, axis * cosine + (t * libm::cos(angle) + b * libm::sin(angle)) * sine)
}
