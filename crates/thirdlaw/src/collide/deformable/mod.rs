//! Where what deforms comes near solids and near itself: [`detect`] makes flat records of it, which a
//! scheme turns into filters, springs or rows. The rest is pure geometry.
//!
//! Every function of it takes positions as plain slices and writes [`Hit`]s into a vector
//! that the caller keeps. All cloths of a world share one array of particles. The order of the hits
//! follows from the input alone, never from the number of threads, and memory is kept from call to
//! call.
//!
//! - [`particles`]: particles against solids, by the [`signed_distance`] of every shape.
//! - [`Tree::near_solids`]: corners, edges and round parts of solids against the insides of
//!   triangles and edges.
//! - [`Tree`]: cloth near cloth ([`Tree::proximity`]), cloth that meets cloth on its way
//!   ([`Tree::crossings`]) and cloth through cloth ([`Tree::intersections`]).

mod bvh;
mod crossings;
pub mod detect;
mod distance;
mod distance_mesh;
mod features;
mod features_convex;
mod features_mesh;
mod intersections;
pub mod particles;
pub mod parts;
mod patches;
mod proximity;
#[cfg(test)]
mod tests;
mod tree;

pub use crate::shape::distance::Surface;
pub use detect::{DeformableContact, Detector, Obstacle, Surroundings};
pub use distance::signed_distance;
pub use intersections::intersections_brute_force;
pub use particles::{ParticleScratch, Particles, vertex_solid};
pub use tree::Tree;

use crate::math::{Mat3, Pose, Vec3};
use crate::model::body::Groups;
use crate::model::body::part::PartModel;
use crate::shape::Shape;
use crate::state::cloth::HitKind;

/// A place where cloth comes near something.
///
/// Against a solid the weights sum to 1 and `normal · (Σ weight·x − point) = distance`. Between
/// cloth and cloth they sum to 0, positive on one side and negative on the other, and
/// `normal · Σ weight·x = distance`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which features meet.
    pub kind: HitKind,
    /// The particles that take part.
    pub particles: [u32; 4],
    /// Share of each particle in the touching point.
    pub weights: [f64; 4],
    /// How many particles take part.
    pub count: u8,
    /// Slot of the solid, [`NO_BODY`] between cloth and cloth.
    pub body: u32,
    /// Nearest point on the surface of the solid, in world axes, m; zero between cloth and cloth.
    pub point: Vec3,
    /// Unit vector out of the solid, or from the negative to the positive side.
    pub normal: Vec3,
    /// Signed distance, negative inside, m. No thickness is subtracted.
    pub distance: f64,
    /// When the features meet, as a share of the step; 0 where nothing moves.
    pub time: f64,
    /// Together with the kind, names the pair from step to step; unique among the hits of a call.
    pub feature: [u32; 3],
}

/// The `body` of a hit between cloth and cloth.
pub const NO_BODY: u32 = u32::MAX;

impl Hit {
    /// The particles that take part.
    pub fn used(&self) -> &[u32] {
        &self.particles[..usize::from(self.count)]
    }

    /// What names the pair from step to step; hits of one call differ in it.
    pub fn key(&self) -> (HitKind, [u32; 3]) {
        (self.kind, self.feature)
    }

    /// Σ weight·value over the particles that take part.
    pub fn combine(&self, values: &[Vec3]) -> Vec3 {
        let n = usize::from(self.count).min(4);
        let parts = self.particles[..n].iter().zip(&self.weights[..n]);
        parts.fold(Vec3::ZERO, |sum, (&i, &w)| sum + values[i as usize] * w)
    }
}

/// A rigid solid, placed.
#[derive(Clone, Copy, Debug)]
pub struct Solid<'a> {
    /// Names the body.
    pub slot: u32,
    /// Its surface.
    pub shape: &'a Shape,
    /// Its parts; none where it has no other than its own.
    pub parts: &'a [PartModel],
    /// Where its own origin is.
    pub pose: Pose,
    /// Which cloths it may touch.
    pub groups: Groups,
    /// How much farther than the reach of the particles to look, for its own motion, m.
    pub margin: f64,
}

/// A box in world axes.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    lo: Vec3,
    hi: Vec3,
}

impl Bounds {
    const EMPTY: Bounds =
        Bounds { lo: Vec3::splat(f64::INFINITY), hi: Vec3::splat(f64::NEG_INFINITY) };

    fn include(&mut self, p: Vec3, r: f64) {
        self.lo = self.lo.min(p - Vec3::splat(r));
        self.hi = self.hi.max(p + Vec3::splat(r));
    }

    fn touches(&self, other: &Bounds) -> bool {
        self.lo.cmple(other.hi).all() && other.lo.cmple(self.hi).all()
    }

    fn holds(&self, p: Vec3, r: f64) -> bool {
        (self.lo - Vec3::splat(r)).cmple(p).all() && p.cmple(self.hi + Vec3::splat(r)).all()
    }
}

/// A solid with its rotation as a matrix and its box.
#[derive(Clone, Copy)]
struct Placed<'a> {
    solid: Solid<'a>,
    rotation: Mat3,
    bounds: Bounds,
}

impl<'a> Placed<'a> {
    fn new(solid: &Solid<'a>) -> Placed<'a> {
        let bounds = if solid.shape.is_half_space() {
            Bounds { lo: Vec3::splat(f64::NEG_INFINITY), hi: Vec3::splat(f64::INFINITY) }
        } else {
            let bounds = solid.shape.aabb(&solid.pose);
            let margin = Vec3::splat(solid.margin);
            Bounds { lo: bounds.mins - margin, hi: bounds.maxs + margin }
        };
        Placed { solid: *solid, rotation: Mat3::from_quat(solid.pose.rotation), bounds }
    }

    fn local(&self, p: Vec3) -> Vec3 {
        let d = p - self.solid.pose.translation;
        Vec3::new(
            self.rotation.x_axis.dot(d),
            self.rotation.y_axis.dot(d),
            self.rotation.z_axis.dot(d),
        )
    }

    fn world(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.solid.pose.translation
    }
}
