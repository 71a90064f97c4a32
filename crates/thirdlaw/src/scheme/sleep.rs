//! Falling asleep: an island whose bodies have all been slow for a while stops being simulated.

use crate::model::Model;
use crate::rigid::island::Islands;
use crate::settings::Settings;
use crate::state::State;

/// Surface speed below which a body counts as quiet, m/s.
const QUIET_SPEED: f64 = 0.01;
/// How long every body of an island must be quiet, s.
const QUIET_TIME: f64 = 0.5;

/// Puts quiet islands to sleep; returns how many bodies sleep.
pub fn update(
    model: &Model,
    state: &mut State,
    settings: &Settings,
    dt: f64,
    islands: &Islands,
) -> u32 {
    for island in &islands.islands {
        let slots = &islands.bodies[island.body_start..][..island.body_count];
        let mut all_quiet = settings.sleeping && !island.carried && island.point_count == 0;
        for &slot in slots {
            let (body, now) = (&model.bodies[slot as usize], &mut state.bodies[slot as usize]);
            let speed = now.velocity.linear.length() + now.velocity.angular.length() * body.reach;
            now.quiet = if speed < QUIET_SPEED { now.quiet + dt } else { 0.0 };
            // a timed force may come
            let forced = body.forces.iter().any(|f| f.until > state.time);
            // what drifts freely keeps its momentum, however slow
            let held = island.contact_count > 0 || island.anchored;
            let drifts = !held && now.velocity != Default::default();
            all_quiet &= body.can_sleep && now.quiet >= QUIET_TIME && !forced && !drifts;
        }
        if all_quiet {
            for &slot in slots {
                let now = &mut state.bodies[slot as usize];
                now.asleep = true;
                now.velocity = Default::default();
            }
        }
    }
    if !settings.sleeping {
        for body in &mut state.bodies {
            body.asleep = false;
        }
    }
    let asleep = model.bodies.iter().zip(&state.bodies).filter(|(m, s)| m.alive && s.asleep);
    asleep.count() as u32
}
