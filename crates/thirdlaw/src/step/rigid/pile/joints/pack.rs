//! From joints to bundles, and back.

// a lane, a side or an axis counts through several arrays at once
#![allow(clippy::needless_range_loop)]

use super::bundle::{Bundle, ROWS_MAX, Row};
use crate::joint::geometry::{Placed, side_pose};
use crate::math::{Quat, Twist, Vec3};
use crate::model::joint::model::JointModel;
use crate::simd::f32x8::{LANES, Wide3};
use crate::state::State;
use crate::state::joint::JointState;
use crate::step::rigid::pile::order::{Entry, Group, NONE};
use crate::step::rigid::pile::pack::Place;

/// Room of a limit that is not there, rad.
const NOWHERE: f32 = 1e6;
/// Room from which a limit bears nothing at the beginning of a step, rad.
const CLOSED: f64 = 1e-2;
/// A row about an axis before it lies in a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    axis: Vec3,
    room: [f64; 2],
    limit: bool,
    most: f64,
}

/// The rows of a joint about axes.
#[derive(Debug, Default)]
struct Rows {
    all: [Numbers; ROWS_MAX],
    count: usize,
}

impl Rows {
    fn add(&mut self, row: Numbers) {
        if let Some(to) = self.all.get_mut(self.count) {
            *to = row;
            self.count += 1;
        }
    }
}

/// What packing reads.
pub struct Source<'a> {
    pub joints: &'a [JointModel],
    pub state: &'a State,
    pub entries: &'a [Entry],
    pub places: &'a [Place],
    /// Slots of the joints of the pile.
    pub slots: &'a [u32],
    /// Length of a substep, s.
    pub substep: f64,
}

/// Fills a bundle and its rows, whatever they held before, with the joints of a group. Returns how many rows
/// they have.
pub fn pack(bundle: &mut Bundle, rows: &mut [Row], group: &Group, source: &Source) {
    let start = bundle.start;
    *bundle = Bundle { start, ..Bundle::default() };
    rows.fill(Row::default());
    for (lane, &i) in group.lanes.iter().enumerate().filter(|(_, i)| **i != NONE) {
        let (entry, slot) = (&source.entries[i as usize], source.slots[i as usize] as usize);
        let (joint, now) = (&source.joints[slot], &source.state.joints[slot]);
        let sides = [joint.a, joint.b].map(|side| side_pose(source.state, side));
        let placed = joint.placed(sides[0], sides[1]);
        let h = source.substep;
        set(&mut bundle.arm[0], lane, placed.r_a);
        set(&mut bundle.arm[1], lane, placed.r_b);
        set(&mut bundle.gap, lane, placed.gap);
        set(&mut bundle.impulse, lane, h * now.force);
        for side in 0..2 {
            bundle.body[side][lane] = entry.body[side];
            if entry.moves[side] {
                let place = &source.places[entry.body[side] as usize];
                bundle.moves[side] |= 1 << lane;
                bundle.free[side].0[lane] = 1.0;
                for (to, &from) in bundle.root[side].iter_mut().zip(&place.root) {
                    to.0[lane] = from;
                }
                for x in 0..3 {
                    bundle.mass[x].0[lane] += place.inv_mass[x];
                }
            } else {
                // so that what moves by itself is seen to turn
                let place = &source.places[entry.body[side] as usize];
                for (to, &from) in bundle.root[side].iter_mut().zip(&place.root) {
                    to.0[lane] = from;
                }
            }
        }
        let found = find_rows(joint, now, &placed, h);
        bundle.rows = bundle.rows.max(found.count as u8);
        let mut torque = h * now.torque;
        for (row, numbers) in rows.iter_mut().zip(&found.all[..found.count]) {
            let z = carried(numbers, torque);
            torque -= z * numbers.axis;
            set(&mut row.axis, lane, numbers.axis);
            for k in 0..2 {
                row.room[k].0[lane] = (numbers.room[k] as f32).min(NOWHERE);
            }
            row.limit.0[lane] = f32::from(u8::from(numbers.limit));
            row.most.0[lane] = (numbers.most as f32).min(f32::MAX);
            row.impulse.0[lane] = z as f32;
        }
    }
}

