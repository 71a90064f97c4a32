//! How deep two convex pieces overlap: the length of the least translation that parts them.
//!
//! With h(n) = max over A of n·x + max over B of −n·x, the width of the overlap along the unit vector n, the
//! depth is min h(n), and 0 if some h(n) ≤ 0: then n parts them. A piece is a core (a point, a segment, a
//! polyhedron, two discs, or a shape of the user's own) with a radius around it.
//!
//! - Cores without an inside have a distance d in closed form: depth = radii − d.
//! - For polyhedra the minimum is at a face normal of either or square to an edge of each [Gottschalk et al.
//!   1996]; all are tried. A line and a polyhedron are two of them as long as they meet; else the nearest
//!   points lie at an end of the line, or on an edge.
//! - Otherwise directions are searched by halves. Any point x of the difference A − B bounds h from below,
//!   h(n) ≥ n·x, and no direction in a cap of angle θ about c has less than the least of
//!   c·x cos φ − |x − (c·x) c| sin φ over φ ≤ θ. The points farthest along c and along the corners of the cap
//!   are mixed to bring x near to c: where the least width is at an edge of h, no one of them is. A cap that
//!   cannot hold less than is known is left out. What is returned is certain to `TOLERANCE`.
//!
//! Who looks for the deepest of many says how deep the deepest known one is: any direction with less width
//! than that ends a search.
//!
//! Nothing here is shared with the detection of contacts: it is there to judge it.

use crate::math::{Pose, Vec3};
use crate::shape::own::turned;
use crate::shape::{Convex, OwnShape, box_corners};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

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
    /// One or two points, and the way from one to the other.
    Line([Vec3; 2], [Vec3; 1]),
    Box {
        center: Vec3,
        axes: [Vec3; 3],
        half: Vec3,
    },
    Polyhedron {
        corners: Vec<Vec3>,
        normals: Vec<Vec3>,
        /// Ends of edges, and the ways between them.
        spans: Vec<[Vec3; 2]>,
        edges: Vec<Vec3>,
    },
    /// A shape of the user's own.
    Own {
        shape: Arc<OwnShape>,
        pose: Pose,
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
        let line = |[p, q]: [Vec3; 2]| Core::Line([p, q], [q - p]);
        match convex {
            Convex::HalfSpace { .. } => None,
            Convex::Sphere { radius } => piece(line([center; 2]), *radius),
            Convex::Capsule { half_height, radius } => piece(line(ends(*half_height)), *radius),
            Convex::Cylinder { half_height, radius } => {
                piece(Core::Discs { ends: ends(*half_height), axis, radii: [*radius; 2] }, 0.0)
            }
            Convex::Cone { half_height, radius } => {
                piece(Core::Discs { ends: ends(*half_height), axis, radii: [*radius, 0.0] }, 0.0)
            }
            Convex::Cuboid { half_extents: half } => {
                let axes = [pose.rotation * Vec3::X, axis, pose.rotation * Vec3::Z];
                piece(Core::Box { center, axes, half: *half }, 0.0)
            }
            Convex::Hull(hull) => {
                let corners: Vec<Vec3> = hull.vertices.iter().map(|&v| *pose * v).collect();
                let normals = hull.normals.iter().map(|&n| pose.rotation * n).collect();
                let span = |ends: [u32; 2]| ends.map(|i| corners[i as usize]);
                let spans = hull.edges.iter().map(|e| span(e.vertices)).collect();
                piece(Core::polyhedron(corners, normals, spans), 0.0)
            }
            Convex::Rounded(rounded) => {
                let core = Piece::solid(&rounded.core, pose)?;
                Some(Piece { radius: rounded.radius, ..core })
            }
            Convex::Own(shape) => piece(Core::Own { shape: shape.clone(), pose: *pose }, 0.0),
        }
    }

    /// A triangle, which has two sides here.
    pub fn triangle([a, b, c]: [Vec3; 3]) -> Piece {
        let spans = vec![[a, b], [b, c], [c, a]];
        let mut normals = Vec::with_capacity(4);
        if let Some(n) = (b - a).cross(c - a).try_normalize() {
            // in its own plane a triangle is bounded by its sides
            let outward = |[p, q]: &[Vec3; 2]| (*q - *p).cross(n).normalize();
            normals.push(n);
            normals.extend(spans.iter().map(outward));
        }
        Piece { core: Core::polyhedron(vec![a, b, c], normals, spans), radius: 0.0 }
    }

    /// The point of the core that is farthest along `n`.
    fn support(&self, n: Vec3) -> Vec3 {
        let farther = |x: Vec3, y: Vec3| if n.dot(y) > n.dot(x) { y } else { x };
        match &self.core {
            Core::Line([p, q], _) => farther(*p, *q),
            Core::Box { center, axes, half } => {
                let toward = |k: usize| axes[k] * half[k].copysign(axes[k].dot(n));
                *center + toward(0) + toward(1) + toward(2)
            }
            Core::Polyhedron { corners, .. } => {
                corners[1..].iter().copied().fold(corners[0], farther)
            }
            Core::Own { shape, pose } => pose.translation + turned(shape, pose.rotation, n),
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
            Core::Line(ends, _) | Core::Discs { ends, .. } => 0.5 * (ends[0] + ends[1]),
            Core::Box { center, .. } => *center,
            Core::Own { shape, pose } => *pose * shape.mass.center_of_mass,
            Core::Polyhedron { corners, .. } => {
                corners.iter().fold(Vec3::ZERO, |sum, c| sum + c) / corners.len() as f64
            }
        }
    }

    /// Normals of flat sides, and directions of straight edges.
    fn sides(&self) -> (&[Vec3], &[Vec3]) {
        match &self.core {
            Core::Line(_, way) => (&[], way),
            Core::Own { .. } => (&[], &[]),
            Core::Box { axes, .. } => (axes, axes),
            Core::Polyhedron { normals, edges, .. } => (normals, edges),
            Core::Discs { axis, .. } => (std::slice::from_ref(axis), std::slice::from_ref(axis)),
        }
    }
}

