//! Boxes of cells of five tetrahedra.

use super::{SolidMesh, volume};
use crate::math::Vec3;
use crate::model::deformable::DeformableError;

/// More cells than this are a slip of the keyboard.
const CELLS_MAX: u64 = 10_000_000;

impl SolidMesh {
    /// A box of this size (m) about the origin, of so many cells along x, y and z. A cell is one regular
    /// tetrahedron between four of its corners and one at each of the others; neighbours are mirrored.
    /// Vertices run along x, then y, then z.
    pub fn block(size: Vec3, cells: [u32; 3]) -> Result<SolidMesh, DeformableError> {
        let value = |field, problem: &str| {
            Err(DeformableError::Value { field, problem: problem.to_string() })
        };
        if !(size.is_finite() && size.min_element() > 0.0) {
            return value("size", "must be above 0 along every axis");
        }
        let count: u64 = cells.iter().map(|&n| u64::from(n)).product();
        if count == 0 || cells.iter().any(|&n| u64::from(n) > CELLS_MAX) || count > CELLS_MAX {
            return value("cells", "must be at least 1 along every axis, and 10 million at most");
        }
        let corners = cells.map(|n| n + 1);
        let mut mesh = SolidMesh::default();
        for k in 0..corners[2] {
            for j in 0..corners[1] {
                for i in 0..corners[0] {
                    let part = Vec3::from_array(
                        [0, 1, 2].map(|a| f64::from([i, j, k][a]) / f64::from(cells[a]) - 0.5),
                    );
                    mesh.positions.push(part * size);
                }
            }
        }
        let index = |[i, j, k]: [u32; 3]| i + corners[0] * (j + corners[1] * k);
        for k in 0..cells[2] {
            for j in 0..cells[1] {
                for i in 0..cells[0] {
                    let odd = (i + j + k) % 2;
                    // bit a of a corner: whether it is at the far end along axis a, mirrored in odd cells
                    let corner = |bits: u32| {
                        let bits = bits ^ odd;
                        index([i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2 & 1)])
                    };
                    for t in [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]]
                    {
                        let t = t.map(corner);
                        let [a, b, c, d] = t;
                        let upright = volume(&mesh.positions, &t) > 0.0;
                        mesh.tetrahedra.push(if upright { t } else { [a, c, b, d] });
                    }
                }
            }
        }
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_fills_its_box_and_has_a_closed_surface() {
        let mesh = SolidMesh::block(Vec3::new(2.0, 0.5, 0.5), [20, 7, 7]).unwrap();
        assert_eq!(mesh.tetrahedra.len(), 4900);
        assert!((mesh.volume() - 0.5).abs() < 1e-12);
        assert!(mesh.tetrahedra.iter().all(|t| volume(&mesh.positions, t) > 0.0));
        let surface = mesh.surface();
        assert_eq!(surface.len(), 2 * 2 * (20 * 7 + 20 * 7 + 7 * 7));
        // outward: the surface encloses the same volume by Gauss' theorem
        let x = |i: u32| mesh.positions[i as usize];
        let enclosed: f64 = surface.iter().map(|&[a, b, c]| x(a).dot(x(b).cross(x(c))) / 6.0).sum();
        assert!((enclosed - 0.5).abs() < 1e-12, "{enclosed}");
        assert!(SolidMesh::block(Vec3::ONE, [1, 0, 1]).is_err());
        assert!(SolidMesh::block(Vec3::new(1.0, -1.0, 1.0), [1, 1, 1]).is_err());
    }
}
