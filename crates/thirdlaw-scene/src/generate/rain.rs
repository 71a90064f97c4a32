//! Layers of cubes in the air, each cube shifted sideways by a hash of its number.

use super::Piece;
use thirdlaw::Shape;
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// Numbers of a rain of cubes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rain {
    /// How many cubes.
    pub count: u32,
    /// Cubes along a side of a layer.
    pub row: u32,
    /// Side of a cube, m.
    pub size: f64,
    /// From cube to cube, m.
    pub spacing: f64,
    /// From layer to layer, m.
    pub rise: f64,
    /// Factor on the shift, which is between −½ and ½, m.
    pub shift: f64,
    /// Other seeds, other shifts.
    pub seed: u32,
}

impl Default for Rain {
    fn default() -> Self {
        Rain { count: 5160, row: 30, size: 0.5, spacing: 0.75, rise: 0.75, shift: 0.1, seed: 0 }
    }
}

/// The hash r(j) = frac(43758.5453·sin(12.9898·j)) − ½.
pub fn shift(j: f64) -> f64 {
    let x = 43758.5453 * libm::sin(12.9898 * j);
    x - x.floor() - 0.5
}

/// The cubes; the lowest layer is at y = 0, the middle of the layers above the origin.
pub fn rain(rain: &Rain) -> Result<Vec<Piece>, ShapeError> {
    let cube = Shape::cuboid(Vec3::splat(0.5 * rain.size))?;
    let layer_count = rain.row * rain.row;
    let middle = (f64::from(rain.row) - 1.0) / 2.0;
    // seed 0 is the plain hash; others read it elsewhere
    let start = 100_003.0 * f64::from(rain.seed);
    let pieces = (0..rain.count).map(|i| {
        let (layer, rest) = (i / layer_count, i % layer_count);
        let (g, k) = (f64::from(rest / rain.row), f64::from(rest % rain.row));
        let j = start + 2.0 * f64::from(i);
        let position = Vec3::new(
            (g - middle) * rain.spacing + rain.shift * shift(j),
            rain.rise * f64::from(layer),
            (k - middle) * rain.spacing + rain.shift * shift(j + 1.0),
        );
        Piece::new(cube.clone(), position, Quat::IDENTITY)
    });
    Ok(pieces.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_follow_the_formula() {
        let pieces = rain(&Rain::default()).unwrap();
        assert_eq!(pieces.len(), 5160);
        let i = 2 * 900 + 7 * 30 + 4;
        let p = pieces[i].pose.translation;
        assert_eq!(p.y, 1.5);
        assert_eq!(p.x, (7.0 - 14.5) * 0.75 + 0.1 * shift(2.0 * i as f64));
        assert_eq!(p.z, (4.0 - 14.5) * 0.75 + 0.1 * shift(2.0 * i as f64 + 1.0));
    }

    #[test]
    fn seeds_differ_and_shifts_are_bounded() {
        let other = rain(&Rain { seed: 1, ..Rain::default() }).unwrap();
        let plain = rain(&Rain::default()).unwrap();
        assert!(plain[5].pose.translation != other[5].pose.translation);
        assert!((0..20_000).all(|j| shift(f64::from(j)).abs() <= 0.5));
    }
}
