//! Questions with shapes, places and boxes.

use super::pieces::{self, Piece, each_piece};
use super::{Filter, QueryError, Scene, check, refuse};
use crate::ids::{AnyId, BodyId, PartId};
use crate::math::{Pose, Vec3};
use crate::model::error::check_pose;
use crate::shape::{Aabb, Geometry, Shape};
use crate::world::World;
use parry3d_f64::shape::Triangle;

/// Where a shape that moves meets something.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShapeHit {
    /// A body or a deformable object.
    pub who: AnyId,
    /// How far the shape goes, m; 0 where it overlaps already.
    pub distance: f64,
    /// Where they touch, m; the place of the shape where they overlap already.
    pub point: Vec3,
    /// Outward unit normal of what is met; against the motion where they overlap already.
    pub normal: Vec3,
    /// Which triangle of a mesh or of a deformable object, or which convex piece of a compound.
    pub piece: u32,
    /// Which part of a body.
    pub part: Option<PartId>,
}

impl ShapeHit {
    /// The body that was met, if it is one.
    pub fn body(&self) -> Option<BodyId> {
        self.who.body()
    }
}

/// The place of a surface that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PointHit {
    /// A body or a deformable object.
    pub who: AnyId,
    /// On the surface, m.
    pub point: Vec3,
    /// From the surface, m; negative inside of a solid.
    pub distance: f64,
}

impl World {
    /// The first thing that a shape at `pose` meets when it moves by `motion` (m) without turning.
    #[doc(alias = "intersections_with_shape")]
    pub fn cast_shape(
        &self,
        shape: &Shape,
        pose: Pose,
        motion: Vec3,
        filter: &Filter,
    ) -> Result<Option<ShapeHit>, QueryError> {
        check_shape(shape, &pose)?;
        check("motion", motion)?;
        let length = motion.length();
        let way = motion.normalize_or(-Vec3::Y);
        let start = shape.aabb(&pose);
        let swept = Aabb {
            mins: start.mins + motion.min(Vec3::ZERO),
            maxs: start.maxs + motion.max(Vec3::ZERO),
        };
        let mut best: Option<ShapeHit> = None;
        self.each_near(&swept, filter, &mut |who, still: Piece| {
            let most = best.map_or(length, |best| best.distance);
            each_piece(shape, &pose, &everything(), &mut |moving| {
                if let Some(met) = pieces::advance(&moving, &still, way, most) {
                    let piece = still.number;
                    let hit = ShapeHit {
                        who,
                        distance: met.distance,
                        point: met.point,
                        normal: met.normal,
                        piece,
                        part: self.part_of_thing(who, piece),
                    };
                    let order = |h: &ShapeHit| (h.distance, h.who, h.piece);
                    if best.is_none_or(|best| order(&hit) < order(&best)) {
                        best = Some(hit);
                    }
                }
                true
            });
            true
        });
        Ok(best)
    }

    /// Everything that a shape at `pose` overlaps or touches, in the order of ids: bodies, then
    /// deformable objects. Closed meshes count as solid; the shape itself, if it is a mesh, by its
    /// surface.
    #[doc(alias = "intersect_shape")]
    pub fn overlaps(
        &self,
        shape: &Shape,
        pose: Pose,
        filter: &Filter,
    ) -> Result<Vec<AnyId>, QueryError> {
        check_shape(shape, &pose)?;
        Ok(self.overlapping(shape, &pose, filter))
    }

