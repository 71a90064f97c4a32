//! In how many parts a step is made.
//!
//! Contact points are found once, at the beginning of a step, and hold as long as bodies do not turn much. What
//! stands on an edge falls over in the time √(r/g), r being its reach: a block half a metre thick hardly begins to
//! in a sixtieth of a second, a millimetre die is over twice. A step that is longer than half of that
//! time for a body that touches something is made in equal parts, each with contacts of its own, and with as many
//! substeps between them as it would have had. Small things then move as large ones do on film played faster.

use crate::model::Model;
use crate::model::settings::Settings;
use crate::state::State;

/// Times to fall over that contacts hold for.
const HOLDS: f64 = 0.5;
/// Parts at most.
const MOST: f64 = 8.0;

/// Parts of a step of `dt` seconds.
pub fn count(model: &Model, state: &State, settings: &Settings, dt: f64) -> u32 {
    let gravity = settings.gravity.length();
    // (dt/√(r/g))² over the square of what contacts hold for
    let of_reach = |pull: f64, reach: f64| dt * dt * pull / (reach * HOLDS * HOLDS);
    let of_body = |slot: usize| {
        let body = &model.bodies[slot];
        let falls = body.is_dynamic() && !state.bodies[slot].asleep;
        if falls { of_reach(gravity * body.gravity_scale.abs(), body.reach) } else { 0.0 }
    };
    let parts = |squared: f64| squared.sqrt().ceil().clamp(1.0, MOST) as u32;
    let most = (0..model.bodies.len()).map(of_body).fold(0.0, f64::max);
    if parts(most) == 1 {
        return 1;
    }
    let touching = state.contacts.iter().filter(|contact| contact.count > 0);
    let slots = touching.flat_map(|contact| [contact.key.a, contact.key.b]);
    parts(slots.map(|slot| of_body(slot as usize)).fold(0.0, f64::max))
}
