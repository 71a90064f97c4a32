//! What the unified scheme does not simulate yet. A world that has it is refused, by name.

use crate::model::Model;
use crate::model::deformable::model::PinHold;
use crate::model::settings::Settings;

/// The first thing in a world that this scheme does not know.
pub fn unsupported(model: &Model, settings: &Settings) -> Option<&'static str> {
    let sliding = |(_, hold): &(u32, PinHold)| matches!(hold, PinHold::Directions(_));
    let _ = settings;
    [
        (model.joints.iter().any(|joint| joint.alive), "joints"),
        (model.points.iter().any(|point| point.alive), "point masses"),
        (
            model.constraints.iter().any(|slot| slot.constraint.is_some()),
            "constraints of one's own",
        ),
        (model.emitters.iter().any(|emitter| emitter.alive), "emitters"),
        (model.sheet.pins.iter().any(sliding), "vertices that are held in some directions only"),
    ]
    .into_iter()
    .find_map(|(there, name)| there.then_some(name))
}
