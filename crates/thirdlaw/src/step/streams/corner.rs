//! Ways that several surfaces leave to a particle: in the corner of a box, under a lid.

use crate::math::Vec3;

/// Surfaces that a particle touches at the same time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Corner {
    planes: [Plane; 3],
    count: usize,
}

/// A surface: the way must not be slower along `normal` than `speed`.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    normal: Vec3,
    speed: f64,
}

impl Corner {
    /// The particle moves by `u` for `time`: surfaces that it leaves by more than `skin` are
    /// forgotten.
    pub fn leave(&mut self, u: Vec3, time: f64, skin: f64) {
        let mut kept = 0;
        for k in 0..self.count {
            let plane = self.planes[k];
            if (plane.normal.dot(u) - plane.speed) * time <= skin {
                self.planes[kept] = plane;
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Adds a surface that moves at `velocity`; of more than three the oldest is forgotten.
    pub fn add(&mut self, normal: Vec3, velocity: Vec3) {
        if self.count == self.planes.len() {
            self.planes.rotate_left(1);
            self.count -= 1;
        }
        self.planes[self.count] = Plane { normal, speed: normal.dot(velocity) };
        self.count += 1;
    }

    /// The way nearest to `v` that leads into none of the surfaces; where there is none, one that
    /// does not lead into the last.
    pub fn way(&self, v: Vec3) -> Vec3 {
        let planes = &self.planes[..self.count];
        let free = |u: Vec3| {
            let slack = 1e-12 * (1.0 + u.length());
            planes.iter().all(|p| p.normal.dot(u) - p.speed >= -slack)
        };
        if free(v) {
            return v;
        }
        let Some(last) = planes.last() else { return v };
        let onto = |p: &Plane, v: Vec3| v + p.normal * (p.speed - p.normal.dot(v));
        let alone = planes.iter().map(|p| onto(p, v));
        let edge = |a: &Plane, b: &Plane| {
            // along both surfaces: the part of v along their crease, and what keeps up with both
            let crease = a.normal.cross(b.normal).try_normalize()?;
            meet([*a, *b, Plane { normal: crease, speed: crease.dot(v) }])
        };
        let pairs = (0..self.count)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter_map(|(i, j)| edge(&planes[i], &planes[j]));
        let all = (self.count == 3).then(|| meet(self.planes)).flatten();
        let ways = alone.chain(pairs).chain(all).filter(|u| free(*u));
        let nearest =
            |a: &Vec3, b: &Vec3| (*a - v).length_squared().total_cmp(&(*b - v).length_squared());
        let fallback = if last.normal.dot(v) < last.speed { onto(last, v) } else { v };
        ways.min_by(nearest).unwrap_or(fallback)
    }
}

/// The velocity that keeps up with three surfaces.
fn meet([a, b, c]: [Plane; 3]) -> Option<Vec3> {
    let (bc, ca, ab) =
        (b.normal.cross(c.normal), c.normal.cross(a.normal), a.normal.cross(b.normal));
    let volume = a.normal.dot(bc);
    // flatter corners would throw particles out of them
    (volume.abs() > 1e-3).then(|| (bc * a.speed + ca * b.speed + ab * c.speed) / volume)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_keep_up_with_all_surfaces() {
        let mut corner = Corner::default();
        corner.add(Vec3::Y, Vec3::ZERO);
        assert_eq!(corner.way(Vec3::new(1.0, -2.0, 0.5)), Vec3::new(1.0, 0.0, 0.5));
        corner.add(-Vec3::X, Vec3::new(-3.0, 0.0, 0.0));
        assert_eq!(corner.way(Vec3::new(1.0, -2.0, 0.5)), Vec3::new(-3.0, 0.0, 0.5));
        corner.add(Vec3::new(0.0, 0.6, 0.8), Vec3::new(0.0, 0.0, 5.0));
        let u = corner.way(Vec3::new(1.0, -2.0, 0.5));
        assert!(u.y >= -1e-12 && u.x <= -3.0 + 1e-12 && 0.6 * u.y + 0.8 * u.z >= 4.0 - 1e-12);
        corner.leave(Vec3::new(-3.0, 1.0, 9.0), 1.0, 1e-6);
        // only the wall at x that it moves along is left
        assert_eq!(corner.way(Vec3::new(1.0, -2.0, 0.5)), Vec3::new(-3.0, -2.0, 0.5));
    }
}
