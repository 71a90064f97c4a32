//! Continuous detection by conservative advancement [Mirtich 1996].
//!
//! Two convex pieces at distance d whose points approach along the closest direction n by at most
//! μ per unit of time cannot touch before d/μ. Advancing by that again and again converges to the
//! time of impact from below. For a body that turns by the rotation vector θ while its centre moves
//! by v, the approach of any of its points along n is at most n·v + |θ × n| r, with r the distance
//! of its farthest point from the centre of mass.

use parry3d_f64::bounding_volume::BoundingVolume;

use super::direction;
use super::gjk::{Closest, closest_points};
use super::narrow::{place, tree};
use super::piece::{Piece, PieceBuffer};
use crate::math::{Pose, Quat, Vec3, rotation_from_vector};
use crate::shape::{Aabb, Convex, Geometry, Shape};

/// Most advances for one pair of pieces; the last safe time is the answer when they run out.
const ADVANCES_MAX: usize = 64;

/// The motion of a body in one step: the centre of mass goes straight, the rotation is uniform.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Pose at time 0.
    pub start: Pose,
    /// Pose at time 1.
    pub end: Pose,
    /// Centre of mass in the frame of the shape, m.
    pub center_local: Vec3,
}

impl Motion {
    /// A body that stays where it is.
    pub fn fixed(pose: Pose) -> Motion {
        Motion { start: pose, end: pose, center_local: Vec3::ZERO }
    }

    /// The pose at `time` between 0 and 1.
    pub fn at(&self, time: f64) -> Pose {
        Path::new(self, Vec3::ZERO).at(time)
    }
}

/// First time in 0..1 at which the shapes come within `target` (m) of each other; none if they do
/// not, or if they start within it.
///
/// Triangles of meshes count from their front only: a body that starts behind one passes.
pub fn time_of_impact(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    target: f64,
) -> Option<f64> {
    if a.is_half_space() && b.is_half_space() {
        return None;
    }
    let origin = motion_b.start.translation;
    let (path_a, path_b) = (Path::new(motion_a, origin), Path::new(motion_b, origin));
    if !path_a.is_finite() || !path_b.is_finite() || !target.is_finite() {
        return None;
    }
    if let Geometry::Convex(Convex::HalfSpace { normal }) = a.geometry() {
        return against_half_space(*normal, &path_a, b, &path_b, target);
    }
    if let Geometry::Convex(Convex::HalfSpace { normal }) = b.geometry() {
        return against_half_space(*normal, &path_b, a, &path_a, target);
    }
    let mut sweep = Sweep::default();
    let mut first: Option<f64> = None;
    let reach = target.max(0.0);
    let pieces_a = pieces_near(a, &path_a, &swept(b, &path_b).loosened(reach));
    let pieces_b = pieces_near(b, &path_b, &swept(a, &path_a).loosened(reach));
    for &i in &pieces_a {
        for &j in &pieces_b {
            let limit = first.unwrap_or(1.0);
            if let Some(time) = sweep.pair((a, i, &path_a), (b, j, &path_b), target, limit) {
                first = Some(first.map_or(time, |t| t.min(time)));
            }
        }
    }
    first
}

/// A motion relative to a common origin, with its velocities per unit of time.
struct Path {
    start: Vec3,
    velocity: Vec3,
    rotation: Quat,
    turn: Vec3,
    center_local: Vec3,
}

impl Path {
    fn new(motion: &Motion, origin: Vec3) -> Path {
        let center =
            |pose: &Pose| pose.rotation * motion.center_local + (pose.translation - origin);
        let start = center(&motion.start);
        Path {
            start,
            velocity: center(&motion.end) - start,
            rotation: motion.start.rotation,
            turn: rotation_vector(motion.end.rotation * motion.start.rotation.inverse()),
            center_local: motion.center_local,
        }
    }

    fn at(&self, time: f64) -> Pose {
        let rotation = (rotation_from_vector(self.turn * time) * self.rotation).normalize();
        let center = self.start + self.velocity * time;
        Pose::from_parts(center - rotation * self.center_local, rotation)
    }

    fn is_finite(&self) -> bool {
        self.start.is_finite()
            && self.velocity.is_finite()
            && self.turn.is_finite()
            && self.rotation.is_finite()
    }

    /// Distance of the farthest point of a piece from the centre of mass.
    fn reach(&self, shape: &Shape, piece: u32) -> f64 {
        let to_center = Pose::from_parts(-self.center_local, Quat::IDENTITY);
        match shape.geometry() {
            Geometry::Convex(convex) => convex.outer_radius(&to_center),
            Geometry::Compound(compound) => {
                let (pose, convex) = &compound.parts[piece as usize];
                convex.outer_radius(&(to_center * *pose))
            }
            Geometry::Mesh(mesh) => mesh
                .corners(piece as usize)
                .iter()
                .map(|&c| (c - self.center_local).length())
                .fold(0.0, f64::max),
        }
    }
}

/// θ with rotation_from_vector(θ) = q, at most half a turn.
fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = v.length();
    if sine < 1e-9 { 2.0 * v } else { v * (2.0 * libm::atan2(sine, q.w) / sine) }
}

