//! A block broken into Voronoi cells, many and small near the points where it was hit.

use super::cells::{Cell, voronoi_cells};
use super::{Piece, Random};
use thirdlaw::Shape;
use thirdlaw::math::{Quat, Vec3};
use thirdlaw::shape::ShapeError;

/// Numbers of a broken block.
#[derive(Clone, Debug, PartialEq)]
pub struct Fracture {
    /// Extent of the block, which stands on y = 0 about the origin, m.
    pub size: Vec3,
    /// Number of cells.
    pub cells: u32,
    /// Where it was hit, m.
    pub impacts: Vec<Vec3>,
    /// Distance from an impact within which most cells lie, m.
    pub spread: f64,
    /// Other seeds, other cells.
    pub seed: u32,
}

impl Fracture {
    fn bounds(&self) -> (Vec3, Vec3) {
        let half = Vec3::new(0.5 * self.size.x, 0.0, 0.5 * self.size.z);
        (-half, half + Vec3::new(0.0, self.size.y, 0.0))
    }

    /// Seeds of the cells: three in four near an impact, denser toward it, the others anywhere.
    fn seeds(&self) -> Vec<Vec3> {
        let (low, high) = self.bounds();
        let mut random = Random::new(u64::from(self.seed));
        let volume = self.size.x * self.size.y * self.size.z;
        // cells much smaller than this would be slivers between near seeds
        let mut apart = 0.15 * libm::cbrt(volume / f64::from(self.cells.max(1)));
        let mut seeds: Vec<Vec3> = Vec::new();
        let mut misses = 0;
        while seeds.len() < self.cells as usize {
            let near = random.unit() < 0.75 && !self.impacts.is_empty();
            let p = if near && misses < 1000 {
                let impact = self.impacts[(random.bits() % self.impacts.len() as u64) as usize];
                let u = random.unit();
                impact + random.direction() * (self.spread * u * u.sqrt())
            } else {
                low + Vec3::new(random.unit(), random.unit(), random.unit()) * self.size
            };
            let inside = p.cmpge(low).all() && p.cmple(high).all();
            if inside && seeds.iter().all(|q| q.distance(p) > apart) {
                seeds.push(p);
                misses = 0;
            } else {
                misses += 1;
                // crowded: come closer rather than search for ever
                if misses % 2000 == 0 {
                    apart *= 0.5;
                }
            }
        }
        seeds
    }

    /// The cells, in no particular order but always the same.
    pub fn cells(&self) -> Vec<Cell> {
        let (low, high) = self.bounds();
        voronoi_cells(low, high, &self.seeds())
    }

    /// The cells as bodies, each about the mean of its corners.
    pub fn pieces(&self) -> Result<Vec<Piece>, ShapeError> {
        let merge = 1e-5 * self.size.max_element();
        let mut pieces = Vec::new();
        for cell in self.cells() {
            let corners = cell.corners(merge);
            let center = corners.iter().sum::<Vec3>() / corners.len().max(1) as f64;
            let points: Vec<Vec3> = corners.iter().map(|p| *p - center).collect();
            pieces.push(Piece::new(Shape::convex_hull(&points)?, center, Quat::IDENTITY));
        }
        Ok(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(seed: u32, cells: u32) -> Fracture {
        Fracture {
            size: Vec3::new(0.8, 4.0, 0.8),
            cells,
            impacts: vec![Vec3::new(-0.4, 2.2, 0.0)],
            spread: 2.0,
            seed,
        }
    }

    #[test]
    fn cells_fill_the_column() {
        for seed in 0..3 {
            let cells = column(seed, 92).cells();
            assert_eq!(cells.len(), 92);
            let volumes: Vec<f64> = cells.iter().map(Cell::volume).collect();
            let sum: f64 = volumes.iter().sum();
            assert!((sum - 2.56).abs() < 1e-9, "{sum}");
            let largest = volumes.iter().copied().fold(0.0, f64::max);
            let smallest = volumes.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(smallest > 0.0 && largest / smallest > 50.0, "{smallest} … {largest}");
        }
    }

    #[test]
    fn pieces_have_the_volume_of_their_cells() {
        let fracture = column(1, 93);
        let pieces = fracture.pieces().unwrap();
        let sum: f64 =
            pieces.iter().filter_map(|p| p.shape.mass_properties()).map(|m| m.volume).sum();
        assert!((sum - 2.56).abs() < 1e-3, "{sum}");
    }

    #[test]
    fn crowded_blocks_end() {
        let tiny = Fracture {
            size: Vec3::splat(1e-3),
            cells: 200,
            impacts: vec![Vec3::splat(9.0)],
            ..column(0, 1)
        };
        assert_eq!(tiny.cells().len(), 200);
    }
}
