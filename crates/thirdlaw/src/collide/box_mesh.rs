//! Which triangles of a mesh a box may touch: what their bounds leave is mostly beside or above them.

use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::shape::Mesh;

/// A box against a mesh that is not turned.
pub(super) struct BoxOnMesh {
    /// To the axes of the box, and from its centre to the origin of the mesh there.
    to_box: Mat3,
    origin: Vec3,
    half: Vec3,
    margin: f64,
}

impl BoxOnMesh {
    /// A box at the origin with an orientation, and where the mesh is.
    pub fn new(half: Vec3, rotation: Quat, mesh: &Pose, margin: f64) -> BoxOnMesh {
        let to_box = Mat3::from_quat(rotation).transpose();
        BoxOnMesh { to_box, origin: to_box * mesh.translation, half, margin }
    }

    /// Whether no plane is found that parts the box from a triangle by more than the margin, and the box
    /// is not wholly behind the triangle.
    pub fn may_touch(&self, mesh: &Mesh, triangle: usize) -> bool {
        let (n, [a, b, c]) = self.place(mesh, triangle);
        let (height, reach) = (-n.dot(a), self.half.dot(n.abs()));
        if height - reach > self.margin || height + reach < 0.0 {
            return false;
        }
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        if (low - self.half).max(-high - self.half).max_element() > self.margin {
            return false;
        }
        [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| {
            let outward = (to - from).cross(n);
            let gap = -outward.dot(from) - self.half.dot(outward.abs());
            gap <= 0.0 || gap * gap <= self.margin * self.margin * outward.length_squared()
        })
    }

    /// How wide a plane parts the box from a triangle, m. A box wholly behind one counts as far from it
    /// as it would have to go to be otherwise, and `rest` more.
    pub fn clearance(&self, mesh: &Mesh, triangle: usize, rest: f64) -> f64 {
        let (n, [a, b, c]) = self.place(mesh, triangle);
        let (height, reach) = (-n.dot(a), self.half.dot(n.abs()));
        let behind = -height - reach;
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let mut most = (low - self.half).max(-high - self.half).max_element().max(height - reach);
        if behind > 0.0 {
            most = most.max(behind + rest);
        }
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let outward = (to - from).cross(n).normalize_or_zero();
            most = most.max(-outward.dot(from) - self.half.dot(outward.abs()));
        }
        most.max(0.0)
    }

    /// Normal and corners of a triangle in the axes of the box.
    fn place(&self, mesh: &Mesh, triangle: usize) -> (Vec3, [Vec3; 3]) {
        let corners = mesh.corners(triangle).map(|corner| self.origin + self.to_box * corner);
        (self.to_box * mesh.normals[triangle], corners)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use crate::math::rotation_from_vector;
    use crate::shape::{Geometry, Shape};
    use parry3d_f64::query::distance;
    use parry3d_f64::shape::{Cuboid, Triangle};

    /// No triangle is passed over that is within the margin and not behind; of those beyond, most are.
    #[test]
    fn only_triangles_beyond_the_margin_are_passed_over() {
        let mut dice = Dice(3);
        let heights: Vec<f64> = (0..36).map(|_| 0.4 * dice.roll()).collect();
        let hills = Shape::height_field(6, 6, &heights, Vec3::new(5.0, 1.0, 5.0)).unwrap();
        let Geometry::Mesh(mesh) = hills.geometry() else { panic!("a mesh") };
        let (mut near, mut passed, mut far) = (0, 0, 0);
        for _ in 0..400 {
            let half = Vec3::splat(0.1) + (dice.vector(0.2)).abs();
            let place = Pose::from_parts(dice.vector(1.2), Quat::IDENTITY);
            let rotation = rotation_from_vector(dice.vector(3.0));
            let pair = BoxOnMesh::new(half, rotation, &place, 0.02);
            for i in 0..mesh.normals.len() {
                let [a, b, c] = mesh.corners(i).map(|corner| corner + place.translation);
                let here = Pose::from_parts(Vec3::ZERO, rotation);
                let triangle = Triangle::new(a, b, c);
                let apart = distance(&here, &Cuboid::new(half), &Pose::IDENTITY, &triangle)
                    .unwrap()
                    .distance;
                let n = mesh.normals[i];
                let behind = half.dot((rotation.inverse() * n).abs()) < n.dot(a);
                let may = pair.may_touch(mesh, i);
                let clear = pair.clearance(mesh, i, 0.0);
                assert!(behind || clear <= apart + 1e-9, "triangle {i}: {clear} of {apart}");
                assert!(may || behind || clear > 0.02, "triangle {i}: {clear}");
                if apart <= 0.02 && !behind {
                    near += 1;
                    assert!(may, "triangle {i} at {apart} of {half:?} {rotation:?} {place:?}");
                } else {
                    far += 1;
                    passed += usize::from(!may);
                }
            }
        }
        assert!(near > 200 && passed * 20 > far * 19, "{near} {passed} {far}");
    }
}
