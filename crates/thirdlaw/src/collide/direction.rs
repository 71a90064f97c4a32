//! The contact normal of two convex pieces.
//!
//! Boxes and triangles: separating axes. All others: the closest points of the cores while these
//! are apart; once they overlap, separating axes for polyhedra of moderate size and the expanding
//! polytope for the rest. Exact normals of flat and straight parts replace a direction that is no
//! better than they are.

use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};

use super::gjk::{Closest, closest_points};
use super::piece::{Kind, Piece, Poly, square_to};
use super::sat;
use crate::math::{Pose, Vec3, tangents};

/// Most pairs of edges that are tried one by one.
const EDGE_PAIRS_MAX: usize = 4096;

/// A direction and the gap along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub normal: Vec3,
    pub separation: f64,
    /// The two edges that define it, if they do.
    pub edges: Option<[[Vec3; 2]; 2]>,
}

/// A normal from a to b and, where they are known, the closest or deepest points of the cores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    pub normal: Vec3,
    pub witness: Option<[Vec3; 2]>,
}

/// Memory of the iterative methods.
pub(super) struct Solver {
    simplex: VoronoiSimplex,
    epa: EPA,
}

impl Default for Solver {
    fn default() -> Self {
        Solver { simplex: VoronoiSimplex::new(), epa: EPA::new() }
    }
}

/// How much worse a face normal may be and still be taken. Gone when there is a clear gap, where
/// the closest direction changes smoothly by itself.
pub(super) fn bias(separation: f64, scale: f64) -> f64 {
    if separation > 2e-3 * scale { 1e-9 * scale } else { 1e-3 * scale + 0.01 * separation.abs() }
}

/// Gap along the unit vector `n`, m; negative for overlap.
pub(super) fn gap(a: &Piece, b: &Piece, n: Vec3) -> f64 {
    -b.reach(-n) - a.reach(n)
}

/// The normal, or none if the gap is surely more than `margin`.
pub(super) fn find(a: &Piece, b: &Piece, margin: f64, solver: &mut Solver) -> Option<Direction> {
    let scale = a.scale.min(b.scale);
    let scale = if scale.is_finite() { scale } else { 1.0 };
    if let (Kind::Poly(pa), Kind::Poly(pb)) = (&a.kind, &b.kind) {
        let sharp = a.radius == 0.0 && b.radius == 0.0;
        if sharp && let (Some(box_a), Some(box_b)) = (pa.cuboid, pb.cuboid) {
            let mut axis = sat::boxes(box_a, box_b, b.center - a.center, scale);
            if let Some(edges) = &mut axis.edges {
                edges.iter_mut().flatten().for_each(|p| *p += a.center);
            }
            if axis.separation > margin {
                return None;
            }
            return between_edges((a, box_a), (b, box_b), &axis).or(Some(from_axis(&axis)));
        }
        let guarded = a.guard.is_some() || b.guard.is_some();
        if guarded && sharp && pa.edges.len() * pb.edges.len() <= EDGE_PAIRS_MAX {
            let axis = sat::polyhedra((a, pa), (b, pb), scale, margin)?;
            return (axis.separation <= margin).then(|| from_axis(&axis));
        }
    }
    let limit = margin + a.radius + b.radius;
    let found = closest(a, b, limit, scale, solver)?;
    let found = settle(a, b, found, scale);
    Some(admit(a, b, found))
}

/// A gap of which [`find`] would say that it is there, if it is less than `limit`, else `limit`, m.
pub(super) fn clearance(a: &Piece, b: &Piece, limit: f64) -> f64 {
    if let (Kind::Poly(pa), Kind::Poly(pb)) = (&a.kind, &b.kind)
        && a.radius + b.radius == 0.0
        && let (Some(box_a), Some(box_b)) = (pa.cuboid, pb.cuboid)
    {
        // along an axis: corners are farther apart than that
        return sat::boxes(box_a, box_b, b.center - a.center, a.scale.min(b.scale)).separation;
    }
    match closest_points(a, b, limit + a.radius + b.radius) {
        Closest::Far => limit,
        Closest::Touching => 0.0,
        // the gap between the supporting planes is never more than the true distance
        Closest::Apart([p, q]) => (q - p).try_normalize().map_or(0.0, |n| gap(a, b, n)),
    }
}

