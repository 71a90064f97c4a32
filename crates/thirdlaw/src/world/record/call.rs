//! The calls that change a world, with what they were given.

use super::BodyRecord;
use crate::ids::{
    AnyId, BodyId, ConstraintId, DeformableId, EmitterId, JointId, ParticleId, PointId,
};
use crate::math::{Pose, Twist, Vec3};
use crate::model::deformable::{Deformable, Hold};
use crate::model::emitter::Emitter;
use crate::model::joint::axis::Axis;
use crate::model::joint::description::Joint;
use crate::model::joint::drive::Drive;
use crate::model::point::Point;
use crate::model::settings::Settings;
use crate::shape::Shape;
use crate::state::snapshot::Snapshot;
use crate::world::World;
use crate::world::store::{Attachments, LoadError};
use serde::{Deserialize, Serialize};

/// A call. What others are made of, such as [`World::set_friction`], is recorded as what it does.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
pub(in crate::world) enum Call {
    Step(f64),
    SetSettings(Settings),
    Restore(u32),
    AddBody(BodyRecord),
    EditBody(BodyId, BodyRecord),
    RemoveBody(BodyId),
    SetPose(BodyId, Pose),
    SetVelocity(BodyId, Twist),
    Push(BodyId, Vec3, Vec3),
    Twist(BodyId, Vec3),
    Wake(BodyId),
    Sleep(BodyId),
    SetDamping(BodyId, f64, f64),
    SetGravityScale(BodyId, f64),
    SetCanSleep(BodyId, bool),
    AddJoint(Joint),
    EditJoint(JointId, Joint),
    RemoveJoint(JointId),
    SetJointEnabled(JointId, bool),
    SetDrive(JointId, Axis, Option<Drive>),
    SetDriveTarget(JointId, Axis, f64, f64),
    CountTurns(JointId, Axis, f64),
    AddPoint(Point),
    RemovePoint(PointId),
    SetPoint(PointId, Vec3, Vec3),
    PushPoint(PointId, Vec3),
    AddDeformable(Deformable),
    RemoveDeformable(DeformableId),
    SetVertex(DeformableId, u32, Vec3, Vec3),
    PinParticle(ParticleId, Hold),
    UnpinParticle(ParticleId),
    AddEmitter(Emitter),
    RemoveEmitter(EmitterId),
    SetParticle(EmitterId, u64, Vec3, Vec3),
    SetParticleMotion(ParticleId, Vec3, Vec3),
    PushParticle(ParticleId, Vec3),
    SetUserData(AnyId, u128),
    AddConstraint(String),
    RemoveConstraint(ConstraintId),
    SetForceField(Option<String>),
    SetContactHook(Option<String>),
    /// Something that a coupling did.
    Driven(String),
}

impl Call {
    /// Makes the call. What it is refused, it was refused before.
    pub fn make(
        &self,
        world: &mut World,
        (shapes, snapshots): (&[Shape], &[Vec<u8>]),
        code: &Attachments,
    ) -> Result<(), LoadError> {
        let _refused = match self {
            Call::Step(dt) => world.step(*dt).is_err(),
            Call::SetSettings(settings) => world.set_settings(*settings).is_err(),
            Call::Restore(place) => {
                let bytes = snapshots.get(*place as usize).ok_or(LoadError::Layout)?;
                let snapshot = Snapshot::from_bytes(bytes).map_err(|_| LoadError::Layout)?;
                world.restore(&snapshot).is_err()
            }
            Call::AddBody(body) => {
                world.add_body(body.body(shapes, None).ok_or(LoadError::Layout)?).is_err()
            }
            Call::EditBody(id, change) => {
                let was = world.describe(*id).map_err(|_| LoadError::Layout)?;
                let body = change.body(shapes, Some(&was)).ok_or(LoadError::Layout)?;
                world.edit_body(*id, |now| *now = body).is_err()
            }
            Call::RemoveBody(id) => world.remove_body(*id).is_err(),
            Call::SetPose(id, pose) => world.set_pose(*id, *pose).is_err(),
            Call::SetVelocity(id, velocity) => world.set_velocity(*id, *velocity).is_err(),
            Call::Push(id, force, point) => world.push(*id, *force, *point).is_err(),
            Call::Twist(id, torque) => world.twist(*id, *torque).is_err(),
            Call::Wake(id) => world.wake(*id).is_err(),
            Call::Sleep(id) => world.sleep(*id).is_err(),
            Call::SetDamping(id, x, y) => world.set_damping(*id, *x, *y).is_err(),
            Call::SetGravityScale(id, factor) => world.set_gravity_scale(*id, *factor).is_err(),
            Call::SetCanSleep(id, can) => world.set_can_sleep(*id, *can).is_err(),
            _ => return self.make_other(world, code),
        };
        Ok(())
    }

