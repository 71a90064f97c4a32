//! Parts of bodies: reading, adding, changing and removing them one by one.
//!
//! A part keeps its id while others of its body come and go. BodyPart 0 is the shape that the body was made
//! with; it has what the body was given, and stays.

use super::World;
use super::query::{Filter, shapes_overlap};
use crate::ids::{AnyId, BodyId, PartId, StaleId};
use crate::model::body::Groups;
use crate::model::body::part::{BodyPart, PartModel};
use crate::model::error::{BodyError, EditError};

impl World {
    /// The parts of a body: the shape that it was made with, then the others in the order in which they
    /// came.
    #[doc(alias = "colliders")]
    pub fn parts(&self, id: BodyId) -> Result<impl Iterator<Item = PartId> + '_, StaleId> {
        let parts = &self.model.bodies[self.model.slot(id)?].parts;
        let own = parts.is_empty().then_some(PartId { body: id, number: 0 });
        let all = parts.iter().map(move |part| PartId { body: id, number: part.number() });
        Ok(own.into_iter().chain(all))
    }

    /// A part as it could be added.
    pub fn describe_part(&self, id: PartId) -> Result<BodyPart, StaleId> {
        let body = &self.model.bodies[self.model.slot(id.body)?];
        if let Some(part) = body.parts.iter().find(|part| part.number() == id.number) {
            return Ok(part.part.clone());
        }
        if id.number != 0 || !body.parts.is_empty() {
            return Err(StaleId::of(id));
        }
        let mut own = BodyPart::new(body.shape.clone()).material(body.material);
        own.groups = body.asked_groups;
        own.solver_groups = body.asked_solver_groups;
        own.sensor = body.sensor;
        own.number = Some(0);
        Ok(own)
    }

    /// Adds a shape to a body; mass and centre of mass follow, velocity and place of the origin stay.
    #[doc(alias = "insert_with_parent")]
    pub fn add_part(&mut self, id: BodyId, part: BodyPart) -> Result<PartId, EditError> {
        let number = self.model.bodies[self.model.slot(id)?].next_part;
        let part = BodyPart { number: None, ..part };
        self.edit_body(id, |body| body.parts.push(part))?;
        Ok(PartId { body: id, number })
    }

    /// Changes anything of a part; refused as a whole if the outcome could not be added.
    pub fn edit_part(
        &mut self,
        id: PartId,
        change: impl FnOnce(&mut BodyPart),
    ) -> Result<(), EditError> {
        let mut part = self.describe_part(id)?;
        change(&mut part);
        part.number = Some(id.number);
        if id.number != 0 {
            return self.edit_body(id.body, |body| {
                if let Some(place) = body.parts.iter_mut().find(|p| p.number == part.number) {
                    *place = part;
                }
            });
        }
        let moved = part.pose != crate::math::Pose::IDENTITY;
        if moved || part.density.is_some() || part.user_data != 0 {
            let problem = "the shape that a body is made with lies at its origin and has the body's \
                           density and user data; give those to the body";
            return Err(BodyError { field: "parts", problem: problem.into() }.into());
        }
        self.edit_body(id.body, |body| {
            (body.shape, body.material) = (part.shape, part.material);
            (body.groups, body.solver_groups) = (part.groups, part.solver_groups);
            body.sensor = part.sensor;
        })
    }

    /// Takes a shape off a body; its id is refused from now on. The one that the body was made with stays.
    pub fn remove_part(&mut self, id: PartId) -> Result<(), EditError> {
        self.describe_part(id).map(drop)?;
        if id.number == 0 {
            let problem =
                "the shape that a body is made with stays; set another, or remove the body";
            return Err(BodyError { field: "parts", problem: problem.into() }.into());
        }
        self.edit_body(id.body, |body| body.parts.retain(|p| p.number != Some(id.number)))
    }

    /// Parts of two bodies that overlap, whose groups touch and whose solver groups do not: they go through
    /// each other, and tell of it. The body in the lower slot is the first; in the order of ids.
    pub fn silent_contacts(&self) -> impl Iterator<Item = [PartId; 2]> {
        let mut found: Vec<[PartId; 2]> = Vec::new();
        for (slot, body) in self.model.bodies.iter().enumerate() {
            let plain = |part: &PartModel| part.part.solver_groups == Groups::default();
            let ordinary = body.solver_groups == Groups::default() && body.parts.iter().all(plain);
            if body.alive && body.enabled && !body.sensor && !ordinary {
                self.silent_of(slot, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter()
    }

    fn silent_of(&self, slot: usize, found: &mut Vec<[PartId; 2]>) {
        let body = &self.model.bodies[slot];
        let pose = self.slot_pose(slot);
        let near: Vec<AnyId> = if body.shape.is_half_space() {
            self.bodies().map(AnyId::Body).collect()
        } else {
            let bounds = body.shape.aabb(&pose);
            self.in_box(bounds.mins, bounds.maxs, &Filter::new()).unwrap_or_default()
        };
        for other in near.into_iter().filter_map(AnyId::body).map(|id| id.index as usize) {
            let other_body = &self.model.bodies[other];
            let moves = body.is_dynamic() || other_body.is_dynamic();
            if other == slot || !moves || !other_body.enabled || other_body.sensor {
                continue;
            }
            let other_pose = self.slot_pose(other);
            for (a, (shape, groups, pushes)) in body.surfaces().enumerate() {
                for (b, (other_shape, other_groups, others)) in other_body.surfaces().enumerate() {
                    if groups.touch(other_groups)
                        && !pushes.touch(others)
                        && shapes_overlap((shape, &pose), (other_shape, &other_pose))
                    {
                        let mut pair = [self.solid_part(slot, a), self.solid_part(other, b)];
                        pair.sort_unstable();
                        found.push(pair);
                    }
                }
            }
        }
    }

    /// The part that is the `index`th that collides.
    fn solid_part(&self, slot: usize, index: usize) -> PartId {
        let parts = &self.model.bodies[slot].parts;
        let number = parts.iter().filter(|part| part.is_solid()).nth(index);
        PartId { body: self.model.id(slot), number: number.map_or(0, PartModel::number) }
    }

    /// The part that a convex piece of a body belongs to.
    pub(super) fn part_of_piece(&self, slot: usize, piece: u32) -> PartId {
        let number = self.model.bodies[slot].part_of(piece).map_or(0, |part| part.number());
        PartId { body: self.model.id(slot), number }
    }

    /// The same of anything; only bodies have parts.
    pub(super) fn part_of_thing(&self, who: AnyId, piece: u32) -> Option<PartId> {
        who.body().map(|id| self.part_of_piece(id.index as usize, piece))
    }
}
