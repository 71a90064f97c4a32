//! Continuous detection by conservative advancement [Mirtich 1996].
//!
//! Two convex pieces at distance d whose points approach along the closest direction n by at most
//! μ per unit of time cannot touch before d/μ. Advancing by that again and again converges to the
//! time of impact from below. For a body that turns by the rotation vector θ while its centre moves
//! by v, the approach of any of its points along n is at most n·v + |θ × n| r, with r the distance
//! of its farthest point from the centre of mass.
//!
//! Shapes of many pieces are gone through tree against tree (`meeting_pieces.rs`): the same bound for
//! the boxes of two nodes says how soon anything in them can touch. Time is looked at in windows, each
//! twice as long as the one before: once a window has an impact, later ones need not be looked at.

use super::direction;
use super::gjk::{Closest, closest_points};
use super::meeting_pieces::{MeetingPieces, Window};
use super::narrow::place;
use super::piece::{Piece, PieceBuffer};
use crate::math::{Pose, Quat, Vec3, rotation_from_vector, rotation_vector};
use crate::shape::{Convex, Geometry, Shape};

/// Most advances for one pair of pieces; the last safe time is the answer when they run out.
const ADVANCES_MAX: usize = 64;

/// Length of the first window of time, as a share of the whole, where shapes have many pieces.
const WINDOW: f64 = 1.0 / 32.0;

/// Share of the distance looked for within which it counts as reached.
const NEAR: f64 = 0.02;

/// Share of the smaller shape's size by which shapes that start at the distance looked for have to come nearer
/// in order to meet.
const CLOSER: f64 = 0.02;

/// The motion of a body in one step: the centre of mass goes straight, the rotation is uniform.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Pose at time 0.
    pub start: Pose,
    /// Way of the centre of mass, m.
    pub way: Vec3,
    /// Rotation vector from the start to the end, rad; may be more than a turn.
    pub turn: Vec3,
    /// Centre of mass in the frame of the shape, m.
    pub center_local: Vec3,
}

impl Motion {
    /// A body that stays where it is.
    pub fn fixed(pose: Pose) -> Motion {
        Motion { start: pose, way: Vec3::ZERO, turn: Vec3::ZERO, center_local: Vec3::ZERO }
    }

    /// A body that goes from one pose to another, by at most half a turn.
    pub fn between(start: Pose, end: Pose, center_local: Vec3) -> Motion {
        let turned = end.rotation * center_local - start.rotation * center_local;
        Motion {
            start,
            way: (end.translation - start.translation) + turned,
            turn: rotation_vector(end.rotation * start.rotation.inverse()),
            center_local,
        }
    }

    /// What is left of it at `time` between 0 and 1.
    pub fn rest(&self, time: f64) -> Motion {
        let left = 1.0 - time;
        Motion { start: self.at(time), way: left * self.way, turn: left * self.turn, ..*self }
    }

    /// The pose at `time` between 0 and 1.
    pub fn at(&self, time: f64) -> Pose {
        Path::new(self, Vec3::ZERO).at(time)
    }
}

/// First time in 0..1 at which the shapes come within `target` (m) of each other; none if they do
/// not, or if they start within it. Shapes that start at it, but for rounding, meet only if they go on
/// towards each other: what was stopped there in the step before and moves along or away must not be stopped
/// again in every step.
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
    if a.is_convex() && b.is_convex() {
        return sweep.pair((a, 0, &path_a), (b, 0, &path_b), target, (0.0, 1.0));
    }
    let mut meeting = MeetingPieces::default();
    let (mut from, mut length) = (0.0, WINDOW);
    while from < 1.0 {
        let to = f64::min(from + length, 1.0);
        let mut first = to;
        meeting.find([(a, &path_a), (b, &path_b)], &Window { from, to, target });
        for &(soonest, i, j) in &meeting.pairs {
            if soonest >= first {
                break;
            }
            let window = (from, first);
            if let Some(time) = sweep.pair((a, i, &path_a), (b, j, &path_b), target, window) {
                first = first.min(time);
            }
        }
        if first < to {
            return Some(first);
        }
        (from, length) = (to, 2.0 * length);
    }
    None
}

/// A motion relative to a common origin, with its velocities per unit of time.
pub(super) struct Path {
    start: Vec3,
    pub velocity: Vec3,
    rotation: Quat,
    pub turn: Vec3,
    pub center_local: Vec3,
}

impl Path {
    fn new(motion: &Motion, origin: Vec3) -> Path {
        let start = &motion.start;
        Path {
            start: start.rotation * motion.center_local + (start.translation - origin),
            velocity: motion.way,
            rotation: start.rotation,
            turn: motion.turn,
            center_local: motion.center_local,
        }
    }

