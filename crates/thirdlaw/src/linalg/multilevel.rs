//! The multilevel preconditioner: smoothed aggregation.
//!
//!   z = S (D⁻¹ + P V Pᵀ) S r
//!
//! D is the diagonal of particles and bodies, with the stencils that are in clusters (clusters.rs).
//! On the finest level D⁻¹ and the coarse levels are added up, so that one
//! application costs little more than the diagonal alone. V is one symmetric cycle over the coarse
//! levels: a damped step with the diagonal, the next level, and a damped step again; the last level
//! is solved directly. P spreads the velocities of aggregates over their particles (hierarchy.rs).
//! The coarse matrices are Pᵀ (S A S + I − S) P (galerkin.rs) with the stencils, which need no
//! pattern: k g gᵀ becomes k (Pᵀg)(Pᵀg)ᵀ.
//!
//! Block Jacobi alone needs iterations in proportion to the number of edges that a pull must travel.
//! With the levels their number hardly depends on the mesh.

use super::block::{
    Block, Lane, Pattern, Scalar, block_of, dot, matrix, multiply_add, multiply_rows,
};
use super::bodies::BodyPrecondition;
use super::cholesky::Cholesky;
use super::clusters::Clusters;
use super::filter::{Filter, Hold};
use super::hierarchy::{DIRECT_NODES, Level, Weights};
use super::precondition::{BlockJacobi, Precondition};
use super::stencil::{SpreadStencils, Stencils};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};
use crate::parallel::loops::{each, sum};

/// Numbers of all levels for one matrix.
#[derive(Clone, Debug, Default)]
pub struct Multilevel<T> {
    /// The finest level.
    pub jacobi: BlockJacobi<T>,
    bodies: BodyPrecondition,
    clusters: Clusters,
    coarse: Vec<Coarse<T>>,
    direct: Cholesky,
    right: Vec<f64>,
    /// The filter that the coarse matrices were made with.
    holds: Vec<Hold>,
}

/// Numbers of a coarse level.
#[derive(Clone, Debug, Default)]
struct Coarse<T> {
    /// A P of the level above.
    product: Vec<Block<T>>,
    blocks: Vec<Block<T>>,
    stencils: SpreadStencils<T>,
    diagonal: Vec<Mat3>,
    /// ω D⁻¹.
    inverse: Vec<Block<T>>,
    r: Vec<Lane<T>>,
    z: Vec<Lane<T>>,
    q: Vec<Lane<T>>,
}

/// Fewest particles and edges travelled for which the levels pay.
const PAYS_NODES: usize = 4000;
/// See `PAYS_NODES`.
const PAYS_REACH: f64 = 20.0;
/// Steps of the power method for the largest eigenvalue of D⁻¹A of a coarse level.
const POWER_STEPS: usize = 4;
/// Damping, relative to the largest eigenvalue found; the method needs less than 2 over the true one,
/// and a few power steps find more than three quarters of that.
const DAMPING: f64 = 1.25;
/// Coarse matrices are made anew when more holds than this have changed, and more than a tenth.
const CHANGED_MAX: usize = 32;

