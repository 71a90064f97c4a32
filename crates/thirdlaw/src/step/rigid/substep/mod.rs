//! One island through the substeps of a step.
//!
//! Each substep of h seconds [tonge2012, Eq. 4 and 6]:
//!
//!   v⁰ = v + h M⁻¹ f_e                     forces
//!   J, gaps and wanted velocities          rows at the current poses
//!   z ≥ 0 ⊥ J v + b ≥ 0                    impulses, b pushing overlaps apart: v^p
//!   z ≥ 0 ⊥ J v + b' ≥ 0                   impulses again without the push: v
//!   x ← x + h v^p                          positions
//!
//! Positions move by the velocity with the push, the velocity that stays is the one without: position
//! correction adds no energy. Both solves see the same arms and inertia, so each conserves momentum
//! and angular momentum exactly. A gap g > 0 lets bodies approach by g/h: contacts are known before
//! they close. What closes with restitution bounces before
//! the first solve (`contact/impact.rs`); a body at rest does not bounce on the spot [shinar2008 §4].
//! Where bodies lie deep in each other, the second solve starts from v⁰ and not from v^p.

mod members;
mod resist;
mod rows;

use super::kinematic::move_kinematic;
use super::restitution::Springs;
use super::stopwatch::{Spent, Stopwatch};
use crate::contact::impact::{ImpactScratch, Strike};
use crate::contact::{self, ContactProblem, DirectUse, SolveReport, SolveSettings, Velocities};
use crate::joint::island::JointIsland;
use crate::math::{Quat, Twist, Vec3};
use crate::model::Model;
use crate::model::body::model::BodyModel;
use crate::model::body::{BodyKind, mass, rotation};
use crate::model::settings::{ContactSettings, Settings};
use crate::report::SolvePath;
use crate::state::State;
use crate::state::body::BodyState;
use crate::state::contact::POINTS_MAX;
use crate::state::joint::JointState;
use crate::state::point::PointState;
use crate::step::classify::{Facts, effort, falls_short, is_rigid, sag};
use crate::step::island::{Linked, Touch};
use resist::{Resistance, Surfaces};
use std::ops::Range;

/// Impulses of a contact point in the last substep.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointImpulse {
    /// N·s.
    pub normal: f64,
    /// On side b, in world axes, N·s.
    pub friction: Vec3,
}

/// What solving an island took.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolveTotals {
    /// Iterations of all substeps.
    pub iterations: u32,
    /// Largest error left, m/s.
    pub residual: f64,
    /// Islands that were to converge and did not.
    pub unconverged: u32,
    /// Which path was taken.
    pub path: SolvePath,
    /// Whether it went the general way after another.
    pub again: bool,
    /// Multiplications made for joints.
    pub joint_work: u64,
    /// Substeps taken in the coordinates of joints.
    pub reduced: u32,
    /// What its time went into.
    pub spent: Spent,
}

