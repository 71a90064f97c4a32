//! Narrow phase: the contacts between two shapes at given poses.
//!
//! A pair is brought into the frame of its mesh or, without one, of its first shape, with the
//! origin near the other shape, so that the digits of far-away positions are not spent on the gap.
//! Then every pair of convex pieces goes the same way: find the normal, clip the facing features.
//!
//! Triangles of meshes are one-sided. A body that has sunk in is pushed out along the triangle's
//! normal; one that lies wholly behind a triangle's plane does not touch it. Normals at an edge are
//! those that fit between the faces it joins: an edge inside a flat floor has none of its own, and
//! bodies slide over it.

use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::partitioning::Bvh;

use super::box_mesh::BoxOnMesh;
use super::clip::{self, ClipBuffer};
use super::direction::{self, Direction, Solver};
use super::gjk::{Closest, closest_points};
use super::manifold::{Manifold, Point};
use super::piece::{Guard, Piece, PieceBuffer};
use crate::math::{Pose, Quat, Vec3};
use crate::shape::{Convex, Geometry, Mesh, Shape};

/// Memory reused from call to call; holds nothing that matters between them.
#[derive(Default)]
pub struct NarrowScratch {
    pub(super) a: PieceBuffer,
    pub(super) b: PieceBuffer,
    clip: ClipBuffer,
    solver: Solver,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) found: Vec<u32>,
}

impl std::fmt::Debug for NarrowScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NarrowScratch").finish_non_exhaustive()
    }
}

/// Calls `emit(piece_a, piece_b, manifold)` for every pair of convex pieces that are closer than
/// `margin` (m), in ascending order of the two. A piece is the index of a part of a compound or a
/// triangle of a mesh, else 0. Allocates nothing once `scratch` has grown to the shapes' size.
pub fn collide(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    scratch: &mut NarrowScratch,
    emit: &mut dyn FnMut(u32, u32, &Manifold),
) {
    let margin = if margin.is_finite() { margin } else { 0.0 };
    if !is_finite(pose_a) || !is_finite(pose_b) {
        return;
    }
    if let Some(normal) = half_space_normal(a) {
        against_half_space(normal, pose_a, b, pose_b, margin, scratch, &mut |piece, m| {
            emit(0, piece, m)
        });
    } else if let Some(normal) = half_space_normal(b) {
        against_half_space(normal, pose_b, a, pose_a, margin, scratch, &mut |piece, m| {
            emit(piece, 0, &flipped(m))
        });
    } else if b.is_mesh() && !a.is_mesh() {
        let flip =
            &mut |piece_b: u32, piece_a: u32, m: &Manifold| emit(piece_a, piece_b, &flipped(m));
        pieces(b, pose_b, a, pose_a, margin, scratch, true, flip);
    } else {
        pieces(a, pose_a, b, pose_b, margin, scratch, false, emit);
    }
}

fn is_finite(pose: &Pose) -> bool {
    pose.translation.is_finite() && pose.rotation.is_finite()
}

fn half_space_normal(shape: &Shape) -> Option<Vec3> {
    match shape.geometry() {
        Geometry::Convex(Convex::HalfSpace { normal }) => Some(*normal),
        _ => None,
    }
}

fn flipped(m: &Manifold) -> Manifold {
    let mut out = *m;
    out.normal = -m.normal;
    for p in &mut out.points[..m.count] {
        p.feature ^= crate::state::contact::ON_B;
        (p.core_a, p.core_b) = (p.core_b, p.core_a);
        (p.radius_a, p.radius_b) = (p.radius_b, p.radius_a);
    }
    out
}

