//! Signed distance from a point to the surface of every shape.

use super::distance_mesh::mesh_distance;
use crate::math::{Pose, Vec3};
use crate::shape::distance::{Surface, convex_distance};
use crate::shape::{Aabb, Compound, Convex, Geometry, Shape};

/// Distance of the point `local` (in the shape's own frame) from the surface of a shape, negative
/// inside; none where it lies outside by more than `reach` (m) or is not finite.
///
/// It is exact for convex shapes and closed meshes, however deep inside. Inside a compound it is the
/// distance to the nearest place found where one leaves all parts. An open mesh is solid behind its
/// triangles, no deeper than `reach`; beside its rim is outside.
pub fn signed_distance(shape: &Shape, local: Vec3, reach: f64) -> Option<Surface> {
    if !local.is_finite() {
        return None;
    }
    match shape.geometry() {
        Geometry::Convex(convex) => convex_distance(convex, local, reach),
        Geometry::Compound(compound) => compound_distance(compound, local, reach),
        Geometry::Mesh(mesh) => mesh_distance(mesh, local, reach),
    }
}

/// How many steps a way out of a compound may take.
const WAY_OUT: usize = 128;

fn compound_distance(compound: &Compound, p: Vec3, reach: f64) -> Option<Surface> {
    let best = nearest_part(compound, p, reach.max(0.0))?;
    if best.distance >= 0.0 {
        return (best.distance <= reach).then_some(best);
    }
    // Inside: the way out of the part that holds the point deepest, unless it ends in another part.
    let slack = 1e-9 * (1.0 + best.distance.abs());
    let holds = |p: Vec3| nearest_part(compound, p, 0.0).filter(|s| s.distance < 0.0);
    if holds(best.point + best.normal * slack).is_none() {
        return Some(best);
    }
    // Else the shortest of the ways along the normals and axes of the parts that hold the point.
    let mut exit: Option<Surface> = None;
    for (pose, convex) in &compound.parts {
        let Some(own) = part_distance(pose, convex, p, 0.0) else { continue };
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| pose.rotation * axis);
        for way in [own.normal, x, -x, y, -y, z, -z] {
            let mut last = own;
            let mut length = 0.0;
            for _ in 0..WAY_OUT {
                length += slack - last.distance;
                match holds(p + way * length) {
                    Some(inside) => last = inside,
                    None => {
                        let distance = last.normal.dot(p - last.point);
                        if distance < 0.0 && exit.is_none_or(|e| distance > e.distance) {
                            exit = Some(Surface { distance, ..last });
                        }
                        break;
                    }
                }
            }
        }
    }
    Some(exit.unwrap_or(best))
}

/// The part nearest to a point, or that holds it deepest.
pub(super) fn nearest_part(compound: &Compound, p: Vec3, reach: f64) -> Option<Surface> {
    let bounds = compound.bvh.root_aabb();
    let gap = (p - p.clamp(bounds.mins, bounds.maxs)).length();
    let size = (bounds.maxs - bounds.mins).max_element();
    // around the point first, then ever farther: a part within a box is nearer than all outside of it
    let mut within = gap + NEARBY * size;
    while within < reach && within < gap + size {
        let found = nearest_part_within(compound, p, within);
        if found.is_some() {
            return found;
        }
        within = gap + 4.0 * (within - gap);
    }
    nearest_part_within(compound, p, reach)
}

/// First look around a point, as a share of the size of the compound.
const NEARBY: f64 = 1.0 / 64.0;

fn nearest_part_within(compound: &Compound, p: Vec3, reach: f64) -> Option<Surface> {
    let near = Aabb::new(p - Vec3::splat(reach), p + Vec3::splat(reach));
    let mut best: Option<Surface> = None;
    for index in compound.bvh.intersect_aabb(&near) {
        let (pose, convex) = &compound.parts[index as usize];
        if let Some(surface) = part_distance(pose, convex, p, reach)
            && best.is_none_or(|b| surface.distance < b.distance)
        {
            best = Some(surface);
        }
    }
    best
}

fn part_distance(pose: &Pose, convex: &Convex, p: Vec3, reach: f64) -> Option<Surface> {
    let local = pose.rotation.inverse() * (p - pose.translation);
    let surface = convex_distance(convex, local, reach)?;
    Some(Surface {
        distance: surface.distance,
        normal: pose.rotation * surface.normal,
        point: pose.rotation * surface.point + pose.translation,
    })
}
