//! The world: build it, edit it, step it, read it, save and restore it.

mod as_simulator;
mod body_parts;
mod clock;
mod constraints;
mod contact_problem;
mod contacts;
mod debug_lines;
mod deformables;
mod edit;
mod events;
mod free_handles;
mod joints;
mod part;
mod particles;
mod points;
mod ports;
mod prescribed;
mod query;
mod record;
mod sheets;
mod step_constraint;
mod step_inputs;
mod store;
#[cfg(feature = "serde")]
mod store_serde;
mod streams;
mod tracked;
mod user_data;

use crate::ids::{AnyId, BodyId, StaleId};
use crate::math::{Pose, Twist, Vec3};
use crate::model::Model;
use crate::model::body::model::BodyModel;
use crate::model::body::{Body, BodyKind};
use crate::model::error::{BodyError, EditError, SettingsError, check_pose, check_vector};
use crate::model::settings::{Scheme, Settings};
use crate::parallel::loops::inside;
use crate::report::{Observer, StepError, StepReport};
use crate::state::State;
use crate::state::body::{BodyState, Push};
use crate::state::snapshot::{Snapshot, SnapshotError};
use crate::step;
use parry3d_f64::bounding_volume::BoundingVolume;
use std::collections::BTreeMap;
use tracked::Tracked;

pub use clock::StepClock;
pub use contact_problem::StepProblem;
pub use contacts::{BodyContact, TouchPoint};
pub use debug_lines::{DebugLine, DebugParts};
pub use events::{Listening, WorldEvent};
pub use part::Thing;
pub use particles::Particle;
pub use query::{Filter, PointHit, QueryError, Ray, RayHit, ShapeHit};
use record::{BodyRecord, Call};
pub use record::{CallRecording, ReplayError};
pub use store::{Attachments, LoadError};

/// Bodies, their state, and how they are stepped.
#[derive(Clone, Debug)]
#[doc(alias = "RigidBodySet")]
#[doc(alias = "ColliderSet")]
#[doc(alias = "PhysicsPipeline")]
pub struct World {
    model: Tracked<Model>,
    state: Tracked<State>,
    settings: Settings,
    /// Memory reused between steps; holds nothing that a step depends on.
    scratch: Scratch,
    step_model: step_inputs::StepModel,
    /// What other simulators asked for.
    ports: ports::Ports,
    /// What questions go through.
    asked: query::Kept,
    /// Of who listens.
    ears: Option<Box<events::Ears>>,
    user_data: BTreeMap<AnyId, u128>,
    /// Of who records.
    recorder: Option<Box<record::Recorder>>,
}

/// Memory of the stages of a step.
#[derive(Clone, Debug, Default)]
struct Scratch {
    rigid: step::rigid::Scratch,
    cloth: step::deformable::Scratch,
    streams: step::streams::step::Scratch,
    unified: step::unified::Scratch,
}

/// Worlds with fewer bodies, no cloth and no particles are stepped on the caller's thread.
const POOL_BODIES: usize = 64;

impl World {
    /// An empty world.
    pub fn new(settings: Settings) -> Result<World, SettingsError> {
        settings.check()?;
        Ok(World {
            model: Tracked::new(Model::default()),
            state: Tracked::new(State::default()),
            settings,
            scratch: Scratch::default(),
            step_model: step_inputs::StepModel::default(),
            ports: ports::Ports::default(),
            asked: query::Kept::default(),
            ears: None,
            user_data: BTreeMap::new(),
            recorder: None,
        })
    }

    /// Advances by `dt` seconds: a frame, or less. Steps much longer than bodies take to fall their
    /// own size stay finite, but what they show is not physics. On an error that is not about `dt` the world holds the failed state
    /// and refuses further steps until it is restored or the culprit is removed.
    pub fn step(&mut self, dt: f64) -> Result<StepReport, StepError> {
        self.step_observed(dt, &mut ())
    }

