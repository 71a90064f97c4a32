//! Names for things in a world: an index and the generation of its slot.
//!
//! A slot is used again after a removal with the next generation, so an id kept from before is
//! refused instead of silently naming another body.

use serde::{Deserialize, Serialize};

/// Names one rigid body of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BodyId {
    /// Slot in the world's arrays.
    pub index: u32,
    /// How often that slot had been used before.
    pub generation: u32,
}

impl std::fmt::Display for BodyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "body {}v{}", self.index, self.generation)
    }
}

/// Names one joint of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JointId {
    /// Slot in the world's arrays.
    pub index: u32,
    /// How often that slot had been used before.
    pub generation: u32,
}

impl std::fmt::Display for JointId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "joint {}v{}", self.index, self.generation)
    }
}

/// Names one free point mass of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PointId {
    /// Slot in the world's arrays.
    pub index: u32,
    /// How often that slot had been used before.
    pub generation: u32,
}

impl std::fmt::Display for PointId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "point {}v{}", self.index, self.generation)
    }
}

/// Names one emitter of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EmitterId {
    /// Slot in the world's arrays.
    pub index: u32,
    /// How often that slot had been used before.
    pub generation: u32,
}

impl std::fmt::Display for EmitterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "emitter {}v{}", self.index, self.generation)
    }
}

/// The id names a body that was removed, or that was never in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleId(pub BodyId);

impl std::fmt::Display for StaleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not exist (any more) in this world", self.0)
    }
}

impl std::error::Error for StaleId {}

/// Names one deformable object of one world: a cloth, or whatever else has elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeformableId {
    /// Slot in the world's arrays.
    pub index: u32,
    /// How often that slot had been used before.
    pub generation: u32,
}

impl std::fmt::Display for DeformableId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "deformable {}v{}", self.index, self.generation)
    }
}

/// The id of a deformable object that was added as a cloth.
pub type ClothId = DeformableId;

/// The id names a deformable object that was removed, or that was never in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleDeformable(pub DeformableId);

impl std::fmt::Display for StaleDeformable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not exist (any more) in this world", self.0)
    }
}

impl std::error::Error for StaleDeformable {}

/// The id names an emitter that was removed, or that was never in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleEmitter(pub EmitterId);

impl std::fmt::Display for StaleEmitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not exist (any more) in this world", self.0)
    }
}

impl std::error::Error for StaleEmitter {}

/// Names one constraint of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstraintId {
    /// Slot in the world's arrays.
    pub index: u32,
    /// How often that slot had been used before.
    pub generation: u32,
}
