//! One island through the substeps of a step.
//!
//! Each substep of h seconds [tonge2012, Eq. 4 and 6]:
//!
//!   v⁰ = v + h M⁻¹ f_e                     forces
//!   J, gaps and wanted velocities          rows at the current poses
//!   z ≥ 0 ⊥ J v + b ≥ 0                    impulses, b pushing overlaps apart: v^p
//!   z ≥ 0 ⊥ J v + b' ≥ 0                   impulses again without the push, with restitution: v
//!   x ← x + h v^p                          positions
//!
//! Positions move by the velocity with the push, the velocity that stays is the one without: position
//! correction adds no energy. Both solves see the same arms and inertia, so each conserves momentum
//! and angular momentum exactly. A gap g > 0 lets bodies approach by g/h: contacts are known before
//! they close. Restitution judges the approach by the velocity before this substep's forces, as
//! [shinar2008 §4] does, so that a body at rest does not bounce on the spot.

use super::effort::{BOUNCE_ITERATIONS, Effort};
use super::kinematic::move_kinematic;
use super::rebound::{Spring, bounce};
use super::watch::{Spent, Watch};
use crate::body::BodyKind;
use crate::collide::contacts::Contact;
use crate::collide::manifold::POINTS_MAX;
use crate::contact::{
    self, Block, Bound, ContactProblem, Row, Side, SolveReport, SolveSettings, Velocities,
};
use crate::joint::JointState;
use crate::joint::island::JointIsland;
use crate::math::{Mat3, Quat, Twist, Vec3, tangents};
use crate::model::{BodyModel, Model};
use crate::point::PointState;
use crate::rigid::island::Linked;
use crate::rigid::{mass, rotation};
use crate::settings::{ContactSettings, Settings};
use crate::state::{BodyState, State};

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
    /// Whether the direct path was taken.
    pub direct: bool,
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
    pub(super) problem: ContactProblem,
    pub(super) velocities: Velocities,
    /// Velocities at the start of the substep.
    before: Vec<Twist>,
    /// Velocities by which positions move.
    pushed: Vec<Twist>,
    pub(super) impulses: Vec<f64>,
    pub(super) solver: contact::Scratch,
    /// The island's dynamic bodies, then the others it touches.
    pub(super) bodies: Vec<LocalBody>,
    pub(super) contacts: Vec<LocalContact>,
    pub(super) points: Vec<LocalPoint>,
    /// Slots of touched bodies that are not dynamic, ascending.
    pub(super) others: Vec<u32>,
    /// Joints, where the island has any.
    pub(super) joints: JointIsland,
    /// Where kinematic bodies will be at the end of the substep.
    pub(super) next: Vec<(Vec3, Quat)>,
    /// First row of joints in the contact problem, where they are solved there.
    pub(super) first_joint_row: Option<usize>,
    /// Whether joints are held exactly after every iteration on the contacts.
    pub(super) interleave: bool,
    /// Joints in their coordinates, where they are held so.
    pub(super) tree: crate::joint::reduced::Tree,
    /// For contacts of bodies with joints.
    pub(super) through: super::through::Through,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LocalBody {
    pub slot: u32,
    pub position: Vec3,
    pub rotation: Quat,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LocalContact {
    /// Index in `State::contacts`.
    index: u32,
    a: u32,
    b: u32,
    point_start: u32,
    tangents: (Vec3, Vec3),
    /// Whether points travel with b (else a) as the bodies slide: they belong to the smaller one.
    with_b: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LocalPoint {
    /// Cores on a and b, in axes that turn with them, from their centres of mass, and their distances
    /// from the surfaces, m.
    anchors: [Vec3; 2],
    radii: [f64; 2],
    /// Gap in this substep, m.
    gap: f64,
    /// Normal velocity to leave with, m/s; 0 if this point does not bounce.
    bounce: f64,
}

/// What is the same for all islands: model, state before the step, settings, step length.
pub type Setting<'a> = (&'a Model, &'a State, &'a Settings, f64);

/// What an island consists of, by slots and indices in the world's arrays.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    /// Dynamic bodies.
    pub bodies: &'a [u32],
    /// Contacts.
    pub contacts: &'a [u32],
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

/// Advances one island by a step.
pub fn solve_island(
    setting: Setting,
    members: Members,
    changed: Changed,
    scratch: &mut IslandScratch,
    watch: &mut Watch,
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

    scratch.gather(setting, members);
    contact::prepare(&scratch.problem, &mut scratch.solver);
    let rows = scratch.problem.rows.len();
    let effort = Effort::of(model, state, slots);
    let mut push_out = effort.settings(&settings.contact, settings.contact.iterations, rows);
    let mut relax = effort.settings(&settings.contact, settings.contact.relax_iterations, rows);
    for substep in 0..substeps {
        if substep == 1 {
            push_out = effort.later(&push_out, settings.contact.iterations, rows);
            relax = effort.later(&relax, settings.contact.relax_iterations, rows);
        }
        // a bounce changes normal impulses at once, and friction must follow
        let impact = SolveSettings { iterations: relax.iterations.max(BOUNCE_ITERATIONS), ..relax };
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
            scratch.place_rows(state, &settings.contact, h, (h, 0.5));
            contact::refresh(&scratch.problem, &mut scratch.solver);
            scratch.warm_start();
            totals.add(scratch.solve(&push_out));
        }
        scratch.pushed.clone_from(&scratch.velocities.bodies);
        if !free && settings.contact.relax_iterations > 0 {
            let bounces = scratch.relax_rows(state, h);
            totals.add(scratch.solve(if bounces { &impact } else { &relax }));
            scratch.forget_bounces();
        }
        if told {
            first.solved();
        }
        scratch.move_bodies(setting, slots.len(), substep, h);
        if told {
            first.integrated();
        }
    }
    scratch.write_back(model, changed.bodies, changed.impulses);
    let (lap, share) = (watch.lap(), if free { 1.0 } else { first.spent.share() });
    totals.spent = Spent { integrate: lap * share, solve: lap * (1.0 - share) };
    totals
}