/// Memory for solving one island.
#[derive(Debug, Default)]
pub struct IslandScratch {
    pub(crate) problem: ContactProblem,
    pub(crate) velocities: Velocities,
    /// Velocities at the start of the substep.
    before: Vec<Twist>,
    /// Velocities after forces and impacts, before contact.
    loose: Vec<Twist>,
    /// Velocities by which positions move.
    pub(crate) pushed: Vec<Twist>,
    pub(crate) impulses: Vec<f64>,
    /// Points that may bounce, and the velocities that are reflected.
    strikes: Vec<Strike>,
    struck: Velocities,
    impact: ImpactScratch,
    pub(crate) solver: contact::Scratch,
    /// Velocities and impulses before overlaps are pushed apart, where that is far.
    unpushed: (Velocities, Vec<f64>),
    unpushed_resistances: Vec<Resistance>,
    /// The island's dynamic bodies, then the others it touches.
    pub(crate) bodies: Vec<LocalBody>,
    pub(crate) contacts: Vec<LocalContact>,
    pub(crate) points: Vec<LocalPoint>,
    /// What materials ask for beside friction and restitution.
    surfaces: Vec<Surfaces>,
    resistances: Vec<Resistance>,
    /// Where they are on their bodies, and where these are, where islands go abreast.
    pub(crate) anchors: Vec<contact::Anchor>,
    pub(crate) poses: Vec<contact::Pose>,
    pub(crate) energies: Vec<super::batched::EnergyWatch>,
    /// Slots of touched bodies that contacts do not move, ascending.
    pub(crate) others: Vec<u32>,
    /// Joints, where the island has any.
    pub(crate) joints: JointIsland,
    /// Where kinematic bodies will be at the end of the substep.
    pub(crate) next: Vec<(Vec3, Quat)>,
    /// First row of joints in the contact problem, where they are solved there.
    pub(crate) first_joint_row: Option<usize>,
    /// How contacts and joints are solved together.
    pub(crate) path: SolvePath,
    /// Joints in their coordinates, where they are held so.
    pub(crate) tree: crate::joint::reduced::Tree,
    /// Momenta of joints and bodies that float.
    pub(crate) books: super::jointed_books::Books,
    /// For contacts of bodies with joints.
    pub(crate) through: super::jointed_through::Through,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalBody {
    pub slot: u32,
    pub position: Vec3,
    pub rotation: Quat,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalContact {
    /// Index in `State::contacts`.
    index: u32,
    pub a: u32,
    pub b: u32,
    pub point_start: u32,
    tangents: (Vec3, Vec3),
    /// Its entry among the surfaces, if it has one.
    surfaces: Option<u32>,
    /// Whether points travel with b (else a) as the bodies slide: they belong to the smaller one.
    with_b: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocalPoint {
    /// Cores on a and b, in axes that turn with them, from their centres of mass, and their distances
    /// from the surfaces, m.
    pub anchors: [Vec3; 2],
    pub radii: [f64; 2],
    /// Gap up to which the point counts as closed, m.
    pub skin: f64,
    /// Half the thickness of the thinner body, m.
    pub half_thickness: f64,
    /// Way that is left in this substep until it is closed, m.
    room: f64,
    /// Gap at the beginning of this substep, m.
    pub gap: f64,
    /// e.
    pub restitution: f64,
    /// Approach speed below which it does not bounce as materials say, m/s; negative: as the settings say.
    pub threshold: f64,
    /// Normal velocity to leave with, m/s, where joints hold the bodies; 0 if this point does not bounce.
    pub bounce: f64,
}

/// What is the same for all islands: model, state before the step, settings, step length.
pub type Setting<'a> = (&'a Model, &'a State, &'a Settings, f64);

/// What an island consists of, by slots and indices in the world's arrays.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    /// Dynamic bodies.
    pub bodies: &'a [u32],
    /// Contacts.
    pub contacts: &'a [Touch],
    /// Joints and constraints.
    pub links: &'a [Linked],
    /// Point masses.
    pub points: &'a [u32],
}

/// What a step changes of an island, in the order of its members.
pub struct Changed<'a> {
    /// Dynamic bodies.
    pub bodies: &'a mut [BodyState],
    /// Impulses of contacts.
    pub impulses: &'a mut [[PointImpulse; POINTS_MAX]],
    /// Joints; entries of constraints are not used.
    pub joints: &'a mut [JointState],
    /// Point masses.
    pub points: &'a mut [PointState],
}

/// How many times as fast as anything was, or is to be pushed, a body may be after overlaps are pushed apart. Contacts
/// that push a thin body to both sides have no answer: impulses against each other grow with every turn, and
/// once the body has turned a little they throw it.
const THROWN: f64 = 10.0;
/// Kinetic energy after contact, over that before, that is more than rounding: contacts that push only take energy.
pub(crate) const GAINED: f64 = 1.001;
/// Iterations from no impulses at all, where those from the last ones have made energy.
const ANEW: u32 = 50;

