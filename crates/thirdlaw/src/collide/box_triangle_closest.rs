//! The closest points of a box and a triangle, without iterating.
//!
//! Either the lowest corner of the box is straight above the triangle, or one of the closest points lies on
//! an edge of the triangle. Along an edge the squared distance from the box is convex and made of
//! parabolas, which meet where the edge passes the planes of faces.

use crate::math::Vec3;

/// The closest points on a triangle and on a box with half extents `half` about the origin. None if they
/// touch, or are more than `limit` apart; the box must not lie wholly behind the triangle.
pub(super) fn closest_points(
    half: Vec3,
    corners: [Vec3; 3],
    normal: Vec3,
    limit: f64,
) -> Option<[Vec3; 2]> {
    let mut best = (f64::INFINITY, [Vec3::ZERO; 2]);
    let mut consider = |p: Vec3, q: Vec3| {
        let squared = p.distance_squared(q);
        if squared < best.0 {
            best = (squared, [p, q]);
        }
    };
    for k in 0..3 {
        let (from, along) = (corners[k], corners[(k + 1) % 3] - corners[k]);
        let p = from + along * nearest_along(half, from, along);
        consider(p, p.clamp(-half, half));
    }
    // the corners of the box that are farthest behind and before the triangle
    let toward = |x: f64, half: f64| if x < 0.0 { -half } else { half };
    let front =
        Vec3::new(toward(normal.x, half.x), toward(normal.y, half.y), toward(normal.z, half.z));
    let level = normal.dot(corners[0]);
    let reach = normal.dot(front);
    let (low, high) = (-reach - level, reach - level);
    if low > 0.0 {
        let foot = -front - normal * low;
        if is_inside(foot, corners, normal) {
            consider(foot, -front);
        }
    } else if high > low {
        // the plane cuts the box; as no edge does, the cut is wholly within the triangle or wholly beside it
        let cut = front * ((high + low) / (low - high));
        if is_inside(cut, corners, normal) {
            return None;
        }
    }
    let (squared, points) = best;
    let size = half.max_element();
    (squared > 1e-24 * size * size && squared <= limit * limit).then_some(points)
}

/// Where, from 0 at `from` to 1 at the end of `along`, a segment is nearest to the box.
fn nearest_along(half: Vec3, from: Vec3, along: Vec3) -> f64 {
    // half the slope of the squared distance, which never falls
    let slope = |t: f64| {
        let p = from + along * t;
        along.dot(p - p.clamp(-half, half))
    };
    let (mut low, mut high) = (0.0, 1.0);
    if slope(low) >= 0.0 {
        return low;
    }
    if slope(high) <= 0.0 {
        return high;
    }
    for k in (0..3).filter(|&k| along[k] != 0.0) {
        for face in [-half[k], half[k]] {
            let t = (face - from[k]) / along[k];
            if low < t && t < high {
                let end = if slope(t) < 0.0 { &mut low } else { &mut high };
                *end = t;
            }
        }
    }
    // no plane is passed from here to there: one parabola
    let middle = from + along * (0.5 * (low + high));
    let (mut falls, mut bends) = (0.0, 0.0);
    for k in 0..3 {
        if middle[k].abs() > half[k] {
            let face = if middle[k] < 0.0 { -half[k] } else { half[k] };
            falls += along[k] * (face - from[k]);
            bends += along[k] * along[k];
        }
    }
    if bends > 0.0 { (falls / bends).clamp(low, high) } else { low }
}

/// Whether a point in the plane of a triangle lies in it.
fn is_inside(p: Vec3, corners: [Vec3; 3], normal: Vec3) -> bool {
    (0..3).all(|k| {
        let (from, to) = (corners[k], corners[(k + 1) % 3]);
        (to - from).cross(normal).dot(p - from) <= 0.0
    })
}
