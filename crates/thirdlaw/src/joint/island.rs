//! The joints of one island, substep by substep: which rows they have, and what came of them. Where the
//! rows are is in `place`, how far off they are in `errors`, what they want in `want`.

use super::geometry::Placed;
use super::system::{JointRow, Link, Role, Source, System};
use crate::contact::Velocities;
use crate::math::{Quat, Twist, Vec3};
use crate::model::Model;
use crate::model::joint::constraint::ROWS_MAX;
use crate::model::joint::description::{Enforcement, JointKind};
use crate::model::joint::model::{JointModel, holds, used_axes};
use crate::state::joint::JointState;

/// The joints of one island with the memory to solve them.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointIsland {
    pub system: System,
    /// Velocities of all nodes.
    pub v: Vec<Twist>,
    /// Centres and orientations of all nodes.
    pub poses: Vec<(Vec3, Quat)>,
    /// Where they would be at the end of the substep.
    pub trial: Vec<(Vec3, Quat)>,
    /// The time of the poses and of the trial poses, s.
    pub clock: [f64; 2],
    /// One per link.
    pub locals: Vec<Local>,
    pub(super) loads: Vec<super::stiffness::Load>,
    /// Moves of a projection.
    pub(super) moves: Vec<Twist>,
    pub(super) kept_poses: Vec<(Vec3, Quat)>,
    pub(super) kept_rows: Vec<JointRow>,
    pub(super) kept_states: Vec<JointState>,
    pub(super) saved_v: Vec<Twist>,
    pub(super) fall_back: super::fall_back::FallBack,
}

/// What changes of a joint within a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    /// Coordinates, their rates, breaking: becomes the joint's state.
    pub state: JointState,
    /// Impulse on side b in this substep, N·s.
    pub push: Vec3,
    /// Angular impulse on side b about its anchor in this substep, N·m·s.
    pub turn: Vec3,
    /// How it is held in a substep that is not taken in coordinates.
    pub way: Enforcement,
    /// Whether it is to be held in coordinates.
    pub reduced: bool,
    /// Whether it says itself how it is to be held.
    pub asked: bool,
    /// Whether it is broken, or gears a joint that is.
    pub idle: bool,
    pub placed: Placed,
    /// Coordinates and place on a curve at the trial poses.
    pub tried: ([f64; 6], f64),
}

/// What all stages of a substep know.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub model: &'a Model,
    /// Simulated time at the start of the substep, s.
    pub time: f64,
    /// Length of the substep, s.
    pub h: f64,
    /// How fast bodies of this size are.
    pub pace: Pace,
}

/// Lengths and speeds that are small or large for the bodies of an island. Constants are those of bodies half
/// a metre across; for others lengths go with the size, speeds with its root, and turns by the second with
/// the inverse of that: a scene scaled as a whole, under the same gravity, moves as before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Lengths over those of bodies half a metre across.
    pub length: f64,
    /// Speeds, likewise.
    pub speed: f64,
}

/// Fastest speed at which errors are closed, m/s and rad/s.
const CLOSING: f64 = 3.0;

impl Pace {
    /// That of bodies whose speeds are `speed` times those of bodies half a metre across.
    pub fn of(speed: f64) -> Pace {
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Pace { length: speed * speed, speed }
    }

    /// A speed, m/s or rad/s.
    pub fn rate(&self, turns: bool, rate: f64) -> f64 {
        if turns { rate / self.speed } else { rate * self.speed }
    }

    /// A length, m, or an angle.
    pub fn way(&self, turns: bool, way: f64) -> f64 {
        if turns { way } else { way * self.length }
    }

    /// Farthest that an error is closed in a substep of `h` seconds, m or rad.
    pub fn closing(&self, turns: bool, h: f64) -> f64 {
        h * self.rate(turns, CLOSING)
    }
}