impl Core {
    fn polyhedron(corners: Vec<Vec3>, normals: Vec<Vec3>, spans: Vec<[Vec3; 2]>) -> Core {
        let edges = spans.iter().map(|[p, q]| *q - *p).collect();
        Core::Polyhedron { corners, normals, spans, edges }
    }
}

/// Depth of the overlap of two pieces if it is more than `known`, else `known` or less, m.
pub(super) fn depth(a: &Piece, b: &Piece, known: f64) -> f64 {
    let radii = a.radius + b.radius;
    // what is round all over, or is not known by its sides
    let smooth = |piece: &Piece| match &piece.core {
        Core::Line(..) => false,
        Core::Box { .. } | Core::Polyhedron { .. } => piece.radius > 0.0,
        Core::Discs { .. } | Core::Own { .. } => true,
    };
    match (&a.core, &b.core) {
        _ if smooth(a) || smooth(b) => Search::new(a, b, known).run(),
        (Core::Line(u, _), Core::Line(v, _)) => radii - between_lines(*u, *v),
        (Core::Line(line, _), Core::Box { .. } | Core::Polyhedron { .. }) => {
            beside_polyhedron(*line, (a, b), known)
        }
        (Core::Box { .. } | Core::Polyhedron { .. }, Core::Line(line, _)) => {
            beside_polyhedron(*line, (b, a), known)
        }
        _ => least_axis(a, b, known),
    }
    .max(known)
}

/// Overlap of a rounded line and a polyhedron, m; negative if they are apart.
fn beside_polyhedron(line: [Vec3; 2], (round, flat): (&Piece, &Piece), known: f64) -> f64 {
    let least = least_axis(round, flat, known.min(round.radius));
    // the axis where it is least has cores that meet, or the overlap is not more than is known
    if least >= round.radius || least <= known {
        return least;
    }
    round.radius - from_polyhedron(line, &flat.core)
}

