//! One island with joints through the substeps of a step.
//!
//! Each substep of h seconds is a Newmark step with joints held by impulses before and after the move
//! ([shinar2008 §2, §5, §7], WTF06; for joints alone it is RATTLE, of second order):
//!
//!   v ← v + ½h M⁻¹f                        half the forces
//!   J(x)ᵀλ so that C(x + h v) = 0          pre-stabilization, iterated like Newton; contacts with push
//!   x ← x + h v                            positions
//!   v ← v + ½h M⁻¹f                        the other half
//!   J(x)ᵀμ so that J(x) v = 0              post-stabilization; contacts without push, with restitution
//!
//! The Newton iterations keep J and the factors of the start of the substep; only C is taken anew. Where
//! they do not get there, because bodies turn too far in a substep or the joints leave them no room, the
//! move follows velocities that fit, and positions are brought onto the constraint afterwards in a way
//! that adds no energy (`joint::fall_back`).

use super::kinematic::move_kinematic;
use super::substep::{Changed, IslandScratch, LocalBody, Members, Setting, SolveTotals};
use crate::contact::{self, SolveSettings};
use crate::joint::enforce::{self, Moment};
use crate::joint::island::{Pace, Stage};
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::model::body::{mass, rotation};
use crate::model::joint::description::Enforcement;
use crate::report::SolvePath;
use crate::step::classify::{BOUNCE_ITERATIONS, Facts, JointFacts, classify_joints, effort};

/// Growth of the error by which the Newton iterations are lost.
const LOST: f64 = 1e3;

impl IslandScratch {
    /// Advances an island with joints or point masses by a step.
    pub(crate) fn solve_jointed(
        &mut self,
        setting: Setting,
        members: Members,
        changed: Changed,
    ) -> SolveTotals {
        let (model, state, settings, dt) = setting;
        let h = dt / f64::from(settings.substeps);
        let mut totals = SolveTotals::default();
        self.gather(setting, std::iter::once(members));
        self.gather_joints(setting, members);
        self.first_joint_row = None;
        let joint_facts = JointFacts {
            contact_rows: self.problem.rows.len(),
            // and the world
            nodes: self.velocities.bodies.len() + self.velocities.particles.len() + 1,
            // gears and constraints hold more than two sides, which the contact problem cannot say
            pairwise: self.joints.system.is_pairwise(),
            plain: members.points.is_empty()
                && settings.joints.enforcement == Enforcement::Reduced
                && self.joints.is_plain(),
            lopsided: Facts::of_bodies(model, state, members.bodies).is_lopsided(),
        };
        self.path = classify_joints(&joint_facts, settings.joints.solve);
        if matches!(self.path, SolvePath::JointRows | SolvePath::SoftJoints) {
            self.add_joint_rows(members);
        }
        contact::prepare(&self.problem, &mut self.solver);
        if self.path == SolvePath::SoftJoints {
            return self.solve_soft_joints(setting, members, changed);
        }
        let rows = self.problem.rows.len();
        let facts = Facts::of_bodies(model, state, members.bodies);
        let push = effort(&facts, &settings.contact, settings.contact.iterations, rows);
        let relax = effort(&facts, &settings.contact, settings.contact.relax_iterations, rows);
        let pace = Pace::of(facts.speed_scale);
        let floats = self.floats(members.bodies.len());
        let mut parts = 1;
        let mut reduced = self.begin_reduced(setting, members, h);
        for substep in 0..settings.substeps {
            let time = state.time + f64::from(substep) * h;
            if reduced && self.reduced_substep(setting, members, (time, h)) {
                totals.reduced += 1;
                reduced = !self.joints.locals.iter().any(|local| local.state.broken);
                continue;
            }
            // what touches or is at a limit will most likely stay there for a while
            reduced = false;
            self.update_masses(model, members, 0.0);
            let before = std::mem::replace(&mut parts, self.joints.parts_of(model, h));
            self.scale_impulses(f64::from(before) / f64::from(parts));
            let h = h / f64::from(parts);
            for part in 0..parts {
                let at = (substep * parts + part, settings.substeps * parts);
                let time = state.time + f64::from(at.0) * h;
                let stage = Stage { model, time, h, pace };
                self.place_kinematic(setting, members.bodies.len(), at);
                if floats {
                    self.open_books(setting, members.bodies.len());
                }
                self.before_move(setting, members, &stage, &push, &mut totals);
                self.move_jointed(setting, members.bodies.len());
                self.after_move(setting, members, &stage, &relax, &mut totals);
                if floats {
                    self.close_books(setting, members.bodies.len());
                }
            }
        }
        self.scale_impulses(f64::from(parts));
        if totals.reduced == settings.substeps {
            totals.path = SolvePath::Reduced;
        }
        totals.joint_work = self.joints.system.factor.work + self.tree.work;
        self.write_back(model, (0, 0), changed.bodies, changed.impulses);
        self.write_joints(setting, members, changed.joints, changed.points);
        totals
    }

