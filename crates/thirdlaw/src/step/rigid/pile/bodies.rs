//! The bodies of a pile through the substeps: forces, positions, what contacts did to them.

use super::bundle::{Line, Padded, quad};
use super::joints::padded;
use super::pack::{Place, lower};
use crate::math::{Mat3, Quat, Twist, Vec3, rotation_from_vector};
use crate::model::body::model::BodyModel;
use crate::model::body::{BodyKind, mass, rotation};
use crate::parallel::pool::prelude::*;
use crate::parallel::share::Shared;
use crate::state::body::BodyState;
use crate::step::rigid::kinematic::move_kinematic;
use crate::step::rigid::substep::{LocalBody, Setting, external_force};
use std::ops::Range;

/// All lines of a pile: the world, its dynamic bodies, then the others they touch.
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
    pub turners: Vec<Turner>,
    /// Bodies that are not dynamic, at the end of the substep.
    pub led: Vec<(u32, BodyState)>,
    /// Turns since the step began, as quaternions, where joints want L to follow them.
    pub turned: Vec<Padded>,
    /// Where contacts bounce: velocities in the middle of what forces did in the substep, which impacts change,
    /// and what forces did.
    pub struck: Vec<Line>,
    pub gained: Vec<Line>,
}

/// What moves a dynamic body in a substep, as far as every body needs it: small, since it is read in every
/// substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mover {
    /// What gravity and steady pushes add in a substep to the linear and, over L, to the angular velocity.
    gain: [Vec3; 2],
    /// Shares that damping leaves.
    kept: [f64; 2],
    /// Whether it is plain: of the same inertia about every axis, without locks or timed forces.
    plain: bool,
}

/// What bodies need whose inertia turns with them, or that locks or timed forces act on, and what hands
/// any of them back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turner {
    slot: u32,
    /// Orientation before and after the substep; of a body whose inertia is the same about every
    /// axis only that of the beginning.
    before: Quat,
    after: Quat,
    /// L, and its inverse where it has one.
    root: [Mat3; 2],
    /// Whether its inertia turns with it.
    turns: bool,
    /// Whether locks or timed forces ask for more than `gain`.
    special: bool,
    /// Whether L turns with the body, and where it began.
    follows: bool,
    start: Quat,
}

impl Lines {
    /// Takes over bodies: those that move by forces, and others that they touch. Where joints hold them, L
    /// follows them.
    pub fn gather(
        &mut self,
        setting: Setting,
        (slots, others): (&[u32], &[u32]),
        (jointed, bounces): (bool, bool),
    ) {
        let (model, state, ..) = setting;
        let count = 1 + slots.len() + others.len();
        for lines in [&mut self.struck, &mut self.gained] {
            lines.clear();
            lines.resize(if bounces { count } else { 0 }, Line::default());
        }
        self.turned.clear();
        self.turned.resize(if jointed { count } else { 0 }, padded(Quat::IDENTITY));
        self.moved.clear();
        self.moved.resize(count, Line::default());
        // what these hold from before is overwritten here or in the first substep
        self.velocity.resize(count, Line::default());
        self.free.resize(count, Line::default());
        self.inv_mass.resize(count, Padded::default());
        self.places.resize(count, Place::WORLD);
        self.movers.resize(slots.len(), Mover::default());
        self.turners.resize(slots.len(), Turner::default());
        self.velocity[0] = Line::default();
        self.inv_mass[0] = Padded::default();
        self.places[0] = Place::WORLD;

        let (own, led) = (1..1 + slots.len(), 1 + slots.len()..count);
        let bodies = (
            slots.par_iter(),
            self.velocity[own.clone()].par_iter_mut(),
            self.inv_mass[own.clone()].par_iter_mut(),
            self.places[own].par_iter_mut(),
            self.movers.par_iter_mut(),
            self.turners.par_iter_mut(),
        );
        let bodies = bodies.into_par_iter().with_min_len(CHUNK);
        bodies.for_each(|(&slot, velocity, inv_mass, place, mover, turner)| {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            let mass = mass::body_mass(body, now.rotation);
            let root = root(body, mass.inv_inertia);
            *velocity = Line::new(now.velocity.linear, root[1] * now.velocity.angular);
            *inv_mass = Padded(quad(mass.inv_mass));
            *place = Place::new(now, mass.inv_mass, root);
            *turner = Turner::new(slot, body, now, root);
            turner.follows = jointed;
            turner.turns |= jointed;
            *mover = Mover::new(setting, body, now, mass.inv_mass, turner);
        });
        self.led.clear();
        for (&slot, line) in others.iter().zip(led) {
            let now = &state.bodies[slot as usize];
            let turning = STEADY_ROOT[1] * now.velocity.angular;
            self.velocity[line] = Line::new(now.velocity.linear, turning);
            self.inv_mass[line] = Padded::default();
            self.places[line] = Place::new(now, Vec3::ZERO, STEADY_ROOT);
            self.led.push((slot, *now));
        }
    }
}

