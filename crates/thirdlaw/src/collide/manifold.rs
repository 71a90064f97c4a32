//! What collision detection finds between two convex pieces.

use crate::math::Vec3;
use crate::state::contact::POINTS_MAX;

/// The contact between two convex pieces at one pose, in world coordinates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manifold {
    /// Unit normal from a to b.
    pub normal: Vec3,
    /// The first `count` are in use.
    pub points: [Point; POINTS_MAX],
    /// Number of points in use.
    pub count: usize,
    /// Whether no point was left out for being farther apart than asked for.
    pub whole: bool,
}

/// One contact point.
///
/// Each side is given by a *core* point that moves rigidly with the body and a radius around it
/// (zero for flat features). A rolling sphere's core is its centre: it turns without its separation
/// changing, which a point fixed on its surface could not show.
/// separation = normal·(core_b − core_a) − radius_a − radius_b.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    /// Core point on side a, world coordinates, m.
    pub core_a: Vec3,
    /// Core point on side b, world coordinates, m.
    pub core_b: Vec3,
    /// Distance of the surface of a from its core along +normal, m.
    pub radius_a: f64,
    /// Distance of the surface of b from its core along −normal, m.
    pub radius_b: f64,
    /// Gap (> 0) or overlap (< 0) along the normal, m.
    pub separation: f64,
    /// Which features met; equal in consecutive steps while the same features touch.
    pub feature: u32,
}

impl Manifold {
    /// The points in use.
    pub fn points(&self) -> &[Point] {
        &self.points[..self.count]
    }
}
