//! Cubes on each other, each heavier than the one below: the hard order for an iteration that
//! carries loads from body to body.

use super::Piece;
use thirdlaw::Shape;
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// `count` cubes of side `size` (m) on y = 0; each weighs `ratio` times the one below.
pub fn stack(count: u32, size: f64, ratio: f64) -> Result<Vec<Piece>, ShapeError> {
    let cube = Shape::cuboid(Vec3::splat(0.5 * size))?;
    let mut mass_factor = 1.0;
    let mut pieces = Vec::new();
    for i in 0..count {
        let position = Vec3::new(0.0, (f64::from(i) + 0.5) * size, 0.0);
        let piece = Piece::new(cube.clone(), position, Quat::IDENTITY);
        pieces.push(Piece { mass_factor, ..piece });
        mass_factor *= ratio;
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_grow_by_the_ratio() {
        let factors: Vec<f64> =
            stack(3, 1.0, 10.0).unwrap().iter().map(|p| p.mass_factor).collect();
        assert_eq!(factors, [1.0, 10.0, 100.0]);
    }
}
