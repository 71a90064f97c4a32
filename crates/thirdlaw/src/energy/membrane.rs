//! Stretch and shear of a triangle (baraff1998).
//!
//! With w_u = Σ du_i x_i and w_v = Σ dv_i x_i, the conditions are |w_u| − b_u, |w_v| − b_v and
//! w_uᵀw_v, and the energy is ½ A (k_u C_u² + k_v C_v² + k_s C_s²). The print's conditions scale
//! with the area a, their energies with a², so that a finer mesh is softer; scaling by √A makes the
//! stiffness one of the material (N/m) and not of the mesh.
//!
//! All three depend on (w_u, w_v) alone, so forces and Jacobians of the nine coordinates follow from
//! two vectors and three matrices: f_i = −(du_i p_u + dv_i p_v) and
//! K_ij = du_i du_j H_uu + dv_i dv_j H_vv + du_i dv_j H_uv + dv_i du_j H_uvᵀ.

use crate::cloth::Fabric;
use crate::cloth::elements::Membrane;
use crate::math::{Mat3, Vec3, outer};

/// Gradient and Hessian of a triangle's energy with respect to (w_u, w_v).
#[derive(Clone, Copy, Debug, Default)]
pub struct Response {
    /// ∂E/∂w_u, N·m.
    pub p_u: Vec3,
    /// ∂E/∂w_v.
    pub p_v: Vec3,
    /// ∂²E/∂w_u², symmetric.
    pub h_uu: Mat3,
    /// ∂²E/∂w_v², symmetric.
    pub h_vv: Mat3,
    /// ∂²E/∂w_u∂w_v.
    pub h_uv: Mat3,
}

/// How much of the Hessian counts: factors on ∇C∇Cᵀ of stretch and of shear (1 plus damping over
/// the step) and on the part from the curvature of C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// On ∇C∇Cᵀ of stretch.
    pub stretch: f64,
    /// On ∇C∇Cᵀ of shear.
    pub shear: f64,
    /// On C∇²C, of which only the positive part is kept.
    pub geometric: f64,
    /// Whether the negative part is left out; only tests want it.
    pub projected: bool,
}

/// w_u and w_v of a triangle.
#[inline]
pub fn directions(membrane: &Membrane, x: &[Vec3]) -> (Vec3, Vec3) {
    let [a, b, c] = membrane.nodes.map(|i| x[i as usize]);
    // differences first: far from the origin the digits are in them
    let (d1, d2) = (b - a, c - a);
    (membrane.du[1] * d1 + membrane.du[2] * d2, membrane.dv[1] * d1 + membrane.dv[2] * d2)
}

/// Energy of a triangle, J.
pub fn energy(membrane: &Membrane, fabric: &Fabric, x: &[Vec3]) -> f64 {
    let (w_u, w_v) = directions(membrane, x);
    let c_u = w_u.length() - fabric.rest_scale[0];
    let c_v = w_v.length() - fabric.rest_scale[1];
    let c_s = w_u.dot(w_v);
    let [k_u, k_v] = fabric.stretch;
    0.5 * membrane.area * (k_u * c_u * c_u + k_v * c_v * c_v + fabric.shear * c_s * c_s)
}

/// Gradient and Hessian.
#[inline]
pub fn response(membrane: &Membrane, fabric: &Fabric, x: &[Vec3], weights: &Weights) -> Response {
    at(membrane, fabric, directions(membrane, x), [0.0; 3], weights)
}

/// Gradient and Hessian at `x` of the energy and of what damping takes since the triangle was at
/// `before`: with Ċ = (C − C₀)/h it acts like a further energy ½ A k (k_d/h)(C − C₀)².
#[inline]
pub fn response_since(
    membrane: &Membrane,
    fabric: &Fabric,
    (before, x): (&[Vec3], &[Vec3]),
    weights: &Weights,
) -> Response {
    let (w, w0) = (directions(membrane, x), directions(membrane, before));
    let stretch = weights.stretch / weights.geometric - 1.0;
    let shear = weights.shear / weights.geometric - 1.0;
    let lag = [
        stretch * (w.0.length() - w0.0.length()),
        stretch * (w.1.length() - w0.1.length()),
        shear * (w.0.dot(w.1) - w0.0.dot(w0.1)),
    ];
    at(membrane, fabric, w, lag, weights)
}

/// Energy and what damping takes, J; see [`response_since`].
#[inline]
pub fn energy_since(
    membrane: &Membrane,
    fabric: &Fabric,
    (before, x): (&[Vec3], &[Vec3]),
    h: f64,
) -> f64 {
    let ((u, v), (u0, v0)) = (directions(membrane, x), directions(membrane, before));
    let of =
        |k: f64, damping: f64, c: f64, change: f64| k * (c * c + damping / h * change * change);
    let (l_u, l_v, c_s) = (u.length(), v.length(), u.dot(v));
    let [k_u, k_v] = fabric.stretch;
    let [b_u, b_v] = fabric.rest_scale;
    let [d_s, d_h, _] = fabric.damping;
    0.5 * membrane.area
        * (of(k_u, d_s, l_u - b_u, l_u - u0.length())
            + of(k_v, d_s, l_v - b_v, l_v - v0.length())
            + of(fabric.shear, d_h, c_s, c_s - u0.dot(v0)))
}