    pub fn at(&self, time: f64) -> Pose {
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

#[derive(Default)]
struct Sweep {
    a: PieceBuffer,
    b: PieceBuffer,
}

impl Sweep {
    /// Conservative advancement of one pair of pieces from one time to another.
    fn pair(
        &mut self,
        (a, i, path_a): (&Shape, u32, &Path),
        (b, j, path_b): (&Shape, u32, &Path),
        target: f64,
        (from, to): (f64, f64),
    ) -> Option<f64> {
        let (reach_a, reach_b) = (path_a.reach(a, i), path_b.reach(b, j));
        let relative = path_b.velocity - path_a.velocity;
        let size = reach_a.min(reach_b).max(1e-9);
        let tolerance = (NEAR * target.abs()).max(1e-7 * size);
        let mut time = from;
        for _ in 0..ADVANCES_MAX {
            let piece_a = place(a, i, &path_a.at(time), &mut self.a)?;
            let piece_b = place(b, j, &path_b.at(time), &mut self.b)?;
            let Some((n, distance)) = distance(&piece_a, &piece_b) else {
                // overlap: at the start it is none of ours, later the step before was the last safe one
                return (time > 0.0).then_some(time);
            };
            let ahead = distance - target;
            if ahead <= tolerance {
                let from_behind = behind(&piece_a, n) || behind(&piece_b, -n);
                if from_behind || time > 0.0 || ahead <= 0.0 {
                    return (!from_behind && time > 0.0).then_some(time);
                }
                let end_a = place(a, i, &path_a.at(1.0), &mut self.a)?;
                let end_b = place(b, j, &path_b.at(1.0), &mut self.b)?;
                let closer = distance - direction::gap(&end_a, &end_b, n);
                return (closer > CLOSER * size).then_some(time);
            }
            let approach = -n.dot(relative)
                + path_a.turn.cross(n).length() * reach_a
                + path_b.turn.cross(n).length() * reach_b;
            if approach <= 0.0 {
                // never along this direction, as long as it separates them
                return None;
            }
            let next = time + ahead / approach;
            if next >= to {
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

/// A half-space meets what is lowest of a shape: all of it is advanced together.
fn against_half_space(
    normal: Vec3,
    path: &Path,
    body: &Shape,
    body_path: &Path,
    target: f64,
) -> Option<f64> {
    let mut buffer = PieceBuffer::default();
    let pieces = 0..body.piece_count() as u32;
    let reach = pieces.map(|i| body_path.reach(body, i)).fold(0.0, f64::max);
    let tolerance = (NEAR * target.abs()).max(1e-7 * reach);
    let mut time = 0.0;
    for _ in 0..ADVANCES_MAX {
        let pose = path.at(time);
        let n = pose.rotation * normal;
        let body_pose = body_path.at(time);
        let ahead = lowest(body, &body_pose, n, &mut buffer) - n.dot(pose.translation) - target;
        if ahead <= tolerance {
            if time > 0.0 || ahead <= 0.0 {
                return (time > 0.0).then_some(time);
            }
            let (end, body_end) = (path.at(1.0), body_path.at(1.0));
            let n = end.rotation * normal;
            let left = lowest(body, &body_end, n, &mut buffer) - n.dot(end.translation) - target;
            return (ahead - left > CLOSER * reach).then_some(time);
        }
        // the plane's own turning sweeps as far as the body is from its centre
        let lever = (body_pose.translation - pose.translation).length()
            + body.outer_radius()
            + (body_path.velocity - path.velocity).length()
            + path.center_local.length();
        let turning = path.turn.length();
        let spin = if turning > 0.0 { body_path.turn } else { body_path.turn.cross(n) };
        let approach = -n.dot(body_path.velocity - path.velocity)
            + spin.length() * reach
            + if turning > 0.0 { turning * lever } else { 0.0 };
        if approach <= 0.0 {
            return None;
        }
        time += ahead / approach;
        if time >= 1.0 {
            return None;
        }
    }
    Some(time)
}

/// The least coordinate of a shape along `n`, m.
fn lowest(shape: &Shape, pose: &Pose, n: Vec3, buffer: &mut PieceBuffer) -> f64 {
    if let Geometry::Mesh(mesh) = shape.geometry() {
        let local = pose.rotation.inverse() * n;
        let least = mesh.vertices.iter().map(|v| local.dot(*v)).fold(f64::INFINITY, f64::min);
        return n.dot(pose.translation) + least;
    }
    let mut least = f64::INFINITY;
    for index in 0..shape.piece_count() as u32 {
        if let Some(piece) = place(shape, index, pose, buffer) {
            least = least.min(-piece.reach(-n));
        }
    }
    least
}
