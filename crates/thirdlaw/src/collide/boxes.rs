//! Two boxes, the most frequent pair of a pile, without the detours of general pieces.
//!
//! Works in the axes of the first box with the origin at its centre, so that nothing is placed and
//! nothing far away rounds. Decides as separating axes, closest points and clipping do for general
//! pieces (`sat.rs`, `direction.rs`, `clip.rs`), and leaves to them the few cases in which they look
//! further: edges side by side, and boxes deep within each other.

use super::boxes_clip::{Facing, clip};
use super::direction::{EDGE_ROUND, bias, closest_on_segments};
use crate::math::{Mat3, Vec3};

/// Two boxes in the axes of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoxPair {
    /// Half extents of a and b, m.
    pub half: [Vec3; 2],
    /// The axes of b.
    pub turn: Mat3,
    /// From the centre of a to that of b, m.
    pub between: Vec3,
}

/// What can be said about two boxes here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Boxes {
    /// They are farther apart than asked for: by this at least, m, or by 0 where that is not known.
    Apart(f64),
    /// They touch.
    Facing,
    /// The general way has to say.
    Unsettled,
}

/// A normal from a to b and, where they are known, the closest points, in axes of a.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    normal: Vec3,
    witness: Option<[Vec3; 2]>,
}

/// The face of a box that separates best: axis 0 to 2 of a, or 3 to 5 of b.
#[derive(Clone, Copy)]
struct Best {
    axis: usize,
    separation: f64,
}

/// One box in the axes of the other, from its centre.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// Half extents of the box in whose axes this is, and of the other.
    pub half: Vec3,
    pub other_half: Vec3,
    /// Axes and centre of the other.
    pub axes: Mat3,
    pub center: Vec3,
}

impl BoxPair {
    /// Fills `out` with the points of both boxes that are closer than `margin`, if they face each other.
    pub fn touch(&self, margin: f64, out: &mut Facing) -> Boxes {
        let [half_a, half_b] = self.half;
        // the ball around b settles most cases
        let beside = (self.between.abs() - half_a).max_element() - half_b.length();
        if beside > margin {
            return Boxes::Apart(beside);
        }
        let turn = &self.turn;
        let absolute = absolute(turn);
        let along_b = turn.transpose() * self.between;
        let gaps_a = self.between.abs() - half_a - absolute * half_b;
        let gaps_b = along_b.abs() - half_b - absolute.transpose() * half_a;
        let widest = gaps_a.max(gaps_b).max_element();
        if widest > margin {
            return Boxes::Apart(widest);
        }
        let scale = half_a.min(half_b).min_element();
        let best = best_face([gaps_a.to_array(), gaps_b.to_array()], scale);
        let meeting = match self.best_edges(&absolute, &best, scale) {
            Some((separation, _)) if separation > margin => return Boxes::Apart(separation),
            Some((separation, edges)) => self.at_edges(edges, separation),
            None => match self.at_face(&best, along_b, scale) {
                Some(meeting) => meeting,
                None => return Boxes::Unsettled,
            },
        };
        let reached = self.gap(meeting.normal);
        if reached > margin {
            return Boxes::Apart(reached);
        }
        out.normal = meeting.normal;
        let slack = scale.min(1e3) * if reached < 0.0 { 1e-4 } else { 1e-7 };
        clip(self, (reached + slack, margin), meeting.witness, out);
        if out.count == 0 {
            return if meeting.witness.is_some() { Boxes::Apart(0.0) } else { Boxes::Unsettled };
        }
        let near = |separation: f64| separation < reached + 1e-3 * scale.min(1e3);
        let opposite = out.points[..out.count].iter().any(|p| near(p.separation));
        if opposite || meeting.witness.is_some() { Boxes::Facing } else { Boxes::Unsettled }
    }

    /// b seen from a, or a seen from b.
    pub fn view(&self, from_b: bool) -> View {
        let [half_a, half_b] = self.half;
        if !from_b {
            return View {
                half: half_a,
                other_half: half_b,
                axes: self.turn,
                center: self.between,
            };
        }
        let back = self.turn.transpose();
        View { half: half_b, other_half: half_a, axes: back, center: back * -self.between }
    }

    /// From the axes of b and its centre to those of a.
    pub fn b_to_a(&self, point: Vec3) -> Vec3 {
        self.between + self.turn * point
    }

    /// Gap along a unit vector, m.
    fn gap(&self, n: Vec3) -> f64 {
        let [half_a, half_b] = self.half;
        n.dot(self.between) - half_a.dot(n.abs()) - half_b.dot((self.turn.transpose() * n).abs())
    }

    /// The pair of edges, axis of a and axis of b, that separates clearly better than the best face, if
    /// one does, and by how much.
    fn best_edges(&self, absolute: &Mat3, best: &Best, scale: f64) -> Option<(f64, [usize; 2])> {
        let ([half_a, half_b], t) = (self.half, self.between);
        let mut threshold = best.separation + bias(best.separation, scale);
        let mut found = None;
        // by rows: the axes of b along one of a
        let (rows, sizes) = (self.turn.transpose(), absolute.transpose());
        for i in 0..3 {
            let (i1, i2) = ([1, 2, 0][i], [2, 0, 1][i]);
            // between·(aᵢ × bⱼ), and what both boxes reach along it
            let along = t[i2] * rows.col(i1) - t[i1] * rows.col(i2);
            let size = sizes.col(i);
            let of_b = Vec3::new(
                half_b.y * size.z + half_b.z * size.y,
                half_b.z * size.x + half_b.x * size.z,
                half_b.x * size.y + half_b.y * size.x,
            );
            let gaps = along.abs() - half_a[i1] * sizes.col(i2) - half_a[i2] * sizes.col(i1) - of_b;
            // dividing by the length of the product, which is at most one, makes none larger that is
            // negative
            if gaps.max_element() <= threshold.min(0.0) {
                continue;
            }
            for j in 0..3 {
                let gap = gaps[j];
                if gap <= 0.0 && gap <= threshold {
                    continue;
                }
                // |aᵢ × bⱼ|² = 1 − (aᵢ·bⱼ)²; nearly parallel edges say nothing new
                let squared = 1.0 - rows.col(i)[j] * rows.col(i)[j];
                if squared < 1e-8 {
                    continue;
                }
                let separation = gap / squared.sqrt();
                if separation > threshold {
                    found = Some((separation, [i, j]));
                    threshold = separation + 1e-9 * scale;
                }
            }
        }
        found
    }