/// Gradient and Hessian with damping adding `lag` to the conditions.
#[inline]
fn at(
    membrane: &Membrane,
    fabric: &Fabric,
    (w_u, w_v): (Vec3, Vec3),
    lag: [f64; 3],
    weights: &Weights,
) -> Response {
    let mut out = Response::default();
    let k = fabric.stretch.map(|k| membrane.area * k);
    let b = fabric.rest_scale;
    (out.p_u, out.h_uu) = stretch(w_u, k[0], b[0] - lag[0], weights);
    (out.p_v, out.h_vv) = stretch(w_v, k[1], b[1] - lag[1], weights);
    shear(w_u, w_v, membrane.area * fabric.shear, lag[2], weights, &mut out);
    out
}

/// Most strain that the overshoot of a thread may add to what is there.
const SLACK: f64 = 5e-4;

/// What the linearization leaves out of (p_u, p_v) when the triangle moves by `shift`: its threads
/// end up longer, and its angle other, than their linear part says. A linear step along a rotation
/// ends outside the circle; stretch that is only seen in the next step stops a spinning sheet within
/// a turn.
#[inline]
pub fn overshoot(
    membrane: &Membrane,
    fabric: &Fabric,
    x: &[Vec3],
    shift: (Vec3, Vec3),
    h: f64,
) -> (Vec3, Vec3) {
    let (w_u, w_v) = directions(membrane, x);
    let longer = |w: Vec3, shift: Vec3, k: f64, b: f64| {
        let l = w.length();
        if l < 1e-12 {
            return Vec3::ZERO;
        }
        let n = w / l;
        let longer = (w + shift).length() - (l + n.dot(shift));
        // a thread under pressure that buckles loses the pressure, and not much more
        n * (k * longer.min((b - l).max(0.0) + SLACK * l))
    };
    // damping acts on the same excess, as a rate
    let [k_u, k_v] = fabric.stretch.map(|k| k * (1.0 + fabric.damping[0] / h));
    let [b_u, b_v] = fabric.rest_scale;
    let k_s = fabric.shear * (1.0 + fabric.damping[1] / h);
    let sheared = k_s * shift.0.dot(shift.1);
    let a = membrane.area;
    (
        a * (longer(w_u, shift.0, k_u, b_u) + sheared * w_v),
        a * (longer(w_v, shift.1, k_v, b_v) + sheared * w_u),
    )
}

/// ½ k (|w| − b)²: along w the full stiffness, across it k(1 − b/|w|), which is negative in
/// compression and left out there.
#[inline]
fn stretch(w: Vec3, k: f64, b: f64, weights: &Weights) -> (Vec3, Mat3) {
    let l = w.length();
    if l < 1e-12 {
        // collapsed to a point: no direction to push in, but stiff against every one
        return (Vec3::ZERO, Mat3::from_diagonal(Vec3::splat(k * weights.stretch)));
    }
    let n = w / l;
    let mut across = weights.geometric * k * (1.0 - b / l);
    if weights.projected {
        across = across.max(0.0);
    }
    let along = k * weights.stretch;
    (k * (l - b) * n, outer(n * (along - across), n) + Mat3::from_diagonal(Vec3::splat(across)))
}

/// ½ k (w_u·w_v)²: C∇²C is C[[0, 1], [1, 0]], whose positive part is ½|C|[[1, ±1], [±1, 1]].
#[inline]
fn shear(w_u: Vec3, w_v: Vec3, k: f64, lag: f64, weights: &Weights, out: &mut Response) {
    let c = w_u.dot(w_v) + lag;
    out.p_u += k * c * w_v;
    out.p_v += k * c * w_u;
    let kw = k * weights.shear;
    out.h_uu += outer(kw * w_v, w_v);
    out.h_vv += outer(kw * w_u, w_u);
    out.h_uv = outer(kw * w_v, w_u);
    let kg = k * weights.geometric;
    let diagonal = Mat3::from_diagonal(Vec3::ONE);
    if weights.projected {
        out.h_uu += diagonal * (0.5 * kg * c.abs());
        out.h_vv += diagonal * (0.5 * kg * c.abs());
        out.h_uv += diagonal * (0.5 * kg * c);
    } else {
        out.h_uv += diagonal * (kg * c);
    }
}

impl Response {
    /// Force on corner `i`, N.
    #[inline]
    pub fn force(&self, membrane: &Membrane, i: usize) -> Vec3 {
        -(membrane.du[i] * self.p_u + membrane.dv[i] * self.p_v)
    }

    /// Block of −∂f/∂x between corners `i` and `j`, N/m.
    #[inline]
    pub fn block(&self, membrane: &Membrane, i: usize, j: usize) -> Mat3 {
        let (du, dv) = (&membrane.du, &membrane.dv);
        self.h_uu * (du[i] * du[j])
            + self.h_vv * (dv[i] * dv[j])
            + self.h_uv * (du[i] * dv[j])
            + self.h_uv.transpose() * (dv[i] * du[j])
    }
}
