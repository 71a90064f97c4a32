//! From a normal to contact points: the facing features of both pieces are clipped against each
//! other and reduced to the few points that hold the body best.

use super::direction::{Direction, closest_on_segments, gap};
use super::manifold::{Manifold, Point};
use super::piece::{Feature, FeaturePoint, Piece};
use crate::math::Vec3;
use crate::state::contact::{ON_B, POINTS_MAX};

/// Feature number of a contact that comes from a single closest pair.
pub(super) const WITNESS: u32 = 1 << 31;

/// Marks points cut from an edge.
pub(super) const CUT: u32 = 1 << 29;

/// Memory of the clipping.
#[derive(Debug, Default)]
pub(super) struct ClipBuffer {
    a: Feature,
    b: Feature,
    polygon: Vec<FeaturePoint>,
    next: Vec<FeaturePoint>,
    candidates: Vec<Point>,
    places: Vec<(Vec3, f64)>,
    /// Whether a point was farther apart than asked for.
    left_out: bool,
}

/// Fills `out` with the points of the pair along `direction` that are closer than `margin`.
pub(super) fn manifold(
    a: &Piece,
    b: &Piece,
    direction: &Direction,
    margin: f64,
    buffer: &mut ClipBuffer,
    out: &mut Manifold,
) {
    let n = direction.normal;
    out.normal = n;
    out.count = 0;
    buffer.candidates.clear();
    buffer.left_out = false;
    let reached = gap(a, b, n);
    if reached > margin {
        return;
    }
    a.feature(n, &mut buffer.a);
    b.feature(-n, &mut buffer.b);
    let single = buffer.a.points.len() == 1 || buffer.b.points.len() == 1;
    if !(single && direction.witness.is_some()) {
        clip_features(n, margin, buffer);
    }
    // the direction of an overlap is found less exactly than that of a gap
    let slack = a.scale.min(b.scale).min(1e3) * if reached < 0.0 { 1e-4 } else { 1e-7 };
    let deepest = buffer.candidates.iter().map(|p| p.separation).fold(f64::INFINITY, f64::min);
    if let Some([p, q]) = direction.witness
        && deepest > reached + slack
    {
        buffer.candidates.push(witness(a, b, n, p, q));
    }
    out.whole = !buffer.left_out;
    reduce(n, &buffer.candidates, &mut buffer.places, out);
}

/// Fills `out` with the points of a piece below `level` + `margin` along the unit vector `n`; the
/// plane is side a.
pub(super) fn on_plane(
    piece: &Piece,
    n: Vec3,
    level: f64,
    margin: f64,
    buffer: &mut ClipBuffer,
    out: &mut Manifold,
) {
    out.normal = n;
    out.count = 0;
    out.whole = true;
    buffer.candidates.clear();
    piece.feature(-n, &mut buffer.b);
    if let super::piece::Kind::Poly(poly) = &piece.kind
        && !poly.faces.is_empty()
    {
        lower_corners(poly.vertices, piece.radius, n, &mut buffer.b);
    }
    for point in &buffer.b.points {
        let separation = n.dot(point.position) - level;
        if separation <= margin {
            buffer.candidates.push(Point {
                core_a: point.position - n * separation,
                core_b: point.position + n * point.radius,
                radius_a: 0.0,
                radius_b: point.radius,
                separation,
                feature: point.id,
            });
        } else {
            out.whole = false;
        }
    }
    reduce(n, &buffer.candidates, &mut buffer.places, out);
}

/// Adds to the face that faces a plane all corners no higher than its highest: the lowest corner of an
/// irregular solid need not be one of that face's.
fn lower_corners(corners: &[Vec3], radius: f64, n: Vec3, face: &mut Feature) {
    let highest = face.points.iter().map(|p| n.dot(p.position)).fold(f64::NEG_INFINITY, f64::max);
    for (id, &corner) in corners.iter().enumerate() {
        let (id, position) = (id as u32, corner - radius * n);
        if n.dot(position) < highest && face.points.iter().all(|p| p.id != id) {
            face.points.push(FeaturePoint { position, radius, id });
        }
    }
}