/// Share of a box's smallest half-extent by which its edges count as rounded.
pub(super) const EDGE_ROUND: f64 = 0.25;

type Cuboid = ([Vec3; 3], Vec3);

/// The normal of two boxes that meet with an edge or corner each, not face to face.
///
/// Where an edge meets an edge, every direction between the adjoining faces separates the boxes
/// equally well, and separating axes can only name one of those faces. Two cards that lean on each
/// other would push along one of them and slip off. Boxes shrunk by a rounding radius meet along the
/// line between their edges instead. None where faces meet or the overlap is deeper than that.
fn between_edges(
    (a, (axes_a, half_a)): (&Piece, Cuboid),
    (b, (axes_b, half_b)): (&Piece, Cuboid),
    axis: &Axis,
) -> Option<Direction> {
    let faces = |axes: [Vec3; 3]| axes.iter().any(|x| x.dot(axis.normal).abs() > 0.9986);
    if axis.edges.is_some() || (faces(axes_a) && faces(axes_b)) {
        return None;
    }
    // with a clear gap the closest points of the boxes themselves say it exactly
    let round = if axis.separation > 1e-3 * a.scale.min(b.scale) { 0.0 } else { EDGE_ROUND };
    let (radius_a, radius_b) = (round * half_a.min_element(), round * half_b.min_element());
    let (core_a, core_b) = (half_a - Vec3::splat(radius_a), half_b - Vec3::splat(radius_b));
    let n = axis.normal;
    let (flat_a, flat_b) = ((a.center, axes_a, core_a), (b.center, axes_b, core_b));
    let above = corner_above(flat_a, flat_b, n)
        .or_else(|| corner_above(flat_b, flat_a, -n).map(|[p, q]| [q, p]));
    if let Some([p, q]) = above {
        return Some(Direction { normal: n, witness: Some([p + radius_a * n, q - radius_b * n]) });
    }
    let corners_a = corners(a.center, axes_a, core_a);
    let corners_b = corners(b.center, axes_b, core_b);
    let core = |piece: &Piece, corners| Piece {
        kind: Kind::Poly(Poly::bare(corners, &[])),
        radius: 0.0,
        center: piece.center,
        scale: piece.scale,
        guard: None,
    };
    let shrunk = (core(a, &corners_a[..]), core(b, &corners_b[..]));
    match closest_points(&shrunk.0, &shrunk.1, f64::MAX) {
        Closest::Apart([p, q]) => {
            let normal = (q - p).try_normalize()?;
            Some(Direction {
                normal,
                witness: Some([p + radius_a * normal, q - radius_b * normal]),
            })
        }
        _ => None,
    }
}

/// The closest points of two boxes of which the second has its nearest corner, or the middle of its
/// nearest edge, straight above a face of the first with the normal `n`: nothing can be nearer, since
/// that face's plane separates the rest. None where it is otherwise.
fn corner_above(
    (center, axes, half): (Vec3, [Vec3; 3], Vec3),
    (other, other_axes, other_half): (Vec3, [Vec3; 3], Vec3),
    n: Vec3,
) -> Option<[Vec3; 2]> {
    let face = (0..3).find(|&k| axes[k].dot(n).abs() > 1.0 - 1e-12)?;
    let mut corner = other - center;
    for k in 0..3 {
        let toward = other_axes[k].dot(n);
        if toward.abs() > 1e-9 {
            corner -= other_axes[k] * (other_half[k] * toward.signum());
        }
    }
    let beside = (0..3).any(|k| k != face && axes[k].dot(corner).abs() > half[k]);
    let apart = n.dot(corner) - half[face];
    if beside || apart <= 0.0 {
        return None;
    }
    let corner = center + corner;
    Some([corner - apart * n, corner])
}

fn corners(center: Vec3, axes: [Vec3; 3], half: Vec3) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let sign = |bit: usize, x: f64| if i >> bit & 1 == 1 { x } else { -x };
        center + axes[0] * sign(0, half.x) + axes[1] * sign(1, half.y) + axes[2] * sign(2, half.z)
    })
}

