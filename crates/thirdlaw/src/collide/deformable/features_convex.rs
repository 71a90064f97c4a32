//! Convex solids against the insides of cloth triangles and edges.
//!
//! Triangles: where the nearest places are inside the triangle, the way between them is along its
//! normal ±n, and the place on the solid is the one that reaches farthest that way. Cloth that cuts
//! the solid is sent to the side where less of it sticks out.
//!
//! Edges: the signed distance is convex along an edge, so its least value is found between two points
//! where it falls and where it rises. Inside, at the crease between two faces, its slope jumps; the
//! mean of the two normals that is square to the edge is then the normal, as for two edges.

use super::features::{Limits, Touch, in_triangle};
use crate::math::Vec3;
use crate::shape::distance::{Surface, convex_distance};
use crate::shape::{Convex, box_corners};

pub(super) fn triangle_convex(
    convex: &Convex,
    corners: [Vec3; 3],
    limits: Limits,
    mut emit: impl FnMut(Touch),
) {
    let reach = limits.reach;
    let [a, b, c] = corners;
    let Some(n) = (b - a).cross(c - a).try_normalize() else { return };
    let height = n.dot(a);
    let (above, below) = (height - farthest(convex, n), -height - farthest(convex, -n));
    let (normal, distance) = if above >= below { (n, above) } else { (-n, below) };
    if distance.is_nan() || distance > reach {
        return;
    }
    let width = -(above + below);
    let slack = reach.min(0.25 * width);
    let mut found = false;
    let mut best_way = None;
    standing_out(convex, normal, slack, |id, point| {
        let distance = normal.dot(a - point);
        if distance > reach {
            return;
        }
        let foot = point + normal * distance;
        let Some(weights) = in_triangle(foot, corners, n) else { return };
        if distance < 0.0 {
            // beside a sharp corner, the cloth may be behind it and yet outside
            if convex_distance(convex, foot, 1e-9 * width).is_none() {
                return;
            }
            // where an edge or corner of the triangle dips in, that may be the shorter way out
            let best = *best_way.get_or_insert_with(|| shortest_way_out(convex, corners));
            if best > distance + 1e-9 * width {
                return;
            }
        }
        found = true;
        if sags(convex, &corners, distance, limits.sag) {
            emit(Touch { weights, point, normal, distance, id });
        }
    });
    if distance < 0.0 && !found && !matches!(convex, Convex::Sphere { .. }) {
        pierced(convex, corners).into_iter().for_each(emit);
    }
}

/// Whether a place at `distance` is nearer to the solid than all corners, by more than `sag`.
fn sags(convex: &Convex, corners: &[Vec3], distance: f64, sag: f64) -> bool {
    let within = distance + sag.max(0.0);
    sag <= 0.0 || corners.iter().all(|&p| convex_distance(convex, p, within).is_none())
}

/// Everything that is inside.
const INSIDE: Limits = Limits { reach: 0.0, sag: 0.0 };

/// Least way by which a triangle leaves the solid along the normals at its corners and edges,
/// negative; −∞ where none of them is inside.
fn shortest_way_out(convex: &Convex, corners: [Vec3; 3]) -> f64 {
    let mut best = f64::NEG_INFINITY;
    let mut leave = |normal: Vec3| {
        let lowest = corners.map(|p| normal.dot(p)).into_iter().fold(f64::INFINITY, f64::min);
        best = f64::max(best, lowest - farthest(convex, normal));
    };
    for k in 0..3 {
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        if let Some(surface) = convex_distance(convex, p, 0.0) {
            leave(surface.normal);
        }
        if let Some(touch) = edge_convex(convex, [p, q], INSIDE) {
            leave(touch.normal);
        }
    }
    best
}

/// The feature of a solid that a triangle cuts without touching it elsewhere.
const PIERCED: u32 = 1 << 19;

