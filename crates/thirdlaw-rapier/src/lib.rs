//! Rapier behind Thirdlaw's black-box interface.
//!
//! [`RapierWorld`] wraps the published `rapier3d`, untouched: its bodies are handles, forces and
//! impulses reach them, its colliders are surfaces that others may follow, and its state is saved,
//! restored and written as bytes. [`RapierWorld::from_world`] builds the same bodies, shapes and
//! materials in Rapier that a Thirdlaw world has, for comparisons.
//!
//! Rapier computes in `f32`: what crosses the interface is exact to about seven digits.

mod build;
mod shape;

pub use build::Unsupported;
pub use rapier3d;

use rapier3d::math::{Pose as Pose32, Vector};
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, ColliderSet, ImpulseJointSet, IslandManager, MultibodyJointSet,
    NarrowPhase, PhysicsPipeline, PhysicsWorld, RigidBody, RigidBodyHandle, RigidBodySet,
    SoftBodySet,
};
use thirdlaw::math::rotation_from_vector;
use thirdlaw::simulator::{
    ContactSurface, HandleResponse, Motion, Simulator, SimulatorFailure, Wrench,
};
use thirdlaw::{Combine, Mat3, Material, Pose, Quat, Twist, Vec3};

/// A Rapier world as a simulator. Its handles are its rigid bodies in the order of Rapier's own
/// handles; add or remove bodies before it is coupled.
pub struct RapierWorld {
    /// Rapier, untouched.
    pub world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
    saved: Option<Box<Saved>>,
}

/// All of Rapier that a step changes; its workspaces hold nothing that a step depends on.
#[derive(Clone)]
struct Saved {
    islands: IslandManager,
    broad_phase: BroadPhaseBvh,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    soft_bodies: SoftBodySet,
}