/// The contact of a pair of core points.
fn witness(a: &Piece, b: &Piece, n: Vec3, p: Vec3, q: Vec3) -> Point {
    // the points of round pieces have their cores deeper, as their features say
    let radius = |piece: &Piece, n: Vec3| match &piece.kind {
        super::piece::Kind::Poly(_) => (piece.radius, 0.0),
        super::piece::Kind::Round(round) => {
            let up = n.dot(round.axis);
            let lean = (1.0 - up * up).max(0.0).sqrt();
            let top = n.dot(round.top - round.bottom) > 0.0;
            let r = round.radii[usize::from(top)] * lean;
            (r + piece.radius, r)
        }
        super::piece::Kind::Own(own) => {
            let r = own.curvature(n);
            (r, r)
        }
    };
    let ((radius_a, sink_a), (radius_b, sink_b)) = (radius(a, n), radius(b, -n));
    let (core_a, core_b) = (p - n * sink_a, q + n * sink_b);
    let separation = n.dot(core_b - core_a) - radius_a - radius_b;
    Point { core_a, core_b, radius_a, radius_b, separation, feature: WITNESS }
}

fn clip_features(n: Vec3, margin: f64, buffer: &mut ClipBuffer) {
    let flat = |feature: &Feature, n: Vec3| {
        if feature.points.len() >= 3 { feature.normal.dot(n) } else { f64::NEG_INFINITY }
    };
    let (flat_a, flat_b) = (flat(&buffer.a, n), flat(&buffer.b, -n));
    // b must be clearly flatter to become the reference
    let on_b = flat_b > flat_a + 1e-6;
    if flat_a.max(flat_b) > 0.05 {
        clip_polygon(n, margin, on_b, buffer);
    } else if buffer.a.points.len() == 2 && buffer.b.points.len() == 2 {
        clip_lines(n, margin, buffer);
    }
}

/// Clips the incident feature against the sides of the reference polygon, seen along the normal.
fn clip_polygon(n: Vec3, margin: f64, on_b: bool, buffer: &mut ClipBuffer) {
    let ClipBuffer { a, b, polygon, next, candidates, left_out, .. } = buffer;
    let (reference, incident) = if on_b { (&*b, &*a) } else { (&*a, &*b) };
    let out = if on_b { -n } else { n };
    polygon.clear();
    polygon.extend_from_slice(&incident.points);
    let count = reference.points.len();
    for k in 0..count {
        let (from, to) = (reference.points[k], reference.points[(k + 1) % count]);
        let side = (to.position - from.position).cross(out);
        let length = side.length();
        if length > 0.0 {
            clip_by_plane(polygon, next, side / length, from.position, from.id);
            std::mem::swap(polygon, next);
        }
    }
    let steepness = reference.normal.dot(out);
    let base = reference.points[0].position;
    let mark = if on_b { ON_B } else { 0 };
    for point in polygon.iter() {
        let separation = reference.normal.dot(point.position - base) / steepness;
        if separation > margin {
            *left_out = true;
            continue;
        }
        let core = point.position + out * point.radius;
        let foot = point.position - out * separation;
        let (core_a, core_b) = if on_b { (core, foot) } else { (foot, core) };
        let (radius_a, radius_b) = if on_b { (point.radius, 0.0) } else { (0.0, point.radius) };
        let feature = mark | point.id;
        candidates.push(Point { core_a, core_b, radius_a, radius_b, separation, feature });
    }
}