impl SolveTotals {
    pub(super) fn add(&mut self, report: SolveReport) {
        self.iterations += report.iterations;
        self.residual = self.residual.max(report.residual);
        self.direct |= report.direct;
    }
}

impl IslandScratch {
    /// Brings the island's bodies and contacts together.
    pub(super) fn gather(&mut self, setting: Setting, members: Members) {
        let (model, state, settings, _) = setting;
        let Members { bodies: slots, contacts, .. } = members;
        self.others.clear();
        self.gather_others(model, members.links);
        for &index in contacts {
            let key = state.contacts[index as usize].key;
            for slot in [key.a, key.b] {
                if !model.bodies[slot as usize].is_dynamic() {
                    self.others.push(slot);
                }
            }
        }
        self.others.sort_unstable();
        self.others.dedup();

        self.bodies.clear();
        self.velocities.bodies.clear();
        self.problem.bodies.clear();
        for &slot in slots.iter().chain(&self.others) {
            let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
            self.bodies.push(LocalBody { slot, position: now.position, rotation: now.rotation });
            self.velocities.bodies.push(now.velocity);
            self.problem.bodies.push(mass::body_mass(body, now.rotation));
        }

        self.problem.friction = settings.contact.friction;
        self.problem.seed = state.step;
        self.problem.blocks.clear();
        self.problem.rows.clear();
        self.impulses.clear();
        self.contacts.clear();
        self.points.clear();
        for &index in contacts {
            self.add_contact(model, &state.contacts[index as usize], index, slots);
        }
    }

    pub(super) fn local(&self, model: &Model, slots: &[u32], slot: u32) -> u32 {
        let found = if model.bodies[slot as usize].is_dynamic() {
            slots.binary_search(&slot)
        } else {
            self.others.binary_search(&slot).map(|i| slots.len() + i)
        };
        // both lists hold every slot the contacts name
        found.unwrap_or_default() as u32
    }

