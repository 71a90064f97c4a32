//! Smooth normals that keep creases.
//!
//! A corner's normal is the sum of the unit normals of the faces around its
//! vertex, weighted by their angle there (thürmer1998), over those faces that
//! deviate by less than the crease angle from the corner's own face. Vertices at
//! the same position count as one, so meshes with split vertices shade alike.

use std::collections::HashMap;

use glamx::Vec3;

/// Cosine of the crease angle, 35°.
pub(crate) const CREASE: f32 = 0.819_152;

/// Unit normals of the three corners of each triangle; faces whose normals make an angle of a cosine
/// below `crease` are kept apart.
pub(crate) fn corner_normals(corners: &[[Vec3; 3]], crease: f32) -> Vec<[Vec3; 3]> {
    let faces: Vec<Vec3> = corners.iter().map(face_normal).collect();
    let mut vertex_of: HashMap<[u32; 3], u32> = HashMap::with_capacity(corners.len());
    let mut vertices = Vec::with_capacity(corners.len());
    for triangle in corners {
        vertices.push(triangle.map(|p| {
            // Adding zero makes −0 and 0 the same key.
            let key = (p + Vec3::ZERO).to_array().map(f32::to_bits);
            let next = vertex_of.len() as u32;
            *vertex_of.entry(key).or_insert(next)
        }));
    }

    // Faces around each vertex, as one flat list with a start per vertex.
    let mut start = vec![0usize; vertex_of.len() + 1];
    for vertex in vertices.iter().flatten() {
        start[*vertex as usize + 1] += 1;
    }
    for k in 1..start.len() {
        start[k] += start[k - 1];
    }
    let mut fill = start.clone();
    let mut around = vec![(0u32, 0.0f32); 3 * corners.len()];
    for (face, triangle) in vertices.iter().enumerate() {
        for (k, &vertex) in triangle.iter().enumerate() {
            let slot = &mut fill[vertex as usize];
            around[*slot] = (face as u32, corner_angle(&corners[face], k));
            *slot += 1;
        }
    }

    vertices
        .iter()
        .enumerate()
        .map(|(face, triangle)| {
            triangle.map(|vertex| {
                let mut sum = Vec3::ZERO;
                for &(other, angle) in &around[start[vertex as usize]..start[vertex as usize + 1]] {
                    if faces[other as usize].dot(faces[face]) > crease {
                        sum += faces[other as usize] * angle;
                    }
                }
                sum.try_normalize().unwrap_or(faces[face])
            })
        })
        .collect()
}

/// Unit normal of a triangle; zero where it has no area.
pub(crate) fn face_normal(corners: &[Vec3; 3]) -> Vec3 {
    let [a, b, c] = *corners;
    (b - a).cross(c - a).normalize_or_zero()
}

fn corner_angle(corners: &[Vec3; 3], k: usize) -> f32 {
    let p = corners[k];
    let u = (corners[(k + 1) % 3] - p).normalize_or_zero();
    let v = (corners[(k + 2) % 3] - p).normalize_or_zero();
    libm::acosf(u.dot(v).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two unit squares hinged at the z axis, the second turned down by `degrees`.
    fn hinge(degrees: f32) -> Vec<[Vec3; 3]> {
        let (sin, cos) = (libm::sinf(degrees.to_radians()), libm::cosf(degrees.to_radians()));
        let [a, b] = [Vec3::ZERO, Vec3::Z];
        let [c, d] = [Vec3::NEG_X, Vec3::NEG_X + Vec3::Z];
        let e = Vec3::new(cos, -sin, 0.0);
        let f = e + Vec3::Z;
        vec![[a, c, b], [c, d, b], [a, b, e], [b, f, e]]
    }

    #[test]
    fn shallow_edges_are_smooth_and_steep_ones_crisp() {
        let flat = corner_normals(&hinge(20.0), CREASE);
        let between = (flat[0][0] - flat[2][0]).length();
        assert!(between < 1e-5, "shared normal, {between}");
        assert!(flat[0][0].x > 0.1);
        let crisp = corner_normals(&hinge(50.0), CREASE);
        assert!((crisp[0][0] - Vec3::Y).length() < 1e-6);
        assert!(crisp[2][0].dot(Vec3::Y) < 0.7);
    }

    #[test]
    fn triangles_without_area_have_finite_normals() {
        let normals = corner_normals(&[[Vec3::ONE; 3]], CREASE);
        assert!(normals[0].iter().all(|n| n.is_finite()));
    }
}
