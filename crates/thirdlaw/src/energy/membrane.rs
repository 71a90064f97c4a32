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

use super::assemble::add_scaled;
use super::{Energy, RowSum, Step, shifted};
use crate::linalg::block::{Block, Scalar, block_of};
use crate::math::{Mat3, Vec3, outer};
use crate::parallel::loops::{each, largest, sum};
use std::hash::Hasher;

/// Triangles that stretch and shear.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Membranes {
    /// The triangles.
    pub(crate) list: Vec<Membrane>,
    /// What they are made of.
    pub(crate) materials: Vec<Material>,
}

/// A triangle that stretches and shears.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Membrane {
    /// Its corners.
    pub nodes: [u32; 3],
    /// ∂w_u/∂x and ∂w_v/∂x of each corner, 1/m: w_u = Σ du·x.
    pub du: [f64; 3],
    /// See `du`.
    pub dv: [f64; 3],
    /// At rest, m².
    pub area: f64,
    /// Which material.
    pub material: u32,
}

/// What a membrane is made of.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Material {
    /// kg/m².
    pub density: f64,
    /// Stiffness along u and v, N/m.
    pub stretch: [f64; 2],
    /// b_u and b_v.
    pub rest_scale: [f64; 2],
    /// Stiffness against shear, N/m.
    pub shear: f64,
    /// Damping of stretch and of shear, s: k_d/k.
    pub damping: [f64; 2],
}

/// What membranes contribute at one state.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Per membrane, with the Hessian scaled to h²K + hD.
    responses: Vec<Response>,
    /// Per membrane: (p_u, p_v) that the linearization leaves out.
    pulls: Vec<(Vec3, Vec3)>,
}

impl Membranes {
    /// The triangles.
    pub fn iter(&self) -> std::slice::Iter<'_, Membrane> {
        self.list.iter()
    }

    fn material(&self, membrane: &Membrane) -> &Material {
        &self.materials[membrane.material as usize]
    }
}

impl Energy for Membranes {
    const NAME: &'static str = "membrane";
    const OVERSHOOTS: bool = true;
    type Nodes = [u32; 3];
    type Parts = Parts;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn nodes(&self, element: usize) -> [u32; 3] {
        self.list[element].nodes
    }

    fn append(&mut self, other: &Membranes, first: u32) {
        let materials = self.materials.len() as u32;
        self.materials.extend_from_slice(&other.materials);
        self.list.extend(other.list.iter().map(|m| Membrane {
            nodes: m.nodes.map(|n| shifted(n, first)),
            material: m.material + materials,
            ..*m
        }));
    }

    fn fingerprint(&self, hasher: &mut dyn Hasher) {
        for m in &self.list {
            m.nodes.iter().for_each(|&n| hasher.write_u32(n));
            m.du.iter().chain(&m.dv).for_each(|x| hasher.write_u64(x.to_bits()));
            hasher.write_u32(m.material);
        }
        for m in &self.materials {
            let [a, b] = m.stretch;
            let [c, d] = m.rest_scale;
            let [e, f] = m.damping;
            for x in [m.density, a, b, c, d, m.shear, e, f] {
                hasher.write_u64(x.to_bits());
            }
        }
    }

    fn mass_share(&self, element: usize) -> f64 {
        let membrane = &self.list[element];
        membrane.area * self.material(membrane).density / 3.0
    }

