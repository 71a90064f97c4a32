//! Contacts of a step: manifolds of all pairs, ordered by their keys, with the impulses of the last
//! step carried over to points that persist.
//!
//! Most pairs of a pile hardly move against each other. Their contacts stay as they were found, turned
//! along with the bodies, until the pair has moved by a share of its size; what was found then is part
//! of the state, so that nothing depends on memory. A contact that ends leaves its place free for others
//! (see `places.rs`), so that those that last need not move.

use super::boxes::Boxes;
use super::boxes_clip::Facing;
use super::broad::BroadPhase;
use super::clip::is_face_of_b;
use super::manifold::{Manifold, POINTS_MAX};
use super::narrow::{NarrowScratch, collide};
use super::pairs::{Ordered, Pair};
use super::persist::{carry_impulses, refresh};
use super::placed::{Placed, box_pair, pair_margin};
use super::places::{Places, find_starts};
use crate::math::{Quat, Vec3};
use crate::model::{BodyModel, Model};
use crate::state::{BodyState, State};
use serde::{Deserialize, Serialize};

/// Which two convex pieces touch. The order of keys is the order of contacts everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ContactKey {
    /// Slot of the lower body.
    pub a: u32,
    /// Slot of the higher body.
    pub b: u32,
    /// Piece of a: part of a compound, triangle of a mesh.
    pub piece_a: u32,
    /// Piece of b.
    pub piece_b: u32,
}

/// Contact between two convex pieces of two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Which pieces.
    pub key: ContactKey,
    /// Unit normal from a to b.
    pub normal: Vec3,
    /// Combined friction.
    pub friction: f64,
    /// Combined restitution.
    pub restitution: f64,
    /// The first `count` are in use.
    pub points: [ContactPoint; POINTS_MAX],
    /// Number of points; none where a contact has ended and left its place free.
    pub count: u32,
    /// How the pair lay when the contact was found.
    pub found: Found,
}

/// How a pair of bodies lay when its contacts were found, in axes of a.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// From the centre of mass of a to that of b, m.
    pub between: Vec3,
    /// Orientation of b.
    pub turn: Quat,
    /// Normal from a to b, in axes of the body whose face it belongs to.
    pub normal: Vec3,
    /// Distance up to which the contacts would be the same, m; 0 where a side is round and its contacts
    /// move over it.
    pub margin: f64,
}

/// One point of a contact. See [`super::manifold::Point`] for cores and radii.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactPoint {
    /// Core on a, in axes that turn with a, from a's centre of mass.
    pub anchor_a: Vec3,
    /// Core on b likewise.
    pub anchor_b: Vec3,
    /// Distance from core to surface on a, m.
    pub radius_a: f64,
    /// Distance from core to surface on b, m.
    pub radius_b: f64,
    /// Gap at the beginning of the step, m.
    pub separation: f64,
    /// Normal impulse of the last substep, N·s.
    pub normal_impulse: f64,
    /// Friction impulse on b of the last substep in world axes, N·s.
    pub friction_impulse: Vec3,
    /// Which features met.
    pub feature: u32,
}

impl Contact {
    /// The points in use.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.count as usize]
    }

    /// Whether all its numbers can be used.
    pub(crate) fn is_sound(&self) -> bool {
        self.count as usize <= POINTS_MAX
            && (self.normal.length_squared() - 1.0).abs() < 1e-6
            && self.friction >= 0.0
            && (0.0..=1.0).contains(&self.restitution)
            && self.found.between.is_finite()
            && self.found.turn.is_finite()
            && self.found.normal.is_finite()
            && self.found.margin.is_finite()
            && self.points().iter().all(|p| {
                p.anchor_a.is_finite()
                    && p.anchor_b.is_finite()
                    && p.friction_impulse.is_finite()
                    && [p.radius_a, p.radius_b, p.separation, p.normal_impulse]
                        .iter()
                        .all(|x| x.is_finite())
            })
    }

    /// Takes over what two boxes have in common; `centers` are those of mass from those of the boxes.
    fn set_facing(&mut self, facing: &Facing, centers: [Vec3; 2]) {
        self.count = facing.count as u32;
        if facing.whole {
            self.found.margin = f64::MAX;
        }
        for (point, found) in self.points.iter_mut().zip(&facing.points[..facing.count]) {
            point.anchor_a = found.on_a - centers[0];
            point.anchor_b = found.on_b - centers[1];
            point.separation = found.separation;
            point.feature = found.feature;
        }
    }

    /// Takes over what two pieces have in common; `convex` says that their bodies have no others.
    fn set_manifold(&mut self, manifold: &Manifold, convex: bool, [a, b]: [&Placed; 2]) {
        let (to_a, to_b) = (a.axes.transpose(), b.axes.transpose());
        self.count = manifold.count as u32;
        if convex && manifold.whole {
            self.found.margin = f64::MAX;
        }
        for (point, found) in self.points.iter_mut().zip(manifold.points()) {
            point.anchor_a = to_a * (found.core_a - a.position);
            point.anchor_b = to_b * (found.core_b - b.position);
            point.radius_a = found.radius_a;
            point.radius_b = found.radius_b;
            point.separation = found.separation;
            point.feature = found.feature;
            if found.radius_a > 0.0 || found.radius_b > 0.0 {
                self.found.margin = 0.0;
            }
        }
    }

    /// Leaves its place free. What it was leaves no trace: the state does not tell who looked last.
    fn end(&mut self) {
        if self.count > 0 {
            *self = Contact { key: self.key, normal: Vec3::Y, ..Contact::default() };
        }
    }

    fn scale_impulses(&mut self, scale: f64) {
        for point in &mut self.points {
            point.normal_impulse *= scale;
            point.friction_impulse *= scale;
        }
    }
}

