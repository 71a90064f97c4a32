//! Ropes, rods, springs and the wires of beads as things to draw; other joints are not seen.

use thirdlaw::math::tangents;
use thirdlaw::model::joint::curve::Curve;
use thirdlaw::{JointId, JointKind, Pose, Quat, Side, Vec3, World};
use thirdlaw_render::SurfaceMesh;
use thirdlaw_scene::Scene;

/// Around a wire.
const SIDES: u32 = 10;
/// Radius of a wire, as a part of the distance it is looked at from.
const THICKNESS: f64 = 0.0035;
/// Of a spring.
const COILS: u32 = 12;
const PIECES_PER_COIL: u32 = 12;
/// Radius of a spring's coils in radii of its wire.
const COIL: f64 = 4.0;
/// Between two points of a curve.
const PIECES: u32 = 12;
/// Of what the scene does not paint: steel.
const STEEL: [f32; 3] = [0.35, 0.36, 0.38];

/// Something long and thin between the sides of a joint.
pub struct Wire {
    joint: JointId,
    sides: [Side; 2],
    frames: [Pose; 2],
    form: Form,
    radius: f64,
    /// sRGB.
    pub color: [f32; 3],
}

enum Form {
    Straight,
    Coil,
    /// Points in the frame of the first side.
    Curve(Vec<Vec3>),
}

/// All wires of a scene that is looked at from `distance` (m).
pub fn wires(scene: &Scene, distance: f64) -> Vec<Wire> {
    let wire = |joint: &thirdlaw_scene::SceneJoint| {
        let form = match &scene.world.joint(joint.id).ok()?.joint.kind {
            JointKind::Distance { .. } => Form::Straight,
            JointKind::Spring { .. } => Form::Coil,
            JointKind::Curve { points, closed } => {
                let curve = Curve::new(points, *closed).ok()?;
                let count = PIECES * points.len() as u32;
                let at = |i: u32| curve.place(curve.span() * f64::from(i) / f64::from(count)).point;
                Form::Curve((0..=count).map(at).collect())
            }
            _ => return None,
        };
        Some(Wire {
            joint: joint.id,
            sides: joint.sides,
            frames: joint.frames,
            form,
            radius: THICKNESS * distance,
            color: joint.color.unwrap_or(STEEL),
        })
    };
    scene.joints.iter().filter_map(wire).collect()
}

impl Wire {
    /// Its surface as the world stands, from the given origin; `None` if it broke or has no length.
    pub fn mesh(&self, world: &World) -> Option<(Vec3, SurfaceMesh)> {
        if world.joint_reading(self.joint).ok()?.broken {
            return None;
        }
        let frames = [0, 1].map(|s| side_pose(world, self.sides[s]) * self.frames[s]);
        let (a, b) = (frames[0].translation, frames[1].translation);
        let points = match &self.form {
            Form::Straight => vec![Vec3::ZERO, b - a],
            Form::Coil => coil(b - a, COIL * self.radius),
            Form::Curve(points) => points.iter().map(|p| frames[0].rotation * *p).collect(),
        };
        Some((a, tube(&points, self.radius)?))
    }
}

fn side_pose(world: &World, side: Side) -> Pose {
    match side {
        Side::World => Pose::IDENTITY,
        Side::Body(id) => world.pose(id).unwrap_or(Pose::IDENTITY),
        Side::Point(id) => {
            let place = world.point(id).map_or(Vec3::ZERO, |p| p.position);
            Pose::from_parts(place, Quat::IDENTITY)
        }
    }
}

/// A helix from the origin to `end`, straight at both ends.
fn coil(end: Vec3, radius: f64) -> Vec<Vec3> {
    let Some(along) = end.try_normalize() else { return Vec::new() };
    let (u, v) = tangents(along);
    let count = COILS * PIECES_PER_COIL;
    let mut points = vec![Vec3::ZERO];
    for i in 0..=count {
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(PIECES_PER_COIL);
        let share = 0.05 + 0.9 * f64::from(i) / f64::from(count);
        points.push(share * end + radius * (libm::cos(angle) * u + libm::sin(angle) * v));
    }
    points.push(end);
    points
}

/// A tube along points; `None` if it has no length.
fn tube(points: &[Vec3], radius: f64) -> Option<SurfaceMesh> {
    let mut points: Vec<Vec3> = points.to_vec();
    points.dedup_by(|a, b| a.distance(*b) < 1e-9);
    if points.len() < 2 || points.iter().any(|p| !p.is_finite()) {
        return None;
    }
    let last = points.len() - 1;
    let direction = |i: usize| {
        let (before, after) = (points[i.saturating_sub(1)], points[(i + 1).min(last)]);
        (after - before).try_normalize().unwrap_or(Vec3::X)
    };
    let mut vertices = Vec::new();
    let (mut u, _) = tangents(direction(0));
    for (i, point) in points.iter().enumerate() {
        let along = direction(i);
        // carried along, so that the tube does not twist
        u = (u - along * along.dot(u)).try_normalize().unwrap_or_else(|| tangents(along).0);
        let v = along.cross(u);
        for k in 0..SIDES {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(SIDES);
            let vertex = *point + radius * (libm::cos(angle) * u + libm::sin(angle) * v);
            vertices.push(vertex.as_vec3().to_array());
        }
    }
    let mut triangles = Vec::new();
    for ring in 0..last as u32 {
        for k in 0..SIDES {
            let next = (k + 1) % SIDES;
            let [a, b] = [k, next].map(|k| ring * SIDES + k);
            let [c, d] = [a + SIDES, b + SIDES];
            triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    Some(SurfaceMesh { vertices, triangles, smooth: true, two_sided: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tubes_keep_their_radius_and_need_a_length() {
        let mesh = tube(&[Vec3::ZERO, Vec3::X, Vec3::new(2.0, 0.0, 0.0)], 0.1).unwrap();
        assert_eq!(mesh.triangles.len(), 2 * 2 * SIDES as usize);
        assert!(mesh.vertices.iter().all(|v| (v[1].hypot(v[2]) - 0.1).abs() < 1e-6));
        assert!(tube(&[Vec3::ONE, Vec3::ONE], 0.1).is_none());
        assert!(tube(&[Vec3::NAN, Vec3::ONE], 0.1).is_none());
    }
}