impl<T: Scalar> Multilevel<T> {
    /// Makes the numbers of all levels for a new matrix, or only those that follow the filter and
    /// the stencils where the matrix is `known`.
    pub fn update(
        &mut self,
        levels: &[Level],
        (pattern, blocks): (&Pattern, &[Block<T>]),
        masses: &[BodyMass],
        stencils: &Stencils<T>,
        filter: &Filter<T>,
        known: bool,
    ) {
        let Multilevel { jacobi, bodies, clusters, .. } = self;
        if !known || jacobi.plain.len() != pattern.rows() {
            jacobi.renew((pattern, blocks));
        }
        clusters.gather(stencils, filter, &jacobi.plain, masses);
        jacobi.update((pattern, blocks), (stencils, clusters), filter);
        bodies.update(masses, (pattern, blocks), filter, (stencils, clusters));
        clusters.form(stencils, filter, &jacobi.inverse, bodies);
        self.coarse.resize_with(levels.len(), Coarse::default);
        let stale = !known || changes(&self.holds, &filter.holds);
        if !stale && stencils.list.is_empty() {
            return;
        }
        if stale {
            self.holds.clone_from(&filter.holds);
        }
        for (k, level) in levels.iter().enumerate() {
            let (above, rest) = self.coarse.split_at_mut(k);
            let coarse = &mut rest[0];
            match above.last() {
                Some(above) => {
                    if stale {
                        coarse.form(level, (&levels[k - 1].pattern, &above.blocks), None);
                    }
                    coarse.stencils.coarsen(&above.stencils, &level.weights);
                }
                None => {
                    if stale {
                        coarse.form(level, (pattern, blocks), Some(filter));
                    }
                    coarse.stencils.spread(stencils, filter, &level.weights);
                }
            }
            if k + 1 < levels.len() || !is_direct(level) {
                coarse.invert(&level.pattern);
            } else {
                coarse.factor(&level.pattern, &mut self.direct);
            }
        }
    }

    /// z ← V r of level `k`, whose right side is in place.
    fn cycle(&mut self, levels: &[Level], k: usize) {
        let last = k + 1 == levels.len();
        let (here, below) = self.coarse.split_at_mut(k + 1);
        let here = &mut here[k];
        let pattern = &levels[k].pattern;
        if last && is_direct(&levels[k]) {
            self.right.clear();
            self.right.extend(here.r.iter().flat_map(|r| [r[0].wide(), r[1].wide(), r[2].wide()]));
            self.direct.solve(&mut self.right);
            for (z, x) in here.z.iter_mut().zip(self.right.chunks_exact(3)) {
                *z = [T::of(x[0]), T::of(x[1]), T::of(x[2]), T::default()];
            }
            return;
        }
        here.smooth_from_zero();
        if !last {
            here.residual(pattern);
            restrict(&levels[k + 1].transposed, &here.q, &mut below[0].r);
            self.cycle(levels, k + 1);
            let (here, below) = self.coarse.split_at_mut(k + 1);
            prolong_add(&levels[k + 1].weights, &below[0].z, &mut here[k].z);
        }
        self.coarse[k].residual(pattern);
        self.coarse[k].smooth();
    }
}

/// Whether the levels pay for a matrix with these diagonal blocks. Block Jacobi takes iterations in
/// proportion to how far a pull travels in a step, √(A_ii/m) edges or the whole mesh; that many must
/// be worth more than setting up the levels.
pub fn pays<T: Scalar>(pattern: &Pattern, blocks: &[Block<T>], mass: &[f64]) -> bool {
    let mut total = 0.0;
    // every eighth particle tells enough
    let some = (0..mass.len()).step_by(8);
    let count = some.len() as f64;
    for i in some {
        let own = &blocks[pattern.diagonal[i] as usize];
        let trace = own[0][0].wide() + own[1][1].wide() + own[2][2].wide();
        total += (trace / mass[i]).sqrt();
    }
    let reach = (total / count).min((mass.len() as f64).sqrt());
    mass.len() >= PAYS_NODES && reach > PAYS_REACH
}

