//! The overlaps of a world: pairs of bodies whose bounds meet, and their pieces, tree against tree.
//!
//! Two bodies overlap by as much as two of their convex pieces do: parts of compounds, triangles of meshes. A
//! mesh is a surface here: what lies wholly behind it overlaps nothing. Below a half-space a body is as deep
//! as its lowest point.
//!
//! The deepest overlap of all is looked for where it may be: boxes around two shapes overlap by no less than
//! the shapes do, so pairs are gone through from the largest overlap of boxes down to the deepest one found,
//! and nodes of trees as well.

use super::depth::{Piece, depth};
use crate::math::{Pose, Vec3};
use crate::parallel::pool::prelude::*;
use crate::shape::{Aabb, Convex, Geometry, Shape};
use crate::world::World;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use std::cell::Cell;

/// Overlap of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Slots of the two bodies.
    pub bodies: (u32, u32),
    /// Deepest overlap, m.
    pub depth: f64,
}

/// Deepest overlap of any two bodies that may collide, m.
pub fn penetration(world: &World) -> f64 {
    let bodies = &world.model().bodies;
    let placed = |i: u32| (&bodies[i as usize].shape, world.slot_pose(i as usize));
    let bounded = |&pair: &(u32, u32)| {
        let ((a, pose_a), (b, pose_b)) = (placed(pair.0), placed(pair.1));
        let unbounded = [a, b].iter().any(|shape| half_space(shape, &Pose::IDENTITY).is_some());
        let most =
            if unbounded { f64::INFINITY } else { box_overlap(&a.aabb(&pose_a), &b.aabb(&pose_b)) };
        (most, pair)
    };
    let mut pairs: Vec<_> = near_pairs(world).iter().map(bounded).collect();
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
    let (mut deepest, mut rest) = (0.0, &pairs[..]);
    let mut share = 4;
    while rest.first().is_some_and(|first| first.0 > deepest) {
        let (some, others) = rest.split_at(share.min(rest.len()));
        let depth = |&(most, pair): &(f64, (u32, u32))| {
            if most > deepest { depth_of_bodies(world, pair, deepest) } else { 0.0 }
        };
        // what is found is the same whatever the order, since it is the most of exact depths
        deepest = if some.len() > ALONE {
            some.par_iter().map(depth).reduce(|| deepest, f64::max)
        } else {
            some.iter().map(depth).fold(deepest, f64::max)
        };
        (rest, share) = (others, 4 * share);
    }
    deepest
}

/// Pairs that are not worth several threads.
const ALONE: usize = 64;

/// How far boxes overlap along the axis where they do least, m; negative if they are apart.
fn box_overlap(a: &Aabb, b: &Aabb) -> f64 {
    (a.maxs - b.mins).min(b.maxs - a.mins).min_element()
}

/// All overlapping pairs, ordered by slots.
pub fn overlaps(world: &World) -> Vec<Overlap> {
    let overlap = |&(a, b): &(u32, u32)| {
        let depth = depth_of_bodies(world, (a, b), 0.0);
        (depth > 0.0).then_some(Overlap { bodies: (a, b), depth })
    };
    near_pairs(world).par_iter().filter_map(overlap).collect()
}

/// How deep two bodies overlap with parts that collide, m; what is not above `known` is not looked for.
fn depth_of_bodies(world: &World, (a, b): (u32, u32), known: f64) -> f64 {
    let [one, other] = [a, b].map(|slot| &world.model().bodies[slot as usize]);
    let [pose_a, pose_b] = [a, b].map(|slot| world.slot_pose(slot as usize));
    let mut deepest = known;
    for (shape_a, groups_a, pushes_a) in one.surfaces() {
        for (shape_b, groups_b, pushes_b) in other.surfaces() {
            if groups_a.touch(groups_b) && pushes_a.touch(pushes_b) {
                deepest = depth_of((shape_a, &pose_a), (shape_b, &pose_b), deepest).max(deepest);
            }
        }
    }
    if deepest > known { deepest } else { 0.0 }
}

/// How deep two shapes overlap, m; 0 if they are apart. It is the length of the least translation that parts
/// two of their convex pieces, the most over all pieces.
pub fn overlap_depth(a: (&Shape, &Pose), b: (&Shape, &Pose)) -> f64 {
    depth_of(a, b, 0.0)
}

/// The same if it is more than `known`, else `known` or less.
fn depth_of((a, pose_a): (&Shape, &Pose), (b, pose_b): (&Shape, &Pose), known: f64) -> f64 {
    // far from the world's origin the digits of small gaps would be lost
    let origin = pose_a.translation;
    let near = |pose: &Pose| Pose::from_parts(pose.translation - origin, pose.rotation);
    let (pose_a, pose_b) = (near(pose_a), near(pose_b));
    match (half_space(a, &pose_a), half_space(b, &pose_b)) {
        (Some(_), Some(_)) => 0.0,
        (Some(plane), None) => depth_below(plane, b, &pose_b),
        (None, Some(plane)) => depth_below(plane, a, &pose_a),
        _ => between_pieces((a, &pose_a), (b, &pose_b), known),
    }
}

