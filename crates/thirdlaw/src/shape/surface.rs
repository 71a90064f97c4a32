//! Triangles on the surface of a shape, for drawing and export.

use super::{Convex, Geometry, Shape, box_corners};
use crate::math::Vec3;

/// Two triangles for each side of a box whose corners are numbered by sign bits.
const BOX_TRIANGLES: [[u32; 3]; 12] = [
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
];

impl Shape {
    /// Vertices and triangles of the surface, `segments` around round ones; nothing for a
    /// half-space, which has no end.
    pub fn surface(&self, segments: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let segments = segments.clamp(3, 1024);
        match self.geometry() {
            Geometry::Mesh(mesh) => (mesh.vertices.clone(), mesh.triangles.clone()),
            Geometry::Convex(convex) => convex_surface(convex, segments),
            Geometry::Compound(compound) => {
                let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
                for (pose, part) in &compound.parts {
                    let base = vertices.len() as u32;
                    let (v, t) = convex_surface(part, segments);
                    vertices.extend(v.into_iter().map(|v| pose.rotation * v + pose.translation));
                    triangles.extend(t.into_iter().map(|t| t.map(|i| i + base)));
                }
                (vertices, triangles)
            }
        }
    }
}

fn convex_surface(convex: &Convex, segments: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    match convex {
        Convex::HalfSpace { .. } => (Vec::new(), Vec::new()),
        Convex::Cuboid { half_extents } => {
            (box_corners(*half_extents).to_vec(), BOX_TRIANGLES.to_vec())
        }
        Convex::Hull(hull) => (hull.vertices.clone(), hull.triangles().collect()),
        Convex::Cylinder { half_height: h, radius: r } => {
            revolve(&[(-h, 0.0), (-h, *r), (*h, *r), (*h, 0.0)], segments)
        }
        Convex::Cone { half_height: h, radius: r } => {
            revolve(&[(-h, 0.0), (-h, *r), (*h, 0.0)], segments)
        }
        Convex::Rounded(_) | Convex::Own(_) => by_normals(convex, segments),
        Convex::Sphere { radius } => revolve(&round_profile(0.0, *radius, segments), segments),
        Convex::Capsule { half_height, radius } => {
            revolve(&round_profile(*half_height, *radius, segments), segments)
        }
    }
}

/// The points that are farthest along the directions of a net from pole to pole: all of them lie on the
/// surface, and a flat side is one cell of the net. Directions beside those of sides, so that each
/// belongs to one side clearly.
fn by_normals(convex: &Convex, segments: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let segments = segments.max(8).next_multiple_of(4);
    let rings = segments / 2;
    let profile: Vec<(f64, f64)> = (0..=rings)
        .map(|k| {
            let angle = std::f64::consts::PI * (k as f64 / rings as f64 - 0.5);
            match k {
                0 => (-1.0, 0.0),
                _ if k == rings => (1.0, 0.0),
                _ => (libm::sin(angle), libm::cos(angle)),
            }
        })
        .collect();
    let (mut vertices, triangles) = revolve(&profile, segments);
    for v in &mut vertices {
        *v = convex.support(*v);
    }
    (vertices, triangles)
}

/// Half a circle from pole to pole, pulled apart by `half_height` at the equator.
fn round_profile(half_height: f64, radius: f64, segments: usize) -> Vec<(f64, f64)> {
    let quarter = (segments / 4).max(1);
    let arc = |k: usize| {
        let angle = std::f64::consts::FRAC_PI_2 * k as f64 / quarter as f64;
        (libm::sin(angle) * radius, libm::cos(angle) * radius)
    };
    let mut profile: Vec<(f64, f64)> = Vec::new();
    for k in (0..=quarter).rev() {
        let (y, r) = arc(k);
        profile.push((-half_height - y, if k == quarter { 0.0 } else { r }));
    }
    for k in usize::from(half_height == 0.0)..=quarter {
        let (y, r) = arc(k);
        profile.push((half_height + y, if k == quarter { 0.0 } else { r }));
    }
    profile
}

/// Turns a profile of (height, radius), from bottom to top and starting and ending on the axis,
/// about y.
fn revolve(profile: &[(f64, f64)], segments: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let n = segments as u32;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let mut below: Option<(u32, bool)> = None; // first vertex of the ring below, and whether it is a pole
    for &(y, r) in profile {
        let pole = r == 0.0;
        let start = vertices.len() as u32;
        for k in 0..if pole { 1 } else { segments } {
            let angle = std::f64::consts::TAU * k as f64 / segments as f64;
            vertices.push(Vec3::new(r * libm::cos(angle), y, r * libm::sin(angle)));
        }
        for k in 0..n {
            let next = (k + 1) % n;
            match below {
                Some((b, true)) if !pole => triangles.push([b, start + k, start + next]),
                Some((b, false)) if pole => triangles.push([b + k, start, b + next]),
                Some((b, false)) => {
                    triangles.push([b + k, start + k, b + next]);
                    triangles.push([b + next, start + k, start + next]);
                }
                _ => {}
            }
        }
        below = Some((start, pole));
    }
    (vertices, triangles)
}