/// Distance of a line from a polyhedron that it does not meet, m.
fn from_polyhedron(line: [Vec3; 2], core: &Core) -> f64 {
    let nearest = |to_faces: [f64; 2], spans: &mut dyn Iterator<Item = [Vec3; 2]>| {
        let to_edges = spans.map(|span| between_lines(line, span));
        to_edges.fold(to_faces[0].min(to_faces[1]), f64::min)
    };
    match core {
        Core::Box { center, axes, half } => {
            let local = |p: Vec3| Vec3::from_array(axes.map(|axis| axis.dot(p - *center)));
            let to_faces = line.map(|p| (local(p).abs() - *half).max(Vec3::ZERO).length());
            let corners =
                box_corners(*half).map(|c| *center + c.x * axes[0] + c.y * axes[1] + c.z * axes[2]);
            // corners that differ along one axis
            let mut spans = (0..8).flat_map(|i| {
                (0..8).filter(move |j| i < *j).filter_map(move |j| {
                    let apart = corners[i] - corners[j];
                    let along = axes.iter().zip(half.to_array());
                    let along = along.filter(|(axis, h)| axis.dot(apart).abs() > *h);
                    (along.count() == 1).then_some([corners[i], corners[j]])
                })
            });
            nearest(to_faces, &mut spans)
        }
        Core::Polyhedron { corners, normals, spans, .. } => {
            let flat = corners.len() == 3;
            let level = |n: Vec3| corners.iter().map(|c| n.dot(*c)).fold(f64::MIN, f64::max);
            let mut planes: Vec<(Vec3, f64)> = normals.iter().map(|&n| (n, level(n))).collect();
            if flat && let Some(&n) = normals.first() {
                planes.push((-n, level(-n)));
            }
            let to_faces = line.map(|p| to_faces(p, &planes));
            nearest(to_faces, &mut spans.iter().copied())
        }
        _ => f64::INFINITY,
    }
}

/// Distance of a point from the face that it is above, m; infinite if it is above none.
fn to_faces(p: Vec3, planes: &[(Vec3, f64)]) -> f64 {
    let above = planes.iter().filter_map(|&(n, level)| {
        let height = n.dot(p) - level;
        let foot = p - height * n;
        // a line that touches may be said to be apart by rounding
        let rounding = 1e-13 * (p.length() + level.abs());
        let inside = |&(m, level): &(Vec3, f64)| m.dot(foot) - level <= rounding;
        (height >= -rounding && planes.iter().all(inside)).then_some(height)
    });
    above.fold(f64::INFINITY, f64::min)
}

/// Overlap of two polyhedra along the axis where it is least, m; any that is not more than `known` will do.
fn least_axis(a: &Piece, b: &Piece, known: f64) -> f64 {
    let mut least = f64::INFINITY;
    for n in axes(a, b) {
        least = least.min(width(a, b, n));
        if least <= known {
            break;
        }
    }
    least
}

/// Directions, both ways, in which polyhedra may overlap least.
fn axes<'a>(a: &'a Piece, b: &'a Piece) -> impl Iterator<Item = Vec3> + 'a {
    let ((normals_a, edges_a), (normals_b, edges_b)) = (a.sides(), b.sides());
    let faces = normals_a.iter().chain(normals_b).copied();
    let square = |u: Vec3, v: Vec3| {
        let square = u.cross(v);
        // edges in line part nothing that faces do not part
        let apart = square.length_squared() > 1e-20 * u.length_squared() * v.length_squared();
        apart.then(|| square.normalize())
    };
    let edges =
        edges_a.iter().flat_map(move |&u| edges_b.iter().filter_map(move |&v| square(u, v)));
    faces.chain(edges).flat_map(|n| [n, -n])
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
    /// A width that is small enough, m.
    known: f64,
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
    fn new(a: &'a Piece, b: &'a Piece, known: f64) -> Search<'a> {
        let radii = a.radius + b.radius;
        Search { a, b, radii, best: f64::INFINITY, known, queue: BinaryHeap::new() }
    }

    fn run(mut self) -> f64 {
        let between = (self.b.middle() - self.a.middle()).try_normalize();
        for n in axes(self.a, self.b).chain(between) {
            self.best = self.best.min(width(self.a, self.b, n));
            if self.best <= self.known {
                return self.best;
            }
        }
        let [x, y, z] = Vec3::AXES.map(|axis| [axis, -axis].map(|n| self.corner(n)));
        for corner in 0..8 {
            self.add([x[corner & 1], y[corner >> 1 & 1], z[corner >> 2]]);
        }
        for _ in 0..CAPS_MAX {
            let Some(Reverse(cap)) = self.queue.pop() else { break };
            if self.best <= self.known || cap.bound >= self.best * (1.0 - TOLERANCE) {
                break;
            }
            let [a, b, c] = cap.corners;
            let mut halfway = |u: Corner, v: Corner| self.corner((u.n + v.n).normalize());
            let (ab, bc, ca) = (halfway(a, b), halfway(b, c), halfway(c, a));
            let parts = [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]];
            parts.into_iter().for_each(|part| self.add(part));
        }
        self.best
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
