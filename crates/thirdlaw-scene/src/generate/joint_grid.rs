//! A grid of balls in the xy plane, ball joints half-way between neighbours, a few of the upper row fixed.

use super::{Piece, PieceJoint};
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;
use thirdlaw::{JointKind, Shape};

/// Radius of a ball, m; their centres are 1 m apart.
const RADIUS: f64 = 0.4;
/// Balls to both sides of the middle of the upper row that are fixed.
const FIXED: i64 = 3;

/// Row by row, downwards.
pub fn joint_grid(count: u32) -> Result<Vec<Piece>, ShapeError> {
    let ball = Shape::sphere(RADIUS)?;
    let mut pieces = Vec::new();
    for i in 0..count {
        for k in 0..count {
            let place = Vec3::new(f64::from(k), -f64::from(i), 0.0);
            let mut piece = Piece::new(ball.clone(), place, Quat::IDENTITY);
            piece.fixed = is_fixed(count, i, k);
            pieces.push(piece);
        }
    }
    Ok(pieces)
}

/// Whether the k-th ball of row i is.
fn is_fixed(count: u32, i: u32, k: u32) -> bool {
    i == 0 && (i64::from(k) - i64::from(count / 2)).abs() <= FIXED
}

/// To the right and downwards of every ball; none between two fixed ones.
pub fn joints(count: u32) -> Vec<PieceJoint> {
    let mut ties = Vec::new();
    for i in 0..count {
        for k in 0..count {
            let here = (i * count + k) as usize;
            let place = Vec3::new(f64::from(k), -f64::from(i), 0.0);
            let mut join = |other: usize, way: Vec3| {
                ties.push(PieceJoint {
                    kind: JointKind::Ball,
                    sides: [here, other],
                    at: place + 0.5 * way,
                    axis: Vec3::X,
                    limits: [None; 3],
                });
            };
            if k + 1 < count && !(is_fixed(count, i, k) && is_fixed(count, i, k + 1)) {
                join(here + 1, Vec3::X);
            }
            if i + 1 < count {
                join(here + count as usize, -Vec3::Y);
            }
        }
    }
    ties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_half_way() {
        let (pieces, ties) = (joint_grid(20).unwrap(), joints(20));
        assert_eq!((pieces.len(), ties.len()), (400, 754));
        assert_eq!(pieces.iter().filter(|piece| piece.fixed).count(), 7);
        for tie in ties {
            let [a, b] = tie.sides.map(|side| pieces[side].pose.translation);
            assert!(tie.at.distance(0.5 * (a + b)) < 1e-12 && (a.distance(b) - 1.0).abs() < 1e-12);
        }
    }
}