/// The deepest point of a triangle whose corners and edges are all outside, if it cuts the solid: the
/// solid stands through it, and no corner of the solid has its foot in the cut.
fn pierced(convex: &Convex, corners: [Vec3; 3]) -> Option<Touch> {
    let [a, b, c] = corners;
    let look =
        |u: f64, v: f64| convex_distance(convex, a + (b - a) * u + (c - a) * v, f64::INFINITY);
    let inside = |k: usize| {
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        convex_distance(convex, p, 0.0).is_some() || edge_convex(convex, [p, q], INSIDE).is_some()
    };
    if (0..3).any(inside) {
        return None;
    }
    // convex: the deepest is found by going downhill with ever smaller steps
    let (mut u, mut v) = (1.0 / 3.0, 1.0 / 3.0);
    let mut best = look(u, v)?;
    let mut step = 0.25;
    while step > 1e-4 {
        let mut moved = false;
        for [du, dv] in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]
        {
            let (x, y) = (u + step * du, v + step * dv);
            if x < 0.0 || y < 0.0 || x + y > 1.0 {
                continue;
            }
            let surface = look(x, y)?;
            if surface.distance < best.distance {
                (u, v, best, moved) = (x, y, surface, true);
            }
        }
        if !moved {
            step *= 0.5;
        }
    }
    let Surface { distance, normal, point } = best;
    let weights = [1.0 - u - v, u, v];
    (distance < 0.0).then_some(Touch { weights, point, normal, distance, id: PIERCED })
}

/// The greatest coordinate of the solid along the unit vector `n`.
fn farthest(convex: &Convex, n: Vec3) -> f64 {
    let across = || (n.x * n.x + n.z * n.z).sqrt();
    let (core, radius) = convex.core();
    let along = match core {
        Convex::Sphere { radius } => *radius,
        Convex::Cuboid { half_extents } => half_extents.dot(n.abs()),
        Convex::Capsule { half_height, radius } => half_height * n.y.abs() + radius,
        Convex::Cylinder { half_height, radius } => half_height * n.y.abs() + radius * across(),
        Convex::Cone { half_height, radius } => {
            (half_height * n.y).max(radius * across() - half_height * n.y)
        }
        Convex::HalfSpace { .. } => f64::INFINITY,
        Convex::Hull(hull) => {
            hull.vertices.iter().map(|v| n.dot(*v)).fold(f64::NEG_INFINITY, f64::max)
        }
        Convex::Own(own) => n.dot(own.support(n)),
        Convex::Rounded(_) => 0.0,
    };
    along + radius
}

/// Calls `found` with every corner (or end, or place on a rim) that reaches within `slack` as far
/// along `n` as any.
fn standing_out(convex: &Convex, n: Vec3, slack: f64, mut found: impl FnMut(u32, Vec3)) {
    let (core, radius) = convex.core();
    let least = farthest(convex, n) - slack;
    // the rounding of the farthest one itself
    let least = least - 1e-12 * least.abs();
    let mut offer = |id: u32, v: Vec3| {
        // what is rounded reaches as much farther everywhere
        let v = if radius > 0.0 { v + radius * n } else { v };
        if n.dot(v) >= least {
            found(id, v);
        }
    };
    let rim = |y: f64, r: f64, id: u32, offer: &mut dyn FnMut(u32, Vec3)| {
        let flat = Vec3::new(n.x, 0.0, n.z);
        let x = flat.try_normalize().unwrap_or(Vec3::X);
        let z = x.cross(Vec3::Y);
        // the farthest place and two more, a third of a turn on
        const HALF_ROOT_3: f64 = 0.866_025_403_784_438_6;
        for (k, [c, s]) in
            [[1.0, 0.0], [-0.5, HALF_ROOT_3], [-0.5, -HALF_ROOT_3]].iter().enumerate()
        {
            offer(id + k as u32, x * (c * r) + z * (s * r) + Vec3::Y * y);
        }
    };
    match core {
        Convex::Sphere { radius } => offer(0, n * *radius),
        Convex::Capsule { half_height, radius } => {
            for (id, end) in [(0, -1.0), (1, 1.0)] {
                // the end that leans away has its place where the round side begins
                let leans = n.y * end >= 0.0;
                let flat = Vec3::new(n.x, 0.0, n.z).try_normalize();
                if let Some(way) = if leans { Some(n) } else { flat } {
                    offer(id, way * *radius + Vec3::Y * (end * *half_height));
                }
            }
        }
        Convex::Cuboid { half_extents } => {
            let corners = box_corners(*half_extents);
            corners.iter().enumerate().for_each(|(id, &v)| offer(id as u32, v));
        }
        Convex::Hull(hull) => {
            hull.vertices.iter().enumerate().for_each(|(id, &v)| offer(id as u32, v));
        }
        Convex::Cylinder { half_height, radius } => {
            rim(-half_height, *radius, 0, &mut offer);
            rim(*half_height, *radius, 3, &mut offer);
        }
        Convex::Cone { half_height, radius } => {
            rim(-half_height, *radius, 0, &mut offer);
            offer(3, Vec3::Y * *half_height);
        }
        Convex::Own(own) => offer(0, own.support(n)),
        Convex::HalfSpace { .. } | Convex::Rounded(_) => {}
    }
}

