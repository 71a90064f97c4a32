//! Closest points of two segments: the cores of spheres and capsules.

use crate::math::Vec3;

/// Share of |d₁|²|d₂|² below which the squared sine between two directions is rounding.
const PARALLEL: f64 = 1e-14;
/// Share of a distance by which an end must be nearer than what faces it, on segments that are nearly parallel.
const NEARER: f64 = 1e-13;

/// The closest points of the segments between these ends, either of which may be a point.
pub(super) fn closest(one: [Vec3; 2], other: [Vec3; 2]) -> [Vec3; 2] {
    let ([a, a_end], [b, b_end]) = (one, other);
    let (along_a, along_b, between) = (a_end - a, b_end - b, a - b);
    let (aa, bb, ab) = (along_a.length_squared(), along_b.length_squared(), along_a.dot(along_b));
    let (to_a, to_b) = (along_a.dot(between), along_b.dot(between));
    let crossing = aa * bb - ab * ab;
    let crosses = crossing > PARALLEL * aa * bb;
    // nearest on the lines
    let first = if crosses { share(ab * to_b - to_a * bb, crossing) } else { share(-to_a, aa) };
    // what faces it on b, and again from there, as one of them may have been beyond an end
    let s = share(ab * first + to_b, bb);
    let t = share(ab * s - to_a, aa);
    let found = [a + t * along_a, b + s * along_b];
    if crosses {
        return found;
    }
    // without a crossing one of them is an end
    let of_a = one.map(|p| [p, nearest(p, other)]);
    let of_b = other.map(|q| [nearest(q, one), q]);
    let nearer = |best: [Vec3; 2], next: [Vec3; 2]| {
        let [old, new] = [best, next].map(|[p, q]| p.distance(q));
        if new < (1.0 - NEARER) * old { next } else { best }
    };
    of_a.into_iter().chain(of_b).fold(found, nearer)
}

/// part/of, from 0 to 1.
fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { (part / of).clamp(0.0, 1.0) } else { 0.0 }
}

/// The point of a segment that is nearest to another point.
fn nearest(to: Vec3, [from, end]: [Vec3; 2]) -> Vec3 {
    let along = end - from;
    from + share(along.dot(to - from), along.length_squared()) * along
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::unit;

    #[test]
    fn no_other_points_are_closer() {
        let mut draws = 0;
        let mut draw = || {
            draws += 1;
            2.0 * unit(7, draws, 0) - 1.0
        };
        let mut point = |size: f64| Vec3::new(draw(), draw(), draw()) * size;
        for i in 0..400 {
            let a = [point(1.0), point(1.0)];
            let b = match i % 4 {
                0 => [point(1.0), point(1.0)],
                // parallel, a point, nearly parallel
                1 => {
                    let by = point(1.0);
                    [a[0] + by, a[0] + by + (a[1] - a[0]) * 0.7]
                }
                2 => {
                    let at = point(1.0);
                    [at, at]
                }
                _ => {
                    let by = point(1.0);
                    [a[0] + by, a[1] + by + point(1e-9)]
                }
            };
            let [p, q] = closest(a, b);
            let found = p.distance(q);
            // each is the nearest of its segment to the other, which for convex sets is enough
            for (x, [from, to]) in [(p, b), (q, a)] {
                for k in 0..=200 {
                    let y = from.lerp(to, f64::from(k) / 200.0);
                    assert!(x.distance(y) > found - 1e-12, "{i}: {} after {found}", x.distance(y));
                }
            }
            for k in 0..=40 {
                let x = a[0].lerp(a[1], f64::from(k) / 40.0);
                for l in 0..=40 {
                    let y = b[0].lerp(b[1], f64::from(l) / 40.0);
                    assert!(x.distance(y) > found - 1e-12, "{i}: {} after {found}", x.distance(y));
                }
            }
        }
    }
}
