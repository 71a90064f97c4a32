//! Convex solids in their own frame.

use std::sync::Arc;

use super::distance::convex_distance;
use super::hull::Hull;
use super::mass::MassProperties;
use super::own::OwnShape;
use super::rounded::Rounded;
use crate::math::{Pose, Vec3};

/// A convex solid. Round ones have their axis along y.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Convex {
    /// A ball about the origin.
    Sphere {
        /// m.
        radius: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// m.
        half_extents: Vec3,
    },
    /// All points within `radius` of the segment from −y to +y `half_height`.
    Capsule {
        /// Of the inner segment, m.
        half_height: f64,
        /// m.
        radius: f64,
    },
    /// A right circular cylinder about the origin.
    Cylinder {
        /// m.
        half_height: f64,
        /// m.
        radius: f64,
    },
    /// A cone with its tip at +y and its base at −y `half_height`.
    Cone {
        /// m.
        half_height: f64,
        /// Of the base, m.
        radius: f64,
    },
    /// All points with normal·x ≤ 0.
    HalfSpace {
        /// Outward unit normal.
        normal: Vec3,
    },
    /// A convex polyhedron.
    Hull(Arc<Hull>),
    /// All points within a radius of a sharp solid.
    Rounded(Arc<Rounded>),
    /// A shape of the user's own.
    Own(Arc<OwnShape>),
}

impl Convex {
    /// The solid inside of a rounded one and the radius around it, m; else the solid itself and 0.
    pub fn core(&self) -> (&Convex, f64) {
        match self {
            Convex::Rounded(rounded) => (&rounded.core, rounded.radius),
            other => (other, 0.0),
        }
    }

    /// The point that is farthest along a direction of any length; of a half-space its origin.
    pub fn support(&self, direction: Vec3) -> Vec3 {
        let d = direction;
        let up = if d.y < 0.0 { -1.0 } else { 1.0 };
        let across = |radius: f64| radius * Vec3::new(d.x, 0.0, d.z).normalize_or_zero();
        match self {
            Convex::Sphere { radius } => *radius * d.normalize_or(Vec3::Y),
            Convex::Cuboid { half_extents } => half_extents.copysign(d),
            Convex::Capsule { half_height, radius } => {
                up * half_height * Vec3::Y + *radius * d.normalize_or(Vec3::Y)
            }
            Convex::Cylinder { half_height, radius } => {
                up * half_height * Vec3::Y + across(*radius)
            }
            Convex::Cone { half_height, radius } => {
                let (tip, rim) = (*half_height * Vec3::Y, across(*radius) - *half_height * Vec3::Y);
                if d.dot(tip) > d.dot(rim) { tip } else { rim }
            }
            Convex::HalfSpace { .. } => Vec3::ZERO,
            Convex::Hull(hull) => {
                let mut best = hull.vertices.first().copied().unwrap_or_default();
                for &v in &hull.vertices {
                    if d.dot(v) > d.dot(best) {
                        best = v;
                    }
                }
                best
            }
            Convex::Rounded(rounded) => {
                rounded.core.support(d) + rounded.radius * d.normalize_or(Vec3::Y)
            }
            Convex::Own(own) => own.support(d),
        }
    }

    pub(crate) fn mass_properties(&self) -> Option<MassProperties> {
        match self {
            Convex::Sphere { radius } => Some(MassProperties::sphere(*radius)),
            Convex::Cuboid { half_extents } => Some(MassProperties::cuboid(*half_extents)),
            Convex::Capsule { half_height, radius } => {
                Some(MassProperties::capsule(*half_height, *radius))
            }
            Convex::Cylinder { half_height, radius } => {
                Some(MassProperties::cylinder(*half_height, *radius))
            }
            Convex::Cone { half_height, radius } => {
                Some(MassProperties::cone(*half_height, *radius))
            }
            Convex::HalfSpace { .. } => None,
            Convex::Hull(hull) => {
                Some(MassProperties::closed_surface(&hull.vertices, hull.triangles()))
            }
            Convex::Rounded(rounded) => rounded.mass_properties(),
            Convex::Own(own) => Some(own.mass),
        }
    }

    /// Distance of the farthest point from the origin when placed by `pose`, m.
    pub(crate) fn outer_radius(&self, pose: &Pose) -> f64 {
        let center = pose.translation;
        let axis = pose.rotation * Vec3::Y;
        let rim = |height: f64, radius: f64| {
            let c = center + axis * height;
            let along = c.dot(axis);
            let across = (c - axis * along).length() + radius;
            (along * along + across * across).sqrt()
        };
        match self {
            Convex::Sphere { radius } => center.length() + radius,
            Convex::Cuboid { half_extents } => box_corners(*half_extents)
                .iter()
                .map(|&c| (pose.rotation * c + center).length())
                .fold(0.0, f64::max),
            Convex::Capsule { half_height, radius } => {
                let top = (center + axis * *half_height).length();
                top.max((center - axis * *half_height).length()) + radius
            }
            Convex::Cylinder { half_height, radius } => {
                rim(*half_height, *radius).max(rim(-half_height, *radius))
            }
            Convex::Cone { half_height, radius } => {
                rim(-half_height, *radius).max((center + axis * *half_height).length())
            }
            Convex::HalfSpace { .. } => f64::INFINITY,
            Convex::Hull(hull) => hull
                .vertices
                .iter()
                .map(|&v| (pose.rotation * v + center).length())
                .fold(0.0, f64::max),
            Convex::Rounded(rounded) => rounded.core.outer_radius(pose) + rounded.radius,
            Convex::Own(own) => own
                .bounds
                .vertices()
                .iter()
                .map(|&v| (pose.rotation * v + center).length())
                .fold(0.0, f64::max),
        }
    }

    /// How deep a point lies below the surface (negative outside), m.
    pub(crate) fn depth(&self, p: Vec3) -> f64 {
        let across = (p.x * p.x + p.z * p.z).sqrt();
        match self {
            Convex::Sphere { radius } => radius - p.length(),
            Convex::Cuboid { half_extents } => (*half_extents - p.abs()).min_element(),
            Convex::Capsule { half_height, radius } => {
                radius - (p - Vec3::Y * p.y.clamp(-half_height, *half_height)).length()
            }
            Convex::Cylinder { half_height, radius } => {
                (half_height - p.y.abs()).min(radius - across)
            }
            Convex::Cone { half_height, radius } => {
                let slant = (radius * radius + 4.0 * half_height * half_height).sqrt();
                let side = ((half_height - p.y) * radius - across * 2.0 * half_height) / slant;
                (p.y + half_height).min(side)
            }
            Convex::HalfSpace { normal } => -normal.dot(p),
            Convex::Hull(hull) => hull.depth(p),
            Convex::Rounded(_) | Convex::Own(_) => {
                convex_distance(self, p, f64::INFINITY).map_or(0.0, |surface| -surface.distance)
            }
        }
    }
}

/// The eight corners of a box; bit 0, 1, 2 of the index: sign of x, y, z.
pub(crate) fn box_corners(h: Vec3) -> [Vec3; 8] {
    let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
    std::array::from_fn(|i| Vec3::new(sign(i & 1) * h.x, sign(i & 2) * h.y, sign(i & 4) * h.z))
}
