//! Signed distance from a point to the surface of a convex solid.

use super::{Convex, Hull};
use crate::math::Vec3;
use crate::math::closest::point_triangle;

/// The place on a surface that is nearest to a point. `normal · (p − point) = distance`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Negative inside, m.
    pub distance: f64,
    /// Outward unit vector.
    pub normal: Vec3,
    /// On the surface, m.
    pub point: Vec3,
}

/// Distance of a finite point from the surface of a convex solid, negative inside; none where it lies
/// outside by more than `reach`, m.
pub(crate) fn convex_distance(convex: &Convex, p: Vec3, reach: f64) -> Option<Surface> {
    let surface = match convex {
        Convex::Sphere { radius } => around(Vec3::ZERO, *radius, p, Vec3::Y),
        Convex::Capsule { half_height, radius } => {
            let core = Vec3::new(0.0, p.y.clamp(-half_height, *half_height), 0.0);
            around(core, *radius, p, Vec3::X)
        }
        Convex::Cuboid { half_extents } => cuboid(*half_extents, p),
        Convex::Cylinder { half_height, radius } => {
            turned(p, |q| cylinder(*half_height, *radius, q))
        }
        Convex::Cone { half_height, radius } => turned(p, |q| cone(*half_height, *radius, q)),
        Convex::HalfSpace { normal } => {
            let distance = normal.dot(p);
            Surface { distance, normal: *normal, point: p - *normal * distance }
        }
        Convex::Hull(hull) => return hull_distance(hull, p, reach),
        Convex::Rounded(rounded) => {
            // a parallel surface: the same normals, and all distances less by the radius
            let radius = rounded.radius;
            let core = convex_distance(&rounded.core, p, reach + radius)?;
            let distance = core.distance - radius;
            Surface { distance, point: core.point + core.normal * radius, ..core }
        }
        Convex::Own(own) => own.distance(p),
    };
    (surface.distance <= reach).then_some(surface)
}

/// All points within `radius` of a point; `any` is the normal where every direction is as good.
fn around(core: Vec3, radius: f64, p: Vec3, any: Vec3) -> Surface {
    let d = p - core;
    let length = d.length();
    let normal = if length > 0.0 { d / length } else { any };
    Surface { distance: length - radius, normal, point: core + normal * radius }
}

/// From a point on the surface to one outside; `normal` is for points on the surface itself.
fn outside(p: Vec3, point: Vec3, normal: Vec3) -> Surface {
    let d = p - point;
    let distance = d.length();
    let normal = if distance > 0.0 { d / distance } else { normal };
    Surface { distance, normal, point }
}

fn cuboid(h: Vec3, p: Vec3) -> Surface {
    let gap = h - p.abs();
    let axis = if gap.x <= gap.y && gap.x <= gap.z {
        Vec3::X
    } else if gap.y <= gap.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let side = if axis.dot(p) < 0.0 { -1.0 } else { 1.0 };
    let least = gap.min_element();
    if least < 0.0 {
        outside(p, p.clamp(-h, h), axis * side)
    } else {
        let normal = axis * side;
        Surface { distance: -least, normal, point: p + normal * least }
    }
}

/// A solid of revolution about y, from its half profile in (distance from the axis, height).
fn turned(p: Vec3, profile: impl Fn([f64; 2]) -> Flat) -> Surface {
    let across = Vec3::new(p.x, 0.0, p.z);
    let length = across.length();
    let across = if length > 0.0 { across / length } else { Vec3::X };
    let flat = profile([length, p.y]);
    let lift = |[a, y]: [f64; 2]| across * a + Vec3::Y * y;
    Surface { distance: flat.distance, normal: lift(flat.normal), point: lift(flat.point) }
}

/// A [`Surface`] in the half plane of a profile.
struct Flat {
    distance: f64,
    normal: [f64; 2],
    point: [f64; 2],
}

