//! The flat contact problem that every solver takes.
//!
//! Rows of the complementarity problem of [tonge2012, Eq. 6 and 40–41], grouped in blocks; a block
//! is all rows between two sides. With J the row Jacobians, N = J M⁻¹ Jᵀ, and v the velocities that
//! the solver is handed (already v⁰, the velocities after external forces), a solution satisfies for
//! every row i
//!
//!   w = J v + b + Γ z,    l ≤ z ≤ u,    w ≥ 0 where z = l,  w ≤ 0 where z = u,  w = 0 between.
//!
//! b (`bias`) carries restitution, speculative gaps and position correction; Γ (`compliance`, ≥ 0)
//! softens a row. The paper has b = 0 and Γ = 0. The print's `q + Jv` counts Jv⁰ twice when v starts
//! at v⁰; here the residual is J v + b of the current velocities alone.
//!
//! All arrays are plain, so that a GPU can take them by copy.

use crate::math::{Mat3, Twist, Vec3};

/// One contact or constraint problem. Solvers read it and change velocities and impulses only.
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    /// Inverse masses of the rigid bodies; a body with zeros moves as prescribed.
    pub bodies: Vec<BodyMass>,
    /// Inverse masses of the particles, 1/kg.
    pub particles: Vec<f64>,
    /// Blocks, each with consecutive rows. The order is the order of a Gauss–Seidel sweep.
    pub blocks: Vec<Block>,
    /// All rows, block after block. Within a block a contact point is three rows: its normal row
    /// followed by its two friction rows.
    pub rows: Vec<Row>,
    /// How friction rows are bounded.
    pub friction: FrictionModel,
}

/// What resists an impulse on a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyMass {
    /// 1/kg along each world axis (an axis lock sets one to zero).
    pub inv_mass: Vec3,
    /// Inverse inertia about the centre of mass in world axes, 1/(kg·m²).
    pub inv_inertia: Mat3,
}

/// All rows between two sides.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Side pushed along −`direction` by a positive impulse.
    pub a: Side,
    /// Side pushed along +`direction` by a positive impulse.
    pub b: Side,
    /// First row of this block in `rows`.
    pub row_start: u32,
    /// Number of rows.
    pub row_count: u32,
}

/// What a row pushes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The fixed world.
    World,
    /// A rigid body, by its index in `ContactProblem::bodies`.
    Body(u32),
    /// One to four particles with weights (vertex, edge, triangle): the side's velocity is the
    /// weighted sum. Unused entries have weight 0 and repeat a used index.
    Particles {
        /// Indices into `ContactProblem::particles`.
        index: [u32; 4],
        /// Weight of each.
        weight: [f64; 4],
    },
}

/// One row of J with its bounds: (J v) = direction·(v_b − v_a) + arm_b·ω_b − arm_a·ω_a.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Unit direction from a to b (the contact normal, or a tangent).
    pub direction: Vec3,
    /// r_a × direction; not read where side a is not a rigid body.
    pub arm_a: Vec3,
    /// r_b × direction; not read where side b is not a rigid body.
    pub arm_b: Vec3,
    /// b: wanted relative velocity is −b, m/s.
    pub bias: f64,
    /// Γ: velocity given way per impulse, m/s per N·s.
    pub compliance: f64,
    /// Bounds of the impulse.
    pub bound: Bound,
}

/// Which impulses a row may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// l ≤ z ≤ u, N·s: (0, ∞) for a contact normal, (−∞, ∞) for a joint row.
    Interval {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// |z| ≤ μ z_normal. Friction rows come in pairs of consecutive rows on the same normal.
    Friction {
        /// Index in `rows` of the normal row.
        normal: u32,
        /// μ.
        coefficient: f64,
    },
}

/// How the two friction rows of a contact are bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FrictionModel {
    /// ‖(z₁, z₂)‖ ≤ μ z_n: the Coulomb cone, the same in every direction.
    #[default]
    Cone,
    /// |z₁|, |z₂| ≤ μ z_n each: the paper's boxed problem; up to 41 % too strong at 45°.
    Pyramid,
}

/// The velocities of all nodes of a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Velocities {
    /// One per rigid body.
    pub bodies: Vec<Twist>,
    /// One per particle, m/s.
    pub particles: Vec<Vec3>,
}
