//! The joints of a pile, eight side by side, before its contacts in every pass.

mod bundle;
mod pack;
mod sweep;

use super::bundle::{Padded, WORLD};
use super::order::{Chunk, Entry, Order};
use super::sweep::Pass;
use super::work::Work;
use crate::math::{Quat, Twist};
use crate::model::Model;
use crate::model::joint::model::{JointModel, Node};
use crate::parallel::share::Shared;
use crate::state::joint::JointState;
pub use bundle::ROWS_MAX;
use bundle::{Bundle, Row};
use pack::{End, Source, pack, reaction, used};
use std::ops::Range;

/// Rows that go with each class of [`Entry::count`].
const CLASS: usize = ROWS_MAX / 4;

/// The joints of a pile.
#[derive(Debug, Default)]
pub struct Joints {
    /// Slots of the joints, and their places among the links of all islands.
    pub slots: Vec<u32>,
    pub places: Vec<u32>,
    pub order: Order,
    bundles: Vec<Bundle>,
    rows: Vec<Row>,
}

/// The same on their way through a step.
pub struct SharedJoints<'a> {
    slots: &'a [u32],
    places: &'a [u32],
    pub order: &'a Order,
    bundles: Shared<'a, Bundle>,
    rows: Shared<'a, Row>,
    /// The state of every link, which is filled in.
    pub all: &'a Shared<'a, JointState>,
}

impl Joints {
    pub fn clear(&mut self) {
        self.slots.clear();
        self.places.clear();
    }

    /// Takes in a joint, which lies at that place among all links.
    pub fn add(&mut self, slot: u32, place: usize) {
        self.slots.push(slot);
        self.places.push(place as u32);
    }

    /// Slots of bodies that are not dynamic, but held by joints.
    pub fn others<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = u32> + 'a {
        let sides = self.slots.iter().flat_map(|&slot| sides(&model.joints[slot as usize]));
        sides.filter_map(|side| match side {
            Node::Body(slot) if !model.bodies[slot as usize].is_dynamic() => Some(slot),
            _ => None,
        })
    }

    /// Takes in the joints as far as their order is concerned. `line` says where a body lies, `block_of` the
    /// block of each line.
    pub fn enter(
        &mut self,
        model: &Model,
        (blocks, block_of): (usize, &[u32]),
        line: impl Fn(u32, bool) -> u32,
    ) {
        let Joints { slots, order, .. } = self;
        order.entries.clear();
        order.entries.extend(slots.iter().map(|&slot| {
            let joint = &model.joints[slot as usize];
            let moves = sides(joint).map(|side| match side {
                Node::Body(slot) => model.bodies[slot as usize].is_dynamic(),
                _ => false,
            });
            let mut body = [WORLD; 2];
            for (side, node) in sides(joint).into_iter().enumerate() {
                if let Node::Body(slot) = node {
                    body[side] = line(slot, moves[side]);
                }
            }
            let [a, b] = [0, 1].map(|side| moves[side].then(|| block_of[body[side] as usize]));
            let between = a.zip(b).is_some_and(|(a, b)| a != b);
            let part = if between { None } else { a.or(b) };
            let count = joint.rows_about_axes().div_ceil(CLASS).clamp(1, 4) as u8;
            Entry { body, moves, count, part: part.unwrap_or(blocks as u32) }
        }));
    }

    /// Orders them between bodies in blocks with these lines, of so many in all.
    pub fn build(
        &mut self,
        lines: usize,
        blocks: usize,
        range: impl Fn(usize) -> Range<usize> + Sync,
    ) {
        let Joints { order, bundles, rows, .. } = self;
        order.build(lines, blocks, range);
        // what they hold is of no matter: packing fills them anew
        bundles.resize(order.bundles, Bundle::default());
        rows.resize(CLASS * order.points, Row::default());
    }

    pub fn share<'a>(&'a mut self, all: &'a Shared<'a, JointState>) -> SharedJoints<'a> {
        SharedJoints {
            slots: &self.slots,
            places: &self.places,
            order: &self.order,
            bundles: Shared::new(&mut self.bundles),
            rows: Shared::new(&mut self.rows),
            all,
        }
    }
}

