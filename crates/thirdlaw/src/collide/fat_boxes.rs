//! Loose boxes: a tree of boxes a little larger than bodies need, and the pairs of them that overlap.
//!
//! A body that stays in its box changes nothing. One that moves gets a box that reaches ahead of it, so
//! that it stays in it for some steps. Only pairs of bodies that have left their boxes are looked for anew,
//! unless so many have that going through the whole tree is cheaper.

use super::narrow;
use super::pairs::{Loose, Ordered, merge};
use super::placed::Placed;
use crate::math::Vec3;
use crate::model::Model;
use crate::parallel::pool::prelude::*;
use crate::shape::Aabb;
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::partitioning::{Bvh, BvhWorkspace};

/// Memory of loose boxes.
#[derive(Clone, Default)]
pub(super) struct LooseBoxes {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// The boxes, slot by slot.
    pub boxes: Vec<LooseBox>,
    /// What has become of them in this step.
    pub changes: Vec<Change>,
    /// Pairs whose boxes overlap, ordered; the lower slot first.
    pub pairs: Vec<Loose>,
    /// Slots with another box, the pairs that they make, run by run, and all of these.
    changed: Vec<u32>,
    found: Vec<Vec<Loose>>,
    new: Vec<Loose>,
    /// Boxes set since they were last fitted into each other, and steps since the tree was built.
    unfitted: usize,
    steps: u32,
}

/// The box of one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct LooseBox {
    bounds: Aabb,
    generation: u32,
    pub in_tree: bool,
    /// Whether the body does not move and is made of pieces with a tree of their own.
    ground: bool,
}

/// What has become of a loose box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Another,
    Gone,
}

/// By how much a loose box is larger than the tight one, as a share of the body's reach.
const LOOSE: f64 = 0.016;
/// Steps for which a box reaches ahead of a body that keeps its velocity.
const AHEAD: f64 = 3.0;
/// A box is too large if it could be made so many times as loose.
const TOO_LOOSE: f64 = 4.0;
/// Rebuilding restores the tree's quality after bodies have wandered.
const REBUILD_AFTER: u32 = 120;
/// One in so many bodies may have left its box for the others to keep their pairs.
const FEW: usize = 3;
/// Once one in so many boxes has been set, all are fitted into each other.
const FIT: usize = 4;
/// Bodies whose pairs a thread looks for together.
const RUN: usize = 8;

impl LooseBox {
    /// What is in a slot without a body.
    pub const ABSENT: LooseBox = LooseBox {
        bounds: Aabb { mins: Vec3::ZERO, maxs: Vec3::ZERO },
        generation: 0,
        in_tree: false,
        ground: false,
    };

    /// Whether this is the box of a body of this generation.
    pub fn is_of(&self, generation: u32) -> bool {
        self.in_tree && self.generation == generation
    }

    /// Whether the box will do for what a body may touch now, whose `way` in a step this is. What lies
    /// near its pieces changes with the least move of ground, and a body that has become slow needs no
    /// box that reaches far.
    pub fn holds(&self, tight: &Aabb, (way, reach): (Vec3, f64)) -> bool {
        let spare = (self.bounds.maxs - self.bounds.mins) - (tight.maxs - tight.mins);
        let most = TOO_LOOSE * (2.0 * LOOSE * reach.min(1.0) + AHEAD * way.length());
        !self.ground && self.bounds.contains(tight) && spare.max_element() <= most
    }

    /// Makes a box around what a body may touch now, and ahead of its `way` in a step.
    pub fn surround(&mut self, tight: &Aabb, (way, reach): (Vec3, f64)) {
        let ahead = (AHEAD * way).clamp_length_max(reach);
        self.bounds = tight.loosened(LOOSE * reach.min(1.0));
        self.bounds.mins += ahead.min(Vec3::ZERO);
        self.bounds.maxs += ahead.max(Vec3::ZERO);
    }

    /// Says whose box it is.
    pub fn name(&mut self, generation: u32, ground: bool) {
        (self.generation, self.ground) = (generation, ground);
    }
}

impl LooseBoxes {
    /// Makes room for so many slots. Slots beyond them are dropped: another model took this memory over.
    pub fn resize(&mut self, count: usize) {
        if self.boxes.len() > count {
            self.pairs.retain(|pair| (pair.b as usize) < count);
            for (i, _) in self.boxes.iter().enumerate().skip(count).filter(|(_, b)| b.in_tree) {
                self.tree.remove(i as u32);
                // the next change makes the tree anew
                self.steps = REBUILD_AFTER;
            }
        }
        self.boxes.resize(count, LooseBox::ABSENT);
        self.changes.resize(count, Change::None);
    }

