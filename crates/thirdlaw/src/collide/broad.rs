//! The broad phase: pairs of bodies whose bounds come within reach of each other in the coming step.
//!
//! A tree over loose boxes finds candidates; a candidate counts only if the tight boxes, a function
//! of the state alone, overlap. The tree and its looseness are therefore memory that may be dropped
//! at any time without changing a bit. Pairs of loose boxes are kept from step to step, and only those
//! of bodies that have left their box are looked for anew.

use crate::body::{BodyKind, Groups};
use crate::math::{Pose, Quat, Vec3};
use crate::model::{BodyModel, Model};
use crate::shape::Aabb;
use crate::state::{BodyState, State};
use parry3d_f64::partitioning::{Bvh, BvhLeafUpdateStatus, BvhWorkspace};

/// Memory of the broad phase.
#[derive(Clone, Default)]
pub struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    entries: Vec<Entry>,
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
    /// Where the shape was when the box was made.
    position: Vec3,
    rotation: Quat,
    generation: u32,
    in_tree: bool,
    tight: Aabb,
    /// Whether this body can start a pair: it moves in this step.
    active: bool,
    /// Whether it has another loose box than in the step before, or none any more.
    changed: bool,
    dynamic: bool,
    groups: Groups,
}

/// Rebuilding restores the tree's quality after bodies have wandered.
const REBUILD_AFTER: u32 = 120;
/// One in so many bodies may have left its box for the others to keep their pairs.
const FEW: usize = 8;

impl BroadPhase {
    /// Finds all pairs for a step of `dt` seconds.
    pub fn update(&mut self, model: &Model, state: &State, dt: f64) {
        let changed = self.update_boxes(model, state, dt);
        self.update_loose(changed);
        self.pairs.clear();
        let entries = &self.entries;
        self.pairs.extend(self.loose.iter().copied().filter(|&(a, b)| {
            let (a, b) = (&entries[a as usize], &entries[b as usize]);
            (a.active || b.active) && overlap(&a.tight, &b.tight) && a.may_touch(b)
        }));
        if self.unbounded.is_empty() {
            return;
        }
        for &plane in &self.unbounded {
            let plane_moves = self.entries[plane as usize].active;
            for (i, entry) in self.entries.iter().enumerate() {
                let meet = entry.may_touch(&self.entries[plane as usize]);
                if entry.in_tree && (entry.active || plane_moves) && meet {
                    let i = i as u32;
                    self.pairs.push((i.min(plane), i.max(plane)));
                }
            }
        }
        self.pairs.sort_unstable();
    }

    /// Pairs of loose boxes, where so many bodies have another one than before.
    fn update_loose(&mut self, changed: usize) {
        if changed == 0 {
            return;
        }
        let BroadPhase { tree, workspace, entries, loose, new, merged, .. } = self;
        if changed * FEW > entries.len() {
            loose.clear();
            tree.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| {
                loose.push((a.min(b), a.max(b)));
            });
            loose.sort_unstable();
            return;
        }
        let same = |i: u32| !entries[i as usize].changed;
        loose.retain(|&(a, b)| same(a) && same(b));
        new.clear();
        for (i, _) in entries.iter().enumerate().filter(|(_, e)| e.changed && e.in_tree) {
            let i = i as u32;
            let Some(leaf) = tree.leaf_node(i) else { continue };
            // two that have both changed find each other twice
            let around = leaf.aabb();
            let others = tree.intersect_aabb(&around).filter(|&j| j != i && (same(j) || i < j));
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
                self.entries.push(Entry::absent());
            }
            let entry = &mut self.entries[i];
            entry.changed = false;
            entry.dynamic = body.is_dynamic();
            entry.groups = body.groups;
            if !body.alive {
                entry.active = false;
                if entry.in_tree {
                    self.tree.remove(i as u32);
                    entry.in_tree = false;
                    entry.changed = true;
                    changed += 1;
                }
                continue;
            }
            entry.active = match body.kind {
                BodyKind::Dynamic => !now.asleep,
                BodyKind::Kinematic => moves(body, now),
                BodyKind::Fixed => false,
            };
            if !body.shape.outer_radius().is_finite() {
                self.unbounded.push(i as u32);
                if entry.in_tree {
                    // the slot held a bounded body before
                    self.tree.remove(i as u32);
                    entry.in_tree = false;
                    entry.changed = true;
                    changed += 1;
                }
                continue;
            }
            let same = entry.in_tree
                && entry.generation == body.generation
                && entry.position == now.position
                && entry.rotation == now.rotation;
            if same && !entry.active {
                continue;
            }
            entry.position = now.position;
            entry.rotation = now.rotation;
            entry.generation = body.generation;
            entry.in_tree = true;
            entry.tight = tight_box(body, now, dt);
            let loose = 0.02 * body.reach.min(1.0);
            let status = self.tree.insert_or_update_partially(entry.tight, i as u32, loose);
            entry.changed = status != BvhLeafUpdateStatus::Unchanged;
            changed += usize::from(entry.changed);
        }
        // slots beyond the model: another model took this memory over
        for i in model.bodies.len()..self.entries.len() {
            if self.entries[i].in_tree {
                self.tree.remove(i as u32);
                changed += 1;
            }
            self.entries[i] = Entry { changed: self.entries[i].in_tree, ..Entry::absent() };
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
        near.filter(|&i| overlap(&self.entries[i as usize].tight, bounds))
            .chain(self.unbounded.iter().copied())
    }
}

impl Entry {
    fn absent() -> Entry {
        Entry {
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            generation: 0,
            in_tree: false,
            tight: Aabb::new(Vec3::ZERO, Vec3::ZERO),
            active: false,
            changed: false,
            dynamic: false,
            groups: Groups::default(),
        }
    }

    fn may_touch(&self, other: &Entry) -> bool {
        (self.dynamic || other.dynamic) && self.groups.touch(other.groups)
    }
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

fn tight_box(body: &BodyModel, state: &BodyState, dt: f64) -> Aabb {
    let pose = Pose::from_parts(state.position - state.rotation * body.center, state.rotation);
    let travel = state.velocity.linear.length() * dt + turning(body, state, dt);
    let margin = rest_margin(body) + travel.min(farthest_look(body));
    let bounds = body.shape.aabb(&pose);
    Aabb::new(bounds.mins - Vec3::splat(margin), bounds.maxs + Vec3::splat(margin))
}