    fn add_contact(&mut self, model: &Model, contact: &Contact, index: u32, slots: &[u32]) {
        let key = contact.key;
        let (a, b) = (self.local(model, slots, key.a), self.local(model, slots, key.b));
        let tangents = tangents(contact.normal);
        let side = |slot: u32, local: u32| match model.bodies[slot as usize].kind {
            BodyKind::Fixed => Side::World,
            _ => Side::Body(local),
        };
        // one block per pair of bodies, whatever number of pieces they touch with
        let block_key = u64::from(key.a) << 32 | u64::from(key.b);
        if self.problem.blocks.last().is_none_or(|last| last.key != block_key) {
            self.problem.blocks.push(Block {
                a: side(key.a, a),
                b: side(key.b, b),
                row_start: self.problem.rows.len() as u32,
                row_count: 0,
                key: block_key,
            });
        }
        self.contacts.push(LocalContact {
            index,
            a,
            b,
            point_start: self.points.len() as u32,
            tangents,
            with_b: model.bodies[key.b as usize].reach <= model.bodies[key.a as usize].reach,
        });
        let [on_a, on_b] = [a, b].map(|local| &self.bodies[local as usize]);
        let axes = [on_a, on_b].map(|body| Mat3::from_quat(body.rotation));
        let between = on_b.position - on_a.position;
        for (i, point) in contact.points().enumerate() {
            let cores = contact.cores(i, [&axes[0], &axes[1]], between);
            let anchors = [0, 1].map(|k| axes[k].transpose() * cores.arms[k]);
            let normal = self.problem.rows.len() as u32;
            let friction = Bound::Friction { normal, coefficient: contact.friction };
            for (direction, bound) in [
                (contact.normal, Bound::Interval { lower: 0.0, upper: f64::INFINITY }),
                (tangents.0, friction),
                (tangents.1, friction),
            ] {
                self.problem.rows.push(Row {
                    direction,
                    arm_a: Vec3::ZERO,
                    arm_b: Vec3::ZERO,
                    bias: 0.0,
                    compliance: 0.0,
                    bound,
                });
            }
            self.impulses.extend([
                point.normal_impulse,
                point.friction_impulse.dot(tangents.0),
                point.friction_impulse.dot(tangents.1),
            ]);
            let radii = cores.radii;
            self.points.push(LocalPoint { anchors, radii, ..LocalPoint::default() });
        }
        if let Some(block) = self.problem.blocks.last_mut() {
            block.row_count += 3 * contact.count;
        }
    }

