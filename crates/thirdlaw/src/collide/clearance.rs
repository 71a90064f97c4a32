//! How far shapes are apart that do not touch: for so long they need not be looked at again.

use super::box_mesh::BoxOnMesh;
use super::direction;
use super::narrow::{Frame, NarrowScratch, overlapping_pieces, place};
use crate::math::Pose;
use crate::shape::{Convex, Geometry, Shape};

/// A distance that two shapes have at least that do not touch within `margin`, m, to be compared with what
/// is looked for: `rest` at rest. 0 where none is known, or none worth the search: fast bodies are elsewhere
/// in the next step, and of meshes only boxes are told how far they are.
pub(super) fn clearance(
    [(a, pose_a), (b, pose_b)]: [(&Shape, Pose); 2],
    (margin, rest): (f64, f64),
    scratch: &mut NarrowScratch,
) -> f64 {
    let (mesh, on, half, at) = match (a.geometry(), b.geometry()) {
        (Geometry::Mesh(mesh), Geometry::Convex(Convex::Cuboid { half_extents })) => {
            (mesh, (a, pose_a), half_extents, (b, pose_b))
        }
        (Geometry::Convex(Convex::Cuboid { half_extents }), Geometry::Mesh(mesh)) => {
            (mesh, (b, pose_b), half_extents, (a, pose_a))
        }
        _ => {
            let solid = |shape: &Shape| !shape.is_mesh() && !shape.is_half_space();
            if margin > 2.0 * rest || !solid(a) || !solid(b) {
                return 0.0;
            }
            let frame = Frame::new(&pose_a, &pose_b);
            return between_solids((a, b), &frame, (margin, margin + 2.0 * rest), scratch);
        }
    };
    let wide = 3.0 * margin;
    let frame = Frame::new(&on.1, &at.1);
    overlapping_pieces(on.0, &frame, at.0, wide, false, scratch);
    let pair = BoxOnMesh::new(*half, frame.b.rotation, &frame.a, margin);
    scratch.pairs.iter().map(|&(i, _)| pair.clearance(mesh, i as usize, rest)).fold(wide, f64::min)
}

/// The same for shapes made of solid pieces, up to `wide`.
fn between_solids(
    (a, b): (&Shape, &Shape),
    frame: &Frame,
    (margin, wide): (f64, f64),
    scratch: &mut NarrowScratch,
) -> f64 {
    overlapping_pieces(a, frame, b, wide, false, scratch);
    let NarrowScratch { a: buffer_a, b: buffer_b, pairs, .. } = scratch;
    let mut least = wide;
    for &(i, j) in pairs.iter() {
        let Some(pa) = place(a, i, &frame.a, buffer_a) else { return 0.0 };
        let Some(pb) = place(b, j, &frame.b, buffer_b) else { return 0.0 };
        least = least.min(direction::clearance(&pa, &pb, least));
        if least <= margin {
            return 0.0;
        }
    }
    least
}
