//! Falling asleep: an island whose bodies have all been slow for a while stops being simulated.

use crate::model::Model;
use crate::model::body::model::{BodyModel, speed_scale};
use crate::state::State;
use crate::state::body::BodyState;
use crate::step::island::Islands;

/// Surface speed below which a body half a metre across counts as quiet, m/s.
const QUIET_SPEED: f64 = 0.01;
/// How long every body of an island must be quiet, s, counted in times of a body half a metre across: speeds
/// and times of others go with the root of their size.
const QUIET_TIME: f64 = 0.5;
/// Most that one step counts, s: impulses need some steps to converge.
const STEP_MOST: f64 = 0.125 * QUIET_TIME;

/// Speed, over that of quiet bodies, at which a body is brought somewhere, by joints that close or overlaps that
/// are pushed apart: it may have no velocity then, and is not at rest.
const BROUGHT: f64 = 10.0;

/// Counts how long a body has been quiet, after a step of `dt` seconds in which it went this `way`, m.
pub fn count_quiet(body: &BodyModel, now: &mut BodyState, (way, dt): (f64, f64)) {
    let speed = now.velocity.linear.length() + now.velocity.angular.length() * body.reach;
    let scale = speed_scale(body.reach);
    let counts = (dt / scale).min(STEP_MOST);
    let quiet = speed < QUIET_SPEED * scale && way < BROUGHT * QUIET_SPEED * scale * dt;
    now.quiet = if quiet { now.quiet + counts } else { 0.0 };
}

/// Puts quiet islands to sleep; returns how many bodies sleep.
pub fn update(model: &Model, state: &mut State, islands: &Islands) -> u32 {
    for island in &islands.islands {
        let slots = &islands.bodies[island.body_start..][..island.body_count];
        // what drifts freely keeps its momentum, however slow
        let held = island.contact_count > 0 || island.anchored;
        let is_quiet = |slot: u32| {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            // a timed force may come
            let forced = body.forces.iter().any(|f| f.until > state.time);
            let drifts = !held && now.velocity != Default::default();
            now.quiet >= QUIET_TIME && body.can_sleep && !forced && !drifts
        };
        let may_sleep = !island.carried && island.point_count == 0;
        if may_sleep && slots.iter().all(|&slot| is_quiet(slot)) {
            for &slot in slots {
                let now = &mut state.bodies[slot as usize];
                now.asleep = true;
                now.velocity = Default::default();
            }
        }
    }
    let asleep =
        state.bodies.iter().zip(&model.bodies).filter(|(now, body)| now.asleep && body.alive);
    asleep.count() as u32
}