/// Two shapes that are not half-spaces, in a frame with the axes of `a` and its origin at `b`.
#[allow(clippy::too_many_arguments)]
fn pieces(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    margin: f64,
    scratch: &mut NarrowScratch,
    order_by_b: bool,
    emit: &mut dyn FnMut(u32, u32, &Manifold),
) {
    let frame = Frame::new(pose_a, pose_b);
    overlapping_pieces(a, &frame, b, margin, order_by_b, scratch);
    let NarrowScratch { a: buffer_a, b: buffer_b, clip, solver, pairs, .. } = scratch;
    if let (Geometry::Mesh(mesh), Geometry::Convex(Convex::Cuboid { half_extents })) =
        (a.geometry(), b.geometry())
    {
        let pair = BoxOnMesh::new(*half_extents, frame.b.rotation, &frame.a, margin);
        pairs.retain(|&(i, _)| pair.may_touch(mesh, i as usize));
    }
    let mut manifold = Manifold::default();
    let mut examine = |i: u32, j: u32, pa: &Piece, pb: &Piece| {
        if wholly_behind(pa, pb) || wholly_behind(pb, pa) {
            return;
        }
        touch(pa, pb, margin, clip, solver, &mut manifold);
        if manifold.count > 0 && faces(pa, manifold.normal) && faces(pb, -manifold.normal) {
            frame.to_world(&mut manifold);
            emit(i, j, &manifold);
        }
    };
    if b.is_convex() && !pairs.is_empty() {
        // one piece, placed once
        let Some(pb) = place(b, 0, &frame.b, buffer_b) else { return };
        for &(i, j) in pairs.iter() {
            let Some(pa) = place(a, i, &frame.a, buffer_a) else { continue };
            examine(i, j, &pa, &pb);
        }
        return;
    }
    for &(i, j) in pairs.iter() {
        let Some(pa) = place(a, i, &frame.a, buffer_a) else { continue };
        let Some(pb) = place(b, j, &frame.b, buffer_b) else { continue };
        examine(i, j, &pa, &pb);
    }
}

fn touch(
    a: &Piece,
    b: &Piece,
    margin: f64,
    clip: &mut ClipBuffer,
    solver: &mut Solver,
    out: &mut Manifold,
) {
    out.count = 0;
    let Some(direction) = direction::find(a, b, margin, solver) else { return };
    clip::manifold(a, b, &direction, margin, clip, out);
    if direction.witness.is_some() {
        return;
    }
    let reached = direction::gap(a, b, direction.normal);
    let slack = 1e-3 * a.scale.min(b.scale).min(1e3);
    if out.points().iter().any(|p| p.separation < reached + slack) {
        return;
    }
    // what is nearest along an axis of the faces has nothing opposite
    match closest_points(a, b, margin) {
        // corner to corner
        Closest::Apart([p, q]) => {
            if let Some(normal) = (q - p).try_normalize()
                && a.guard.is_none_or(|g| g.admits(normal))
                && b.guard.is_none_or(|g| g.admits(-normal))
            {
                let closest = Direction { normal, witness: Some([p, q]) };
                clip::manifold(a, b, &closest, margin, clip, out);
            }
        }
        // so deep that the facing sides have passed each other: out at the outermost corner
        Closest::Touching if a.guard.is_none() && b.guard.is_none() => {
            let n = direction.normal;
            let q = b.support(-n);
            let witness = Some([q - n * reached, q]);
            clip::manifold(a, b, &Direction { normal: n, witness }, margin, clip, out);
        }
        _ => {}
    }
}

/// The poses of both shapes in common coordinates, and the way back to the world.
pub(super) struct Frame {
    pub a: Pose,
    pub b: Pose,
    rotation: Quat,
    origin: Vec3,
}

impl Frame {
    pub fn new(pose_a: &Pose, pose_b: &Pose) -> Frame {
        let back = pose_a.rotation.inverse();
        let between = back * (pose_a.translation - pose_b.translation);
        Frame {
            a: Pose::from_parts(between, Quat::IDENTITY),
            b: Pose::from_parts(Vec3::ZERO, back * pose_b.rotation),
            rotation: pose_a.rotation,
            origin: pose_b.translation,
        }
    }

    fn to_world(&self, m: &mut Manifold) {
        m.normal = (self.rotation * m.normal).normalize();
        for p in &mut m.points[..m.count] {
            p.core_a = self.rotation * p.core_a + self.origin;
            p.core_b = self.rotation * p.core_b + self.origin;
        }
    }
}

/// Places piece `index` of a shape.
pub(super) fn place<'s>(
    shape: &'s Shape,
    index: u32,
    pose: &Pose,
    buffer: &'s mut PieceBuffer,
) -> Option<Piece<'s>> {
    match shape.geometry() {
        Geometry::Convex(convex) => Piece::place(convex, pose, buffer),
        Geometry::Compound(compound) => {
            let (part, convex) = &compound.parts[index as usize];
            Piece::place(convex, &(*pose * *part), buffer)
        }
        Geometry::Mesh(mesh) => Some(Piece::triangle(guard(mesh, index as usize, pose), buffer)),
    }
}

fn guard(mesh: &Mesh, triangle: usize, pose: &Pose) -> Guard {
    use crate::shape::MeshEdge;
    let turn = pose.rotation;
    let turned = turn != Quat::IDENTITY;
    let edges = mesh.edges[triangle].map(|edge| match edge {
        MeshEdge::Convex { normal, inward } if turned => {
            MeshEdge::Convex { normal: turn * normal, inward: turn * inward }
        }
        other => other,
    });
    let place = |v: Vec3| if turned { turn * v + pose.translation } else { v + pose.translation };
    let normal = if turned { turn * mesh.normals[triangle] } else { mesh.normals[triangle] };
    Guard { corners: mesh.corners(triangle).map(place), normal, edges }
}

