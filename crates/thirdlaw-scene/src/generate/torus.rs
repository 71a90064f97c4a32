//! Rings: capsules end to end on the polygon whose area is that of the circle in their middle.

use super::turn;
use thirdlaw::Shape;
use thirdlaw::math::{Pose, Vec3};
use thirdlaw::shape::ShapeError;

/// A ring about the y axis, of `segments` capsules as thick as the tube.
///
/// A polygon on the circle would be smaller than it, by 1 − sin(2π/n)/(2π/n) of its area; its corners lie as
/// much outside as its sides inside instead, 0.6 % of the radius at 24.
pub fn torus(radius: f64, tube: f64, segments: u32) -> Result<Shape, ShapeError> {
    let step = std::f64::consts::TAU / f64::from(segments.max(3));
    let corner = radius * (step / libm::sin(step)).sqrt();
    let at = |i: u32| {
        let angle = f64::from(i) * step;
        corner * Vec3::new(libm::cos(angle), 0.0, libm::sin(angle))
    };
    let mut parts = Vec::new();
    for i in 0..segments.max(3) {
        let (a, b) = (at(i), at(i + 1));
        let along = b - a;
        // capsules lie along y
        let rotation = turn(Vec3::Y.cross(along), std::f64::consts::FRAC_PI_2);
        parts.push((
            Pose::from_parts(0.5 * (a + b), rotation),
            Shape::capsule(0.5 * along.length(), tube)?,
        ));
    }
    Shape::compound(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thirdlaw::math::Quat;

    #[test]
    fn a_ring_is_round_and_hollow() {
        let ring = torus(1.0, 0.2, 24).unwrap();
        let bounds = ring.aabb(&Pose::from_parts(Vec3::ZERO, Quat::IDENTITY));
        assert!((bounds.maxs.y - 0.2).abs() < 1e-6 && (bounds.mins.y + 0.2).abs() < 1e-6);
        assert!((bounds.maxs.x - 1.2).abs() < 0.008, "{}", bounds.maxs.x);
        assert_eq!(ring.piece_count(), 24);
        for i in 0..360 {
            let angle = f64::from(i).to_radians();
            let out = Vec3::new(libm::cos(angle), 0.0, libm::sin(angle));
            let depth = |p: Vec3| {
                thirdlaw::collide::deformable::signed_distance(&ring, p, 10.0).unwrap().distance
            };
            assert!((depth(1.5 * out) - 0.3).abs() < 0.007, "{}", depth(1.5 * out));
            assert!((depth(0.5 * out) - 0.3).abs() < 0.007, "{}", depth(0.5 * out));
        }
    }
}
