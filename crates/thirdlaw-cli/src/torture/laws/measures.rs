//! Overlaps as the engine measures them agree with a brute-force search written for this purpose.
//!
//! Two convex solids overlap by the shortest way that separates them: the least over all directions d of
//! h_A(d) + h_B(−d), with h the support function. Every direction bounds it from above, so an engine that
//! reports more is wrong for certain. The search takes the normals of faces, products of edges, the direction
//! between the centres and an even net of directions, and refines the best of them.

use super::super::trace::{BodyFacts, BodyFrame, Frame};
use super::overlap::thickness;
use super::{Case, Verdict};
use thirdlaw::math::{Pose, Vec3, tangents};
use thirdlaw::shape::{Convex, Geometry};

/// Difference that is allowed, as a share of the thinner body's thickness.
const SHARE: f64 = 0.01;
/// And of the depth.
const RELATIVE: f64 = 0.02;
/// Directions of the net.
const NET: usize = 400;
/// Frames that are looked at.
const FRAMES: usize = 3;

/// Whether measured overlaps are right.
pub fn judge(case: &Case) -> Verdict {
    let frames = &case.trace.frames;
    let mut judged = false;
    for k in 0..FRAMES {
        let frame = &frames[(frames.len() - 1) * (k + 1) / FRAMES];
        for overlap in &frame.overlaps {
            let (a, b) = (overlap.bodies.0 as usize, overlap.bodies.1 as usize);
            let Some(depth) = search(case, frame, a, b) else { continue };
            judged = true;
            let bodies = &case.trace.bodies;
            let thin = thickness(&bodies[a]).min(thickness(&bodies[b]));
            if (overlap.depth - depth).abs() > SHARE * thin + RELATIVE * depth {
                return Verdict::Failed(format!(
                    "{} and {} overlap by {depth:.4e} m, measured as {:.4e} m",
                    bodies[a].name, bodies[b].name, overlap.depth
                ));
            }
        }
    }
    if judged { Verdict::Held } else { Verdict::Silent }
}

/// Overlap of two bodies; none where one is a mesh.
fn search(case: &Case, frame: &Frame, a: usize, b: usize) -> Option<f64> {
    let solids = |i: usize| parts(&case.trace.bodies[i], &frame.bodies[i]);
    let (first, second) = (solids(a)?, solids(b)?);
    let mut deepest = 0.0_f64;
    for one in &first {
        for two in &second {
            deepest = deepest.max(depth(one, two));
        }
    }
    Some(deepest)
}

/// A convex solid in its place.
type Solid<'a> = (Pose, &'a Convex);

fn parts<'a>(body: &'a BodyFacts, now: &BodyFrame) -> Option<Vec<Solid<'a>>> {
    match body.shape.geometry() {
        Geometry::Convex(convex) => Some(vec![(now.pose(), convex)]),
        Geometry::Compound(compound) => {
            Some(compound.parts.iter().map(|(pose, part)| (now.pose() * *pose, part)).collect())
        }
        _ => None,
    }
}

/// Shortest way that separates two solids, m; 0 where they are apart.
fn depth(a: &Solid, b: &Solid) -> f64 {
    if let Convex::HalfSpace { normal } = a.1 {
        let n = a.0.rotation * *normal;
        return (n.dot(a.0.translation) + support(b, -n)).max(0.0);
    }
    if let Convex::HalfSpace { .. } = b.1 {
        return depth(b, a);
    }
    let width = |d: Vec3| support(a, d) + support(b, -d);
    let mut best: Vec<(f64, Vec3)> = candidates(a, b).into_iter().map(|d| (width(d), d)).collect();
    best.sort_by(|x, y| x.0.total_cmp(&y.0));
    best.truncate(6);
    let refined = best.into_iter().map(|(least, d)| refine(&width, least, d));
    refined.fold(f64::INFINITY, f64::min).max(0.0)
}