/// A point on the surface of a half-space and its normal.
fn half_space(shape: &Shape, pose: &Pose) -> Option<(Vec3, Vec3)> {
    match shape.geometry() {
        Geometry::Convex(Convex::HalfSpace { normal }) => {
            Some((pose.translation, pose.rotation * *normal))
        }
        _ => None,
    }
}

/// How deep the lowest point of a shape is below a plane, m.
fn depth_below((point, normal): (Vec3, Vec3), shape: &Shape, pose: &Pose) -> f64 {
    let level = normal.dot(point);
    let lowest = match shape.geometry() {
        Geometry::Mesh(mesh) => {
            mesh.vertices.iter().map(|&v| normal.dot(*pose * v)).fold(f64::INFINITY, f64::min)
        }
        _ => (0..shape.piece_count())
            .filter_map(|i| piece(shape, i as u32, pose))
            .map(|piece| -piece.reach(-normal))
            .fold(f64::INFINITY, f64::min),
    };
    (level - lowest).max(0.0)
}

fn piece(shape: &Shape, index: u32, pose: &Pose) -> Option<Piece> {
    match shape.geometry() {
        Geometry::Convex(convex) => Piece::solid(convex, pose),
        Geometry::Compound(compound) => {
            let (part, convex) = &compound.parts[index as usize];
            Piece::solid(convex, &(*pose * *part))
        }
        Geometry::Mesh(mesh) => {
            Some(Piece::triangle(mesh.corners(index as usize).map(|corner| *pose * corner)))
        }
    }
}

fn tree(shape: &Shape) -> Option<&Bvh> {
    match shape.geometry() {
        Geometry::Convex(_) => None,
        Geometry::Compound(compound) => Some(&compound.bvh),
        Geometry::Mesh(mesh) => Some(&mesh.bvh),
    }
}

fn between_pieces((a, pose_a): (&Shape, &Pose), (b, pose_b): (&Shape, &Pose), known: f64) -> f64 {
    let to_b = pose_b.inverse() * *pose_a;
    let to_a = to_b.inverse();
    let deepest = Cell::new(known);
    let may_be_deeper = |a: &Aabb, b: &Aabb| {
        box_overlap(&a.transform_by(&to_b), b) > deepest.get()
            && box_overlap(&b.transform_by(&to_a), a) > deepest.get()
    };
    let whole = |shape: &Shape| shape.aabb(&Pose::IDENTITY);
    let between = |(i, j): (u32, u32)| {
        if let (Some(a), Some(b)) = (piece(a, i, pose_a), piece(b, j, pose_b)) {
            deepest.set(depth(&a, &b, deepest.get()));
        }
    };
    match (tree(a), tree(b)) {
        (None, None) => between((0, 0)),
        (Some(tree), None) => {
            let other = whole(b);
            let near = tree.leaves(|node| may_be_deeper(&node.aabb(), &other));
            near.for_each(|i| between((i, 0)));
        }
        (None, Some(tree)) => {
            let other = whole(a);
            let near = tree.leaves(|node| may_be_deeper(&other, &node.aabb()));
            near.for_each(|j| between((0, j)));
        }
        (Some(one), Some(other)) => {
            let near = one.leaf_pairs(other, |a, b| may_be_deeper(&a.aabb(), &b.aabb()));
            near.for_each(between);
        }
    }
    deepest.get()
}

/// Pairs that an unbroken joint keeps from touching, ordered.
fn joined_pairs(world: &World) -> Vec<(u32, u32)> {
    let joints = world.model().joints.iter().zip(&world.state().joints);
    let joined = joints.filter_map(|(joint, now)| joint.apart(now.broken));
    let mut pairs: Vec<_> = joined.collect();
    pairs.sort_unstable();
    pairs
}

/// Pairs of which one is dynamic, whose groups touch and whose bounds overlap.
fn near_pairs(world: &World) -> Vec<(u32, u32)> {
    let bodies = &world.model().bodies;
    let mut boxes = Vec::new();
    let (mut slots, mut unbounded) = (Vec::new(), Vec::new());
    for (i, body) in bodies.iter().enumerate().filter(|(_, b)| b.alive) {
        if body.reach.is_finite() {
            boxes.push(body.shape.aabb(&world.slot_pose(i)));
            slots.push(i as u32);
        } else {
            unbounded.push(i as u32);
        }
    }
    let mut pairs = Vec::new();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    tree.traverse_bvtt_single_tree::<false>(&mut BvhWorkspace::default(), &mut |a, b| {
        let (a, b) = (slots[a as usize], slots[b as usize]);
        pairs.push((a.min(b), a.max(b)));
    });
    for &plane in &unbounded {
        pairs.extend(slots.iter().map(|&i| (i.min(plane), i.max(plane))));
    }
    let joined = joined_pairs(world);
    pairs.retain(|pair| {
        let (a, b) = (&bodies[pair.0 as usize], &bodies[pair.1 as usize]);
        let touch = (a.is_dynamic() || b.is_dynamic()) && a.groups.touch(b.groups);
        touch && joined.binary_search(pair).is_err()
    });
    pairs.sort_unstable();
    pairs
}
