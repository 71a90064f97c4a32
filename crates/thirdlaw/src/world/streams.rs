//! Emitters of a world: adding, removing, reading.

use super::World;
use super::record::Call;
use crate::ids::{BodyId, EmitterId, StaleId};
use crate::math::Vec3;
use crate::model::emitter::field::ForceField;
use crate::model::emitter::model::EmitterModel;
use crate::model::emitter::{Emitter, EmitterError};
use crate::state::body::Push;
use crate::state::stream::Stream;
use std::sync::Arc;

impl World {
    /// Adds an emitter of particles, and takes the memory for as many as it may have at a time.
    /// The book says how they move and what they push, in its chapter on particles.
    pub fn add_emitter(&mut self, emitter: Emitter) -> Result<EmitterId, EmitterError> {
        self.note(|_| Call::AddEmitter(emitter.clone()));
        if let Some(body) = emitter.body {
            self.model.slot(body).map_err(|_| EmitterError::NoSuchBody(body))?;
        }
        let slot = self.model.emitters_free.last().copied();
        let generation = slot.map_or(0, |s| self.model.emitters[s as usize].generation + 1);
        let model = EmitterModel::build(emitter, generation)?;
        let Some(stream) = Stream::with_room(model.capacity) else {
            let problem = format!("there is no memory for {} particles", model.capacity);
            return Err(EmitterError::Value { field: "capacity", problem });
        };
        self.model.revision += 1;
        let index = match slot {
            Some(slot) => {
                self.model.emitters_free.pop();
                self.model.emitters[slot as usize] = model;
                self.state.streams.list[slot as usize] = stream;
                slot
            }
            None => {
                self.model.emitters.push(model);
                self.state.streams.list.push(stream);
                (self.model.emitters.len() - 1) as u32
            }
        };
        Ok(EmitterId { index, generation })
    }

    /// Removes an emitter and its particles; its id is refused from now on.
    pub fn remove_emitter(&mut self, id: EmitterId) -> Result<(), StaleId> {
        self.note(|_| Call::RemoveEmitter(id));
        let slot = self.model.emitter_slot(id)?;
        self.model.emitters[slot].alive = false;
        self.model.emitters_free.push(id.index);
        self.model.revision += 1;
        self.state.streams.list[slot] = Stream::default();
        self.ports.inputs.emitter_went(id.index);
        self.drop_user_data();
        Ok(())
    }

    /// Gives all particles a field of the user's own, or takes it away. What the field owes the
    /// engine is said at [`ForceField`].
    pub fn set_force_field(&mut self, field: Option<Arc<dyn ForceField>>) {
        self.note(|_| Call::SetForceField(field.as_ref().map(|field| field.name())));
        self.model.field = field;
        self.model.revision += 1;
    }

    /// Ids of all emitters, in slot order.
    pub fn emitters(&self) -> impl Iterator<Item = EmitterId> + '_ {
        let slots = self.model.emitters.iter().enumerate().filter(|(_, e)| e.alive);
        slots.map(|(i, e)| EmitterId { index: i as u32, generation: e.generation })
    }

    /// The constant part of an emitter.
    pub fn emitter(&self, id: EmitterId) -> Result<&EmitterModel, StaleId> {
        Ok(&self.model.emitters[self.model.emitter_slot(id)?])
    }

    /// The particles of an emitter, in no particular order; their ids tell who is who.
    pub fn stream(&self, id: EmitterId) -> Result<&Stream, StaleId> {
        Ok(&self.state.streams.list[self.model.emitter_slot(id)?])
    }

    /// Puts a particle of an emitter, by its place in the arrays, somewhere else with a velocity.
    pub fn set_particle(
        &mut self,
        id: EmitterId,
        index: usize,
        position: Vec3,
        velocity: Vec3,
    ) -> Result<(), EmitterError> {
        self.note(|_| Call::SetParticle(id, index as u64, position, velocity));
        let slot = self.model.emitter_slot(id)?;
        let stream = &mut self.state.streams.list[slot];
        let count = stream.len();
        if index >= count {
            let problem = format!("{index} is not one of the {count} particles");
            return Err(EmitterError::Value { field: "index", problem });
        }
        for (field, v) in [("position", position), ("velocity", velocity)] {
            if !(v.is_finite() && v.abs().max_element() < 1e9) {
                let problem = format!("must be finite, not {v}");
                return Err(EmitterError::Value { field, problem });
            }
        }
        stream.particles.x[index] = position;
        stream.particles.v[index] = velocity;
        Ok(())
    }

    /// Mean force (N) and torque about the centre of mass (N·m) with which particles struck a body
    /// in the last step. A body that can move gets them in the next one.
    pub fn struck(&self, id: BodyId) -> Result<Push, StaleId> {
        let slot = self.model.slot(id)? as u32;
        let streams = &self.state.streams;
        Ok(match streams.struck.binary_search_by_key(&slot, |s| s.body) {
            Ok(at) if streams.span > 0.0 => Push {
                force: streams.struck[at].impulse / streams.span,
                torque: streams.struck[at].angular / streams.span,
            },
            _ => Push::default(),
        })
    }
}