fn set(to: &mut Wide3, lane: usize, v: Vec3) {
    for (to, x) in to.iter_mut().zip(v.to_array()) {
        to.0[lane] = x as f32;
    }
}

/// The impulse of a row that the last reaction tells of.
fn carried(row: &Numbers, torque: Vec3) -> f64 {
    let z = torque.dot(row.axis) / row.axis.length_squared().max(1e-30);
    let z = z.clamp(-row.most, row.most);
    match row.limit {
        // ends that are open bear nothing
        true => {
            let most = |room: f64| if room < CLOSED { f64::INFINITY } else { 0.0 };
            z.clamp(-most(row.room[1]), most(row.room[0]))
        }
        false => z,
    }
}

/// The rows of a joint about axes at these places.
fn find_rows(joint: &JointModel, now: &JointState, placed: &Placed, h: f64) -> Rows {
    let mut place = now.place;
    let q = joint.coordinates(placed, &now.coordinates, &mut place);
    let gradients = joint.turn_gradients(placed);
    let mut rows = Rows::default();
    for i in 3..6 {
        let settings = &joint.joint.axes[i];
        let axis = gradients[i - 3];
        if joint.locked[i] {
            rows.add(Numbers { axis, room: [q[i], 0.0], limit: false, most: f64::INFINITY });
            continue;
        }
        if let Some(limits) = settings.limits {
            // a blow may bring a limb to any end within the step
            let room = [q[i] - limits.lower, limits.upper - q[i]];
            rows.add(Numbers { axis, room, limit: true, most: f64::INFINITY });
        }
        if settings.friction > 0.0 {
            let most = h * settings.friction;
            rows.add(Numbers { axis, room: [0.0; 2], limit: false, most });
        }
    }
    rows
}

/// What a joint is told at the end of a step.
pub struct End<'a> {
    /// Centres, orientations and velocities of the sides.
    pub sides: [((Vec3, Quat), Twist); 2],
    /// Forces and torques of the last substep, N and N·m.
    pub force: Vec3,
    pub torque: Vec3,
    pub joint: &'a JointModel,
    pub before: &'a JointState,
}

/// Impulses of the joint in a lane: a force, and a torque about b's anchor.
pub fn reaction(bundle: &Bundle, rows: &[Row], lane: usize, turned_a: Quat) -> (Vec3, Vec3) {
    let at = |v: &Wide3| Vec3::from_array([0, 1, 2].map(|x| f64::from(v[x].0[lane])));
    let mut torque = Vec3::ZERO;
    for row in rows {
        torque += f64::from(row.impulse.0[lane]) * (turned_a * at(&row.axis));
    }
    (at(&bundle.impulse), torque)
}

impl End<'_> {
    /// The joint's state.
    pub fn state(&self) -> JointState {
        let End { sides: [(a, va), (b, vb)], force, torque, joint, before } = *self;
        let placed = joint.placed(a, b);
        let mut place = before.place;
        let q = joint.coordinates(&placed, &before.coordinates, &mut place);
        let gradients = joint.turn_gradients(&placed);
        let apart = vb.linear + vb.angular.cross(placed.r_b)
            - va.linear
            - va.angular.cross(placed.r_a + placed.gap);
        let along = placed.q_a.conjugate() * apart;
        let turning = vb.angular - va.angular;
        let [rx, ry, rz] = gradients.map(|g| g.dot(turning));
        let held = |i: usize| if joint.locked[i] { q[i] * q[i] } else { 0.0 };
        JointState {
            coordinates: q,
            rates: [along.x, along.y, along.z, rx, ry, rz],
            force,
            torque,
            error: (held(0) + held(1) + held(2)).sqrt(),
            turn_error: (held(3) + held(4) + held(5)).sqrt(),
            place,
            ..*before
        }
    }
}

/// Lanes of a group that hold a joint.
pub fn used(group: &Group) -> impl Iterator<Item = (usize, usize)> {
    (0..LANES)
        .filter(|&lane| group.lanes[lane] != NONE)
        .map(|lane| (lane, group.lanes[lane] as usize))
}
