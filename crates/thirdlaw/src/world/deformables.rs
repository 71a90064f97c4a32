//! Cloths and other deformable objects of a world.

use super::World;
use super::record::Call;
use crate::ids::{BodyId, ClothId, DeformableId, StaleId};
use crate::math::Vec3;
use crate::model::cloth::{Cloth, ClothError};
use crate::model::deformable::model::{Around, Sheet};
use crate::model::deformable::{Deformable, DeformableError, DeformableModel};
use std::sync::Arc;

impl World {
    /// Adds a cloth.
    pub fn add_cloth(&mut self, cloth: Cloth) -> Result<ClothId, ClothError> {
        Ok(self.add_deformable(cloth.deformable()?)?)
    }

    /// Adds a deformable object.
    pub fn add_deformable(
        &mut self,
        deformable: Deformable,
    ) -> Result<DeformableId, DeformableError> {
        self.note(|_| Call::AddDeformable(deformable.clone()));
        let slot = self.model.free_cloths.last().copied();
        let generation = slot.map_or(0, |s| self.model.cloths[s as usize].generation + 1);
        let frame = |id: BodyId| {
            let body = &self.state.bodies[self.model.slot(id).ok()?];
            Some((body.position, body.rotation))
        };
        let object = |id: DeformableId| {
            let object = &self.model.cloths[self.model.cloth_slot(id).ok()?];
            Some((&*object.elements, &self.state.particles.x[object.range()]))
        };
        let around = Around { body: &frame, object: &object };
        let model = DeformableModel::build(&deformable, &around, generation)?;
        let count = model.count();
        self.model.revision += 1;
        let index = match slot {
            Some(slot) => {
                self.model.free_cloths.pop();
                self.model.cloths[slot as usize] = model;
                slot
            }
            None => {
                self.model.cloths.push(model);
                (self.model.cloths.len() - 1) as u32
            }
        };
        self.model.sheet = Arc::new(Sheet::build(&mut self.model.cloths));
        let first = self.model.cloths[index as usize].first;
        let at = first as usize;
        self.state.particles.insert(at, deformable.positions, deformable.velocity);
        for touch in self.state.cloth.touches.iter_mut().filter(|t| t.particle >= first) {
            touch.particle += count as u32;
        }
        self.ports.inputs.vertices_came(first, count as u32);
        self.state.cloth.pins.clear();
        // triangles and edges have other numbers now
        self.state.cloth.pairs.clear();
        self.state.pressures.clear();
        Ok(DeformableId { index, generation })
    }

    /// Removes a cloth; its id is refused from now on.
    pub fn remove_cloth(&mut self, id: ClothId) -> Result<(), StaleId> {
        self.remove_deformable(id)
    }

    /// Removes a deformable object; its id is refused from now on.
    pub fn remove_deformable(&mut self, id: DeformableId) -> Result<(), StaleId> {
        self.note(|_| Call::RemoveDeformable(id));
        let slot = self.model.cloth_slot(id)?;
        let range = self.model.cloths[slot].range();
        self.model.cloths[slot].alive = false;
        self.model.free_cloths.push(id.index);
        self.model.revision += 1;
        self.model.sheet = Arc::new(Sheet::build(&mut self.model.cloths));
        self.state.particles.remove(range.clone());
        let (start, end) = (range.start as u32, range.end as u32);
        self.state.cloth.touches.retain(|t| !(start..end).contains(&t.particle));
        for touch in self.state.cloth.touches.iter_mut().filter(|t| t.particle >= end) {
            touch.particle -= end - start;
        }
        self.ports.inputs.vertices_went(start..end);
        self.state.cloth.pushes.clear();
        self.state.cloth.pins.clear();
        // triangles and edges have other numbers now
        self.state.cloth.pairs.clear();
        self.state.pressures.clear();
        self.drop_user_data();
        Ok(())
    }

    /// Puts a vertex at a place with a velocity; a held one follows what holds it.
    pub fn set_vertex(
        &mut self,
        id: DeformableId,
        vertex: u32,
        position: Vec3,
        velocity: Vec3,
    ) -> Result<(), DeformableError> {
        self.note(|_| Call::SetVertex(id, vertex, position, velocity));
        let slot = self.model.cloth_slot(id).map_err(DeformableError::Stale)?;
        let object = &self.model.cloths[slot];
        let count = object.count();
        if vertex as usize >= count {
            let problem = format!("{vertex} is not one of the {count} vertices");
            return Err(DeformableError::Value { field: "vertex", problem });
        }
        for (field, v) in [("position", position), ("velocity", velocity)] {
            if !(v.is_finite() && v.abs().max_element() < 1e9) {
                let problem = format!("must be finite, not {v}");
                return Err(DeformableError::Value { field, problem });
            }
        }
        let at = (object.first + vertex) as usize;
        self.state.particles.x[at] = position;
        self.state.particles.v[at] = velocity;
        Ok(())
    }

    /// Ids of all deformable objects, cloths among them, in slot order.
    pub fn deformables(&self) -> impl Iterator<Item = DeformableId> + '_ {
        (0..self.model.cloths.len())
            .filter(|&i| self.model.cloths[i].alive)
            .map(|i| self.model.cloth_id(i))
    }

    /// Ids of all cloths, in slot order.
    pub fn cloths(&self) -> impl Iterator<Item = ClothId> + '_ {
        self.deformables().filter(|id| self.model.cloths[id.index as usize].is_cloth())
    }

    /// The constant part of a deformable object.
    pub fn deformable(&self, id: DeformableId) -> Result<&DeformableModel, StaleId> {
        Ok(&self.model.cloths[self.model.cloth_slot(id)?])
    }

    /// The constant part of a cloth.
    pub fn cloth(&self, id: ClothId) -> Result<&DeformableModel, StaleId> {
        self.deformable(id).and_then(|d| if d.is_cloth() { Ok(d) } else { Err(StaleId::of(id)) })
    }

    /// Where the vertices of a deformable object are, m.
    pub fn vertices(&self, id: DeformableId) -> Result<&[Vec3], StaleId> {
        Ok(&self.state.particles.x[self.deformable(id)?.range()])
    }

    /// Force that holds each pinned vertex of a deformable object in the last step, N, in order of vertices.
    pub fn pin_forces(&self, id: DeformableId) -> Result<Vec<(u32, Vec3)>, StaleId> {
        let range = self.deformable(id)?.range();
        let first = range.start as u32;
        let pins = self.state.cloth.pins.iter().filter(|p| range.contains(&(p.0 as usize)));
        Ok(pins.map(|(particle, force)| (particle - first, *force)).collect())
    }

    /// Velocities of the vertices of a deformable object, m/s.
    pub fn vertex_velocities(&self, id: DeformableId) -> Result<&[Vec3], StaleId> {
        Ok(&self.state.particles.v[self.deformable(id)?.range()])
    }
}
