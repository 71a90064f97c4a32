//! The broad phase: pairs of bodies whose bounds come within reach of each other in the coming step.
//!
//! A tree over loose boxes finds candidates; a candidate counts only if the tight boxes, a function
//! of the state alone, overlap. Ground made of many pieces has a box that holds nearly everything, and
//! counts only where the loose box of the other body meets the box of a piece: elsewhere there is
//! nothing to be found. The tree and its looseness are therefore memory that may be dropped at any time
//! without changing a contact. Pairs of loose boxes are kept from step to step, and only those of bodies
//! that have left their box are looked for anew.

use super::narrow;
use crate::body::{BodyKind, Groups};
use crate::math::{Pose, Quat, Vec3};
use crate::model::{BodyModel, Model};
use crate::shape::Aabb;
use crate::state::{BodyState, State};
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::partitioning::{Bvh, BvhWorkspace};

/// Memory of the broad phase.
#[derive(Clone, Default)]
pub struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    entries: Vec<Entry>,
    /// What every pair asks for, close together.
    bounds: Vec<Bounds>,
    /// Slots of bodies without bounds (half-spaces).
    unbounded: Vec<u32>,
    /// Pairs to be examined, ordered; the lower slot first.
    pub pairs: Vec<(u32, u32)>,
    /// Pairs whose loose boxes overlap, ordered likewise.
    loose: Vec<(u32, u32)>,
    /// Those of them that are new, and memory for bringing both together.
    new: Vec<(u32, u32)>,
    merged: Vec<(u32, u32)>,
    steps_since_build: u32,
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BroadPhase").field("pairs", &self.pairs.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where the body was when its boxes were made.
    position: Vec3,
    rotation: Quat,
    generation: u32,
    in_tree: bool,
    loose: Aabb,
    /// Whether it has another loose box than in the step before, or none any more.
    changed: bool,
    /// Whether it does not move and is made of pieces with a tree of their own.
    ground: bool,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// What the body can reach in this step, and at what distance contacts are looked for beyond, m.
    reached: Aabb,
    rest: f64,
    /// The same as a ball about its centre of mass.
    center: Vec3,
    radius: f64,
    groups: Groups,
    /// Whether this body can start a pair: it moves in this step.
    active: bool,
    dynamic: bool,
}

/// Rebuilding restores the tree's quality after bodies have wandered.
const REBUILD_AFTER: u32 = 120;
/// One in so many bodies may have left its box for the others to keep their pairs.
const FEW: usize = 8;
/// By how much a loose box is larger than the tight one, as a share of the body's reach.
const LOOSE: f64 = 0.02;

impl BroadPhase {
    /// Finds all pairs for a step of `dt` seconds.
    pub fn update(&mut self, model: &Model, state: &State, dt: f64) {
        let changed = self.update_boxes(model, state, dt);
        self.update_loose(model, changed);
        self.pairs.clear();
        let bounds = &self.bounds;
        self.pairs.extend(self.loose.iter().copied().filter(|&(a, b)| {
            let (a, b) = (&bounds[a as usize], &bounds[b as usize]);
            (a.active || b.active) && a.is_near(b) && a.may_touch(b)
        }));
        if self.unbounded.is_empty() {
            return;
        }
        for &plane in &self.unbounded {
            let plane_bounds = &self.bounds[plane as usize];
            for (i, (entry, bounds)) in self.entries.iter().zip(&self.bounds).enumerate() {
                let moves = bounds.active || plane_bounds.active;
                if entry.in_tree && moves && bounds.may_touch(plane_bounds) {
                    let i = i as u32;
                    self.pairs.push((i.min(plane), i.max(plane)));
                }
            }
        }
        self.pairs.sort_unstable();
    }

