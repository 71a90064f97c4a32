//! Isotropic laws in principal stretches.
//!
//! With F = U diag(σ) Vᵀ an isotropic Ψ is a function of σ alone. Then P = U diag(Ψ_a) Vᵀ, and ∂²Ψ/∂F² in
//! the frames U, V has the 3×3 matrix Ψ_ab for changes of the stretches, and for each pair of axes
//! a ≠ b the two eigenvalues (Ψ_a − Ψ_b)/(σ_a − σ_b) and (Ψ_a + Ψ_b)/(σ_a + σ_b) of changes across them
//! [smith2019]. Negative ones are set to zero, which gives the nearest stiffness that is never negative
//! [teran2005].

use crate::math::svd::{SignedSvd, signed_svd, without_negative};
use crate::math::{Mat3, Vec3};

/// Blocks of the corners (1,1), (2,2), (3,3), (1,2), (1,3), (2,3).
pub type Blocks = [Mat3; 6];

/// The corners of each block, counted from 0.
pub const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

/// Ψ at principal stretches σ.
#[derive(Clone, Copy, Debug)]
pub struct Principal {
    /// Ψ, J/m³.
    pub energy: f64,
    /// Ψ_a = ∂Ψ/∂σ_a, Pa.
    pub stress: Vec3,
    /// Ψ_ab, Pa.
    pub stiffness: Mat3,
}

/// A law: λ, μ and σ to Ψ and its derivatives.
pub type At = fn([f64; 2], Vec3) -> Principal;

/// A stiffness in frames of its own: along the axes, and for each pair of axes (1,2), (0,2), (0,1) what
/// a change F_ab meets of itself and of F_ba.
#[derive(Clone, Copy, Debug)]
pub struct Stiffness {
    along: Mat3,
    across: Vec3,
    mixed: Vec3,
}

/// Stretches nearer to each other than this share the mean of their derivatives.
const EVEN: f64 = 1e-5;

/// Ψ.
pub fn density(law: At, lame: [f64; 2], f: &Mat3) -> f64 {
    law(lame, signed_svd(f).values).energy
}

/// P, and the blocks of the stiffness between corners with these gradients, added.
#[inline]
pub fn respond(
    law: At,
    lame: [f64; 2],
    f: &Mat3,
    gradients: &[Vec3; 3],
    blocks: &mut Blocks,
) -> Mat3 {
    let SignedSvd { u, values, v } = signed_svd(f);
    let at = law(lame, values);
    let turned = gradients.map(|g| v.transpose() * g);
    Stiffness::projected(values, &at).add(&u, &turned, blocks);
    u * Mat3::from_diagonal(at.stress) * v.transpose()
}

impl Stiffness {
    /// Of a law at these stretches, without what is negative.
    fn projected(s: Vec3, at: &Principal) -> Stiffness {
        let mut across = Vec3::ZERO;
        let mut mixed = Vec3::ZERO;
        for (k, (a, b)) in [(1, 2), (0, 2), (0, 1)].into_iter().enumerate() {
            let (apart, total) = (s[a] - s[b], s[a] + s[b]);
            let h = &at.stiffness;
            let flip = if apart.abs() > EVEN * (s[a].abs() + s[b].abs()) {
                (at.stress[a] - at.stress[b]) / apart
            } else {
                0.5 * (h.col(a)[a] + h.col(b)[b]) - h.col(a)[b]
            };
            // stretches that cancel: any stiffness will do, and none is safest
            let sum = at.stress[a] + at.stress[b];
            let twist = if total > EVEN { sum / total } else { 0.0 };
            let (flip, twist) = (flip.max(0.0), twist.max(0.0));
            across[k] = 0.5 * (flip + twist);
            mixed[k] = 0.5 * (flip - twist);
        }
        Stiffness { along: without_negative(&at.stiffness), across, mixed }
    }

    /// Of a Hookean solid.
    pub fn hookean([lambda, mu]: [f64; 2]) -> Stiffness {
        let columns = [Vec3::X, Vec3::Y, Vec3::Z].map(|e| Vec3::splat(lambda) + 2.0 * mu * e);
        Stiffness {
            along: Mat3::from_cols(columns[0], columns[1], columns[2]),
            across: Vec3::splat(mu),
            mixed: Vec3::splat(mu),
        }
    }

    /// Adds `frame` · K · `frame`ᵀ, K the blocks between corners with these gradients.
    #[inline]
    pub fn add(&self, frame: &Mat3, gradients: &[Vec3; 3], blocks: &mut Blocks) {
        let Stiffness { along, across, mixed } = self;
        let (a, b, c) = (along.x_axis, along.y_axis, along.z_axis);
        for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
            let (g, l) = (gradients[i], gradients[j]);
            // entry (row p, column q): Ψ_pq g_p l_q + mixed_pq g_q l_p
            let x = Vec3::new(
                a.x * g.x * l.x + across.z * g.y * l.y + across.y * g.z * l.z,
                a.y * g.y * l.x + mixed.z * g.x * l.y,
                a.z * g.z * l.x + mixed.y * g.x * l.z,
            );
            let y = Vec3::new(
                b.x * g.x * l.y + mixed.z * g.y * l.x,
                b.y * g.y * l.y + across.z * g.x * l.x + across.x * g.z * l.z,
                b.z * g.z * l.y + mixed.x * g.y * l.z,
            );
            let z = Vec3::new(
                c.x * g.x * l.z + mixed.y * g.z * l.x,
                c.y * g.y * l.z + mixed.x * g.z * l.y,
                c.z * g.z * l.z + across.y * g.x * l.x + across.x * g.y * l.y,
            );
            *block += *frame * Mat3::from_cols(x, y, z) * frame.transpose();
        }
    }
}
