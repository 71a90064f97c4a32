//! The sky, the sun and the floor.

use glamx::{DVec3, Vec3};

use crate::picture::{Ground, Light};
use crate::tone;

/// Sun and sky, ready for shading.
#[derive(Clone, Debug)]
pub(crate) struct Sky {
    /// Unit vector towards the middle of the sun.
    pub sun_direction: Vec3,
    pub sun: Vec3,
    sun_axes: [Vec3; 2],
    zenith: Vec3,
    horizon: Vec3,
    /// Mean radiance of the upper half, as a flat surface facing up sees it.
    pub mean: Vec3,
    pub exposure: f32,
    pub specular: f32,
}

impl Sky {
    pub fn new(light: &Light) -> Self {
        let defaults = Light::default();
        let clean = |v: [f32; 3], or: [f32; 3]| {
            let v = Vec3::from(v);
            if v.is_finite() { v.max(Vec3::ZERO) } else { or.into() }
        };
        let number = |x: f32, or: f32| if x.is_finite() { x.max(0.0) } else { or };
        let sun_direction = Vec3::from(light.sun_direction).try_normalize().unwrap_or(Vec3::Y);
        let radius = number(light.sun_radius_deg, 0.0).min(45.0);
        let (a, b) = sun_direction.any_orthonormal_pair();
        let spread = libm::tanf(radius.to_radians());
        let zenith = clean(light.zenith, defaults.zenith);
        let horizon = clean(light.horizon, defaults.horizon);
        Self {
            sun_direction,
            sun: clean(light.sun, defaults.sun),
            sun_axes: [a * spread, b * spread],
            zenith,
            horizon,
            // Cosine-weighted mean of the gradient √y.
            mean: horizon.lerp(zenith, 0.8),
            exposure: number(light.exposure, defaults.exposure),
            specular: number(light.specular, defaults.specular),
        }
    }

    /// Radiance from `direction`. Below the horizon it darkens a little, so that
    /// a picture without a floor still has an up and a down.
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        let y = direction.y.clamp(-1.0, 1.0);
        if y >= 0.0 {
            self.horizon.lerp(self.zenith, y.sqrt())
        } else {
            self.horizon * (1.0 - 0.3 * (-y).sqrt())
        }
    }

    /// Direction to a point on the sun's disc.
    #[inline]
    pub fn towards_sun(&self, sample: [f32; 2]) -> Vec3 {
        let [a, b] = concentric_disc(sample);
        (self.sun_direction + self.sun_axes[0] * a + self.sun_axes[1] * b).normalize()
    }
}

/// Maps the unit square onto the unit disc, keeping neighbours together (shirley1997).
#[inline]
pub(crate) fn concentric_disc([u, v]: [f32; 2]) -> [f32; 2] {
    let (a, b) = (2.0 * u - 1.0, 2.0 * v - 1.0);
    if a == 0.0 && b == 0.0 {
        return [0.0, 0.0];
    }
    let steep = a.abs() <= b.abs();
    let (radius, ratio) = if steep { (b, a / b) } else { (a, b / a) };
    // Sine and cosine of at most π/4, to 3e-7.
    let turn = std::f32::consts::FRAC_PI_4 * ratio;
    let t2 = turn * turn;
    let sin = turn * (1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0)));
    let cos = 1.0 - t2 / 2.0 * (1.0 - t2 / 12.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0)));
    let (x, y) = if steep { (sin, cos) } else { (cos, sin) };
    [radius * x, radius * y]
}

/// A cosine-weighted direction around the unit vector `normal`.
#[inline]
pub(crate) fn cosine_direction(normal: Vec3, sample: [f32; 2]) -> Vec3 {
    let [x, y] = concentric_disc(sample);
    let z = (1.0 - x * x - y * y).max(0.0).sqrt();
    let (a, b) = normal.any_orthonormal_pair();
    (a * x + b * y + normal * z).normalize_or(normal)
}

/// The floor, relative to the camera.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    /// Height relative to the eye.
    height: f32,
    color: Vec3,
    dark: Vec3,
    /// Tiles per metre; zero for none.
    frequency: f32,
    /// Position of the eye in a pair of tiles, so that far from the origin the
    /// pattern keeps its digits.
    phase: [f32; 2],
    /// Distance over which the floor fades into the sky.
    fade: f32,
}

impl Floor {
    pub fn new(ground: &Ground, eye: DVec3, fade: f32) -> Option<Self> {
        let height = (ground.height - eye.y) as f32;
        let color = tone::albedo(ground.color);
        let (mut frequency, mut phase, mut dark) = (0.0, [0.0; 2], color);
        if let Some(checker) = ground.checker
            && checker.size.is_finite()
            && checker.size > 1e-6
        {
            frequency = (1.0 / checker.size) as f32;
            phase = [eye.x, eye.z].map(|p| (p / checker.size).rem_euclid(2.0) as f32);
            dark = color * (1.0 - checker.contrast.clamp(0.0, 1.0));
        }
        height.is_finite().then_some(Self { height, color, dark, frequency, phase, fade })
    }

    /// Distance along the ray to the floor.
    #[inline]
    pub fn hit(&self, origin: Vec3, direction: Vec3) -> Option<f32> {
        let t = (self.height - origin.y) / direction.y;
        (t > 0.0 && t.is_finite()).then_some(t)
    }

    /// How much the floor is lost in the sky at a distance, 0..1.
    pub fn haze(&self, distance: f32) -> f32 {
        let x = distance / self.fade;
        1.0 - libm::expf(-x * x)
    }

    /// Colour at a point; `footprint` is the width (m) over which to smooth the tiles.
    pub fn albedo(&self, p: Vec3, footprint: f32) -> Vec3 {
        if self.frequency == 0.0 {
            return self.color;
        }
        let width = footprint * self.frequency;
        let wave = |x: f32, phase: f32| smooth_square(x * self.frequency + phase, width);
        let dark = 0.5 + 0.5 * wave(p.x, self.phase[0]) * wave(p.z, self.phase[1]);
        self.color.lerp(self.dark, dark)
    }
}

/// The square wave of period 2 (+1 on 0..1, −1 on 1..2), averaged over `width`.
fn smooth_square(x: f32, width: f32) -> f32 {
    // The integral of the square wave is the triangle wave.
    let integral = |x: f32| {
        let r = x - 2.0 * (0.5 * x).floor();
        if r < 1.0 { r } else { 2.0 - r }
    };
    let width = width.max(1e-4);
    if width > 64.0 {
        return 0.0;
    }
    (integral(x + 0.5 * width) - integral(x - 0.5 * width)) / width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_smooth_out_to_their_mean() {
        assert!((smooth_square(0.5, 0.1) - 1.0).abs() < 1e-4);
        assert!((smooth_square(1.5, 0.1) + 1.0).abs() < 1e-4);
        assert!(smooth_square(1.0, 0.2).abs() < 1e-4);
        assert!(smooth_square(0.3, 40.0).abs() < 0.03);
    }

    #[test]
    fn sun_samples_stay_on_the_disc() {
        let sky = Sky::new(&Light::default());
        let edge = libm::cosf(2.0f32.to_radians());
        for k in 0..64 {
            let sample = [(k % 8) as f32 / 8.0, (k / 8) as f32 / 8.0];
            assert!(sky.towards_sun(sample).dot(sky.sun_direction) >= edge - 1e-6);
        }
    }
}
