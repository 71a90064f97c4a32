//! Thirdlaw: a physics engine in which everything pushes back.
//!
//! The engine crate holds all physics and nothing else: it reads no files, prints nothing, owns no
//! clock, and answers bad input with a typed error instead of a panic. State is `f64`, SI units,
//! y up; the same calls give the same bits for any number of threads.
//!
//! Begin with [`World`] and `use thirdlaw::prelude::*;`. A world is asked by [`World::cast_ray`] and its
//! siblings, read by [`World::contacts`], listened to by [`World::listen`], changed by
//! [`World::edit_body`], and saved by [`World::to_bytes`]. [`StepClock`] makes steps of one length of frames
//! of any. The programs in `examples/` are short.
//!
//! # Features
//!
//! - `parallel` (default): large worlds are stepped by several threads, those of the rayon pool that
//!   [`World::step`] is called in (`pool.install(|| world.step(dt))`), or of rayon's own. Without it nothing
//!   of rayon is built in and everything runs on the caller's thread, with the same bits.
//! - `serde`: [`World`] and [`Snapshot`] are `Serialize` and `Deserialize`. Ids, settings, materials, joints and
//!   parts are so always.
//! - `mint`: vectors, rotations and matrices convert from and to the types of `mint`.
//! - `f32`: `math::single` converts to single precision and back, for pictures.

#![deny(missing_docs)]
#![deny(missing_debug_implementations)]
#![cfg_attr(test, allow(unused_must_use))]

pub mod contact;
pub mod control;
pub mod couple;
pub mod energy;
pub mod ids;
mod joint;
pub mod math;
pub mod measure;
pub mod model;
mod parallel;
pub mod prelude;
mod report;
pub mod shape;
mod simd;
pub mod simulator;
pub mod state;
mod step;
mod world;

// for the benchmarks and the viewers of this project; they change without notice
#[doc(hidden)]
pub mod collide;
#[doc(hidden)]
pub mod linalg;

#[cfg(feature = "mint")]
pub use mint;

pub use control::{
    Chain, Character, CharacterSettings, Footing, Pid, PidGains, Reach, Vehicle, Wheel,
    WheelSettings,
};
pub use energy::solid::{EnergyDensity, SolidLaw, SolidMaterial};
pub use ids::{
    AnyId, BodyId, ClothId, ConstraintId, DeformableId, EmitterId, JointId, PartId, ParticleId,
    ParticleOwner, PointId, StaleId,
};
pub use math::{Mat3, Pose, Quat, Twist, Vec3};
pub use model::body::part::BodyPart;
pub use model::body::{
    AxisLocks, Body, BodyKind, Combine, Force, Groups, Keyframe, Keyframes, Mass, Material,
};
pub use model::cloth::{Bending, Cloth, ClothError, ClothMesh, Fabric};
pub use model::contact_hook::{ContactHook, HookedBody, HookedContact};
pub use model::deformable::{
    Bond, BondPlace, BondSpring, Deformable, DeformableError, Hold, Pin, SurfaceMaterial,
};
pub use model::emitter::{Emitter, EmitterError, ForceField, Source};
pub use model::error::{BodyError, EditError, SettingsError};
pub use model::joint::{
    Axis, AxisMode, AxisSettings, Constraint, Drive, DriveKey, Enforcement, Frame, Joint,
    JointError, JointKind, JointSettings, JointSolve, Limits, Member, MemberState, Side, Spring,
    Target,
};
pub use model::point::{Point, PointError};
pub use model::settings::{
    ClothForces, ClothSettings, ClothSolver, ContactSettings, FrictionModel, Paths, Precision,
    Preconditioner, Scheme, SelfCollision, Settings, Solver, UnifiedSettings, VelocityRule,
};
pub use model::solid::{MeshQuality, Skin, SolidMesh};
pub use report::{Observer, PathCounts, SolvePath, Stage, StepError, StepReport};
pub use shape::{ConvexSurface, Shape};
pub use state::joint::JointReading;
pub use state::snapshot::{Snapshot, SnapshotError};
pub use state::stream::Stream;
pub use world::{
    Attachments, BodyContact, CallRecording, DebugLine, DebugParts, Filter, Listening, LoadError,
    Particle, PointHit, QueryError, Ray, RayHit, ReplayError, ShapeHit, StepClock, StepProblem,
    Thing, TouchPoint, World, WorldEvent,
};

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
    #[doc = include_str!("../../../docs/book/src/controllers.md")]
    pub struct Controllers;
    #[doc = include_str!("../../../docs/book/src/rapier.md")]
    pub struct Rapier;
    #[doc = include_str!("../../../docs/book/src/particles.md")]
    pub struct Particles;
}
