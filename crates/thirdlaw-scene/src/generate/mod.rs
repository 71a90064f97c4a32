//! Procedural shapes and arrangements: plain functions from numbers to shapes and poses.
//!
//! All are deterministic: random numbers come from a seed, sine and cosine from `libm`.

pub mod card_house;
pub mod cells;
pub mod chain;
pub mod chess;
pub mod figure;
pub mod garment;
pub mod joint_grid;
pub mod lathe;
pub mod loops;
pub mod pyramid;
pub mod ragdolls;
pub mod rain;
pub mod sheet;
pub mod stack;
pub mod terrain;
pub mod torus;
pub mod voronoi;

use thirdlaw::math::{Pose, Quat, Vec3, rotation_from_vector};
use thirdlaw::{JointKind, Keyframes, Shape};

/// A body of an arrangement.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its shape.
    pub shape: Shape,
    /// Where its origin is, in the frame of the arrangement.
    pub pose: Pose,
    /// Factor on the density or mass that was asked for.
    pub mass_factor: f64,
    /// Its mass, whatever was asked for, kg.
    pub mass: Option<f64>,
    /// Whether it is fixed whatever the others are.
    pub fixed: bool,
    /// What it is called instead of by its number.
    pub name: Option<&'static str>,
    /// Its path in the frame of the arrangement; without keys it is moved by what the others are.
    pub motion: Keyframes,
}

impl Piece {
    /// A piece like its neighbours.
    pub fn new(shape: Shape, position: Vec3, rotation: Quat) -> Piece {
        let pose = Pose::from_parts(position, rotation);
        let motion = Keyframes::default();
        Piece { shape, pose, mass_factor: 1.0, mass: None, fixed: false, name: None, motion }
    }
}

/// A joint of an arrangement.
#[derive(Clone, Debug)]
pub struct PieceJoint {
    /// What it lets its sides do.
    pub kind: JointKind,
    /// The pieces it joins.
    pub sides: [usize; 2],
    /// Its anchor, in the frame of the arrangement.
    pub at: Vec3,
    /// Its axis, likewise.
    pub axis: Vec3,
    /// Of the turns about x, y and z of its frame, rad.
    pub limits: [Option<[f64; 2]>; 3],
}

/// The turn by an angle (rad) about an axis of any length.
pub fn turn(axis: Vec3, angle: f64) -> Quat {
    rotation_from_vector(axis.normalize_or_zero() * angle)
}

/// SplitMix64: a small generator of well-spread numbers from any seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Other seeds, other numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly spread in 0 ≤ x < 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly spread in low ≤ x < high.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Evenly spread over the unit sphere.
    pub fn direction(&mut self) -> Vec3 {
        let y = self.between(-1.0, 1.0);
        let angle = self.between(0.0, std::f64::consts::TAU);
        let r = (1.0 - y * y).max(0.0).sqrt();
        Vec3::new(r * libm::cos(angle), y, r * libm::sin(angle))
    }

    /// Evenly spread over all orientations.
    pub fn orientation(&mut self) -> Quat {
        // Shoemake's three uniform numbers
        let (u, a, b) = (
            self.unit(),
            self.between(0.0, std::f64::consts::TAU),
            self.between(0.0, std::f64::consts::TAU),
        );
        let (r, s) = ((1.0 - u).sqrt(), u.sqrt());
        Quat::from_xyzw(r * libm::sin(a), r * libm::cos(a), s * libm::sin(b), s * libm::cos(b))
            .normalize()
    }
}
