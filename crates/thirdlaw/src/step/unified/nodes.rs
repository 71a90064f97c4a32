//! Everything that moves as one list of nodes: rigid bodies by slot, point masses by slot, then the particles of
//! all deformable objects. A particle is a body that does not turn, I⁻¹ = 0 [shinar2008 §4; "infinite inertia tensor" in
//! the print]. Bodies that nothing pushes, and held particles, have no response at all.
//!
//! Two velocities live side by side: `v`, of time n, which collisions and post-stabilization change and
//! step V takes on; and `half`, of time n + ½, which contact changes, and which moves positions and is
//! then dropped.

use super::span::Span;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Pose, Quat, Twist, Vec3};
use crate::model::Model;
use crate::model::body::BodyKind;
use crate::model::body::mass::body_mass;
use crate::model::body::model::BodyModel;
use crate::model::deformable::model::PinHold;
use crate::state::State;
use crate::step::rigid::kinematic::keyframe_velocity;

/// All bodies and particles.
#[derive(Debug, Default)]
pub struct Nodes {
    /// How many of the nodes are bodies or point masses, which elements do not join; slots that are not in use
    /// are among them.
    pub bodies: usize,
    /// Centres of mass, and particles, m.
    pub x: Vec<Vec3>,
    /// Orientations of bodies; point masses keep theirs.
    pub rotation: Vec<Quat>,
    /// What each puts up against impulses, in world axes.
    pub mass: Vec<BodyMass>,
    /// Velocities of time n.
    pub v: Vec<Twist>,
    /// Velocities of time n + ½.
    pub half: Vec<Twist>,
}

/// What a set of velocities is called in the signatures of stages.
pub type Velocities = [Twist];

impl Nodes {
    /// Takes in the state at the beginning of a substep.
    pub fn gather(&mut self, model: &Model, state: &State, span: &Span) {
        self.bodies = model.bodies.len() + model.points.len();
        self.x.clear();
        self.rotation.clear();
        self.v.clear();
        for (body, now) in model.bodies.iter().zip(&state.bodies) {
            self.x.push(now.position);
            self.rotation.push(now.rotation);
            let prescribed = body.alive && body.kind == BodyKind::Kinematic;
            self.v.push(match body.motion.keys.is_empty() {
                false if prescribed => keyframe_velocity(body, now, span.end(), span.dt),
                _ => now.velocity,
            });
        }
        for point in state.points.iter() {
            self.x.push(point.position);
            self.rotation.push(Quat::IDENTITY);
            self.v.push(Twist { linear: point.velocity, angular: Vec3::ZERO });
        }
        self.x.extend_from_slice(&state.particles.x);
        let particles = state.particles.v.iter();
        self.v.extend(particles.map(|&linear| Twist { linear, angular: Vec3::ZERO }));
        for (particle, hold) in &model.sheet.pins {
            let i = self.bodies + *particle as usize;
            let to = match hold {
                PinHold::Place(at) => *at,
                PinHold::Path { motion, local } => match motion.pose_at(span.end()) {
                    Some(pose) => pose * *local,
                    None => continue,
                },
                PinHold::Body { .. } | PinHold::Directions(_) => continue,
            };
            self.v[i].linear = (to - self.x[i]) / span.dt;
        }
        self.half.clone_from(&self.v);
        self.weigh(model);
    }

    /// The responses in the orientations of now.
    pub fn weigh(&mut self, model: &Model) {
        self.mass.clear();
        let bodies = model.bodies.iter().zip(&self.rotation);
        self.mass.extend(bodies.map(|(body, rotation)| body_mass(body, *rotation)));
        let particle =
            |m: &f64| BodyMass { inv_mass: Vec3::splat(1.0 / m), inv_inertia: Mat3::ZERO };
        self.mass.extend(model.points.iter().map(|point| match point.alive {
            true => particle(&point.mass),
            false => BodyMass::default(),
        }));
        self.mass.extend(model.sheet.elements.mass.iter().map(particle));
        for (particle, hold) in &model.sheet.pins {
            if !matches!(hold, PinHold::Body { .. }) {
                self.mass[self.bodies + *particle as usize] = BodyMass::default();
            }
        }
    }

    /// Pose of a body's own origin.
    pub fn pose(&self, slot: usize, body: &BodyModel) -> Pose {
        let rotation = self.rotation[slot];
        Pose::from_parts(self.x[slot] - rotation * body.center, rotation)
    }

    /// Writes the end of a substep into the state.
    pub fn write(&self, model: &Model, state: &mut State, span: &Span) {
        for slot in 0..model.points.len() {
            let node = model.bodies.len() + slot;
            state.points.particles.x[slot] = self.x[node];
            state.points.particles.v[slot] = self.v[node].linear;
        }
        for (slot, now) in state.bodies.iter_mut().enumerate() {
            (now.position, now.rotation) = (self.x[slot], self.rotation[slot]);
            now.velocity = self.v[slot];
            (now.asleep, now.quiet) = (false, 0.0);
            let body = &model.bodies[slot];
            if let (true, Some(pose)) = (body.alive, body.motion.pose_at(span.end())) {
                now.position = pose.translation + pose.rotation * body.center;
                now.rotation = pose.rotation;
            }
        }
        state.particles.x.copy_from_slice(&self.x[self.bodies..]);
        for (v, twist) in state.particles.v.iter_mut().zip(&self.v[self.bodies..]) {
            *v = twist.linear;
        }
    }
}
