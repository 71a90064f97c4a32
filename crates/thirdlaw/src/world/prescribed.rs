//! A body whose motion through a step is prescribed.
//!
//! It moves through the step as someone outside said, and yet answers whatever touches it with a mass
//! that is prescribed, too: for the length of the step it is a dynamic body of that mass, driven by the
//! steady force that leads from its start to its end. What it got from this world is what its momentum
//! has beyond that. Rigid contacts, joints and cloth all see an ordinary body.

use crate::math::{Mat3, Quat, Vec3};
use crate::model::body::mass::body_mass;
use crate::model::body::model::BodyModel;
use crate::model::body::{BodyKind, rotation};
use crate::simulator::{Motion, ObstacleMotion, Wrench};
use crate::state::State;
use crate::state::body::BodyState;

/// How much heavier than it is a body is taken to be whose motion is prescribed.
const HEAVY: f64 = 1e6;
/// Share of momenta that sums and differences of them lose.
const ROUNDING: f64 = 3e-14;

/// A body whose motion through a step is prescribed.
#[derive(Clone, Debug)]
pub(crate) struct PrescribedBody {
    pub slot: u32,
    pub role: Role,
    pub start: Motion,
    pub end: Motion,
    /// Impulse of this world that `end` has counted already.
    pub counted: Wrench,
    /// Mass and inertia in world axes; `None`: nothing pushes it.
    pub response: Option<(f64, Mat3)>,
    /// Momentum and angular momentum at the beginning, and what drives it over the step.
    momentum: Wrench,
    drive: Wrench,
    /// Angular impulse that waits for it and acts over the step, N·m·s.
    pending: Vec3,
}

/// Why the motion of a body is prescribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It stands for a body of another simulator.
    Obstacle(usize),
    /// It is this world's own, with a prescribed motion.
    Prescribed,
}

impl PrescribedBody {
    pub fn obstacle(slot: u32, number: usize, motion: &ObstacleMotion) -> PrescribedBody {
        let response = motion.response.map(|r| (r.mass, r.inertia));
        let role = Role::Obstacle(number);
        PrescribedBody::new(slot, role, (motion.start, motion.end), motion.counted, response)
    }

    pub fn prescribed(slot: u32, body: &BodyModel, start: Motion, end: Motion) -> PrescribedBody {
        let r = Mat3::from_quat(start.rotation);
        let inertia = r * (body.inertia * HEAVY) * r.transpose();
        let response = Some((HEAVY * body.mass, inertia));
        PrescribedBody::new(slot, Role::Prescribed, (start, end), Wrench::ZERO, response)
    }

    fn new(
        slot: u32,
        role: Role,
        (start, end): (Motion, Motion),
        counted: Wrench,
        response: Option<(f64, Mat3)>,
    ) -> PrescribedBody {
        let (momentum, drive) = (Wrench::ZERO, Wrench::ZERO);
        let pending = Vec3::ZERO;
        PrescribedBody { slot, role, start, end, counted, response, momentum, drive, pending }
    }

    /// Momentum of a motion, with the inertia of the body's own axes.
    fn momentum(body: &BodyModel, rotation: Quat, linear: Vec3, angular: Vec3) -> Wrench {
        let r = Mat3::from_quat(rotation);
        let spin = r * (body.inertia * (r.transpose() * angular));
        Wrench { force: body.mass * linear, torque: spin }
    }

    /// Puts it where it begins.
    pub fn place(&mut self, state: &mut State, dt: f64) {
        let struck = &state.streams.struck;
        if let Ok(at) = struck.binary_search_by_key(&self.slot, |s| s.body) {
            self.pending = struck[at].angular;
        }
        let now = &mut state.bodies[self.slot as usize];
        now.position = self.start.position;
        now.rotation = self.start.rotation;
        now.velocity = self.start.velocity;
        now.asleep = false;
        now.quiet = 0.0;
        if self.response.is_none() {
            let turn = self.end.rotation * self.start.rotation.conjugate();
            now.velocity.linear = (self.end.position - self.start.position) / dt;
            now.velocity.angular = crate::math::rotation_vector(turn) / dt;
        }
    }