    /// [`World::step`], telling `observer` about its stages.
    pub fn step_observed(
        &mut self,
        dt: f64,
        observer: &mut dyn Observer,
    ) -> Result<StepReport, StepError> {
        self.note(|_| Call::Step(dt));
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::TimeStep(dt));
        }
        self.hear_before();
        // from outside of the pool every parallel loop would have to wake it and wait for it
        let small = self.model.bodies.len() < POOL_BODIES;
        let report = if small && self.model.sheet.is_empty() && self.model.emitters.is_empty() {
            self.step_here(dt, observer)
        } else {
            inside(|| self.step_here(dt, observer))
        };
        self.hear_after(dt);
        report
    }

    fn step_here(&mut self, dt: f64, observer: &mut dyn Observer) -> Result<StepReport, StepError> {
        let World { model, state, settings, scratch, step_model, ports, .. } = self;
        let (model, state): (&Model, &mut State) = (model, state);
        let seen = ports.begin(model, step_model, state, dt);
        let mut stages = Stages { model: seen, state, settings, scratch, ports };
        let report = match stages.settings.scheme {
            Scheme::Impulses => stages.run(dt, observer),
            Scheme::Unified => stages.run_unified(dt, observer),
        };
        let Stages { state, ports, .. } = stages;
        ports.end((model, seen), state, (dt, settings.gravity));
        report
    }

    // ----- building and editing -----

    /// Adds a body.
    pub fn add_body(&mut self, body: Body) -> Result<BodyId, BodyError> {
        self.note(|recorder| Call::AddBody(BodyRecord::of(&body, None, recorder)));
        let slot = self.model.free.last().copied();
        let generation = slot.map_or(0, |s| self.model.bodies[s as usize].generation + 1);
        let model = BodyModel::build(&body, generation)?;
        let rotation = body.pose.rotation.normalize();
        let mut state = BodyState {
            position: body.pose.translation + rotation * model.center,
            rotation,
            velocity: Twist { linear: body.linear_velocity, angular: body.angular_velocity },
            ..BodyState::default()
        };
        if let Some(pose) = model.motion.pose_at(self.state.time) {
            state.position = pose.translation + pose.rotation * model.center;
            state.rotation = pose.rotation;
        }
        self.model.revision += 1;
        let index = match slot {
            Some(slot) => {
                self.model.free.pop();
                self.model.bodies[slot as usize] = model;
                self.state.bodies[slot as usize] = state;
                slot
            }
            None => {
                self.model.bodies.push(model);
                self.state.bodies.push(state);
                (self.model.bodies.len() - 1) as u32
            }
        };
        self.wake_near(index as usize);
        Ok(BodyId { index, generation })
    }

    /// Removes a body and its joints; its id is refused from now on. What touched it wakes.
    pub fn remove_body(&mut self, id: BodyId) -> Result<(), StaleId> {
        self.note(|_| Call::RemoveBody(id));
        let slot = self.model.slot(id)?;
        self.wake_slot(slot);
        self.wake_touching(slot);
        self.drop_joints_of(crate::model::joint::model::Node::Body(id.index));
        self.state.contacts.retain(|c| c.key.a != id.index && c.key.b != id.index);
        self.state.cloth.touches.retain(|t| t.body != id.index);
        self.state.cloth.pairs.retain(|p| p.body != id.index);
        self.state.cloth.pushes.retain(|p| p.0 != id.index);
        self.state.streams.struck.retain(|s| s.body != id.index);
        self.model.bodies[slot].alive = false;
        self.model.free.push(id.index);
        self.model.revision += 1;
        self.state.bodies[slot] = BodyState::default();
        self.drop_user_data();
        Ok(())
    }

    /// Moves the body's origin and orientation. Velocities stay.
    pub fn set_pose(&mut self, id: BodyId, pose: Pose) -> Result<(), EditError> {
        self.note(|_| Call::SetPose(id, pose));
        let slot = self.model.slot(id)?;
        check_pose(&pose)?;
        self.check_free(slot)?;
        self.wake_slot(slot);
        self.wake_touching(slot);
        // impulses say nothing about where the body is put
        self.state.contacts.retain(|c| c.key.a != id.index && c.key.b != id.index);
        let rotation = pose.rotation.normalize();
        self.state.bodies[slot].position =
            pose.translation + rotation * self.model.bodies[slot].center;
        self.state.bodies[slot].rotation = rotation;
        self.wake_near(slot);
        Ok(())
    }

    /// Sets the velocity of the centre of mass (m/s) and the angular velocity (rad/s, world axes).
    pub fn set_velocity(&mut self, id: BodyId, velocity: Twist) -> Result<(), EditError> {
        self.note(|_| Call::SetVelocity(id, velocity));
        let slot = self.model.slot(id)?;
        check_vector("linear_velocity", velocity.linear)?;
        check_vector("angular_velocity", velocity.angular)?;
        self.check_free(slot)?;
        if self.model.bodies[slot].kind == BodyKind::Fixed && velocity != Twist::default() {
            return Err(BodyError {
                field: "linear_velocity",
                problem: "a fixed body cannot move; make it kinematic".into(),
            }
            .into());
        }
        self.wake_slot(slot);
        self.state.bodies[slot].velocity = velocity;
        Ok(())
    }

    /// Refuses to move by hand what follows keyframes.
    fn check_free(&self, slot: usize) -> Result<(), BodyError> {
        if self.model.bodies[slot].motion.keys.is_empty() {
            return Ok(());
        }
        Err(BodyError {
            field: "motion",
            problem: "the body follows its keyframes; add it without them to move it by hand"
                .into(),
        })
    }

    /// Adds a force (N) at a world point for the next step only.
    pub fn push(&mut self, id: BodyId, force: Vec3, point: Vec3) -> Result<(), EditError> {
        self.note(|_| Call::Push(id, force, point));
        let slot = self.model.slot(id)?;
        check_vector("force", force)?;
        check_vector("point", point)?;
        let torque = (point - self.state.bodies[slot].position).cross(force);
        self.add_push(slot, Push { force, torque })
    }

    /// Adds a torque (N·m, world axes) for the next step only.
    pub fn twist(&mut self, id: BodyId, torque: Vec3) -> Result<(), EditError> {
        self.note(|_| Call::Twist(id, torque));
        let slot = self.model.slot(id)?;
        check_vector("torque", torque)?;
        self.add_push(slot, Push { force: Vec3::ZERO, torque })
    }

    /// Applies an impulse (N·s) at a world point at once.
    pub fn apply_impulse(
        &mut self,
        id: BodyId,
        impulse: Vec3,
        point: Vec3,
    ) -> Result<(), EditError> {
        let slot = self.model.slot(id)?;
        check_vector("impulse", impulse)?;
        check_vector("point", point)?;
        let model = &self.model.bodies[slot];
        if !model.is_dynamic() {
            return Ok(());
        }
        let state = &self.state.bodies[slot];
        let mass = crate::model::body::mass::body_mass(model, state.rotation);
        let arm = (point - state.position).cross(impulse);
        let velocity = Twist {
            linear: state.velocity.linear + mass.inv_mass * impulse,
            angular: state.velocity.angular + mass.inv_inertia * arm,
        };
        self.set_velocity(id, velocity)
    }

    /// Wakes a body and the island it sleeps in.
    pub fn wake(&mut self, id: BodyId) -> Result<(), StaleId> {
        self.note(|_| Call::Wake(id));
        let slot = self.model.slot(id)?;
        self.wake_slot(slot);
        Ok(())
    }

    fn add_push(&mut self, slot: usize, push: Push) -> Result<(), EditError> {
        let old = self.state.bodies[slot].push;
        let sum = Push { force: old.force + push.force, torque: old.torque + push.torque };
        check_vector("force", sum.force)?;
        check_vector("torque", sum.torque)?;
        self.wake_slot(slot);
        self.state.bodies[slot].push = sum;
        Ok(())
    }

    fn wake_slot(&mut self, slot: usize) {
        let body = &mut self.state.bodies[slot];
        body.quiet = 0.0;
        // the rest of a sleeping island wakes in the next step, when contacts link it to this body
        body.asleep = false;
    }

    /// Wakes the sleepers that a body put into place may touch: one that does not move would never
    /// be found to.
    fn wake_near(&mut self, slot: usize) {
        // who has not moved yet has not gone to sleep: worlds are built in no more than their size
        if self.state.step == 0 {
            return;
        }
        let shape = &self.model.bodies[slot].shape;
        let bounds = shape.aabb(&self.slot_pose(slot)).loosened(0.05);
        for other in 0..self.model.bodies.len() {
            if self.state.bodies[other].asleep {
                let pose = self.slot_pose(other);
                if self.model.bodies[other].shape.aabb(&pose).intersects(&bounds) {
                    self.wake_slot(other);
                }
            }
        }
    }

    fn wake_touching(&mut self, slot: usize) {
        let State { contacts, bodies, .. } = &mut *self.state;
        for contact in contacts.iter().filter(|contact| contact.count > 0) {
            let (a, b) = (contact.key.a as usize, contact.key.b as usize);
            if a == slot || b == slot {
                for other in [a, b] {
                    bodies[other].asleep = false;
                    bodies[other].quiet = 0.0;
                }
            }
        }
    }

    // ----- reading -----

    /// Ids of all bodies, in slot order.
    pub fn bodies(&self) -> impl Iterator<Item = BodyId> + '_ {
        (0..self.model.bodies.len())
            .filter(|&i| self.model.bodies[i].alive)
            .map(|i| self.model.id(i))
    }

    /// Where the body's own origin is.
    pub fn pose(&self, id: BodyId) -> Result<Pose, StaleId> {
        let slot = self.model.slot(id)?;
        Ok(self.slot_pose(slot))
    }

    /// Velocity of the centre of mass and angular velocity.
    pub fn velocity(&self, id: BodyId) -> Result<Twist, StaleId> {
        Ok(self.state.bodies[self.model.slot(id)?].velocity)
    }

    /// Centre of mass in world coordinates, m.
    pub fn center(&self, id: BodyId) -> Result<Vec3, StaleId> {
        Ok(self.state.bodies[self.model.slot(id)?].position)
    }

    /// Whether the body sleeps.
    pub fn is_asleep(&self, id: BodyId) -> Result<bool, StaleId> {
        Ok(self.state.bodies[self.model.slot(id)?].asleep)
    }

    /// The constant part of a body.
    pub fn body(&self, id: BodyId) -> Result<&BodyModel, StaleId> {
        Ok(&self.model.bodies[self.model.slot(id)?])
    }

    pub(crate) fn slot_pose(&self, slot: usize) -> Pose {
        let state = &self.state.bodies[slot];
        let center = self.model.bodies[slot].center;
        Pose::from_parts(state.position - state.rotation * center, state.rotation)
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// The constant part.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The changing part.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes the settings and wakes everything; on an error the old ones stand.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), SettingsError> {
        self.note(|_| Call::SetSettings(settings));
        settings.check()?;
        if settings != self.settings {
            // what slept under the old settings may not rest under the new ones
            for body in &mut self.state.bodies {
                body.asleep = false;
                body.quiet = 0.0;
            }
        }
        self.settings = settings;
        Ok(())
    }

    /// A number that changes when any bit of the state changes.
    pub fn hash(&self) -> u64 {
        self.state.hash()
    }

    // ----- saving -----

    /// A checkpoint of the whole state.
    pub fn save(&self) -> Snapshot {
        Snapshot { state: State::clone(&self.state), model: self.model.fingerprint() }
    }

    /// Goes back to a checkpoint of this model; refused, with nothing changed, if it is of another.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        self.note(|recorder| Call::Restore(recorder.snapshot(snapshot.to_bytes())));
        if snapshot.model != self.model.fingerprint() {
            return Err(SnapshotError::OtherModel);
        }
        if !snapshot.state.fits(&self.model) {
            return Err(SnapshotError::Damaged("it names bodies or contacts that cannot be"));
        }
        State::clone_from(&mut self.state, &snapshot.state);
        self.ports.inputs.forget_pushes();
        self.prick_ears();
        Ok(())
    }

    /// Drops all scratch memory. Changes no result; exists so that tests can say so.
    pub fn drop_scratch(&mut self) {
        self.scratch = Scratch::default();
        self.step_model = step_inputs::StepModel::default();
    }
}

