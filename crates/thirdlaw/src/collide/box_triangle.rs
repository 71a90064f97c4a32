//! A box and a triangle of a mesh, the most frequent contact with ground, without the detours of general
//! pieces.
//!
//! Works in the axes of the box with the origin at its centre, where its faces and edges are coordinates.
//! Decides as separating axes, closest points and clipping do for general pieces (`sat.rs`, `gjk.rs`,
//! `clip.rs`); what lies beyond the edges of the triangle rules out the same normals (`Guard`).

use super::box_triangle_closest::closest_points;
use super::boxes_clip::{Facing, FacingPoint, most_along};
use super::clip::WITNESS;
use super::direction::{bias, closest_on_segments};
use super::piece::Guard;
use super::polygon::{BoxFace, Chosen, Corner};
use crate::math::Vec3;
use crate::shape::MeshEdge;
use crate::state::contact::ON_B;

/// A box and a triangle in its axes.
#[derive(Clone, Copy)]
pub(super) struct BoxTriangle {
    pub half: Vec3,
    pub guard: Guard,
}

/// The direction in which both overlap least.
struct Axis {
    normal: Vec3,
    separation: f64,
    own: Option<usize>,
    /// The edges that touch along it, of the triangle and of the box, if edges do.
    edges: Option<[[Vec3; 2]; 2]>,
}

impl Axis {
    /// Whether a face with this separation is clearly better.
    fn gives_way(&self, separation: f64, scale: f64) -> bool {
        separation > self.separation + 0.5 * bias(self.separation, scale)
    }
}

impl BoxTriangle {
    /// Fills `out` with the points of both that are closer than `margin`, the triangle being a, all in
    /// axes of the box. Says which of the normals of the guard the normal is, if one.
    pub fn touch(&self, margin: f64, out: &mut Facing) -> Option<usize> {
        out.count = 0;
        let scale = self.half.min_element();
        let axis = self.best_axis(scale, margin)?;
        let n = axis.normal;
        // edges that pass each other meet nowhere along the axis
        let witness = axis.edges.map(|[u, v]| closest_on_segments(u, v)).filter(|[p, q]| {
            let slip = (*q - *p) - n * n.dot(*q - *p);
            slip.length() <= 1e-6 * (axis.separation.abs() + 1e-3)
        });
        out.normal = n;
        let reached = self.gap(n);
        self.clip(reached, margin, witness, out);
        let near = reached + 1e-3 * scale.min(1e3);
        if witness.is_some() || out.points[..out.count].iter().any(|point| point.separation < near)
        {
            return axis.own;
        }
        // what is nearest along an axis of the faces has nothing opposite: corner to corner
        let closest = closest_points(self.half, self.guard.corners, self.guard.normal, margin);
        if let Some([p, q]) = closest
            && let Some(normal) = (q - p).try_normalize()
            && self.guard.admits(normal)
        {
            out.normal = normal;
            self.clip(self.gap(normal), margin, closest, out);
            return None;
        }
        axis.own
    }

    /// Gap along a unit vector from the triangle to the box, m.
    fn gap(&self, n: Vec3) -> f64 {
        let [a, b, c] = self.guard.corners.map(|corner| n.dot(corner));
        -self.half.dot(n.abs()) - a.max(b).max(c)
    }