    /// Contact impulses of substeps that are longer or shorter.
    pub(crate) fn scale_impulses(&mut self, factor: f64) {
        if factor != 1.0 {
            self.impulses.iter_mut().for_each(|z| *z *= factor);
        }
    }

    /// Half the forces, and impulses that make the positions at the end fit.
    pub(crate) fn before_move(
        &mut self,
        setting: Setting,
        members: Members,
        stage: &Stage,
        solve: &SolveSettings,
        totals: &mut SolveTotals,
    ) {
        let (_, state, settings, _) = setting;
        let h = stage.h;
        self.joints.clock = [stage.time, stage.time + h];
        self.joints.v.truncate(0);
        self.load_velocities();
        self.joints.keep_start();
        self.apply_forces(setting, members.bodies.len(), stage.time, 0.5 * h);
        self.kick_points(setting, members.points, 0.5 * h);
        self.book_forces(setting, members.bodies.len());
        self.update_masses(stage.model, members, h);
        self.load_velocities();
        self.joints.place(stage);
        self.joints.want_positions(stage);
        if !self.contacts.is_empty() {
            self.place_rows(state, &settings.contact, h);
            self.want_bounces(&settings.contact, h);
            contact::refresh(&self.problem, &mut self.solver);
            self.warm_start_contacts();
            self.load_velocities();
        }
        self.joints.keep_entry(&self.impulses);
        self.solve_both(solve, totals);
        self.try_poses(stage.model, members.bodies.len(), h);
        if self.joints.system.rows.is_empty() {
            return;
        }
        let tolerance = settings.joints.tolerance;
        let mut error = self.joints.aim(stage, false);
        let first = error.max(tolerance);
        for _ in 0..settings.joints.iterations {
            if error <= tolerance || error > LOST * first || self.first_joint_row.is_some() {
                break;
            }
            self.joints.system.solve(&mut self.joints.v);
            self.try_poses(stage.model, members.bodies.len(), h);
            error = self.joints.aim(stage, false);
        }
        let missed = error > tolerance.max(1e-7).min(10.0 * first) || error.is_nan();
        if self.first_joint_row.is_none() && (missed || self.joints.throws(stage)) {
            self.joints.begin_again(stage, &mut self.impulses);
            self.through.warm = true;
            self.solve_both(solve, totals);
            self.try_poses(stage.model, members.bodies.len(), h);
            self.joints.pull_back(stage);
        }
        self.joints.collect(stage.model);
        enforce::act(&mut self.joints, Moment::Moved, stage);
    }

    /// The other half of the forces, and impulses that make the velocities fit.
    pub(crate) fn after_move(
        &mut self,
        setting: Setting,
        members: Members,
        stage: &Stage,
        solve: &SolveSettings,
        totals: &mut SolveTotals,
    ) {
        let (_, state, _, _) = setting;
        let h = stage.h;
        self.joints.clock = [stage.time + h; 2];
        self.store_velocities();
        self.joints.keep_start();
        self.look_at_momenta(setting, members.bodies.len());
        self.apply_forces(setting, members.bodies.len(), stage.time + 0.5 * h, 0.5 * h);
        self.kick_points(setting, members.points, 0.5 * h);
        self.book_forces(setting, members.bodies.len());
        self.update_masses(stage.model, members, h);
        self.load_velocities();
        self.joints.place(stage);
        self.joints.pay_springs();
        self.joints.want_velocities(stage);
        let mut solve = *solve;
        if !self.contacts.is_empty() {
            self.move_rows(state);
            if self.relax_or_bounce(h) {
                solve.iterations = solve.iterations.max(BOUNCE_ITERATIONS);
            }
            contact::refresh(&self.problem, &mut self.solver);
        }
        self.solve_both(&solve, totals);
        self.store_velocities();
        if !self.contacts.is_empty() {
            self.forget_bounces();
            // torques that contacts do not know of: the next substep makes joints fit again
            self.resist_anew();
            self.load_velocities();
        }
        self.joints.collect(stage.model);
        self.joints.settle(stage);
    }