/// What the stages of a step read and change.
struct Stages<'a> {
    /// With what others ask for this step laid over it.
    model: &'a Model,
    state: &'a mut State,
    settings: &'a Settings,
    scratch: &'a mut Scratch,
    ports: &'a mut ports::Ports,
}

impl Stages<'_> {
    /// Bodies, then cloth, then particles. Prescribed bodies are on their way already.
    fn run(&mut self, dt: f64, observer: &mut dyn Observer) -> Result<StepReport, StepError> {
        let Stages { model, state, settings, scratch, ports } = self;
        let Scratch { rigid, cloth, streams, .. } = &mut **scratch;
        cloth.take_pushes(&mut ports.inputs.vertex_pushes);
        step::deformable::check_finite(model, state)?;
        step::streams::step::check_finite(model, state)?;
        streams.before_bodies(model, state, dt);
        cloth.before_bodies(model, state);
        let mut report = step::rigid::step(model, state, settings, dt, rigid, observer)?;
        ports.correct(model, state, dt, settings.substeps);
        step::deformable::step(model, state, settings, dt, cloth, &mut report, observer)?;
        let moving = (&mut **state, &mut ports.sheets);
        step::streams::step::step(model, moving, settings, dt, streams, &mut report, observer)?;
        Ok(report)
    }

    /// Everything together.
    fn run_unified(
        &mut self,
        dt: f64,
        observer: &mut dyn Observer,
    ) -> Result<StepReport, StepError> {
        let Stages { model, state, settings, scratch, ports } = self;
        if !(ports.inputs.prescribed.is_empty() && ports.sheet_ranges.is_empty()) {
            let what = "bodies and sheets that other simulators prescribe";
            return Err(StepError::Unsupported { scheme: "unified", what });
        }
        let Scratch { unified, streams, .. } = &mut **scratch;
        unified.take_pushes(&mut ports.inputs.vertex_pushes);
        step::streams::step::check_finite(model, state)?;
        streams.before_bodies(model, state, dt);
        let mut report = step::unified::step(model, state, settings, dt, unified, observer)?;
        let moving = (&mut **state, &mut ports.sheets);
        step::streams::step::step(model, moving, settings, dt, streams, &mut report, observer)?;
        Ok(report)
    }
}