    /// The best axis from the triangle to the box among those that its surroundings leave the triangle;
    /// none if a gap is surely wider than `margin`.
    fn best_axis(&self, scale: f64, margin: f64) -> Option<Axis> {
        let Guard { corners: [a, b, c], normal, .. } = self.guard;
        let mut best = Axis { normal, separation: self.gap(normal), own: Some(0), edges: None };
        if best.separation > margin {
            return None;
        }
        for (own, n) in self.guard.normals().into_iter().enumerate().skip(1) {
            let Some(n) = n else { continue };
            let separation = self.gap(n);
            if best.gives_way(separation, scale) {
                best = Axis { normal: n, separation, own: Some(own), edges: None };
                if separation > margin {
                    return None;
                }
            }
        }
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let (below, above) = (-high - self.half, low - self.half);
        for k in 0..3 {
            for (separation, sign) in [(below[k], 1.0), (above[k], -1.0)] {
                if !best.gives_way(separation, scale) {
                    continue;
                }
                let mut n = Vec3::ZERO;
                n[k] = sign;
                if self.guard.admits(n) {
                    best = Axis { normal: n, separation, own: None, edges: None };
                    if separation > margin {
                        return None;
                    }
                }
            }
        }
        let threshold = best.separation + bias(best.separation, scale);
        let best = self.best_edges(threshold).unwrap_or(best);
        (best.separation <= margin).then_some(best)
    }

    /// The best pair of edges whose gap is more than `threshold`; those of the box have three directions.
    fn best_edges(&self, threshold: f64) -> Option<Axis> {
        let Guard { corners, edges, .. } = &self.guard;
        let half = self.half;
        let mut best: Option<Axis> = None;
        let mut beats = threshold;
        for k in (0..3).filter(|&k| edges[k] != MeshEdge::Hidden) {
            let [from, to, third] = [k, (k + 1) % 3, (k + 2) % 3].map(|i| corners[i]);
            let (along, across) = (to - from, third - from);
            let squares = along * along;
            let least = 1e-8 * (squares.x + squares.y + squares.z);
            for j in 0..3 {
                let (j1, j2) = ([1, 2, 0][j], [2, 0, 1][j]);
                // along × axis j, not yet of unit length
                let squared = squares[j1] + squares[j2];
                if squared <= least {
                    continue;
                }
                let (x, y) = (along[j2], -along[j1]);
                let reach = half[j1] * x.abs() + half[j2] * y.abs();
                let edge = x * from[j1] + y * from[j2];
                let rise = x * across[j1] + y * across[j2];
                let ways =
                    [(1.0, -reach - edge - rise.max(0.0)), (-1.0, edge + rise.min(0.0) - reach)];
                for (sign, gap) in ways {
                    // most are settled without a root
                    if gap <= 0.0 && (beats >= 0.0 || gap * gap >= beats * beats * squared) {
                        continue;
                    }
                    let length = squared.sqrt();
                    let separation = gap / length;
                    if separation <= beats {
                        continue;
                    }
                    let mut normal = Vec3::ZERO;
                    (normal[j1], normal[j2]) = (sign * x / length, sign * y / length);
                    if !self.guard.admits(normal) {
                        continue;
                    }
                    // the edges that touch, if that of the triangle is the farthest along the normal
                    let farthest = sign * rise <= 1e-9 * along.length() * length;
                    let edges = farthest.then(|| {
                        let mut corner = Vec3::ZERO;
                        for k in [j1, j2] {
                            corner[k] = if normal[k] > 0.0 { -half[k] } else { half[k] };
                        }
                        let mut ends = [corner; 2];
                        (ends[0][j], ends[1][j]) = (-half[j], half[j]);
                        [[from, to], ends]
                    });
                    best = Some(Axis { normal, separation, own: None, edges });
                    beats = separation * (1.0 - 1e-12) + 1e-15;
                }
            }
        }
        best
    }

    /// Fills in the points along `out.normal`, along which both are `reached` apart, that are closer than
    /// `margin`. The closest points, if they are known, are added where no other reaches as deep.
    fn clip(&self, reached: f64, margin: f64, witness: Option<[Vec3; 2]>, out: &mut Facing) {
        out.count = 0;
        if reached > margin {
            return;
        }
        let n = out.normal;
        // the direction of an overlap is found less exactly than that of a gap
        let slack = self.half.min_element().min(1e3) * if reached < 0.0 { 1e-4 } else { 1e-7 };
        let limits = (reached + slack, margin);
        let axis = most_along(n);
        // the box must be clearly flatter to become the reference
        if n[axis].abs() > self.guard.normal.dot(n) + 1e-6 {
            self.cut_triangle(axis, limits, witness, out);
        } else {
            self.cut_box_face(axis, limits, witness, out);
        }
    }