    /// Those that are not about bodies.
    fn make_other(&self, world: &mut World, code: &Attachments) -> Result<(), LoadError> {
        let _refused = match self {
            Call::AddJoint(joint) => world.add_joint(joint.clone()).is_err(),
            Call::EditJoint(id, joint) => {
                world.edit_joint(*id, |now| now.clone_from(joint)).is_err()
            }
            Call::RemoveJoint(id) => world.remove_joint(*id).is_err(),
            Call::SetJointEnabled(id, enabled) => world.set_joint_enabled(*id, *enabled).is_err(),
            Call::SetDrive(id, axis, drive) => world.set_drive(*id, *axis, drive.clone()).is_err(),
            Call::SetDriveTarget(id, axis, position, velocity) => {
                world.set_drive_target(*id, *axis, *position, *velocity).is_err()
            }
            Call::CountTurns(id, axis, near) => world.count_turns(*id, *axis, *near).is_err(),
            Call::AddPoint(point) => world.add_point(*point).is_err(),
            Call::RemovePoint(id) => world.remove_point(*id).is_err(),
            Call::SetPoint(id, x, v) => world.set_point(*id, *x, *v).is_err(),
            Call::PushPoint(id, force) => world.push_point(*id, *force).is_err(),
            Call::AddDeformable(object) => {
                let mut object = object.clone();
                code.attach_laws(object.energies_mut())?;
                world.add_deformable(object).is_err()
            }
            Call::RemoveDeformable(id) => world.remove_deformable(*id).is_err(),
            Call::SetVertex(id, vertex, x, v) => world.set_vertex(*id, *vertex, *x, *v).is_err(),
            Call::PinParticle(id, hold) => world.pin_particle(*id, hold.clone()).is_err(),
            Call::UnpinParticle(id) => world.unpin_particle(*id).is_err(),
            Call::AddEmitter(emitter) => world.add_emitter(emitter.clone()).is_err(),
            Call::RemoveEmitter(id) => world.remove_emitter(*id).is_err(),
            Call::SetParticle(id, index, x, v) => {
                world.set_particle(*id, *index as usize, *x, *v).is_err()
            }
            Call::SetParticleMotion(id, x, v) => world.set_particle_motion(*id, *x, *v).is_err(),
            Call::PushParticle(id, force) => world.push_particle(*id, *force).is_err(),
            Call::SetUserData(id, data) => world.set_user_data(*id, *data).is_err(),
            Call::AddConstraint(name) => world.add_constraint(code.constraint_of(name)?).is_err(),
            Call::RemoveConstraint(id) => world.remove_constraint(*id).is_err(),
            Call::SetForceField(name) => {
                world.set_force_field(name.as_ref().map(|name| code.field_of(name)).transpose()?);
                false
            }
            Call::SetContactHook(name) => {
                world.set_contact_hook(name.as_ref().map(|name| code.hook_of(name)).transpose()?);
                false
            }
            // the others are about bodies, and what a coupling did is refused before
            _ => false,
        };
        Ok(())
    }
}
