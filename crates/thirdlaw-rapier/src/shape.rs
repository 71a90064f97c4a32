//! Shapes of Rapier as Thirdlaw's, and the other way round.

use crate::{narrow, wide};
use parry3d_f64::shape::{Shape as WideShape, TypedShape as WideTyped};
use rapier3d::math::{Pose as Pose32, Rotation, Vector};
use rapier3d::prelude::{Shape as NarrowShape, SharedShape, TypedShape};
use thirdlaw::{Pose, Quat, Shape, Vec3};

/// Tolerance below which a placement counts as none.
const STILL: f64 = 1e-9;

/// A shape of Rapier, placed in its body's frame; `None` for kinds that Thirdlaw does not have.
pub fn widen(shape: &dyn NarrowShape, local: &Pose32) -> Option<Shape> {
    let rotation = local.rotation;
    let q = Quat::from_xyzw(
        f64::from(rotation.x),
        f64::from(rotation.y),
        f64::from(rotation.z),
        f64::from(rotation.w),
    );
    let pose = Pose::from_parts(wide(local.translation), q.normalize());
    place(solid(shape)?, &pose)
}

/// A shape moved in its own frame.
fn place(shape: Shape, pose: &Pose) -> Option<Shape> {
    let moved = pose.translation.length() > STILL || (pose.rotation.w.abs() - 1.0).abs() > STILL;
    if moved { Shape::compound(&[(*pose, shape)]).ok() } else { Some(shape) }
}

fn solid(shape: &dyn NarrowShape) -> Option<Shape> {
    let f = f64::from;
    match shape.as_typed_shape() {
        TypedShape::Ball(ball) => Shape::sphere(f(ball.radius)).ok(),
        TypedShape::Cuboid(cuboid) => Shape::cuboid(wide(cuboid.half_extents)).ok(),
        TypedShape::Capsule(capsule) => {
            let (a, b) = (wide(capsule.segment.a), wide(capsule.segment.b));
            let upright = Shape::capsule(0.5 * (b - a).length(), f(capsule.radius)).ok()?;
            let along = (b - a).try_normalize().unwrap_or(Vec3::Y);
            let turn = Quat::from_rotation_arc(Vec3::Y, along);
            place(upright, &Pose::from_parts(0.5 * (a + b), turn))
        }
        TypedShape::Cylinder(c) => Shape::cylinder(f(c.half_height), f(c.radius)).ok(),
        TypedShape::Cone(c) => Shape::cone(f(c.half_height), f(c.radius)).ok(),
        TypedShape::HalfSpace(plane) => Shape::half_space(wide(plane.normal)).ok(),
        TypedShape::ConvexPolyhedron(hull) => {
            let points: Vec<Vec3> = hull.points().iter().map(|p| wide(*p)).collect();
            Shape::convex_hull(&points).ok()
        }
        TypedShape::TriMesh(mesh) => {
            let vertices: Vec<Vec3> = mesh.vertices().iter().map(|p| wide(*p)).collect();
            Shape::mesh(&vertices, mesh.indices()).ok()
        }
        TypedShape::Compound(compound) => {
            let mut parts = Vec::new();
            for (local, part) in compound.shapes() {
                parts.push((Pose::IDENTITY, widen(&**part, local)?));
            }
            Shape::compound(&parts).ok()
        }
        _ => None,
    }
}

/// A shape of Thirdlaw in Rapier; `None` for what Rapier cannot build.
pub fn narrowed(shape: &dyn WideShape) -> Option<SharedShape> {
    let f = |x: f64| x as f32;
    Some(match shape.as_typed_shape() {
        WideTyped::Ball(ball) => SharedShape::ball(f(ball.radius)),
        WideTyped::Cuboid(c) => {
            let h = narrow(c.half_extents);
            SharedShape::cuboid(h.x, h.y, h.z)
        }
        WideTyped::Capsule(capsule) => {
            let (a, b) = (narrow(capsule.segment.a), narrow(capsule.segment.b));
            SharedShape::capsule(a, b, f(capsule.radius))
        }
        WideTyped::Cylinder(c) => SharedShape::cylinder(f(c.half_height), f(c.radius)),
        WideTyped::Cone(c) => SharedShape::cone(f(c.half_height), f(c.radius)),
        WideTyped::HalfSpace(plane) => SharedShape::halfspace(narrow(plane.normal)),
        WideTyped::ConvexPolyhedron(hull) => {
            let points: Vec<Vector> = hull.points().iter().map(|p| narrow(*p)).collect();
            SharedShape::convex_hull(&points)?
        }
        WideTyped::TriMesh(mesh) => {
            let vertices: Vec<Vector> = mesh.vertices().iter().map(|p| narrow(*p)).collect();
            SharedShape::trimesh(vertices, mesh.indices().to_vec()).ok()?
        }
        WideTyped::Compound(compound) => {
            let mut parts = Vec::new();
            for (local, part) in compound.shapes() {
                parts.push((narrow_pose(local), narrowed(&**part)?));
            }
            SharedShape::compound(parts)
        }
        _ => return None,
    })
}

/// A placement of Thirdlaw as Rapier's.
pub fn narrow_pose(pose: &Pose) -> Pose32 {
    let q = pose.rotation;
    let rotation = Rotation::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32).normalize();
    Pose32::from_parts(narrow(pose.translation), rotation)
}
