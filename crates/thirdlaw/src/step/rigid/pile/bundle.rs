//! What a sweep works on: contacts of a colour, eight side by side, and the bodies between them.
//!
//! Symbols: n normal from a to b; t, u = n × t tangents; r arms from the centres of mass; z impulses.
//!
//! Turning is kept in coordinates in which every body has the inertia 1: with I⁻¹ = L Lᵀ and ω = L y, a
//! torque τ changes y by Lᵀτ, so that Lᵀ(r × n) is all that a row needs to know of a body's inertia. L is
//! that of the beginning of the step; tiny for bodies that nothing pushes.

use crate::math::Vec3;
use crate::simd::f32x8::{LANES, Quad, Wide, Wide3};
use crate::state::contact::POINTS_MAX;

/// The line of what does not move.
pub const WORLD: u32 = 0;

/// A linear and an angular vector of a body, the latter over L: its velocity, or its way and turn since
/// the step began.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Line {
    pub linear: Quad,
    pub angular: Quad,
}

/// A vector of double precision for a register.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Padded(pub Quad);

/// Eight contacts: what they share over their points. In lanes without a contact nothing moves and nothing
/// is pressed, so that every impulse there stays zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Bundle {
    /// Lines of the bodies.
    pub body: [[u32; LANES]; 2],
    /// Lanes in which the body moves under impulses, by bits.
    pub moves: [u8; 2],
    /// Points of the contact with most.
    pub count: u8,
    /// First record of points, among those of the chunk.
    pub start: u32,
    pub normal: Wide3,
    pub tangent: Wide3,
    /// Lᵀ(r × t), Lᵀ(r × u) and Lᵀn of each side; r to the point at which friction acts, the middle of
    /// the contact's points.
    pub turn: [[Wide3; 3]; 2],
    /// What a normal impulse at one point does to w of a later one, over N of that: of 0 on 1; 0, 1 on 2;
    /// 0, 1, 2 on 3.
    pub coupling: [Wide; POINTS_MAX * (POINTS_MAX - 1) / 2],
    /// Diagonal of M_a⁻¹ + M_b⁻¹ for forces.
    pub mass: Wide3,
    /// Inverse response of the two tangents, by its entries 11, 12, 22; NaN where that is nearly of
    /// rank one, 0 where nothing can move.
    pub stick: [Wide; 3],
    /// Inverse of the larger eigenvalue of that response.
    pub slide: Wide,
    /// Inverse response to a torque about the normal.
    pub twist: Wide,
    /// μ.
    pub coefficient: Wide,
    /// Gap up to which points count as closed, m.
    pub skin: Wide,
    /// Half the thickness of the thinner body over that of the settings; 1 in lanes without a contact.
    pub scale: Wide,
    /// Speed per overlap of its spring, 1/s, and Γ/N.
    pub rate: Wide,
    pub softness: Wide,
    /// Mean distance of the points from their middle, m: what turns an error of twisting into one of sliding.
    pub radius: Wide,
    /// Impulses along t and u, and about n.
    pub friction: Wide3,
}

/// One point of each of eight contacts.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Points {
    /// Lᵀ(r × n) of each side.
    pub arm: [Wide3; 2],
    /// 1/N; 0 where nothing can move.
    pub inverse: Wide,
    /// Gap at the beginning of the step, m.
    pub gap_start: Wide,
    /// What the point wants beyond not closing, over N, N·s: above 0 it is its room, at most 0 the push that
    /// it gets while it is closed.
    pub push: Wide,
    /// z.
    pub impulse: Wide,
    /// Place along t and u, from the middle of the contact's points, m.
    pub offset: [Wide; 2],
}

impl Line {
    pub fn new(linear: Vec3, angular: Vec3) -> Line {
        Line { linear: quad(linear), angular: quad(angular) }
    }

    pub fn linear(&self) -> Vec3 {
        Vec3::new(self.linear[0], self.linear[1], self.linear[2])
    }

    pub fn angular(&self) -> Vec3 {
        Vec3::new(self.angular[0], self.angular[1], self.angular[2])
    }
}

pub fn quad(v: Vec3) -> Quad {
    [v.x, v.y, v.z, 0.0]
}