    fn rest_edges(&self, element: usize, edge: &mut dyn FnMut([u32; 2], f64)) {
        let Membrane { nodes, du, dv, .. } = &self.list[element];
        // rest coordinates of corners 1 and 2 from corner 0: the inverse of the weights of w_u, w_v
        let det = du[1] * dv[2] - du[2] * dv[1];
        let uv = [[0.0, 0.0], [dv[2] / det, -du[2] / det], [-dv[1] / det, du[1] / det]];
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let (u, v) = (uv[j][0] - uv[i][0], uv[j][1] - uv[i][1]);
            edge([nodes[i], nodes[j]], u * u + v * v);
        }
    }

    fn stiffness_ratio(&self, h: f64, edge: f64) -> f64 {
        let of = |m: &Material| h * h * m.stretch[0].max(m.stretch[1]) / (m.density * edge * edge);
        self.materials.iter().map(of).fold(0.0, f64::max)
    }

    fn energy(&self, element: usize, x: &[Vec3]) -> f64 {
        let membrane = &self.list[element];
        energy(membrane, self.material(membrane), x)
    }

    fn evaluate(&self, step: &Step, parts: &mut Parts) {
        let h = step.h;
        parts.responses.resize(self.list.len(), Response::default());
        each(self.list.len(), &mut parts.responses[..], &|rows, out: &mut [Response]| {
            for (response, membrane) in out.iter_mut().zip(&self.list[rows]) {
                let material = self.material(membrane);
                let weights = Weights {
                    stretch: h * h + h * material.damping[0],
                    shear: h * h + h * material.damping[1],
                    geometric: h * h,
                    projected: true,
                };
                *response = response_since(membrane, material, (step.x0, step.x1), &weights);
            }
        });
    }

    /// With the rows R_u = du_i H_uu + dv_i H_uvᵀ and R_v = du_i H_uv + dv_i H_vv of a corner i, its
    /// blocks are K_ij = du_j R_u + dv_j R_v.
    #[inline(always)]
    fn add_row<T: Scalar>(&self, parts: &Parts, element: usize, i: usize, row: &mut RowSum<'_, T>) {
        let membrane = &self.list[element];
        let response = &parts.responses[element];
        *row.force += response.force(membrane, i);
        let (du, dv) = (membrane.du.map(T::of), membrane.dv.map(T::of));
        let [uu, vv] = [&response.h_uu, &response.h_vv].map(block_of);
        let (uv, vu) = (block_of(&response.h_uv), block_of(&response.h_uv.transpose()));
        let mut row_u = Block::default();
        let mut row_v = Block::default();
        add_scaled(&mut row_u, &uu, du[i]);
        add_scaled(&mut row_u, &vu, dv[i]);
        add_scaled(&mut row_v, &uv, du[i]);
        add_scaled(&mut row_v, &vv, dv[i]);
        for j in 0..3 {
            let block = row.block(j);
            add_scaled(block, &row_u, du[j]);
            add_scaled(block, &row_v, dv[j]);
        }
    }

    fn energy_since(&self, step: &Step, _: &mut Parts) -> f64 {
        sum(0..self.list.len(), (), &|rows, ()| {
            let energy =
                |m: &Membrane| energy_since(m, self.material(m), (step.x0, step.x1), step.h);
            self.list[rows].iter().map(energy).sum()
        })
    }

    /// Along u or v.
    fn largest_strain(&self, x: &[Vec3]) -> f64 {
        largest(self.list.len(), (), &|triangles, ()| {
            let mut largest: f64 = 0.0;
            for membrane in &self.list[triangles] {
                let (w_u, w_v) = directions(membrane, x);
                let [b_u, b_v] = self.material(membrane).rest_scale;
                let strain = (w_u.length() / b_u).max(w_v.length() / b_v) - 1.0;
                largest = if strain.is_nan() { f64::INFINITY } else { largest.max(strain) };
            }
            largest
        })
    }

    fn overshoot(
        &self,
        x0: &[Vec3],
        velocity: &(impl Fn(u32) -> Vec3 + Sync),
        h: f64,
        parts: &mut Parts,
    ) -> f64 {
        parts.pulls.resize(self.list.len(), Default::default());
        largest(self.list.len(), &mut parts.pulls[..], &|rows, pulls| {
            let mut worst: f64 = 0.0;
            for (m, pull) in self.list[rows].iter().zip(pulls) {
                let material = self.material(m);
                let at = |i: usize| velocity(m.nodes[i]);
                let (d1, d2) = (at(1) - at(0), at(2) - at(0));
                let shift = (h * (m.du[1] * d1 + m.du[2] * d2), h * (m.dv[1] * d1 + m.dv[2] * d2));
                let new = overshoot(m, material, x0, shift, h);
                let stiffness = m.area * material.stretch[0].min(material.stretch[1]);
                let change = (new.0 - pull.0).length().max((new.1 - pull.1).length());
                worst = worst.max(change / stiffness);
                *pull = new;
            }
            worst
        })
    }

    fn overshoot_force(&self, parts: &Parts, element: usize, corner: usize) -> Vec3 {
        let (membrane, (p_u, p_v)) = (&self.list[element], parts.pulls[element]);
        -(membrane.du[corner] * p_u + membrane.dv[corner] * p_v)
    }
}

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
pub fn energy(membrane: &Membrane, material: &Material, x: &[Vec3]) -> f64 {
    let (w_u, w_v) = directions(membrane, x);
    let c_u = w_u.length() - material.rest_scale[0];
    let c_v = w_v.length() - material.rest_scale[1];
    let c_s = w_u.dot(w_v);
    let [k_u, k_v] = material.stretch;
    0.5 * membrane.area * (k_u * c_u * c_u + k_v * c_v * c_v + material.shear * c_s * c_s)
}

