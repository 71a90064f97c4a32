//! A number of the user's own on everything: an index into a table of the program, a handle, flags.
//!
//! The engine never reads it; it is no part of the state's hash.

use super::World;
use super::record::Call;
use crate::ids::{AnyId, PartId, StaleId};

impl World {
    /// The number that was put on something; 0 if none was.
    pub fn user_data(&self, id: impl Into<AnyId>) -> Result<u128, StaleId> {
        let id = id.into();
        self.check_there(id)?;
        if let AnyId::Part(id) = id
            && id.number != 0
        {
            return Ok(self.describe_part(id)?.user_data);
        }
        Ok(self.user_data.get(&id).copied().unwrap_or(0))
    }

    /// Puts a number on a body, part of a body, cloth, soft body, point, joint, constraint, emitter or particle.
    pub fn set_user_data(&mut self, id: impl Into<AnyId>, data: u128) -> Result<(), StaleId> {
        let id = id.into();
        self.note(|_| Call::SetUserData(id, data));
        self.check_there(id)?;
        if let AnyId::Part(PartId { body, number }) = id
            && number != 0
        {
            let slot = self.model.slot(body)?;
            let mut parts = self.model.bodies[slot].parts.iter_mut();
            if let Some(part) = parts.find(|part| part.number() == number) {
                part.part.user_data = data;
            }
            return Ok(());
        }
        if data == 0 {
            self.user_data.remove(&id);
        } else {
            self.user_data.insert(id, data);
        }
        Ok(())
    }

    /// Whether an id names something.
    pub fn contains(&self, id: impl Into<AnyId>) -> bool {
        self.check_there(id.into()).is_ok()
    }

    /// Forgets numbers of what is gone.
    pub(super) fn drop_user_data(&mut self) {
        if !self.user_data.is_empty() {
            let mut kept = std::mem::take(&mut self.user_data);
            kept.retain(|&id, _| self.check_there(id).is_ok());
            self.user_data = kept;
        }
    }

    fn check_there(&self, id: AnyId) -> Result<(), StaleId> {
        match id {
            AnyId::Body(id) => self.model.slot(id).map(drop),
            AnyId::Joint(id) => self.joint_slot(id).map(drop),
            AnyId::Point(id) => self.point_slot(id).map(drop),
            AnyId::Deformable(id) => self.model.cloth_slot(id).map(drop),
            AnyId::Emitter(id) => self.model.emitter_slot(id).map(drop),
            AnyId::Constraint(id) => {
                let found = self.model.constraints.get(id.index as usize);
                let there = |c: &crate::model::ConstraintModel| {
                    c.constraint.is_some() && c.generation == id.generation
                };
                if found.is_some_and(there) { Ok(()) } else { Err(StaleId::of(id)) }
            }
            AnyId::Particle(id) => self.particle(id).map(drop),
            AnyId::Part(id) => self.describe_part(id).map(drop),
        }
    }
}
