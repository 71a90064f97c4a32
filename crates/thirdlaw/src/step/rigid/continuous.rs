//! What the solve did not see coming: bodies that went farther in a step than they are thick are swept along
//! the way they have gone, and stopped where they first touch what they have no contact with.
//!
//! Pairs that meet by the velocities that a step begins with have a contact from its beginning on
//! (`collide/ahead.rs`). What is left is what the step itself has made fast or turned aside. Bodies stop in
//! the order of their impacts, each at its own time and for the rest of the step; who comes later meets them
//! there. What joints hold together stops together. Velocities stay for the contacts of the next step, and
//! so does the angular momentum as far as the energy allows: the angular velocity of a rod about another axis
//! would be that of thousands of times the energy.

use super::finish::is_fast;
use crate::collide::broad::BroadPhase;
use crate::collide::time_of_impact::{Motion, time_of_impact};
use crate::math::{Pose, Quat, Vec3, rotation_from_vector};
use crate::model::Model;
use crate::model::body::Groups;
use crate::model::body::model::BodyModel;
use crate::model::body::rotation;
use crate::shape::{Aabb, Shape};
use crate::state::State;
use crate::state::body::BodyState;
use crate::step::island::Islands;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

/// Share of the inner radius that stands for a body whose contacts should have held it.
const CORE: f64 = 0.25;

/// What sweeping reads: the broad phase knows where bodies were before the step.
pub struct Sweep<'a> {
    pub model: &'a Model,
    pub broad: &'a BroadPhase,
    /// Pairs that a joint keeps from touching, ordered.
    pub apart: &'a [(u32, u32)],
    pub dt: f64,
}

/// Stops those of the bodies in `slots` that went farther than they are thick where they first touch; says
/// how many did.
pub fn stop(sweep: &Sweep, state: &mut State, slots: impl Iterator<Item = usize>) -> u32 {
    let fast: Vec<usize> = slots.filter(|&slot| sweep.is_fast(state, slot)).collect();
    let mut stops = Stops::default();
    let mut queue = BinaryHeap::new();
    let mut candidates = BTreeMap::<usize, Vec<usize>>::new();
    for &slot in &fast {
        for other in sweep.candidates(state, slot) {
            candidates.entry(other).or_default().push(slot);
            let time = sweep.impact(state, (slot, other), None);
            queue.extend(time.map(|time| Reverse(Impact { time, slot, other, at_rest: false })));
        }
    }
    while let Some(Reverse(Impact { time, slot, other, at_rest })) = queue.pop() {
        // who has stopped is no longer where the impact would have been
        let outdated = stops.times.get(&other).is_some_and(|&t| t < time && !at_rest);
        if stops.times.contains_key(&slot) || outdated {
            continue;
        }
        for member in stops.together(sweep.model, state, slot) {
            if stops.times.contains_key(&member) {
                continue;
            }
            stops.times.insert(member, time);
            sweep.turn_back(state, member, time);
            for &coming in candidates.get(&member).map_or(&[][..], |list| list) {
                if stops.times.contains_key(&coming) {
                    continue;
                }
                let met = sweep.impact(state, (coming, member), Some(time));
                let impact = |time| Impact { time, slot: coming, other: member, at_rest: true };
                queue.extend(met.map(|time| Reverse(impact(time))));
            }
        }
    }
    stops.times.len() as u32
}

/// A body touches another for the first time; the earliest is the least.
#[derive(Clone, Copy, PartialEq)]
struct Impact {
    time: f64,
    slot: usize,
    other: usize,
    /// Whether the other one had stopped before.
    at_rest: bool,
}

impl Eq for Impact {}

impl PartialOrd for Impact {
    fn partial_cmp(&self, other: &Impact) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Impact {
    fn cmp(&self, other: &Impact) -> Ordering {
        let rest = (self.slot, self.other, self.at_rest);
        self.time.total_cmp(&other.time).then(rest.cmp(&(other.slot, other.other, other.at_rest)))
    }
}

/// Who has stopped when, and who stops together.
#[derive(Default)]
struct Stops {
    times: BTreeMap<usize, f64>,
    /// Bodies that joints connect, by the lowest of them; found when first asked for.
    parents: Option<Vec<u32>>,
}

impl Stops {
    /// A body and all that joints and constraints hold to it.
    fn together(&mut self, model: &Model, state: &State, slot: usize) -> Vec<usize> {
        if model.joints.is_empty() && model.constraints.is_empty() {
            return vec![slot];
        }
        let parents = self.parents.get_or_insert_with(|| Islands::joined(model, state));
        let root = parents[slot];
        (0..model.bodies.len()).filter(|&i| i == slot || parents[i] == root).collect()
    }
}

impl Sweep<'_> {
    fn is_fast(&self, state: &State, slot: usize) -> bool {
        let way = state.bodies[slot].position.distance(self.broad.start(slot).0);
        is_fast(&self.model.bodies[slot], way, &state.bodies[slot])
    }

