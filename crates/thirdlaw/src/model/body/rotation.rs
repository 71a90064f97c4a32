//! Free rotation of a rigid body over a step.
//!
//! Free flight keeps the angular momentum L, and ω¹ = I(q¹)⁻¹ L follows from the orientation. What is slender
//! has an energy L²/2I that depends much on that: an error δ gives a rod of slenderness s a spin s² δ ω about
//! its axis. The second-order update of [shinar2008 §4.1], q¹ = q̂(h ω + ½h² I⁻¹(L × ω)) q⁰, thus makes energy.
//! The orientation follows from a midpoint rule in axes of the body instead, of second order as well:
//!
//!   L¹ = q̂(−h ω̄) L⁰,   ω̄ = I⁻¹(L⁰ + L¹)/2,   q¹ = q⁰ q̂(h ω̄)
//!
//! L¹ − L⁰ is square to ω̄, about which L was turned, so (L¹ − L⁰)·I⁻¹(L⁰ + L¹)/2 = 0: the energy is kept as
//! exactly as the angular momentum, for any step and any inertia. Where the step is so long that no such L¹
//! is near, the body turns about L alone, which keeps both as well, and its wobble within the step is lost.

use super::model::BodyModel;
use crate::math::{Mat3, Quat, Vec3, rotation_from_vector};

/// q¹: the orientation after `h` seconds of free flight. What does not turn keeps its bits.
pub fn advance(model: &BodyModel, rotation: Quat, omega: Vec3, h: f64) -> Quat {
    if omega == Vec3::ZERO {
        return rotation;
    }
    if keeps_axis(model) {
        return (rotation_from_vector(h * omega) * rotation).normalize();
    }
    let r = Mat3::from_quat(rotation);
    let omega_body = r.transpose() * omega;
    let l_body = model.inertia * omega_body;
    let turn = free_turn(model, (omega_body, l_body), h);
    (rotation * rotation_from_vector(turn)).normalize()
}

/// Most iterations of Newton's method for L¹, and the share of |L| to which it must be found.
const ITERATIONS_MAX: usize = 6;
const FOUND: f64 = 1e-13;
/// A solution that turns so many times as far as ω is not the one sought.
const FAR: f64 = 1.5;

/// Angle up to which a series does, and change of ω over ω up to which it is near.
const NARROW: f64 = 0.1;

/// h ω̄ in axes of the body.
fn free_turn(model: &BodyModel, (omega, l): (Vec3, Vec3), h: f64) -> Vec3 {
    let inverse = &model.inv_inertia;
    let size = l.length();
    // ω̄ to second order, L̇ = L × ω, where that is near
    let change = 0.5 * h * (*inverse * l.cross(omega));
    let near = change.length_squared() < NARROW * NARROW * omega.length_squared();
    let ahead = if near { omega + change } else { omega };
    // its error is of the order of the change squared
    if near && h * change.length_squared() <= FOUND * omega.length() {
        return h * ahead;
    }
    let mut next = rotation_from_vector(-h * ahead) * l;
    for _ in 0..ITERATIONS_MAX {
        let turn = h * (*inverse * (0.5 * (l + next)));
        let turned = rotation_from_vector(-turn) * l;
        let error = next - turned;
        if error.length() <= FOUND * size {
            if turn.length() <= FAR * h * omega.length() {
                return turn;
            }
            break;
        }
        let change = cross_matrix(turned) * turning(-turn) * *inverse;
        next -= (Mat3::IDENTITY - change * (0.5 * h)).inverse() * error;
        if !next.is_finite() {
            break;
        }
    }
    // about L alone
    l * (h * omega.dot(l) / (size * size))
}

/// d(q̂(φ) x) = (turning(φ) dφ) × q̂(φ) x, the left Jacobian of the rotations.
fn turning(phi: Vec3) -> Mat3 {
    let angle = phi.length();
    if angle < 1e-6 {
        return Mat3::IDENTITY + cross_matrix(phi) * 0.5;
    }
    if angle < NARROW {
        // to the third order, which is all that Newton's method needs
        let square = angle * angle;
        let outer = Mat3::from_cols(phi * phi.x, phi * phi.y, phi * phi.z);
        return Mat3::from_diagonal(Vec3::splat(1.0 - square / 6.0))
            + outer * (1.0 / 6.0)
            + cross_matrix(phi) * (0.5 - square / 24.0);
    }
    let axis = phi / angle;
    let (sine, cosine) = (libm::sin(angle) / angle, (1.0 - libm::cos(angle)) / angle);
    let outer = Mat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
    Mat3::from_diagonal(Vec3::splat(sine)) + outer * (1.0 - sine) + cross_matrix(axis) * cosine
}

fn cross_matrix(v: Vec3) -> Mat3 {
    Mat3::from_cols(v.cross(Vec3::X), v.cross(Vec3::Y), v.cross(Vec3::Z))
}

/// ω¹: the angular velocity in the orientation `after` that has the angular momentum of `omega` in
/// the orientation `before`.
pub fn carry(model: &BodyModel, (before, after): (Quat, Quat), omega: Vec3) -> Vec3 {
    if keeps_axis(model) || omega == Vec3::ZERO {
        return omega;
    }
    let (r0, r1) = (Mat3::from_quat(before), Mat3::from_quat(after));
    let l = r0 * (model.inertia * (r0.transpose() * omega));
    r1 * (model.inv_inertia * (r1.transpose() * l))
}

/// The same where positions were pushed, or a body was turned back: the way there was not that of free flight,
/// and with the angular momentum a slender body would gain energy. Then it keeps the energy.
pub fn carry_bounded(model: &BodyModel, (before, after): (Quat, Quat), omega: Vec3) -> Vec3 {
    let carried = carry(model, (before, after), omega);
    if keeps_axis(model) || omega == Vec3::ZERO {
        return carried;
    }
    let local = before.conjugate() * omega;
    let l = before * (model.inertia * local);
    let (had, has) = (l.dot(omega), l.dot(carried));
    if has > had * (1.0 + GAIN) { carried * (had / has).sqrt() } else { carried }
}

/// Share of its energy that a body may gain in being carried to another orientation.
const GAIN: f64 = 1e-5;

/// ω keeps its direction in free flight: either I is a multiple of the identity, or locks hold it.
fn keeps_axis(model: &BodyModel) -> bool {
    model.isotropic || model.locks.rotation != [false; 3]
}
