//! The bodies of a Thirdlaw world, built in Rapier.

use crate::shape::{narrow_pose, narrowed};
use crate::{RapierWorld, narrow};
use rapier3d::prelude::{
    CoefficientCombineRule, ColliderBuilder, GenericJointBuilder, Group, InteractionGroups,
    InteractionTestMode, JointAxesMask, JointAxis, LockedAxes, MassProperties, PhysicsWorld,
    RigidBodyBuilder, RigidBodyHandle,
};
use thirdlaw::model::BodyModel;
use thirdlaw::{BodyId, BodyKind, Combine, JointKind, Side, World};

/// Something of a world that has no counterpart in Rapier, or none that is built here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What.
    pub what: &'static str,
    /// Which body, if it is about one.
    pub body: Option<BodyId>,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.body {
            Some(body) => write!(f, "{} of {body} cannot be built in Rapier", self.what),
            None => write!(f, "{} cannot be built in Rapier", self.what),
        }
    }
}

impl std::error::Error for Unsupported {}

impl RapierWorld {
    /// The rigid bodies of a world in Rapier at its default settings: the same shapes, masses,
    /// materials, groups, damping, locks, poses and velocities, handle `i` for the i-th body alive.
    /// Joints that hold coordinates become impulse joints with the same limits. Refused where the world
    /// has other joints, drives, springs or friction in joints, cloth, point masses, emitters, forces or
    /// keyframes.
    pub fn from_world(world: &World) -> Result<RapierWorld, Unsupported> {
        let refuse = |what| Err(Unsupported { what, body: None });
        let model = world.model();
        if world.cloths().next().is_some() {
            return refuse("cloth");
        }
        if world.emitters().next().is_some() {
            return refuse("an emitter");
        }
        if world.points().next().is_some() {
            return refuse("a point mass");
        }
        let mut rapier =
            PhysicsWorld { gravity: narrow(world.settings().gravity), ..PhysicsWorld::default() };
        let mut handles = Vec::new();
        for id in world.bodies() {
            let slot = id.index as usize;
            let body = &model.bodies[slot];
            let state = &world.state().bodies[slot];
            let refuse = |what| Unsupported { what, body: Some(id) };
            if !body.motion.keys.is_empty() {
                return Err(refuse("the path"));
            }
            if !body.forces.is_empty() {
                return Err(refuse("a lasting force"));
            }
            let shape = narrowed(&**body.shape.parry()).ok_or(refuse("the shape"))?;
            let turned = state.rotation * body.center;
            let pose = thirdlaw::Pose::from_parts(state.position - turned, state.rotation);
            let builder = match body.kind {
                BodyKind::Dynamic => RigidBodyBuilder::dynamic(),
                BodyKind::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
                BodyKind::Fixed => RigidBodyBuilder::fixed(),
            };
            let mut builder = builder
                .pose(narrow_pose(&pose))
                .linvel(narrow(state.velocity.linear))
                .angvel(narrow(state.velocity.angular))
                .linear_damping(body.linear_damping as f32)
                .angular_damping(body.angular_damping as f32)
                .gravity_scale(body.gravity_scale as f32)
                .locked_axes(locks(body))
                .can_sleep(body.can_sleep && world.settings().sleeping);
            if body.kind == BodyKind::Dynamic {
                builder = builder.additional_mass_properties(mass(body));
            }
            let material = &body.material;
            let collider = ColliderBuilder::new(shape)
                .density(0.0)
                .friction(material.friction as f32)
                .restitution(material.restitution as f32)
                .friction_combine_rule(rule(material.friction_combine))
                .restitution_combine_rule(rule(material.restitution_combine))
                .collision_groups(InteractionGroups::new(
                    Group::from_bits_retain(body.groups.member),
                    Group::from_bits_retain(body.groups.collides),
                    InteractionTestMode::And,
                ));
            handles.push((id, rapier.insert(builder, collider).0));
        }
        add_joints(world, &mut rapier, &handles)?;
        Ok(RapierWorld::new(rapier))
    }
}

