//! Closed surfaces of revolution about the x axis: bodies of animals.

use thirdlaw::math::Vec3;

/// A closed surface through circles of given radii at places along x, scaled across by `flat` (y, z). The first
/// and the last place are its tips, whatever radius they have.
pub fn lathe(profile: &[[f64; 2]], flat: [f64; 2], around: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let [Some(first), Some(last)] = [profile.first(), profile.last()] else {
        return (vertices, triangles);
    };
    let inner = &profile[1..profile.len() - 1];
    vertices.push(Vec3::new(first[0], 0.0, 0.0));
    for [x, radius] in inner {
        for i in 0..around {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(around);
            let (y, z) = (radius * libm::cos(angle), radius * libm::sin(angle));
            vertices.push(Vec3::new(*x, flat[0] * y, flat[1] * z));
        }
    }
    vertices.push(Vec3::new(last[0], 0.0, 0.0));
    let rings = inner.len() as u32;
    let at = |ring: u32, i: u32| 1 + ring * around + i % around;
    let tip = 1 + rings * around;
    for i in 0..around {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for ring in 1..rings {
            let (a, b) = (at(ring - 1, i), at(ring - 1, i + 1));
            let (c, d) = (at(ring, i), at(ring, i + 1));
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        triangles.push([at(rings - 1, i), at(rings - 1, i + 1), tip]);
    }
    (vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lathed_cone_is_closed_and_points_out() {
        let (vertices, triangles) = lathe(&[[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [1.0, 0.5], 64);
        let volume: f64 = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| vertices[i as usize]);
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        // two cones over an ellipse
        let exact = 2.0 / 3.0 * std::f64::consts::PI * 0.5;
        assert!((volume - exact).abs() < 0.005 * exact, "{volume} {exact}");
    }
}