/// Whether a piece looks where a contact pushes from it: a triangle has no back. Where one does not, those
/// beyond its edges do.
fn faces(piece: &Piece, away: Vec3) -> bool {
    piece.guard.is_none_or(|guard| guard.normal.dot(away) > -1e-6)
}

fn wholly_behind(triangle: &Piece, body: &Piece) -> bool {
    triangle.guard.is_some_and(|g| body.reach(g.normal) < g.normal.dot(g.corners[0]))
}

/// Fills `scratch.pairs` with the pieces whose boxes are within the margin of each other.
pub(super) fn overlapping_pieces(
    a: &Shape,
    frame: &Frame,
    b: &Shape,
    margin: f64,
    order_by_b: bool,
    scratch: &mut NarrowScratch,
) {
    let NarrowScratch { pairs, found, .. } = scratch;
    pairs.clear();
    let (tree_a, tree_b) = (tree(a), tree(b));
    let in_a = frame.a.inverse() * frame.b;
    match (tree_a, tree_b) {
        (None, None) => pairs.push((0, 0)),
        (Some(tree), None) => {
            let around = b.aabb(&in_a).loosened(margin.max(0.0));
            pairs.extend(tree.intersect_aabb(&around).map(|i| (i, 0)));
        }
        (None, Some(tree)) => {
            let around = a.aabb(&in_a.inverse()).loosened(margin.max(0.0));
            pairs.extend(tree.intersect_aabb(&around).map(|j| (0, j)));
        }
        (Some(tree_a), Some(tree_b)) => {
            let around = b.aabb(&in_a).loosened(margin.max(0.0));
            found.clear();
            found.extend(tree_a.intersect_aabb(&around));
            let back = in_a.inverse();
            for &i in found.iter() {
                let Some(leaf) = tree_a.leaf_node(i) else { continue };
                let around = leaf.aabb().loosened(margin.max(0.0)).transform_by(&back);
                pairs.extend(tree_b.intersect_aabb(&around).map(|j| (i, j)));
            }
        }
    }
    if order_by_b {
        pairs.sort_unstable_by_key(|&(i, j)| (j, i));
    } else {
        pairs.sort_unstable();
    }
}

pub(super) fn tree(shape: &Shape) -> Option<&Bvh> {
    match shape.geometry() {
        Geometry::Convex(_) => None,
        Geometry::Compound(compound) => Some(&compound.bvh),
        Geometry::Mesh(mesh) => Some(&mesh.bvh),
    }
}

/// A half-space against every piece of a shape; the normal of the manifolds points into the body.
fn against_half_space(
    normal: Vec3,
    pose: &Pose,
    body: &Shape,
    body_pose: &Pose,
    margin: f64,
    scratch: &mut NarrowScratch,
    emit: &mut dyn FnMut(u32, &Manifold),
) {
    if body.is_half_space() {
        return;
    }
    // world axes with the origin at the body
    let n = pose.rotation * normal;
    let level = n.dot(pose.translation - body_pose.translation);
    let placed = Pose::from_parts(Vec3::ZERO, body_pose.rotation);
    let NarrowScratch { b: buffer, clip, found, .. } = scratch;
    found.clear();
    match tree(body) {
        None => found.push(0),
        Some(tree) => {
            let in_body = body_pose.rotation.inverse() * n;
            found.extend(tree.leaves(|node| lowest(&node.aabb(), in_body) <= level + margin));
            found.sort_unstable();
        }
    }
    let mut manifold = Manifold::default();
    for &index in found.iter() {
        let Some(piece) = place(body, index, &placed, buffer) else { continue };
        // the sides that face away from the ground share their corners with those that face it
        if piece.guard.is_some_and(|g| g.normal.dot(n) > 1e-6) {
            continue;
        }
        clip::on_plane(&piece, n, level, margin, clip, &mut manifold);
        if manifold.count > 0 {
            for p in &mut manifold.points[..manifold.count] {
                shift(p, body_pose.translation);
            }
            emit(index, &manifold);
        }
    }
}

fn lowest(aabb: &Aabb, n: Vec3) -> f64 {
    n.dot(aabb.center()) - n.abs().dot(aabb.half_extents())
}

fn shift(p: &mut Point, by: Vec3) {
    p.core_a += by;
    p.core_b += by;
}