fn sides(joint: &JointModel) -> [Node; 2] {
    [joint.a, joint.b]
}

/// The safety of all: joints, and bodies that they have in common, are worked on by one thread at a time.
impl SharedJoints<'_> {
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    #[allow(clippy::mut_from_ref)]
    unsafe fn records(&self, chunk: &Chunk) -> (&mut [Bundle], &mut [Row]) {
        let Range { start, end } = chunk.points;
        // SAFETY: the caller's
        unsafe {
            (self.bundles.range(chunk.bundles.clone()), self.rows.range(CLASS * start..CLASS * end))
        }
    }

    /// Fills bundles from joints.
    pub unsafe fn pack(&self, work: &Work, chunk: &Chunk) {
        // SAFETY: the caller's
        let (bundles, rows) = unsafe { self.records(chunk) };
        let (model, state, settings, dt) = work.setting;
        let source = Source {
            joints: &model.joints,
            state,
            entries: &self.order.entries,
            places: work.places,
            slots: self.slots,
            substep: dt / f64::from(settings.substeps),
        };
        let mut start = 0;
        for (bundle, group) in bundles.iter_mut().zip(self.order.groups(chunk)) {
            let mine = start..start + CLASS * usize::from(group.count);
            bundle.start = start as u32;
            start = mine.end;
            pack(bundle, &mut rows[mine], group, &source);
        }
    }

    /// One pass over bundles, in their order.
    pub unsafe fn sweep(&self, work: &Work, pass: Pass, chunk: &Chunk) {
        let bodies = sweep::Bodies {
            velocity: &work.lines.velocity,
            moved: &work.lines.moved,
            turned: &work.lines.turned,
            inv_mass: work.inv_mass,
            inv_h: work.spring.inv_h,
        };
        // SAFETY: the caller's
        unsafe {
            let (bundles, rows) = self.records(chunk);
            sweep::sweep(pass, bundles, rows, &bodies);
        }
    }

    /// Hands joints their states, once all bodies have got theirs.
    pub unsafe fn finish(&self, work: &Work, chunk: &Chunk) {
        // SAFETY: the caller's
        let (bundles, rows) = unsafe { self.records(chunk) };
        let (model, state, settings, dt) = work.setting;
        let h = dt / f64::from(settings.substeps);
        for (bundle, group) in bundles.iter().zip(self.order.groups(chunk)) {
            let rows = &rows[bundle.start as usize..][..usize::from(bundle.rows)];
            for (lane, i) in used(group) {
                let slot = self.slots[i] as usize;
                let joint = &model.joints[slot];
                let lines = self.order.entries[i].body;
                let mut ends = [((Default::default(), Quat::IDENTITY), Twist::default()); 2];
                for side in 0..2 {
                    // SAFETY: nobody changes bodies any more
                    ends[side] = unsafe { work.end_of(sides(joint)[side], lines[side]) };
                }
                // SAFETY: likewise
                let turned = unsafe { work.lines.turned.get(lines[0] as usize) };
                let (force, torque) = reaction(bundle, rows, lane, quat(turned));
                let before = &state.joints[slot];
                let (force, torque) = (force / h, torque / h);
                let end = End { sides: ends, force, torque, joint, before };
                let at = self.places[i] as usize;
                // SAFETY: each joint is in one lane
                unsafe { self.all.range(at..at + 1)[0] = end.state() };
            }
        }
    }
}

/// A quaternion as lines have it.
pub fn padded(q: Quat) -> Padded {
    Padded([q.x, q.y, q.z, q.w])
}

fn quat(Padded([x, y, z, w]): &Padded) -> Quat {
    Quat::from_xyzw(*x, *y, *z, *w)
}
