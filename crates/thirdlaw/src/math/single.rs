//! To single precision and back, for pictures: the engine itself counts in double.
//!
//! A pose far from the origin loses millimetres beyond some kilometres in single precision; give an origin
//! near the camera.
//!
//! ```
//! use thirdlaw::math::single;
//! use thirdlaw::prelude::*;
//! let pose = Pose::from_translation(Vec3::new(1e7 + 0.25, 2.0, 3.0));
//! let near = single::pose(&pose, Vec3::new(1e7, 0.0, 0.0));
//! assert_eq!(near.translation.x, 0.25);
//! assert_eq!(single::columns(&pose, Vec3::new(1e7, 0.0, 0.0))[3], [0.25, 2.0, 3.0, 1.0]);
//! assert_eq!(single::pose_back(&near, Vec3::new(1e7, 0.0, 0.0)), pose);
//! ```

use super::{Mat3, Pose, Quat, Vec3};

pub use glamx::{Pose3 as SinglePose, Quat as SingleQuat, Vec3 as SingleVec3};

/// A vector or place as seen from `origin` (m).
pub fn vector(v: Vec3, origin: Vec3) -> SingleVec3 {
    (v - origin).as_vec3()
}

/// A vector or place from `origin` (m), in double precision.
pub fn vector_back(v: SingleVec3, origin: Vec3) -> Vec3 {
    v.as_dvec3() + origin
}

/// A rotation.
pub fn rotation(q: Quat) -> SingleQuat {
    q.as_quat()
}

/// A rotation in double precision, of length 1.
pub fn rotation_back(q: SingleQuat) -> Quat {
    q.as_dquat().normalize()
}

/// A pose as seen from `origin` (m).
pub fn pose(pose: &Pose, origin: Vec3) -> SinglePose {
    SinglePose::from_parts(vector(pose.translation, origin), rotation(pose.rotation))
}

/// A pose from `origin` (m), in double precision.
pub fn pose_back(pose: &SinglePose, origin: Vec3) -> Pose {
    Pose::from_parts(vector_back(pose.translation, origin), rotation_back(pose.rotation))
}

/// The columns of the matrix of a pose as seen from `origin` (m), as graphics take it.
pub fn columns(pose: &Pose, origin: Vec3) -> [[f32; 4]; 4] {
    let axes = Mat3::from_quat(pose.rotation);
    let column = |v: Vec3, w: f32| {
        let v = v.as_vec3();
        [v.x, v.y, v.z, w]
    };
    [
        column(axes.x_axis, 0.0),
        column(axes.y_axis, 0.0),
        column(axes.z_axis, 0.0),
        column(pose.translation - origin, 1.0),
    ]
}
