//! Where other simulators reach into a world: bodies that are led through a step.
//!
//! A led body moves through the step as someone outside said, and yet answers whatever touches it
//! with a mass that is given, too: for the length of the step it is a dynamic body of that mass,
//! driven by the steady force that leads from its start to its end. What it got from this world is
//! what its momentum has beyond that. Rigid contacts, joints and cloth all see an ordinary body.

use super::given::ToldList;
use crate::couple::{Follow, Met, Motion, Wrench};
use crate::ids::BodyId;
use crate::joint::geometry::side_pose;
use crate::math::{Mat3, Quat, Vec3};
use crate::model::Model;
use crate::model::body::mass::body_mass;
use crate::model::body::model::BodyModel;
use crate::model::body::{BodyKind, rotation};
use crate::model::joint::model::Node;
use crate::state::State;
use crate::state::body::BodyState;
use crate::step::streams::Foreign;

/// How much heavier than it is a body is taken to be whose motion is prescribed.
const HEAVY: f64 = 1e6;
/// Share of momenta that sums and differences of them lose.
const ROUNDING: f64 = 3e-14;

/// What other simulators asked of a world, and what they may ask back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    /// Bodies that stand for bodies of other simulators.
    pub obstacles: Vec<BodyId>,
    /// What each of them met in the last step.
    pub met: Vec<Option<Met>>,
    /// Bodies that are led through the next step.
    pub led: Vec<Led>,
    /// Forces on cloth vertices in the next step, N.
    pub vertex_pushes: Vec<(u32, Vec3)>,
    /// Force that prescribed bodies took in the last step, by slot.
    pub held: Vec<(u32, Wrench)>,
    /// Constraints told for the next step.
    pub told: ToldList,
    /// Sheets of other simulators that particles bounce off.
    pub sheets: Foreign,
    /// Vertices of each of them.
    pub sheet_ranges: Vec<std::ops::Range<usize>>,
    /// What `save` remembers.
    pub saved: State,
}

/// A body that is led through a step.
#[derive(Clone, Debug)]
pub(crate) struct Led {
    pub slot: u32,
    pub role: Role,
    pub start: Motion,
    pub end: Motion,
    /// Impulse of this world that `end` has counted already.
    pub counted: Wrench,
    /// Mass and inertia in world axes; `None`: nothing pushes it.
    pub response: Option<(f64, Mat3)>,
    /// What the model says of it outside this step.
    own: Option<Box<BodyModel>>,
    /// Momentum and angular momentum at the beginning, and what drives it over the step.
    momentum: Wrench,
    drive: Wrench,
    /// Angular impulse that it is owed and gets over the step, N·m·s.
    owed: Vec3,
}

/// Why a body is led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It stands for a body of another simulator.
    Obstacle(usize),
    /// It is this world's own, with a prescribed motion.
    Prescribed,
}

impl Led {
    pub fn obstacle(slot: u32, number: usize, follow: &Follow) -> Led {
        let response = follow.response.map(|r| (r.mass, r.inertia));
        let role = Role::Obstacle(number);
        Led::new(slot, role, (follow.start, follow.end), follow.counted, response)
    }

    pub fn prescribed(slot: u32, body: &BodyModel, start: Motion, end: Motion) -> Led {
        let r = Mat3::from_quat(start.rotation);
        let inertia = r * (body.inertia * HEAVY) * r.transpose();
        let response = Some((HEAVY * body.mass, inertia));
        Led::new(slot, Role::Prescribed, (start, end), Wrench::ZERO, response)
    }

    fn new(
        slot: u32,
        role: Role,
        (start, end): (Motion, Motion),
        counted: Wrench,
        response: Option<(f64, Mat3)>,
    ) -> Led {
        let (momentum, drive) = (Wrench::ZERO, Wrench::ZERO);
        let owed = Vec3::ZERO;
        Led { slot, role, start, end, counted, response, own: None, momentum, drive, owed }
    }

    /// Momentum of a motion, with the inertia of the body's own axes.
    fn momentum(body: &BodyModel, rotation: Quat, linear: Vec3, angular: Vec3) -> Wrench {
        let r = Mat3::from_quat(rotation);
        let spin = r * (body.inertia * (r.transpose() * angular));
        Wrench { force: body.mass * linear, torque: spin }
    }

    fn begin(&mut self, body: &mut BodyModel, now: &mut BodyState, dt: f64) {
        now.position = self.start.position;
        now.rotation = self.start.rotation;
        now.velocity = self.start.velocity;
        now.asleep = false;
        now.quiet = 0.0;
        let Some((mass, inertia)) = self.response else {
            let turn = self.end.rotation * self.start.rotation.conjugate();
            now.velocity.linear = (self.end.position - self.start.position) / dt;
            now.velocity.angular = crate::math::rotation_vector(turn) / dt;
            return;
        };
        self.own = Some(Box::new(body.clone()));
        let r = Mat3::from_quat(self.start.rotation);
        body.kind = BodyKind::Dynamic;
        body.mass = mass;
        body.inertia = r.transpose() * inertia * r;
        body.inv_inertia = body.inertia.inverse();
        body.isotropic = false;
        (body.linear_damping, body.angular_damping, body.gravity_scale) = (0.0, 0.0, 0.0);
        body.can_sleep = false;
        let of =
            |m: &Motion| Led::momentum(body, m.rotation, m.velocity.linear, m.velocity.angular);
        self.momentum = of(&self.start);
        self.drive = of(&self.end) - self.momentum - self.counted;
        now.push.force += self.drive.force / dt;
        now.push.torque += self.drive.torque / dt;
    }

