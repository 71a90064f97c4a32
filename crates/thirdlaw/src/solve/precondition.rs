//! Preconditioners: approximate inverses of S A S + (I − S).

use super::block::{Block, Lane, Pattern, Scalar, block_of, dot, matrix, multiply_add};
use super::filter::{Filter, NONE};
use super::parallel::{each, sum_light};
use super::stencil::Stencils;
use crate::math::Mat3;

/// Something that makes z ≈ (S A S + I − S)⁻¹ r.
pub trait Precondition<T: Scalar>: Send + Sync {
    /// z ← P⁻¹ r; returns r·z. `r` is filtered; z must be too.
    fn apply(&mut self, filter: &Filter<T>, r: &[Lane<T>], z: &mut [Lane<T>]) -> f64;
}

/// The inverse of each diagonal block by itself.
#[derive(Clone, Debug, Default)]
pub struct BlockJacobi<T> {
    /// S (S A_ii S + I − S)⁻¹ S.
    pub inverse: Vec<Block<T>>,
    diagonal: Vec<Mat3>,
}

impl<T: Scalar> BlockJacobi<T> {
    /// Inverts the diagonal.
    pub fn update(
        &mut self,
        pattern: &Pattern,
        blocks: &[Block<T>],
        stencils: &Stencils<T>,
        filter: &Filter<T>,
    ) {
        let BlockJacobi { inverse, diagonal } = self;
        diagonal.clear();
        diagonal.extend(pattern.diagonal.iter().map(|&d| matrix(&blocks[d as usize])));
        stencils.add_diagonal(|i, block| diagonal[i] += block);
        inverse.resize(pattern.rows(), Block::default());
        each(pattern.rows(), &mut inverse[..], &|rows, inverse: &mut [Block<T>]| {
            for (i, inverse) in rows.zip(inverse) {
                *inverse = block_of(&filtered_inverse(&diagonal[i], filter, i));
            }
        });
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

impl<T: Scalar> Precondition<T> for BlockJacobi<T> {
    fn apply(&mut self, _: &Filter<T>, r: &[Lane<T>], z: &mut [Lane<T>]) -> f64 {
        let inverse = &self.inverse;
        sum_light(r.len(), z, &|rows, z: &mut [Lane<T>]| {
            let mut along = T::default();
            for (i, z) in rows.zip(z) {
                *z = [T::default(); 4];
                multiply_add(z, &inverse[i], &r[i]);
                along += dot(&r[i], z);
            }
            along.wide()
        })
    }
}
