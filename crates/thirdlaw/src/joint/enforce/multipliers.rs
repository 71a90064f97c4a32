//! Lagrange multipliers: forces Jᵀλ that keep C̈ = 0 (bridson-notes).
//!
//!   J M⁻¹Jᵀ λ = −J M⁻¹F − J̇ v
//!
//! Numerical errors let C drift; a spring–damper along C, −Jᵀ(K C + D J v), draws it back. It is added
//! beside λ and stays out of the equation for λ, which would otherwise cancel it. With r the rate at which
//! drift decays and m the mass that a row moves, K = r²m and D = 2 r m. J M⁻¹F is known from what the
//! forces of this half step did to the velocities; J̇ v is a difference quotient along the motion.

use super::Moment;
use crate::joint::island::{JointIsland, Stage};
use crate::joint::system::{Role, Status};
use crate::math::rotation_from_vector;
use crate::model::joint::description::Enforcement;

/// Gives half a step of constraint forces.
pub fn act(island: &mut JointIsland, moment: Moment, stage: &Stage) {
    let is_ours = |way: &Enforcement| matches!(way, Enforcement::Multipliers { .. });
    if moment == Moment::Moved || !island.locals.iter().any(|local| is_ours(&local.way)) {
        return;
    }
    let half = 0.5 * stage.h;
    // J v a moment later, with J along the motion and v unchanged
    let small = 1e-3 * stage.h;
    island.kept_poses.clone_from(&island.poses);
    island.kept_states.clear();
    island.kept_states.extend(island.locals.iter().map(|local| local.state));
    for (pose, v) in island.poses.iter_mut().zip(&island.saved_v) {
        pose.0 += small * v.linear;
        pose.1 = (rotation_from_vector(small * v.angular) * pose.1).normalize();
    }
    island.place(stage);
    island.each_held(is_ours, |island, link, r| {
        island.system.rows[r].bias = island.system.rate(link, r, &island.saved_v);
    });
    std::mem::swap(&mut island.poses, &mut island.kept_poses);
    for (local, old) in island.locals.iter_mut().zip(&island.kept_states) {
        local.state = *old;
    }
    island.place(stage);

    // λ alone: all other rows are off
    island.kept_rows.clone_from(&island.system.rows);
    island.system.rows.iter_mut().for_each(|row| row.status = Status::Off);
    island.each_held(is_ours, |island, link, r| {
        let before = island.system.rate(link, r, &island.saved_v);
        let gained = island.system.rate(link, r, &island.v) - before;
        let turning = (island.system.rows[r].bias - before) / small;
        let wanted = -gained - half * turning;
        let now = island.system.rate(link, r, &island.v);
        let row = &mut island.system.rows[r];
        row.status = if row.role == Role::Hold { Status::Free } else { Status::Off };
        // w = J v + b vanishes where J v has changed by what is wanted
        row.bias = -(now + wanted);
        (row.impulse, row.compliance) = (0.0, 0.0);
        (row.lower, row.upper) = (f64::NEG_INFINITY, f64::INFINITY);
    });
    island.system.touch();
    let mut v = std::mem::take(&mut island.v);
    island.system.solve(&mut v);
    island.v = v;
    island.collect(stage.model);

    island.each_held(is_ours, |island, link, r| {
        let l = island.link_index(link);
        let Enforcement::Multipliers { rate } = island.locals[l].way else { return };
        let response = island.system.response(link, r);
        if response > 0.0 && island.system.rows[r].role == Role::Hold {
            // explicit: no faster than a step can follow
            let rate = rate.min(0.5 / stage.h);
            let speed = island.system.rate(link, r, &island.saved_v);
            let error = island.system.rows[r].error;
            let z = -half * (rate * rate * error + 2.0 * rate * speed) / response;
            island.give(link, r, z);
        }
    });
    std::mem::swap(&mut island.system.rows, &mut island.kept_rows);
    island.each_held(is_ours, |island, _, r| {
        island.system.rows[r].status = Status::Off;
        island.system.rows[r].impulse = 0.0;
    });
    island.system.touch();
}
