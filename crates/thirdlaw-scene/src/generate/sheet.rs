//! A rectangle of cloth of exactly so many triangles, as papers count them.
//!
//! Rows of evenly spread vertices; neighbouring rows may differ by one, and the strip between two rows
//! of a and b vertices has a + b − 2 triangles.

use thirdlaw::math::Vec3;
use thirdlaw::{ClothError, ClothMesh};

/// More triangles than this are a slip of the keyboard.
const TRIANGLES_MAX: usize = 10_000_000;

/// A rectangle in the xz plane, `size` (x, z) metres, centred on the origin; warp along x.
pub fn sheet(triangles: usize, size: [f64; 2]) -> Result<ClothMesh, ClothError> {
    if !(2..=TRIANGLES_MAX).contains(&triangles) {
        let problem = format!("must be from 2 to {TRIANGLES_MAX}, not {triangles}");
        return Err(ClothError::Value { field: "triangles", problem });
    }
    let rows = row_counts(triangles, size);
    let (mut positions, mut corners) = (Vec::new(), Vec::with_capacity(triangles));
    let mut first = 0;
    for (i, &count) in rows.iter().enumerate() {
        let v = (i as f64 / (rows.len() - 1) as f64 - 0.5) * size[1];
        for k in 0..count {
            let u = (k as f64 / (count - 1) as f64 - 0.5) * size[0];
            positions.push(Vec3::new(u, 0.0, v));
        }
        if let Some(&next) = rows.get(i + 1) {
            strip((first, count), (first + count, next), &mut corners);
        }
        first += count;
    }
    let coordinates: Vec<[f64; 2]> = positions.iter().map(|p: &Vec3| [p.x, p.z]).collect();
    ClothMesh::with_coordinates(positions, corners, &coordinates)
}

/// Vertices of each row: triangles about as high as wide, and the wanted number of them.
fn row_counts(triangles: usize, [width, height]: [f64; 2]) -> Vec<usize> {
    // of an equilateral triangle of side e: area √3/4 e², height √3/2 e
    let side = (width * height / triangles as f64 * 4.0 / 3.0_f64.sqrt()).sqrt();
    let strips = (height / (0.5 * 3.0_f64.sqrt() * side)).round();
    let strips = (strips as usize).clamp(1, triangles / 2);
    let cells = triangles / (2 * strips);
    let left = triangles - 2 * strips * cells;
    // one vertex more makes two triangles, in the last row one
    let mut rows = vec![cells + 1; strips + 1];
    rows[strips] += left % 2;
    let more = left / 2;
    for k in 0..more {
        rows[1 + k * (strips - 1) / more] += 1;
    }
    rows
}

/// The triangles between two rows, each a first vertex and a count.
fn strip((a, a_count): (usize, usize), (b, b_count): (usize, usize), out: &mut Vec<[u32; 3]>) {
    let (mut i, mut j) = (0, 0);
    while i + 1 < a_count || j + 1 < b_count {
        // the row whose next vertex comes first goes on
        let on_a = (i + 1) * (b_count - 1) <= (j + 1) * (a_count - 1) && i + 1 < a_count;
        let (p, q) = ((a + i) as u32, (b + j) as u32);
        if on_a || j + 1 == b_count {
            out.push([p, q, p + 1]);
            i += 1;
        } else {
            out.push([p, q, q + 1]);
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_triangles_that_were_asked_for_and_covers_the_rectangle() {
        for (count, size) in [
            (2, [1.0, 1.0]),
            (3, [1.0, 1.0]),
            (5054, [2.0, 2.0]),
            (5802, [3.0, 1.5]),
            (97, [0.1, 9.0]),
        ] {
            let mesh = sheet(count, size).unwrap();
            assert_eq!(mesh.triangles.len(), count);
            let mut area = 0.0;
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
                let normal = (b - a).cross(c - a);
                assert!(normal.y > 0.0, "{count}: {t:?} faces down");
                area += 0.5 * normal.y;
            }
            assert!((area - size[0] * size[1]).abs() < 1e-9, "{count}: {area}");
        }
        assert!(sheet(1, [1.0, 1.0]).is_err());
    }
}