/// Keeps the part of a polygon (or line, or point) behind a plane.
fn clip_by_plane(
    polygon: &[FeaturePoint],
    out: &mut Vec<FeaturePoint>,
    normal: Vec3,
    base: Vec3,
    plane_id: u32,
) {
    out.clear();
    let count = polygon.len();
    let height = |p: &FeaturePoint| normal.dot(p.position - base);
    // a corner that touches the plane is kept whole, so that stacked equal faces keep their corners
    let size = polygon.iter().map(|p| height(p).abs()).fold(0.0, f64::max);
    let tolerance = 1e-9 * size.max(1e-3);
    if count == 1 {
        if height(&polygon[0]) <= tolerance {
            out.push(polygon[0]);
        }
        return;
    }
    for k in 0..count {
        let (p, q) = (polygon[k], polygon[(k + 1) % count]);
        let (hp, hq) = (height(&p), height(&q));
        if hp <= tolerance {
            out.push(p);
        }
        // a line is not closed: its way back would cut it twice
        let closing = count == 2 && k == 1;
        let crosses = (hp < -tolerance && hq > tolerance) || (hp > tolerance && hq < -tolerance);
        if crosses && !closing {
            let t = hp / (hp - hq);
            let from = if hp > 0.0 { q.id } else { p.id };
            out.push(FeaturePoint {
                position: p.position + (q.position - p.position) * t,
                radius: p.radius + (q.radius - p.radius) * t,
                id: CUT | ((from & 0x3fff) << 14) | (plane_id & 0x3fff),
            });
        }
    }
}

/// Two straight features: the ends of their common stretch if they are parallel, else where they
/// cross.
fn clip_lines(n: Vec3, margin: f64, buffer: &mut ClipBuffer) {
    let (a, b) = (&buffer.a.points, &buffer.b.points);
    let along = a[1].position - a[0].position;
    let other = b[1].position - b[0].position;
    let flat = |v: Vec3| v - n * v.dot(n);
    let (u, v) = (flat(along), flat(other));
    let (length, other_length) = (u.length(), v.length());
    let mut add = |s: f64, t: f64, feature: u32| {
        let at = |f: &[FeaturePoint], x: f64| {
            (
                f[0].position + (f[1].position - f[0].position) * x,
                f[0].radius + (f[1].radius - f[0].radius) * x,
            )
        };
        let ((p, radius_a), (q, radius_b)) = (at(a, s), at(b, t));
        let separation = n.dot(q - p);
        if separation <= margin {
            // nearly parallel lines are a little beside each other: meet in the middle
            let slip = 0.5 * (q - p - n * separation);
            let (core_a, core_b) = (p + slip - n * radius_a, q - slip + n * radius_b);
            buffer.candidates.push(Point {
                core_a,
                core_b,
                radius_a,
                radius_b,
                separation,
                feature,
            });
        } else {
            buffer.left_out = true;
        }
    };
    if length == 0.0 || other_length == 0.0 {
        return;
    }
    let direction = u / length;
    if u.cross(v).length() < 0.02 * length * other_length {
        let place = |p: Vec3| direction.dot(p - a[0].position) / length;
        let (t0, t1) = (place(b[0].position), place(b[1].position));
        let (low, high) = (t0.min(t1).max(0.0), t0.max(t1).min(1.0));
        if low < high {
            for (k, s) in [low, high].into_iter().enumerate() {
                add(s, ((s - t0) / (t1 - t0)).clamp(0.0, 1.0), k as u32);
            }
        }
        return;
    }
    // seen along the normal both lie in one plane
    let drop = |f: &[FeaturePoint]| [flat(f[0].position), flat(f[1].position)];
    let (fa, fb) = (drop(a), drop(b));
    let [p, q] = closest_on_segments(fa, fb);
    let s = direction.dot(p - fa[0]) / length;
    let t = v.dot(q - fb[0]) / (other_length * other_length);
    if (p - q).length() < 1e-6 * (length + other_length) {
        add(s.clamp(0.0, 1.0), t.clamp(0.0, 1.0), 2);
    }
}

