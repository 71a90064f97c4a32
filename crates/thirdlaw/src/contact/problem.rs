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

use crate::math::mass::BodyMass;
use crate::math::{Twist, Vec3};
use crate::model::settings::FrictionModel;

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
    /// What the order of `shuffled_pgs` is drawn from; other solvers do not read it.
    pub seed: u64,
}

/// All rows between two sides.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// ContactSide pushed along −`direction` by a positive impulse.
    pub a: ContactSide,
    /// ContactSide pushed along +`direction` by a positive impulse.
    pub b: ContactSide,
    /// First row of this block in `rows`.
    pub row_start: u32,
    /// Number of rows.
    pub row_count: u32,
    /// What the block is, whatever its place in `blocks`: distinct in a problem, and the same for
    /// the same pair of sides from step to step. Sums over blocks run in the order of keys.
    pub key: u64,
}

/// What a row pushes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactSide {
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

/// What makes a problem unfit to be solved, found by [`ContactProblem::validate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemError {
    /// The rows of this block do not follow those of the block before it, or run past the end.
    RowRange(usize),
    /// A row belongs to no block.
    LooseRows,
    /// This block names a body or a particle that is not there.
    Index(usize),
    /// Both sides of this block act on the same body or particle.
    SharedNode(usize),
    /// This block has the key of another one.
    Key(usize),
    /// A number of this row is not finite, its bounds are crossed, or Γ or μ is negative.
    Number(usize),
    /// This friction row is not one of two consecutive rows on a normal row of the same block.
    Friction(usize),
}

impl ContactProblem {
    /// Checks everything that solvers take for granted. For tests and debug builds: it costs a pass
    /// over all rows and allocates.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let mut next = 0;
        let mut keys = std::collections::BTreeSet::new();
        for (i, block) in self.blocks.iter().enumerate() {
            let end = u64::from(block.row_start) + u64::from(block.row_count);
            if block.row_start as usize != next || end > self.rows.len() as u64 {
                return Err(ProblemError::RowRange(i));
            }
            next = end as usize;
            if !keys.insert(block.key) {
                return Err(ProblemError::Key(i));
            }
            self.validate_sides(i)?;
            self.validate_rows(block)?;
        }
        if next == self.rows.len() { Ok(()) } else { Err(ProblemError::LooseRows) }
    }

    fn validate_sides(&self, i: usize) -> Result<(), ProblemError> {
        let mut used = Vec::new();
        for side in [self.blocks[i].a, self.blocks[i].b] {
            match side {
                ContactSide::World => {}
                ContactSide::Body(body) if (body as usize) < self.bodies.len() => {
                    used.push((0, body))
                }
                ContactSide::Body(_) => return Err(ProblemError::Index(i)),
                ContactSide::Particles { index, weight } => {
                    for (index, weight) in index.into_iter().zip(weight) {
                        if index as usize >= self.particles.len() || !weight.is_finite() {
                            return Err(ProblemError::Index(i));
                        }
                        if weight != 0.0 {
                            used.push((1, index));
                        }
                    }
                }
            }
        }
        used.sort_unstable();
        if used.windows(2).any(|w| w[0] == w[1]) {
            return Err(ProblemError::SharedNode(i));
        }
        Ok(())
    }

    fn validate_rows(&self, block: &Block) -> Result<(), ProblemError> {
        let range = block.rows();
        let mut i = range.start;
        while i < range.end {
            let row = &self.rows[i];
            let finite =
                row.direction.is_finite() && row.arm_a.is_finite() && row.arm_b.is_finite();
            if !finite || !row.bias.is_finite() || row.compliance < 0.0 || row.compliance.is_nan() {
                return Err(ProblemError::Number(i));
            }
            match row.bound {
                Bound::Interval { lower, upper } => {
                    if lower > upper || lower.is_nan() || upper.is_nan() {
                        return Err(ProblemError::Number(i));
                    }
                    i += 1;
                }
                Bound::Friction { normal, coefficient } => {
                    if coefficient < 0.0 || coefficient.is_nan() {
                        return Err(ProblemError::Number(i));
                    }
                    let on_normal = range.contains(&(normal as usize))
                        && matches!(self.rows[normal as usize].bound, Bound::Interval { .. });
                    let paired = i + 1 < range.end && self.rows[i + 1].bound == row.bound;
                    if !on_normal || !paired {
                        return Err(ProblemError::Friction(i));
                    }
                    i += 2;
                }
            }
        }
        Ok(())
    }
}

impl Block {
    /// The rows of this block.
    #[inline]
    pub fn rows(&self) -> std::ops::Range<usize> {
        let start = self.row_start as usize;
        start..start + self.row_count as usize
    }
}

/// The velocities of all nodes of a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Velocities {
    /// One per rigid body.
    pub bodies: Vec<Twist>,
    /// One per particle, m/s.
    pub particles: Vec<Vec3>,
}