    /// Where two edges cross.
    fn at_edges(&self, [i, j]: [usize; 2], separation: f64) -> Meeting {
        let normal = AXES[i].cross(self.turn.col(j)).normalize_or_zero();
        let normal = if normal.dot(self.between) < 0.0 { -normal } else { normal };
        // the edges that touch: those farthest along the normal
        let corner = |axes: &Mat3, half: Vec3, skip: usize, toward: Vec3| {
            (0..3).filter(|&k| k != skip).fold(Vec3::ZERO, |s, k| {
                let axis = axes.col(k);
                s + axis * if axis.dot(toward) > 0.0 { half[k] } else { -half[k] }
            })
        };
        let on_a = corner(&Mat3::IDENTITY, self.half[0], i, normal);
        let on_b = corner(&self.turn, self.half[1], j, -normal) + self.between;
        let (along_a, along_b) = (AXES[i] * self.half[0][i], self.turn.col(j) * self.half[1][j]);
        let [p, q] =
            closest_on_segments([on_a - along_a, on_a + along_a], [on_b - along_b, on_b + along_b]);
        // edges that pass each other meet nowhere along the normal
        let slip = (q - p) - normal * normal.dot(q - p);
        let meets = slip.length() <= 1e-6 * (separation.abs() + 1e-3);
        Meeting { normal, witness: meets.then_some([p, q]) }
    }

    /// Where a face meets the other box: its normal, if a face of the other is in line with it. If none
    /// is, an edge or a corner meets it, and both boxes shrunk by a rounding radius say where.
    fn at_face(&self, best: &Best, along_b: Vec3, scale: f64) -> Option<Meeting> {
        let of_b = best.axis >= 3;
        let k = best.axis % 3;
        let (face, toward) =
            if of_b { (self.turn.col(k), along_b[k]) } else { (AXES[k], self.between[k]) };
        let normal = if toward < 0.0 { -face } else { face };
        let other = if of_b { normal } else { self.turn.transpose() * normal };
        if other.abs().max_element() > 0.9986 {
            return Some(Meeting { normal, witness: None });
        }
        // with a clear gap the closest points of the boxes themselves say it exactly
        let round = if best.separation > 1e-3 * scale { 0.0 } else { EDGE_ROUND };
        let [radius_a, radius_b] = self.half.map(|half| round * half.min_element());
        let core = BoxPair {
            half: [self.half[0] - Vec3::splat(radius_a), self.half[1] - Vec3::splat(radius_b)],
            ..*self
        };
        let [p, q] = core
            .closest(of_b, normal)
            .or_else(|| core.closest(!of_b, normal))
            .or_else(|| core.closest_edges())?;
        let normal = (q - p).try_normalize()?;
        Some(Meeting { normal, witness: Some([p + radius_a * normal, q - radius_b * normal]) })
    }

    /// The closest points, where they lie on an edge of each.
    fn closest_edges(&self) -> Option<[Vec3; 2]> {
        let touching = Best { axis: 0, separation: 0.0 };
        let (separation, edges) = self.best_edges(&absolute(&self.turn), &touching, 0.0)?;
        self.at_edges(edges, separation).witness
    }

    /// The closest points, where one of them is a corner, or the middle of an edge, of the box that is
    /// seen, starting from the direction `n` from a to b.
    fn closest(&self, from_b: bool, n: Vec3) -> Option<[Vec3; 2]> {
        let view = self.view(from_b);
        let mut d = if from_b { self.turn.transpose() * -n } else { n };
        let mut signs = view.signs_toward(d);
        for _ in 0..4 {
            let corner = view.center + view.axes * (signs * view.other_half);
            let foot = corner.clamp(-view.half, view.half);
            d = (corner - foot).try_normalize()?;
            let next = view.signs_toward(d);
            if next == signs {
                // the plane between them parts both boxes
                return Some(if from_b {
                    [self.b_to_a(corner), self.b_to_a(foot)]
                } else {
                    [foot, corner]
                });
            }
            signs = next;
        }
        None
    }
}

impl View {
    /// Which corner of the other box is the farthest against `d`, by signs; 0 along edges square to it.
    fn signs_toward(&self, d: Vec3) -> Vec3 {
        let along = self.axes.transpose() * d;
        let sign = |x: f64| if x.abs() <= 1e-9 { 0.0 } else { -x.signum() };
        Vec3::new(sign(along.x), sign(along.y), sign(along.z))
    }
}

fn absolute(m: &Mat3) -> Mat3 {
    Mat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs())
}

const AXES: [Vec3; 3] = [Vec3::X, Vec3::Y, Vec3::Z];

/// The best of six faces; one is left for another only if that is clearly better.
fn best_face(gaps: [[f64; 3]; 2], scale: f64) -> Best {
    let mut best = Best { axis: 0, separation: gaps[0][0] };
    for (axis, &separation) in gaps.as_flattened().iter().enumerate().skip(1) {
        if separation > best.separation + 0.5 * bias(best.separation, scale) {
            best = Best { axis, separation };
        }
    }
    best
}