    /// Pairs of loose boxes, where so many bodies have another one than before.
    fn update_loose(&mut self, model: &Model, changed: usize) {
        if changed == 0 {
            return;
        }
        let BroadPhase { tree, workspace, entries, loose, new, merged, .. } = self;
        if changed * FEW > entries.len() {
            loose.clear();
            tree.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| {
                if near_a_piece(model, entries, a, b) {
                    loose.push((a.min(b), a.max(b)));
                }
            });
            loose.sort_unstable();
            return;
        }
        let same = |i: u32| !entries[i as usize].changed;
        loose.retain(|&(a, b)| same(a) && same(b));
        new.clear();
        for (i, entry) in entries.iter().enumerate().filter(|(_, e)| e.changed && e.in_tree) {
            let i = i as u32;
            // two that have both changed find each other twice
            let others = tree
                .intersect_aabb(&entry.loose)
                .filter(|&j| j != i && (same(j) || i < j) && near_a_piece(model, entries, i, j));
            new.extend(others.map(|j| (i.min(j), i.max(j))));
        }
        new.sort_unstable();
        merged.clear();
        let mut next = new.iter().copied().peekable();
        for &pair in loose.iter() {
            while let Some(earlier) = next.next_if(|&other| other < pair) {
                merged.push(earlier);
            }
            merged.push(pair);
        }
        merged.extend(next);
        std::mem::swap(loose, merged);
    }

    /// Returns how many bodies have another loose box than before.
    fn update_boxes(&mut self, model: &Model, state: &State, dt: f64) -> usize {
        self.unbounded.clear();
        let mut changed = 0;
        for (i, body) in model.bodies.iter().enumerate() {
            let now = &state.bodies[i];
            if self.entries.len() <= i {
                self.entries.push(Entry::ABSENT);
                self.bounds.push(Bounds::ABSENT);
            }
            let (entry, bounds) = (&mut self.entries[i], &mut self.bounds[i]);
            entry.changed = false;
            bounds.dynamic = body.is_dynamic();
            bounds.groups = body.groups;
            bounds.active = body.alive
                && match body.kind {
                    BodyKind::Dynamic => !now.asleep,
                    BodyKind::Kinematic => moves(body, now),
                    BodyKind::Fixed => false,
                };
            let bounded = body.shape.outer_radius().is_finite();
            if !body.alive || !bounded {
                if body.alive {
                    self.unbounded.push(i as u32);
                }
                if entry.in_tree {
                    self.tree.remove(i as u32);
                    entry.in_tree = false;
                    entry.changed = true;
                    changed += 1;
                }
                continue;
            }
            let ground = body.kind == BodyKind::Fixed && narrow::tree(&body.shape).is_some();
            let known =
                entry.in_tree && entry.generation == body.generation && entry.ground == ground;
            let same = known && entry.position == now.position && entry.rotation == now.rotation;
            if same && !bounds.active {
                continue;
            }
            entry.position = now.position;
            entry.rotation = now.rotation;
            let travel = travel(body, now, dt);
            bounds.reached = shape_box(body, now).loosened(travel);
            bounds.center = now.position;
            bounds.radius = body.reach + travel;
            bounds.rest = rest_margin(body);
            let tight = bounds.tight();
            // what lies near its pieces changes with the least move of ground
            if known && !ground && entry.loose.contains(&tight) {
                continue;
            }
            entry.generation = body.generation;
            entry.ground = ground;
            entry.in_tree = true;
            entry.loose = tight.loosened(LOOSE * body.reach.min(1.0));
            entry.changed = true;
            changed += 1;
            self.tree.insert_or_update_partially(entry.loose, i as u32, 0.0);
        }
        // slots beyond the model: another model took this memory over
        for i in model.bodies.len()..self.entries.len() {
            let was = std::mem::replace(&mut self.entries[i], Entry::ABSENT);
            self.bounds[i] = Bounds::ABSENT;
            if was.in_tree {
                self.tree.remove(i as u32);
                self.entries[i].changed = true;
                changed += 1;
            }
        }
        if changed == 0 {
            return 0;
        }
        self.steps_since_build += 1;
        if self.steps_since_build >= REBUILD_AFTER {
            self.steps_since_build = 0;
            self.tree.rebuild(&mut self.workspace, Default::default());
        } else {
            self.tree.refit(&mut self.workspace);
        }
        changed
    }

    /// Slots whose tight boxes overlap `bounds`, in no particular order, each at most once.
    pub fn overlapping<'a>(&'a self, bounds: &'a Aabb) -> impl Iterator<Item = u32> + 'a {
        let near = self.tree.intersect_aabb(bounds);
        near.filter(|&i| overlap(&self.bounds[i as usize].tight(), bounds))
            .chain(self.unbounded.iter().copied())
    }
}

