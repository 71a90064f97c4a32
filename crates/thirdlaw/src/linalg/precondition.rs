//! Preconditioners: approximate inverses of S A S + (I − S).

use super::block::{Block, Lane, Pattern, Scalar, block_of, matrix, multiply_add};
use super::clusters::Clusters;
use super::filter::{Filter, NONE};
use super::stencil::Stencils;
use crate::math::{Mat3, Vec3};
use crate::parallel::loops::{each, sum_light};
use std::ops::Range;

/// Something that makes z ≈ (S A S + I − S)⁻¹ r.
pub trait Precondition<T: Scalar>: Send + Sync {
    /// z ← P⁻¹ r of particles and bodies; returns r·z. `r` is filtered; z must be too.
    fn apply(
        &mut self,
        filter: &Filter<T>,
        r: (&[Lane<T>], &[[Vec3; 2]]),
        z: (&mut [Lane<T>], &mut [[Vec3; 2]]),
    ) -> f64;

    /// Its blocks, where it is nothing but one for each particle.
    fn diagonal(&self) -> Option<&[Block<T>]>;
}

/// The inverse of each diagonal block by itself.
#[derive(Clone, Debug, Default)]
pub struct BlockJacobi<T> {
    /// S (S A_ii S + I − S)⁻¹ S.
    pub inverse: Vec<Block<T>>,
    /// The inverse of A_ii alone, as it was when the matrix was new.
    pub plain: Vec<Block<T>>,
    /// What stencils add to A_ii.
    added: Vec<Mat3>,
    /// Rows where the two differ.
    special: Vec<u32>,
    /// Rows where A_ii has changed.
    marked: Vec<u32>,
    seen: Vec<bool>,
}

impl<T: Scalar> BlockJacobi<T> {
    /// Names rows whose A_ii is not the one that a new matrix was given with.
    pub fn mark(&mut self, rows: impl Iterator<Item = u32>) {
        self.marked.clear();
        self.marked.extend(rows);
    }

    /// Inverts the diagonal of a new matrix.
    pub fn renew(&mut self, (pattern, blocks): (&Pattern, &[Block<T>])) {
        let BlockJacobi { inverse, plain, added, .. } = self;
        let rows = pattern.rows();
        plain.resize(rows, Block::default());
        each(rows, &mut plain[..], &|rows, plain: &mut [Block<T>]| {
            for (place, plain) in pattern.diagonal[rows].iter().zip(plain) {
                *plain = block_of(&matrix(&blocks[*place as usize]).inverse());
            }
        });
        inverse.clone_from(plain);
        added.clear();
        added.resize(rows, Mat3::ZERO);
    }

    /// Inverts the diagonal, with what stencils outside of clusters add to it, of rows that are held,
    /// marked or in such a stencil, or were so before.
    pub fn update(
        &mut self,
        (pattern, blocks): (&Pattern, &[Block<T>]),
        (stencils, clusters): (&Stencils<T>, &Clusters),
        filter: &Filter<T>,
    ) {
        let BlockJacobi { inverse, plain, added, special, marked, seen } = self;
        for i in special.drain(..) {
            if let Some(inverse) = inverse.get_mut(i as usize) {
                *inverse = plain[i as usize];
                added[i as usize] = Mat3::ZERO;
            }
        }
        let loose = |s: usize| clusters.is_loose(s);
        stencils.add_diagonal(loose, |i, block| {
            added[i] += block;
            special.push(i as u32);
        });
        special.extend(filter.holds.iter().map(|h| h.particle).chain(marked.iter().copied()));
        seen.clear();
        seen.resize(inverse.len(), false);
        special.retain(|&i| !std::mem::replace(&mut seen[i as usize], true));
        for &i in &*special {
            let i = i as usize;
            let own = matrix(&blocks[pattern.diagonal[i] as usize]) + added[i];
            inverse[i] = block_of(&filtered_inverse(&own, filter, i));
        }
    }
}

/// S (S A S + I − S)⁻¹ S for one diagonal block.
pub fn filtered_inverse<T: Scalar>(a: &Mat3, filter: &Filter<T>, i: usize) -> Mat3 {
    let hold = filter.index[i];
    if hold == NONE {
        return a.inverse();
    }
    let s = filter.holds[hold as usize].free;
    if s == Mat3::ZERO {
        return Mat3::ZERO;
    }
    // the held directions get a stiffness like the free ones, so that the inverse keeps its digits
    let scale = (a.x_axis.x + a.y_axis.y + a.z_axis.z) / 3.0;
    let inner = s * *a * s + (Mat3::IDENTITY - s) * scale;
    s * inner.inverse() * s
}

impl<T: Scalar> BlockJacobi<T> {
    /// z ← D⁻¹ r; returns r·z.
    pub fn apply(&self, r: &[Lane<T>], z: &mut [Lane<T>]) -> f64 {
        let inverse = &self.inverse;
        sum_light(r.len(), z, &|rows: Range<usize>, z: &mut [Lane<T>]| {
            let (inverse, r) = (&inverse[rows.clone()], &r[rows]);
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has what the function was compiled for
                return unsafe { rows_avx2(inverse, r, z) };
            }
            rows_any(inverse, r, z)
        })
    }
}

/// [`rows_any`]: the same operations in the same order with wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rows_avx2<T: Scalar>(inverse: &[Block<T>], r: &[Lane<T>], z: &mut [Lane<T>]) -> f64 {
    rows_any(inverse, r, z)
}

/// z = D⁻¹ r of some rows; returns r·z.
#[inline(always)]
fn rows_any<T: Scalar>(inverse: &[Block<T>], r: &[Lane<T>], z: &mut [Lane<T>]) -> f64 {
    // by lanes, so that a row is a few operations on whole registers; what pads is zero
    let mut along = [T::default(); 4];
    for ((inverse, r), z) in inverse.iter().zip(r).zip(z) {
        let mut out = [T::default(); 4];
        multiply_add(&mut out, inverse, r);
        for k in 0..4 {
            along[k] += r[k] * out[k];
        }
        *z = out;
    }
    ((along[0] + along[1]) + (along[2] + along[3])).wide()
}
