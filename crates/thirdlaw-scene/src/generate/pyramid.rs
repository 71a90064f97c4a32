//! A wall of cubes in which each row has one cube fewer than the row below.

use super::Piece;
use thirdlaw::Shape;
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// `base` cubes of side `size` (m) in the lowest row, `spacing` (m) from cube to cube; rows touch.
/// The wall stands on y = 0, its middle above the origin.
pub fn pyramid(base: u32, size: f64, spacing: f64) -> Result<Vec<Piece>, ShapeError> {
    let cube = Shape::cuboid(Vec3::splat(0.5 * size))?;
    let mut pieces = Vec::new();
    for row in 0..base {
        let count = base - row;
        for i in 0..count {
            let x = (f64::from(i) - 0.5 * f64::from(count - 1)) * spacing;
            let y = (f64::from(row) + 0.5) * size;
            pieces.push(Piece::new(cube.clone(), Vec3::new(x, y, 0.0), Quat::IDENTITY));
        }
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_rows_are_465_cubes() {
        let pieces = pyramid(30, 1.0, 1.05).unwrap();
        assert_eq!(pieces.len(), 465);
        let top = pieces[464].pose.translation;
        assert_eq!((top.x, top.y), (0.0, 29.5));
    }
}