impl JointIsland {
    /// Adds the rows of a joint whose sides are these nodes.
    pub fn add_joint(
        &mut self,
        joint: &JointModel,
        slot: u32,
        ends: &[u32],
        now: &JointState,
        way: Enforcement,
    ) {
        self.system.add_link(Source::Joint(slot), ends);
        let way = joint.joint.enforcement.unwrap_or(way);
        let reduced = way == Enforcement::Reduced && holds(&joint.joint.kind);
        let way = if way == Enforcement::Reduced { Enforcement::Stabilized } else { way };
        self.locals.push(Local {
            state: *now,
            push: Vec3::ZERO,
            turn: Vec3::ZERO,
            way,
            reduced,
            asked: joint.joint.enforcement.is_some(),
            idle: now.broken,
            placed: Placed {
                r_a: Vec3::ZERO,
                r_b: Vec3::ZERO,
                gap: Vec3::ZERO,
                q_a: Quat::IDENTITY,
                q_b: Quat::IDENTITY,
            },
            tried: (now.coordinates, now.place),
        });
        if now.broken {
            return;
        }
        let system = &mut self.system;
        match &joint.joint.kind {
            JointKind::Distance { min, max } if min == max => system.add_row(Role::Hold, 0),
            JointKind::Distance { min, max } => {
                if *min > 0.0 {
                    system.add_row(Role::Low, 0);
                }
                if max.is_finite() {
                    system.add_row(Role::High, 0);
                }
            }
            JointKind::Curve { closed, .. } => {
                system.add_row(Role::Hold, 1);
                system.add_row(Role::Hold, 2);
                // a wire ends at its ends, whatever limits allow
                if !closed {
                    system.add_row(Role::Low, 0);
                    system.add_row(Role::High, 0);
                }
            }
            JointKind::Gear { .. } | JointKind::Rack { .. } => system.add_row(Role::Hold, 0),
            JointKind::Spring { .. } => system.add_row(Role::Spring, 0),
            JointKind::AngularSpring { .. } => (3..6).for_each(|i| system.add_row(Role::Spring, i)),
            _ => {
                (0..6).filter(|&i| joint.locked[i]).for_each(|i| system.add_row(Role::Hold, i));
            }
        }
        let used = used_axes(&joint.joint.kind);
        for (i, axis) in joint.joint.axes.iter().enumerate() {
            if joint.locked[i] || !used[i] {
                continue;
            }
            if let Some(limits) = axis.limits
                && !joint.has_ends()
            {
                if limits.lower.is_finite() {
                    system.add_row(Role::Low, i);
                }
                if limits.upper.is_finite() {
                    system.add_row(Role::High, i);
                }
            }
            if axis.friction > 0.0 {
                system.add_row(Role::Friction, i);
            }
            if axis.spring.is_some() {
                system.add_row(Role::Spring, i);
            }
            match &axis.drive {
                Some(drive) if drive.damping == f64::INFINITY => system.add_row(Role::Motor, i),
                Some(_) => system.add_row(Role::Drive, i),
                None => {}
            }
        }
    }

    /// Adds the rows of a user's constraint.
    pub fn add_constraint(&mut self, rows: usize, slot: u32, ends: &[u32], way: Enforcement) {
        self.system.add_link(Source::Constraint(slot), ends);
        let way = if way == Enforcement::Reduced { Enforcement::Stabilized } else { way };
        let state = JointState::default();
        let placed = Placed {
            r_a: Vec3::ZERO,
            r_b: Vec3::ZERO,
            gap: Vec3::ZERO,
            q_a: Quat::IDENTITY,
            q_b: Quat::IDENTITY,
        };
        self.locals.push(Local {
            state,
            push: Vec3::ZERO,
            turn: Vec3::ZERO,
            way,
            reduced: false,
            asked: false,
            idle: false,
            placed,
            tried: ([0.0; 6], 0.0),
        });
        (0..rows.min(ROWS_MAX)).for_each(|i| self.system.add_row(Role::Hold, i));
    }

    /// Takes over the velocities of bodies and point masses; the world's is zero.
    pub fn take_velocities(&mut self, velocities: &Velocities) {
        self.v.clear();
        self.v.extend_from_slice(&velocities.bodies);
        let still = |&linear: &Vec3| Twist { linear, angular: Vec3::ZERO };
        self.v.extend(velocities.particles.iter().map(still));
        self.v.push(Twist::default());
    }

    /// Gives them back.
    pub fn give_velocities(&self, velocities: &mut Velocities) {
        let (bodies, rest) = self.v.split_at(velocities.bodies.len());
        velocities.bodies.copy_from_slice(bodies);
        for (v, node) in velocities.particles.iter_mut().zip(rest) {
            *v = node.linear;
        }
    }

    /// Whether a row is about a turn, and its error an angle.
    pub(crate) fn turns(&self, model: &Model, link: &Link, r: usize) -> bool {
        match link.source {
            Source::Joint(slot) => {
                let joint = &model.joints[slot as usize];
                !joint.is_line() && joint.curve.is_none() && self.system.rows[r].axis >= 3
            }
            Source::Constraint(_) => false,
        }
    }

    pub(super) fn sides(&self, l: usize) -> [usize; 2] {
        let start = self.system.links[l].end_start as usize;
        [self.system.ends[start] as usize, self.system.ends[start + 1] as usize]
    }