    pub(in crate::world) fn overlapping(
        &self,
        shape: &Shape,
        pose: &Pose,
        filter: &Filter,
    ) -> Vec<AnyId> {
        let region = shape.aabb(pose);
        let mut found: Vec<AnyId> = Vec::new();
        self.each_near(&region, filter, &mut |who, still| {
            let mut met = found.last() == Some(&who);
            if !met {
                each_piece(shape, pose, &region, &mut |own| {
                    met = pieces::overlap(&own, &still);
                    !met
                });
                if met {
                    found.push(who);
                }
            }
            true
        });
        // what lies wholly inside of a closed mesh touches none of its triangles
        let scene = self.scene();
        scene.tree.region(&region, |number| {
            if let Some(Some(placed)) = scene.bodies.get(number as usize)
                && let Geometry::Mesh(mesh) = placed.shape.geometry()
                && filter.takes_body(self, number as usize)
            {
                let who = self.model.id(number as usize).into();
                let center = placed.pose.inverse() * pose.translation;
                if pieces::holds(mesh, center) && filter.lets(who) {
                    found.push(who);
                }
            }
            true
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The place of any surface that is nearest to a point, up to `most` metres away.
    #[doc(alias = "project_point")]
    pub fn closest_point(
        &self,
        point: Vec3,
        most: f64,
        filter: &Filter,
    ) -> Result<Option<PointHit>, QueryError> {
        check("point", point)?;
        if most.is_nan() || most < 0.0 {
            return Err(refuse("most", format!("must be at least 0, not {most}")));
        }
        let scene = self.scene();
        let mut best: Option<PointHit> = None;
        let mut test = |number: u32, square: f64| {
            let found = self.nearest_on(&scene, number, point, filter);
            let order = |h: &PointHit| (h.distance, h.who);
            if let Some(hit) = found.filter(|hit| hit.distance <= most)
                && best.is_none_or(|best| order(&hit) < order(&best))
            {
                best = Some(hit);
                return hit.distance.max(0.0).powi(2) * (1.0 + 1e-12);
            }
            square
        };
        let mut square = most * most;
        for &slot in &scene.endless {
            square = test(slot, square);
        }
        scene.tree.near(point, square, test);
        Ok(best)
    }

    fn nearest_on(
        &self,
        scene: &Scene,
        number: u32,
        point: Vec3,
        filter: &Filter,
    ) -> Option<PointHit> {
        let index = number as usize;
        if let Some(slot) = index.checked_sub(scene.bodies.len()) {
            let soft = scene.soft[slot].as_ref()?;
            let who = self.model.cloth_id(slot).into();
            if !filter.takes_soft(self, slot) || !filter.lets(who) {
                return None;
            }
            let mut best: Option<(f64, Vec3)> = None;
            soft.tree.near(point, f64::INFINITY, |i, square| {
                let on = nearest_on_triangle(soft.corners(i), point);
                let apart = on.distance_squared(point);
                if best.is_none_or(|best| apart < best.0) {
                    best = Some((apart, on));
                }
                square.min(apart)
            });
            return best.map(|(square, point)| PointHit { who, point, distance: square.sqrt() });
        }
        let placed = scene.bodies[index].as_ref()?;
        let who = self.model.id(index).into();
        if !filter.takes_body(self, index) || !filter.lets(who) {
            return None;
        }
        let local = placed.pose.inverse() * point;
        let (on, inside) = match placed.shape.geometry() {
            Geometry::Mesh(mesh) => {
                let mut best = (f64::INFINITY, local);
                mesh.tree().near(local, f64::INFINITY, |i, square| {
                    let on = nearest_on_triangle(mesh.corners(i as usize), local);
                    let apart = on.distance_squared(local);
                    if apart < best.0 {
                        best = (apart, on);
                    }
                    square.min(apart)
                });
                (best.1, pieces::holds(mesh, local))
            }
            _ => {
                let parts = &self.model.bodies[index].parts;
                let own = parts.is_empty().then_some(&placed.shape);
                let taken = parts.iter().filter(|part| filter.takes_part(part));
                let mut nearest: Option<(f64, Vec3, bool)> = None;
                for shape in own.into_iter().chain(taken.map(|part| &part.shape)) {
                    let on = shape.parry().project_local_point(local, false);
                    let apart = on.point.distance(local);
                    let depth = if on.is_inside { -apart } else { apart };
                    if nearest.is_none_or(|nearest| depth < nearest.0) {
                        nearest = Some((depth, on.point, on.is_inside));
                    }
                }
                let (_, point, inside) = nearest?;
                (point, inside)
            }
        };
        let apart = on.distance(local);
        let distance = if inside { -apart } else { apart };
        Some(PointHit { who, point: placed.pose * on, distance })
    }

    /// Everything whose bounds meet the box from `low` to `high` (m), in the order of ids.
    #[doc(alias = "intersect_aabb_conservative")]
    pub fn in_box(&self, low: Vec3, high: Vec3, filter: &Filter) -> Result<Vec<AnyId>, QueryError> {
        check("low", low)?;
        check("high", high)?;
        if low.cmpgt(high).any() {
            return Err(refuse("high", format!("must be at least {low}, not {high}")));
        }
        let region = Aabb { mins: low, maxs: high };
        let scene = self.scene();
        let mut found = Vec::new();
        scene.tree.region(&region, |number| {
            found.extend(self.taken(&scene, number, filter));
            true
        });
        for &slot in &scene.endless {
            let Some(placed) = &scene.bodies[slot as usize] else { continue };
            let size = high - low;
            let solid = parry3d_f64::shape::Cuboid::new((0.5 * size).max(Vec3::splat(1e-12)));
            let own =
                Piece { number: 0, solid: &solid, pose: Pose::from_translation(low + 0.5 * size) };
            let still = Piece { number: 0, solid: &**placed.shape.parry(), pose: placed.pose };
            if pieces::overlap(&own, &still) {
                found.extend(self.taken(&scene, slot, filter));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn taken(&self, scene: &Scene, number: u32, filter: &Filter) -> Option<AnyId> {
        let index = number as usize;
        let (takes, who) = match index.checked_sub(scene.bodies.len()) {
            None => (filter.takes_body(self, index), self.model.id(index).into()),
            Some(slot) => (filter.takes_soft(self, slot), self.model.cloth_id(slot).into()),
        };
        (takes && filter.lets(who)).then_some(who)
    }

    /// Calls `take` with the convex pieces of everything near a region, thing by thing.
    fn each_near(
        &self,
        region: &Aabb,
        filter: &Filter,
        take: &mut dyn FnMut(AnyId, Piece) -> bool,
    ) {
        let scene = self.scene();
        let mut near = scene.endless.clone();
        scene.tree.region(region, |number| {
            near.push(number);
            true
        });
        near.sort_unstable();
        for number in near {
            let Some(who) = self.taken(&scene, number, filter) else { continue };
            let index = number as usize;
            if let Some(slot) = index.checked_sub(scene.bodies.len()) {
                let Some(soft) = &scene.soft[slot] else { continue };
                soft.tree.region(region, |i| {
                    let [a, b, c] = soft.corners(i);
                    take(
                        who,
                        Piece { number: i, solid: &Triangle::new(a, b, c), pose: Pose::IDENTITY },
                    )
                });
            } else if let Some(placed) = &scene.bodies[index] {
                let parts = &self.model.bodies[index].parts;
                if parts.is_empty() {
                    each_piece(&placed.shape, &placed.pose, region, &mut |piece| take(who, piece));
                }
                for part in parts.iter().filter(|part| filter.takes_part(part)) {
                    each_piece(&part.shape, &placed.pose, region, &mut |piece| {
                        take(who, Piece { number: part.pieces.0 + piece.number, ..piece })
                    });
                }
            }
        }
    }
}

/// Whether two placed shapes overlap or touch.
pub(in crate::world) fn shapes_overlap(
    (a, pose_a): (&Shape, &Pose),
    (b, pose_b): (&Shape, &Pose),
) -> bool {
    let everywhere = everything();
    let region = |shape: &Shape, pose| {
        if shape.is_half_space() { everywhere } else { shape.aabb(pose) }
    };
    !each_piece(a, pose_a, &region(b, pose_b), &mut |one| {
        each_piece(b, pose_b, &region(a, pose_a), &mut |other| !pieces::overlap(&one, &other))
    })
}

fn check_shape(shape: &Shape, pose: &Pose) -> Result<(), QueryError> {
    check_pose(pose).map_err(|e| refuse(e.field, e.problem))?;
    check("pose.translation", pose.translation)?;
    if shape.is_half_space() {
        return Err(refuse("shape", "must have an end; a half-space has none"));
    }
    Ok(())
}

/// A region that holds all.
fn everything() -> Aabb {
    Aabb { mins: Vec3::splat(-1e300), maxs: Vec3::splat(1e300) }
}

/// By the regions of corners, edges and the inside (Ericson 2005, 5.1.5).
fn nearest_on_triangle([a, b, c]: [Vec3; 3], p: Vec3) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + (d1 / (d1 - d3)) * ab;
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + (d2 / (d2 - d6)) * ac;
    }
    let va = d3 * d6 - d5 * d4;
    let (to_c, to_b) = (d4 - d3, d5 - d6);
    if va <= 0.0 && to_c >= 0.0 && to_b >= 0.0 {
        return b + (to_c / (to_c + to_b)) * (c - b);
    }
    let sum = va + vb + vc;
    a + (vb / sum) * ab + (vc / sum) * ac
}