    /// Mass and inertia in world axes.
    pub(crate) fn update_masses(&mut self, model: &Model, members: Members, h: f64) {
        let Members { bodies, points, .. } = members;
        for i in 0..bodies.len() {
            let local = &self.bodies[i];
            let body = &model.bodies[local.slot as usize];
            let r = Mat3::from_quat(local.rotation);
            let node = &mut self.joints.system.nodes[i];
            node.mass = body.mass;
            node.inertia = r * body.inertia * r.transpose();
            node.inverse = mass::body_mass(body, local.rotation);
        }
        for (i, &slot) in points.iter().enumerate() {
            let node = &mut self.joints.system.nodes[self.bodies.len() + i];
            node.mass = model.points[slot as usize].mass;
            node.inverse.inv_mass = Vec3::splat(1.0 / node.mass);
        }
        self.joints.calm(h);
        for (mass, node) in self.problem.bodies.iter_mut().zip(&self.joints.system.nodes) {
            if node.movable {
                *mass = node.inverse;
            }
        }
    }

    pub(crate) fn load_velocities(&mut self) {
        self.joints.take_velocities(&self.velocities);
    }

    pub(crate) fn store_velocities(&mut self) {
        self.joints.give_velocities(&mut self.velocities);
    }

    pub(crate) fn kick_points(
        &mut self,
        (model, state, settings, _): Setting,
        points: &[u32],
        h: f64,
    ) {
        for (v, &slot) in self.velocities.particles.iter_mut().zip(points) {
            let point = &model.points[slot as usize];
            let push = state.points.push[slot as usize];
            *v += h * (point.gravity_scale * settings.gravity + push / point.mass);
        }
    }

    /// Velocities of kinematic bodies in this substep, and where it takes them.
    pub(crate) fn place_kinematic(&mut self, setting: Setting, count: usize, at: (u32, u32)) {
        let (model, state, _, dt) = setting;
        self.set_kinematic_velocities(setting, count, at);
        self.next.clear();
        for local in &self.bodies[count..] {
            let body = &model.bodies[local.slot as usize];
            let mut now = state.bodies[local.slot as usize];
            (now.position, now.rotation) = (local.position, local.rotation);
            if body.kind == crate::model::body::BodyKind::Kinematic {
                move_kinematic(body, &mut now, state.time, dt, at);
            } else if body.is_dynamic() {
                // what dominates, as it moved at the start of the step
                let h = dt / f64::from(at.1);
                now.position += h * now.velocity.linear;
                now.rotation = rotation::advance(body, now.rotation, now.velocity.angular, h);
            }
            self.next.push((now.position, now.rotation));
        }
    }

    /// Where the velocities take all nodes in a substep.
    pub(crate) fn try_poses(&mut self, model: &Model, count: usize, h: f64) {
        let joints = &mut self.joints;
        joints.trial.clone_from(&joints.poses);
        for i in 0..joints.trial.len() {
            let v = &joints.v[i];
            let (position, rotation) = &mut joints.trial[i];
            if i < count {
                let body = &model.bodies[self.bodies[i].slot as usize];
                *position += h * v.linear;
                *rotation = rotation::advance(body, *rotation, v.angular, h);
            } else if i < self.bodies.len() {
                (*position, *rotation) = self.next[i - count];
            } else {
                *position += h * v.linear;
            }
        }
    }

    /// x ← the trial poses; angular velocities keep the angular momentum.
    pub(crate) fn move_jointed(&mut self, (model, ..): Setting, count: usize) {
        for (i, local) in self.bodies.iter_mut().enumerate() {
            let (position, turned) = self.joints.trial[i];
            if i < count {
                let body = &model.bodies[local.slot as usize];
                let v = &mut self.joints.v[i];
                v.angular = rotation::carry_bounded(body, (local.rotation, turned), v.angular);
            }
            *local = LocalBody { slot: local.slot, position, rotation: turned };
        }
        let joints = &mut self.joints;
        joints.poses.clone_from(&joints.trial);
    }

    pub(crate) fn write_joints(
        &mut self,
        (model, state, ..): Setting,
        members: Members,
        out: &mut [crate::state::joint::JointState],
        points: &mut [crate::state::point::PointState],
    ) {
        self.load_velocities();
        self.joints.read(model);
        for (out, local) in out.iter_mut().zip(&self.joints.locals) {
            *out = local.state;
        }
        let first = self.bodies.len();
        for (i, (out, &slot)) in points.iter_mut().zip(members.points).enumerate() {
            *out = state.points.get(slot as usize);
            out.position = self.joints.poses[first + i].0;
            out.velocity = self.joints.v[first + i].linear;
        }
    }
}
