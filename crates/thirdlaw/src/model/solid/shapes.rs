//! Round bodies by their signed distance.

use super::SolidMesh;
use super::stuffing::{stuff, stuff_between};
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

    /// Balls (centre and radius, m) that run into each other over about `blend` (m), as organic shapes do:
    /// the surface where Σ exp(−dᵢ/blend) = 1, with dᵢ the distance from each.
    pub fn blob(
        balls: &[(Vec3, f64)],
        blend: f64,
        spacing: f64,
    ) -> Result<SolidMesh, DeformableError> {
        positive("blend", blend)?;
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &(center, radius) in balls {
            positive("balls", radius)?;
            if !center.is_finite() {
                let problem = format!("must have finite centres, not {center}");
                return Err(DeformableError::Value { field: "balls", problem });
            }
            low = low.min(center - Vec3::splat(radius));
            high = high.max(center + Vec3::splat(radius));
        }
        if balls.is_empty() {
            return Err(DeformableError::Empty);
        }
        let distance = |p: Vec3| {
            let each = || balls.iter().map(|(center, radius)| (p - *center).length() - radius);
            let least = each().fold(f64::INFINITY, f64::min);
            let sum: f64 = each().map(|d| libm::exp((least - d) / blend)).sum();
            least - blend * libm::log(sum)
        };
        // where many meet the surface lies farther out
        let swell = Vec3::splat(blend * libm::log(balls.len() as f64));
        stuff_between(&distance, (low - swell, high + swell), spacing)
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
