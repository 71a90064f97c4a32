//! One pass over the rows of one block: the projections that all solvers share.
//!
//! An interval row takes z ← clamp(z − ω E w, l, u) with w = J v + b + Γ z and E = 1/(N_ii + Γ_i)
//! ([tonge2012, Eq. 9 and 14 with the bounds of Eq. 39]; compliance is ours).
//!
//! The two friction rows of a contact are one step. With A their 2×2 part of N + Γ and λ its larger
//! eigenvalue: z − ω A⁻¹w if that lies in the disc of radius μ z_n, else z − (ω/λ) w projected onto
//! the disc. Both decrease ½zᵀAz + zᵀq, and a point that the second one leaves alone has w
//! antiparallel to z: sliding friction of greatest dissipation. The paper clamps each row
//! (`FrictionModel::Pyramid`).

use super::problem::{Block, Bound, ContactProblem, Row};
use super::row::{Pair, row_apply, row_response, row_velocity};
use crate::math::worse;
use crate::model::settings::FrictionModel;

/// Most passes more over the normals of a block where something lands.
pub(super) const LANDINGS: usize = 24;
/// Share of the speed of an impact to which the points of a block come to agree about it.
pub(super) const LANDED: f64 = 1e-3;
/// Speed from which an impact is one, m/s: far below what is seen, far above what moves at rest.
pub(super) const FAST: f64 = 0.01;

/// Which rows an iteration works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows with `Bound::Interval`: contact normals, joints [tonge2012, Eq. 40].
    Normal,
    /// Rows with `Bound::Friction` [tonge2012, Eq. 41].
    Friction,
    /// All rows. Solvers that work block by block take the friction rows of a block, then its
    /// normals, so that what must not penetrate has the last word; the others take all normals,
    /// then all friction.
    Both,
    /// All rows, normals before friction everywhere: for velocities that stay, of which the loads are not
    /// known before.
    Loaded,
}

impl Part {
    /// Whether friction comes before the normals, whether these come, and whether friction comes after them.
    pub fn order(self) -> [bool; 3] {
        match self {
            Part::Normal => [false, true, false],
            Part::Friction => [true, false, false],
            Part::Both => [true, true, false],
            Part::Loaded => [false, true, true],
        }
    }
}

/// How the sides of a block answer one row; for the first of two friction rows, how they answer
/// both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effective {
    /// N_ii + Γ_i.
    pub response: f64,
    /// E_i = 1/(N_ii + Γ_i); 0 where nothing can move.
    pub inverse: f64,
    /// N_ik with the other friction row.
    pub cross: f64,
    /// The larger eigenvalue of the 2×2 response; for an interval row its response.
    pub largest: f64,
}

/// One block's rows, as one solver sees them.
pub(super) struct BlockRows<'a> {
    pub rows: &'a [Row],
    pub effective: &'a [Effective],
    /// Index of the first row in the problem.
    pub start: usize,
    pub model: FrictionModel,
    /// ω: 1, or the under-relaxation of [tonge2012, Eq. 11].
    pub relax: f64,
}

/// Responses of all rows of a block.
pub(super) fn measure(rows: &[Row], pair: &Pair, out: &mut [Effective]) {
    let mut i = 0;
    while i < rows.len() {
        let row = &rows[i];
        out[i] = effective(row_response(row, row, pair) + row.compliance);
        if matches!(row.bound, Bound::Friction { .. }) && i + 1 < rows.len() {
            let other = &rows[i + 1];
            out[i + 1] = effective(row_response(other, other, pair) + other.compliance);
            let (a, c) = (out[i].response, out[i + 1].response);
            let b = row_response(row, other, pair);
            let half = 0.5 * (a - c);
            let largest = 0.5 * (a + c) + (half * half + b * b).sqrt();
            for out in &mut out[i..i + 2] {
                out.cross = b;
                out.largest = largest;
            }
            i += 1;
        }
        i += 1;
    }
}

fn effective(response: f64) -> Effective {
    let inverse = if response > 0.0 { 1.0 / response } else { 0.0 };
    Effective { response, inverse, cross: 0.0, largest: response }
}

