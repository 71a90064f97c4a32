//! How deep two convex pieces overlap: the length of the least translation that parts them.
//!
//! With h(n) = max over A of n·x + max over B of −n·x, the width of the overlap along the unit vector n, the
//! depth is min h(n), and 0 if some h(n) ≤ 0: then n parts them. A piece is a core (a point, a segment, a
//! polyhedron, or two discs) with a radius around it.
//!
//! - Cores without an inside have a distance d in closed form: depth = radii − d.
//! - For polyhedra the minimum is at a face normal of either or square to an edge of each [Gottschalk et al.
//!   1996]; all are tried.
//! - Otherwise directions are searched by halves. Any point x of the difference A − B bounds h from below,
//!   h(n) ≥ n·x, and no direction in a cap of angle θ about c has less than the least of
//!   c·x cos φ − |x − (c·x) c| sin φ over φ ≤ θ. The points farthest along c and along the corners of the cap
//!   are mixed to bring x near to c: where the least width is at an edge of h, no one of them is. A cap that
//!   cannot hold less than is known is left out. What is returned is certain to `TOLERANCE`.
//!
//! Nothing here is shared with the detection of contacts: it is there to judge it.

use crate::math::{Pose, Vec3};
use crate::shape::{Convex, box_corners};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Share of a depth to which it is certain.
const TOLERANCE: f64 = 1e-6;
/// Caps that are looked at; many directions are equally good where round solids share an axis.
const CAPS_MAX: usize = 100_000;

/// A convex piece in the world.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    core: Core,
    /// Distance of the surface from the core, m.
    radius: f64,
}

#[derive(Clone, Debug)]
enum Core {
    /// One or two points.
    Line([Vec3; 2]),
    Polyhedron {
        corners: Vec<Vec3>,
        normals: Vec<Vec3>,
        edges: Vec<Vec3>,
    },
    /// Discs of two radii around the ends of an axis.
    Discs {
        ends: [Vec3; 2],
        axis: Vec3,
        radii: [f64; 2],
    },
}

impl Piece {
    /// A bounded convex solid; none for a half-space.
    pub fn solid(convex: &Convex, pose: &Pose) -> Option<Piece> {
        let (center, axis) = (pose.translation, pose.rotation * Vec3::Y);
        let ends = |half: f64| [center - half * axis, center + half * axis];
        let piece = |core, radius| Some(Piece { core, radius });
        match convex {
            Convex::HalfSpace { .. } => None,
            Convex::Sphere { radius } => piece(Core::Line([center; 2]), *radius),
            Convex::Capsule { half_height, radius } => {
                piece(Core::Line(ends(*half_height)), *radius)
            }
            Convex::Cylinder { half_height, radius } => {
                piece(Core::Discs { ends: ends(*half_height), axis, radii: [*radius; 2] }, 0.0)
            }
            Convex::Cone { half_height, radius } => {
                piece(Core::Discs { ends: ends(*half_height), axis, radii: [*radius, 0.0] }, 0.0)
            }
            Convex::Cuboid { half_extents } => {
                let axes = [pose.rotation * Vec3::X, axis, pose.rotation * Vec3::Z].to_vec();
                let corners = box_corners(*half_extents).map(|c| *pose * c).to_vec();
                piece(Core::Polyhedron { corners, normals: axes.clone(), edges: axes }, 0.0)
            }
            Convex::Hull(hull) => {
                let corners: Vec<Vec3> = hull.vertices.iter().map(|&v| *pose * v).collect();
                let normals = hull.normals.iter().map(|&n| pose.rotation * n).collect();
                let edge = |[i, j]: [u32; 2]| corners[j as usize] - corners[i as usize];
                let edges = hull.edges.iter().map(|e| edge(e.vertices)).collect();
                piece(Core::Polyhedron { corners, normals, edges }, 0.0)
            }
        }
    }

    /// A triangle, which has two sides here.
    pub fn triangle([a, b, c]: [Vec3; 3]) -> Piece {
        let edges = vec![b - a, c - b, a - c];
        let normals = (b - a).cross(c - a).try_normalize().into_iter().collect();
        Piece { core: Core::Polyhedron { corners: vec![a, b, c], normals, edges }, radius: 0.0 }
    }

