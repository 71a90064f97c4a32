//! Corners, edges and round parts of solids against the insides of cloth triangles and edges, so that
//! what is smaller than a triangle cannot poke through it.
//!
//! Which side of the cloth a solid is on follows from the solid alone: a normal always points out of
//! it, and cloth that cuts through a solid is sent to the nearer side.

use super::bvh::{Box32, NOTHING};
use super::distance::nearest_part;
use super::features_convex::{edge_convex, triangle_convex};
use super::features_mesh::{edge_mesh, triangle_mesh};
use super::tree::Tree;
use super::{Hit, Particles, Placed, Solid};
use crate::math::{Pose, Vec3};
use crate::shape::{Aabb, Geometry};
use crate::state::cloth::HitKind;

/// Where a feature of a solid and a triangle or edge come near, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// Share of each corner of the triangle or edge.
    pub weights: [f64; 3],
    /// On the surface of the solid.
    pub point: Vec3,
    /// Out of the solid.
    pub normal: Vec3,
    pub distance: f64,
    /// Which feature of the solid.
    pub id: u32,
}

/// A share this close to 1 is a corner, which belongs to the particle alone.
const CORNER: f64 = 1.0 - 1e-6;

/// Ids of the features of a part of a compound leave this many bits for each part.
pub(super) const PART_BITS: u32 = 20;

impl Tree {
    /// Finds where solids come near the insides of triangles (`TriangleSolid`) and edges
    /// (`EdgeSolid`) within the greatest reach of their particles and the margin of the solid.
    /// Places at a particle are left to [`super::vertex_solid`], and on convex solids also those that
    /// are nearer than all particles around them by no more than `sag` (m): fine cloth on a large
    /// ball touches with every edge, but hardly sags. Replaces what was in `out`.
    ///
    /// Against convex solids and their compounds: on a triangle, the parts of the solid that reach
    /// farthest toward it (corners, ends, the lowest point of a rim and two more around it); on an
    /// edge, its deepest point. Against meshes: corners and edges that stand out. A half-space has
    /// nothing that particles do not see.
    pub fn near_solids(
        &mut self,
        particles: &Particles<'_>,
        solids: &[Solid<'_>],
        sag: f64,
        out: &mut Vec<Hit>,
    ) {
        out.clear();
        if solids.is_empty() {
            return;
        }
        let reach = |i: usize| particles.reach.get(i).copied().unwrap_or(-1.0);
        self.refit(particles.x, particles.x, reach);
        let counts = [self.triangle_tree.leaves.len(), self.edge_tree.leaves.len()];
        self.gather(counts, out, |tree, range, edges, chunk| {
            let hits = &mut chunk.hits;
            let leaves = if edges { &tree.edge_tree.leaves } else { &tree.triangle_tree.leaves };
            let leaves = &leaves[range];
            let whole = leaves.iter().fold(Box32::EMPTY, |sum, leaf| sum.join(&leaf.whole()));
            for solid in solids.iter().filter(|s| !s.shape.is_half_space()) {
                let placed = Placed::new(solid);
                let bounds = Box32::around(placed.bounds.lo, placed.bounds.hi, 0.0);
                if !bounds.meets(&whole) {
                    continue;
                }
                for leaf in leaves {
                    let mut bits = leaf.meets(&bounds);
                    while bits != 0 {
                        let index = leaf.child[bits.trailing_zeros() as usize];
                        bits &= bits - 1;
                        if index != NOTHING {
                            tree.near_solid(particles, &placed, (index, edges), sag, hits);
                        }
                    }
                }
            }
        });
    }

    fn near_solid(
        &self,
        particles: &Particles<'_>,
        placed: &Placed<'_>,
        (index, edge): (u32, bool),
        sag: f64,
        hits: &mut Vec<Hit>,
    ) {
        let ids: [u32; 3] = if edge {
            let [a, b] = self.edges[index as usize];
            [a, b, a]
        } else {
            self.triangles[index as usize]
        };
        let solid = &placed.solid;
        if !particles.may_touch(ids[0] as usize, solid.groups) {
            return;
        }
        let reach = ids.iter().map(|&i| particles.reach[i as usize]).fold(0.0, f64::max);
        let reach = reach + solid.margin;
        let corners = ids.map(|i| placed.local(particles.x[i as usize]));
        let first = hits.len();
        let emit = |touch: Touch| {
            if touch.weights.iter().any(|&w| w > CORNER) || touch.distance.is_nan() {
                return;
            }
            let groups = particles.groups.get(ids[0] as usize);
            if !solid.parts.is_empty() && !solid.lets(groups, touch.id >> PART_BITS) {
                return;
            }
            let feature = [index, solid.slot, touch.id];
            // a corner of a mesh is seen from each of its triangles
            if hits[first..].iter().any(|h| h.feature == feature) {
                return;
            }
            let [w0, w1, w2] = touch.weights;
            hits.push(Hit {
                kind: if edge { HitKind::EdgeSolid } else { HitKind::TriangleSolid },
                particles: [ids[0], ids[1], ids[2], ids[0]],
                weights: [w0, w1, w2, 0.0],
                count: if edge { 2 } else { 3 },
                body: solid.slot,
                point: placed.world(touch.point),
                normal: placed.rotation * touch.normal,
                distance: touch.distance,
                time: 0.0,
                feature,
            });
        };
        touches(solid, corners, edge, Limits { reach, sag }, emit);
    }
}

/// How near and how much nearer than its particles cloth must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub reach: f64,
    pub sag: f64,
}

