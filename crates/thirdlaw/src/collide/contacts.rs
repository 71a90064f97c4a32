//! Contacts of a step: manifolds of all pairs, ordered by their keys, with the impulses of the last
//! step carried over to points that persist.
//!
//! Most pairs of a pile hardly move against each other. Their contacts stay as they were found, turned
//! along with the bodies, until the pair has moved by a share of its size; what was found then is part
//! of the state, so that nothing depends on memory. Contacts stay in place as long as no pair of their
//! chunk comes or goes.

use super::manifold::{Manifold, POINTS_MAX};
use super::narrow::{NarrowScratch, collide};
use super::placed::{Placed, pair_margin, place_all, surely_apart};
use crate::math::{Quat, Vec3};
use crate::model::{BodyModel, Model};
use crate::state::{BodyState, State};
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// Number of points.
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
    /// Normal from a to b.
    pub normal: Vec3,
    /// Distance up to which contacts were looked for, m; 0 where a side is round and its contacts move
    /// over it.
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
    placed: Vec<Placed>,
    chunks: Vec<Chunk>,
}

/// What became of the contacts of some consecutive pairs: the first ones are in place, from where the
/// list changed on they are here.
#[derive(Debug, Default)]
struct Chunk {
    in_place: usize,
    changed: bool,
    /// Where its contacts began, and where they are to begin.
    from: usize,
    to: usize,
    rest: Vec<Contact>,
    found: Vec<Contact>,
    narrow: NarrowScratch,
}

/// Pairs handled together; fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 64;
/// Share of the thinner body's thickness by which a pair may move before its contacts are found anew.
const STILL: f64 = 4e-4;

/// Replaces `state.contacts` by the contacts at the current poses, for a step of `dt` in substeps of
/// `substep` seconds. Contacts between bodies that both
/// sleep (or cannot move) are not examined and stay.
pub fn update(
    model: &Model,
    state: &mut State,
    pairs: &[(u32, u32)],
    (dt, substep): (f64, f64),
    scratch: &mut ContactScratch,
) {
    let chunk_count = pairs.len().div_ceil(CHUNK).max(1);
    if scratch.chunks.len() < chunk_count {
        scratch.chunks.resize_with(chunk_count, Chunk::default);
    }
    let chunks = &mut scratch.chunks[..chunk_count];
    let mut contacts = std::mem::take(&mut state.contacts);
    place_all(model, state, dt, &mut scratch.placed);
    let search = Search { model, state, placed: &scratch.placed, dt };
    search.examine(pairs, &mut contacts, chunks);
    if chunks.iter().any(|chunk| chunk.changed) {
        splice(&mut contacts, pairs, chunks);
    }
    // impulses follow a change of the substep, those carried through sleep too
    if state.substep > 0.0 && state.substep != substep {
        let scale = substep / state.substep;
        contacts.iter_mut().for_each(|contact| contact.scale_impulses(scale));
    }
    state.contacts = contacts;
}

/// Brings what the chunks have in place and what they hold together, moving no contact that is where it
/// belongs.
fn splice(contacts: &mut Vec<Contact>, pairs: &[(u32, u32)], chunks: &mut [Chunk]) {
    let mut end = 0;
    for (i, chunk) in chunks.iter_mut().enumerate() {
        chunk.from = if i == 0 { 0 } else { first_of(contacts, pairs[i * CHUNK]) };
        chunk.to = end;
        end += chunk.in_place + chunk.rest.len();
    }
    if contacts.len() < end {
        contacts.resize(end, Contact::default());
    }
    // chunks keep their order, so that those that move down, from the first on, and then those that
    // move up, from the last on, never run over one that has yet to move
    let mut shift = |chunk: &Chunk| {
        contacts.copy_within(chunk.from..chunk.from + chunk.in_place, chunk.to);
    };
    chunks.iter().filter(|chunk| chunk.to < chunk.from).for_each(&mut shift);
    chunks.iter().rev().filter(|chunk| chunk.to > chunk.from).for_each(&mut shift);
    for chunk in chunks.iter() {
        contacts[chunk.to + chunk.in_place..][..chunk.rest.len()].copy_from_slice(&chunk.rest);
    }
    contacts.truncate(end);
}