/// Builds all joints; those to the world hold on to a fixed body of their own, after all others.
fn add_joints(
    world: &World,
    rapier: &mut PhysicsWorld,
    handles: &[(BodyId, RigidBodyHandle)],
) -> Result<(), Unsupported> {
    let refuse = |what| Unsupported { what, body: None };
    let mut ground = None;
    for id in world.joints() {
        let joint = world.joint(id).map_err(|_| refuse("a joint"))?;
        let plain = matches!(
            joint.joint.kind,
            JointKind::Fixed | JointKind::Ball | JointKind::Hinge | JointKind::Slider
        );
        let acts = |axis: &thirdlaw::AxisSettings| {
            axis.drive.is_some() || axis.spring.is_some() || axis.friction > 0.0
        };
        if !plain || joint.joint.axes.iter().any(acts) {
            return Err(refuse("a joint of this kind, or one that acts by itself,"));
        }
        let frames = joint.frames();
        let mut ends = Vec::new();
        for (side, (anchor, basis)) in [joint.joint.a, joint.joint.b].into_iter().zip(frames) {
            let (handle, center) = match side {
                Side::Body(body) => {
                    let found = handles.binary_search_by_key(&body, |(id, _)| *id);
                    let found = found.map_err(|_| refuse("a joint"))?;
                    (handles[found].1, world.model().bodies[body.index as usize].center)
                }
                Side::World => {
                    let fixed = || rapier.insert_body(RigidBodyBuilder::fixed());
                    (*ground.get_or_insert_with(fixed), Default::default())
                }
                Side::Point(_) => return Err(refuse("a point mass")),
            };
            ends.push((handle, thirdlaw::Pose::from_parts(center + anchor, basis)));
        }
        let axes = [
            JointAxis::LinX,
            JointAxis::LinY,
            JointAxis::LinZ,
            JointAxis::AngX,
            JointAxis::AngY,
            JointAxis::AngZ,
        ];
        let held = axes.iter().zip(joint.held()).filter(|(_, held)| *held);
        let mask = held.fold(JointAxesMask::empty(), |sum, (axis, _)| sum | (*axis).into());
        let mut builder = GenericJointBuilder::new(mask)
            .local_frame1(narrow_pose(&ends[0].1))
            .local_frame2(narrow_pose(&ends[1].1))
            .contacts_enabled(joint.joint.collide);
        for (axis, settings) in axes.into_iter().zip(&joint.joint.axes) {
            if let Some(limits) = settings.limits {
                builder = builder.limits(axis, [limits.lower as f32, limits.upper as f32]);
            }
        }
        rapier.insert_impulse_joint(ends[0].0, ends[1].0, builder);
    }
    Ok(())
}

fn mass(body: &BodyModel) -> MassProperties {
    let columns = body.inertia.to_cols_array().map(|x| x as f32);
    let inertia = rapier3d::math::Matrix::from_cols_array(&columns);
    MassProperties::with_inertia_matrix(narrow(body.center), body.mass as f32, inertia)
}

/// Rapier has no geometric mean; between equal frictions it is the average.
fn rule(combine: Combine) -> CoefficientCombineRule {
    match combine {
        Combine::GeometricMean | Combine::Average => CoefficientCombineRule::Average,
        Combine::Multiply => CoefficientCombineRule::Multiply,
        Combine::Minimum => CoefficientCombineRule::Min,
        Combine::Maximum => CoefficientCombineRule::Max,
    }
}

fn locks(body: &BodyModel) -> LockedAxes {
    let all = [
        (body.locks.translation[0], LockedAxes::TRANSLATION_LOCKED_X),
        (body.locks.translation[1], LockedAxes::TRANSLATION_LOCKED_Y),
        (body.locks.translation[2], LockedAxes::TRANSLATION_LOCKED_Z),
        (body.locks.rotation[0], LockedAxes::ROTATION_LOCKED_X),
        (body.locks.rotation[1], LockedAxes::ROTATION_LOCKED_Y),
        (body.locks.rotation[2], LockedAxes::ROTATION_LOCKED_Z),
    ];
    let locked = all.into_iter().filter(|(locked, _)| *locked);
    locked.fold(LockedAxes::empty(), |sum, (_, axis)| sum | axis)
}