/// Steps of looking for the deepest point of an edge.
const STEPS: usize = 64;

/// Two faces that meet at less than this (the length of the mean of their normals) are two sides of
/// a plate; an edge through it has no better way out than its ends.
const CREASE: f64 = 0.1;

/// The deepest (or nearest) point of an edge, if it is between its ends.
pub(super) fn edge_convex(convex: &Convex, [p, q]: [Vec3; 2], limits: Limits) -> Option<Touch> {
    let Limits { reach, sag } = limits;
    let along = q - p;
    let length = along.length();
    let look = |t: f64, reach: f64| -> Option<(Surface, f64)> {
        let surface = convex_distance(convex, p + along * t, reach)?;
        Some((surface, surface.normal.dot(along)))
    };
    let (mut lo, mut hi) = (0.0, 1.0);
    // an end farther than this keeps the whole edge out of reach
    let (mut at_lo, mut fall) = look(lo, reach + length)?;
    let (mut at_hi, mut rise) = look(hi, reach + length)?;
    // it rises from an end
    if fall >= 0.0 || rise <= 0.0 {
        return None;
    }
    // no deeper than this, or it hardly sags
    let least = reach.min(at_lo.distance.min(at_hi.distance) - sag.max(0.0));
    for step in 0..STEPS {
        // Two lines bound the distance from below; where they meet it may be least.
        let bound = (at_hi.distance - at_lo.distance + fall * lo - rise * hi) / (fall - rise);
        let floor = at_lo.distance + fall * (bound - lo);
        if floor > least {
            return None;
        }
        let best = at_lo.distance.min(at_hi.distance);
        if hi - lo < 1e-9 || best - floor < 1e-10 * length {
            break;
        }
        // where the slope is smooth its chord finds the place; every third step halves, to be sure
        let t = match step % 3 {
            0 => lo + (hi - lo) * fall / (fall - rise),
            1 => bound,
            _ => 0.5 * (lo + hi),
        };
        let margin = 0.01 * (hi - lo);
        let t = t.clamp(lo + margin, hi - margin);
        let (surface, slope) = look(t, f64::INFINITY)?;
        if slope < 0.0 {
            (lo, at_lo, fall) = (t, surface, slope);
        } else {
            (hi, at_hi, rise) = (t, surface, slope);
        }
    }
    let (t, surface) = if at_lo.distance < at_hi.distance { (lo, at_lo) } else { (hi, at_hi) };
    let share = fall / (fall - rise);
    let mean = at_lo.normal * (1.0 - share) + at_hi.normal * share;
    let size = mean.length();
    let plain = Touch {
        weights: [1.0 - t, t, 0.0],
        point: surface.point,
        normal: surface.normal,
        distance: surface.distance,
        id: 0,
    };
    let touch = if surface.distance >= 0.0 || size > 1.0 - 1e-6 {
        plain
    } else if size < CREASE {
        return None;
    } else {
        let normal = mean / size;
        let distance = surface.distance / size;
        let point = p + along * t - normal * distance;
        // the two faces may meet only beyond a third one
        let off = convex_distance(convex, point, f64::INFINITY)?.distance.abs();
        if off < 1e-6 * distance.abs() + 1e-12 {
            Touch { point, normal, distance, ..plain }
        } else {
            plain
        }
    };
    (surface.distance <= least && touch.distance <= reach).then_some(touch)
}