    /// Brings tree and pairs up to date with the changes.
    pub fn update(&mut self, model: &Model, placed: &[Placed]) {
        self.changed.clear();
        let mut gone = 0;
        for (i, change) in self.changes.iter_mut().enumerate() {
            match change {
                Change::None => {}
                Change::Another => self.changed.push(i as u32),
                Change::Gone if self.boxes[i].in_tree => {
                    self.tree.remove(i as u32);
                    self.boxes[i].in_tree = false;
                    gone += 1;
                }
                Change::Gone => *change = Change::None,
            }
        }
        if self.changed.len() + gone > 0 {
            self.fit(gone > 0);
            self.find(model, placed, self.changed.len() + gone);
        }
    }

    fn fit(&mut self, gone: bool) {
        let LooseBoxes { tree, workspace, boxes, changed, unfitted, steps, .. } = self;
        *steps += 1;
        *unfitted += changed.len();
        let all = gone || *steps >= REBUILD_AFTER || *unfitted * FIT > boxes.len();
        for &slot in changed.iter() {
            let LooseBox { bounds, in_tree, .. } = &mut boxes[slot as usize];
            *in_tree = true;
            if all {
                tree.insert_or_update_partially(*bounds, slot, 0.0);
            } else {
                // boxes above grow, none shrinks
                tree.insert(*bounds, slot);
            }
        }
        if *steps >= REBUILD_AFTER {
            *steps = 0;
            tree.rebuild(workspace, Default::default());
        } else if all {
            tree.refit(workspace);
        }
        if all {
            *unfitted = 0;
        }
    }

    /// Finds pairs, where so many bodies have another box than before, or none.
    fn find(&mut self, model: &Model, placed: &[Placed], count: usize) {
        let LooseBoxes { tree, workspace, boxes, changes, pairs, changed, found, new, .. } = self;
        let meet = |a: u32, b: u32| near_a_piece((model, placed), boxes, a, b);
        if count * FEW > boxes.len() {
            pairs.clear();
            tree.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| {
                if meet(a, b) {
                    pairs.push(Loose::new(a, b));
                }
            });
            pairs.sort_unstable_by_key(Ordered::order);
            return;
        }
        let same = |i: u32| changes[i as usize] == Change::None;
        pairs.retain(|pair| same(pair.a) && same(pair.b));
        let runs = changed.len().div_ceil(RUN);
        if found.len() < runs {
            found.resize_with(runs, Vec::new);
        }
        changed.par_chunks(RUN).zip(&mut found[..runs]).for_each(|(slots, found)| {
            found.clear();
            for &i in slots {
                // two that have both changed find each other twice
                let others = tree
                    .intersect_aabb(&boxes[i as usize].bounds)
                    .filter(|&j| j != i && (same(j) || i < j) && meet(i, j));
                found.extend(others.map(|j| Loose::new(i, j)));
            }
        });
        new.clear();
        found[..runs].iter().for_each(|found| new.extend_from_slice(found));
        new.sort_unstable_by_key(Ordered::order);
        merge(pairs, new);
    }

    /// Slots whose boxes overlap `bounds`, in no particular order, each at most once.
    pub fn overlapping<'a>(&'a self, bounds: &'a Aabb) -> impl Iterator<Item = u32> + 'a {
        self.tree.intersect_aabb(bounds)
    }
}

/// Whether, where one of two bodies is ground, the loose box of the other meets the box of a piece of
/// it; true where none is.
fn near_a_piece((model, placed): (&Model, &[Placed]), boxes: &[LooseBox], a: u32, b: u32) -> bool {
    let meets = |ground: u32, other: u32| {
        let shape = &model.bodies[ground as usize].shape;
        let Some(tree) = narrow::tree(shape) else { return true };
        let pose = placed[ground as usize].pose();
        let around = boxes[other as usize].bounds.transform_by(&pose.inverse());
        // the narrow phase rounds another way
        let size = around.mins.abs().max(around.maxs.abs()).max(pose.translation.abs());
        tree.intersect_aabb(&around.loosened(1e-12 * size.max_element())).next().is_some()
    };
    let is_ground = |i: u32| boxes[i as usize].ground;
    (!is_ground(a) || meets(a, b)) && (!is_ground(b) || meets(b, a))
}