/// Index of the first contact of a pair, or of the place where it would be.
fn first_of(contacts: &[Contact], pair: (u32, u32)) -> usize {
    contacts.partition_point(|c| (c.key.a, c.key.b) < pair)
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
    fn examine(self, pairs: &[(u32, u32)], contacts: &mut [Contact], chunks: &mut [Chunk]) {
        if let [chunk] = chunks {
            return self.examine_chunk(pairs, contacts, chunk);
        }
        let half = chunks.len() / 2;
        let (left_pairs, right_pairs) = pairs.split_at(half * CHUNK);
        let (left, right) = contacts.split_at_mut(first_of(contacts, right_pairs[0]));
        let (left_chunks, right_chunks) = chunks.split_at_mut(half);
        rayon::join(
            || self.examine(left_pairs, left, left_chunks),
            || self.examine(right_pairs, right, right_chunks),
        );
    }

    fn examine_chunk(self, pairs: &[(u32, u32)], contacts: &mut [Contact], chunk: &mut Chunk) {
        chunk.in_place = 0;
        chunk.changed = false;
        chunk.rest.clear();
        let mut next = 0;
        let mut take = |contacts: &[Contact], belongs: &dyn Fn((u32, u32)) -> bool| {
            let start = next;
            let pair = |c: &Contact| (c.key.a, c.key.b);
            next += contacts[start..].iter().take_while(|c| belongs(pair(c))).count();
            start..next
        };
        for &pair in pairs {
            let unseen = take(contacts, &|other| other < pair);
            self.keep_resting(contacts, unseen, chunk);
            let old = take(contacts, &|other| other == pair);
            let bodies = [pair.0, pair.1].map(|slot| &self.placed[slot as usize]);
            let margin = pair_margin(bodies[0], bodies[1], self.dt);
            if refresh(bodies, margin, &mut contacts[old.clone()]) {
                chunk.keep(contacts, old);
                continue;
            }
            chunk.found.clear();
            if !surely_apart(bodies[0], bodies[1], margin) {
                self.find(pair, margin, &contacts[old.clone()], chunk);
            }
            chunk.replace(contacts, old);
        }
        let unseen = take(contacts, &|_| true);
        self.keep_resting(contacts, unseen, chunk);
    }

    /// Contacts of pairs that nobody examines stay if neither body can have moved.
    fn keep_resting(self, contacts: &[Contact], range: Range<usize>, chunk: &mut Chunk) {
        for i in range {
            let key = contacts[i].key;
            if self.resting(key.a) && self.resting(key.b) {
                chunk.keep(contacts, i..i + 1);
            } else {
                chunk.changed = true;
            }
        }
    }

    fn resting(self, slot: u32) -> bool {
        let (body, now) = self.body(slot);
        if body.is_dynamic() { now.asleep } else { !super::broad::moves(body, now) }
    }

    fn body(self, slot: u32) -> (&'a BodyModel, &'a BodyState) {
        (&self.model.bodies[slot as usize], &self.state.bodies[slot as usize])
    }

    /// Finds the contacts of a pair, and hands them the impulses of the old ones.
    fn find(self, (a, b): (u32, u32), margin: f64, old: &[Contact], chunk: &mut Chunk) {
        let ((body_a, _), (body_b, _)) = (self.body(a), self.body(b));
        let (place_a, place_b) = (&self.placed[a as usize], &self.placed[b as usize]);
        let (ma, mb) = (&body_a.material, &body_b.material);
        let friction = ma.friction_combine.apply(ma.friction, mb.friction_combine, mb.friction);
        let restitution =
            ma.restitution_combine.apply(ma.restitution, mb.restitution_combine, mb.restitution);
        let (to_a, to_b) = (place_a.axes.transpose(), place_b.axes.transpose());
        let between = to_a * (place_b.position - place_a.position);
        let turn = place_a.rotation.conjugate() * place_b.rotation;

        let Chunk { found: contacts, narrow, .. } = chunk;
        let mut emit = |piece_a: u32, piece_b: u32, manifold: &Manifold| {
            let key = ContactKey { a, b, piece_a, piece_b };
            let round = manifold.points().iter().any(|p| p.radius_a > 0.0 || p.radius_b > 0.0);
            let mut contact = Contact {
                key,
                normal: manifold.normal,
                friction,
                restitution,
                count: manifold.count as u32,
                found: Found {
                    between,
                    turn,
                    normal: to_a * manifold.normal,
                    margin: if round { 0.0 } else { margin },
                },
                ..Contact::default()
            };
            for (point, found) in contact.points.iter_mut().zip(manifold.points()) {
                *point = ContactPoint {
                    anchor_a: to_a * (found.core_a - place_a.position),
                    anchor_b: to_b * (found.core_b - place_b.position),
                    radius_a: found.radius_a,
                    radius_b: found.radius_b,
                    separation: found.separation,
                    feature: found.feature,
                    ..ContactPoint::default()
                };
            }
            if let Some(old) = old.iter().find(|old| old.key == key) {
                carry_impulses(old, &mut contact, 0.1 * body_a.reach.min(body_b.reach));
            }
            contacts.push(contact);
        };
        let (pose_a, pose_b) = (place_a.pose(), place_b.pose());
        collide(&body_a.shape, &pose_a, &body_b.shape, &pose_b, margin, narrow, &mut emit);
    }
}