/// Vectors of Thirdlaw as Rapier's.
pub fn narrow(v: Vec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

/// Vectors of Rapier as Thirdlaw's.
pub fn wide(v: Vector) -> Vec3 {
    Vec3::new(f64::from(v.x), f64::from(v.y), f64::from(v.z))
}

fn wide_rotation(q: rapier3d::math::Rotation) -> Quat {
    Quat::from_xyzw(f64::from(q.x), f64::from(q.y), f64::from(q.z), f64::from(q.w)).normalize()
}

impl RapierWorld {
    /// Takes a Rapier world as it is.
    pub fn new(mut world: PhysicsWorld) -> RapierWorld {
        let handles: Vec<RigidBodyHandle> = world.bodies.iter().map(|(handle, _)| handle).collect();
        for handle in &handles {
            // Rapier would do so in its first step only
            if let Some(body) = world.bodies.get_mut(*handle) {
                body.recompute_mass_properties_from_colliders(&world.colliders);
            }
        }
        RapierWorld { world, handles, saved: None }
    }

    /// The handle of a body.
    pub fn handle(&self, body: RigidBodyHandle) -> Option<usize> {
        self.handles.iter().position(|h| *h == body)
    }

    /// A body by its number.
    pub fn body(&self, handle: usize) -> Option<&RigidBody> {
        self.world.bodies.get(*self.handles.get(handle)?)
    }

    fn body_mut(&mut self, handle: usize) -> Option<&mut RigidBody> {
        self.world.bodies.get_mut(*self.handles.get(handle)?)
    }

    fn material(collider: &rapier3d::prelude::Collider) -> Material {
        use rapier3d::prelude::CoefficientCombineRule as Rule;
        let rule = |rule: Rule| match rule {
            Rule::Average => Combine::Average,
            Rule::Min => Combine::Minimum,
            Rule::Multiply => Combine::Multiply,
            _ => Combine::Maximum,
        };
        Material {
            friction: f64::from(collider.friction()),
            restitution: f64::from(collider.restitution()).clamp(0.0, 1.0),
            friction_combine: rule(collider.friction_combine_rule()),
            restitution_combine: rule(collider.restitution_combine_rule()),
            ..Material::default()
        }
    }
}

impl Simulator for RapierWorld {
    fn handle_count(&self) -> usize {
        self.handles.len()
    }

    fn read(&self, handle: usize) -> Motion {
        let Some(body) = self.body(handle) else {
            return Motion::point(Vec3::NAN, Vec3::NAN);
        };
        let velocity = Twist { linear: wide(body.linvel()), angular: wide(body.angvel()) };
        let rotation = wide_rotation(*body.rotation());
        Motion { position: wide(body.center_of_mass()), rotation, velocity }
    }

    fn push(&mut self, handle: usize, wrench: Wrench) {
        if let Some(body) = self.body_mut(handle) {
            body.add_force(narrow(wrench.force), true);
            body.add_torque(narrow(wrench.torque), true);
        }
    }

    fn step(&mut self, dt: f64) -> Result<(), SimulatorFailure> {
        self.world.integration_parameters.dt = dt as f32;
        self.world.step();
        // Rapier keeps forces until they are taken away
        for handle in &self.handles {
            if let Some(body) = self.world.bodies.get_mut(*handle)
                && body.is_dynamic()
            {
                body.reset_forces(false);
                body.reset_torques(false);
            }
        }
        Ok(())
    }

    fn save(&mut self) {
        let world = &self.world;
        self.saved = Some(Box::new(Saved {
            islands: world.islands.clone(),
            broad_phase: world.broad_phase.clone(),
            narrow_phase: world.narrow_phase.clone(),
            bodies: world.bodies.clone(),
            colliders: world.colliders.clone(),
            impulse_joints: world.impulse_joints.clone(),
            multibody_joints: world.multibody_joints.clone(),
            soft_bodies: world.soft_bodies.clone(),
        }));
    }

    fn restore(&mut self) {
        if let Some(saved) = self.saved.clone() {
            let world = &mut self.world;
            world.physics_pipeline = PhysicsPipeline::new();
            world.ccd_solver = CCDSolver::new();
            world.islands = saved.islands;
            world.broad_phase = saved.broad_phase;
            world.narrow_phase = saved.narrow_phase;
            world.bodies = saved.bodies;
            world.colliders = saved.colliders;
            world.impulse_joints = saved.impulse_joints;
            world.multibody_joints = saved.multibody_joints;
            world.soft_bodies = saved.soft_bodies;
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.world).unwrap_or_default()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SimulatorFailure> {
        let world: PhysicsWorld = postcard::from_bytes(bytes)?;
        let handles: Vec<RigidBodyHandle> = world.bodies.iter().map(|(handle, _)| handle).collect();
        if handles != self.handles {
            return Err(SimulatorFailure(
                "the bytes belong to a Rapier world with other bodies".into(),
            ));
        }
        self.world = world;
        Ok(())
    }

    fn kick(&mut self, handle: usize, impulse: Wrench) -> bool {
        match self.body_mut(handle) {
            Some(body) if body.is_dynamic() => {
                if impulse != Wrench::ZERO {
                    body.apply_impulse(narrow(impulse.force), true);
                    body.apply_torque_impulse(narrow(impulse.torque), true);
                }
                true
            }
            _ => false,
        }
    }

    fn shift(&mut self, handle: usize, way: Vec3, turn: Vec3) -> bool {
        match self.body_mut(handle) {
            Some(body) if body.is_dynamic() => {
                if way != Vec3::ZERO || turn != Vec3::ZERO {
                    let center = wide(body.center_of_mass()) + way;
                    let turned = rotation_from_vector(turn) * wide_rotation(*body.rotation());
                    let local = wide(body.local_center_of_mass());
                    let pose = Pose::from_parts(center - turned * local, turned);
                    body.set_position(shape::narrow_pose(&pose), true);
                }
                true
            }
            _ => false,
        }
    }

    fn response(&self, handle: usize) -> Option<HandleResponse> {
        let body = self.body(handle)?;
        if !body.is_dynamic() {
            return None;
        }
        let local = &body.mass_properties().local_mprops;
        let columns = local.reconstruct_inertia_matrix().to_cols_array().map(f64::from);
        let r = Mat3::from_quat(wide_rotation(*body.rotation()));
        let inertia = r * Mat3::from_cols_array(&columns) * r.transpose();
        let substeps = self.world.integration_parameters.num_solver_iterations.max(1);
        let reach = 0.5 * (1.0 + 1.0 / substeps as f64);
        Some(HandleResponse { mass: f64::from(body.mass()), inertia, reach })
    }

    fn surfaces(&self) -> Vec<ContactSurface> {
        let mut surfaces = Vec::new();
        for (handle, id) in self.handles.iter().enumerate() {
            let Some(body) = self.world.bodies.get(*id) else { continue };
            for collider in body.colliders() {
                let Some(collider) = self.world.colliders.get(*collider) else { continue };
                let local = collider.position_wrt_parent().copied().unwrap_or(Pose32::IDENTITY);
                let Some(shape) = shape::widen(collider.shape(), &local) else { continue };
                surfaces.push(ContactSurface {
                    handle,
                    shape,
                    center: wide(body.local_center_of_mass()),
                    material: Self::material(collider),
                    dynamic: body.is_dynamic(),
                });
            }
        }
        surfaces
    }
}
