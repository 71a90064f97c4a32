//! The end of a step: bodies go where islands or their own motion have taken them, fast ones are stopped
//! where they first touch, quiet islands fall asleep, and the result is checked. Bodies are gone through
//! once, by all threads.

use super::continuous::{self, Sweep};
use super::kinematic::move_kinematic;
use super::{check_finite, sleep};
use crate::collide::broad::BroadPhase;
use crate::math::Vec3;
use crate::model::Model;
use crate::model::body::BodyKind;
use crate::model::body::model::BodyModel;
use crate::model::settings::Settings;
use crate::parallel::pool::prelude::*;
use crate::report::{StepError, StepReport};
use crate::state::State;
use crate::state::body::BodyState;
use crate::step::island::{Islands, NONE};

/// Bodies that a thread goes through together.
const RUN: usize = 256;

/// What was seen of a run of bodies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Whether one is not finite, and whether one has gone farther than it is thick.
    broken: bool,
    fast: bool,
}

/// Ends a step of `dt` seconds. `moved` are the bodies of islands at its end; the state still has them as
/// they were.
pub fn finish(
    (model, state, settings, dt): (&Model, &mut State, &Settings, f64),
    (islands, moved): (&Islands, &[BodyState]),
    (broad, apart): (&BroadPhase, &[(u32, u32)]),
    seen: &mut Vec<Seen>,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let (count, time) = (state.bodies.len(), state.time);
    seen.clear();
    seen.resize(count.div_ceil(RUN), Seen::default());
    let runs = state.bodies.par_chunks_mut(RUN).zip(model.bodies.par_chunks(RUN));
    runs.zip(islands.places().par_chunks(RUN)).zip(&mut *seen).for_each(
        |(((bodies, models), places), seen)| {
            for ((now, body), &place) in bodies.iter_mut().zip(models).zip(places) {
                if let Some(moved) = moved.get(place as usize) {
                    let start = now.position;
                    *now = *moved;
                    let way = start.distance(now.position);
                    seen.fast |= is_fast(body, way, now);
                    sleep::count_quiet(body, now, (way, dt));
                } else if body.alive && body.kind == BodyKind::Kinematic {
                    for substep in 0..settings.substeps {
                        move_kinematic(body, now, time, dt, (substep, settings.substeps));
                    }
                }
                now.push = Default::default();
                now.asleep &= settings.sleeping;
                seen.broken |= body.alive && !now.is_finite();
            }
        },
    );
    if settings.continuous && seen.iter().any(|seen| seen.fast) {
        let runs = seen.iter().enumerate().filter(|(_, seen)| seen.fast);
        let slots = runs.flat_map(|(run, _)| run * RUN..((run + 1) * RUN).min(count));
        let slots = slots.filter(|&slot| islands.places()[slot] != NONE);
        report.swept = continuous::stop(&Sweep { model, broad, apart, dt }, state, slots);
    }
    report.asleep = if settings.sleeping { sleep::update(model, state, islands) } else { 0 };
    state.points.push.fill(Vec3::ZERO);
    if seen.iter().any(|seen| seen.broken) || !state.points.is_empty() {
        check_finite(model, state)?;
    }
    Ok(())
}

/// Whether a body has gone farther than contacts look ahead.
pub(super) fn is_fast(body: &BodyModel, way: f64, now: &BodyState) -> bool {
    !now.asleep && way > body.shape.inner_radius() && now.is_finite()
}
