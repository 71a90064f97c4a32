//! Polygons as triangles.

use thirdlaw::math::Vec3;

/// Polygons with more corners are cut from their first corner alone.
const SEARCHED: usize = 64;

/// The corners of a polygon, as positions in its list, cut into a fan of triangles that all face the
/// same way; `None` where no corner gives such a fan.
pub fn fan(points: &[Vec3]) -> Option<Vec<[usize; 3]>> {
    let n = points.len();
    if n == 3 {
        return Some(vec![[0, 1, 2]]);
    }
    let edges = (0..n).map(|k| (points[k], points[(k + 1) % n]));
    // twice the area along the normal, right for polygons that are not quite flat too
    let normal: Vec3 = edges.map(|(a, b)| (a - points[0]).cross(b - points[0])).sum();
    let slack = 1e-9 * normal.length_squared();
    let faces_outward = |&[a, b, c]: &[usize; 3]| {
        let area = (points[b] - points[a]).cross(points[c] - points[a]);
        let along = area.dot(normal);
        // what overflows has no side
        along >= -slack || along.is_nan()
    };
    let starts = if n <= SEARCHED { n } else { 1 };
    (0..starts).find_map(|start| {
        let corner = |k: usize| (start + k) % n;
        let triangles: Vec<[usize; 3]> =
            (1..n - 1).map(|k| [corner(0), corner(k), corner(k + 1)]).collect();
        triangles.iter().all(faces_outward).then_some(triangles)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(points: &[[f64; 2]]) -> Vec<Vec3> {
        points.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect()
    }

    #[test]
    fn a_dented_quad_is_cut_from_its_dent() {
        let dart = flat(&[[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.5, 1.0]]);
        let triangles = fan(&dart).unwrap();
        for [a, b, c] in triangles {
            assert!((dart[b] - dart[a]).cross(dart[c] - dart[a]).z > 0.0, "{a} {b} {c}");
        }
    }

    #[test]
    fn a_star_is_refused() {
        let star: Vec<[f64; 2]> = (0..10)
            .map(|k| {
                let (angle, r) = (0.628_318 * k as f64, if k % 2 == 0 { 1.0 } else { 0.2 });
                [r * libm::cos(angle), r * libm::sin(angle)]
            })
            .collect();
        assert_eq!(fan(&flat(&star)), None);
    }

    #[test]
    fn the_area_is_kept() {
        let pentagon = flat(&[[0.0, 0.0], [2.0, 0.0], [3.0, 1.0], [1.0, 3.0], [0.0, 2.0]]);
        let area = |t: &[usize; 3]| {
            let [a, b, c] = t.map(|k| pentagon[k]);
            0.5 * (b - a).cross(c - a).z
        };
        let sum: f64 = fan(&pentagon).unwrap().iter().map(area).sum();
        assert!((sum - 6.0).abs() < 1e-12, "{sum}");
    }
}
