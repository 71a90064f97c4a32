//! The bodies of a Thirdlaw world, built in Rapier.

use crate::shape::{narrow_pose, narrowed};
use crate::{RapierWorld, narrow};
use rapier3d::prelude::{
    CoefficientCombineRule, ColliderBuilder, Group, InteractionGroups, InteractionTestMode,
    LockedAxes, MassProperties, PhysicsWorld, RigidBodyBuilder,
};
use thirdlaw::model::BodyModel;
use thirdlaw::{BodyId, BodyKind, Combine, World};

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
    /// Refused where the world has joints, cloth, point masses, emitters, forces or keyframes.
    pub fn from_world(world: &World) -> Result<RapierWorld, Unsupported> {
        let refuse = |what| Err(Unsupported { what, body: None });
        let model = world.model();
        if world.joints().next().is_some() {
            return refuse("a joint");
        }
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
            rapier.insert(builder, collider);
        }
        Ok(RapierWorld::new(rapier))
    }
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