impl Flat {
    fn outside(p: [f64; 2], point: [f64; 2], normal: [f64; 2]) -> Flat {
        let d = [p[0] - point[0], p[1] - point[1]];
        let distance = (d[0] * d[0] + d[1] * d[1]).sqrt();
        let normal = if distance > 0.0 { d.map(|x| x / distance) } else { normal };
        Flat { distance, normal, point }
    }
}

fn cylinder(h: f64, r: f64, p: [f64; 2]) -> Flat {
    let [a, y] = p;
    let up = if y < 0.0 { -1.0 } else { 1.0 };
    let (side, cap) = (a - r, y.abs() - h);
    if side > 0.0 || cap > 0.0 {
        let normal = if side > cap { [1.0, 0.0] } else { [0.0, up] };
        return Flat::outside(p, [a.min(r), y.clamp(-h, h)], normal);
    }
    if side >= cap {
        Flat { distance: side, normal: [1.0, 0.0], point: [r, y] }
    } else {
        Flat { distance: cap, normal: [0.0, up], point: [a, up * h] }
    }
}

fn cone(h: f64, r: f64, p: [f64; 2]) -> Flat {
    let [a, y] = p;
    let slant = (r * r + 4.0 * h * h).sqrt();
    let lean = [2.0 * h / slant, r / slant];
    let side = lean[0] * (a - r) + lean[1] * (y + h);
    let base = -h - y;
    if side <= 0.0 && base <= 0.0 {
        return if side >= base {
            let point = [a - lean[0] * side, y - lean[1] * side];
            Flat { distance: side, normal: lean, point }
        } else {
            Flat { distance: base, normal: [0.0, -1.0], point: [a, -h] }
        };
    }
    // along the side from the rim (0) to the tip (1)
    let t = ((r * (r - a) + 2.0 * h * (y + h)) / (slant * slant)).clamp(0.0, 1.0);
    let on_side = Flat::outside(p, [r * (1.0 - t), -h + 2.0 * h * t], lean);
    let on_base = Flat::outside(p, [a.min(r), -h], [0.0, -1.0]);
    if on_side.distance < on_base.distance { on_side } else { on_base }
}

fn hull_distance(hull: &Hull, p: Vec3, reach: f64) -> Option<Surface> {
    let plane = |face: usize| {
        let [normal, corner] = hull.planes[face];
        normal.dot(p - corner)
    };
    let (mut top, mut height) = (0, f64::NEG_INFINITY);
    for face in 0..hull.faces.len() {
        let distance = plane(face);
        if distance > height {
            (top, height) = (face, distance);
            // the nearest point is no nearer than any plane
            if height > reach && height > 0.0 {
                return None;
            }
        }
    }
    let normal = *hull.normals.get(top)?;
    if height <= 0.0 {
        return Some(Surface { distance: height, normal, point: p - normal * height });
    }
    if height > reach {
        return None;
    }
    // The nearest point lies on a face that sees p. A face is at least as far as its plane, and the
    // one with the highest plane most likely holds the point.
    let mut best = p;
    let mut least = f64::INFINITY;
    let mut try_face = |face: usize, least: &mut f64| {
        let corners = hull.corners(face);
        for k in 1..corners.len().saturating_sub(1) {
            let triangle =
                [corners[0], corners[k], corners[k + 1]].map(|i| hull.vertices[i as usize]);
            let w = point_triangle(p, triangle);
            let q = triangle[0] * w[0] + triangle[1] * w[1] + triangle[2] * w[2];
            let distance = (p - q).length();
            if distance < *least {
                (best, *least) = (q, distance);
            }
        }
    };
    try_face(top, &mut least);
    // Where no face around the nearest point so far comes nearer, none does: the hull is convex. So the
    // way goes from face to face, and what is far from it is not looked at.
    let mut at = (least > height * (1.0 + 1e-12)).then_some(top);
    while let Some(face) = at.take() {
        for &other in hull.around(face) {
            let before = least;
            let distance = plane(other as usize);
            if distance > 0.0 && distance < least {
                try_face(other as usize, &mut least);
            }
            if least < before {
                at = Some(other as usize);
            }
        }
    }
    let surface = outside(p, best, normal);
    (surface.distance <= reach).then_some(surface)
}