    /// Bodies that it may have met.
    fn candidates(&self, state: &State, slot: usize) -> Vec<usize> {
        let body = &self.model.bodies[slot];
        let swept = swept_box(body, &self.motion(state, slot));
        let may_touch = |&other: &usize| {
            let other_body = &self.model.bodies[other];
            let pair = (slot.min(other) as u32, slot.max(other) as u32);
            other != slot
                && other_body.alive
                && !body.dominates(other_body)
                && body.groups.touch(other_body.groups)
                && body.solver_groups.touch(other_body.solver_groups)
                && self.apart.binary_search(&pair).is_err()
        };
        let near = self.broad.overlapping(&swept).map(|other| other as usize);
        let mut near: Vec<usize> = near.filter(may_touch).collect();
        near.sort_unstable();
        near
    }

    /// When a body first touches another, if it does; the other one may have stopped at a time before.
    fn impact(
        &self,
        state: &State,
        (slot, other): (usize, usize),
        stopped: Option<f64>,
    ) -> Option<f64> {
        let (body, other_body) = (&self.model.bodies[slot], &self.model.bodies[other]);
        let (mut motion, mut other_motion) = (self.motion(state, slot), self.motion(state, other));
        let relative = motion.way.distance(other_motion.way);
        let turning = motion.turn.length() * body.reach + turned(&other_motion, other_body);
        // contacts look one inner radius ahead; two bodies that give way to each other need not be
        // stopped before they would have passed through both
        let yielding = if other_body.is_dynamic() { other_body.shape.inner_radius() } else { 0.0 };
        let inner = body.shape.inner_radius();
        if stopped.is_none() && relative <= inner + yielding {
            return None;
        }
        let touched = in_contact(state, slot as u32, other as u32);
        // who has no contact was farther away than contacts are looked for, and cannot be here unless
        // both have gone as far
        let looked = self.broad.looked(slot, other, self.dt);
        if !touched && stopped.is_none() && relative + turning <= looked {
            return None;
        }
        let from = stopped.unwrap_or(0.0);
        if stopped.is_some() {
            // the rest of the way, against one that stays
            motion = motion.rest(from);
            other_motion = Motion::fixed(self.pose(state, other));
        }
        // bodies with a contact in this step were held by it; what must not happen is that the core
        // passes all the same, so those are swept by their core alone
        let time = if touched {
            let core = Shape::sphere(CORE * inner).ok()?;
            let start = Pose::from_parts(motion.start * body.center, Quat::IDENTITY);
            let motion = Motion { start, turn: Vec3::ZERO, center_local: Vec3::ZERO, ..motion };
            let may_touch = |(_, groups, pushes): &(&Shape, Groups, Groups)| {
                groups.touch(body.groups) && pushes.touch(body.solver_groups)
            };
            let times = other_body.surfaces().filter(may_touch).filter_map(|(shape, ..)| {
                time_of_impact(&core, &motion, shape, &other_motion, 0.0)
            });
            times.min_by(f64::total_cmp)
        } else {
            let mut first: Option<f64> = None;
            for (own, groups, pushes) in body.surfaces() {
                for (shape, other_groups, other_pushes) in other_body.surfaces() {
                    if groups.touch(other_groups) && pushes.touch(other_pushes) {
                        let time = time_of_impact(own, &motion, shape, &other_motion, 0.05 * inner);
                        first = first.into_iter().chain(time).min_by(f64::total_cmp);
                    }
                }
            }
            first
        };
        Some(from + (1.0 - from) * time?)
    }

    fn pose(&self, state: &State, slot: usize) -> Pose {
        let BodyState { position, rotation, .. } = state.bodies[slot];
        Pose::from_parts(position - rotation * self.model.bodies[slot].center, rotation)
    }

    fn motion(&self, state: &State, slot: usize) -> Motion {
        let (position, rotation) = self.broad.start(slot);
        let center = self.model.bodies[slot].center;
        let start = Pose::from_parts(position - rotation * center, rotation);
        Motion::between(start, self.pose(state, slot), center)
    }

    /// Puts a body back to where it was at `time`.
    fn turn_back(&self, state: &mut State, slot: usize, time: f64) {
        let (position, before) = self.broad.start(slot);
        let body = &mut state.bodies[slot];
        let turn = crate::math::rotation_vector(body.rotation * before.conjugate());
        let after = (rotation_from_vector(time * turn) * before).normalize();
        let omega = body.velocity.angular;
        body.velocity.angular =
            rotation::carry_bounded(&self.model.bodies[slot], (body.rotation, after), omega);
        (body.position, body.rotation) = (position.lerp(body.position, time), after);
    }
}

/// Way of the farthest point by turning, m; half-spaces have none.
fn turned(motion: &Motion, body: &BodyModel) -> f64 {
    if motion.turn == Vec3::ZERO { 0.0 } else { motion.turn.length() * body.reach }
}

/// Whether the two bodies had a contact in this step.
fn in_contact(state: &State, one: u32, other: u32) -> bool {
    let (a, b) = (one.min(other), one.max(other));
    let first = state.contacts.partition_point(|c| (c.key.a, c.key.b) < (a, b));
    let mut between = state.contacts[first..].iter().take_while(|c| (c.key.a, c.key.b) == (a, b));
    between.any(|c| c.count > 0)
}

fn swept_box(body: &BodyModel, motion: &Motion) -> Aabb {
    let start = motion.start * body.center;
    let end = start + motion.way;
    let reach = Vec3::splat(body.reach);
    Aabb::new(start.min(end) - reach, start.max(end) + reach)
}
