//! The vector types used throughout, all `f64`, and the few operations they lack.

pub(crate) mod closest;
pub mod hash;
pub mod mass;
pub(crate) mod random;
#[cfg(feature = "f32")]
pub mod single;
pub mod svd;

pub use glamx::{DMat3 as Mat3, DPose3 as Pose, DQuat as Quat, DVec3 as Vec3};

/// Angular and linear velocity of a rigid body about its centre of mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Twist {
    /// Velocity of the centre of mass, m/s.
    pub linear: Vec3,
    /// Angular velocity in world axes, rad/s.
    pub angular: Vec3,
}

/// The unit quaternion that turns by |θ| about θ, q̂ of [shinar2008 §4.1].
///
/// Sine and cosine come from `libm`, so that the bits do not depend on the platform; those of small
/// angles, as a substep turns by, from their series, which is as exact there and needs no root.
pub fn rotation_from_vector(theta: Vec3) -> Quat {
    let square = 0.25 * theta.length_squared();
    if square < SMALL {
        let (sine, cosine) = sine_and_cosine(square);
        let k = 0.5 * sine;
        return Quat::from_xyzw(k * theta.x, k * theta.y, k * theta.z, cosine);
    }
    let angle = theta.length();
    let half = 0.5 * angle;
    let k = libm::sin(half) / angle;
    Quat::from_xyzw(k * theta.x, k * theta.y, k * theta.z, libm::cos(half)).normalize()
}

/// x² up to which the first terms left out, x¹⁰/11! and x¹⁰/10!, are below rounding.
const SMALL: f64 = 0.01;

/// sin(x)/x and cos(x) of a small x, from x².
#[inline]
fn sine_and_cosine(square: f64) -> (f64, f64) {
    let term = |k: f64, rest: f64| 1.0 - square * (1.0 / k) * rest;
    let sine = term(6.0, term(20.0, term(42.0, term(72.0, 1.0))));
    let cosine = term(2.0, term(12.0, term(30.0, term(56.0, 1.0))));
    (sine, cosine)
}

/// Two unit vectors that complete the unit vector `n` to a right-handed frame, without branches
/// that would make nearby normals get far-apart tangents except at one pole.
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    let sign = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let t1 = Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let t2 = Vec3::new(b, sign + n.y * n.y * a, -n.y);
    (t1, t2)
}

/// Inverse of [`rotation_from_vector`]: the vector θ with q = q̂(θ), |θ| ≤ π.
pub fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let axis = Vec3::new(q.x, q.y, q.z);
    let sine = axis.length();
    let k = if sine < 1e-9 { 2.0 } else { 2.0 * libm::atan2(sine, q.w) / sine };
    k * axis
}

/// The larger of two residuals; a NaN stays.
#[inline(always)]
pub(crate) fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// a bᵀ.
#[inline]
pub fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On both sides of where the series ends, turns are those of sine and cosine.
    #[test]
    fn small_turns_are_turns() {
        let axis = Vec3::new(0.36, 0.48, -0.8);
        for i in 0..4000 {
            let angle = 1e-4 * f64::from(i);
            let q = rotation_from_vector(angle * axis);
            let v = libm::sin(0.5 * angle) * axis;
            let off = Vec3::new(q.x, q.y, q.z) - v;
            assert!(off.length() < 1e-16, "{angle}: {off}");
            assert!((q.w - libm::cos(0.5 * angle)).abs() < 3e-16, "{angle}");
            assert!((q.length() - 1.0).abs() < 4e-16, "{angle}");
        }
    }
}
