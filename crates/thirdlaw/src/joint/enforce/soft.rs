//! A soft constraint: the potential ½K CᵀC, damped by D along C only (bridson-notes).
//!
//! The force −Jᵀ(K C + D J v) is a spring–damper on every held coordinate. Rigid and free motion changes
//! no C and is not damped. Like all springs here it is implicit, so that no K is too stiff; but whatever
//! pulls the joint apart pulls it apart by force/K.

use super::Moment;
use crate::joint::island::{JointIsland, Stage};
use crate::joint::system::Status;
use crate::model::joint::description::Enforcement;

/// Makes springs of the rows before the move; what they owe after it is paid with that of other springs.
pub fn act(island: &mut JointIsland, moment: Moment, stage: &Stage) {
    if moment != Moment::Before {
        return;
    }
    island.each_held(
        |way| matches!(way, Enforcement::Soft { .. }),
        |island, link, r| {
            let l = island.link_index(link);
            let Enforcement::Soft { stiffness, damping } = island.locals[l].way else { return };
            let response = island.system.response(link, r);
            let row = &mut island.system.rows[r];
            row.status = Status::Free;
            row.soften(stage.h, response, [stiffness, damping], [row.error, 0.0]);
        },
    );
}