/// Advances one island by a step.
pub fn solve_island(
    setting: Setting,
    members: Members,
    changed: Changed,
    scratch: &mut IslandScratch,
    watch: &mut Stopwatch,
) -> SolveTotals {
    let (model, state, settings, dt) = setting;
    if !members.links.is_empty() || !members.points.is_empty() {
        let mut totals = scratch.solve_jointed(setting, members, changed);
        totals.spent.solve = watch.lap();
        return totals;
    }
    let slots = members.bodies;
    let substeps = settings.substeps;
    let h = dt / f64::from(substeps);
    let mut totals = SolveTotals::default();
    let free = members.contacts.is_empty();
    // the first substep tells for the others: reading a clock costs as much as a free body
    let mut first = *watch;

    scratch.gather(setting, std::iter::once(members));
    contact::prepare(&scratch.problem, &mut scratch.solver);
    let rows = scratch.problem.rows.len();
    let (contacts, bodies) = (members.contacts.len(), slots.len());
    let grounded = members.contacts.iter().filter(|touch| touch.moves != [true; 2]).count();
    let moving = Facts::of_bodies(model, state, slots);
    let facts = Facts { contacts, grounded, rows, bodies, ..moving };
    let contact = ContactSettings { sag: sag(&facts, &settings.contact), ..settings.contact };
    let springs = Springs::new(&contact, h).rigid(is_rigid(&facts, &contact));
    let push_out = effort(&facts, &settings.contact, settings.contact.iterations, rows);
    let relax = effort(&facts, &settings.contact, settings.contact.relax_iterations, rows);
    // few iterations without the push: contacts do not give way in them, and friction is judged by loads without it
    let few = relax.iterations == settings.contact.relax_iterations
        && relax.direct == DirectUse::Never
        && !facts.turns_far(dt);
    let friction = if few { relax.friction.normals_first() } else { relax.friction };
    let relax = SolveSettings { friction, ..relax };
    let anew = SolveSettings { iterations: relax.iterations.max(ANEW), ..relax };
    let deep = members.contacts.iter().any(|touch| touch.deep);
    let (mut thrown, mut energy) = (false, 0.0);
    for substep in 0..substeps {
        let time = state.time + f64::from(substep) * h;
        let told = substep == 0 && !free;
        if told {
            first.lap();
        }
        scratch.apply_forces(setting, slots.len(), time, h);
        scratch.set_kinematic_velocities(setting, slots.len(), (substep, substeps));
        if told {
            first.integrated();
        }
        if !free {
            scratch.place_rows_on(state, &springs, h);
            scratch.bounce(&settings.contact, h, 0.5);
            contact::refresh(&scratch.problem, &mut scratch.solver);
            let most = THROWN * (scratch.fastest(model, slots.len()) + scratch.push_speed());
            scratch.loose.clone_from(&scratch.velocities.bodies);
            energy = scratch.kinetic(model, 0..slots.len());
            scratch.warm_start();
            if scratch.fastest(model, slots.len()) > most {
                scratch.start_cold();
            }
            scratch.warm_resistances();
            scratch.keep_unpushed();
            totals.add(scratch.solve_resisting(&push_out));
            thrown = scratch.fastest(model, slots.len()) > most;
        }
        scratch.pushed.clone_from(&scratch.velocities.bodies);
        if !free && (settings.contact.relax_iterations > 0 || thrown) {
            if deep || thrown {
                scratch.take_unpushed();
            }
            scratch.relax_rows(h);
            if few {
                contact::refresh(&scratch.problem, &mut scratch.solver);
            }
            totals.add(scratch.solve_resisting(&relax));
            if scratch.kinetic(model, 0..slots.len()) > GAINED * energy
                && !scratch.is_driven(slots.len())
                && facts.relative_speed * dt < 1.0
            {
                scratch.start_cold();
                totals.add(scratch.solve_resisting(&anew));
            }
        }
        if thrown {
            // what cannot be pushed apart stays where it is
            scratch.pushed.clone_from(&scratch.velocities.bodies);
        }
        if told {
            first.solved();
        }
        scratch.move_bodies(setting, slots.len(), substep, h);
        if told {
            first.integrated();
        }
    }
    totals.unconverged = falls_short(&facts, &settings.contact, totals.residual).into();
    scratch.write_back(model, (0, 0), changed.bodies, changed.impulses);
    let (lap, share) = (watch.lap(), if free { 1.0 } else { first.spent.share() });
    totals.spent = Spent { integrate: lap * share, solve: lap * (1.0 - share) };
    totals
}

