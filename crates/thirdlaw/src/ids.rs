//! Names for things in a world: an index and the generation of its slot.
//!
//! A slot is used again after a removal with the next generation, so an id kept from before is
//! refused instead of silently naming another body: by [`StaleId`], whatever it named.

use serde::{Deserialize, Serialize};

/// Types of ids, one for each kind of thing, and [`AnyId`] over all of them.
macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident $kind:ident $name:literal;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
            pub struct $id {
                /// Slot in the world's arrays.
                pub index: u32,
                /// How often that slot had been used before.
                pub generation: u32,
            }

            impl std::fmt::Display for $id {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    write!(f, concat!($name, " {}v{}"), self.index, self.generation)
                }
            }

            impl From<$id> for AnyId {
                fn from(id: $id) -> AnyId {
                    AnyId::$kind(id)
                }
            }
        )*

        /// The id of anything in a world.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum AnyId {
            $($(#[$doc])* $kind($id),)*
            /// Names one particle of one world.
            Particle(ParticleId),
            /// Names one part of one body.
            Part(PartId),
        }

        impl std::fmt::Display for AnyId {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(AnyId::$kind(id) => id.fmt(f),)*
                    AnyId::Particle(id) => id.fmt(f),
                    AnyId::Part(id) => id.fmt(f),
                }
            }
        }
    };
}

ids! {
    /// Names one rigid body of one world.
    BodyId Body "body";
    /// Names one joint of one world.
    JointId Joint "joint";
    /// Names one free point mass of one world.
    PointId Point "point";
    /// Names one deformable object of one world: a cloth, or whatever else has elements.
    DeformableId Deformable "deformable";
    /// Names one emitter of one world.
    EmitterId Emitter "emitter";
    /// Names one constraint of one world.
    ConstraintId Constraint "constraint";
}

/// The id of a deformable object that was added as a cloth.
pub type ClothId = DeformableId;

/// To whom a particle belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ParticleOwner {
    /// It is a vertex of a deformable object.
    Deformable(DeformableId),
    /// It is a free point mass.
    Point(PointId),
    /// It came out of an emitter.
    Emitter(EmitterId),
}

/// Names one particle of one world, whatever owns it. It names the same one while others come and go, and
/// is refused when that one is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ParticleId {
    /// To whom it belongs.
    pub owner: ParticleOwner,
    /// Which one: of a vertex its number within the object, of an emitter's particle its number in the
    /// order of births, of a free point its slot.
    pub number: u64,
}

impl ParticleId {
    /// Of a vertex of a deformable object.
    pub fn vertex(object: DeformableId, vertex: u32) -> ParticleId {
        ParticleId { owner: ParticleOwner::Deformable(object), number: vertex.into() }
    }

    /// Of an emitter's particle, by its number in the order of births.
    pub fn emitted(emitter: EmitterId, number: u64) -> ParticleId {
        ParticleId { owner: ParticleOwner::Emitter(emitter), number }
    }
}

impl From<PointId> for ParticleId {
    fn from(id: PointId) -> ParticleId {
        ParticleId { owner: ParticleOwner::Point(id), number: id.index.into() }
    }
}

impl From<ParticleId> for AnyId {
    fn from(id: ParticleId) -> AnyId {
        AnyId::Particle(id)
    }
}

impl std::fmt::Display for ParticleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.number;
        match self.owner {
            ParticleOwner::Deformable(owner) => write!(f, "vertex {number} of {owner}"),
            ParticleOwner::Point(owner) => owner.fmt(f),
            ParticleOwner::Emitter(owner) => write!(f, "particle {number} of {owner}"),
        }
    }
}

/// Names one shape of one body. It names the same one while others come and go, and is refused when that
/// one is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[doc(alias = "ColliderHandle")]
pub struct PartId {
    /// Of which body.
    pub body: BodyId,
    /// Which one: 0 is the shape that the body was made with; no number is used twice.
    pub number: u32,
}

impl From<PartId> for AnyId {
    fn from(id: PartId) -> AnyId {
        AnyId::Part(id)
    }
}

impl std::fmt::Display for PartId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "part {} of {}", self.number, self.body)
    }
}

impl AnyId {
    /// The body that it names, if it names one.
    pub fn body(self) -> Option<BodyId> {
        match self {
            AnyId::Body(id) => Some(id),
            _ => None,
        }
    }

    /// The cloth or other deformable object that it names, if it names one.
    pub fn deformable(self) -> Option<DeformableId> {
        match self {
            AnyId::Deformable(id) => Some(id),
            _ => None,
        }
    }
}

/// The id names something that was removed, or that was never in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleId(pub AnyId);

impl StaleId {
    /// Of an id of any kind.
    pub fn of(id: impl Into<AnyId>) -> StaleId {
        StaleId(id.into())
    }
}

impl std::fmt::Display for StaleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} does not exist (any more) in this world", self.0)
    }
}

impl std::error::Error for StaleId {}