impl Mover {
    fn new(
        (_, _, settings, dt): Setting,
        body: &BodyModel,
        now: &BodyState,
        inv_mass: Vec3,
        turner: &Turner,
    ) -> Mover {
        let h = dt / f64::from(settings.substeps);
        let push = &now.push;
        Mover {
            gain: [
                h * (body.gravity_scale * settings.gravity) + h * (inv_mass * push.force),
                h * (turner.root[0].transpose() * push.torque),
            ],
            kept: [body.linear_damping, body.angular_damping].map(|c| 1.0 / (1.0 + h * c)),
            plain: !turner.turns && !turner.special,
        }
    }
}

impl Turner {
    fn new(slot: u32, body: &BodyModel, now: &BodyState, root: [Mat3; 2]) -> Turner {
        Turner {
            slot,
            before: now.rotation,
            after: now.rotation,
            root,
            turns: !body.isotropic,
            special: !body.forces.is_empty() || body.locks != Default::default(),
            follows: false,
            start: now.rotation,
        }
    }
}

/// L of a body that nothing pushes: so small that what contacts do to its turning is lost in rounding,
/// while y = L⁻¹ω still says how it turns.
const STEADY: f64 = 1e-9;
const STEADY_ROOT: [Mat3; 2] =
    [Mat3::from_diagonal(Vec3::splat(STEADY)), Mat3::from_diagonal(Vec3::splat(1.0 / STEADY))];

/// L with L Lᵀ = m, lower triangular, and its inverse; what is locked stays zero in both.
fn root(body: &BodyModel, m: Mat3) -> [Mat3; 2] {
    if body.isotropic && body.locks == Default::default() {
        let root = m.x_axis.x.sqrt();
        return [root, 1.0 / root].map(|x| Mat3::from_diagonal(Vec3::splat(x)));
    }
    let pivot = |square: f64, of: f64| {
        if square > 1e-14 * of { (square.sqrt(), 1.0 / square.sqrt()) } else { (0.0, 0.0) }
    };
    let (a, ia) = pivot(m.x_axis.x, m.x_axis.x);
    let (b, c) = (m.x_axis.y * ia, m.x_axis.z * ia);
    let (d, id) = pivot(m.y_axis.y - b * b, m.y_axis.y);
    let e = (m.y_axis.z - b * c) * id;
    let (f, i_f) = pivot(m.z_axis.z - c * c - e * e, m.z_axis.z);
    let (ib, ie) = (-b * ia * id, -e * id * i_f);
    let ic = -(c * ia + e * ib) * i_f;
    let lower = |a, b, c, d, e, f| {
        Mat3::from_cols(Vec3::new(a, b, c), Vec3::new(0.0, d, e), Vec3::new(0.0, 0.0, f))
    };
    [lower(a, b, c, d, e, f), lower(ia, ib, ic, id, ie, i_f)]
}

/// All four numbers of a vector at once, though the last is always zero.
#[inline(always)]
fn add(to: &mut Line, line: &Line, k: f64) {
    for x in 0..4 {
        to.linear[x] += k * line.linear[x];
        to.angular[x] += k * line.angular[x];
    }
}

/// Some of the dynamic bodies.
pub struct BodyRange<'a> {
    pub velocity: &'a mut [Line],
    pub moved: &'a mut [Line],
    pub free: &'a mut [Line],
    pub movers: &'a mut [Mover],
    pub turners: &'a mut [Turner],
    /// Empty where L does not follow.
    pub turned: &'a mut [Padded],
    /// Empty where nothing bounces.
    pub struck: &'a mut [Line],
    pub gained: &'a mut [Line],
}