impl Entry {
    const ABSENT: Entry = Entry {
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        generation: 0,
        in_tree: false,
        loose: NOWHERE,
        changed: false,
        ground: false,
    };
}

impl Bounds {
    const ABSENT: Bounds = Bounds {
        reached: NOWHERE,
        rest: 0.0,
        center: Vec3::ZERO,
        radius: 0.0,
        groups: Groups { member: 0, collides: 0 },
        active: false,
        dynamic: false,
    };

    /// A box around all that it may touch.
    fn tight(&self) -> Aabb {
        self.reached.loosened(self.rest)
    }

    /// Whether boxes and balls come as close as contacts are looked for; a pair looks as far as the one
    /// that looks less far.
    fn is_near(&self, other: &Bounds) -> bool {
        let (a, b) = (&self.reached, &other.reached);
        let apart = (b.mins - a.maxs).max(a.mins - b.maxs).max_element();
        let rest = self.rest.min(other.rest);
        let reach = self.radius + other.radius + rest;
        apart <= rest && self.center.distance_squared(other.center) <= reach * reach
    }

    fn may_touch(&self, other: &Bounds) -> bool {
        (self.dynamic || other.dynamic) && self.groups.touch(other.groups)
    }
}

const NOWHERE: Aabb = Aabb { mins: Vec3::ZERO, maxs: Vec3::ZERO };

/// Whether, where one of two bodies is ground, the loose box of the other meets the box of a piece of
/// it; true where none is.
fn near_a_piece(model: &Model, entries: &[Entry], a: u32, b: u32) -> bool {
    let meets = |ground: u32, other: u32| {
        let (ground_entry, other) = (&entries[ground as usize], &entries[other as usize]);
        let body = &model.bodies[ground as usize];
        let Some(tree) = narrow::tree(&body.shape).filter(|_| ground_entry.ground) else {
            return true;
        };
        let rotation = ground_entry.rotation;
        let origin = ground_entry.position - rotation * body.center;
        let around = other.loose.transform_by(&Pose::from_parts(origin, rotation).inverse());
        // the narrow phase rounds another way
        let size = around.mins.abs().max(around.maxs.abs()).max(origin.abs()).max_element();
        tree.intersect_aabb(&around.loosened(1e-12 * size)).next().is_some()
    };
    meets(a, b) && meets(b, a)
}

fn overlap(a: &Aabb, b: &Aabb) -> bool {
    a.mins.cmple(b.maxs).all() && b.mins.cmple(a.maxs).all()
}

/// Whether a kinematic body moves.
pub fn moves(body: &BodyModel, state: &BodyState) -> bool {
    !body.motion.keys.is_empty() || state.velocity != Default::default()
}

/// Distance at which contacts are looked for even between bodies at rest, m: far enough that a
/// contact is known before it is needed, small against the body.
pub(super) fn rest_margin(body: &BodyModel) -> f64 {
    0.02 * body.reach.clamp(1e-3, 1.0)
}

/// How far ahead of its motion in a step a body looks for contacts at most, m. A contact's normal is
/// worth knowing only near the body, so no farther than it is long; sweeping covers the rest.
pub(super) fn farthest_look(body: &BodyModel) -> f64 {
    body.reach
}

/// Way of a body's fastest surface point in a step by turning, m.
pub(super) fn turning(body: &BodyModel, state: &BodyState, dt: f64) -> f64 {
    let speed = state.velocity.angular.length();
    if speed > 0.0 { speed * body.reach * dt } else { 0.0 }
}

/// How far ahead of its motion in a step a body looks for contacts, m.
fn travel(body: &BodyModel, state: &BodyState, dt: f64) -> f64 {
    let travel = state.velocity.linear.length() * dt + turning(body, state, dt);
    travel.min(farthest_look(body))
}

fn shape_box(body: &BodyModel, state: &BodyState) -> Aabb {
    let pose = Pose::from_parts(state.position - state.rotation * body.center, state.rotation);
    body.shape.aabb(&pose)
}