    /// After the rigid step: a steady force leads elsewhere by a little than what moved it at its
    /// owner's, which may have stopped it at once. Left alone it must end where its owner has it.
    fn correct(&self, body: &BodyModel, now: &mut BodyState, dt: f64, substeps: u32) {
        if self.own.is_none() {
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

    /// Its orientation after substeps in which nothing but the drive and what it is owed turned it.
    fn left_alone(&self, body: &BodyModel, h: f64, count: u32) -> Quat {
        let (mut q, mut omega) = (self.start.rotation, self.start.velocity.angular);
        let torque = (self.drive.torque + self.owed) / (h * f64::from(count));
        for _ in 0..count {
            omega += body_mass(body, q).inv_inertia * (h * torque);
            let turned = rotation::advance(body, q, omega, h);
            omega = rotation::carry(body, (q, turned), omega);
            q = turned;
        }
        q
    }

    /// Takes back the mass and reads what it got.
    fn end(&mut self, body: &mut BodyModel, now: &BodyState) -> (Wrench, Option<Box<BodyModel>>) {
        let own = self.own.take();
        let mut got = Wrench::ZERO;
        if let Some(own) = &own {
            let (v, w) = (now.velocity.linear, now.velocity.angular);
            let ended = Led::momentum(body, now.rotation, v, w);
            got = ended - self.momentum - self.drive;
            // what differs from what was counted by rounding alone does not differ
            let scale = |w: &Wrench| [w.force.length(), w.torque.length()];
            let (a, b) = (scale(&ended), scale(&self.momentum));
            let (c, d) = (scale(&self.drive), scale(&(got - self.counted)));
            if (0..2).all(|k| d[k] <= ROUNDING * (a[k] + b[k] + c[k])) {
                got = self.counted;
            }
            *body = (**own).clone();
        }
        (got, own)
    }
}

impl Ports {
    /// Before a step: led bodies are put in place and driven, vertices pushed.
    pub fn begin(&mut self, model: &mut Model, state: &mut State, dt: f64) {
        for (particle, force) in self.vertex_pushes.drain(..) {
            let mass = model.sheet.elements.mass[particle as usize];
            state.particles.v[particle as usize] += dt / mass * force;
        }
        self.held.clear();
        self.met.iter_mut().for_each(|met| *met = None);
        for led in &mut self.led {
            let slot = led.slot as usize;
            let struck = &state.streams.struck;
            if let Ok(at) = struck.binary_search_by_key(&led.slot, |s| s.body) {
                led.owed = struck[at].angular;
            }
            led.begin(&mut model.bodies[slot], &mut state.bodies[slot], dt);
        }
        let pose = |node: Node| side_pose(state, node);
        self.told.begin(model, pose, (state.time, dt));
    }

    /// Between the rigid step and cloth.
    pub fn correct(&self, model: &Model, state: &mut State, dt: f64, substeps: u32) {
        for led in &self.led {
            let slot = led.slot as usize;
            led.correct(&model.bodies[slot], &mut state.bodies[slot], dt, substeps);
        }
    }

    /// After a step, successful or not.
    pub fn end(&mut self, model: &mut Model, state: &mut State, (dt, gravity): (f64, Vec3)) {
        self.told.end(model);
        for mut led in self.led.drain(..) {
            let slot = led.slot as usize;
            let now = &mut state.bodies[slot];
            let body = &mut model.bodies[slot];
            let (got, _) = led.end(body, now);
            match led.role {
                Role::Obstacle(number) => {
                    let end = motion(now);
                    self.met[number] = Some(Met { impulse: got, end });
                    if led.response.is_none() {
                        now.velocity = Default::default();
                    }
                }
                Role::Prescribed => {
                    let real = |m: &Motion| {
                        Led::momentum(body, m.rotation, m.velocity.linear, m.velocity.angular)
                    };
                    let mut force = (real(&motion(now)) - real(&led.start) - got).scaled(1.0 / dt);
                    force.force -= body.mass * body.gravity_scale * gravity;
                    self.held.push((led.slot, force));
                }
            }
        }
    }

    /// Forgets what was asked for the next step.
    pub fn forget(&mut self) {
        self.led.clear();
        self.vertex_pushes.clear();
        self.told.forget();
    }
}

/// Where a body is and how it moves.
pub(crate) fn motion(body: &BodyState) -> Motion {
    Motion { position: body.position, rotation: body.rotation, velocity: body.velocity }
}
