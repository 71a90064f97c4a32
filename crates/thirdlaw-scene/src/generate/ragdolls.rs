//! Ragdolls of eleven parts in layers in the air, each shifted sideways by a hash of its number.

use super::rain::shift;
use super::{Piece, PieceJoint};
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;
use thirdlaw::{JointKind, Shape};

/// Parts of a ragdoll.
pub const PARTS: usize = 11;

/// Along a side of a layer.
const ROW: u32 = 5;

/// The parts: pelvis, chest, head, then left and right upper arms, forearms, thighs and shins.
pub fn ragdolls(count: u32) -> Result<Vec<Piece>, ShapeError> {
    let limb = |length: f64, radius: f64| Shape::capsule(0.5 * length, radius);
    let mut parts = vec![
        (Vec3::new(0.0, 0.95, 0.0), Shape::cuboid(Vec3::new(0.1, 0.08, 0.15))?, 10.0),
        (Vec3::new(0.0, 1.29, 0.0), Shape::cuboid(Vec3::new(0.11, 0.21, 0.17))?, 22.0),
        (Vec3::new(0.0, 1.68, 0.0), Shape::sphere(0.12)?, 5.0),
    ];
    for (y, z, shape, mass) in [
        (1.29, 0.24, limb(0.22, 0.05)?, 2.2),
        (0.98, 0.24, limb(0.22, 0.045)?, 1.5),
        (0.66, 0.1, limb(0.3, 0.075)?, 8.0),
        (0.235, 0.1, limb(0.32, 0.055)?, 4.0),
    ] {
        for side in [-1.0, 1.0] {
            parts.push((Vec3::new(0.0, y, side * z), shape.clone(), mass));
        }
    }
    let mut pieces = Vec::new();
    for i in 0..count {
        for (place, shape, mass) in &parts {
            let mut piece = Piece::new(shape.clone(), place + offset(i), Quat::IDENTITY);
            piece.mass = Some(*mass);
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

/// Where the i-th ragdoll stands.
fn offset(i: u32) -> Vec3 {
    let layer = i / (ROW * ROW);
    let (g, k) = (f64::from(i % (ROW * ROW) / ROW) - 2.0, f64::from(i % ROW) - 2.0);
    let j = 2.0 * f64::from(i);
    Vec3::new(
        0.9 * g + 0.2 * shift(j),
        0.2 + 2.0 * f64::from(layer),
        0.9 * k + 0.2 * shift(j + 1.0),
    )
}

/// The joints: waist, neck, and left and right shoulders, elbows, hips and knees.
pub fn joints(count: u32) -> Vec<PieceJoint> {
    let mut ties = Vec::new();
    for i in 0..count {
        let first = i as usize * PARTS;
        let mut ball = |sides: [usize; 2], at: Vec3, limits: [[f64; 2]; 3]| {
            ties.push(PieceJoint {
                kind: JointKind::Ball,
                sides: sides.map(|side| first + side),
                at: at + offset(i),
                axis: Vec3::X,
                limits: limits.map(Some),
            });
        };
        ball([0, 1], Vec3::new(0.0, 1.06, 0.0), [[-0.4, 0.4], [-0.5, 0.5], [-0.9, 0.4]]);
        ball([1, 2], Vec3::new(0.0, 1.53, 0.0), [[-0.5, 0.5], [-0.9, 0.9], [-0.7, 0.7]]);
        for (k, side) in [-1.0, 1.0].into_iter().enumerate() {
            let shoulder = Vec3::new(0.0, 1.44, side * 0.24);
            ball([1, 3 + k], shoulder, [[-1.4, 1.4], [-1.0, 1.0], [-0.8, 2.4]]);
            let hip = Vec3::new(0.0, 0.87, side * 0.1);
            ball([0, 7 + k], hip, [[-0.6, 0.6], [-0.5, 0.5], [-0.5, 1.8]]);
        }
        for (k, side) in [-1.0, 1.0].into_iter().enumerate() {
            for (sides, y, z, limits) in
                [([3, 5], 1.13, 0.24, [0.0, 2.4]), ([7, 9], 0.445, 0.1, [-2.3, 0.0])]
            {
                ties.push(PieceJoint {
                    kind: JointKind::Hinge,
                    sides: sides.map(|part| first + part + k),
                    at: Vec3::new(0.0, y, side * z) + offset(i),
                    axis: Vec3::Z,
                    limits: [Some(limits), None, None],
                });
            }
        }
    }
    ties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_hangs_on_one_other() {
        let (pieces, ties) = (ragdolls(27).unwrap(), joints(27));
        assert_eq!((pieces.len(), ties.len()), (27 * PARTS, 27 * (PARTS - 1)));
        for i in (0..pieces.len()).filter(|i| i % PARTS != 0) {
            assert_eq!(ties.iter().filter(|tie| tie.sides[1] == i).count(), 1, "part {i}");
        }
        let mass: f64 = pieces[..PARTS].iter().filter_map(|piece| piece.mass).sum();
        assert!((mass - 68.4).abs() < 1e-9, "{mass}");
    }

    #[test]
    fn joints_are_between_their_parts() {
        let pieces = ragdolls(1).unwrap();
        for tie in joints(1) {
            let [a, b] = tie.sides.map(|side| pieces[side].pose.translation);
            assert!(tie.at.distance(a) < 0.29 && tie.at.distance(b) < 0.27, "{:?}", tie.at);
        }
    }
}
