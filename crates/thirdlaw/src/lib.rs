//! Thirdlaw: a physics engine in which everything pushes back.
//!
//! The engine crate holds all physics and nothing else: it reads no files, prints nothing, owns no
//! clock, and answers bad input with a typed error instead of a panic. State is `f64`, SI units,
//! y up; the same calls give the same bits for any number of threads.

pub mod body;
pub mod cloth;
pub mod collide;
pub mod contact;
pub mod couple;
pub mod deformable;
pub mod energy;
pub mod error;
pub mod ids;
pub mod joint;
pub mod math;
pub mod measure;
pub mod model;
pub mod particle;
pub mod point;
mod rigid;
mod scheme;
pub mod settings;
pub mod shape;
pub mod snapshot;
pub mod solve;
pub mod state;
pub mod world;

pub use body::{
    AxisLocks, Body, BodyKind, Combine, Force, Groups, Keyframe, Keyframes, Mass, Material,
};
pub use cloth::{Bending, Cloth, ClothError, ClothMesh, Fabric};
pub use deformable::{Deformable, DeformableError, Hold, Pin, SurfaceMaterial};
pub use error::{BodyError, EditError, SettingsError, SnapshotError, StepError};
pub use ids::{
    BodyId, ClothId, DeformableId, EmitterId, JointId, PointId, StaleDeformable, StaleId,
};
pub use joint::{Axis, Drive, Enforcement, Joint, JointError, JointKind, JointReading, Side};
pub use math::{Mat3, Pose, Quat, Twist, Vec3};
pub use particle::{Emitter, EmitterError, ForceField, Source, StaleEmitter, Stream};
pub use point::{Point, PointError};
pub use settings::{
    ClothForces, ClothSettings, ClothSolver, ContactSettings, Precision, Preconditioner, Settings,
};
pub use shape::Shape;
pub use snapshot::Snapshot;
pub use world::{Observer, Stage, StepProblem, StepReport, World};

/// The examples of the README and of the book, compiled and run.
#[cfg(doctest)]
pub mod read {
    #[doc = include_str!("../../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../../docs/book/src/index.md")]
    pub struct Index;
    #[doc = include_str!("../../../docs/book/src/contact.md")]
    pub struct Contact;
    #[doc = include_str!("../../../docs/book/src/joints.md")]
    pub struct Joints;
    #[doc = include_str!("../../../docs/book/src/cloth.md")]
    pub struct Cloth;
    #[doc = include_str!("../../../docs/book/src/determinism.md")]
    pub struct Determinism;
    #[doc = include_str!("../../../docs/book/src/couple.md")]
    pub struct Couple;
    #[doc = include_str!("../../../docs/book/src/particles.md")]
    pub struct Particles;
}
