//! Nearest points of points, segments and triangles, as weights of their corners.

use crate::math::Vec3;

/// Squared sine below which edges count as parallel and triangles as without area.
const FLAT: f64 = 1e-18;

/// Weights of the corners of the point of a triangle that is nearest to `p`. Weights that are zero
/// are exactly zero: the nearest point then lies on an edge or a corner.
pub(crate) fn point_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let area = ab.cross(ac).length_squared();
    if area <= FLAT * ab.length_squared().max(ac.length_squared()).powi(2) {
        return point_outline(p, [a, b, c]);
    }
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    let (e1, e2) = (d4 - d3, d5 - d6);
    if va <= 0.0 && e1 >= 0.0 && e2 >= 0.0 {
        let w = e1 / (e1 + e2);
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    if sum <= 0.0 || sum.is_nan() {
        return point_outline(p, [a, b, c]);
    }
    let (v, w) = (vb / sum, vc / sum);
    [1.0 - v - w, v, w]
}

/// The same on the three edges alone.
fn point_outline(p: Vec3, corners: [Vec3; 3]) -> [f64; 3] {
    let mut best = [1.0, 0.0, 0.0];
    let mut least = f64::INFINITY;
    for k in 0..3 {
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        let t = point_segment(p, a, b);
        let distance = (a + (b - a) * t - p).length_squared();
        if distance < least {
            least = distance;
            best = [0.0; 3];
            best[k] = 1.0 - t;
            best[(k + 1) % 3] = t;
        }
    }
    best
}

/// Where on the segment from `a` to `b`, 0 to 1, the point nearest to `p` is.
pub(super) fn point_segment(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    let along = b - a;
    let length = along.length_squared();
    if length > 0.0 { ((p - a).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// Where on two segments, 0 to 1 on each, their nearest points are. Of parallel segments the middle
/// of the stretch where they lie side by side.
pub(crate) fn segment_segment([a, b]: [Vec3; 2], [c, d]: [Vec3; 2]) -> [f64; 2] {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    if uu <= 0.0 {
        return [0.0, point_segment(a, c, d)];
    }
    if vv <= 0.0 {
        return [point_segment(c, a, b), 0.0];
    }
    // |u×v|² from the cross product keeps the digits that uu·vv − uv² loses
    let cross = u.cross(v);
    let det = cross.length_squared();
    let s = if det > FLAT * uu * vv {
        // s = (v × w)·(u × v) / |u × v|²
        (v.cross(w).dot(cross) / det).clamp(0.0, 1.0)
    } else {
        let (s0, s1) = (-uw / uu, (uv - uw) / uu);
        let (lo, hi) = (s0.min(s1).clamp(0.0, 1.0), s0.max(s1).clamp(0.0, 1.0));
        0.5 * (lo + hi)
    };
    let t = (s * uv + vw) / vv;
    if t < 0.0 {
        [(-uw / uu).clamp(0.0, 1.0), 0.0]
    } else if t > 1.0 {
        [((uv - uw) / uu).clamp(0.0, 1.0), 1.0]
    } else {
        [s, t]
    }
}
