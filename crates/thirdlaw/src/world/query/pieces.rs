//! Convex pieces of what is hit, and how a convex piece moves up to another.
//!
//! A piece that moves along a line meets another by conservative advancement (Mirtich 1996): it may
//! always go by its distance divided by the speed at which the nearest points approach. For convex
//! pieces this never goes too far, and where the nearest points recede it never meets the other.

use crate::math::{Pose, Vec3};
use crate::shape::{Aabb, Geometry, Mesh, Shape};
use parry3d_f64::query::{self, ClosestPoints};
use parry3d_f64::shape::{Shape as Solid, Triangle};

/// Gap at which two pieces count as touching, m.
const TOUCH: f64 = 1e-7;
/// Most advances; each leaves a part of the gap.
const ADVANCES: usize = 64;

/// A convex piece placed in the world.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub number: u32,
    pub solid: &'a dyn Solid,
    pub pose: Pose,
}

/// Where one piece meets another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub distance: f64,
    pub point: Vec3,
    pub normal: Vec3,
}

/// Calls `take` with the convex pieces of a placed shape that may reach into `region`, until it says no.
pub(super) fn each_piece(
    shape: &Shape,
    pose: &Pose,
    region: &Aabb,
    take: &mut dyn FnMut(Piece) -> bool,
) -> bool {
    match shape.geometry() {
        Geometry::Convex(_) => take(Piece { number: 0, solid: &**shape.parry(), pose: *pose }),
        Geometry::Compound(_) => {
            let parts = shape.parry().as_compound().map_or(&[][..], |c| c.shapes());
            parts.iter().enumerate().all(|(i, (local, part))| {
                take(Piece { number: i as u32, solid: &**part, pose: *pose * *local })
            })
        }
        Geometry::Mesh(mesh) => {
            let local = region_in(pose, region);
            let mut on = true;
            mesh.tree().region(&local, |i| {
                let [a, b, c] = mesh.corners(i as usize);
                on = take(Piece { number: i, solid: &Triangle::new(a, b, c), pose: *pose });
                on
            });
            on
        }
    }
}

/// A box around a region of the world, in the frame of a shape.
fn region_in(pose: &Pose, region: &Aabb) -> Aabb {
    let back = pose.inverse();
    let (mut mins, mut maxs) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for corner in 0..8 {
        let pick = |axis: usize| {
            if corner >> axis & 1 == 0 { region.mins[axis] } else { region.maxs[axis] }
        };
        let p = back * Vec3::new(pick(0), pick(1), pick(2));
        (mins, maxs) = (mins.min(p), maxs.max(p));
    }
    Aabb { mins, maxs }
}

/// Whether a closed mesh holds a point of its own frame.
pub(super) fn holds(mesh: &Mesh, point: Vec3) -> bool {
    // a direction that lies in no face anybody models
    let way = Vec3::new(0.361_721_9, 0.817_330_1, 0.448_522_7).normalize_or(Vec3::Y);
    let hit = crate::shape::ray::nearest_triangle(mesh.tree(), (point, way), f64::INFINITY, |i| {
        mesh.corners(i as usize)
    });
    mesh.closed && hit.is_some_and(|hit| hit.back)
}

/// Whether two pieces overlap or touch.
pub(super) fn overlap(a: &Piece, b: &Piece) -> bool {
    query::intersection_test(&a.pose, a.solid, &b.pose, b.solid)
        .is_ok_and(|found| found.intersecting)
}

/// Where `moving` meets `still` on its way along the unit vector `way`, before `most` (m).
pub(super) fn advance(moving: &Piece, still: &Piece, way: Vec3, most: f64) -> Option<Meeting> {
    let mut gone = 0.0;
    for _ in 0..ADVANCES {
        let mut pose = moving.pose;
        pose.translation += gone * way;
        let nearest =
            query::closest_points(&pose, moving.solid, &still.pose, still.solid, f64::MAX).ok()?;
        let (on_moving, on_still) = match nearest {
            ClosestPoints::WithinMargin(a, b) => (a, b),
            // rounding led it in, or it began there
            ClosestPoints::Intersecting => {
                return Some(Meeting { distance: gone, point: pose.translation, normal: -way });
            }
            ClosestPoints::Disjoint => return None,
        };
        let between = on_still - on_moving;
        let gap = between.length();
        let Some(normal) = between.try_normalize() else {
            return Some(Meeting { distance: gone, point: on_still, normal: -way });
        };
        let speed = way.dot(normal);
        if speed <= 1e-9 || gone + gap / speed > most + TOUCH {
            return None;
        }
        if gap <= TOUCH {
            let distance = (gone + gap / speed).min(most);
            return Some(Meeting { distance, point: on_still, normal: -normal });
        }
        gone += gap / speed;
        // stay outside by a hair, where the nearest points tell the normal
        gone -= (0.25 * TOUCH / speed).min(0.5 * gap);
    }
    None
}
