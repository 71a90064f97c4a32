//! Closest points of two segments: the cores of spheres and capsules.

use crate::math::Vec3;

/// Share of |d₁|²|d₂|² below which the squared sine between two directions is rounding.
const PARALLEL: f64 = 1e-14;

/// The closest points of the segments between these ends, either of which may be a point.
pub(super) fn closest([a, a_end]: [Vec3; 2], [b, b_end]: [Vec3; 2]) -> [Vec3; 2] {
    let (along_a, along_b, between) = (a_end - a, b_end - b, a - b);
    let (aa, bb, ab) = (along_a.length_squared(), along_b.length_squared(), along_a.dot(along_b));
    let (to_a, to_b) = (along_a.dot(between), along_b.dot(between));
    let share = |part: f64, of: f64| if of > 0.0 { (part / of).clamp(0.0, 1.0) } else { 0.0 };
    let crossing = aa * bb - ab * ab;
    // nearest on the lines; on parallel ones any point is
    let first = match crossing > PARALLEL * aa * bb {
        true => share(ab * to_b - to_a * bb, crossing),
        false => share(-to_a, aa),
    };
    // what faces it on b, and again from there, as one of them may have been beyond an end
    let s = share(ab * first + to_b, bb);
    let t = share(ab * s - to_a, aa);
    [a + t * along_a, b + s * along_b]
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