/// Whether a pair still lies as it did when its contacts were found; if so, they are turned along.
fn refresh([a, b]: [&Placed; 2], margin: f64, old: &mut [Contact]) -> bool {
    let Some(Contact { found, .. }) = old.first() else { return false };
    if found.margin == 0.0 || margin > found.margin {
        return false;
    }
    let still = STILL * a.thickness.min(b.thickness).min(a.reach.min(b.reach));
    let between = b.position - a.position;
    let slid = (a.axes.transpose() * between).distance(found.between);
    if slid > still {
        return false;
    }
    let turned = found.turn.conjugate() * (a.rotation.conjugate() * b.rotation);
    if slid + 2.0 * turned.xyz().length() * b.reach > still {
        return false;
    }
    for contact in old {
        contact.normal = (a.axes * contact.found.normal).normalize();
        for point in &mut contact.points[..contact.count as usize] {
            let core_b = between + b.axes * point.anchor_b;
            point.separation = contact.normal.dot(core_b - a.axes * point.anchor_a);
        }
    }
    true
}

impl Chunk {
    /// Contacts that stay.
    fn keep(&mut self, contacts: &[Contact], range: Range<usize>) {
        if self.changed {
            self.rest.extend_from_slice(&contacts[range]);
        } else {
            self.in_place = range.end;
        }
    }

    /// The contacts found now instead of those of `range`.
    fn replace(&mut self, contacts: &mut [Contact], range: Range<usize>) {
        let old = &mut contacts[range.clone()];
        self.changed |= old.len() != self.found.len()
            || old.iter().zip(&self.found).any(|(o, f)| o.key != f.key);
        if self.changed {
            self.rest.append(&mut self.found);
        } else {
            old.copy_from_slice(&self.found);
            self.in_place = range.end;
        }
    }
}

/// Hands the impulses of the last step to the points that are still there: same features, or else
/// the nearest point left within `reach`.
fn carry_impulses(old: &Contact, new: &mut Contact, reach: f64) {
    let mut left = Left { points: old.points(), taken: 0 };
    let points = &mut new.points[..new.count as usize];
    let mut found = [false; POINTS_MAX];
    for (point, found) in points.iter_mut().zip(&mut found) {
        let feature = point.feature;
        *found = left.hand_over(point, |old| if old.feature == feature { 0.0 } else { 1.0 }, 0.5);
    }
    for (point, _) in points.iter_mut().zip(found).filter(|(_, found)| !found) {
        let place = point.anchor_b;
        left.hand_over(point, |old| old.anchor_b.distance(place), reach);
    }
}

/// Points of the last step, and by bits whose impulses have been taken over.
struct Left<'a> {
    points: &'a [ContactPoint],
    taken: u32,
}

impl Left<'_> {
    /// Gives `point` the impulses of the first of the points left that is nearest to it by
    /// `distance`, if that is less than `limit`; says whether it did.
    fn hand_over(
        &mut self,
        point: &mut ContactPoint,
        distance: impl Fn(&ContactPoint) -> f64,
        limit: f64,
    ) -> bool {
        let mut best = (limit, None);
        for (i, old) in self.points.iter().enumerate().filter(|(i, _)| self.taken >> i & 1 == 0) {
            let distance = distance(old);
            if distance < best.0 {
                best = (distance, Some(i));
            }
        }
        let Some(i) = best.1 else { return false };
        point.normal_impulse = self.points[i].normal_impulse;
        point.friction_impulse = self.points[i].friction_impulse;
        self.taken |= 1 << i;
        true
    }
}