/// Gradient and Hessian.
#[inline]
pub fn response(
    membrane: &Membrane,
    material: &Material,
    x: &[Vec3],
    weights: &Weights,
) -> Response {
    at(membrane, material, directions(membrane, x), [0.0; 3], weights)
}

/// Gradient and Hessian at `x` of the energy and of what damping takes since the triangle was at
/// `before`: with Ċ = (C − C₀)/h it acts like a further energy ½ A k (k_d/h)(C − C₀)².
#[inline]
pub fn response_since(
    membrane: &Membrane,
    material: &Material,
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
    at(membrane, material, w, lag, weights)
}

/// Energy and what damping takes, J; see [`response_since`].
#[inline]
pub fn energy_since(
    membrane: &Membrane,
    material: &Material,
    (before, x): (&[Vec3], &[Vec3]),
    h: f64,
) -> f64 {
    let ((u, v), (u0, v0)) = (directions(membrane, x), directions(membrane, before));
    let of =
        |k: f64, damping: f64, c: f64, change: f64| k * (c * c + damping / h * change * change);
    let (l_u, l_v, c_s) = (u.length(), v.length(), u.dot(v));
    let [k_u, k_v] = material.stretch;
    let [b_u, b_v] = material.rest_scale;
    let [d_s, d_h] = material.damping;
    0.5 * membrane.area
        * (of(k_u, d_s, l_u - b_u, l_u - u0.length())
            + of(k_v, d_s, l_v - b_v, l_v - v0.length())
            + of(material.shear, d_h, c_s, c_s - u0.dot(v0)))
}

/// Gradient and Hessian with damping adding `lag` to the conditions.
#[inline]
fn at(
    membrane: &Membrane,
    material: &Material,
    (w_u, w_v): (Vec3, Vec3),
    lag: [f64; 3],
    weights: &Weights,
) -> Response {
    let mut out = Response::default();
    let k = material.stretch.map(|k| membrane.area * k);
    let b = material.rest_scale;
    (out.p_u, out.h_uu) = stretch(w_u, k[0], b[0] - lag[0], weights);
    (out.p_v, out.h_vv) = stretch(w_v, k[1], b[1] - lag[1], weights);
    shear(w_u, w_v, membrane.area * material.shear, lag[2], weights, &mut out);
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
    material: &Material,
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
    let [k_u, k_v] = material.stretch.map(|k| k * (1.0 + material.damping[0] / h));
    let [b_u, b_v] = material.rest_scale;
    let k_s = material.shear * (1.0 + material.damping[1] / h);
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

impl Membrane {
    /// A triangle with these rest coordinates of its corners (m), if they enclose an area:
    /// (w_u w_v) = (Δx₁ Δx₂)(Δu₁ Δu₂; Δv₁ Δv₂)⁻¹ as weights of the corners (baraff1998).
    pub fn new(nodes: &[u32; 3], uv: &[[f64; 2]; 3]) -> Option<Membrane> {
        let (u1, v1) = (uv[1][0] - uv[0][0], uv[1][1] - uv[0][1]);
        let (u2, v2) = (uv[2][0] - uv[0][0], uv[2][1] - uv[0][1]);
        let det = u1 * v2 - u2 * v1;
        let longest =
            [u1, v1, u2, v2, u2 - u1, v2 - v1].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        // slimmer than a millionth of its length: no area that arithmetic can trust
        if det.abs() <= 1e-6 * longest * longest || det.abs() < 1e-18 {
            return None;
        }
        let du = [(v1 - v2) / det, v2 / det, -v1 / det];
        let dv = [(u2 - u1) / det, -u2 / det, u1 / det];
        Some(Membrane { nodes: *nodes, du, dv, area: 0.5 * det.abs(), material: 0 })
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