impl SolveTotals {
    /// Adds what other islands took at the same time.
    pub(crate) fn include(&mut self, other: &SolveTotals) {
        self.iterations = self.iterations.max(other.iterations);
        self.residual = self.residual.max(other.residual);
        self.unconverged += other.unconverged;
        self.spent.add(&other.spent);
    }

    pub(crate) fn add(&mut self, report: SolveReport) {
        self.iterations += report.iterations;
        self.residual = self.residual.max(report.residual);
        if report.direct {
            self.path = SolvePath::Direct;
        }
    }
}

impl IslandScratch {
    /// v⁰ = v + h M⁻¹ f_e, and inverse inertia at the current orientation.
    pub(crate) fn apply_forces(
        &mut self,
        (model, state, settings, _): Setting,
        count: usize,
        time: f64,
        h: f64,
    ) {
        self.before.clone_from(&self.velocities.bodies);
        for i in 0..count {
            let local = &self.bodies[i];
            let body = &model.bodies[local.slot as usize];
            if !body.isotropic {
                self.problem.bodies[i] = mass::body_mass(body, local.rotation);
            }
            let mass = &self.problem.bodies[i];
            let (force, torque) = external_force(body, local, time, h);
            let push = &state.bodies[local.slot as usize].push;
            let v = &mut self.velocities.bodies[i];
            v.linear += h * (body.gravity_scale * settings.gravity);
            v.linear += h * (mass.inv_mass * (force + push.force));
            v.angular += h * (mass.inv_inertia * (torque + push.torque));
            v.linear /= 1.0 + h * body.linear_damping;
            v.angular /= 1.0 + h * body.angular_damping;
            mass::unlock_velocity(v, body.locks);
        }
    }

    pub(crate) fn set_kinematic_velocities(
        &mut self,
        setting: Setting,
        count: usize,
        at: (u32, u32),
    ) {
        let (model, state, _, dt) = setting;
        for i in count..self.bodies.len() {
            let local = &self.bodies[i];
            let body = &model.bodies[local.slot as usize];
            if !body.motion.keys.is_empty() {
                let mut now = state.bodies[local.slot as usize];
                (now.position, now.rotation) = (local.position, local.rotation);
                move_kinematic(body, &mut now, state.time, dt, at);
                self.velocities.bodies[i] = now.velocity;
            }
        }
    }

    fn warm_start(&mut self) {
        contact::warm_start(&self.problem, &mut self.velocities, &self.impulses);
    }

    /// Notes velocities and impulses before the push.
    fn keep_unpushed(&mut self) {
        self.unpushed.0.clone_from(&self.velocities);
        self.unpushed.1.clone_from(&self.impulses);
        self.unpushed_resistances.clone_from(&self.resistances);
    }

    /// Goes back to them. What pushes bodies out of each other's middle is more than the second solve takes
    /// out again: down a column pushes add up, and what stays of them throws it apart. Velocities of
    /// which the push was never a part need nothing taken out.
    fn take_unpushed(&mut self) {
        self.velocities.clone_from(&self.unpushed.0);
        self.impulses.clone_from(&self.unpushed.1);
        self.resistances.clone_from(&self.unpushed_resistances);
    }