fn closest(a: &Piece, b: &Piece, limit: f64, scale: f64, solver: &mut Solver) -> Option<Direction> {
    match closest_points(a, b, limit) {
        Closest::Far => None,
        // the difference of very close points has lost its direction
        Closest::Apart([p, q]) if (q - p).length() > 1e-7 * scale => {
            Some(Direction { normal: (q - p).normalize(), witness: Some([p, q]) })
        }
        _ => Some(overlapping(a, b, scale, solver)),
    }
}

/// Deepest points and normal by the expanding polytope.
fn expand(a: &Piece, b: &Piece, solver: &mut Solver) -> Option<(Vec3, Vec3, Vec3)> {
    let here = Pose::IDENTITY;
    let start = (b.center - a.center).try_normalize().unwrap_or(Vec3::Y);
    solver.simplex.reset(CsoPoint::from_shapes(&here, a, b, start));
    match gjk::closest_points(&here, a, b, f64::MAX, true, &mut solver.simplex) {
        GJKResult::Intersection => solver.epa.closest_points(&here, a, b, &solver.simplex),
        GJKResult::ClosestPoints(p, q, n) => Some((p, q, n)),
        _ => None,
    }
}

fn overlapping(a: &Piece, b: &Piece, scale: f64, solver: &mut Solver) -> Direction {
    if let (Kind::Poly(pa), Kind::Poly(pb)) = (&a.kind, &b.kind)
        && pa.edges.len() * pb.edges.len() <= EDGE_PAIRS_MAX
        && let Some(axis) = sat::polyhedra((a, pa), (b, pb), scale, f64::INFINITY)
    {
        return from_axis(&axis);
    }
    // A shallow overlap, as of bodies at rest, is found from the normals of the flat parts at once;
    // the polytope would cost ten times as much.
    let centers = (b.center - a.center).try_normalize();
    if let Some(start) = centers {
        let normal = climb(a, b, best_start(a, b, start));
        if gap(a, b, normal) > -0.02 * scale - a.radius - b.radius {
            let witness = Some(along(a, b, normal, a.support(normal)));
            return Direction { normal, witness };
        }
    }
    if let Some((p, q, n)) = expand(a, b, solver)
        && p.is_finite()
        && q.is_finite()
        && (n.length_squared() - 1.0).abs() < 1e-6
    {
        let normal = climb(a, b, best_start(a, b, n.normalize()));
        let middle = 0.5 * (p + q);
        let on_a = middle + normal * (a.support(normal) - middle).dot(normal);
        return Direction { normal, witness: Some(along(a, b, normal, on_a)) };
    }
    // coincident points or lines: across both
    if let (Kind::Poly(pa), Kind::Poly(pb)) = (&a.kind, &b.kind)
        && pa.vertices.len() <= 2
        && pb.vertices.len() <= 2
    {
        let ends = |p: &super::piece::Poly| [p.vertices[0], p.vertices[p.vertices.len() - 1]];
        let (u, v) = (ends(pa), ends(pb));
        let (du, dv) = (u[1] - u[0], v[1] - v[0]);
        let square = |d: Vec3| d.try_normalize().map(square_to);
        let normal = du.cross(dv).try_normalize().or(square(du)).or(square(dv));
        let witness = Some(closest_on_segments(u, v));
        return Direction { normal: normal.unwrap_or(Vec3::Y), witness };
    }
    let normal = (b.center - a.center).try_normalize().unwrap_or(Vec3::Y);
    Direction { normal, witness: Some(along(a, b, normal, a.support(normal))) }
}

/// The best of a direction, the line of centres and the normals of flat parts. The polytope is
/// sometimes given up early, far from the least overlap.
fn best_start(a: &Piece, b: &Piece, n: Vec3) -> Vec3 {
    let mut best = n;
    let mut most = gap(a, b, n);
    let mut consider = |n: Vec3| {
        let separation = gap(a, b, n);
        if separation > most {
            (best, most) = (n, separation);
        }
    };
    if let Some(n) = (b.center - a.center).try_normalize() {
        consider(n);
    }
    for (piece, sign) in [(a, 1.0), (b, -1.0)] {
        match &piece.kind {
            Kind::Own(_) => {}
            Kind::Poly(poly) => poly.normals.iter().for_each(|&n| consider(n * sign)),
            Kind::Round(round) => {
                consider(round.axis * sign);
                consider(round.axis * -sign);
            }
        }
    }
    best
}

