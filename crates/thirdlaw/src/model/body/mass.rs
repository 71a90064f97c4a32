//! What a body puts up against impulses, in world axes.

use super::AxisLocks;
use super::model::BodyModel;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Quat, Vec3};

/// Inverse mass and inverse inertia of a body in world axes; zero for bodies that nothing pushes.
pub fn body_mass(model: &BodyModel, rotation: Quat) -> BodyMass {
    if !model.is_dynamic() {
        return BodyMass { inv_mass: Vec3::ZERO, inv_inertia: Mat3::ZERO };
    }
    let free = |locked: bool| if locked { 0.0 } else { 1.0 / model.mass };
    let [x, y, z] = model.locks.translation;
    BodyMass {
        inv_mass: Vec3::new(free(x), free(y), free(z)),
        inv_inertia: inverse_inertia(model, rotation),
    }
}

fn inverse_inertia(model: &BodyModel, rotation: Quat) -> Mat3 {
    let locked = model.locks.rotation;
    if locked == [false; 3] {
        if model.isotropic {
            return model.inv_inertia;
        }
        let r = Mat3::from_quat(rotation);
        return r * model.inv_inertia * r.transpose();
    }
    let r = Mat3::from_quat(rotation);
    locked_inverse(r * model.inertia * r.transpose(), locked)
}

/// The inverse of the inertia restricted to the free axes. Zeroing rows of I⁻¹ instead would let a
/// torque about a free axis feel the inertia it has when the others turn along.
fn locked_inverse(inertia: Mat3, locked: [bool; 3]) -> Mat3 {
    let mut restricted = inertia.to_cols_array_2d();
    for i in 0..3 {
        for j in 0..3 {
            if locked[i] || locked[j] {
                restricted[i][j] = if i == j { 1.0 } else { 0.0 };
            }
        }
    }
    let mut inverse = Mat3::from_cols_array_2d(&restricted).inverse().to_cols_array_2d();
    for i in 0..3 {
        if locked[i] {
            inverse[i][i] = 0.0;
        }
    }
    Mat3::from_cols_array_2d(&inverse)
}

/// Sets the locked components of a vector of world axes to zero.
pub fn unlock(v: Vec3, locked: [bool; 3]) -> Vec3 {
    let keep = |x: f64, locked: bool| if locked { 0.0 } else { x };
    Vec3::new(keep(v.x, locked[0]), keep(v.y, locked[1]), keep(v.z, locked[2]))
}

/// Velocity that a body's locks allow.
pub fn unlock_velocity(v: &mut crate::math::Twist, locks: AxisLocks) {
    v.linear = unlock(v.linear, locks.translation);
    v.angular = unlock(v.angular, locks.rotation);
}