/// Largest x·d over a solid.
fn support((pose, convex): &Solid, d: Vec3) -> f64 {
    let u = pose.rotation.inverse() * d;
    let across = (u.x * u.x + u.z * u.z).sqrt();
    let own = match convex {
        Convex::Sphere { radius } => radius * u.length(),
        Convex::Cuboid { half_extents } => half_extents.dot(u.abs()),
        Convex::Capsule { half_height, radius } => half_height * u.y.abs() + radius * u.length(),
        Convex::Cylinder { half_height, radius } => half_height * u.y.abs() + radius * across,
        Convex::Cone { half_height, radius } => {
            (half_height * u.y).max(-half_height * u.y + radius * across)
        }
        Convex::Hull(hull) => hull.vertices.iter().map(|v| v.dot(u)).fold(f64::MIN, f64::max),
        Convex::HalfSpace { .. } => f64::INFINITY,
        other => other.support(u).dot(u),
    };
    own + pose.translation.dot(d)
}

/// Directions worth trying.
fn candidates(a: &Solid, b: &Solid) -> Vec<Vec3> {
    let (faces, edges) = (axes(a), axes(b));
    let mut all = vec![a.0.translation - b.0.translation];
    all.extend(faces.iter().chain(&edges).copied());
    for u in &faces {
        all.extend(edges.iter().map(|v| u.cross(*v)));
    }
    // an even net: the golden spiral
    for i in 0..NET {
        let y = 1.0 - (2.0 * i as f64 + 1.0) / NET as f64;
        let (r, turn) = ((1.0 - y * y).sqrt(), 2.399_963_229_728_653 * i as f64);
        all.push(Vec3::new(r * turn.cos(), y, r * turn.sin()));
    }
    let both = all.iter().flat_map(|d| [*d, -*d]);
    both.filter_map(|d| d.try_normalize()).collect()
}

/// The body's own axes, and what faces and edges a hull has.
fn axes((pose, convex): &Solid) -> Vec<Vec3> {
    let mut own = vec![Vec3::X, Vec3::Y, Vec3::Z];
    if let Convex::Hull(hull) = convex {
        own.extend(&hull.normals);
        let along = |[a, b]: [u32; 2]| hull.vertices[b as usize] - hull.vertices[a as usize];
        own.extend(hull.edges.iter().map(|edge| along(edge.vertices)));
    }
    own.into_iter().map(|v| pose.rotation * v).collect()
}

/// Goes downhill over directions until the steps are tiny.
fn refine(width: &impl Fn(Vec3) -> f64, mut least: f64, mut d: Vec3) -> f64 {
    let mut step = 0.1;
    while step > 1e-7 {
        let (u, v) = tangents(d);
        let tries = [u, -u, v, -v, (u + v) * 0.7, (u - v) * 0.7, (v - u) * 0.7, -(u + v) * 0.7];
        let next = tries.iter().map(|t| (d + step * *t).normalize());
        let next = next.map(|d| (width(d), d)).min_by(|x, y| x.0.total_cmp(&y.0));
        match next {
            Some((less, there)) if less < least => (least, d) = (less, there),
            _ => step *= 0.5,
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use thirdlaw::math::Quat;

    #[test]
    fn known_overlaps_are_found() {
        let ball = Convex::Sphere { radius: 0.5 };
        let cube = Convex::Cuboid { half_extents: Vec3::splat(0.5) };
        let at = |x: f64, turn: f64| {
            Pose::from_parts(Vec3::new(x, 0.0, 0.0), Quat::from_rotation_z(turn))
        };
        let eighth = std::f64::consts::FRAC_PI_4;
        let cases = [
            ((at(0.0, 0.0), &ball), (at(0.9, 0.0), &ball), 0.1),
            ((at(0.0, 0.0), &cube), (at(0.9, 0.0), &cube), 0.1),
            ((at(0.0, eighth), &cube), (at(1.0, 0.0), &cube), 0.5_f64.sqrt() + 0.5 - 1.0),
            ((at(0.0, 0.3), &cube), (at(3.0, 0.0), &ball), 0.0),
        ];
        for (a, b, known) in cases {
            let found = depth(&a, &b);
            assert!((found - known).abs() < 1e-6, "{found} for {known}");
        }
    }
}