/// Memory of the narrow phase.
#[derive(Debug, Default)]
pub struct ContactScratch {
    chunks: Vec<Chunk>,
    /// Where the contacts of the chunks begin; those of the step before are a good guess.
    starts: Vec<usize>,
    places: Places,
}

/// What became of the contacts of some consecutive pairs, beside what stays in its place.
#[derive(Debug, Default)]
struct Chunk {
    /// Contacts without a place among those of the last step, in order.
    added: Vec<Contact>,
    /// Number of places without a contact.
    free: usize,
    found: Vec<Contact>,
    narrow: NarrowScratch,
    facing: Facing,
}

/// Pairs handled together; fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 64;

/// Replaces `state.contacts` by the contacts at the current poses, for a step of `dt` in substeps of
/// `substep` seconds, and tells the broad phase how far pairs are apart that do not touch. Contacts between
/// bodies that both sleep (or cannot move) are not examined and stay.
pub fn update(
    model: &Model,
    state: &mut State,
    broad: &mut BroadPhase,
    (dt, substep): (f64, f64),
    scratch: &mut ContactScratch,
) {
    let BroadPhase { pairs, placed, .. } = broad;
    let chunk_count = pairs.len().div_ceil(CHUNK).max(1);
    if scratch.chunks.len() < chunk_count {
        scratch.chunks.resize_with(chunk_count, Chunk::default);
    }
    let chunks = &mut scratch.chunks[..chunk_count];
    let mut contacts = std::mem::take(&mut state.contacts);
    let search = Search { model, state, placed, dt };
    find_starts(&contacts, pairs.chunks(CHUNK), &mut scratch.starts);
    search.examine(pairs, &mut contacts, (chunks, &scratch.starts));
    let free = chunks.iter().map(|chunk| chunk.free).sum();
    scratch.places.insert(&mut contacts, chunks.iter().map(|chunk| &chunk.added[..]), free);
    // impulses follow a change of the substep, those carried through sleep too
    if state.substep > 0.0 && state.substep != substep {
        let scale = substep / state.substep;
        contacts.iter_mut().for_each(|contact| contact.scale_impulses(scale));
    }
    state.contacts = contacts;
}

/// What a search for contacts reads; the contacts of the last step are taken out of the state.
#[derive(Clone, Copy)]
struct Search<'a> {
    model: &'a Model,
    state: &'a State,
    placed: &'a [Placed],
    dt: f64,
}

impl<'a> Search<'a> {
    /// Examines pairs, chunk by chunk; `contacts` are those of the last step among them.
    fn examine(
        self,
        pairs: &mut [Pair],
        contacts: &mut [Contact],
        (chunks, starts): (&mut [Chunk], &[usize]),
    ) {
        if let [chunk] = chunks {
            return self.examine_chunk(pairs, contacts, chunk);
        }
        let half = chunks.len() / 2;
        let (left_pairs, right_pairs) = pairs.split_at_mut(half * CHUNK);
        let (left, right) = contacts.split_at_mut(starts[half] - starts[0]);
        let (left_chunks, right_chunks) = chunks.split_at_mut(half);
        let (left_starts, right_starts) = starts.split_at(half);
        rayon::join(
            || self.examine(left_pairs, left, (left_chunks, left_starts)),
            || self.examine(right_pairs, right, (right_chunks, right_starts)),
        );
    }

    fn examine_chunk(self, pairs: &mut [Pair], contacts: &mut [Contact], chunk: &mut Chunk) {
        chunk.added.clear();
        chunk.free = 0;
        let mut rest = contacts;
        for pair in pairs {
            let slots = pair.order();
            self.keep_resting(take(&mut rest, |other| other < slots), chunk);
            let old = take(&mut rest, |other| other == slots);
            let bodies = [pair.a, pair.b].map(|slot| &self.placed[slot as usize]);
            let margin = pair_margin(bodies[0], bodies[1], self.dt);
            pair.touches = refresh(bodies, margin, old);
            if !pair.touches {
                chunk.found.clear();
                pair.apart = self.find(slots, margin, old, chunk);
                pair.touches = !chunk.found.is_empty();
                chunk.put(old);
            }
            chunk.count_free(old);
        }
        self.keep_resting(rest, chunk);
    }

