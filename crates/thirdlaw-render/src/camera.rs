//! The pinhole camera, and how to frame a scene with it.

use glamx::DVec3;

/// An axis-aligned box (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest corner.
    pub min: [f64; 3],
    /// Highest corner.
    pub max: [f64; 3],
}

impl Bounds {
    /// Bounds of nothing: the neutral element of [`Bounds::include`].
    pub const EMPTY: Self = Self { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] };

    /// Grows to contain `point`.
    pub fn include(&mut self, point: [f64; 3]) {
        for (k, &p) in point.iter().enumerate() {
            self.min[k] = self.min[k].min(p);
            self.max[k] = self.max[k].max(p);
        }
    }

    /// Whether no point was included.
    pub fn is_empty(&self) -> bool {
        (0..3).any(|k| self.min[k] > self.max[k])
    }

    /// The box grown to contain `other`.
    pub fn union(mut self, other: &Bounds) -> Self {
        if !other.is_empty() {
            self.include(other.min);
            self.include(other.max);
        }
        self
    }
}

/// A pinhole camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands (m).
    pub eye: [f64; 3],
    /// What it looks at (m): the middle of the picture.
    pub target: [f64; 3],
    /// Which way is up in the picture; need not be perpendicular to the view.
    pub up: [f64; 3],
    /// Angle from the lower to the upper edge of the picture (degrees).
    pub vertical_fov_deg: f64,
}

impl Default for Camera {
    fn default() -> Self {
        let mut cube = Bounds::EMPTY;
        cube.include([-0.5, 0.0, -0.5]);
        cube.include([0.5, 1.0, 0.5]);
        Self::framing(&cube, 16.0 / 9.0)
    }
}

impl Camera {
    /// A three-quarter view from above that just shows `bounds`, with a small
    /// margin. `aspect` is width over height.
    pub fn framing(bounds: &Bounds, aspect: f64) -> Self {
        Self::framing_from(bounds, aspect, [0.55, 0.52, 0.85])
    }

    /// As [`Camera::framing`], seen from the direction `from` (scene → camera).
    pub fn framing_from(bounds: &Bounds, aspect: f64, from: [f64; 3]) -> Self {
        let fov = 32.0f64;
        let (lo, hi) = (DVec3::from(bounds.min), DVec3::from(bounds.max));
        let usable = !bounds.is_empty() && lo.is_finite() && hi.is_finite();
        let (lo, hi) = if usable {
            (lo, hi)
        } else {
            (DVec3::new(-0.5, 0.0, -0.5), DVec3::new(0.5, 1.0, 0.5))
        };
        let aspect = if aspect.is_finite() && aspect > 0.0 { aspect } else { 1.0 };
        let middle = 0.5 * (lo + hi);
        let half = (0.5 * (hi - lo)).max(DVec3::splat(1e-6));

        let forward = -DVec3::from(from).try_normalize().unwrap_or(DVec3::Z);
        let (right, up) = view_axes(forward, DVec3::Y);
        let tan_y = libm::tan(0.5 * fov.to_radians()) * 0.88;
        let tan_x = libm::tan(0.5 * fov.to_radians()) * aspect * 0.92;

        // A corner at (x, y, z) in camera axes, z towards the camera, is in view
        // at distance D when |x − c| ≤ tan·(D − z). Over all corners the bound
        // on c closes exactly at D = (max(x + tan·z) − min(x − tan·z)) / (2 tan).
        let (mut hi_x, mut lo_x) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut hi_y, mut lo_y) = (hi_x, lo_x);
        let mut nearest = f64::NEG_INFINITY;
        for corner in 0..8 {
            let sign = |bit: usize| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let p = half * DVec3::new(sign(0), sign(1), sign(2));
            let (x, y, z) = (p.dot(right), p.dot(up), -p.dot(forward));
            hi_x = hi_x.max(x + tan_x * z);
            lo_x = lo_x.min(x - tan_x * z);
            hi_y = hi_y.max(y + tan_y * z);
            lo_y = lo_y.min(y - tan_y * z);
            nearest = nearest.max(z);
        }
        let distance =
            ((hi_x - lo_x) / (2.0 * tan_x)).max((hi_y - lo_y) / (2.0 * tan_y)).max(nearest * 1.05);
        let target = middle + right * (0.5 * (hi_x + lo_x)) + up * (0.5 * (hi_y + lo_y));
        Self {
            eye: (target - forward * distance).to_array(),
            target: target.to_array(),
            up: [0.0, 1.0, 0.0],
            vertical_fov_deg: fov,
        }
    }

    /// Unit vectors to the right, up and forward; always finite and orthonormal.
    pub(crate) fn axes(&self) -> (DVec3, DVec3, DVec3) {
        let view = DVec3::from(self.target) - DVec3::from(self.eye);
        let forward = view.try_normalize().unwrap_or(DVec3::NEG_Z);
        let up = DVec3::from(self.up);
        let (right, up) = view_axes(forward, up);
        (right, up, forward)
    }

    /// Tangent of half the vertical field of view.
    pub(crate) fn tan_half_fov(&self) -> f64 {
        let degrees = if self.vertical_fov_deg.is_finite() {
            self.vertical_fov_deg.clamp(0.01, 170.0)
        } else {
            32.0
        };
        libm::tan(0.5 * degrees.to_radians())
    }
}

fn view_axes(forward: DVec3, up: DVec3) -> (DVec3, DVec3) {
    let up = up.try_normalize().unwrap_or(DVec3::Y);
    let side = forward.cross(up);
    let right = if side.is_finite() && side.length() > 1e-6 {
        side.normalize()
    } else {
        forward.any_orthonormal_vector()
    };
    (right, right.cross(forward))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_shows_every_corner_and_touches_the_margin() {
        for aspect in [0.5, 1.0, 16.0 / 9.0] {
            let bounds = Bounds { min: [1e5, -1.0, 3.0], max: [1e5 + 4.0, 2.0, 4.5] };
            let camera = Camera::framing(&bounds, aspect);
            let (right, up, forward) = camera.axes();
            let tan = camera.tan_half_fov();
            let mut reach: f64 = 0.0;
            for corner in 0..8 {
                let pick = |k: usize| [bounds.min, bounds.max][corner >> k & 1][k];
                let p = DVec3::new(pick(0), pick(1), pick(2)) - DVec3::from(camera.eye);
                let depth = p.dot(forward) * tan;
                let x = (p.dot(right) / (depth * aspect)).abs();
                reach = reach.max(x).max((p.dot(up) / depth).abs());
            }
            assert!((0.85..0.95).contains(&reach), "reach {reach}");
        }
    }

    #[test]
    fn a_camera_looking_straight_down_or_at_itself_has_axes() {
        for target in [[0.0, -1.0, 0.0], [0.0; 3], [f64::NAN; 3]] {
            let camera =
                Camera { eye: [0.0; 3], target, up: [0.0, 1.0, 0.0], vertical_fov_deg: f64::NAN };
            let (right, up, forward) = camera.axes();
            assert!((right.cross(up).dot(-forward) - 1.0).abs() < 1e-12);
        }
    }
}
