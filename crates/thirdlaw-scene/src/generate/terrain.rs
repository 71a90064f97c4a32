//! Rolling ground: h(x, z) = a·(sin 0.9x + cos 0.8z) + b·(x² + z²), waves in a wide bowl.

use thirdlaw::Shape;
use thirdlaw::math::Vec3;
use thirdlaw::shape::ShapeError;

/// Numbers of a terrain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terrain {
    /// Side length of the square, m.
    pub size: f64,
    /// Cells along a side, two triangles each.
    pub cells: u32,
    /// Height of the waves a, m.
    pub height: f64,
    /// Factor of the bowl b, 1/m.
    pub bowl: f64,
}

impl Default for Terrain {
    fn default() -> Self {
        Terrain { size: 48.0, cells: 64, height: 0.4, bowl: 0.01 }
    }
}

impl Terrain {
    /// Height at a place, m.
    pub fn height_at(&self, x: f64, z: f64) -> f64 {
        self.height * (libm::sin(0.9 * x) + libm::cos(0.8 * z)) + self.bowl * (x * x + z * z)
    }

    /// The ground as a height field.
    pub fn shape(&self) -> Result<Shape, ShapeError> {
        let count = self.cells as usize + 1;
        let at = |i: usize| self.size * (i as f64 / self.cells as f64 - 0.5);
        let mut heights = Vec::with_capacity(count * count);
        for row in 0..count {
            for column in 0..count {
                heights.push(self.height_at(at(column), at(row)));
            }
        }
        Shape::height_field(count, count, &heights, Vec3::new(self.size, 1.0, self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_8192_triangles() {
        let shape = Terrain::default().shape().unwrap();
        assert_eq!(shape.piece_count(), 8192);
    }

    #[test]
    fn heights_follow_the_formula() {
        let h = Terrain::default().height_at(3.0, -2.0);
        let wanted = 0.4 * ((0.9f64 * 3.0).sin() + (0.8f64 * -2.0).cos()) + 0.01 * 13.0;
        assert!((h - wanted).abs() < 1e-12);
    }
}