    /// The point of the core that is farthest along `n`.
    fn support(&self, n: Vec3) -> Vec3 {
        let farther = |x: Vec3, y: Vec3| if n.dot(y) > n.dot(x) { y } else { x };
        match &self.core {
            Core::Line([p, q]) => farther(*p, *q),
            Core::Polyhedron { corners, .. } => {
                corners[1..].iter().copied().fold(corners[0], farther)
            }
            Core::Discs { ends, axis, radii } => {
                // where `n` is along the axis, what is left across it is rounding
                let flat = n - axis * axis.dot(n);
                let flat = if flat.length() > 1e-12 { flat.normalize() } else { Vec3::ZERO };
                let across = (flat - axis * axis.dot(flat)).normalize_or_zero();
                farther(ends[0] + radii[0] * across, ends[1] + radii[1] * across)
            }
        }
    }

    /// Largest coordinate of the surface along the unit vector `n`, m.
    pub fn reach(&self, n: Vec3) -> f64 {
        n.dot(self.support(n)) + self.radius
    }

    fn middle(&self) -> Vec3 {
        match &self.core {
            Core::Line(ends) | Core::Discs { ends, .. } => 0.5 * (ends[0] + ends[1]),
            Core::Polyhedron { corners, .. } => {
                corners.iter().fold(Vec3::ZERO, |sum, c| sum + c) / corners.len() as f64
            }
        }
    }

    /// Normals of flat sides, and directions of straight edges.
    fn sides(&self) -> (&[Vec3], Vec<Vec3>) {
        match &self.core {
            Core::Line([p, q]) => (&[], vec![*q - *p]),
            Core::Polyhedron { normals, edges, .. } => (normals, edges.clone()),
            Core::Discs { axis, .. } => (std::slice::from_ref(axis), vec![*axis]),
        }
    }
}

/// Depth of the overlap of two pieces, m; 0 if they are apart.
pub(super) fn depth(a: &Piece, b: &Piece) -> f64 {
    let radii = a.radius + b.radius;
    match (&a.core, &b.core) {
        (Core::Line(u), Core::Line(v)) => (radii - between_lines(*u, *v)).max(0.0),
        (Core::Polyhedron { .. }, Core::Polyhedron { .. }) => least_axis(a, b).max(0.0),
        _ => Search::new(a, b).run(),
    }
}

/// Overlap of two polyhedra along the axis where it is least, m; negative if they are apart.
fn least_axis(a: &Piece, b: &Piece) -> f64 {
    let mut least = f64::INFINITY;
    for n in axes(a, b) {
        least = least.min(width(a, b, n));
        if least < 0.0 {
            break;
        }
    }
    least
}

/// Directions, both ways, in which polyhedra may overlap least.
fn axes(a: &Piece, b: &Piece) -> impl Iterator<Item = Vec3> {
    let ((normals_a, edges_a), (normals_b, edges_b)) = (a.sides(), b.sides());
    let mut faces: Vec<Vec3> = normals_a.iter().chain(normals_b).copied().collect();
    for u in &edges_a {
        for v in &edges_b {
            let square = u.cross(*v);
            // edges in line part nothing that faces do not part
            if square.length_squared() > 1e-20 * u.length_squared() * v.length_squared() {
                faces.push(square.normalize());
            }
        }
    }
    faces.into_iter().flat_map(|n| [n, -n])
}

/// h(n).
fn width(a: &Piece, b: &Piece, n: Vec3) -> f64 {
    a.reach(n) + b.reach(-n)
}

/// Distance of two segments, m.
fn between_lines(u: [Vec3; 2], v: [Vec3; 2]) -> f64 {
    let to_line = |p: Vec3, [a, b]: [Vec3; 2]| {
        let way = b - a;
        let t = (p - a).dot(way) / way.length_squared();
        p.distance(a + way * if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) })
    };
    let ends = [to_line(u[0], v), to_line(u[1], v), to_line(v[0], u), to_line(v[1], u)];
    let least = ends.into_iter().fold(f64::INFINITY, f64::min);
    // inside both, where the line between them is square to both
    let (d, e, r) = (u[1] - u[0], v[1] - v[0], v[0] - u[0]);
    let square = d.cross(e);
    let area = square.length_squared();
    if area <= 1e-20 * d.length_squared() * e.length_squared() {
        return least;
    }
    let (s, t) = (r.cross(e).dot(square) / area, r.cross(d).dot(square) / area);
    let inside = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    if inside { least.min((u[0] + s * d).distance(v[0] + t * e)) } else { least }
}

