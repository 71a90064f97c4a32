//! Pre- and post-stabilization (WTF06, [shinar2008 §5.1]).
//!
//! Before the move, impulses bring C at its end to zero: w = J v + C/h, which the scheme then iterates on
//! C(x + h v) itself. Orientations enter by the vector part of q_a⁻¹q_b alone, as [shinar2008 §5.1]
//! improves on WTF06. After the move, impulses bring J v to zero. The paper goes from joint to joint;
//! here all joints are solved at once, exactly. A gap wider than can be closed at the closing speed in a
//! substep is closed in several.

use super::Moment;
use crate::joint::island::{JointIsland, Stage};
use crate::joint::system::{Role, Status};
use crate::model::joint::description::Enforcement;

/// Sets what the rows want.
pub fn act(island: &mut JointIsland, moment: Moment, stage: &Stage) {
    island.each_held(
        |way| matches!(way, Enforcement::Stabilized),
        |island, link, r| {
            let rate = match island.system.rows[r].role {
                Role::Rate => island.system.rate(link, r, &island.v),
                _ => 0.0,
            };
            let most = stage.pace.closing(island.turns(stage.model, link, r), stage.h);
            let row = &mut island.system.rows[r];
            match moment {
                Moment::Before => {
                    row.status = Status::Free;
                    row.keep = row.error - row.error.clamp(-most, most);
                    row.bias = (row.error - row.keep) / stage.h;
                }
                Moment::Moved => {}
                Moment::After => {
                    row.status = Status::Free;
                    row.bias = if row.role == Role::Rate { row.error - rate } else { 0.0 };
                }
            }
        },
    );
}
