//! Contacts found anew: how a contact takes over what two pieces have in common now, and the impulses of
//! the last step from points that persist.

use super::boxes_clip::{Facing, FacingPoint};
use super::manifold::Point;
use super::placed::Placed;
use super::reuse::{marked, skin};
use crate::math::{Mat3, Vec3};
use crate::model::body::Material;
use crate::state::contact::{Ahead, Basis, Contact, Found, Impulses, POINTS_MAX, is_face_of_b};

/// Two bodies whose contacts are found anew.
pub(super) struct Pairing<'a> {
    placed: [&'a Placed; 2],
    /// From axes of the world to those of each.
    to_own: [Mat3; 2],
    /// What contacts of both have in common.
    found: Found,
    friction: f64,
    restitution: f64,
    skin: f32,
    /// How far a point may have gone to keep its impulses, m.
    reach: f64,
}

/// A point of two pieces: its cores from the centres of mass of a and b, in axes of each, and their
/// distances from the surfaces, m.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    pub on: [Vec3; 2],
    pub radii: [f64; 2],
    pub separation: f64,
    pub feature: u32,
}

impl Met {
    /// A point of two boxes, or of a box and a mesh.
    fn of_boxes(point: &FacingPoint, placed: [&Placed; 2]) -> Met {
        Met {
            on: [point.on_a - placed[0].center, point.on_b - placed[1].center],
            radii: [0.0; 2],
            separation: point.separation,
            feature: point.feature,
        }
    }
}

impl<'a> Pairing<'a> {
    /// Two bodies with their surfaces, whose contacts were looked for up to a distance of `margin`.
    pub fn new(
        [ma, mb]: [&Material; 2],
        placed: [&'a Placed; 2],
        (margin, dt): (f64, f64),
    ) -> Pairing<'a> {
        let [a, b] = placed;
        let to_own = [a.axes.transpose(), b.axes.transpose()];
        let turn = a.rotation.conjugate() * b.rotation;
        let restitution = ma.combined_restitution(mb);
        Pairing {
            placed,
            to_own,
            found: Found {
                margin,
                between: to_own[0] * (b.position - a.position),
                turn: [turn.x, turn.y, turn.z, turn.w].map(|x| x as f32),
                ..Found::default()
            },
            friction: ma.combined_friction(mb),
            restitution,
            skin: skin(placed, dt, restitution),
            reach: 0.1 * a.reach.min(b.reach),
        }
    }

    /// Makes the next contacts those of pieces of these materials.
    pub fn make_of(&mut self, [ma, mb]: [&Material; 2], dt: f64) {
        self.restitution = ma.combined_restitution(mb);
        self.friction = ma.combined_friction(mb);
        self.skin = skin(self.placed, dt, self.restitution);
    }

    /// A point of two pieces.
    pub fn met(&self, point: &Point) -> Met {
        let [to_a, to_b] = self.to_own;
        let [a, b] = self.placed;
        Met {
            on: [to_a * (point.core_a - a.position), to_b * (point.core_b - b.position)],
            radii: [point.radius_a, point.radius_b],
            separation: point.separation,
            feature: point.feature,
        }
    }

    /// Makes a contact what two boxes, or a box and a mesh, have in common.
    pub fn renew_facing(
        &self,
        contact: &mut Contact,
        (normal, whole): (Vec3, bool),
        facing: &Facing,
    ) {
        let mut met = [Met::default(); POINTS_MAX];
        let points = &facing.points[..facing.count];
        for (met, point) in met.iter_mut().zip(points) {
            *met = Met::of_boxes(point, self.placed);
        }
        self.renew(contact, normal, whole, &met[..points.len()]);
    }