/// Whether enough holds differ for the coarse matrices to be made anew.
fn changes(old: &[Hold], new: &[Hold]) -> bool {
    let (mut i, mut j, mut changed) = (0, 0, 0);
    while i < old.len() || j < new.len() {
        let a = old.get(i).map_or(u32::MAX, |h| h.particle);
        let b = new.get(j).map_or(u32::MAX, |h| h.particle);
        changed += usize::from(a != b || old[i].free != new[j].free);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    changed > CHANGED_MAX && 10 * changed > new.len()
}

fn is_direct(level: &Level) -> bool {
    level.pattern.rows() <= DIRECT_NODES
}

impl<T: Scalar> Coarse<T> {
    /// The matrix from that of the level above.
    fn form(
        &mut self,
        level: &Level,
        (pattern, blocks): (&Pattern, &[Block<T>]),
        filter: Option<&Filter<T>>,
    ) {
        let nodes = level.pattern.rows();
        self.product.resize(level.galerkin.product_len(), Block::default());
        self.blocks.resize(level.pattern.column.len(), Block::default());
        for v in [&mut self.r, &mut self.z, &mut self.q] {
            v.resize(nodes, [T::default(); 4]);
        }
        level.galerkin.product(pattern, blocks, &level.weights, filter, &mut self.product);
        level.galerkin.coarse(&level.pattern, &level.transposed, &self.product, &mut self.blocks);
    }

    /// ω D⁻¹.
    fn invert(&mut self, pattern: &Pattern) {
        let nodes = pattern.rows();
        self.diagonal.clear();
        self.diagonal.extend(pattern.diagonal.iter().map(|&d| matrix(&self.blocks[d as usize])));
        self.stencils.add_diagonal(&mut self.diagonal);
        self.inverse.resize(nodes, Block::default());
        let diagonal = &self.diagonal;
        each(nodes, &mut self.inverse[..], &|rows, inverse: &mut [Block<T>]| {
            for (d, inverse) in diagonal[rows].iter().zip(inverse) {
                *inverse = block_of(&d.inverse());
            }
        });
        let damping = T::of(DAMPING / self.largest_eigenvalue(pattern).max(1.0));
        for x in self.inverse.iter_mut().flatten().flatten() {
            *x = damping * *x;
        }
    }

    /// The largest eigenvalue of D⁻¹A, from below: (Av)ᵀD⁻¹(Av) / vᵀAv after a few power steps.
    fn largest_eigenvalue(&mut self, pattern: &Pattern) -> f64 {
        let mut seed = 1_u32;
        for z in &mut self.z {
            for x in &mut z[..3] {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *x = T::of(f64::from(seed >> 8) / f64::from(1 << 23) - 1.0);
            }
        }
        let mut largest = 0.0;
        for _ in 0..POWER_STEPS {
            self.multiply(pattern);
            let (inverse, q) = (&self.inverse, &self.q);
            let (mut above, mut below) = (0.0, 0.0);
            for (i, z) in self.z.iter_mut().enumerate() {
                below += dot(z, &q[i]).wide();
                *z = [T::default(); 4];
                multiply_add(z, &inverse[i], &q[i]);
                above += dot(z, &q[i]).wide();
            }
            if below <= 0.0 || below.is_nan() {
                break;
            }
            largest = above / below;
        }
        largest
    }

    /// The dense factors.
    fn factor(&mut self, pattern: &Pattern, direct: &mut Cholesky) {
        direct.reset(3 * pattern.rows());
        for i in 0..pattern.rows() {
            for place in pattern.range(i) {
                let j = pattern.column[place] as usize;
                for (c, column) in self.blocks[place].iter().enumerate() {
                    for (r, x) in column[..3].iter().enumerate() {
                        direct.add(3 * i + r, 3 * j + c, x.wide());
                    }
                }
            }
        }
        self.stencils.each_pair(|i, j, block| {
            for (c, column) in block.to_cols_array_2d().iter().enumerate() {
                for (r, x) in column.iter().enumerate() {
                    direct.add(3 * i + r, 3 * j + c, *x);
                }
            }
        });
        direct.factor();
    }

    /// q = A z.
    fn multiply(&mut self, pattern: &Pattern) {
        super::block::multiply(pattern, &self.blocks, &self.z, &mut self.q);
        self.stencils.apply(&self.z, &mut self.q);
    }

    /// q = r − A z.
    fn residual(&mut self, pattern: &Pattern) {
        let (blocks, z, r) = (&self.blocks, &self.z, &self.r);
        each(pattern.rows(), &mut self.q[..], &|rows, q: &mut [Lane<T>]| {
            multiply_rows(pattern, blocks, z, rows.clone(), q);
            for (q, r) in q.iter_mut().zip(&r[rows]) {
                for k in 0..4 {
                    q[k] = r[k] - q[k];
                }
            }
        });
        self.stencils.subtract(&self.z, &mut self.q);
    }

    /// z = ω D⁻¹ r.
    fn smooth_from_zero(&mut self) {
        for ((z, r), inverse) in self.z.iter_mut().zip(&self.r).zip(&self.inverse) {
            *z = [T::default(); 4];
            multiply_add(z, inverse, r);
        }
    }

    /// z += ω D⁻¹ q.
    fn smooth(&mut self) {
        for ((z, q), inverse) in self.z.iter_mut().zip(&self.q).zip(&self.inverse) {
            multiply_add(z, inverse, q);
        }
    }
}

/// coarse = Pᵀ fine.
fn restrict<T: Scalar>(transposed: &Weights, fine: &[Lane<T>], coarse: &mut [Lane<T>]) {
    each(coarse.len(), coarse, &|rows, coarse: &mut [Lane<T>]| {
        for (c, out) in rows.zip(coarse) {
            *out = weighted(transposed.row(c), fine);
        }
    });
}

/// fine += P coarse.
fn prolong_add<T: Scalar>(weights: &Weights, coarse: &[Lane<T>], fine: &mut [Lane<T>]) {
    each(fine.len(), fine, &|rows, fine: &mut [Lane<T>]| {
        for (i, out) in rows.zip(fine) {
            let add = weighted(weights.row(i), coarse);
            for k in 0..4 {
                out[k] += add[k];
            }
        }
    });
}

#[inline(always)]
fn weighted<T: Scalar>(row: &[(u32, f32)], from: &[Lane<T>]) -> Lane<T> {
    let mut out = [T::default(); 4];
    for &(i, w) in row {
        let w = T::of(f64::from(w));
        for (out, x) in out.iter_mut().zip(&from[i as usize]) {
            *out += w * *x;
        }
    }
    out
}

/// The numbers with the levels they belong to.
#[derive(Debug)]
pub struct Levelled<'a, T> {
    /// Constant part.
    pub levels: &'a [Level],
    /// Numbers, up to date.
    pub numbers: &'a mut Multilevel<T>,
}

