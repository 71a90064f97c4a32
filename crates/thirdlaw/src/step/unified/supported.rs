//! What the unified scheme does not simulate yet. A world that has it is refused, by name.

use crate::model::Model;
use crate::model::deformable::model::PinHold;
use crate::model::joint::description::Enforcement;
use crate::model::joint::model::JointModel;
use crate::model::settings::Settings;

/// The first thing in a world that this scheme does not know.
pub fn unsupported(model: &Model, settings: &Settings) -> Option<&'static str> {
    let sliding = |(_, hold): &(u32, PinHold)| matches!(hold, PinHold::Directions(_));
    let held_otherwise = |joint: &JointModel| {
        let way = joint.joint.enforcement.unwrap_or(settings.joints.enforcement);
        joint.alive && !matches!(way, Enforcement::Reduced | Enforcement::Stabilized)
    };
    [
        (model.joints.iter().any(held_otherwise), "joints that are not held by impulses"),
        (
            model.constraints.iter().any(|slot| slot.constraint.is_some()),
            "constraints of one's own",
        ),
        (model.contact_hook.is_some(), "hooks of contacts"),
        (model.bodies.iter().any(|body| body.alive && body.dominance != 0), "dominance"),
        (!model.sheet.body_bonds.is_empty(), "vertices bound softly to bodies"),
        (model.sheet.pins.iter().any(sliding), "vertices that are held in some directions only"),
    ]
    .into_iter()
    .find_map(|(there, name)| there.then_some(name))
}
