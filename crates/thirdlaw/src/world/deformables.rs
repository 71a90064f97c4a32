//! Cloths and other deformable objects of a world.

use super::World;
use super::record::Call;
use crate::ids::{BodyId, ClothId, DeformableId, ParticleId, ParticleOwner, StaleId};
use crate::math::Vec3;
use crate::model::cloth::{Cloth, ClothError};
use crate::model::deformable::model::{Around, BoundTo, Held, PinHold, Sheet, hold as hold_vertex};
use crate::model::deformable::{Deformable, DeformableError, DeformableModel, Hold};
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
        let model =
            self.with_around(|around| DeformableModel::build(&deformable, around, generation))?;
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

    /// Holds a vertex of a cloth or soft body from where it is now, in place of what held it so far. The first
    /// key of a path is where it is now; bonds are to other objects. Free points are held by joints, and drops
    /// of streams by nothing: both are refused. [`World::unpin_particle`] lets it go again.
    #[doc(alias = "attach")]
    pub fn pin_particle(&mut self, id: ParticleId, hold: Hold) -> Result<(), DeformableError> {
        self.note(|_| Call::PinParticle(id, hold.clone()));
        let (owner, vertex) = self.vertex_of(id)?;
        let slot = self.model.cloth_slot(owner).map_err(DeformableError::Stale)?;
        if let Hold::Bond(bond) = &hold
            && bond.to.object() == Some(owner)
        {
            let problem = format!("{id} cannot be bound to its own object");
            return Err(DeformableError::Value { field: "pins", problem });
        }
        let at = self.state.particles.x[self.model.cloths[slot].first as usize + vertex as usize];
        let held = self.with_around(|around| hold_vertex((vertex, at), &hold, around))?;
        self.change_hold(slot, vertex, Some(held));
        Ok(())
    }

    /// Lets a vertex go that was held, however it was; one that was not stays free.
    pub fn unpin_particle(&mut self, id: ParticleId) -> Result<(), DeformableError> {
        self.note(|_| Call::UnpinParticle(id));
        let (owner, vertex) = self.vertex_of(id)?;
        let slot = self.model.cloth_slot(owner).map_err(DeformableError::Stale)?;
        self.change_hold(slot, vertex, None);
        Ok(())
    }

    /// The object and number of a vertex; other particles are refused.
    fn vertex_of(&self, id: ParticleId) -> Result<(DeformableId, u32), DeformableError> {
        self.particle(id).map_err(DeformableError::Stale)?;
        let problem = match id.owner {
            ParticleOwner::Deformable(owner) => return Ok((owner, id.number as u32)),
            ParticleOwner::Point(_) => "a free point is held by joints (World::add_joint)",
            ParticleOwner::Emitter(_) => "a drop of a stream cannot be held",
        };
        Err(DeformableError::Value { field: "particle", problem: format!("{id}: {problem}") })
    }

    fn change_hold(&mut self, slot: usize, vertex: u32, held: Option<Held>) {
        let bodies = |model: &DeformableModel| {
            let pins = model.pins.iter().filter(|pin| pin.vertex == vertex);
            let pinned = pins.filter_map(|pin| match pin.hold {
                PinHold::Body { body, .. } => Some(body),
                _ => None,
            });
            let bonds = model.bonds.iter().filter(|bond| bond.vertex == vertex);
            let bound = bonds.filter_map(|bond| match bond.to {
                BoundTo::Body { body, .. } => Some(body),
                _ => None,
            });
            pinned.chain(bound).collect::<Vec<_>>()
        };
        let mut woken = bodies(&self.model.cloths[slot]);
        let springs = self.model.cloths[slot].set_hold(vertex, held);
        woken.extend(bodies(&self.model.cloths[slot]));
        self.model.revision += 1;
        if springs {
            self.model.sheet = Arc::new(Sheet::build(&mut self.model.cloths));
        } else {
            let model = &mut *self.model;
            Arc::make_mut(&mut model.sheet).collect_pins(&model.cloths);
        }
        self.state.cloth.pins.clear();
        for body in woken {
            // one that is gone has nothing to wake
            let _gone = self.wake(body);
        }
    }

    /// Calls with the bodies and objects that bonds may name.
    fn with_around<T>(&self, call: impl FnOnce(&Around<'_>) -> T) -> T {
        let body = |id: BodyId| {
            let body = &self.state.bodies[self.model.slot(id).ok()?];
            Some((body.position, body.rotation))
        };
        let object = |id: DeformableId| {
            let object = &self.model.cloths[self.model.cloth_slot(id).ok()?];
            Some((&*object.elements, &self.state.particles.x[object.range()]))
        };
        call(&Around { body: &body, object: &object })
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
