//! A box on a mesh: which triangles it may touch, since what their bounds leave is mostly beside or above
//! them, and what it has in common with these.

use super::box_triangle::BoxTriangle;
use super::boxes_clip::Facing;
use super::piece::Guard;
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::shape::{Aabb, Mesh, MeshEdge};
use crate::state::contact::ON_B;

/// A box against a mesh.
pub(super) struct BoxOnMesh {
    /// From axes of the mesh to those of the box.
    to_box: Mat3,
    /// From the centre of the box to the origin of the mesh, in axes of the mesh, m.
    between: Vec3,
    half: Vec3,
    margin: f64,
}

/// A triangle in the axes of the box, from its centre.
#[derive(Clone, Copy)]
struct Triangle {
    corners: [Vec3; 3],
    normal: Vec3,
}

impl BoxOnMesh {
    /// A box at the origin with an orientation, and where a mesh is that is not turned.
    pub fn new(half: Vec3, rotation: Quat, mesh: &Pose, margin: f64) -> BoxOnMesh {
        BoxOnMesh::with_axes(half, &Mat3::from_quat(rotation), mesh.translation, margin)
    }

    /// A box with its axes, and from its centre to the origin of a mesh, in axes of the mesh.
    pub fn with_axes(half: Vec3, axes: &Mat3, between: Vec3, margin: f64) -> BoxOnMesh {
        BoxOnMesh { to_box: axes.transpose(), between, half, margin }
    }

    /// Fills `found` with the triangles whose boxes are within the margin, in order.
    pub fn candidates(&self, mesh: &Mesh, found: &mut Vec<u32>) {
        let along = |k: usize| self.half.dot(self.to_box.col(k).abs()) + self.margin.max(0.0);
        let extent = Vec3::new(along(0), along(1), along(2));
        let around = Aabb::new(-self.between - extent, extent - self.between);
        found.clear();
        found.extend(mesh.bvh.intersect_aabb(&around));
        found.sort_unstable();
    }

    /// Whether no plane is found that parts the box from a triangle by more than the margin, and the box
    /// is not wholly behind the triangle.
    pub fn may_touch(&self, mesh: &Mesh, triangle: usize) -> bool {
        self.is_near(&self.place(mesh, triangle))
    }

    fn is_near(&self, &Triangle { corners: [a, b, c], normal: n }: &Triangle) -> bool {
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

    /// Fills `out` with what a triangle, its side a, has in common with the box, in axes of the mesh from
    /// its origin and of the box from its centre; says whether that is anything.
    pub fn touch(&self, mesh: &Mesh, triangle: usize, out: &mut Facing) -> bool {
        let placed = self.place(mesh, triangle);
        if !self.is_near(&placed) {
            return false;
        }
        // one by one: mapping the array would copy it twice
        let edge = |k: usize| match mesh.edges[triangle][k] {
            MeshEdge::Convex { normal, inward } => {
                MeshEdge::Convex { normal: self.to_box * normal, inward: self.to_box * inward }
            }
            other => other,
        };
        let edges = [edge(0), edge(1), edge(2)];
        let guard = Guard { corners: placed.corners, normal: placed.normal, edges };
        let own = BoxTriangle { half: self.half, guard }.touch(self.margin, out);
        let to_mesh = self.to_box.transpose();
        // normals of the mesh are what they are, not turned there and back
        let own = own.and_then(|own| match own.checked_sub(1).map(|k| mesh.edges[triangle][k]) {
            None => Some(mesh.normals[triangle]),
            Some(MeshEdge::Convex { normal, .. }) => Some(normal),
            _ => None,
        });
        out.normal = own.unwrap_or_else(|| to_mesh * out.normal);
        for point in &mut out.points[..out.count] {
            point.on_a = to_mesh * point.on_a - self.between;
        }
        // a triangle has no back
        out.count > 0 && mesh.normals[triangle].dot(out.normal) > -1e-6
    }

    /// How wide a plane parts the box from a triangle, m. A box wholly behind one counts as far from it
    /// as it would have to go to be otherwise, and `rest` more.
    pub fn clearance(&self, mesh: &Mesh, triangle: usize, rest: f64) -> f64 {
        let Triangle { corners: [a, b, c], normal: n } = self.place(mesh, triangle);
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

    fn place(&self, mesh: &Mesh, triangle: usize) -> Triangle {
        // what is far away cancels before it is turned
        let corners = mesh.corners(triangle).map(|corner| self.to_box * (corner + self.between));
        Triangle { corners, normal: self.to_box * mesh.normals[triangle] }
    }
}

impl Facing {
    /// The same with both sides exchanged.
    pub fn flip(&mut self) {
        self.normal = -self.normal;
        for point in &mut self.points[..self.count] {
            (point.on_a, point.on_b) = (point.on_b, point.on_a);
            point.feature ^= ON_B;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::tests::Dice;
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