/// The lines of dynamic bodies, shared by the threads of a stage.
pub struct SharedLines<'a> {
    pub velocity: Shared<'a, Line>,
    pub moved: Shared<'a, Line>,
    pub free: Shared<'a, Line>,
    pub movers: Shared<'a, Mover>,
    pub turners: Shared<'a, Turner>,
    pub led: Shared<'a, (u32, BodyState)>,
    pub turned: Shared<'a, Padded>,
    pub struck: Shared<'a, Line>,
    pub gained: Shared<'a, Line>,
}

/// Bodies that a thread takes over at a time.
const CHUNK: usize = 256;

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
        for (i, ((velocity, moved), (slot, now))) in
            velocity.iter_mut().zip(moved).zip(led).enumerate()
        {
            let body = &model.bodies[*slot as usize];
            if body.kind == BodyKind::Kinematic {
                let mut turn = Quat::IDENTITY;
                if self.turned.len() > 0 {
                    turn = now.rotation * state.bodies[*slot as usize].rotation.conjugate();
                    // SAFETY: the caller's
                    unsafe { self.turned.range(first + i..first + i + 1)[0] = padded(turn) };
                }
                // its way up to the beginning of this substep
                if substep > 0 {
                    add(moved, velocity, h);
                }
                move_kinematic(body, now, state.time, dt, (substep, settings.substeps));
                let omega = match self.turned.len() {
                    0 => now.velocity.angular,
                    _ => turn.conjugate() * now.velocity.angular,
                };
                *velocity = Line::new(now.velocity.linear, STEADY_ROOT[1] * omega);
            }
            if self.struck.len() > 0 {
                // SAFETY: the caller's
                unsafe { self.struck.range(first + i..first + i + 1)[0] = *velocity };
            }
        }
    }

    /// Some dynamic bodies.
    ///
    /// # Safety
    /// Nobody else reads or changes them meanwhile.
    pub unsafe fn some(&self, Range { start, end }: Range<usize>) -> BodyRange<'_> {
        let follow = if self.turned.len() > 0 { start + 1..end + 1 } else { 0..0 };
        let bounce = if self.struck.len() > 0 { start + 1..end + 1 } else { 0..0 };
        // SAFETY: the caller's; lines begin with the world's
        unsafe {
            BodyRange {
                velocity: self.velocity.range(start + 1..end + 1),
                moved: self.moved.range(start + 1..end + 1),
                free: self.free.range(start + 1..end + 1),
                movers: self.movers.range(start..end),
                turners: self.turners.range(start..end),
                turned: self.turned.range(follow),
                struck: self.struck.range(bounce.clone()),
                gained: self.gained.range(bounce),
            }
        }
    }
}

impl BodyRange<'_> {
    /// v⁰ = v + h M⁻¹f, plus what contacts did in the substep before: with the arms of the whole step
    /// that is what its impulses would do again.
    pub fn begin(&mut self, setting: Setting, substep: u32) {
        match self.struck.is_empty() {
            true => self.begin_as::<false>(setting, substep),
            false => self.begin_as::<true>(setting, substep),
        }
    }

    #[inline(always)]
    fn begin_as<const BOUNCES: bool>(&mut self, setting: Setting, substep: u32) {
        for i in 0..self.movers.len() {
            let (mover, turner) = (&self.movers[i], &self.turners[i]);
            let (velocity, free) = (&mut self.velocity[i], &mut self.free[i]);
            let mut contact = Line::default();
            if substep > 0 {
                contact = *velocity;
                add(&mut contact, free, -1.0);
            }
            let mut now = *velocity;
            if !mover.plain && substep > 0 && turner.turns {
                now = turner.line(turner.carried(setting, velocity));
            }
            let before = now;
            add(&mut now, &Line::new(mover.gain[0], mover.gain[1]), 1.0);
            if !mover.plain && turner.special {
                now = turner.forced(setting, substep, &now, &self.moved[i]);
            }
            for x in 0..4 {
                now.linear[x] *= mover.kept[0];
                now.angular[x] *= mover.kept[1];
            }
            if BOUNCES {
                let (struck, gained) = (&mut self.struck[i], &mut self.gained[i]);
                (*struck, *gained) = (now, now);
                add(gained, &before, -1.0);
                add(struck, gained, -0.5);
            }
            (*free, *velocity) = (now, now);
            add(velocity, &contact, 1.0);
        }
    }

    /// Gives bodies what impacts did.
    pub fn rebound(&mut self) {
        for i in 0..self.struck.len() {
            let mut unstruck = self.free[i];
            add(&mut unstruck, &self.gained[i], -0.5);
            let mut change = self.struck[i];
            add(&mut change, &unstruck, -1.0);
            add(&mut self.free[i], &change, 1.0);
            add(&mut self.velocity[i], &change, 1.0);
        }
    }

    /// x ← x + h v^p.
    pub fn advance(&mut self, setting: Setting) {
        let (_, _, settings, dt) = setting;
        let h = dt / f64::from(settings.substeps);
        for i in 0..self.movers.len() {
            add(&mut self.moved[i], &self.velocity[i], h);
            if !self.movers[i].plain && self.turners[i].turns {
                self.turners[i].turn(setting, &self.velocity[i], h);
                if let Some(turned) = self.turned.get_mut(i) {
                    *turned = padded(self.turners[i].way());
                }
            }
        }
    }

    /// Hands a body back.
    pub fn finish(&self, setting: Setting, i: usize, out: &mut BodyState) {
        let turner = &self.turners[i];
        out.position += self.moved[i].linear();
        out.rotation = turner.orientation(&self.moved[i]);
        out.velocity = turner.carried(setting, &self.velocity[i]);
        if turner.special {
            mass::unlock_velocity(&mut out.velocity, setting.0.bodies[turner.slot as usize].locks);
        }
    }
}

