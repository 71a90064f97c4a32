//! Round bodies by their signed distance.

use super::SolidMesh;
use super::stuffing::stuff;
use crate::math::Vec3;
use crate::model::deformable::DeformableError;

impl SolidMesh {
    /// A ball about the origin, of tetrahedra about `spacing` (m) large.
    pub fn ball(radius: f64, spacing: f64) -> Result<SolidMesh, DeformableError> {
        positive("radius", radius)?;
        stuff(&|p| p.length() - radius, Vec3::splat(radius), spacing)
    }

    /// A cylinder about the y axis, centred at the origin.
    pub fn cylinder(radius: f64, height: f64, spacing: f64) -> Result<SolidMesh, DeformableError> {
        positive("radius", radius)?;
        positive("height", height)?;
        let half = 0.5 * height;
        let distance = |p: Vec3| rectangle(across(p) - radius, p.y.abs() - half);
        stuff(&distance, Vec3::new(radius, half, radius), spacing)
    }

    /// A torus about the y axis: a tube of radius `tube` whose middle is a circle of radius `radius`.
    pub fn torus(radius: f64, tube: f64, spacing: f64) -> Result<SolidMesh, DeformableError> {
        positive("radius", radius)?;
        positive("tube", tube)?;
        let distance = |p: Vec3| {
            let off = across(p) - radius;
            (off * off + p.y * p.y).sqrt() - tube
        };
        stuff(&distance, Vec3::new(radius + tube, tube, radius + tube), spacing)
    }

    /// A cylinder about the y axis with a hole of radius `inner` along it.
    pub fn tube(
        radius: f64,
        inner: f64,
        height: f64,
        spacing: f64,
    ) -> Result<SolidMesh, DeformableError> {
        positive("radius", radius)?;
        positive("inner", inner)?;
        positive("height", height)?;
        if inner >= radius {
            let problem = format!("must be below the radius of {radius}, not {inner}");
            return Err(DeformableError::Value { field: "inner", problem });
        }
        let (middle, wall, half) = (0.5 * (radius + inner), 0.5 * (radius - inner), 0.5 * height);
        let distance = |p: Vec3| rectangle((across(p) - middle).abs() - wall, p.y.abs() - half);
        stuff(&distance, Vec3::new(radius, half, radius), spacing)
    }
}

/// Distance from the y axis.
fn across(p: Vec3) -> f64 {
    (p.x * p.x + p.z * p.z).sqrt()
}

/// Distance from a rectangle, from those to its two sides.
fn rectangle(a: f64, b: f64) -> f64 {
    let (x, y) = (a.max(0.0), b.max(0.0));
    (x * x + y * y).sqrt() + a.max(b).min(0.0)
}

fn positive(field: &'static str, value: f64) -> Result<(), DeformableError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let problem = format!("must be above 0, not {value}");
    Err(DeformableError::Value { field, problem })
}
