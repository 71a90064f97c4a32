//! The bodies of a pile through the substeps: forces, positions, what contacts did to them.

use super::bundle::{Line, Padded, quad};
use super::pack::Place;
use super::share::Shared;
use crate::body::BodyKind;
use crate::math::{Mat3, Quat, Twist, Vec3, rotation_from_vector};
use crate::model::BodyModel;
use crate::rigid::{mass, rotation};
use crate::scheme::kinematic::move_kinematic;
use crate::scheme::substep::{LocalBody, Setting, external_force};
use crate::state::BodyState;

/// All lines of an island: the world, its dynamic bodies, then the others it touches.
#[derive(Debug, Default)]
pub struct Lines {
    pub velocity: Vec<Line>,
    /// Way and turn since the step began.
    pub moved: Vec<Line>,
    /// Velocity that the body would have without this substep's contacts.
    pub free: Vec<Line>,
    pub inv_mass: Vec<Padded>,
    pub places: Vec<Place>,
    pub movers: Vec<Mover>,
    /// Bodies that are not dynamic, at the end of the substep.
    pub led: Vec<(u32, BodyState)>,
}

/// What moves a dynamic body in a substep.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    pub slot: u32,
    /// Orientation before and after the substep; of a body whose inertia is the same about every
    /// axis only that of the beginning.
    before: Quat,
    after: Quat,
    /// What gravity and steady pushes add in a substep.
    gain: Twist,
    /// Shares that damping leaves.
    kept: [f64; 2],
    /// Whether its inertia turns with it.
    turns: bool,
    /// Whether locks or timed forces ask for more than `gain`.
    special: bool,
}

impl Lines {
    /// Takes over the bodies of an island.
    pub fn gather(&mut self, setting: Setting, slots: &[u32], others: &[u32]) {
        let (model, state, settings, dt) = setting;
        let h = dt / f64::from(settings.substeps);
        let count = 1 + slots.len() + others.len();
        self.velocity.clear();
        self.velocity.resize(count, Line::default());
        self.moved.clear();
        self.moved.resize(count, Line::default());
        self.free.clear();
        self.free.resize(count, Line::default());
        self.inv_mass.clear();
        self.inv_mass.resize(count, Padded::default());
        self.places.clear();
        self.places.resize(count, Place::WORLD);
        self.movers.clear();
        self.led.clear();
        for (i, &slot) in slots.iter().chain(others).enumerate() {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            let mass = mass::body_mass(body, now.rotation);
            self.velocity[i + 1] = Line::new(now.velocity.linear, now.velocity.angular);
            self.inv_mass[i + 1] = Padded(quad(mass.inv_mass));
            self.places[i + 1] = Place {
                position: now.position,
                rotation: Mat3::from_quat(now.rotation),
                mass,
                reach: body.reach,
            };
            if i >= slots.len() {
                self.led.push((slot, *now));
                continue;
            }
            let push = &now.push;
            self.movers.push(Mover {
                slot,
                before: now.rotation,
                after: now.rotation,
                gain: Twist {
                    linear: h * (body.gravity_scale * settings.gravity)
                        + h * (mass.inv_mass * push.force),
                    angular: h * (mass.inv_inertia * push.torque),
                },
                kept: [body.linear_damping, body.angular_damping].map(|c| 1.0 / (1.0 + h * c)),
                turns: !body.isotropic,
                special: !body.forces.is_empty() || body.locks != Default::default(),
            });
        }
    }
}

fn add(to: &mut Line, line: &Line, k: f64) {
    for x in 0..3 {
        to.linear[x] += k * line.linear[x];
        to.angular[x] += k * line.angular[x];
    }
}

/// The bodies of one chunk.
pub struct Some<'a> {
    pub velocity: &'a mut [Line],
    pub moved: &'a mut [Line],
    pub free: &'a mut [Line],
    pub movers: &'a mut [Mover],
}

/// The lines of dynamic bodies, shared by the threads of a stage.
pub struct SharedLines<'a> {
    pub velocity: Shared<'a, Line>,
    pub moved: Shared<'a, Line>,
    pub free: Shared<'a, Line>,
    pub movers: Shared<'a, Mover>,
    pub led: Shared<'a, (u32, BodyState)>,
}

/// Bodies that a thread takes at a time.
pub const CHUNK: usize = 256;