/// Keeps at most four points.
fn reduce(n: Vec3, candidates: &[Point], places: &mut Vec<(Vec3, f64)>, out: &mut Manifold) {
    places.clear();
    places.extend(candidates.iter().map(|p| (0.5 * (p.core_a + p.core_b), p.separation)));
    let (chosen, count) = choose(n, places);
    out.count = count;
    for (point, &i) in out.points.iter_mut().zip(&chosen[..count]) {
        *point = candidates[i];
    }
}

/// Chooses at most four of points with separations, by index: the deepest, the one farthest from it, the
/// one that makes the largest triangle with both, and the one that adds most area to that. Equals are
/// decided by their order; of points in the same place only the first counts.
pub(super) fn choose(n: Vec3, points: &[(Vec3, f64)]) -> ([usize; POINTS_MAX], usize) {
    let mut chosen = [0; POINTS_MAX];
    let Some(first) = points.first() else { return (chosen, 0) };
    let extent = points.iter().map(|p| p.0.distance_squared(first.0)).fold(0.0, f64::max).sqrt();
    let near = (1e-7 * extent) * (1e-7 * extent);
    let is_double =
        |k: usize| points[..k].iter().any(|p| p.0.distance_squared(points[k].0) <= near);
    // faces of more than a few corners are rare, and may take longer
    let first_doubles =
        (0..points.len().min(64)).fold(0_u64, |m, k| m | u64::from(is_double(k)) << k);
    let counts = |k: usize| if k < 64 { first_doubles >> k & 1 == 0 } else { !is_double(k) };
    let mut count = 0;
    for k in (0..points.len()).filter(|&k| counts(k)) {
        if count < POINTS_MAX {
            chosen[count] = k;
        }
        count += 1;
    }
    if count <= POINTS_MAX {
        return (chosen, count);
    }
    let mut take = Take { points, chosen: [0; POINTS_MAX], count: 0 };
    let small = 1e-6 * extent;
    let tiny = small * extent;
    let area = |a: Vec3, b: Vec3, c: Vec3| n.dot((b - a).cross(c - a));
    let mut take_all = || {
        let p0 = take.best(counts, |_, separation| -separation, (small, f64::NEG_INFINITY))?;
        let p1 = take.best(counts, |p, _| p.distance(p0), (small, small))?;
        let p2 = take.best(counts, |p, _| area(p0, p1, p).abs(), (tiny, tiny))?;
        let turn = if area(p0, p1, p2) < 0.0 { -1.0 } else { 1.0 };
        let adds = |c: Vec3, _| {
            let outside = |a: Vec3, b: Vec3| -turn * area(a, b, c);
            outside(p0, p1).max(outside(p1, p2)).max(outside(p2, p0))
        };
        take.best(counts, adds, (tiny, tiny))
    };
    take_all();
    (take.chosen, take.count)
}

/// Points of which some are chosen.
struct Take<'a> {
    points: &'a [(Vec3, f64)],
    chosen: [usize; POINTS_MAX],
    count: usize,
}

impl Take<'_> {
    /// Chooses the point of the highest score above `least`, if there is one; it is left for another only
    /// if that is better by more than `slack`.
    fn best(
        &mut self,
        counts: impl Fn(usize) -> bool,
        score: impl Fn(Vec3, f64) -> f64,
        (slack, least): (f64, f64),
    ) -> Option<Vec3> {
        let mut best: Option<(usize, f64)> = None;
        let left = |k: usize| counts(k) && !self.chosen[..self.count].contains(&k);
        for (k, p) in self.points.iter().enumerate().filter(|&(k, _)| left(k)) {
            let s = score(p.0, p.1);
            if s > least && best.is_none_or(|(_, b)| s > b + slack) {
                best = Some((k, s));
            }
        }
        let (k, _) = best?;
        self.chosen[self.count] = k;
        self.count += 1;
        Some(self.points[k].0)
    }
}
