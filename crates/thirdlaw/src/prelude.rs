//! What most programs need: `use thirdlaw::prelude::*;`.
//!
//! ```
//! use thirdlaw::prelude::*;
//! let mut world = World::new(Settings::default())?;
//! world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
//! let ball = world.add_body(Body::dynamic(Shape::sphere(0.5)?).at(0.0, 3.0, 0.0))?;
//! for _ in 0..120 {
//!     let _report = world.step(1.0 / 60.0)?;
//! }
//! assert!((world.pose(ball)?.translation.y - 0.5).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::{
    AnyId, Attachments, Axis, AxisLocks, AxisMode, Body, BodyContact, BodyId, BodyKind, BodyPart,
    CallRecording, Character, CharacterSettings, Cloth, ClothId, ClothMesh, Combine, Constraint,
    ConstraintId, ContactHook, ConvexSurface, DebugLine, DebugParts, Deformable, DeformableId,
    Drive, EditError, Emitter, EmitterId, Fabric, Filter, Footing, Force, ForceField, Frame,
    Groups, Hold, HookedBody, HookedContact, Joint, JointId, JointKind, Keyframe, Keyframes,
    Limits, Listening, LoadError, Mass, Mat3, Material, Observer, PartId, Particle, ParticleId,
    Pin, Point, PointHit, PointId, Pose, Quat, QueryError, Ray, RayHit, Settings, Shape, ShapeHit,
    Side, Snapshot, SolidLaw, SolidMaterial, SolidMesh, Source, StaleId, StepClock, StepError,
    StepReport, SurfaceMaterial, Target, TouchPoint, Twist, Vec3, Vehicle, Wheel, WheelSettings,
    World, WorldEvent,
};