/// A box around a box that moves with a path.
fn swept_box(local: &Aabb, path: &Path) -> Aabb {
    if path.turn == Vec3::ZERO {
        let (from, to) = (local.transform_by(&path.at(0.0)), local.transform_by(&path.at(1.0)));
        return Aabb::new(from.mins.min(to.mins), from.maxs.max(to.maxs));
    }
    let reach = (local.center() - path.center_local).length() + local.half_extents().length();
    let end = path.start + path.velocity;
    Aabb::new(path.start.min(end) - reach, path.start.max(end) + reach)
}

fn swept(shape: &Shape, path: &Path) -> Aabb {
    swept_box(&shape.aabb(&Pose::IDENTITY), path)
}

/// The pieces of a shape that can come into `other` at all, in ascending order.
fn pieces_near(shape: &Shape, path: &Path, other: &Aabb) -> Vec<u32> {
    let Some(tree) = tree(shape) else { return vec![0] };
    let meets = |local: &Aabb| swept_box(local, path).intersects(other);
    let mut pieces: Vec<u32> = tree.leaves(|node| meets(&node.aabb())).collect();
    pieces.sort_unstable();
    pieces
}

#[derive(Default)]
struct Sweep {
    a: PieceBuffer,
    b: PieceBuffer,
}

impl Sweep {
    /// Conservative advancement of one pair of pieces up to `limit`.
    fn pair(
        &mut self,
        (a, i, path_a): (&Shape, u32, &Path),
        (b, j, path_b): (&Shape, u32, &Path),
        target: f64,
        limit: f64,
    ) -> Option<f64> {
        let (reach_a, reach_b) = (path_a.reach(a, i), path_b.reach(b, j));
        let relative = path_b.velocity - path_a.velocity;
        let size = reach_a.min(reach_b).max(1e-9);
        let tolerance = (1e-3 * target.abs()).max(1e-7 * size);
        let mut time = 0.0;
        for step in 0..ADVANCES_MAX {
            let piece_a = place(a, i, &path_a.at(time), &mut self.a)?;
            let piece_b = place(b, j, &path_b.at(time), &mut self.b)?;
            let Some((n, distance)) = distance(&piece_a, &piece_b) else {
                // overlap: at the start it is none of ours, later the step before was the last safe one
                return (step > 0).then_some(time);
            };
            let ahead = distance - target;
            if ahead <= tolerance {
                let from_behind = behind(&piece_a, n) || behind(&piece_b, -n);
                return (!from_behind && (step > 0 || ahead > 0.0)).then_some(time);
            }
            let approach = -n.dot(relative)
                + path_a.turn.cross(n).length() * reach_a
                + path_b.turn.cross(n).length() * reach_b;
            if approach <= 0.0 {
                // never along this direction, as long as it separates them
                return None;
            }
            let next = time + ahead / approach;
            if next >= limit {
                return None;
            }
            time = next;
        }
        Some(time)
    }
}

/// Whether a triangle is met from behind along `n`.
fn behind(triangle: &Piece, n: Vec3) -> bool {
    triangle.guard.is_some_and(|g| g.normal.dot(n) < -1e-3)
}

/// Closest direction from a to b and the distance; none if they overlap.
fn distance(a: &Piece, b: &Piece) -> Option<(Vec3, f64)> {
    match closest_points(a, b, f64::MAX) {
        Closest::Apart([p, q]) => {
            let n = (q - p).try_normalize()?;
            // the gap between the supporting planes is never more than the true distance
            let gap = direction::gap(a, b, n);
            (gap > 0.0).then_some((n, gap))
        }
        _ => None,
    }
}

fn against_half_space(
    normal: Vec3,
    path: &Path,
    body: &Shape,
    body_path: &Path,
    target: f64,
) -> Option<f64> {
    let mut sweep = Sweep::default();
    let mut first: Option<f64> = None;
    for index in 0..body.piece_count() as u32 {
        let reach = body_path.reach(body, index);
        let tolerance = (1e-3 * target.abs()).max(1e-7 * reach);
        let limit = first.unwrap_or(1.0);
        let mut time = 0.0;
        let mut hit = None;
        for step in 0..ADVANCES_MAX {
            let pose = path.at(time);
            let n = pose.rotation * normal;
            let Some(piece) = place(body, index, &body_path.at(time), &mut sweep.b) else { break };
            let lowest = piece.support(-n);
            let ahead = n.dot(lowest - pose.translation) - piece.radius - target;
            if ahead <= tolerance {
                hit = (step > 0 || ahead > 0.0).then_some(time);
                break;
            }
            // the plane's own turning sweeps as far as the body is from its centre
            let lever = (body_path.at(time).translation - pose.translation).length()
                + body.outer_radius()
                + (body_path.velocity - path.velocity).length()
                + path.center_local.length();
            let turning = path.turn.length();
            let approach = -n.dot(body_path.velocity - path.velocity)
                + body_path.turn.length() * reach
                + if turning > 0.0 { turning * lever } else { 0.0 };
            if approach <= 0.0 {
                break;
            }
            let next = time + ahead / approach;
            if next >= limit {
                break;
            }
            time = next;
            if step + 1 == ADVANCES_MAX {
                hit = Some(time);
            }
        }
        if let Some(t) = hit {
            first = Some(first.map_or(t, |f| f.min(t)));
        }
    }
    first
}