    /// Contacts of pairs that nobody examines stay if neither body can have moved.
    fn keep_resting(self, contacts: &mut [Contact], chunk: &mut Chunk) {
        for contact in contacts.iter_mut() {
            if contact.count > 0 && !(self.resting(contact.key.a) && self.resting(contact.key.b)) {
                contact.end();
            }
        }
        chunk.count_free(contacts);
    }

    fn resting(self, slot: u32) -> bool {
        let (body, now) = self.body(slot);
        if body.is_dynamic() { now.asleep } else { !super::broad::moves(body, now) }
    }

    fn body(self, slot: u32) -> (&'a BodyModel, &'a BodyState) {
        (&self.model.bodies[slot as usize], &self.state.bodies[slot as usize])
    }

    /// Finds the contacts of a pair, and hands them the impulses of the old ones. Returns how far both are
    /// apart at least, where that is known and they do not touch, else 0, m.
    fn find(self, (a, b): (u32, u32), margin: f64, old: &[Contact], chunk: &mut Chunk) -> f64 {
        let (place_a, place_b) = (&self.placed[a as usize], &self.placed[b as usize]);
        let Chunk { found: contacts, narrow, facing, .. } = chunk;
        let boxes =
            box_pair(place_a, place_b).map_or(Boxes::Unsettled, |pair| pair.touch(margin, facing));
        if let Boxes::Apart(gap) = boxes {
            return gap;
        }
        let ((body_a, _), (body_b, _)) = (self.body(a), self.body(b));
        let (ma, mb) = (&body_a.material, &body_b.material);
        let (to_a, to_b) = (place_a.axes.transpose(), place_b.axes.transpose());
        let pair = Contact {
            key: ContactKey { a, b, piece_a: 0, piece_b: 0 },
            friction: ma.friction_combine.apply(ma.friction, mb.friction_combine, mb.friction),
            restitution: ma.restitution_combine.apply(
                ma.restitution,
                mb.restitution_combine,
                mb.restitution,
            ),
            found: Found {
                between: to_a * (place_b.position - place_a.position),
                turn: place_a.rotation.conjugate() * place_b.rotation,
                normal: Vec3::ZERO,
                margin,
            },
            ..Contact::default()
        };
        let finish = |contact: &mut Contact| {
            let on_b = is_face_of_b(contact.points[0].feature);
            contact.found.normal = if on_b { to_b } else { to_a } * contact.normal;
            let key = contact.key;
            if let Some(old) = old.iter().find(|old| old.key == key && old.count > 0) {
                carry_impulses(old, contact, 0.1 * body_a.reach.min(body_b.reach));
            }
        };
        if boxes == Boxes::Facing {
            contacts.push(pair);
            if let Some(contact) = contacts.last_mut() {
                contact.normal = (place_a.axes * facing.normal).normalize();
                contact.set_facing(facing, [body_a.center, body_b.center]);
                finish(contact);
            }
            return 0.0;
        }
        let convex = body_a.shape.is_convex() && body_b.shape.is_convex();
        let mut emit = |piece_a: u32, piece_b: u32, manifold: &Manifold| {
            contacts.push(pair);
            if let Some(contact) = contacts.last_mut() {
                contact.key = ContactKey { a, b, piece_a, piece_b };
                contact.normal = manifold.normal;
                contact.set_manifold(manifold, convex, [place_a, place_b]);
                finish(contact);
            }
        };
        let (pose_a, pose_b) = (place_a.pose(), place_b.pose());
        collide(&body_a.shape, &pose_a, &body_b.shape, &pose_b, margin, narrow, &mut emit);
        0.0
    }
}

/// Takes those contacts off the front whose pairs belong.
fn take<'a>(
    contacts: &mut &'a mut [Contact],
    belongs: impl Fn((u32, u32)) -> bool,
) -> &'a mut [Contact] {
    let count = contacts.iter().take_while(|c| belongs((c.key.a, c.key.b))).count();
    let (front, rest) = std::mem::take(contacts).split_at_mut(count);
    *contacts = rest;
    front
}

impl Chunk {
    /// Puts the contacts found now in the places of the old ones of the same pair.
    fn put(&mut self, old: &mut [Contact]) {
        let mut old = old.iter_mut().peekable();
        for found in &self.found {
            while let Some(gone) = old.next_if(|old| old.key < found.key) {
                gone.end();
            }
            match old.next_if(|old| old.key == found.key) {
                Some(place) => *place = *found,
                None => self.added.push(*found),
            }
        }
        old.for_each(Contact::end);
    }

    fn count_free(&mut self, contacts: &[Contact]) {
        self.free += contacts.iter().filter(|contact| contact.count == 0).count();
    }
}
