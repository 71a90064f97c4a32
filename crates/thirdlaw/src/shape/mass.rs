//! Volume, centre of mass and inertia at density 1 kg/m³.
//!
//! Bounded by triangles: the sum over tetrahedra from a common origin, with the covariance of the
//! unit tetrahedron mapped by each one's edges. Compounds add their parts (overlap counts twice).

use crate::math::{Mat3, Pose, Vec3};

/// Mass properties of a shape at density 1 kg/m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume, m³; also the mass at density 1.
    pub volume: f64,
    /// Centre of mass in the shape's frame, m.
    pub center_of_mass: Vec3,
    /// Inertia about the centre of mass in the shape's axes at density 1, m⁵.
    pub inertia: Mat3,
}

impl MassProperties {
    pub(crate) fn diagonal(volume: f64, center_of_mass: Vec3, per_mass: Vec3) -> MassProperties {
        MassProperties { volume, center_of_mass, inertia: Mat3::from_diagonal(per_mass * volume) }
    }

    pub(crate) fn cuboid(h: Vec3) -> MassProperties {
        let s = h * h / 3.0;
        MassProperties::diagonal(
            8.0 * h.x * h.y * h.z,
            Vec3::ZERO,
            Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y),
        )
    }

    pub(crate) fn sphere(r: f64) -> MassProperties {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
        MassProperties::diagonal(volume, Vec3::ZERO, Vec3::splat(0.4 * r * r))
    }

    pub(crate) fn cylinder(h: f64, r: f64) -> MassProperties {
        let volume = 2.0 * std::f64::consts::PI * r * r * h;
        let side = r * r / 4.0 + h * h / 3.0;
        MassProperties::diagonal(volume, Vec3::ZERO, Vec3::new(side, r * r / 2.0, side))
    }

    pub(crate) fn cone(h: f64, r: f64) -> MassProperties {
        let volume = 2.0 / 3.0 * std::f64::consts::PI * r * r * h;
        let height = 2.0 * h;
        let side = 3.0 / 20.0 * r * r + 3.0 / 80.0 * height * height;
        let center = Vec3::new(0.0, -0.5 * h, 0.0);
        MassProperties::diagonal(volume, center, Vec3::new(side, 0.3 * r * r, side))
    }

    pub(crate) fn capsule(h: f64, r: f64) -> MassProperties {
        let rod = MassProperties::cylinder(h, r);
        let ball = MassProperties::sphere(r);
        // each half ball: its centre of mass is 3r/8 beyond the end of the rod
        let offset = h * h + 0.75 * h * r;
        let side = 0.4 * r * r + offset;
        let caps = Mat3::from_diagonal(Vec3::new(side, 0.4 * r * r, side) * ball.volume);
        MassProperties {
            volume: rod.volume + ball.volume,
            center_of_mass: Vec3::ZERO,
            inertia: rod.inertia + caps,
        }
    }

    /// Of the solid bounded by a closed surface; negative volume if it is inside out.
    pub(crate) fn closed_surface(
        vertices: &[Vec3],
        triangles: impl Iterator<Item = [u32; 3]>,
    ) -> MassProperties {
        let origin = vertices.iter().fold(Vec3::ZERO, |s, &v| s + v) / vertices.len().max(1) as f64;
        let mut six_volume = 0.0;
        let mut first = Vec3::ZERO;
        let mut second = Mat3::ZERO; // Σ det · Σᵢⱼ (1+δᵢⱼ) xᵢ xⱼᵀ over the corners of each tetrahedron
        for t in triangles {
            let [a, b, c] = t.map(|i| vertices[i as usize] - origin);
            let det = a.dot(b.cross(c));
            let sum = a + b + c;
            six_volume += det;
            first += det * sum;
            second += det * (outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum));
        }
        let volume = six_volume / 6.0;
        if volume == 0.0 {
            return MassProperties { volume, center_of_mass: origin, inertia: Mat3::ZERO };
        }
        let mean = first / (24.0 * volume);
        let covariance = second * (1.0 / 120.0) - outer(mean, mean) * volume;
        MassProperties {
            volume,
            center_of_mass: origin + mean,
            inertia: inertia_from_covariance(covariance),
        }
    }

    /// Of several solids together, each placed by its pose.
    pub(crate) fn sum(parts: &[(Pose, MassProperties)]) -> MassProperties {
        let volume: f64 = parts.iter().map(|(_, m)| m.volume).sum();
        let center = parts.iter().fold(Vec3::ZERO, |s, (pose, m)| {
            s + (pose.rotation * m.center_of_mass + pose.translation) * m.volume
        }) / volume;
        let inertia = parts.iter().fold(Mat3::ZERO, |s, (pose, m)| {
            let r = Mat3::from_quat(pose.rotation);
            let d = pose.rotation * m.center_of_mass + pose.translation - center;
            s + r * m.inertia * r.transpose() + inertia_from_covariance(outer(d, d) * m.volume)
        });
        MassProperties { volume, center_of_mass: center, inertia }
    }
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// I = tr(C) 1 − C.
fn inertia_from_covariance(c: Mat3) -> Mat3 {
    let trace = c.x_axis.x + c.y_axis.y + c.z_axis.z;
    Mat3::from_diagonal(Vec3::splat(trace)) - c
}
