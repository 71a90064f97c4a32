//! Convex cells: a box cut again and again by planes, and the Voronoi cells made so.

use thirdlaw::math::Vec3;

/// A convex solid as polygons whose corners run counter-clockwise seen from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Corners of each face, m.
    pub faces: Vec<Vec<Vec3>>,
}

impl Cell {
    /// A box between two corners.
    pub fn cuboid(low: Vec3, high: Vec3) -> Cell {
        let corner = |x: bool, y: bool, z: bool| {
            let pick = |on: bool, low: f64, high: f64| if on { high } else { low };
            Vec3::new(pick(x, low.x, high.x), pick(y, low.y, high.y), pick(z, low.z, high.z))
        };
        let (o, l) = (false, true);
        let face = |corners: [(bool, bool, bool); 4]| {
            corners.iter().map(|c| corner(c.0, c.1, c.2)).collect()
        };
        Cell {
            faces: vec![
                face([(o, o, o), (o, o, l), (o, l, l), (o, l, o)]),
                face([(l, o, o), (l, l, o), (l, l, l), (l, o, l)]),
                face([(o, o, o), (l, o, o), (l, o, l), (o, o, l)]),
                face([(o, l, o), (o, l, l), (l, l, l), (l, l, o)]),
                face([(o, o, o), (o, l, o), (l, l, o), (l, o, o)]),
                face([(o, o, l), (l, o, l), (l, l, l), (o, l, l)]),
            ],
        }
    }

    /// Keeps the part with normal·x ≤ offset; `normal` has unit length. Corners within `tolerance`
    /// (m) of the plane count as on it.
    pub fn cut(&mut self, normal: Vec3, offset: f64, tolerance: f64) {
        let side = |p: Vec3| {
            let s = normal.dot(p) - offset;
            if s.abs() <= tolerance { 0.0 } else { s }
        };
        if self.faces.iter().flatten().all(|&p| side(p) <= 0.0) {
            return;
        }
        let mut rim: Vec<Vec3> = Vec::new();
        let mut add = |p: Vec3| {
            if rim.iter().all(|q| q.distance(p) > tolerance) {
                rim.push(p);
            }
        };
        let mut faces = Vec::new();
        for face in &self.faces {
            let mut kept: Vec<Vec3> = Vec::new();
            for (i, &a) in face.iter().enumerate() {
                let b = face[(i + 1) % face.len()];
                let (sa, sb) = (side(a), side(b));
                if sa <= 0.0 {
                    kept.push(a);
                }
                if sa == 0.0 {
                    add(a);
                }
                if sa * sb < 0.0 {
                    let p = a + (b - a) * (sa / (sa - sb));
                    kept.push(p);
                    add(p);
                }
            }
            // a face of which only an edge is left is gone
            let apart = kept.iter().filter(|&&p| side(p) < 0.0).count();
            if kept.len() >= 3 && apart > 0 {
                faces.push(kept);
            }
        }
        if rim.len() >= 3 && !faces.is_empty() {
            faces.push(around(rim, normal));
        }
        self.faces = faces;
    }

    /// m³.
    pub fn volume(&self) -> f64 {
        let Some(&origin) = self.faces.first().and_then(|f| f.first()) else { return 0.0 };
        let mut six = 0.0;
        for face in &self.faces {
            for i in 1..face.len().saturating_sub(1) {
                let (a, b, c) = (face[0] - origin, face[i] - origin, face[i + 1] - origin);
                six += a.dot(b.cross(c));
            }
        }
        six / 6.0
    }

    /// Corners, each once.
    pub fn corners(&self, tolerance: f64) -> Vec<Vec3> {
        let mut corners: Vec<Vec3> = Vec::new();
        for &p in self.faces.iter().flatten() {
            if corners.iter().all(|q| q.distance(p) > tolerance) {
                corners.push(p);
            }
        }
        corners
    }
}

/// The points of a convex polygon in order, counter-clockwise seen against `normal`.
fn around(mut points: Vec<Vec3>, normal: Vec3) -> Vec<Vec3> {
    let center = points.iter().sum::<Vec3>() / points.len() as f64;
    let (u, v) = thirdlaw::math::tangents(normal);
    let angle = |p: &Vec3| libm::atan2((*p - center).dot(v), (*p - center).dot(u));
    points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    points
}

/// The Voronoi cells of seeds in a box: all points nearer to that seed than to any other.
pub fn voronoi_cells(low: Vec3, high: Vec3, seeds: &[Vec3]) -> Vec<Cell> {
    let tolerance = 1e-9 * (high - low).length();
    let cell_of = |i: usize| {
        let here = seeds[i];
        let mut others: Vec<(f64, usize)> =
            (0..seeds.len()).filter(|&j| j != i).map(|j| (seeds[j].distance(here), j)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut cell = Cell::cuboid(low, high);
        let mut reach = f64::INFINITY;
        for (distance, j) in others {
            // a seed twice as far as the farthest corner cuts nothing, nor does any after it
            if distance > 2.0 * reach {
                break;
            }
            let Some(normal) = (seeds[j] - here).try_normalize() else { continue };
            cell.cut(normal, normal.dot(0.5 * (here + seeds[j])), tolerance);
            reach = cell.faces.iter().flatten().map(|p| p.distance(here)).fold(0.0, f64::max);
        }
        cell
    };
    (0..seeds.len()).map(cell_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_box_has_the_volume_of_its_part() {
        let mut cell = Cell::cuboid(Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0));
        assert!((cell.volume() - 6.0).abs() < 1e-12);
        cell.cut(Vec3::Y, 0.5, 1e-9);
        assert!((cell.volume() - 1.5).abs() < 1e-12);
        // a corner off: legs 0.3 of a cube corner, volume 0.3³/6
        let mut cube = Cell::cuboid(Vec3::ZERO, Vec3::ONE);
        let normal = Vec3::ONE.normalize();
        cube.cut(normal, normal.dot(Vec3::new(1.0, 1.0, 0.7)), 1e-9);
        assert!((cube.volume() - (1.0 - 0.027 / 6.0)).abs() < 1e-12);
        assert_eq!(cube.corners(1e-9).len(), 10);
    }

    #[test]
    fn cuts_through_corners_and_along_faces_are_clean() {
        let mut cell = Cell::cuboid(Vec3::ZERO, Vec3::ONE);
        cell.cut(Vec3::new(1.0, 1.0, 0.0).normalize(), 0.5f64.sqrt(), 1e-9);
        assert!((cell.volume() - 0.5).abs() < 1e-12, "half a cube along the diagonal");
        cell.cut(-Vec3::Z, 0.0, 1e-9);
        assert!((cell.volume() - 0.5).abs() < 1e-12, "a plane that only touches a face");
        cell.cut(Vec3::Z, -1.0, 1e-9);
        assert_eq!(cell.volume(), 0.0, "nothing left");
    }
}
