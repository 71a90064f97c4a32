//! Closest points of two convex cores [Gilbert et al. 1988], to the last digits.
//!
//! Works on the difference B − A: v, its point closest to the origin, is the vector from the
//! closest point of A to that of B. The library's version stops at half the digits of the distance,
//! which leaves a quarter of those of the normal: too few for contacts that must not jitter.

use super::piece::{Kind, Piece};
use super::segments;
use crate::math::Vec3;

/// Most support points asked for; round solids approach their answer, polyhedra reach it.
const ITERATIONS_MAX: usize = 96;

/// What was found about two cores.
#[derive(Clone, Copy, Debug)]
pub(super) enum Closest {
    /// The distance is surely more than the limit.
    Far,
    /// They overlap, or nearly.
    Touching,
    /// The closest points of a and b.
    Apart([Vec3; 2]),
}

/// A point of B − A and the two it comes from.
#[derive(Clone, Copy, Default)]
struct Corner {
    w: Vec3,
    a: Vec3,
    b: Vec3,
}

/// Up to four corners with the weights of the point closest to the origin.
#[derive(Clone, Copy, Default)]
struct Simplex {
    corners: [Corner; 4],
    weights: [f64; 4],
    count: usize,
}

/// Closest points of the cores of two pieces that are less than `limit` apart.
pub(super) fn closest_points(a: &Piece, b: &Piece, limit: f64) -> Closest {
    if let (Some(ends_a), Some(ends_b)) = (segment(a), segment(b)) {
        return of_segments(ends_a, ends_b, limit);
    }
    let corner = |v: Vec3| {
        let (a, b) = (a.support(v), b.support(-v));
        Corner { w: b - a, a, b }
    };
    let start = (b.center - a.center).try_normalize().unwrap_or(Vec3::Y);
    let mut simplex = Simplex::default();
    simplex.corners[0] = corner(start);
    simplex.weights[0] = 1.0;
    simplex.count = 1;
    let mut v = simplex.corners[0].w;
    let mut size = v.length();
    let mut certain = f64::NEG_INFINITY;
    for _ in 0..ITERATIONS_MAX {
        let distance = v.length();
        // below this the direction is made of rounding errors
        if distance <= 1e-12 * size {
            return Closest::Touching;
        }
        let next = corner(v);
        size = size.max(next.w.length());
        let bound = v.dot(next.w) / distance;
        certain = certain.max(bound);
        if bound > limit {
            return Closest::Far;
        }
        let known = simplex.corners[..simplex.count].iter().any(|c| c.w == next.w);
        if known || distance - bound <= 1e-15 * size {
            break;
        }
        let mut grown = simplex;
        grown.corners[grown.count] = next;
        grown.count += 1;
        let Some(nearer) = grown.reduced() else {
            // a plane that parts them is proof; then a flat simplex only seemed to hold the origin
            if certain > 1e-9 * size {
                break;
            }
            return Closest::Touching;
        };
        let u = nearer.point();
        if u.length_squared() >= v.length_squared() {
            break;
        }
        (simplex, v) = (nearer, u);
    }
    let (mut p, mut q) = (Vec3::ZERO, Vec3::ZERO);
    for k in 0..simplex.count {
        p += simplex.corners[k].a * simplex.weights[k];
        q += simplex.corners[k].b * simplex.weights[k];
    }
    Closest::Apart([p, q])
}

/// The ends of a core that is a segment or a point.
fn segment(piece: &Piece) -> Option<[Vec3; 2]> {
    match &piece.kind {
        Kind::Poly(poly) => match poly.vertices {
            [point] => Some([*point; 2]),
            [one, other] => Some([*one, *other]),
            _ => None,
        },
        _ => None,
    }
}

fn of_segments(a: [Vec3; 2], b: [Vec3; 2], limit: f64) -> Closest {
    let [p, q] = segments::closest(a, b);
    let distance = p.distance(q);
    let size = a.iter().flat_map(|a| b.iter().map(|b| a.distance(*b))).fold(0.0, f64::max);
    if distance > limit {
        Closest::Far
    } else if distance <= 1e-12 * size {
        Closest::Touching
    } else {
        Closest::Apart([p, q])
    }
}

impl Simplex {
    fn point(&self) -> Vec3 {
        (0..self.count).fold(Vec3::ZERO, |s, k| s + self.corners[k].w * self.weights[k])
    }

    /// The part that carries the point closest to the origin; none if the origin is inside.
    fn reduced(&self) -> Option<Simplex> {
        match self.count {
            2 => Some(self.segment([0, 1])),
            3 => Some(self.triangle([0, 1, 2])),
            4 => self.tetrahedron(),
            _ => Some(*self),
        }
    }

    fn part(&self, corners: &[usize], weights: &[f64]) -> Simplex {
        let mut out = Simplex::default();
        for (&k, &weight) in corners.iter().zip(weights) {
            out.corners[out.count] = self.corners[k];
            out.weights[out.count] = weight;
            out.count += 1;
        }
        out
    }

    fn segment(&self, [i, j]: [usize; 2]) -> Simplex {
        let (a, b) = (self.corners[i].w, self.corners[j].w);
        let ab = b - a;
        let (t, length) = (-a.dot(ab), ab.length_squared());
        if t <= 0.0 {
            self.part(&[i], &[1.0])
        } else if t >= length {
            self.part(&[j], &[1.0])
        } else {
            self.part(&[i, j], &[1.0 - t / length, t / length])
        }
    }

    fn triangle(&self, [i, j, k]: [usize; 3]) -> Simplex {
        let [a, b, c] = [i, j, k].map(|x| self.corners[x].w);
        let normal = (b - a).cross(c - a);
        let area = normal.length_squared();
        // weights of the projection of the origin as signed areas, from differences of corners so
        // that slivers far from the origin keep their digits
        let weights = [
            normal.dot((b - c).cross(b)),
            normal.dot((c - a).cross(c)),
            normal.dot((a - b).cross(a)),
        ];
        if area > 0.0 && weights.iter().all(|&w| w > 0.0) {
            let sum = weights[0] + weights[1] + weights[2];
            return self.part(&[i, j, k], &weights.map(|w| w / sum));
        }
        let edges = [[i, j], [j, k], [k, i]].map(|e| self.segment(e));
        nearest(&edges)
    }

    fn tetrahedron(&self) -> Option<Simplex> {
        let mut best: Option<Simplex> = None;
        let mut inside = true;
        for face in [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1], [1, 3, 2, 0]] {
            let [a, b, c, d] = face.map(|x| self.corners[x].w);
            let normal = (b - a).cross(c - a);
            let (origin, other) = (-normal.dot(a), normal.dot(d - a));
            // the origin is on the far side of this face, or the tetrahedron is flat
            let flat = other.abs() <= 1e-14 * normal.length() * (d - a).length();
            if flat || origin * other < 0.0 {
                inside = false;
                let candidate = self.triangle([face[0], face[1], face[2]]);
                let closer =
                    |s: &Simplex| candidate.point().length_squared() < s.point().length_squared();
                if best.as_ref().is_none_or(closer) {
                    best = Some(candidate);
                }
            }
        }
        if inside { None } else { best }
    }
}

fn nearest(options: &[Simplex; 3]) -> Simplex {
    let mut best = options[0];
    for option in &options[1..] {
        if option.point().length_squared() < best.point().length_squared() {
            best = *option;
        }
    }
    best
}
