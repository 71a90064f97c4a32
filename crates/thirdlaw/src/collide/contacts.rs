//! Contacts of a step: manifolds of all pairs, ordered by their keys, with the impulses of the last
//! step carried over to points that persist.

use super::broad::pair_margin;
use super::manifold::{Manifold, POINTS_MAX};
use super::narrow::{NarrowScratch, collide};
use crate::math::{Pose, Vec3};
use crate::model::Model;
use crate::state::State;
use rayon::prelude::*;
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
    /// Number of points.
    pub count: u32,
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
            && self.points().iter().all(|p| {
                p.anchor_a.is_finite()
                    && p.anchor_b.is_finite()
                    && p.friction_impulse.is_finite()
                    && [p.radius_a, p.radius_b, p.separation, p.normal_impulse]
                        .iter()
                        .all(|x| x.is_finite())
            })
    }

    /// The same contact with its impulses multiplied.
    fn scaled(&self, scale: f64) -> Contact {
        let mut contact = *self;
        if scale != 1.0 {
            for point in &mut contact.points {
                point.normal_impulse *= scale;
                point.friction_impulse *= scale;
            }
        }
        contact
    }
}

/// Memory of the narrow phase.
#[derive(Debug, Default)]
pub struct ContactScratch {
    chunks: Vec<Chunk>,
    merged: Vec<Contact>,
}

#[derive(Debug, Default)]
struct Chunk {
    contacts: Vec<Contact>,
    narrow: NarrowScratch,
}

/// Pairs handled together; fixed, so that nothing depends on the number of threads.
const CHUNK: usize = 64;

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
    let chunk_count = pairs.len().div_ceil(CHUNK);
    if scratch.chunks.len() < chunk_count {
        scratch.chunks.resize_with(chunk_count, Chunk::default);
    }
    let chunks = &mut scratch.chunks[..chunk_count];
    let seen: &State = state;
    chunks.par_iter_mut().zip(pairs.par_chunks(CHUNK)).for_each(|(chunk, pairs)| {
        chunk.contacts.clear();
        for &(a, b) in pairs {
            find_pair(model, seen, (a, b), dt, chunk);
        }
    });
    let found = chunks.iter().flat_map(|chunk| &chunk.contacts);
    // impulses carried through sleep follow a change of the substep like all others do
    let scale = if state.substep > 0.0 { substep / state.substep } else { 1.0 };
    merge(model, state, found, scale, &mut scratch.merged);
    std::mem::swap(&mut state.contacts, &mut scratch.merged);
}

fn resting(model: &Model, state: &State, slot: u32) -> bool {
    let (body, now) = (&model.bodies[slot as usize], &state.bodies[slot as usize]);
    if body.is_dynamic() { now.asleep } else { !super::broad::moves(body, now) }
}

/// Found contacts and kept ones, in order of keys.
fn merge<'a>(
    model: &Model,
    state: &State,
    found: impl Iterator<Item = &'a Contact>,
    scale: f64,
    merged: &mut Vec<Contact>,
) {
    merged.clear();
    let mut kept = state
        .contacts
        .iter()
        .filter(|c| resting(model, state, c.key.a) && resting(model, state, c.key.b))
        .peekable();
    for contact in found {
        while let Some(old) = kept.next_if(|old| old.key < contact.key) {
            merged.push(old.scaled(scale));
        }
        merged.push(contact.scaled(scale));
    }
    merged.extend(kept.map(|old| old.scaled(scale)));
}

fn find_pair(model: &Model, state: &State, (a, b): (u32, u32), dt: f64, chunk: &mut Chunk) {
    let (body_a, body_b) = (&model.bodies[a as usize], &model.bodies[b as usize]);
    let (state_a, state_b) = (&state.bodies[a as usize], &state.bodies[b as usize]);
    let margin = pair_margin([body_a, body_b], [state_a, state_b], dt);
    let origin = |body: &crate::model::BodyModel, s: &crate::state::BodyState| {
        Pose::from_parts(s.position - s.rotation * body.center, s.rotation)
    };
    let (pose_a, pose_b) = (origin(body_a, state_a), origin(body_b, state_b));
    let (ma, mb) = (&body_a.material, &body_b.material);
    let friction = ma.friction_combine.apply(ma.friction, mb.friction_combine, mb.friction);
    let restitution =
        ma.restitution_combine.apply(ma.restitution, mb.restitution_combine, mb.restitution);
    let (to_a, to_b) = (state_a.rotation.conjugate(), state_b.rotation.conjugate());

    let Chunk { contacts, narrow } = chunk;
    let mut emit = |piece_a: u32, piece_b: u32, manifold: &Manifold| {
        let key = ContactKey { a, b, piece_a, piece_b };
        let mut contact = Contact {
            key,
            normal: manifold.normal,
            friction,
            restitution,
            count: manifold.count as u32,
            ..Contact::default()
        };
        for (point, found) in contact.points.iter_mut().zip(manifold.points()) {
            *point = ContactPoint {
                anchor_a: to_a * (found.core_a - state_a.position),
                anchor_b: to_b * (found.core_b - state_b.position),
                radius_a: found.radius_a,
                radius_b: found.radius_b,
                separation: found.separation,
                feature: found.feature,
                ..ContactPoint::default()
            };
        }
        if let Ok(i) = state.contacts.binary_search_by_key(&key, |c| c.key) {
            carry_impulses(&state.contacts[i], &mut contact, 0.1 * body_a.reach.min(body_b.reach));
        }
        contacts.push(contact);
    };
    collide(&body_a.shape, &pose_a, &body_b.shape, &pose_b, margin, narrow, &mut emit);
}

/// Hands the impulses of the last step to the points that are still there: same features, or else
/// the nearest point left within `reach`.
fn carry_impulses(old: &Contact, new: &mut Contact, reach: f64) {
    let mut left = Left { points: old.points, count: old.count as usize };
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

/// Points of the last step whose impulses nobody has taken over yet.
struct Left {
    points: [ContactPoint; POINTS_MAX],
    count: usize,
}

impl Left {
    /// Gives `point` the impulses of the first of the points left that is nearest to it by
    /// `distance`, if that is less than `limit`; says whether it did.
    fn hand_over(
        &mut self,
        point: &mut ContactPoint,
        distance: impl Fn(&ContactPoint) -> f64,
        limit: f64,
    ) -> bool {
        let mut best = (limit, None);
        for (i, old) in self.points[..self.count].iter().enumerate() {
            let distance = distance(old);
            if distance < best.0 {
                best = (distance, Some(i));
            }
        }
        let Some(i) = best.1 else { return false };
        point.normal_impulse = self.points[i].normal_impulse;
        point.friction_impulse = self.points[i].friction_impulse;
        self.points.copy_within(i + 1..self.count, i);
        self.count -= 1;
        true
    }
}