    /// The link of a joint that is in this island. Links of joints come in the order of slots.
    pub(super) fn link_of(&self, slot: u32) -> Option<usize> {
        let key = |link: &Link| match link.source {
            Source::Joint(slot) => u64::from(slot),
            Source::Constraint(slot) => 1 << 32 | u64::from(slot),
        };
        self.system.links.binary_search_by_key(&u64::from(slot), key).ok()
    }

    /// Calls `f` for every row that holds a joint or constraint, at work and held in the way asked for.
    pub(super) fn each_held(
        &mut self,
        ours: impl Fn(&Enforcement) -> bool,
        mut f: impl FnMut(&mut JointIsland, &Link, usize),
    ) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            if !ours(&self.locals[l].way) || self.locals[l].idle {
                continue;
            }
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                if matches!(self.system.rows[r].role, Role::Hold | Role::Rate) {
                    f(self, &link, r);
                }
            }
        }
    }

    /// Whether all joints only hold, limit or rub, and none asks for a way to be held.
    pub fn is_plain(&self) -> bool {
        let plain = |row: &JointRow| {
            matches!(row.role, Role::Hold | Role::Low | Role::High | Role::Friction)
        };
        self.system.rows.iter().all(plain) && !self.locals.iter().any(|local| local.asked)
    }

    /// Which link this is.
    pub(super) fn link_index(&self, link: &Link) -> usize {
        self.system.links.partition_point(|other| other.end_start < link.end_start)
    }

    /// Gives an impulse on a row.
    pub(super) fn give(&mut self, link: &Link, r: usize, z: f64) {
        self.system.apply(link, r, z, &mut self.v);
        self.react(self.link_index(link), r, z);
    }

    /// Whether a joint, or one that it gears, is broken.
    pub(crate) fn is_idle(&self, model: &Model, l: usize) -> bool {
        let Source::Joint(slot) = self.system.links[l].source else { return false };
        let broken =
            |slot: u32| self.link_of(slot).is_none_or(|other| self.locals[other].state.broken);
        match model.joints[slot as usize].coupling() {
            Some((first, second, _)) => broken(first) || broken(second),
            None => self.locals[l].state.broken,
        }
    }

    /// Adds the impulses of all rows to the reactions, and tells a user's own constraints of theirs.
    pub fn collect(&mut self, model: &Model) {
        self.system.share();
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            let rows = link.row_start as usize..(link.row_start + link.row_count) as usize;
            for r in rows.clone() {
                self.react(l, r, self.system.rows[r].impulse);
            }
            if let Source::Constraint(slot) = link.source
                && let Some(constraint) = &model.constraints[slot as usize].constraint
            {
                let mut carried = [0.0; crate::model::joint::constraint::ROWS_MAX];
                let count = rows.len();
                for (out, row) in carried.iter_mut().zip(&self.system.rows[rows]) {
                    *out = row.impulse;
                }
                constraint.carried(&carried[..count]);
            }
        }
    }

    /// Adds the impulse of one row to the reactions.
    pub fn give_whole(&mut self, r: usize, z: f64) {
        let after = |link: &Link| link.row_start as usize <= r;
        let l = self.system.links.partition_point(after).saturating_sub(1);
        self.react(l, r, z);
    }

    /// Adds the impulses of all rows, times a factor, to the reactions.
    pub(super) fn collect_scaled(&mut self, factor: f64) {
        for l in 0..self.system.links.len() {
            let link = self.system.links[l];
            for r in link.row_start as usize..(link.row_start + link.row_count) as usize {
                self.react(l, r, factor * self.system.rows[r].impulse);
            }
        }
    }

    pub(super) fn react(&mut self, l: usize, r: usize, z: f64) {
        let link = self.system.links[l];
        if z == 0.0 || link.end_count != 2 {
            return;
        }
        let part = self.system.jacobian[self.system.parts(&link, r).start + 1];
        let local = &mut self.locals[l];
        local.push += z * part.linear;
        local.turn += z * (part.angular - local.placed.r_b.cross(part.linear));
    }

    /// Ends a substep: reactions become forces, and joints that cannot bear them break.
    pub fn settle(&mut self, stage: &Stage) {
        for l in 0..self.system.links.len() {
            let Source::Joint(slot) = self.system.links[l].source else { continue };
            let joint = &stage.model.joints[slot as usize].joint;
            let local = &mut self.locals[l];
            local.state.force = local.push / stage.h;
            local.state.torque = local.turn / stage.h;
            (local.push, local.turn) = (Vec3::ZERO, Vec3::ZERO);
            let state = &mut local.state;
            if state.force.length() > joint.break_force
                || state.torque.length() > joint.break_torque
            {
                state.broken = true;
            }
        }
    }
}
