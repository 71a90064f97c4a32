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
use super::narrow::{NarrowScratch, clearance, collide};
use super::pairs::{Ordered, Pair};
use super::persist::{carry_impulses, refresh};
use super::placed::{Placed, box_pair, pair_margin};
use super::places::{Places, Renewed, find_starts};
use crate::math::{Quat, Vec3};
use crate::model::{BodyModel, Model};
use crate::scheme::pile::prefetch;
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
            *point = ContactPoint {
                anchor_a: found.on_a - centers[0],
                anchor_b: found.on_b - centers[1],
                separation: found.separation,
                feature: found.feature,
                ..ContactPoint::default()
            };
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
            *point = ContactPoint {
                anchor_a: to_a * (found.core_a - a.position),
                anchor_b: to_b * (found.core_b - b.position),
                radius_a: found.radius_a,
                radius_b: found.radius_b,
                separation: found.separation,
                feature: found.feature,
                ..ContactPoint::default()
            };
            if found.radius_a > 0.0 || found.radius_b > 0.0 {
                self.found.margin = 0.0;
            }
        }
    }

    /// Leaves its place free. What it was leaves no trace: the state does not tell who looked last.
    pub(super) fn end(&mut self) {
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
    narrow: NarrowScratch,
    facing: Facing,
}

/// Pairs handled together; fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 64;

/// How many pairs ahead memory is asked for.
const EARLY: usize = 4;

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
        chunk.clear();
        let mut rest = contacts;
        for i in 0..pairs.len() {
            // bodies lie far apart and contacts are large: ask early for those that come
            if let Some(later) = pairs.get(i + EARLY) {
                prefetch(&self.placed[later.b as usize]);
            }
            if let Some(later) = rest.get(EARLY) {
                prefetch(later);
            }
            let pair = &mut pairs[i];
            let slots = pair.order();
            self.keep_resting(take(&mut rest, |other| other < slots), chunk);
            let old = take(&mut rest, |other| other == slots);
            let bodies = [pair.a, pair.b].map(|slot| &self.placed[slot as usize]);
            let margin = pair_margin(bodies[0], bodies[1], self.dt);
            pair.touches = refresh(bodies, margin, old);
            if !pair.touches {
                (pair.touches, pair.apart) = self.find(slots, margin, old, chunk);
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

    /// Finds the contacts of a pair, in the places of the old ones, and hands them their impulses. Says
    /// whether there are any and else how far both are apart at least, m, or 0 if that is not known.
    fn find(
        self,
        (a, b): (u32, u32),
        margin: f64,
        old: &mut [Contact],
        chunk: &mut Chunk,
    ) -> (bool, f64) {
        let (place_a, place_b) = (&self.placed[a as usize], &self.placed[b as usize]);
        let Chunk { added, narrow, facing, .. } = chunk;
        let boxes =
            box_pair(place_a, place_b).map_or(Boxes::Unsettled, |pair| pair.touch(margin, facing));
        if let Boxes::Apart(gap) = boxes {
            old.iter_mut().for_each(Contact::end);
            return (false, gap);
        }
        let ((body_a, _), (body_b, _)) = (self.body(a), self.body(b));
        let (ma, mb) = (&body_a.material, &body_b.material);
        let (to_a, to_b) = (place_a.axes.transpose(), place_b.axes.transpose());
        let friction = ma.friction_combine.apply(ma.friction, mb.friction_combine, mb.friction);
        let restitution =
            ma.restitution_combine.apply(ma.restitution, mb.restitution_combine, mb.restitution);
        let found = Found {
            between: to_a * (place_b.position - place_a.position),
            turn: place_a.rotation.conjugate() * place_b.rotation,
            normal: Vec3::ZERO,
            margin,
        };
        let reach = 0.1 * body_a.reach.min(body_b.reach);
        let mut places = Renewed::new(old, added);
        // a contact is large: it is changed where it lies
        let mut renew = |piece_a: u32, piece_b: u32, normal: Vec3, set: &dyn Fn(&mut Contact)| {
            let contact = places.place(ContactKey { a, b, piece_a, piece_b });
            let (before, count) = (contact.points, contact.count as usize);
            (contact.normal, contact.found) = (normal, found);
            (contact.friction, contact.restitution) = (friction, restitution);
            set(contact);
            let on_b = is_face_of_b(contact.points[0].feature);
            contact.found.normal = if on_b { to_b } else { to_a } * normal;
            let (used, unused) = contact.points.split_at_mut(contact.count as usize);
            carry_impulses(&before[..count], used, reach);
            unused.fill(ContactPoint::default());
        };
        if boxes == Boxes::Facing {
            let normal = (place_a.axes * facing.normal).normalize();
            let centers = [body_a.center, body_b.center];
            renew(0, 0, normal, &|contact| contact.set_facing(facing, centers));
        } else {
            let convex = body_a.shape.is_convex() && body_b.shape.is_convex();
            let (pose_a, pose_b) = (place_a.pose(), place_b.pose());
            let mut emit = |piece_a: u32, piece_b: u32, manifold: &Manifold| {
                renew(piece_a, piece_b, manifold.normal, &|contact| {
                    contact.set_manifold(manifold, convex, [place_a, place_b]);
                });
            };
            collide(&body_a.shape, &pose_a, &body_b.shape, &pose_b, margin, narrow, &mut emit);
        }
        if places.finish() {
            return (true, 0.0);
        }
        let shapes = [(&body_a.shape, place_a.pose()), (&body_b.shape, place_b.pose())];
        (false, clearance(shapes, (margin, place_a.rest.min(place_b.rest)), narrow))
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

/// Contacts that a chunk has room for while few come; what a burst needed is given back.
const ROOM: usize = 16;

impl Chunk {
    fn clear(&mut self) {
        self.added.clear();
        if self.added.capacity() > ROOM {
            self.added.shrink_to(0);
        }
        self.free = 0;
    }

    fn count_free(&mut self, contacts: &[Contact]) {
        self.free += contacts.iter().filter(|contact| contact.count == 0).count();
    }
}
