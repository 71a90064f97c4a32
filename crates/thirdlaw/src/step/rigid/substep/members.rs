//! The bodies and contacts of islands brought together, and handed out again.

use super::{IslandScratch, LocalBody, Members, PointImpulse, Setting};
use crate::math::mass::BodyMass;
use crate::model::Model;
use crate::model::body::mass;
use crate::state::body::BodyState;
use crate::state::contact::POINTS_MAX;

impl IslandScratch {
    /// Brings the bodies and contacts of an island together, or of several.
    pub(in crate::step) fn gather<'a>(
        &mut self,
        setting: Setting,
        islands: impl Iterator<Item = Members<'a>> + Clone,
    ) {
        let (model, state, settings, _) = setting;
        self.others.clear();
        for island in islands.clone() {
            self.gather_others(model, island.links);
            for touch in island.contacts {
                for (slot, moves) in [touch.a, touch.b].into_iter().zip(touch.moves) {
                    if !moves {
                        self.others.push(slot);
                    }
                }
            }
        }
        self.others.sort_unstable();
        self.others.dedup();

        self.bodies.clear();
        self.velocities.bodies.clear();
        self.problem.bodies.clear();
        let slots = islands.clone().flat_map(|island| island.bodies);
        let moving = slots.map(|&slot| (slot, true));
        for (slot, moves) in moving.chain(self.others.iter().map(|&slot| (slot, false))) {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            self.bodies.push(LocalBody { slot, position: now.position, rotation: now.rotation });
            self.velocities.bodies.push(now.velocity);
            // what dominates goes its way as if nothing could move it
            let mass = if moves || !body.is_dynamic() {
                mass::body_mass(body, now.rotation)
            } else {
                BodyMass::default()
            };
            self.problem.bodies.push(mass);
        }

        self.problem.friction = settings.contact.friction;
        self.problem.seed = state.step;
        self.problem.blocks.clear();
        self.problem.rows.clear();
        self.impulses.clear();
        self.contacts.clear();
        self.points.clear();
        self.surfaces.clear();
        self.resistances.clear();
        let mut first = 0;
        for island in islands {
            for touch in island.contacts {
                self.add_contact((model, state), touch, (island.bodies, first));
            }
            first += island.bodies.len();
        }
    }

    /// Where a body of an island is among all, or one that it touches. The island's bodies begin at `first`.
    pub(in crate::step) fn local(
        &self,
        model: &Model,
        (slots, first): (&[u32], usize),
        slot: u32,
    ) -> u32 {
        self.side((slots, first), slot, model.bodies[slot as usize].is_dynamic())
    }

    /// The same of a body that a contact moves, or does not.
    pub(super) fn side(&self, (slots, first): (&[u32], usize), slot: u32, moves: bool) -> u32 {
        let found = if moves {
            slots.binary_search(&slot).map(|i| first + i)
        } else {
            let count = self.bodies.len() - self.others.len();
            self.others.binary_search(&slot).map(|i| count + i)
        };
        // both lists hold every slot the contacts name
        found.unwrap_or_default() as u32
    }

    /// Hands out an island whose first body and first contact have these places.
    pub(in crate::step) fn write_back(
        &self,
        model: &Model,
        (first_body, first_contact): (usize, usize),
        bodies: &mut [BodyState],
        impulses: &mut [[PointImpulse; POINTS_MAX]],
    ) {
        for (i, body) in (first_body..).zip(bodies) {
            let local = &self.bodies[i];
            body.position = local.position;
            body.rotation = local.rotation;
            body.velocity = self.velocities.bodies[i];
            mass::unlock_velocity(&mut body.velocity, model.bodies[local.slot as usize].locks);
        }
        let contacts = self.contacts[first_contact..].iter().zip(impulses);
        for (i, (local, out)) in (first_contact..).zip(contacts) {
            let next = self.contacts.get(i + 1);
            let end = next.map_or(self.points.len(), |c| c.point_start as usize);
            *out = Default::default();
            for (slot, i) in out.iter_mut().zip(local.point_start as usize..end) {
                let z = &self.impulses[3 * i..3 * i + 3];
                slot.normal = z[0];
                slot.friction = z[1] * local.tangents.0 + z[2] * local.tangents.1;
            }
        }
    }
}