    /// v⁰ = v + h M⁻¹ f_e, and inverse inertia at the current orientation.
    pub(super) fn apply_forces(
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

    pub(super) fn set_kinematic_velocities(
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

    /// Arms, gaps and wanted velocities at the current poses.
    pub(super) fn place_rows(
        &mut self,
        state: &State,
        settings: &ContactSettings,
        h: f64,
        lag: (f64, f64),
    ) {
        let spring = Spring::new(settings, h);
        let mut row = 0;
        for local in &self.contacts {
            let contact = &state.contacts[local.index as usize];
            let (a, b) = (&self.bodies[local.a as usize], &self.bodies[local.b as usize]);
            let n = contact.normal;
            for i in 0..contact.count as usize {
                let place = &mut self.points[local.point_start as usize + i];
                let (gap, r_a, r_b) = meet(local, place, n, a, b);
                let rows = &mut self.problem.rows[row..row + 3];
                for (row, d) in rows.iter_mut().zip([n, local.tangents.0, local.tangents.1]) {
                    row.arm_a = r_a.cross(d);
                    row.arm_b = r_b.cross(d);
                }
                (place.gap, place.bounce) = (gap, 0.0);
                (rows[0].bias, rows[0].compliance) = if gap > 0.0 {
                    (gap / h, 0.0)
                } else {
                    let response = self.problem.bodies[local.a as usize].response(n, rows[0].arm_a)
                        + self.problem.bodies[local.b as usize].response(n, rows[0].arm_b);
                    spring.push(settings, gap, response, self.impulses[row])
                };
                if contact.restitution > 0.0 {
                    let at = |v: &[Twist]| {
                        approach_speed(&rows[0], &v[local.a as usize], &v[local.b as usize])
                    };
                    let (before, after) = (at(&self.before), at(&self.velocities.bodies));
                    place.bounce = bounce(
                        contact.restitution,
                        gap,
                        (before, after),
                        lag,
                        settings.bounce_speed,
                    );
                }
                row += 3;
            }
        }
    }

    /// Whether no contact point touches, with bodies as they are.
    pub(super) fn are_open(&self, state: &State) -> bool {
        self.contacts.iter().all(|local| {
            let contact = &state.contacts[local.index as usize];
            let (a, b) = (&self.bodies[local.a as usize], &self.bodies[local.b as usize]);
            let mut points =
                self.points[local.point_start as usize..][..contact.count as usize].iter();
            points.all(|point| meet(local, point, contact.normal, a, b).0 > 0.0)
        })
    }

    /// Arms alone, after bodies have moved.
    pub(super) fn move_rows(&mut self, state: &State) {
        let mut row = 0;
        for local in &self.contacts {
            let contact = &state.contacts[local.index as usize];
            let (a, b) = (&self.bodies[local.a as usize], &self.bodies[local.b as usize]);
            let points = &self.points[local.point_start as usize..][..contact.count as usize];
            for point in points {
                let (_, r_a, r_b) = meet(local, point, contact.normal, a, b);
                for row in &mut self.problem.rows[row..row + 3] {
                    row.arm_a = r_a.cross(row.direction);
                    row.arm_b = r_b.cross(row.direction);
                }
                row += 3;
            }
        }
    }

    fn warm_start(&mut self) {
        contact::warm_start(&self.problem, &mut self.velocities, &self.impulses);
    }

    pub(super) fn solve(&mut self, settings: &SolveSettings) -> SolveReport {
        contact::solve(
            &self.problem,
            settings,
            &mut self.velocities,
            &mut self.impulses,
            &mut self.solver,
        )
    }

    /// x ← x + h v^p.
    fn move_bodies(&mut self, setting: Setting, count: usize, substep: u32, h: f64) {
        let (model, state, settings, dt) = setting;
        for (i, local) in self.bodies.iter_mut().enumerate() {
            let body = &model.bodies[local.slot as usize];
            let v = &mut self.velocities.bodies[i];
            if i < count {
                let pushed = &self.pushed[i];
                local.position += h * pushed.linear;
                let turned = rotation::advance(body, local.rotation, pushed.angular, h);
                v.angular = rotation::carry(body, (local.rotation, turned), v.angular);
                local.rotation = turned;
            } else if body.kind == BodyKind::Kinematic {
                let mut now = state.bodies[local.slot as usize];
                (now.position, now.rotation) = (local.position, local.rotation);
                move_kinematic(body, &mut now, state.time, dt, (substep, settings.substeps));
                (local.position, local.rotation) = (now.position, now.rotation);
            }
        }
    }

    /// Wanted velocities of the second solve: no push, but restitution where a gap closed.
    /// Says whether any does.
    pub(super) fn relax_rows(&mut self, state: &State, h: f64) -> bool {
        let mut bounces = false;
        let mut row = 0;
        for local in &self.contacts {
            let contact = &state.contacts[local.index as usize];
            for i in 0..contact.count as usize {
                let point = &mut self.points[local.point_start as usize + i];
                if self.impulses[row] == 0.0 {
                    point.bounce = 0.0;
                }
                bounces |= point.bounce > 0.0;
                self.problem.rows[row].compliance = 0.0;
                self.problem.rows[row].bias =
                    if point.bounce > 0.0 { -point.bounce } else { point.gap.max(0.0) / h };
                row += 3;
            }
        }
        bounces
    }

    /// The impulse of a bounce says nothing about the next substep.
    pub(super) fn forget_bounces(&mut self) {
        for (i, point) in self.points.iter().enumerate() {
            if point.bounce > 0.0 {
                self.impulses[3 * i..3 * i + 3].fill(0.0);
            }
        }
    }

    pub(super) fn write_back(
        &self,
        model: &Model,
        bodies: &mut [BodyState],
        impulses: &mut [[PointImpulse; POINTS_MAX]],
    ) {
        for (i, body) in bodies.iter_mut().enumerate() {
            let local = &self.bodies[i];
            body.position = local.position;
            body.rotation = local.rotation;
            body.velocity = self.velocities.bodies[i];
            mass::unlock_velocity(&mut body.velocity, model.bodies[local.slot as usize].locks);
        }
        for (i, (local, out)) in self.contacts.iter().zip(impulses).enumerate() {
            let next = self.contacts.get(i + 1);
            let end = next.map_or(self.points.len(), |c| c.point_start as usize);
            *out = Default::default();
            for (slot, i) in out.iter_mut().zip(local.point_start as usize..end) {
                let z = &self.impulses[3 * i..3 * i + 3];
                slot.normal = z[0];
                slot.friction = z[1] * local.tangents.0 + z[2] * local.tangents.1;
            }
        }
    }
}

/// Gap of a contact point, and its place from the centres of both bodies.
fn meet(
    local: &LocalContact,
    point: &LocalPoint,
    n: Vec3,
    a: &LocalBody,
    b: &LocalBody,
) -> (f64, Vec3, Vec3) {
    let [radius_a, radius_b] = point.radii;
    let core_a = a.position + a.rotation * point.anchors[0];
    let core_b = b.position + b.rotation * point.anchors[1];
    let gap = n.dot(core_b - core_a) - radius_a - radius_b;
    let with_b = match (radius_a > 0.0, radius_b > 0.0) {
        (false, true) => true,
        (true, false) => false,
        _ => local.with_b,
    };
    let meeting = if with_b {
        core_b - (radius_b + 0.5 * gap) * n
    } else {
        core_a + (radius_a + 0.5 * gap) * n
    };
    (gap, meeting - a.position, meeting - b.position)
}

pub(super) fn external_force(
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

/// J v of a normal row between two bodies.
fn approach_speed(row: &Row, a: &Twist, b: &Twist) -> f64 {
    row.direction.dot(b.linear - a.linear) + row.arm_b.dot(b.angular) - row.arm_a.dot(a.angular)
}
