//! Bending: the angle between two triangles at their common edge, and quadratic forms of it.
//!
//! sin θ = (n₁ × n₂)·e and cos θ = n₁·n₂ (baraff1998). The energy of a [`Bend`] is ½ Σ q_ij (θ_i −
//! rest_i)(θ_j − rest_j); of its Hessian the part ∇θ q ∇θᵀ is kept, which is never negative.

use crate::math::Vec3;
use crate::model::cloth::elements::{Bend, Hinge, NONE};

/// Angle of a hinge and its gradient with respect to the four nodes, 1/m.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fold {
    /// rad, 0 when flat.
    pub angle: f64,
    /// ∂θ/∂x of each node.
    pub gradient: [Vec3; 4],
}

/// θ of edge (0, 1) with opposite vertices 2 and 3, rad.
pub fn hinge_angle([x0, x1, x2, x3]: [Vec3; 4]) -> f64 {
    let e = x1 - x0;
    let (n1, n2) = (e.cross(x2 - x0), (x3 - x0).cross(e));
    // both scaled by |n1||n2||e|, which atan2 does not see
    libm::atan2(n1.cross(n2).dot(e), n1.dot(n2) * e.length())
}

/// Angle and gradient; a triangle without area has no normal, and its hinge no gradient.
pub fn fold([x0, x1, x2, x3]: [Vec3; 4]) -> Fold {
    let e = x1 - x0;
    let (r2, r3) = (x2 - x0, x3 - x0);
    let (n1, n2) = (e.cross(r2), r3.cross(e));
    let (a1, a2, l2) = (n1.length_squared(), n2.length_squared(), e.length_squared());
    let least = 1e-24 * l2 * l2;
    if !(a1 > least && a2 > least && l2 > 0.0) {
        return Fold::default();
    }
    let l = l2.sqrt();
    let angle = libm::atan2(n1.cross(n2).dot(e), n1.dot(n2) * l);
    let g2 = n1 * (-l / a1);
    let g3 = n2 * (-l / a2);
    let (t2, t3) = (r2.dot(e) / l2, r3.dot(e) / l2);
    let g0 = -((1.0 - t2) * g2 + (1.0 - t3) * g3);
    let g1 = -(t2 * g2 + t3 * g3);
    Fold { angle, gradient: [g0, g1, g2, g3] }
}

/// Deviation from rest, taken the short way round.
pub fn deviation(hinge: &Hinge, angle: f64) -> f64 {
    short(angle - hinge.rest)
}

/// An angle, taken the short way round.
fn short(d: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if d > PI {
        d - TAU
    } else if d < -PI {
        d + TAU
    } else {
        d
    }
}

/// Moments ∂E/∂θ of the three hinges of a bend, N·m; damping adds `lag` times the change from the
/// angles at the beginning, where there are any.
pub fn moments(
    bend: &Bend,
    hinges: &[Hinge],
    folds: &[Fold],
    (lag, before): (f64, &[f64]),
) -> [f64; 3] {
    let d = bend.hinges.map(|h| {
        if h == NONE {
            return 0.0;
        }
        let angle = folds[h as usize].angle;
        let change = before.get(h as usize).map_or(0.0, |before| short(angle - before));
        deviation(&hinges[h as usize], angle) + lag * change
    });
    let q = &bend.q;
    [
        q[0] * d[0] + q[3] * d[1] + q[4] * d[2],
        q[3] * d[0] + q[1] * d[1] + q[5] * d[2],
        q[4] * d[0] + q[5] * d[1] + q[2] * d[2],
    ]
}

/// Energy of a bend, J.
pub fn energy(bend: &Bend, hinges: &[Hinge], x: &[Vec3]) -> f64 {
    let d = bend.hinges.map(|h| match hinges.get(h as usize) {
        Some(hinge) => deviation(hinge, hinge_angle(hinge.nodes.map(|i| x[i as usize]))),
        None => 0.0,
    });
    form(bend, d)
}

/// Energy of a bend with its hinges at the angles `now`, and what damping takes since they were at
/// `before`, J.
pub fn energy_since(
    bend: &Bend,
    hinges: &[Hinge],
    now: &[f64],
    (lag, before): (f64, &[f64]),
) -> f64 {
    let of = |value: &dyn Fn(usize) -> f64| {
        bend.hinges.map(|h| if h == NONE { 0.0 } else { value(h as usize) })
    };
    let own = of(&|h| deviation(&hinges[h], now[h]));
    let change = of(&|h| short(now[h] - before[h]));
    form(bend, own) + lag * form(bend, change)
}

/// ½ Σ q_ij d_i d_j.
fn form(bend: &Bend, d: [f64; 3]) -> f64 {
    let q = &bend.q;
    0.5 * (q[0] * d[0] * d[0] + q[1] * d[1] * d[1] + q[2] * d[2] * d[2])
        + q[3] * d[0] * d[1]
        + q[4] * d[0] * d[2]
        + q[5] * d[1] * d[2]
}
