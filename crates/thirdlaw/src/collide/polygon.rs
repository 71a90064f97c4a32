//! A face cut by the sides of another, in the plane of the latter, and the corners left that hold best.

use super::clip::{CUT, choose};
use super::piece::BOX_LOOPS;
use crate::math::Vec3;
use crate::state::contact::POINTS_MAX;

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

/// A face of a box that others are cut by, seen along a vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoxFace {
    axis: usize,
    /// Where it is along its axis, m.
    level: f64,
    /// The axes of its plane, in the order in which its sides are gone round: below the first, above the
    /// second, above the first, below the second; and how far it reaches along them, m.
    across: [usize; 2],
    half: [f64; 2],
    corners: [u32; 4],
    /// The vector along the axes of the plane, for a unit of it along the axis of the face.
    slant: [f64; 2],
    /// Length along the vector for a unit of it along the axis of the face.
    stretch: f64,
}

/// The corners that hold best, by index; one beyond the last stands for the closest points.
pub(super) struct Chosen {
    pub indices: [usize; POINTS_MAX],
    pub count: usize,
    /// Whether no corner was left out for being farther apart than asked for.
    pub whole: bool,
}

impl Cutter {
    /// Begins with a triangle.
    pub fn begin_triangle(&mut self, corners: [Vec3; 3]) {
        let places = self.begin(3).iter_mut().zip(corners).zip(0..);
        places.for_each(|((corner, at), id)| *corner = Corner { at, id });
    }

    /// Begins with the face of a box square to `axis`, above or below, given by its middle and half its
    /// sides along the two axes that follow.
    pub fn begin_box(&mut self, (axis, up): (usize, bool), middle: Vec3, sides: [Vec3; 2]) {
        let follow = [[1, 2, 0][axis], [2, 0, 1][axis]];
        for (corner, id) in self.begin(4).iter_mut().zip(box_face(axis, up)) {
            let along = |i: usize| if id >> follow[i] & 1 == 1 { sides[i] } else { -sides[i] };
            *corner = Corner { at: middle + along(0) + along(1), id };
        }
    }

    fn begin(&mut self, count: usize) -> &mut [Corner] {
        self.current = 0;
        self.polygons[0].count = count;
        &mut self.polygons[0].corners
    }

    /// What is left.
    pub fn corners(&self) -> &[Corner] {
        let polygon = &self.polygons[self.current];
        &polygon.corners[..polygon.count]
    }

    /// Leaves what lies before a face of a box.
    pub fn cut_by_box(&mut self, face: &BoxFace) {
        let [p, q] = face.half;
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
    /// The face square to `axis` that faces the unit vector `outward`, seen along this.
    pub fn toward(half: Vec3, outward: Vec3, axis: usize) -> BoxFace {
        let (half, outward) = (half.to_array(), outward.to_array());
        let up = outward[axis] >= 0.0;
        let (p, q) = ([1, 2, 0][axis], [2, 0, 1][axis]);
        let across = if up { [q, p] } else { [p, q] };
        let stretch = 1.0 / outward[axis];
        BoxFace {
            axis,
            level: if up { half[axis] } else { -half[axis] },
            across,
            half: across.map(|k| half[k]),
            corners: box_face(axis, up),
            slant: across.map(|k| outward[k] * stretch),
            stretch,
        }
    }

    /// A vector as corners are given.
    pub fn see(&self, vector: Vec3) -> Vec3 {
        let v = vector.to_array();
        let ([p, q], up) = (self.across, v[self.axis]);
        Vec3::new(v[p] - self.slant[0] * up, v[q] - self.slant[1] * up, up * self.stretch)
    }

    /// A point as corners are given.
    pub fn see_point(&self, point: Vec3) -> Vec3 {
        let mut v = point.to_array();
        v[self.axis] -= self.level;
        self.see(Vec3::from_array(v))
    }

    /// The foot of a corner.
    pub fn foot(&self, at: Vec3) -> Vec3 {
        let mut foot = [self.level; 3];
        (foot[self.across[0]], foot[self.across[1]]) = (at.x, at.y);
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
                let face = BoxFace::toward(Vec3::ONE, outward, axis);
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