/// All touches of a solid with a triangle or (the first two corners) an edge.
fn touches(
    solid: &Solid<'_>,
    corners: [Vec3; 3],
    edge: bool,
    limits: Limits,
    mut emit: impl FnMut(Touch),
) {
    match solid.shape.geometry() {
        Geometry::Convex(convex) if edge => {
            edge_convex(convex, [corners[0], corners[1]], limits).into_iter().for_each(emit);
        }
        Geometry::Convex(convex) => triangle_convex(convex, corners, limits, emit),
        Geometry::Mesh(mesh) if edge => {
            edge_mesh(mesh, [corners[0], corners[1]], limits.reach, emit)
        }
        Geometry::Mesh(mesh) => triangle_mesh(mesh, corners, limits.reach, emit),
        Geometry::Compound(compound) => {
            // only parts whose boxes come near: the cost follows the surface around, not the number of parts
            let used = if edge { &corners[..2] } else { &corners[..] };
            let lo = used.iter().fold(Vec3::INFINITY, |lo, p| lo.min(*p));
            let hi = used.iter().fold(Vec3::NEG_INFINITY, |hi, p| hi.max(*p));
            let margin = Vec3::splat(limits.reach.max(0.0));
            let around = Aabb::new(lo - margin, hi + margin);
            for part in compound.bvh.intersect_aabb(&around) {
                let (pose, convex) = &compound.parts[part as usize];
                let inverse: Pose = pose.inverse();
                let local = corners.map(|p| inverse * p);
                let mut place = |touch: Touch| {
                    let point = *pose * touch.point;
                    // a feature inside another part is none
                    if nearest_part(compound, point, 0.0).is_none_or(|s| s.distance > -1e-6) {
                        let normal = pose.rotation * touch.normal;
                        let id = (part << PART_BITS) | touch.id;
                        emit(Touch { point, normal, id, ..touch });
                    }
                };
                if edge {
                    let touch = edge_convex(convex, [local[0], local[1]], limits);
                    touch.into_iter().for_each(place);
                } else {
                    triangle_convex(convex, local, limits, &mut place);
                }
            }
        }
    }
}

/// Weights of the point of a triangle's plane nearest to `p`, if it lies in the triangle.
pub(super) fn in_triangle(p: Vec3, [a, b, c]: [Vec3; 3], normal: Vec3) -> Option<[f64; 3]> {
    let area = (b - a).cross(c - a).dot(normal);
    let (u, v) = (c - b, a - c);
    let w0 = u.cross(p - b).dot(normal) / area;
    let w1 = v.cross(p - c).dot(normal) / area;
    let w2 = 1.0 - w0 - w1;
    let weights = [w0, w1, w2];
    // the edge between two triangles belongs to both
    (weights.iter().all(|&w| w >= -1e-9)).then_some(weights)
}