impl SharedLines<'_> {
    /// Velocities of the bodies that follow a path, and where they are at the end of a substep.
    ///
    /// # Safety
    /// Nobody else reads or changes lines meanwhile.
    pub unsafe fn lead(&self, setting: Setting, substep: u32) {
        let (model, state, settings, dt) = setting;
        let h = dt / f64::from(settings.substeps);
        let first = self.movers.len() + 1;
        let lines = first..first + self.led.len();
        // SAFETY: the caller's
        let (velocity, moved, led) = unsafe {
            (
                self.velocity.range(lines.clone()),
                self.moved.range(lines),
                self.led.range(0..self.led.len()),
            )
        };
        for ((velocity, moved), (slot, now)) in velocity.iter_mut().zip(moved).zip(led) {
            let body = &model.bodies[*slot as usize];
            if body.kind == BodyKind::Kinematic {
                // its way up to the beginning of this substep
                if substep > 0 {
                    add(moved, velocity, h);
                }
                move_kinematic(body, now, state.time, dt, (substep, settings.substeps));
                *velocity = Line::new(now.velocity.linear, now.velocity.angular);
            }
        }
    }

    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        self.movers.len().div_ceil(CHUNK)
    }

    /// The bodies of a chunk.
    ///
    /// # Safety
    /// Nobody else reads or changes them meanwhile.
    pub unsafe fn chunk(&self, chunk: usize) -> Some<'_> {
        let (start, end) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(self.movers.len()));
        // SAFETY: the caller's; lines begin with the world's
        unsafe {
            Some {
                velocity: self.velocity.range(start + 1..end + 1),
                moved: self.moved.range(start + 1..end + 1),
                free: self.free.range(start + 1..end + 1),
                movers: self.movers.range(start..end),
            }
        }
    }
}

impl Some<'_> {
    /// v⁰ = v + h M⁻¹f, plus what contacts did in the substep before: with the arms of the whole step
    /// that is what its impulses would do again.
    pub fn begin(&mut self, setting: Setting, substep: u32) {
        for (i, mover) in self.movers.iter_mut().enumerate() {
            let (velocity, free) = (&mut self.velocity[i], &mut self.free[i]);
            let mut contact = *velocity;
            if substep == 0 {
                contact = Line::default();
            } else {
                add(&mut contact, free, -1.0);
            }
            *free = mover.flight(setting, substep, velocity, &self.moved[i]);
            *velocity = *free;
            add(velocity, &contact, 1.0);
        }
    }

    /// x ← x + h v^p.
    pub fn advance(&mut self, setting: Setting) {
        let (model, _, settings, dt) = setting;
        let h = dt / f64::from(settings.substeps);
        for (i, mover) in self.movers.iter_mut().enumerate() {
            add(&mut self.moved[i], &self.velocity[i], h);
            if mover.turns {
                let body = &model.bodies[mover.slot as usize];
                mover.before = mover.after;
                mover.after = rotation::advance(body, mover.before, self.velocity[i].angular(), h);
            }
        }
    }

    /// Hands a body back.
    pub fn finish(&self, setting: Setting, i: usize, out: &mut BodyState) {
        let mover = &self.movers[i];
        let body = &setting.0.bodies[mover.slot as usize];
        out.position += self.moved[i].linear();
        out.rotation = mover.orientation(&self.moved[i]);
        out.velocity = mover.carried(body, &self.velocity[i]);
        mass::unlock_velocity(&mut out.velocity, body.locks);
    }
}

impl Mover {
    /// Velocity after the forces of a substep.
    fn flight(&self, setting: Setting, substep: u32, velocity: &Line, moved: &Line) -> Line {
        let (model, state, settings, dt) = setting;
        let mut v = Twist { linear: velocity.linear(), angular: velocity.angular() };
        let body = &model.bodies[self.slot as usize];
        if substep > 0 && self.turns {
            v = self.carried(body, velocity);
        }
        v.linear += self.gain.linear;
        v.angular += self.gain.angular;
        if self.special {
            let h = dt / f64::from(settings.substeps);
            let time = state.time + f64::from(substep) * h;
            let rotation = self.orientation(moved);
            let local = LocalBody { slot: self.slot, position: Vec3::ZERO, rotation };
            let (force, torque) = external_force(body, &local, time, h);
            let mass = mass::body_mass(body, rotation);
            v.linear += h * (mass.inv_mass * force);
            v.angular += h * (mass.inv_inertia * torque);
            mass::unlock_velocity(&mut v, body.locks);
        }
        Line::new(self.kept[0] * v.linear, self.kept[1] * v.angular)
    }

    fn orientation(&self, moved: &Line) -> Quat {
        if self.turns {
            return self.after;
        }
        (rotation_from_vector(moved.angular()) * self.before).normalize()
    }

    /// The velocity in the orientation after the substep, with the same angular momentum.
    fn carried(&self, body: &BodyModel, velocity: &Line) -> Twist {
        let (linear, mut angular) = (velocity.linear(), velocity.angular());
        if self.turns {
            angular = rotation::carry(body, (self.before, self.after), angular);
        }
        Twist { linear, angular }
    }
}

impl Place {
    /// What does not move.
    const WORLD: Place = Place {
        position: Vec3::ZERO,
        rotation: Mat3::IDENTITY,
        mass: crate::contact::BodyMass { inv_mass: Vec3::ZERO, inv_inertia: Mat3::ZERO },
        reach: f64::INFINITY,
    };
}
