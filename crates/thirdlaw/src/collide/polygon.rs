//! A face cut by the sides of another, in the plane of the latter, and the corners left that hold best.

use super::clip::{CUT, choose};
use super::manifold::POINTS_MAX;
use super::piece::BOX_LOOPS;
use crate::math::Vec3;

/// A corner of the face that is cut, and what it comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    /// Two coordinates of its foot in the plane, along the normal, and how far above that it is, m.
    pub at: Vec3,
    pub id: u32,
}

/// Cutting a quadrilateral four times leaves at most eight corners.
const CORNERS_MAX: usize = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Polygon {
    corners: [Corner; CORNERS_MAX],
    count: usize,
}

/// A face on its way through the sides of another. Memory reused from face to face.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cutter {
    /// What is left, and room for what is left of that.
    polygons: [Polygon; 2],
    current: usize,
}

/// A face of a box that others are cut by.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoxFace {
    pub axis: usize,
    /// On which side of the box, by sign.
    pub side: f64,
    /// The axes of its plane, in the order in which its sides are gone round: below the first, above the
    /// second, above the first, below the second.
    across: [usize; 2],
    corners: [u32; 4],
}

/// The corners that hold best, by index; one beyond the last stands for the closest points.
pub(super) struct Chosen {
    pub indices: [usize; POINTS_MAX],
    pub count: usize,
    /// Whether no corner was left out for being farther apart than asked for.
    pub whole: bool,
}

impl Cutter {
    /// Begins with a face of at most eight corners.
    pub fn begin(&mut self, corners: impl Iterator<Item = Corner>) {
        let polygon = &mut self.polygons[0];
        polygon.count = 0;
        corners.for_each(|corner| polygon.push(corner));
        self.current = 0;
    }

    /// What is left.
    pub fn corners(&self) -> &[Corner] {
        let polygon = &self.polygons[self.current];
        &polygon.corners[..polygon.count]
    }

    /// Leaves what lies before a face of a box.
    pub fn cut_by_box(&mut self, face: &BoxFace, half: Vec3) {
        let [p, q] = face.across.map(|k| half[k]);
        self.cut_by(|at| -at.x - p, face.corners[0]);
        self.cut_by(|at| at.y - q, face.corners[1]);
        self.cut_by(|at| at.x - p, face.corners[2]);
        self.cut_by(|at| -at.y - q, face.corners[3]);
    }

    /// Leaves what is not above a line, given by the height above it.
    pub fn cut_by(&mut self, height: impl Fn(Vec3) -> f64, line: u32) {
        let [first, second] = &mut self.polygons;
        let (polygon, kept) = if self.current == 0 { (&*first, second) } else { (&*second, first) };
        if polygon.cut_by(height, line, kept) {
            self.current ^= 1;
        }
    }

    /// Chooses among the corners closer than `margin`, seen along the unit vector `outward`, with their
    /// feet where `foot` says. The middle of the closest points and their gap are one more where no corner
    /// reaches as deep as `deep`.
    pub fn choose(
        &self,
        outward: Vec3,
        foot: impl Fn(Vec3) -> Vec3,
        (deep, margin): (f64, f64),
        closest: Option<(Vec3, f64)>,
    ) -> Chosen {
        let mut places = [(Vec3::ZERO, 0.0); CORNERS_MAX + 1];
        let mut from = [0; CORNERS_MAX + 1];
        let (mut count, mut whole, mut deepest) = (0, true, f64::INFINITY);
        for (i, &Corner { at, .. }) in self.corners().iter().enumerate() {
            if at.z > margin {
                whole = false;
                continue;
            }
            places[count] = (foot(at) + outward * (0.5 * at.z), at.z);
            from[count] = i;
            deepest = deepest.min(at.z);
            count += 1;
        }
        if let Some(place) = closest
            && deepest > deep
        {
            (places[count], from[count]) = (place, self.corners().len());
            count += 1;
        }
        let (chosen, count) = choose(outward, &places[..count]);
        Chosen { indices: chosen.map(|i| from[i]), count, whole }
    }
}

