//! Contacts of a step: manifolds of all pairs, ordered by their keys, with the impulses of the last
//! step carried over to points that persist.
//!
//! Most pairs of a pile hardly move against each other. Their contacts stay as they were found, turned
//! along with the bodies, until the pair has moved by a share of its size; what was found then is part
//! of the state, so that nothing depends on memory. A contact that ends leaves its place free for others
//! (see `places.rs`), so that those that last need not move.

use super::ahead::{self, Mover};
use super::boxes::Boxes;
use super::boxes_clip::Facing;
use super::broad::BroadPhase;
use super::clearance::clearance;
use super::contact_slots::{Places, Renewed, find_starts};
use super::manifold::Manifold;
use super::narrow::{NarrowScratch, collide};
use super::opposed::{Pressing, end_opposed};
use super::pairs::{Ordered, Pair};
use super::placed::{Placed, box_on_mesh, box_pair, outruns_margin, pair_margin};
use super::refresh::{Met, Pairing};
use super::reuse::refresh;
use crate::model::Model;
use crate::model::body::Material;
use crate::model::body::model::BodyModel;
use crate::parallel::pool;
use crate::parallel::share::prefetch;
use crate::shape::Geometry;
use crate::state::State;
use crate::state::body::BodyState;
pub use crate::state::contact::{Basis, Contact, ContactKey, ContactPoint, Cores, Found, Impulses};

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
    pressing: Vec<Pressing>,
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
    let BroadPhase { pairs, placed, surfaces, looks_ahead, .. } = broad;
    let chunk_count = pairs.len().div_ceil(CHUNK).max(1);
    if scratch.chunks.len() < chunk_count {
        scratch.chunks.resize_with(chunk_count, Chunk::default);
    }
    let chunks = &mut scratch.chunks[..chunk_count];
    let mut contacts = std::mem::take(&mut state.contacts);
    let search = Search { model, state, placed, surfaces, looks_ahead: *looks_ahead, dt };
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
    surfaces: &'a [Material],
    /// Whether pairs are looked for that are far apart and meet within the step.
    looks_ahead: bool,
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
        pool::join(
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
                prefetch(self.placed[later.b as usize].hot());
            }
            if let Some(later) = rest.get(EARLY) {
                prefetch(later.hot());
            }
            let pair = &mut pairs[i];
            let slots = pair.order();
            self.keep_resting(take(&mut rest, |other| other < slots), chunk);
            let old = take(&mut rest, |other| other == slots);
            let bodies = [pair.a, pair.b].map(|slot| &self.placed[slot as usize]);
            pair.touches = refresh(bodies, self.dt, old);
            if !pair.touches {
                let margin = pair_margin(bodies[0], bodies[1], self.dt);
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
        let Chunk { added, narrow, facing, pressing, .. } = chunk;
        let boxes =
            box_pair(place_a, place_b).map_or(Boxes::Unsettled, |pair| pair.touch(margin, facing));
        let outruns = self.looks_ahead && outruns_margin(place_a, place_b, self.dt);
        if let (Boxes::Apart(gap), false) = (boxes, outruns) {
            old.iter_mut().for_each(Contact::end);
            return (false, gap);
        }
        let surfaces = [a, b].map(|slot| &self.surfaces[slot as usize]);
        let mut pairing = Pairing::new(surfaces, [place_a, place_b], (margin, self.dt));
        let (body_a, body_b) = (self.body(a).0, self.body(b).0);
        let parted = !(body_a.parts.is_empty() && body_b.parts.is_empty());
        let mut places = Renewed::new(old, added);
        // a contact is large: it is changed where it lies
        if let Boxes::Apart(_) = boxes {
            // nothing but what is ahead
        } else if boxes == Boxes::Facing {
            let normal = (place_a.axes * facing.normal).normalize();
            let contact = places.place(ContactKey { a, b, piece_a: 0, piece_b: 0 });
            pairing.renew_facing(contact, (normal, facing.whole), facing);
        } else if !self.find_on_mesh((a, b), (&pairing, margin), &mut places, (narrow, facing)) {
            let convex = body_a.shape.is_convex() && body_b.shape.is_convex();
            let (pose_a, pose_b) = (place_a.pose(), place_b.pose());
            let mut emit = |piece_a: u32, piece_b: u32, manifold: &Manifold| {
                if parted {
                    if !body_a.collides_with(piece_a, body_b, piece_b) {
                        return;
                    }
                    let of = [body_a.material_of(piece_a), body_b.material_of(piece_b)];
                    pairing.make_of(of, self.dt);
                }
                let met = manifold.points.map(|point| pairing.met(&point));
                let contact = places.place(ContactKey { a, b, piece_a, piece_b });
                let whole = convex && manifold.whole;
                pairing.renew(contact, manifold.normal, whole, &met[..manifold.count]);
            };
            collide(&body_a.shape, &pose_a, &body_b.shape, &pose_b, margin, narrow, &mut emit);
        }
        if [body_a, body_b].iter().any(|body| body.shape.is_mesh()) {
            end_opposed(&mut places, ([place_a, place_b], self.dt), pressing);
        }
        if outruns && !places.any() {
            self.find_ahead((a, b), &mut pairing, &mut places, narrow);
        }
        if places.finish() {
            return (true, 0.0);
        }
        let shapes = [(a, place_a), (b, place_b)].map(|(i, at)| (&self.body(i).0.shape, at.pose()));
        (false, clearance(shapes, (margin, place_a.rest.min(place_b.rest)), narrow))
    }
}

