//! What a sweep over joints works on: joints of a colour, eight side by side.
//!
//! A joint is a block of three rows that holds its anchors together, and scalar rows about axes: turns that are
//! held, limits, friction. As for contacts, turning is kept in coordinates in which every body has the inertia 1,
//! ω = L y; but here L turns with the body, L = Δ L₀ with Δ its turn since the step began, and arms follow in
//! every substep: joints hold over any angle, contacts need not.

use crate::simd::f32x8::{LANES, Wide, Wide3};

/// Rows about axes at most.
pub const ROWS_MAX: usize = 8;

/// Eight joints. In lanes without one nothing moves, so that every impulse there stays zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Bundle {
    /// Lines of the bodies.
    pub body: [[u32; LANES]; 2],
    /// Lanes in which the body moves under impulses, by bits; and as 1 or 0.
    pub moves: [u8; 2],
    /// Rows about axes of the joint with most.
    pub rows: u8,
    /// First of its rows, among those of the chunk.
    pub start: u32,
    pub free: [Wide; 2],
    /// Arms from the centres to the anchors, and from a's anchor to b's, at the beginning of the step.
    pub arm: [Wide3; 2],
    pub gap: Wide3,
    /// L₀ by its entries 11, 21, 22, 31, 32, 33; zero where nothing moves.
    pub root: [[Wide; 6]; 2],
    /// Diagonal of M_a⁻¹ + M_b⁻¹ for forces.
    pub mass: Wide3,
    /// Lᵀ(r × eᵢ) of each side, r to b's anchor.
    pub turn: [[Wide3; 3]; 2],
    /// The response K = U D Uᵀ of the three rows: 1/D, and 21, 31, 32 of the unit lower factor.
    pub inverse: Wide3,
    pub factor: Wide3,
    /// Velocity that the anchors are to have towards each other, m/s.
    pub push: Wide3,
    /// Impulse on b, N·s.
    pub impulse: Wide3,
}

/// One row about an axis of each of eight joints: q̇ = g·(ω_b − ω_a).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Row {
    /// g at the beginning of the step; it turns with a.
    pub axis: Wide3,
    /// Lᵀg of each side.
    pub arm: [Wide3; 2],
    /// 1/N; 0 where nothing can move or no row is.
    pub inverse: Wide,
    /// Room below and above the coordinate; of what is held its error and what is left of it.
    pub room: [Wide; 2],
    /// 1 for a limit, 0 for what is held or rubs.
    pub limit: Wide,
    /// Largest impulse, N·m·s.
    pub most: Wide,
    /// Over N, what the row wants at least and at most: b of w + b ≥ 0 and of w + b ≤ 0.
    pub push: [Wide; 2],
    /// z.
    pub impulse: Wide,
}