impl Polygon {
    /// Fills `kept` with the part that is not above a line; leaves it alone and says so where nothing is
    /// to be cut off.
    fn cut_by(&self, height: impl Fn(Vec3) -> f64, line: u32, kept: &mut Polygon) -> bool {
        let mut heights = [0.0; CORNERS_MAX];
        let (mut size, mut highest) = (0.0_f64, f64::NEG_INFINITY);
        let corners = &self.corners[..self.count.min(CORNERS_MAX)];
        for (above, corner) in heights.iter_mut().zip(corners) {
            *above = height(corner.at);
            size = size.max(above.abs());
            highest = highest.max(*above);
        }
        // a corner that touches the line is kept whole, so that stacked equal faces keep their corners
        let tolerance = 1e-9 * size.max(1e-3);
        if highest <= tolerance {
            return false;
        }
        kept.count = 0;
        for (k, (p, &hp)) in corners.iter().zip(&heights).enumerate() {
            let next = if k + 1 == corners.len() { 0 } else { k + 1 };
            let hq = heights[next];
            if hp <= tolerance {
                kept.push(*p);
            }
            if (hp < -tolerance && hq > tolerance) || (hp > tolerance && hq < -tolerance) {
                let q = &corners[next];
                let from = if hp > 0.0 { q.id } else { p.id };
                kept.push(Corner {
                    at: p.at + (q.at - p.at) * (hp / (hp - hq)),
                    id: CUT | ((from & 0x3fff) << 14) | (line & 0x3fff),
                });
            }
        }
        true
    }

    fn push(&mut self, corner: Corner) {
        if let Some(place) = self.corners.get_mut(self.count) {
            *place = corner;
            self.count += 1;
        }
    }
}

impl BoxFace {
    /// The face square to `axis` that faces the vector `outward`.
    pub fn toward(outward: Vec3, axis: usize) -> BoxFace {
        let up = outward[axis] >= 0.0;
        let (p, q) = ([1, 2, 0][axis], [2, 0, 1][axis]);
        BoxFace {
            axis,
            side: if up { 1.0 } else { -1.0 },
            across: if up { [q, p] } else { [p, q] },
            corners: box_face(axis, up),
        }
    }

    /// A corner of another face, at a point seen along the unit vector `outward`.
    pub fn corner(&self, half: Vec3, outward: Vec3, (point, id): (Vec3, u32)) -> Corner {
        let BoxFace { axis, side, across: [p, q], .. } = *self;
        let separation = (side * point[axis] - half[axis]) / (side * outward[axis]);
        let foot = point - outward * separation;
        Corner { at: Vec3::new(foot[p], foot[q], separation), id }
    }

    /// The foot of a corner.
    pub fn foot(&self, half: Vec3, at: Vec3) -> Vec3 {
        let BoxFace { axis, side, across: [p, q], .. } = *self;
        let mut foot = [0.0; 3];
        (foot[p], foot[q], foot[axis]) = (at.x, at.y, side * half[axis]);
        Vec3::from_array(foot)
    }
}

/// The corners of the face of a box square to `axis`, above or below, as `piece.rs` numbers them.
pub(super) fn box_face(axis: usize, up: bool) -> [u32; 4] {
    let face = 2 * axis + usize::from(up);
    [0, 1, 2, 3].map(|k| BOX_LOOPS[4 * face + k])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sides of a face are gone round as its corners are numbered: each runs from the corner that it
    /// is named after to the next.
    #[test]
    fn sides_are_those_of_the_corners_they_are_named_after() {
        let sign = |id: u32, k: usize| if id >> k & 1 == 1 { 1.0 } else { -1.0 };
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let mut outward = Vec3::ZERO;
                outward[axis] = side;
                let face = BoxFace::toward(outward, axis);
                let [p, q] = face.across;
                let sides = [(p, -1.0), (q, 1.0), (p, 1.0), (q, -1.0)];
                for (k, (across, above)) in sides.into_iter().enumerate() {
                    for id in [face.corners[k], face.corners[(k + 1) % 4]] {
                        assert_eq!(sign(id, axis), side);
                        assert_eq!(sign(id, across), above, "axis {axis} side {side} {face:?}");
                    }
                }
            }
        }
    }
}
