//! The W-form of (baraff1998) solved directly, for small systems and as the proof of the filter:
//!
//!   (I − hW ∂f/∂v − h²W ∂f/∂x) Δv = hW(f₀ + h ∂f/∂x v₀) + z,   W = S M⁻¹.
//!
//! With A = M − h ∂f/∂v − h² ∂f/∂x this is (I − W(M − A)) u = W b + z for the velocity u itself: the
//! free directions say M⁻¹A u = M⁻¹b, the others u = z. The matrix is not symmetric.

use super::block::{Block, Lane, Pattern, Scalar, lane, matrix, vector};
use super::filter::{Filter, NONE};
use super::lu::Lu;
use super::stencil::Stencils;
use crate::math::{Mat3, Vec3};

/// Solves for `u`; false if the matrix is singular. Bodies as unknowns are not taken.
pub fn solve<T: Scalar>(
    pattern: &Pattern,
    blocks: &[Block<T>],
    stencils: &Stencils<T>,
    filter: &Filter<T>,
    mass: &[f64],
    b: &[Lane<T>],
    u: &mut [Lane<T>],
) -> bool {
    let n = pattern.rows();
    let size = 3 * n;
    let mut lu = Lu::default();
    lu.reset(size);
    let mut right = vec![0.0; size];
    let mut add = |i: usize, j: usize, m: &Mat3| {
        for (c, column) in m.to_cols_array_2d().iter().enumerate() {
            for (r, value) in column.iter().enumerate() {
                lu.row_mut(3 * i + r)[3 * j + c] += value;
            }
        }
    };
    // S M⁻¹ of each particle
    let w = |i: usize| {
        let hold = filter.index[i];
        let s = if hold == NONE { Mat3::IDENTITY } else { filter.holds[hold as usize].free };
        s * (1.0 / mass[i])
    };
    for i in 0..n {
        let w_i = w(i);
        let m = Mat3::from_diagonal(Vec3::splat(mass[i]));
        add(i, i, &(Mat3::IDENTITY - w_i * m));
        for place in pattern.range(i) {
            add(i, pattern.column[place] as usize, &(w_i * matrix(&blocks[place])));
        }
        let z = match filter.index[i] {
            NONE => Vec3::ZERO,
            hold => filter.holds[hold as usize].prescribed,
        };
        let value = w_i * vector(&b[i]) + z;
        right[3 * i..3 * i + 3].copy_from_slice(&value.to_array());
    }
    for stencil in &stencils.list {
        for (&i, g_i) in stencil.particles.iter().zip(&stencil.gradient) {
            for (&j, g_j) in stencil.particles.iter().zip(&stencil.gradient) {
                let block = crate::math::outer(stencil.stiffness * *g_i, *g_j);
                add(i as usize, j as usize, &(w(i as usize) * block));
            }
        }
    }
    if !lu.factor() {
        return false;
    }
    lu.solve(&mut right);
    for (u, x) in u.iter_mut().zip(right.chunks_exact(3)) {
        *u = lane(Vec3::new(x[0], x[1], x[2]));
    }
    true
}