/// One pass over the rows of `part`. `SEQUENTIAL`: each row sees what the rows before it did
/// (Gauss–Seidel), else all see the velocities as gathered (Jacobi). `WRENCH`: also sum up the turns
/// in `pair`. Returns the largest natural-map residual that a row had when its turn came, m/s.
#[inline]
pub(super) fn sweep<const SEQUENTIAL: bool, const WRENCH: bool>(
    block: &BlockRows,
    part: Part,
    impulses: &mut [f64],
    pair: &mut Pair,
) -> f64 {
    match part {
        Part::Normal => normals::<SEQUENTIAL, WRENCH>(block, impulses, pair),
        Part::Friction => frictions::<SEQUENTIAL, WRENCH>(block, impulses, pair),
        Part::Both => {
            let friction = frictions::<SEQUENTIAL, WRENCH>(block, impulses, pair);
            worse(friction, landing::<SEQUENTIAL, WRENCH>(block, impulses, pair))
        }
        Part::Loaded => {
            let normal = landing::<SEQUENTIAL, WRENCH>(block, impulses, pair);
            worse(normal, frictions::<SEQUENTIAL, WRENCH>(block, impulses, pair))
        }
    }
}

/// Normals, again and again where something lands: errors of an impact would be a speed at which it comes back,
/// or turn what lands flat. Returns what the first pass met.
#[inline]
fn landing<const SEQUENTIAL: bool, const WRENCH: bool>(
    block: &BlockRows,
    impulses: &mut [f64],
    pair: &mut Pair,
) -> f64 {
    let first = normals::<SEQUENTIAL, WRENCH>(block, impulses, pair);
    let mut met = first;
    for _ in 0..LANDINGS {
        if !SEQUENTIAL || met <= (LANDED * first).max(FAST) {
            break;
        }
        met = normals::<SEQUENTIAL, WRENCH>(block, impulses, pair);
    }
    first
}

#[inline]
fn normals<const SEQUENTIAL: bool, const WRENCH: bool>(
    block: &BlockRows,
    impulses: &mut [f64],
    pair: &mut Pair,
) -> f64 {
    let mut residual = 0.0;
    for ((row, e), z) in block.rows.iter().zip(block.effective).zip(impulses) {
        let Bound::Interval { lower, upper } = row.bound else { continue };
        if e.inverse == 0.0 {
            continue;
        }
        let w = row_velocity(row, pair) + row.bias + row.compliance * *z;
        let z1 = (*z - block.relax * e.inverse * w).max(lower).min(upper);
        let dz = z1 - *z;
        *z = z1;
        act::<SEQUENTIAL, WRENCH>(row, pair, dz);
        residual = worse(residual, dz.abs() * e.response);
    }
    residual
}

#[inline]
fn frictions<const SEQUENTIAL: bool, const WRENCH: bool>(
    block: &BlockRows,
    impulses: &mut [f64],
    pair: &mut Pair,
) -> f64 {
    let mut residual = 0.0;
    let mut i = 0;
    while i + 1 < block.rows.len() {
        let Bound::Friction { normal, coefficient } = block.rows[i].bound else {
            i += 1;
            continue;
        };
        let radius = coefficient * impulses[normal as usize - block.start].max(0.0);
        let moved = match block.model {
            FrictionModel::Cone => {
                let rows = [&block.rows[i], &block.rows[i + 1]];
                let z = [impulses[i], impulses[i + 1]];
                let defect = |k: usize| {
                    row_velocity(rows[k], pair) + rows[k].bias + rows[k].compliance * z[k]
                };
                let w = [defect(0), defect(1)];
                let z1 = disc_step(&block.effective[i..i + 2], z, w, radius, block.relax);
                for k in 0..2 {
                    impulses[i + k] = z1[k];
                    act::<SEQUENTIAL, WRENCH>(rows[k], pair, z1[k] - z[k]);
                }
                (z1[0] - z[0]).abs().max((z1[1] - z[1]).abs())
            }
            FrictionModel::Pyramid => {
                let mut moved: f64 = 0.0;
                for (k, z) in (i..i + 2).zip(&mut impulses[i..i + 2]) {
                    let row = &block.rows[k];
                    let w = row_velocity(row, pair) + row.bias + row.compliance * *z;
                    let step = block.relax * block.effective[k].inverse * w;
                    let z1 = (*z - step).max(-radius).min(radius);
                    let dz = z1 - *z;
                    *z = z1;
                    act::<SEQUENTIAL, WRENCH>(row, pair, dz);
                    moved = moved.max(dz.abs());
                }
                moved
            }
        };
        residual = worse(residual, moved * block.effective[i].largest);
        i += 2;
    }
    residual
}

