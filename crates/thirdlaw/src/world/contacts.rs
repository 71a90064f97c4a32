//! Contacts of bodies after a step: where they touch, and with what force.
//!
//! Forces are those of the last substep (N): what a scale would show at the end of the step. A blow in
//! the middle of a step is in the velocities, and in the impulses of events (`World::listen`), not here.
//! Whoever sleeps keeps the forces it fell asleep with.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let cube = Body::dynamic(Shape::cuboid(Vec3::splat(0.5))?).mass(10.0);
//! let cube = world.add_body(cube.at(0.0, 0.5, 0.0))?;
//! for _ in 0..60 {
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! assert!((world.contact_force(cube)?.y - 98.1).abs() < 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::World;
use crate::ids::{BodyId, PartId, StaleId};
use crate::math::{Mat3, Vec3};
use crate::state::contact::{Contact, ContactKey, POINTS_MAX};

/// Two bodies that touch, or are so near each other that they may.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "ContactPair")]
#[doc(alias = "ContactManifold")]
pub struct BodyContact {
    /// The body in the lower slot.
    pub a: BodyId,
    /// The other one.
    pub b: BodyId,
    /// Which convex piece of a compound or triangle of a mesh, of both.
    pub pieces: [u32; 2],
    /// Which parts of both.
    pub parts: [PartId; 2],
    /// Unit normal from a to b.
    pub normal: Vec3,
    /// Combined Coulomb's μ.
    pub friction: f64,
    /// Combined Newton's e.
    pub restitution: f64,
    /// Sum of the forces of the points on b, N; on a it is the opposite.
    pub force: Vec3,
    points: [TouchPoint; POINTS_MAX],
    count: usize,
}

/// One point of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TouchPoint {
    /// On the surface of a, m.
    pub position: Vec3,
    /// Gap at the beginning of the step, m; negative: overlap.
    pub separation: f64,
    /// Force on b along the normal, N.
    pub normal_force: f64,
    /// Friction on b, N.
    pub friction_force: Vec3,
}

impl BodyContact {
    /// Its points, four at most.
    pub fn points(&self) -> &[TouchPoint] {
        &self.points[..self.count]
    }

    /// Whether it carries any force.
    pub fn is_loaded(&self) -> bool {
        self.points().iter().any(|point| point.normal_force > 0.0)
    }

    /// The other body than `id`.
    pub fn other(&self, id: BodyId) -> BodyId {
        if self.a == id { self.b } else { self.a }
    }

    /// The force on a body of the two, N.
    pub fn force_on(&self, id: BodyId) -> Vec3 {
        if id == self.b {
            self.force
        } else if id == self.a {
            -self.force
        } else {
            Vec3::ZERO
        }
    }
}

impl World {
    /// Contacts between bodies, those that are near without touching among them, in the order of their
    /// bodies' slots.
    #[doc(alias = "contact_pairs")]
    pub fn contacts(&self) -> impl Iterator<Item = BodyContact> + '_ {
        self.live_contacts().map(|contact| self.body_contact(contact))
    }

    /// Those of one body.
    #[doc(alias = "contact_pairs_with")]
    pub fn contacts_of(
        &self,
        id: BodyId,
    ) -> Result<impl Iterator<Item = BodyContact> + '_, StaleId> {
        self.model.slot(id)?;
        let own = move |c: &&Contact| c.key.a == id.index || c.key.b == id.index;
        Ok(self.live_contacts().filter(own).map(|contact| self.body_contact(contact)))
    }

    /// Those of two bodies.
    #[doc(alias = "contact_pair")]
    pub fn contacts_between(
        &self,
        one: BodyId,
        other: BodyId,
    ) -> Result<impl Iterator<Item = BodyContact> + '_, StaleId> {
        self.model.slot(one)?;
        self.model.slot(other)?;
        let pair = (one.index.min(other.index), one.index.max(other.index));
        let start = self.state.contacts.partition_point(|c| (c.key.a, c.key.b) < pair);
        let of_pair = move |c: &&Contact| (c.key.a, c.key.b) == pair;
        let contacts = self.state.contacts[start..].iter().take_while(of_pair);
        Ok(contacts.filter(|c| c.count > 0).map(|contact| self.body_contact(contact)))
    }

    /// Sum of the forces with which other bodies touch this one, N.
    pub fn contact_force(&self, id: BodyId) -> Result<Vec3, StaleId> {
        Ok(self.contacts_of(id)?.map(|contact| contact.force_on(id)).sum())
    }

    /// Force with which `from` touches `on`, N.
    pub fn contact_force_between(&self, from: BodyId, on: BodyId) -> Result<Vec3, StaleId> {
        Ok(self.contacts_between(from, on)?.map(|contact| contact.force_on(on)).sum())
    }

    pub(super) fn live_contacts(&self) -> impl Iterator<Item = &Contact> + '_ {
        let alive = |slot: u32| self.model.bodies[slot as usize].alive;
        self.state.contacts.iter().filter(move |c| c.count > 0 && alive(c.key.a) && alive(c.key.b))
    }

    pub(super) fn parts_of(&self, contact: &Contact) -> [PartId; 2] {
        let ContactKey { a, b, piece_a, piece_b } = contact.key;
        [(a, piece_a), (b, piece_b)].map(|(slot, piece)| self.part_of_piece(slot as usize, piece))
    }

    fn body_contact(&self, contact: &Contact) -> BodyContact {
        let slots = [contact.key.a as usize, contact.key.b as usize];
        let [a, b] = slots.map(|slot| self.state.bodies[slot]);
        let [axes_a, axes_b] = [a, b].map(|body| Mat3::from_quat(body.rotation));
        let per_second = if self.state.substep > 0.0 { 1.0 / self.state.substep } else { 0.0 };
        let mut found = BodyContact {
            a: self.model.id(slots[0]),
            b: self.model.id(slots[1]),
            pieces: [contact.key.piece_a, contact.key.piece_b],
            parts: self.parts_of(contact),
            normal: contact.normal,
            friction: contact.friction,
            restitution: contact.restitution,
            force: Vec3::ZERO,
            points: Default::default(),
            count: POINTS_MAX.min(contact.count as usize),
        };
        for (i, point) in contact.points().enumerate() {
            let arm = contact.on_surface_of_a(i, [&axes_a, &axes_b], b.position - a.position);
            let normal_force = point.normal_impulse * per_second;
            let friction_force = point.friction_impulse * per_second;
            found.points[i] = TouchPoint {
                position: a.position + arm,
                separation: point.separation,
                normal_force,
                friction_force,
            };
            found.force += normal_force * contact.normal + friction_force;
        }
        found
    }
}