impl Turner {
    /// The orientation after another `h` seconds.
    fn turn(&mut self, setting: Setting, velocity: &Line, h: f64) {
        let body = &setting.0.bodies[self.slot as usize];
        self.before = self.after;
        let omega = self.twist(velocity).angular;
        self.after = rotation::advance(body, self.before, omega, h);
    }

    /// Velocity with timed forces and locks.
    fn forced(&self, setting: Setting, substep: u32, velocity: &Line, moved: &Line) -> Line {
        let (model, state, settings, dt) = setting;
        let body = &model.bodies[self.slot as usize];
        let h = dt / f64::from(settings.substeps);
        let time = state.time + f64::from(substep) * h;
        let rotation = self.orientation(moved);
        let local = LocalBody { slot: self.slot, position: Vec3::ZERO, rotation };
        let (force, torque) = external_force(body, &local, time, h);
        let mass = mass::body_mass(body, rotation);
        let mut v = self.twist(velocity);
        if self.follows {
            v.angular = self.way() * (self.root[0] * velocity.angular());
        }
        v.linear += h * (mass.inv_mass * force);
        v.angular += h * (mass.inv_inertia * torque);
        mass::unlock_velocity(&mut v, body.locks);
        self.line(v)
    }

    /// How far it has turned since the step began.
    fn way(&self) -> Quat {
        self.after * self.start.conjugate()
    }

    /// A velocity in the coordinates of lines.
    fn line(&self, v: Twist) -> Line {
        let omega = if self.follows { self.way().conjugate() * v.angular } else { v.angular };
        Line::new(v.linear, self.root[1] * omega)
    }

    /// A velocity from the coordinates of lines before the substep's turn.
    fn twist(&self, line: &Line) -> Twist {
        let mut angular = self.root[0] * line.angular();
        if self.follows {
            angular = (self.before * self.start.conjugate()) * angular;
        }
        Twist { linear: line.linear(), angular }
    }

    fn orientation(&self, moved: &Line) -> Quat {
        if self.turns {
            return self.after;
        }
        (rotation_from_vector(self.root[0] * moved.angular()) * self.before).normalize()
    }

    /// The velocity in the orientation after the substep, with the same angular momentum.
    fn carried(&self, setting: Setting, velocity: &Line) -> Twist {
        let mut v = self.twist(velocity);
        if self.turns {
            let body = &setting.0.bodies[self.slot as usize];
            v.angular = rotation::carry_bounded(body, (self.before, self.after), v.angular);
        }
        v
    }
}

impl Place {
    fn new(now: &BodyState, inv_mass: Vec3, root: [Mat3; 2]) -> Place {
        Place {
            position: now.position,
            rotation: Mat3::from_quat(now.rotation),
            zero: 0.0,
            inv_mass: inv_mass.as_vec3().to_array(),
            root: lower(&root[0]),
            unused: [0.0; 3],
        }
    }

    /// What does not move.
    const WORLD: Place = Place {
        position: Vec3::ZERO,
        rotation: Mat3::IDENTITY,
        zero: 0.0,
        inv_mass: [0.0; 3],
        root: [0.0; 6],
        unused: [0.0; 3],
    };
}
