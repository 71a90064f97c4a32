//! Joints that hold the same motion several times: how they share the load.
//!
//! Impulses of such joints are not determined by J v = −b: any z₀ with Jᵀz₀ = 0 may be added. Real joints
//! give way a little, and that decides. With a compliance Γ in all rows the impulses are those of the
//! least zᵀΓz, and the solves
//!
//!   (J M⁻¹Jᵀ + Γ) δz = −w,    z ← z + δz,
//!
//! repeated with the defects w of the stiff rows, end at J v = −b exactly (iterated Tikhonov
//! regularization): from z = 0 no δz has a part that the rows cannot tell from zero in the norm of Γ.
//! Such factors exist for every order of elimination; systems of many loops are always solved by them (`web`).
//!
//! Γ is a small part of the response of a row. A joint is small against the bodies it holds: against turns
//! it gives way [`SIZE`]² times as much as against shifts at the arm that it has. So two hinges of
//! a door carry half its weight each, and its moment as a couple of forces, not as moments in the hinges.

use super::system::{JointRow, Role, Status, System};
use crate::math::Twist;

/// What a row gives way, of its response, to find what is shared and in systems of many loops.
const GIVES_WAY: f64 = 1e-9;
const SHARES: f64 = 1e-6;
/// Arms of joints over their size, squared.
const SIZE: f64 = 20.0;
/// Solves.
const ROUNDS: usize = 5;
/// Part of the impulses that may be left when they have been shared.
const LEFT: f64 = 1e-6;

/// Memory to share impulses.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing {
    rows: Vec<JointRow>,
    v: Vec<Twist>,
}

impl System {
    /// What every free row gives way.
    pub(super) fn set_ways(&mut self) {
        let part = if self.order.has_many_loops() { GIVES_WAY } else { SHARES };
        for l in 0..self.links.len() {
            let link = self.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                if self.rows[r].status != Status::Free {
                    continue;
                }
                let turns = self.jacobian[self.parts(&link, r)]
                    .iter()
                    .all(|part| part.linear == crate::math::Vec3::ZERO);
                let softer = if turns { SIZE * SIZE } else { 1.0 };
                self.rows[r].gives_way = part * softer * self.response(&link, r);
            }
        }
    }

    /// Shares the impulses of rows that hold the same motion several times. What they do to the
    /// velocities stays.
    pub fn share(&mut self) {
        if self.factor.redundant == 0 || self.factor.gives_way {
            return;
        }
        let mut memory = std::mem::take(&mut self.sharing);
        memory.rows.clone_from(&self.rows);
        memory.v.clear();
        memory.v.resize(self.nodes.len(), Twist::default());
        for l in 0..self.links.len() {
            let link = self.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                let row = &mut self.rows[r];
                if row.status == Status::Free && matches!(row.role, Role::Hold | Role::Rate) {
                    let z = std::mem::take(&mut row.impulse);
                    (row.bias, row.compliance) = (0.0, 0.0);
                    self.apply(&link, r, -z, &mut memory.v);
                } else {
                    row.status = Status::Off;
                }
            }
        }
        let before = self.momentum(&memory.v);
        self.assemble(true);
        for _ in 0..ROUNDS {
            self.correct(&mut memory.v);
        }
        let shared = self.momentum(&memory.v) <= LEFT * before;
        for (row, kept) in self.rows.iter_mut().zip(&memory.rows) {
            let z = row.impulse;
            let held = row.status == Status::Free;
            *row = *kept;
            if shared && held {
                row.impulse = z;
            }
        }
        self.sharing = memory;
        self.factored = false;
    }

    /// √(vᵀM v).
    fn momentum(&self, v: &[Twist]) -> f64 {
        let movable = self.nodes.iter().zip(v).filter(|(node, _)| node.movable);
        movable.map(|(node, v)| node.square(v)).sum::<f64>().sqrt()
    }
}