    /// Makes it a body of its response for the step.
    pub fn lay_over(&self, body: &mut BodyModel) {
        let Some((mass, inertia)) = self.response else { return };
        let r = Mat3::from_quat(self.start.rotation);
        body.kind = BodyKind::Dynamic;
        body.mass = mass;
        body.inertia = r.transpose() * inertia * r;
        body.inv_inertia = body.inertia.inverse();
        body.isotropic = false;
        (body.linear_damping, body.angular_damping, body.gravity_scale) = (0.0, 0.0, 0.0);
        body.can_sleep = false;
    }

    /// Drives it from its start to its end; `body` is of its response.
    pub fn drive(&mut self, body: &BodyModel, now: &mut BodyState, dt: f64) {
        if self.response.is_none() {
            return;
        }
        let of = |m: &Motion| {
            PrescribedBody::momentum(body, m.rotation, m.velocity.linear, m.velocity.angular)
        };
        self.momentum = of(&self.start);
        self.drive = of(&self.end) - self.momentum - self.counted;
        now.push.force += self.drive.force / dt;
        now.push.torque += self.drive.torque / dt;
    }

    /// After the rigid step: a steady force leads elsewhere by a little than what moved it at its
    /// owner's, which may have stopped it at once. Left alone it must end where its owner has it.
    pub fn correct(&self, body: &BodyModel, now: &mut BodyState, dt: f64, substeps: u32) {
        if self.response.is_none() {
            return;
        }
        let count = substeps.max(1);
        let share = 0.5 * (1.0 + 1.0 / f64::from(count));
        let (v, w) = (self.start.velocity.linear, self.end.velocity.linear);
        let here = self.start.position + dt * (v + share * (w - v));
        now.position += self.end.position - here;
        let turned = self.left_alone(body, dt / f64::from(count), count);
        let before = now.rotation;
        now.rotation = match before == turned {
            true => self.end.rotation,
            false => (self.end.rotation * turned.conjugate() * before).normalize(),
        };
        now.velocity.angular = rotation::carry(body, (before, now.rotation), now.velocity.angular);
    }

    /// Its orientation after substeps in which nothing but the drive and what waited for it turned it.
    fn left_alone(&self, body: &BodyModel, h: f64, count: u32) -> Quat {
        let (mut q, mut omega) = (self.start.rotation, self.start.velocity.angular);
        let torque = (self.drive.torque + self.pending) / (h * f64::from(count));
        for _ in 0..count {
            omega += body_mass(body, q).inv_inertia * (h * torque);
            let turned = rotation::advance(body, q, omega, h);
            omega = rotation::carry(body, (q, turned), omega);
            q = turned;
        }
        q
    }

    /// What it got in the step; `body` is of its response.
    pub fn got(&self, body: &BodyModel, now: &BodyState) -> Wrench {
        if self.response.is_none() {
            return Wrench::ZERO;
        }
        let (v, w) = (now.velocity.linear, now.velocity.angular);
        let ended = PrescribedBody::momentum(body, now.rotation, v, w);
        let got = ended - self.momentum - self.drive;
        // what differs from what was counted by rounding alone does not differ
        let scale = |w: &Wrench| [w.force.length(), w.torque.length()];
        let (a, b) = (scale(&ended), scale(&self.momentum));
        let (c, d) = (scale(&self.drive), scale(&(got - self.counted)));
        let same = (0..2).all(|k| d[k] <= ROUNDING * (a[k] + b[k] + c[k]));
        if same { self.counted } else { got }
    }

    /// The mean force that its motion took beyond what acts on it anyway; `body` is the user's.
    pub fn force(&self, body: &BodyModel, now: &BodyState, got: Wrench, dt: f64) -> Wrench {
        let of = |m: &Motion| {
            PrescribedBody::momentum(body, m.rotation, m.velocity.linear, m.velocity.angular)
        };
        (of(&motion(now)) - of(&self.start) - got).scaled(1.0 / dt)
    }
}

/// Where a body is and how it moves.
pub(crate) fn motion(body: &BodyState) -> Motion {
    Motion { position: body.position, rotation: body.rotation, velocity: body.velocity }
}