/// Turns a direction, by ever smaller steps, to where the overlap is least.
fn climb(a: &Piece, b: &Piece, start: Vec3) -> Vec3 {
    let mut n = start;
    let mut most = gap(a, b, n);
    let mut step = 0.1;
    for _ in 0..48 {
        let (t, u) = tangents(n);
        let mut next = n;
        for turn in [t, -t, u, -u] {
            let c = (n + turn * step).normalize();
            let separation = gap(a, b, c);
            if separation > most {
                (next, most) = (c, separation);
            }
        }
        if next == n {
            step *= 0.4;
            if step < 1e-7 {
                break;
            }
        }
        n = next;
    }
    n
}

fn from_axis(axis: &Axis) -> Direction {
    let n = axis.normal;
    // edges that pass each other meet nowhere along the axis
    let witness = axis.edges.map(|[u, v]| closest_on_segments(u, v)).filter(|[p, q]| {
        let slip = (*q - *p) - n * n.dot(*q - *p);
        slip.length() <= 1e-6 * (axis.separation.abs() + 1e-3)
    });
    Direction { normal: n, witness }
}

/// A pair of core points along `n` at the gap there is, through `p`.
fn along(a: &Piece, b: &Piece, n: Vec3, p: Vec3) -> [Vec3; 2] {
    [p, p + n * (gap(a, b, n) + a.radius + b.radius)]
}

/// Replaces the direction by the exact normal of a flat or straight part that does as well.
fn settle(a: &Piece, b: &Piece, found: Direction, scale: f64) -> Direction {
    let n = found.normal;
    let reached = gap(a, b, n);
    // round cores make the direction of closest points smooth; only its rounding errors go
    let smooth = a.radius > 0.0 || b.radius > 0.0;
    let lead = if smooth { 1e-12 * scale } else { bias(reached, scale) };
    let mut best = found;
    let mut most = f64::NEG_INFINITY;
    let from_a = a.exact_normals(n);
    let from_b = b.exact_normals(-n).map(|n| n.map(|n| -n));
    for c in from_a.into_iter().chain(from_b).flatten() {
        let separation = gap(a, b, c);
        if c.dot(n) > 0.5 && separation >= reached - lead && separation > most + 0.5 * lead {
            most = separation;
            best = Direction { normal: c, witness: found.witness.map(|w| along(a, b, c, w[0])) };
        }
    }
    best
}

/// Replaces a direction that a triangle's surroundings rule out.
fn admit(a: &Piece, b: &Piece, found: Direction) -> Direction {
    let n = found.normal;
    let ruled_out = |piece: &Piece, n: Vec3| piece.guard.is_some_and(|g| !g.admits(n));
    if !ruled_out(a, n) && !ruled_out(b, -n) {
        return found;
    }
    let mut best = found;
    let mut most = f64::NEG_INFINITY;
    let of_a = a.guard.map_or([None; 4], |g| g.normals());
    let of_b = b.guard.map_or([None; 4], |g| g.normals().map(|n| n.map(|n| -n)));
    for c in of_a.into_iter().chain(of_b).flatten() {
        let separation = gap(a, b, c);
        if separation > most {
            most = separation;
            best = Direction { normal: c, witness: None };
        }
    }
    best
}

/// Closest points of two segments.
pub(super) fn closest_on_segments(u: [Vec3; 2], v: [Vec3; 2]) -> [Vec3; 2] {
    let (d1, d2, r) = (u[1] - u[0], v[1] - v[0], u[0] - v[0]);
    let (a, e, f) = (d1.length_squared(), d2.length_squared(), d2.dot(r));
    let (c, b) = (d1.dot(r), d1.dot(d2));
    let ratio = |x: f64, y: f64| if y > 0.0 { (x / y).clamp(0.0, 1.0) } else { 0.0 };
    let denominator = a * e - b * b;
    let parallel = denominator <= 1e-14 * a * e;
    let mut s = if parallel { 0.5 } else { ratio(b * f - c * e, denominator) };
    let t = ratio(b * s + f, e);
    s = ratio(b * t - c, a);
    [u[0] + d1 * s, v[0] + d2 * t]
}