    /// The points of the triangle that lie before the face of the box square to `axis`.
    fn cut_triangle(
        &self,
        axis: usize,
        limits: (f64, f64),
        witness: Option<[Vec3; 2]>,
        out: &mut Facing,
    ) {
        let outward = -out.normal;
        let face = BoxFace::toward(self.half, outward, axis);
        out.cutter.begin_triangle(self.guard.corners.map(|corner| face.see_point(corner)));
        out.cutter.cut_by_box(&face);
        fill(out, (outward, true), |at| face.foot(at), limits, witness);
    }

    /// The points of the face of the box square to `axis` that lie before the triangle.
    fn cut_box_face(
        &self,
        axis: usize,
        limits: (f64, f64),
        witness: Option<[Vec3; 2]>,
        out: &mut Facing,
    ) {
        let Guard { corners: [a, b, c], normal, .. } = self.guard;
        let outward = out.normal;
        // in the plane of the triangle: along its first edge, and square to that
        let Some(x) = (b - a).try_normalize() else { return };
        let y = normal.cross(x);
        let stretch = 1.0 / normal.dot(outward);
        let see = |vector: Vec3| {
            let separation = normal.dot(vector) * stretch;
            let foot = vector - outward * separation;
            Vec3::new(x.dot(foot), y.dot(foot), separation)
        };
        let side = |k: usize| Vec3::AXES[k] * self.half[k];
        let up = outward[axis] <= 0.0;
        let middle = if up { side(axis) } else { -side(axis) };
        let sides = [[1, 2, 0][axis], [2, 0, 1][axis]].map(|k| see(side(k)));
        out.cutter.begin_box((axis, up), see(middle - a), sides);
        let (length, u, v) = (x.dot(b - a), x.dot(c - a), y.dot(c - a));
        out.cutter.cut_by(|at| -at.y, 0);
        let side = ((length - u) * (length - u) + v * v).sqrt();
        out.cutter.cut_by(|at| (v * (at.x - length) + (length - u) * at.y) / side, 1);
        let side = (u * u + v * v).sqrt();
        out.cutter.cut_by(|at| (u * at.y - v * at.x) / side, 2);
        fill(out, (outward, false), |at| a + x * at.x + y * at.y, limits, witness);
    }
}

/// Fills in the points that hold best of what was cut, seen along a vector from the reference face, which is
/// `on_box` or else the triangle.
fn fill(
    out: &mut Facing,
    (outward, on_box): (Vec3, bool),
    foot: impl Fn(Vec3) -> Vec3,
    limits: (f64, f64),
    witness: Option<[Vec3; 2]>,
) {
    let closest = witness.map(|[p, q]| (0.5 * (p + q), out.normal.dot(q - p)));
    let Chosen { indices, count, whole } = out.cutter.choose(outward, &foot, limits, closest);
    (out.count, out.whole) = (count, whole);
    for (point, &i) in out.points.iter_mut().zip(&indices[..count]) {
        *point = match (out.cutter.corners().get(i), witness, closest) {
            (Some(&Corner { at, id }), _, _) => {
                let (foot, separation) = (foot(at), at.z);
                let corner = foot + outward * separation;
                if on_box {
                    FacingPoint { on_a: corner, on_b: foot, separation, feature: ON_B | id }
                } else {
                    FacingPoint { on_a: foot, on_b: corner, separation, feature: id }
                }
            }
            (None, Some([on_a, on_b]), Some((_, separation))) => {
                FacingPoint { on_a, on_b, separation, feature: WITNESS }
            }
            _ => FacingPoint::default(),
        };
    }
}