    /// Goes back to velocities before contact, with no impulses at all. From there each turn of the solver takes
    /// energy; from the impulses of a substep whose contacts lay otherwise it need not.
    fn start_cold(&mut self) {
        self.velocities.bodies.clone_from(&self.loose);
        self.impulses.fill(0.0);
        self.forget_resistances();
    }

    pub(crate) fn solve(&mut self, settings: &SolveSettings) -> SolveReport {
        contact::solve(
            &self.problem,
            settings,
            &mut self.velocities,
            &mut self.impulses,
            &mut self.solver,
        )
    }

    /// Kinetic energy of a range of bodies, J.
    pub(in crate::step) fn kinetic(&self, model: &Model, range: Range<usize>) -> f64 {
        let bodies = self.bodies[range.clone()].iter().zip(&self.velocities.bodies[range]);
        let twice = bodies.fold(0.0, |sum, (local, v)| {
            let body = &model.bodies[local.slot as usize];
            let spin = local.rotation.inverse() * v.angular;
            sum + body.mass * v.linear.length_squared() + spin.dot(body.inertia * spin)
        });
        0.5 * twice
    }

    /// Whether something that moves by itself, or a surface that runs, may do work on the first bodies.
    fn is_driven(&self, count: usize) -> bool {
        let moves = |v: &Twist| v.linear != Vec3::ZERO || v.angular != Vec3::ZERO;
        self.velocities.bodies[count..].iter().any(moves)
            || self.surfaces.iter().any(Surfaces::runs)
    }

    /// Largest speed of a point of the first bodies, m/s.
    fn fastest(&self, model: &Model, count: usize) -> f64 {
        let bodies = self.bodies.iter().zip(&self.velocities.bodies).take(count);
        bodies.fold(0.0, |most: f64, (local, v)| {
            let reach = model.bodies[local.slot as usize].reach;
            most.max(v.linear.length() + reach * v.angular.length())
        })
    }

    /// x ← x + h v^p.
    pub(crate) fn move_bodies(&mut self, setting: Setting, count: usize, substep: u32, h: f64) {
        let (model, state, settings, dt) = setting;
        for (i, local) in self.bodies.iter_mut().enumerate() {
            let body = &model.bodies[local.slot as usize];
            let v = &mut self.velocities.bodies[i];
            if i < count {
                let pushed = &self.pushed[i];
                local.position += h * pushed.linear;
                let turned = rotation::advance(body, local.rotation, pushed.angular, h);
                v.angular = rotation::carry_bounded(body, (local.rotation, turned), v.angular);
                local.rotation = turned;
            } else if body.is_dynamic() {
                // what dominates, as it moved at the start of the step
                local.position += h * v.linear;
                local.rotation = rotation::advance(body, local.rotation, v.angular, h);
            } else if body.kind == BodyKind::Kinematic {
                let mut now = state.bodies[local.slot as usize];
                (now.position, now.rotation) = (local.position, local.rotation);
                move_kinematic(body, &mut now, state.time, dt, (substep, settings.substeps));
                (local.position, local.rotation) = (now.position, now.rotation);
            }
        }
    }
}

pub(crate) fn external_force(
    body: &BodyModel,
    local: &LocalBody,
    time: f64,
    h: f64,
) -> (Vec3, Vec3) {
    let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
    for f in &body.forces {
        // the share of this substep in which it acts, so that its whole impulse is exact
        let share = ((f.until.min(time + h) - f.from.max(time)) / h).clamp(0.0, 1.0);
        if share == 0.0 {
            continue;
        }
        let turn = |v: Vec3| if f.local { local.rotation * v } else { v };
        let push = share * turn(f.force);
        force += push;
        torque += share * turn(f.torque);
        if let Some(point) = f.point {
            torque += (local.rotation * (point - body.center)).cross(push);
        }
    }
    (force, torque)
}
