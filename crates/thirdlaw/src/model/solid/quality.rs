//! How good a mesh of tetrahedra is.

use super::{SolidMesh, volume};
use crate::math::Vec3;

/// What decides how well a mesh can be simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshQuality {
    /// Smallest angle between two faces of a tetrahedron, degrees.
    pub smallest_angle: f64,
    /// Largest one, degrees.
    pub largest_angle: f64,
    /// The tetrahedron with the smallest angle.
    pub worst: usize,
    /// Of the smallest tetrahedron, m³; negative if one is inverted.
    pub smallest_volume: f64,
    /// Of all together, m³.
    pub volume: f64,
}

impl SolidMesh {
    /// Measures all tetrahedra.
    pub fn quality(&self) -> MeshQuality {
        let mut found = MeshQuality {
            smallest_angle: 180.0,
            largest_angle: 0.0,
            worst: 0,
            smallest_volume: f64::INFINITY,
            volume: 0.0,
        };
        for (i, t) in self.tetrahedra.iter().enumerate() {
            let own = volume(&self.positions, t);
            found.volume += own;
            found.smallest_volume = found.smallest_volume.min(own);
            for angle in dihedral_angles(t.map(|v| self.positions[v as usize])) {
                if angle < found.smallest_angle {
                    (found.smallest_angle, found.worst) = (angle, i);
                }
                found.largest_angle = found.largest_angle.max(angle);
            }
        }
        found
    }
}

/// Angles between faces at the six edges, degrees.
fn dihedral_angles(x: [Vec3; 4]) -> [f64; 6] {
    const EDGES: [[usize; 4]; 6] =
        [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];
    EDGES.map(|[a, b, c, d]| {
        let along = x[b] - x[a];
        let (n, m) = (along.cross(x[c] - x[a]), along.cross(x[d] - x[a]));
        libm::atan2(n.cross(m).length(), n.dot(m)).to_degrees()
    })
}