impl Search<'_> {
    /// Finds the contacts of a pair that is far apart and meets within the step.
    fn find_ahead(
        self,
        (a, b): (u32, u32),
        pairing: &mut Pairing,
        places: &mut Renewed,
        narrow: &mut NarrowScratch,
    ) {
        let movers = [a, b].map(|slot| {
            let (body, now) = self.body(slot);
            let placed = &self.placed[slot as usize];
            let mut velocity =
                if body.is_dynamic() && now.asleep { Default::default() } else { now.velocity };
            velocity.linear += placed.fall / self.dt;
            Mover { shape: &body.shape, placed, velocity }
        });
        let (body_a, body_b) = (self.body(a).0, self.body(b).0);
        let parted = !(body_a.parts.is_empty() && body_b.parts.is_empty());
        let mut emit = |(piece_a, piece_b): (u32, u32), normal, met: &[Met]| {
            if parted {
                if !body_a.collides_with(piece_a, body_b, piece_b) {
                    return;
                }
                let of = [body_a.material_of(piece_a), body_b.material_of(piece_b)];
                pairing.make_of(of, self.dt);
            }
            let contact = places.place(ContactKey { a, b, piece_a, piece_b });
            pairing.renew_ahead(contact, normal, met);
        };
        ahead::meet(movers, self.dt, narrow, &mut emit);
    }

    /// Finds the contacts of a pair of which one is a mesh and the other a box; says whether it is.
    fn find_on_mesh(
        self,
        (a, b): (u32, u32),
        (pairing, margin): (&Pairing, f64),
        places: &mut Renewed,
        (narrow, facing): (&mut NarrowScratch, &mut Facing),
    ) -> bool {
        let placed = [a, b].map(|slot| &self.placed[slot as usize]);
        let (ground, on, cuboid) = match placed.map(Placed::is_box) {
            [false, true] => (a, placed[0], placed[1]),
            [true, false] => (b, placed[1], placed[0]),
            _ => return false,
        };
        let Geometry::Mesh(mesh) = self.body(ground).0.shape.geometry() else { return false };
        let pair = box_on_mesh(cuboid, on, margin);
        pair.candidates(mesh, &mut narrow.found);
        for &piece in &narrow.found {
            if !pair.touch(mesh, piece as usize, facing) {
                continue;
            }
            let mut key = ContactKey { a, b, piece_a: piece, piece_b: 0 };
            if ground == b {
                facing.flip();
                (key.piece_a, key.piece_b) = (0, piece);
            }
            let normal = (on.axes * facing.normal).normalize();
            pairing.renew_facing(places.place(key), (normal, false), facing);
        }
        true
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
