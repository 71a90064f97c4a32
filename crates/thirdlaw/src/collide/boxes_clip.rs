//! The points of two boxes along a normal: the face of one cut by the sides of a face of the other.

use super::boxes::{BoxPair, View};
use super::clip::WITNESS;
use super::polygon::{BoxFace, Chosen, Corner, Cutter};
use crate::math::Vec3;
use crate::state::contact::{ON_B, POINTS_MAX};

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
    /// Memory for cutting faces.
    pub cutter: Cutter,
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

/// Fills in the points along `out.normal` that are closer than `margin`. The closest points, if they are
/// known, are added where no other reaches as deep as `deep`: the `limits` are `deep` and `margin`.
pub(super) fn clip(
    pair: &BoxPair,
    limits: (f64, f64),
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
    let face = BoxFace::toward(view.half, outward, axis);
    view.begin((outward, incident), &face, &mut out.cutter);
    out.cutter.cut_by_box(&face);

    let to_b = |p: Vec3| pair.turn.transpose() * (p - pair.between);
    let closest = witness.map(|[p, q]| {
        let middle = 0.5 * (p + q);
        (if on_b { to_b(middle) } else { middle }, out.normal.dot(q - p))
    });
    let foot = |at: Vec3| face.foot(at);
    let Chosen { indices, count, whole } = out.cutter.choose(outward, foot, limits, closest);
    (out.count, out.whole) = (count, whole);
    for (point, &i) in out.points.iter_mut().zip(&indices[..count]) {
        *point = match (out.cutter.corners().get(i), witness, closest) {
            (Some(&Corner { at, id }), _, _) => {
                let (foot, separation) = (foot(at), at.z);
                let corner = foot + outward * separation;
                if on_b {
                    let on_a = pair.b_to_a(corner);
                    FacingPoint { on_a, on_b: foot, separation, feature: ON_B | id }
                } else {
                    FacingPoint { on_a: foot, on_b: to_b(corner), separation, feature: id }
                }
            }
            (None, Some([p, q]), Some((_, separation))) => {
                FacingPoint { on_a: p, on_b: to_b(q), separation, feature: WITNESS }
            }
            _ => FacingPoint::default(),
        };
    }
}

/// The axis most along a vector; the first of those that are equally so.
pub(super) fn most_along(v: Vec3) -> usize {
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
    /// Begins with the face of the other box, square to its axis `incident`, that faces the vector
    /// `outward`, as seen before a face of this one.
    fn begin(&self, (outward, incident): (Vec3, usize), face: &BoxFace, cutter: &mut Cutter) {
        let side = |k: usize| self.axes.col(k) * self.other_half[k];
        let out = side(incident);
        let up = out.dot(outward) <= 0.0;
        let middle = self.center + if up { out } else { -out };
        let follow = [[1, 2, 0][incident], [2, 0, 1][incident]];
        let sides = follow.map(|k| face.see(side(k)));
        cutter.begin_box((incident, up), face.see_point(middle), sides);
    }
}
