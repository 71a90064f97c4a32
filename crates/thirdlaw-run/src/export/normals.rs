//! Smooth normals that keep creases, as pictures have them.
//!
//! A corner's normal is the sum of the unit normals of the faces around its vertex, weighted by their
//! angle there (thürmer1998), over those faces that deviate by less than the crease angle from the
//! corner's own face. The ray tracer has the same rule; it is written here again so that an export does
//! not need the ray tracer, and a test holds the two together.

use glamx::Vec3;
use std::collections::HashMap;

/// Cosine of the crease angle, 35°.
const CREASE: f32 = 0.819_152;

/// Unit normals of the corners of each triangle; those of its face where `flat`. Zero where a triangle
/// has no area.
pub fn corner_normals(
    vertices: &[[f32; 3]],
    triangles: &[[u32; 3]],
    flat: bool,
) -> Vec<[[f32; 3]; 3]> {
    let vertex = |i: u32| vertices.get(i as usize).map_or(Vec3::ZERO, |v| Vec3::from(*v));
    let corners: Vec<[Vec3; 3]> = triangles.iter().map(|t| t.map(vertex)).collect();
    let normals = match flat {
        true => corners.iter().map(|t| [face_normal(t); 3]).collect(),
        false => smooth_normals(&corners),
    };
    normals.into_iter().map(|t| t.map(|n| n.to_array())).collect()
}

fn smooth_normals(corners: &[[Vec3; 3]]) -> Vec<[Vec3; 3]> {
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
            around[*slot] = (face as u32, angle(&corners[face], k));
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
                    if faces[other as usize].dot(faces[face]) > CREASE {
                        sum += faces[other as usize] * angle;
                    }
                }
                sum.try_normalize().unwrap_or(faces[face])
            })
        })
        .collect()
}

/// Unit normal of a triangle; zero where it has no area.
fn face_normal(corners: &[Vec3; 3]) -> Vec3 {
    let [a, b, c] = *corners;
    (b - a).cross(c - a).normalize_or_zero()
}

fn angle(corners: &[Vec3; 3], k: usize) -> f32 {
    let p = corners[k];
    let u = (corners[(k + 1) % 3] - p).normalize_or_zero();
    let v = (corners[(k + 2) % 3] - p).normalize_or_zero();
    libm::acosf(u.dot(v).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thirdlaw::Shape;

    fn surface() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
        let (vertices, triangles) = Shape::cylinder(0.5, 0.2).unwrap().surface(16);
        (vertices.iter().map(|v| v.as_vec3().to_array()).collect(), triangles)
    }

    #[test]
    fn a_cylinder_is_round_with_a_crisp_rim() {
        let (vertices, triangles) = surface();
        let normals = corner_normals(&vertices, &triangles, false);
        let along = |n: &[f32; 3]| n[1].abs() > 0.999;
        let around = |n: &[f32; 3]| n[1].abs() < 0.001;
        assert!(normals.iter().flatten().all(|n| along(n) || around(n)));
    }

    #[cfg(feature = "pictures")]
    #[test]
    fn normals_are_those_of_pictures() {
        let (vertices, triangles) = surface();
        for flat in [false, true] {
            let ours = corner_normals(&vertices, &triangles, flat);
            let (vertices, triangles) = (vertices.clone(), triangles.clone());
            let smooth = !flat;
            let mesh =
                thirdlaw_render::SurfaceMesh { vertices, triangles, smooth, two_sided: false };
            assert_eq!(ours, mesh.corner_normals());
        }
    }
}