    /// Makes a contact what was found; `whole` says that no point was left out, and nothing of another
    /// piece, for being farther apart than asked for.
    pub fn renew(&self, contact: &mut Contact, normal: Vec3, whole: bool, points: &[Met]) {
        let before = Before::of(contact);
        contact.count = points.len() as u32;
        contact.normal = normal;
        (contact.friction, contact.restitution) = (self.friction, self.restitution);
        let least = points.iter().fold(f64::INFINITY, |least, point| least.min(point.separation));
        contact.skin = marked(self.skin, self.placed, contact.is_deep(), least);
        let is_round = points.iter().any(|point| point.radii != [0.0; 2]);
        let on_a = !is_round && points.first().is_some_and(|p| is_face_of_b(p.feature));
        let (own, face) = if on_a { (0, 1) } else { (1, 0) };
        contact.features = [0; POINTS_MAX];
        contact.anchors = [Vec3::ZERO; POINTS_MAX];
        contact.separations = [0.0; POINTS_MAX];
        for (i, point) in points.iter().enumerate() {
            contact.features[i] = point.feature;
            contact.anchors[i] = point.on[own];
            contact.separations[i] = point.separation;
        }
        contact.basis = if is_round {
            let mut radii = [[0.0; 2]; POINTS_MAX];
            radii.iter_mut().zip(points).for_each(|(radii, point)| *radii = point.radii);
            Basis::Round(radii)
        } else {
            let mut found = Found { normal: self.to_own[face] * normal, ..self.found };
            for (level, point) in found.levels.iter_mut().zip(points) {
                *level = found.normal.dot(point.on[face]);
            }
            if whole {
                found.margin = f64::MAX;
            }
            Basis::Flat(found)
        };
        contact.impulses = before.hand_over(points, self.reach);
    }

    /// Makes a contact what a pair will have in common when it meets; all points have the same radii.
    pub fn renew_ahead(&self, contact: &mut Contact, normal: Vec3, points: &[Met]) {
        self.renew(contact, normal, false, points);
        let mut ahead = Ahead::default();
        for (i, point) in points.iter().enumerate() {
            contact.anchors[i] = point.on[1];
            ahead.on_a[i] = point.on[0];
            ahead.radii = point.radii.map(|radius| radius as f32);
        }
        contact.basis = Basis::Ahead(ahead);
        contact.skin = 0.0;
    }
}

/// What was known of a contact.
struct Before {
    count: usize,
    features: [u32; POINTS_MAX],
    /// Where its points were on b, in its axes, m.
    on_b: [Vec3; POINTS_MAX],
    impulses: Impulses,
}

impl Before {
    fn of(contact: &Contact) -> Before {
        let mut on_b = contact.anchors;
        if let (Basis::Flat(found), true) = (&contact.basis, contact.is_on_a()) {
            let back = found.orientation().conjugate();
            on_b.iter_mut().for_each(|p| *p = back * (*p - found.between));
        }
        let count = contact.count as usize;
        Before { count, features: contact.features, on_b, impulses: contact.impulses }
    }

    /// The impulses of the points that are still there: same features, or else the nearest point left
    /// within `reach`.
    fn hand_over(&self, points: &[Met], reach: f64) -> Impulses {
        let mut impulses = Impulses::default();
        if self.count == 0 {
            return impulses;
        }
        let mut left = Left { before: self, taken: 0 };
        let mut found = [false; POINTS_MAX];
        for (i, point) in points.iter().enumerate() {
            let other = |old: usize| f64::from(u8::from(self.features[old] != point.feature));
            found[i] = left.hand_over(&mut impulses, i, other, 0.5);
        }
        for (i, point) in points.iter().enumerate().filter(|(i, _)| !found[*i]) {
            let way = |old: usize| self.on_b[old].distance(point.on[1]);
            left.hand_over(&mut impulses, i, way, reach);
        }
        impulses
    }
}

/// Points of the last step, and by bits whose impulses have been taken over.
struct Left<'a> {
    before: &'a Before,
    taken: u32,
}

impl Left<'_> {
    /// Gives point `i` the impulses of the first of the points left that is nearest to it by
    /// `distance`, if that is less than `limit`; says whether it did.
    fn hand_over(
        &mut self,
        to: &mut Impulses,
        i: usize,
        distance: impl Fn(usize) -> f64,
        limit: f64,
    ) -> bool {
        let mut best = (limit, None);
        for old in (0..self.before.count).filter(|old| self.taken >> old & 1 == 0) {
            let distance = distance(old);
            if distance < best.0 {
                best = (distance, Some(old));
            }
        }
        let Some(old) = best.1 else { return false };
        to.normal[i] = self.before.impulses.normal[old];
        to.friction[i] = self.before.impulses.friction[old];
        self.taken |= 1 << old;
        true
    }
}
