//! The vector types used throughout, all `f64`, and the few operations they lack.

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
/// Sine and cosine come from `libm`, so that the bits do not depend on the platform.
pub fn rotation_from_vector(theta: Vec3) -> Quat {
    let angle = theta.length();
    // sin(x)/x, by its series where the quotient would lose digits
    let half = 0.5 * angle;
    let k = if half < 1e-4 { 0.5 * (1.0 - half * half / 6.0) } else { libm::sin(half) / angle };
    Quat::from_xyzw(k * theta.x, k * theta.y, k * theta.z, libm::cos(half)).normalize()
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
