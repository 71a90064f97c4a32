//! How fast a coordinate of a joint changes: q̇ = direction·(v_b − v_a) + arm_b·ω_b − arm_a·ω_a.
//!
//! With u the turning of frame b against frame a in the axes of a, and q = q_a⁻¹q_b:
//!
//! - twice the vector part of q changes by w u + u × v;
//! - an axis y of b, seen in a, by u × y;
//! - the rotation vector θ by u − ½ θ × u + c θ × (θ × u), c = (1 − (θ/2) cot(θ/2))/θ².

use super::geometry::{Placed, Turning, unit};
use crate::math::{Vec3, rotation_vector};
use crate::model::joint::description::JointKind;
use crate::model::joint::model::JointModel;

/// One row of a Jacobian between two sides.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gradient {
    pub direction: Vec3,
    pub arm_a: Vec3,
    pub arm_b: Vec3,
}

impl Gradient {
    /// Of the motion of b's anchor along a direction that turns with a.
    pub fn along(direction: Vec3, placed: &Placed) -> Gradient {
        Gradient {
            direction,
            arm_a: (placed.r_a + placed.gap).cross(direction),
            arm_b: placed.r_b.cross(direction),
        }
    }

    fn about(axis: Vec3) -> Gradient {
        Gradient { direction: Vec3::ZERO, arm_a: axis, arm_b: axis }
    }
}

impl JointModel {
    /// The gradient of coordinate `i`.
    pub(crate) fn gradient(&self, placed: &Placed, place: f64, i: usize) -> Gradient {
        match &self.joint.kind {
            JointKind::Distance { .. } | JointKind::Spring { .. } => {
                let length = placed.gap.length();
                let n = if length > 1e-12 { placed.gap / length } else { Vec3::Y };
                Gradient { direction: n, arm_a: placed.r_a.cross(n), arm_b: placed.r_b.cross(n) }
            }
            JointKind::Curve { .. } => {
                Gradient::along(placed.q_a * self.curve_tangent(place), placed)
            }
            _ if i < 3 => Gradient::along(placed.q_a * unit(i), placed),
            _ => Gradient::about(placed.q_a * self.turn_gradient(placed, i - 3)),
        }
    }

    /// Unit tangent of the curve in frame a.
    pub(crate) fn curve_tangent(&self, place: f64) -> Vec3 {
        let slope = self.curve.as_ref().map_or(Vec3::X, |curve| curve.place(place).slope);
        let length = slope.length();
        if length > 0.0 { slope / length } else { Vec3::X }
    }

    /// Axes g with q̇ = g·(ω_b − ω_a) for the three turns.
    pub(crate) fn turn_gradients(&self, placed: &Placed) -> [Vec3; 3] {
        [0, 1, 2].map(|m| placed.q_a * self.turn_gradient(placed, m))
    }

    /// g with (change of turn m) = g·u, in the axes of frame a.
    fn turn_gradient(&self, placed: &Placed, m: usize) -> Vec3 {
        let q = placed.q_a.conjugate() * placed.q_b;
        match self.turning() {
            Turning::None => {
                let q = if q.w < 0.0 { -q } else { q };
                q.w * unit(m) + Vec3::new(q.x, q.y, q.z).cross(unit(m))
            }
            Turning::One(k) => {
                let lean = q * unit(k);
                let [i, j] = [(k + 1) % 3, (k + 2) % 3];
                if m == k {
                    // 1 + k_a·k_b vanishes only where b has turned over
                    (unit(k) + lean) / (1.0 + lean[k]).max(1e-6)
                } else if m == i {
                    unit(j).cross(lean)
                } else {
                    lean.cross(unit(i))
                }
            }
            Turning::Two(i, j, k) => {
                let (y, x) = (q * unit(j), q.conjugate() * unit(i));
                if m == i {
                    let g = y[j] * y.cross(unit(k)) - y[k] * y.cross(unit(j));
                    g / (y[j] * y[j] + y[k] * y[k]).max(1e-6)
                } else if m == j {
                    let g = x[k] * x.cross(unit(i)) - x[i] * x.cross(unit(k));
                    q * (g / (x[i] * x[i] + x[k] * x[k]).max(1e-6))
                } else {
                    unit(i).cross(y)
                }
            }
            Turning::Three => {
                let theta = rotation_vector(q);
                let square = theta.length_squared();
                let half = 0.5 * square.sqrt();
                let c = if square < 1e-6 {
                    1.0 / 12.0 + square / 720.0
                } else {
                    (1.0 - half * libm::cos(half) / libm::sin(half).max(1e-12)) / square
                };
                let turned = theta.cross(unit(m));
                unit(m) + 0.5 * turned + c * theta.cross(turned)
            }
        }
    }
}
