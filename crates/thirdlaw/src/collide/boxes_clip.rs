//! The points of two boxes along a normal: the face of one cut by the sides of a face of the other.

use super::boxes::{BoxPair, View};
use super::clip::{CUT, ON_B, WITNESS, choose};
use super::manifold::POINTS_MAX;
use super::piece::BOX_LOOPS;
use crate::math::Vec3;

/// What two boxes have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facing {
    /// Unit normal from a to b, in axes of a.
    pub normal: Vec3,
    /// The first `count` are in use.
    pub points: [FacingPoint; POINTS_MAX],
    pub count: usize,
    /// Whether no point was left out for being farther apart than asked for.
    pub whole: bool,
}

/// A point of both boxes, in axes of each from its centre.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FacingPoint {
    pub on_a: Vec3,
    pub on_b: Vec3,
    pub separation: f64,
    /// As `clip.rs` numbers them.
    pub feature: u32,
}

/// A corner of the incident face: its foot on the plane of the reference face, along the normal, how far
/// above that it is, and what it comes from.
#[derive(Clone, Copy, Default)]
struct Corner {
    foot: Vec3,
    separation: f64,
    id: u32,
}

/// Cutting a quadrilateral four times leaves at most eight corners.
const CORNERS_MAX: usize = 8;

#[derive(Clone, Copy, Default)]
struct Polygon {
    corners: [Corner; CORNERS_MAX],
    count: usize,
}

/// Fills in the points along `out.normal` that are closer than `margin`. The closest points, if they are
/// known, are added where no other reaches as deep as `deep`.
pub(super) fn clip(
    pair: &BoxPair,
    (deep, margin): (f64, f64),
    witness: Option<[Vec3; 2]>,
    out: &mut Facing,
) {
    let normal_in_b = pair.turn.transpose() * out.normal;
    let (axis_a, axis_b) = (most_along(out.normal), most_along(normal_in_b));
    // b must be clearly flatter to become the reference
    let on_b = normal_in_b[axis_b].abs() > out.normal[axis_a].abs() + 1e-6;
    let view = pair.view(on_b);
    let outward = if on_b { -normal_in_b } else { out.normal };
    let (axis, incident) = if on_b { (axis_b, axis_a) } else { (axis_a, axis_b) };
    let [mut polygon, mut kept] = [Polygon::default(); 2];
    let polygon = view.cut_face((outward, axis, incident), [&mut polygon, &mut kept]);

    let mut points = [FacingPoint::default(); CORNERS_MAX + 1];
    let mut places = [(Vec3::ZERO, 0.0); CORNERS_MAX + 1];
    let mut count = 0;
    let mut deepest = f64::INFINITY;
    out.whole = true;
    for &Corner { foot, separation, id } in &polygon.corners[..polygon.count] {
        if separation > margin {
            out.whole = false;
            continue;
        }
        let corner = foot + outward * separation;
        points[count] = if on_b {
            FacingPoint { on_a: pair.b_to_a(corner), on_b: foot, separation, feature: ON_B | id }
        } else {
            let on_b = pair.turn.transpose() * (corner - pair.between);
            FacingPoint { on_a: foot, on_b, separation, feature: id }
        };
        places[count] = (0.5 * (corner + foot), separation);
        deepest = deepest.min(separation);
        count += 1;
    }
    if let Some([p, q]) = witness
        && deepest > deep
    {
        let separation = out.normal.dot(q - p);
        let to_b = |p: Vec3| pair.turn.transpose() * (p - pair.between);
        points[count] = FacingPoint { on_a: p, on_b: to_b(q), separation, feature: WITNESS };
        let middle = 0.5 * (p + q);
        places[count] = (if on_b { to_b(middle) } else { middle }, separation);
        count += 1;
    }
    let (chosen, chosen_count) = choose(outward, &places[..count]);
    out.count = chosen_count;
    for (point, &i) in out.points.iter_mut().zip(&chosen[..chosen_count]) {
        *point = points[i];
    }
}

/// The axis most along a vector; the first of those that are equally so.
fn most_along(v: Vec3) -> usize {
    let size = v.abs();
    let mut best = 0;
    for k in 1..3 {
        if size[k] > size[best] + 1e-9 {
            best = k;
        }
    }
    best
}

impl View {
    /// What of the facing face of the other box, square to its axis `incident`, lies before the face
    /// square to `axis`, seen along the unit vector `out`.
    fn cut_face<'p>(
        &self,
        (out, axis, incident): (Vec3, usize, usize),
        [mut polygon, mut kept]: [&'p mut Polygon; 2],
    ) -> &'p Polygon {
        let side = if out[axis] < 0.0 { -1.0 } else { 1.0 };
        let steepness = side * out[axis];
        let sides = [0, 1, 2].map(|k| self.axes.col(k) * self.other_half[k]);
        let faces_away = self.axes.col(incident).dot(out) > 0.0;
        let face = 2 * incident + usize::from(!faces_away);
        polygon.count = 4;
        for (corner, &id) in polygon.corners.iter_mut().zip(&BOX_LOOPS[4 * face..4 * face + 4]) {
            let along = |k: usize| if id >> k & 1 == 1 { sides[k] } else { -sides[k] };
            let at = self.center + along(0) + along(1) + along(2);
            let separation = (side * at[axis] - self.half[axis]) / steepness;
            *corner = Corner { foot: at - out * separation, separation, id };
        }
        let face = 2 * axis + usize::from(side > 0.0);
        let corners = &BOX_LOOPS[4 * face..4 * face + 4];
        for k in 0..4 {
            let (from, to) = (corners[k], corners[(k + 1) % 4]);
            // along a side of the face the sign of one axis changes; the third is that across it
            let along = (from ^ to).trailing_zeros() as usize;
            let across = 3 - along - axis;
            let sign = if from >> across & 1 == 1 { 1.0 } else { -1.0 };
            if polygon.cut_by((across, sign, self.half[across], from), kept) {
                std::mem::swap(&mut polygon, &mut kept);
            }
        }
        polygon
    }
}

impl Polygon {
    /// Fills `kept` with the part behind the plane at `level` along the axis `across`, on the side of
    /// `sign`; leaves it alone and says so where nothing is to be cut off.
    fn cut_by(
        &self,
        (across, sign, level, plane): (usize, f64, f64, u32),
        kept: &mut Polygon,
    ) -> bool {
        let mut heights = [0.0; CORNERS_MAX];
        let (mut size, mut highest) = (0.0_f64, f64::NEG_INFINITY);
        for (height, corner) in heights.iter_mut().zip(&self.corners[..self.count]) {
            *height = sign * corner.foot[across] - level;
            size = size.max(height.abs());
            highest = highest.max(*height);
        }
        // a corner that touches the plane is kept whole, so that stacked equal faces keep their corners
        let tolerance = 1e-9 * size.max(1e-3);
        if highest <= tolerance {
            return false;
        }
        kept.count = 0;
        for k in 0..self.count {
            let next = if k + 1 == self.count { 0 } else { k + 1 };
            let (p, q, hp, hq) = (&self.corners[k], &self.corners[next], heights[k], heights[next]);
            if hp <= tolerance {
                kept.push(*p);
            }
            if (hp < -tolerance && hq > tolerance) || (hp > tolerance && hq < -tolerance) {
                let t = hp / (hp - hq);
                let from = if hp > 0.0 { q.id } else { p.id };
                kept.push(Corner {
                    foot: p.foot + (q.foot - p.foot) * t,
                    separation: p.separation + (q.separation - p.separation) * t,
                    id: CUT | ((from & 0x3fff) << 14) | (plane & 0x3fff),
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