impl<T: Scalar> Precondition<T> for Levelled<'_, T> {
    fn apply(
        &mut self,
        filter: &Filter<T>,
        (r, r_bodies): (&[Lane<T>], &[[Vec3; 2]]),
        (z, z_bodies): (&mut [Lane<T>], &mut [[Vec3; 2]]),
    ) -> f64 {
        let mut along = self.particles(filter, r, z);
        for (i, (r, z)) in r_bodies.iter().zip(&mut *z_bodies).enumerate() {
            *z = self.numbers.bodies.apply(i, r);
            along += r[0].dot(z[0]) + r[1].dot(z[1]);
        }
        along + self.numbers.clusters.apply((r, r_bodies), (z, z_bodies))
    }

    fn diagonal(&self) -> Option<&[Block<T>]> {
        let Multilevel { jacobi, clusters, bodies, .. } = &*self.numbers;
        let plain = self.levels.is_empty() && clusters.is_empty() && bodies.is_empty();
        plain.then_some(&jacobi.inverse)
    }
}

impl<T: Scalar> Levelled<'_, T> {
    /// z ← P⁻¹ r of particles without clusters; returns r·z.
    fn particles(&mut self, filter: &Filter<T>, r: &[Lane<T>], z: &mut [Lane<T>]) -> f64 {
        let Some(first) = self.levels.first() else {
            return self.numbers.jacobi.apply(r, z);
        };
        restrict(&first.transposed, r, &mut self.numbers.coarse[0].r);
        self.numbers.cycle(self.levels, 0);
        let (coarse, inverse) = (&self.numbers.coarse[0].z, &self.numbers.jacobi.inverse);
        sum(0..r.len(), z, &|rows, z: &mut [Lane<T>]| {
            let mut along = T::default();
            for (i, z) in rows.zip(z) {
                *z = filter.apply(i, &weighted(first.weights.row(i), coarse));
                multiply_add(z, &inverse[i], &r[i]);
                along += dot(&r[i], z);
            }
            along.wide()
        })
    }
}