/// The search of all directions by halves.
struct Search<'a> {
    a: &'a Piece,
    b: &'a Piece,
    radii: f64,
    /// The least width that is known, m.
    best: f64,
    queue: BinaryHeap<Reverse<Cap>>,
}

/// A spherical triangle of directions, and what no direction in it has less than.
#[derive(Clone, Copy, PartialEq)]
struct Cap {
    bound: f64,
    corners: [Corner; 3],
}

/// A direction, and the point of A − B that is farthest along it.
#[derive(Clone, Copy, PartialEq)]
struct Corner {
    n: Vec3,
    x: Vec3,
}

impl Eq for Cap {}

impl PartialOrd for Cap {
    fn partial_cmp(&self, other: &Cap) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cap {
    fn cmp(&self, other: &Cap) -> std::cmp::Ordering {
        self.bound.total_cmp(&other.bound)
    }
}

impl<'a> Search<'a> {
    fn new(a: &'a Piece, b: &'a Piece) -> Search<'a> {
        let radii = a.radius + b.radius;
        Search { a, b, radii, best: f64::INFINITY, queue: BinaryHeap::new() }
    }

    fn run(mut self) -> f64 {
        let between = (self.b.middle() - self.a.middle()).try_normalize();
        for n in axes(self.a, self.b).chain(between) {
            self.best = self.best.min(width(self.a, self.b, n));
            if self.best <= 0.0 {
                return 0.0;
            }
        }
        let [x, y, z] = Vec3::AXES.map(|axis| [axis, -axis].map(|n| self.corner(n)));
        for corner in 0..8 {
            self.add([x[corner & 1], y[corner >> 1 & 1], z[corner >> 2]]);
        }
        for _ in 0..CAPS_MAX {
            let Some(Reverse(cap)) = self.queue.pop() else { break };
            if self.best <= 0.0 || cap.bound >= self.best * (1.0 - TOLERANCE) {
                break;
            }
            let [a, b, c] = cap.corners;
            let mut halfway = |u: Corner, v: Corner| self.corner((u.n + v.n).normalize());
            let (ab, bc, ca) = (halfway(a, b), halfway(b, c), halfway(c, a));
            let parts = [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]];
            parts.into_iter().for_each(|part| self.add(part));
        }
        self.best.max(0.0)
    }

    fn corner(&mut self, n: Vec3) -> Corner {
        let x = self.a.support(n) - self.b.support(-n);
        self.best = self.best.min(n.dot(x) + self.radii);
        Corner { n, x }
    }

    /// Looks at the middle of a cap, and keeps it if it may hold less than is known.
    fn add(&mut self, corners: [Corner; 3]) {
        let sum = corners[0].n + corners[1].n + corners[2].n;
        let middle = self.corner(sum.normalize());
        let cosine = corners.iter().map(|corner| corner.n.dot(middle.n)).fold(1.0, f64::min);
        let points = [middle.x, corners[0].x, corners[1].x, corners[2].x];
        let bound = lower_bound(middle.n, cosine, points) + self.radii;
        if bound < self.best * (1.0 - TOLERANCE) {
            self.queue.push(Reverse(Cap { bound, corners }));
        }
    }
}

/// Mixtures that are tried for a bound.
const MIXTURES: usize = 8;

/// What n·x of some mixture x of the points is not less than, for any direction in a cap about `c`.
fn lower_bound(c: Vec3, cosine: f64, points: [Vec3; 4]) -> f64 {
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let off = |x: Vec3| x - c.dot(x) * c;
    let bound = |x: Vec3| {
        let (along, aside) = (c.dot(x), off(x).length());
        // along·cos φ − aside·sin φ is least at the edge, or where it points against x
        let turns_back = along < 0.0 && aside * cosine <= -along * sine;
        if turns_back { -x.length() } else { along * cosine - aside * sine }
    };
    let mut x = points[0];
    let mut best = bound(x);
    for _ in 0..MIXTURES {
        let aside = off(x);
        // toward the point that lies most on the other side, to where the line is nearest to c
        let across = |p: &Vec3| aside.dot(off(*p));
        let Some(other) = points.into_iter().min_by(|p, q| across(p).total_cmp(&across(q))) else {
            break;
        };
        let way = off(other) - aside;
        let share = -aside.dot(way) / way.length_squared();
        if share.is_nan() || share <= 0.0 {
            break;
        }
        x += (other - x) * share.min(1.0);
        best = best.max(bound(x));
    }
    best
}