/// The step of two friction rows within the disc, as the module header says.
#[inline]
pub(super) fn disc_step(
    e: &[Effective],
    z: [f64; 2],
    w: [f64; 2],
    radius: f64,
    relax: f64,
) -> [f64; 2] {
    let (a, b, c) = (e[0].response, e[0].cross, e[1].response);
    let determinant = a * c - b * b;
    // nearly rank one (one tangent cannot move): the inverse would only amplify round-off
    if determinant > 1e-12 * a * c {
        let k = relax / determinant;
        let z1 = [z[0] - k * (c * w[0] - b * w[1]), z[1] - k * (a * w[1] - b * w[0])];
        if z1[0] * z1[0] + z1[1] * z1[1] <= radius * radius {
            return z1;
        }
    }
    let k = if e[0].largest > 0.0 { relax / e[0].largest } else { 0.0 };
    project_disc([z[0] - k * w[0], z[1] - k * w[1]], radius)
}

/// The point of the disc nearest to `z`.
#[inline]
pub(super) fn project_disc(z: [f64; 2], radius: f64) -> [f64; 2] {
    let length = (z[0] * z[0] + z[1] * z[1]).sqrt();
    if length <= radius {
        return z;
    }
    let k = radius / length;
    [z[0] * k, z[1] * k]
}

#[inline(always)]
fn act<const SEQUENTIAL: bool, const WRENCH: bool>(row: &Row, pair: &mut Pair, dz: f64) {
    pair.push += row.direction * dz;
    if WRENCH {
        pair.turn_a += row.arm_a * dz;
        pair.turn_b += row.arm_b * dz;
    }
    if SEQUENTIAL {
        row_apply(row, pair, dz);
    }
}

/// The largest natural-map residual of a block's rows, m/s.
pub(super) fn block_residual(block: &BlockRows, impulses: &[f64], pair: &Pair) -> f64 {
    let mut residual = 0.0;
    for_residuals(block, impulses, pair, |_, of_row| residual = worse(residual, of_row));
    residual
}

/// Calls `f` with every row of a block that can move and its natural-map residual
/// |z − proj(z − E w)|/E, m/s; of two friction rows with the first, for both.
pub(super) fn for_residuals(
    block: &BlockRows,
    impulses: &[f64],
    pair: &Pair,
    mut f: impl FnMut(usize, f64),
) {
    let mut i = 0;
    while i < block.rows.len() {
        let e = &block.effective[i];
        match block.rows[i].bound {
            Bound::Interval { lower, upper } => {
                if e.inverse > 0.0 {
                    let w = block.defect(i, impulses, pair);
                    let z1 = (impulses[i] - e.inverse * w).max(lower).min(upper);
                    f(i, (impulses[i] - z1).abs() * e.response);
                }
                i += 1;
            }
            Bound::Friction { normal, coefficient } => {
                if i + 1 < block.rows.len() && e.largest > 0.0 {
                    let radius = coefficient * impulses[normal as usize - block.start].max(0.0);
                    let z = [impulses[i], impulses[i + 1]];
                    let y = [0, 1].map(|k| z[k] - block.defect(i + k, impulses, pair) / e.largest);
                    let z1 = match block.model {
                        FrictionModel::Cone => project_disc(y, radius),
                        FrictionModel::Pyramid => y.map(|y| y.max(-radius).min(radius)),
                    };
                    let gap = ((z[0] - z1[0]).powi(2) + (z[1] - z1[1]).powi(2)).sqrt();
                    f(i, gap * e.largest);
                }
                i += 2;
            }
        }
    }
}

impl<'a> BlockRows<'a> {
    /// The rows of block `i`.
    #[inline]
    pub fn of(problem: &'a ContactProblem, i: usize, effective: &'a [Effective]) -> BlockRows<'a> {
        let block = &problem.blocks[i];
        BlockRows::new(problem, block, &effective[block.rows()])
    }

    /// The rows of a block, with their own effective masses.
    #[inline]
    pub fn new(
        problem: &'a ContactProblem,
        block: &Block,
        effective: &'a [Effective],
    ) -> BlockRows<'a> {
        BlockRows {
            rows: &problem.rows[block.rows()],
            effective,
            start: block.row_start as usize,
            model: problem.friction,
            relax: 1.0,
        }
    }

    /// w = J v + b + Γ z of row `i`, m/s.
    #[inline(always)]
    pub fn defect(&self, i: usize, impulses: &[f64], pair: &Pair) -> f64 {
        let row = &self.rows[i];
        row_velocity(row, pair) + row.bias + row.compliance * impulses[i]
    }
}
