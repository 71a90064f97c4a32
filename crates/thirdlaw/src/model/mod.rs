//! What a step never changes: masses, shapes, materials, paths. Only edits between steps do.

pub mod body;
pub mod cloth;
pub mod contact_hook;
pub mod deformable;
pub mod emitter;
pub mod error;
pub mod joint;
pub mod point;
pub mod settings;
pub mod solid;

pub use body::model::BodyModel;

use crate::ids::{BodyId, DeformableId, EmitterId, StaleId};
use contact_hook::ContactHook;
use deformable::model::{DeformableModel, Sheet};
use emitter::field::ForceField;
use emitter::model::EmitterModel;
use joint::constraint::Constraint;
use joint::model::{JointModel, Node};
use point::PointModel;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The constant part of a world.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// One per slot; removed bodies leave their slot with `alive == false`.
    pub bodies: Vec<BodyModel>,
    /// Slots to be used again, the last one first.
    pub free: Vec<u32>,
    /// Free point masses, one per slot.
    pub points: Vec<PointModel>,
    /// Slots of points to be used again, the last one first.
    pub points_free: Vec<u32>,
    /// Joints, one per slot.
    pub joints: Vec<JointModel>,
    /// Slots of joints to be used again, the last one first.
    pub joints_free: Vec<u32>,
    /// The user's own constraints, one per slot.
    pub constraints: Vec<ConstraintModel>,
    /// Slots of constraints to be used again, the last one first.
    pub constraints_free: Vec<u32>,
    /// Counts edits.
    pub revision: u64,
    /// Cloths and other deformable objects, one per slot.
    pub cloths: Vec<DeformableModel>,
    /// Slots of deformable objects to be used again, the last one first.
    pub free_cloths: Vec<u32>,
    /// All deformable objects as a step wants them.
    pub sheet: Arc<Sheet>,
    /// Emitters of particles, one per slot.
    pub emitters: Vec<EmitterModel>,
    /// Slots of emitters to be used again, the last one first.
    pub emitters_free: Vec<u32>,
    /// The user's own field, which acts on all particles.
    pub field: Option<Arc<dyn ForceField>>,
    /// The user's own say in contacts of bodies.
    pub contact_hook: Option<Arc<dyn ContactHook>>,
}

/// The constant part of a user's own constraint.
#[derive(Clone, Debug)]
pub struct ConstraintModel {
    /// How often the slot had been used before.
    pub generation: u32,
    /// The constraint; `None` in a slot that is not in use.
    pub constraint: Option<Arc<dyn Constraint>>,
    /// What it acts on, by slots.
    pub(crate) nodes: Vec<Node>,
}

impl Model {
    /// The slot that `id` names.
    pub fn slot(&self, id: BodyId) -> Result<usize, StaleId> {
        match self.bodies.get(id.index as usize) {
            Some(body) if body.alive && body.generation == id.generation => Ok(id.index as usize),
            _ => Err(StaleId::of(id)),
        }
    }

    /// The id of a slot in use.
    pub fn id(&self, slot: usize) -> BodyId {
        BodyId { index: slot as u32, generation: self.bodies[slot].generation }
    }

    /// The slot of the deformable object that `id` names.
    pub fn cloth_slot(&self, id: DeformableId) -> Result<usize, StaleId> {
        match self.cloths.get(id.index as usize) {
            Some(c) if c.alive && c.generation == id.generation => Ok(id.index as usize),
            _ => Err(StaleId::of(id)),
        }
    }

    /// The id of a deformable object's slot in use.
    pub fn cloth_id(&self, slot: usize) -> DeformableId {
        DeformableId { index: slot as u32, generation: self.cloths[slot].generation }
    }

    /// The slot of the emitter that `id` names.
    pub fn emitter_slot(&self, id: EmitterId) -> Result<usize, StaleId> {
        match self.emitters.get(id.index as usize) {
            Some(e) if e.alive && e.generation == id.generation => Ok(id.index as usize),
            _ => Err(StaleId::of(id)),
        }
    }

    /// A number that differs between models with different content: what a snapshot is checked
    /// against. Two worlds built by the same calls agree.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = crate::math::hash::BitHasher::default();
        hasher.write_u64(self.free.len() as u64);
        self.free.iter().for_each(|slot| slot.hash(&mut hasher));
        for body in &self.bodies {
            body.fingerprint(&mut hasher);
        }
        self.free_cloths.iter().for_each(|slot| slot.hash(&mut hasher));
        for cloth in &self.cloths {
            cloth.fingerprint(&mut hasher);
        }
        self.fingerprint_joints(&mut hasher);
        self.emitters_free.iter().for_each(|slot| slot.hash(&mut hasher));
        self.emitters.iter().for_each(|emitter| emitter.fingerprint(&mut hasher));
        if let Some(field) = &self.field {
            field.fingerprint().hash(&mut hasher);
        }
        if let Some(hook) = &self.contact_hook {
            (1u8, hook.fingerprint()).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn fingerprint_joints(&self, hasher: &mut crate::math::hash::BitHasher) {
        for free in [&self.points_free, &self.joints_free, &self.constraints_free] {
            free.hash(hasher);
        }
        if let Ok(bytes) = postcard::to_stdvec(&self.points) {
            hasher.write(&bytes);
        }
        self.joints.iter().for_each(|joint| joint.fingerprint(hasher));
        for slot in &self.constraints {
            slot.generation.hash(hasher);
            let content = slot.constraint.as_ref().map(|c| (c.rows(), c.fingerprint()));
            content.hash(hasher);
            if let Ok(bytes) = postcard::to_stdvec(&slot.nodes) {
                hasher.write(&bytes);
            }
        }
    }
}
