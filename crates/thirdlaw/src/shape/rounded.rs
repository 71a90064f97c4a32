//! Solids with rounded edges: all points within a radius of a sharp one.
//!
//! The moments of such a solid are exact sums. Around a polyhedron lie a prism on every face, a sector of a
//! cylinder on every edge, and on every corner the sector of a ball in which the normals of its faces span the
//! directions (Steiner's formula, part by part). A solid of revolution is an integral over its profile, whose
//! lines and arcs are smooth.

use super::{Convex, Hull, MassProperties, ShapeError, box_corners};
use crate::math::{Mat3, Vec3, tangents};

/// All points within `radius` of a box, cylinder, cone or hull.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rounded {
    /// The sharp solid inside.
    pub core: Convex,
    /// Of its edges and corners, m.
    pub radius: f64,
}

impl Rounded {
    /// None around what is round already or has no end.
    pub(crate) fn new(core: &Convex, radius: f64) -> Option<Rounded> {
        let sharp = matches!(
            core,
            Convex::Cuboid { .. } | Convex::Cylinder { .. } | Convex::Cone { .. } | Convex::Hull(_)
        );
        sharp.then(|| Rounded { core: core.clone(), radius })
    }

    pub(crate) fn mass_properties(&self) -> Option<MassProperties> {
        let r = self.radius;
        match &self.core {
            Convex::Cuboid { half_extents } => {
                let hull: Result<_, ShapeError> = Hull::new(&box_corners(*half_extents));
                Some(around_polyhedron(&hull.ok()?.0, r).properties())
            }
            Convex::Hull(hull) => Some(around_polyhedron(hull, r).properties()),
            Convex::Cylinder { half_height, radius } => {
                let (h, quarter) = (*half_height, std::f64::consts::FRAC_PI_2);
                let arcs = [([*radius, -h], [-quarter, 0.0]), ([*radius, h], [0.0, quarter])];
                Some(revolved(&arcs, r))
            }
            Convex::Cone { half_height, radius } => {
                let (h, quarter) = (*half_height, std::f64::consts::FRAC_PI_2);
                // the side faces this way
                let lean = libm::atan2(*radius, 2.0 * h);
                let arcs = [([*radius, -h], [-quarter, lean]), ([0.0, h], [lean, quarter])];
                Some(revolved(&arcs, r))
            }
            _ => None,
        }
    }
}

/// Nodes and weights of Gauss and Legendre on [−1, 1].
const GAUSS: [[f64; 2]; 5] = [
    [0.0, 0.568_888_888_888_888_9],
    [0.538_469_310_105_683_1, 0.478_628_670_499_366_5],
    [-0.538_469_310_105_683_1, 0.478_628_670_499_366_5],
    [0.906_179_845_938_664, 0.236_926_885_056_189_1],
    [-0.906_179_845_938_664, 0.236_926_885_056_189_1],
];
/// Parts of an arc or line of a profile.
const PARTS: usize = 16;

/// Of a solid of revolution about y whose profile goes along arcs of radius `r` about points (distance from
/// the axis, height), between two angles each, and along straight lines from each to the next.
fn revolved(arcs: &[([f64; 2], [f64; 2])], r: f64) -> MassProperties {
    let on = |c: [f64; 2], angle: f64| [c[0] + r * libm::cos(angle), c[1] + r * libm::sin(angle)];
    // ∫ over height of ρ², ρ²y, ρ²y², ρ⁴
    let mut sums = [0.0; 4];
    let mut add = |rho: f64, y: f64, dy: f64| {
        let square = rho * rho;
        let terms = [square, square * y, square * y * y, square * square];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term * dy);
    };
    let mut along = |from: f64, to: f64, at: &dyn Fn(f64) -> ([f64; 2], f64)| {
        let half = 0.5 * (to - from) / PARTS as f64;
        for part in 0..PARTS {
            let middle = from + (2 * part + 1) as f64 * half;
            for [node, weight] in GAUSS {
                let ([rho, y], rate) = at(middle + half * node);
                add(rho, y, rate * half * weight);
            }
        }
    };
    for (k, &(center, [from, to])) in arcs.iter().enumerate() {
        along(from, to, &|angle| (on(center, angle), r * libm::cos(angle)));
        if let Some(&(next, [begin, _])) = arcs.get(k + 1) {
            let (p, q) = (on(center, to), on(next, begin));
            let [dx, dy] = [q[0] - p[0], q[1] - p[1]];
            along(0.0, 1.0, &|t| ([p[0] + t * dx, p[1] + t * dy], dy));
        }
    }
    let pi = std::f64::consts::PI;
    let volume = pi * sums[0];
    let middle = pi * sums[1] / volume;
    let about_axis = 0.5 * pi * sums[3];
    let across = 0.25 * pi * sums[3] + pi * sums[2] - volume * middle * middle;
    MassProperties {
        volume,
        center_of_mass: Vec3::new(0.0, middle, 0.0),
        inertia: Mat3::from_diagonal(Vec3::new(across, about_axis, across)),
    }
}

/// ∫ 1, ∫ x and ∫ x xᵀ over a solid.
#[derive(Clone, Copy, Debug)]
struct Moments {
    volume: f64,
    first: Vec3,
    second: Mat3,
}

fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl Moments {
    fn of(solid: &MassProperties) -> Moments {
        let MassProperties { volume, center_of_mass: c, inertia } = *solid;
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let about_center = Mat3::from_diagonal(Vec3::splat(0.5 * trace)) - inertia;
        Moments { volume, first: volume * c, second: about_center + volume * outer(c, c) }
    }

    /// Of what lies about `p` as this lies about the origin.
    fn moved(self, p: Vec3) -> Moments {
        Moments {
            volume: self.volume,
            first: self.first + self.volume * p,
            second: self.second
                + outer(p, self.first)
                + outer(self.first, p)
                + self.volume * outer(p, p),
        }
    }

    fn add(&mut self, other: Moments) {
        self.volume += other.volume;
        self.first += other.first;
        self.second += other.second;
    }

    fn properties(&self) -> MassProperties {
        let center = self.first / self.volume;
        let about_center = self.second - self.volume * outer(center, center);
        let trace = about_center.x_axis.x + about_center.y_axis.y + about_center.z_axis.z;
        let inertia = Mat3::from_diagonal(Vec3::splat(trace)) - about_center;
        MassProperties { volume: self.volume, center_of_mass: center, inertia }
    }
}

fn around_polyhedron(hull: &Hull, r: f64) -> Moments {
    let mut sum = Moments::of(&MassProperties::closed_surface(&hull.vertices, hull.triangles()));
    for face in 0..hull.faces.len() {
        let corners: Vec<Vec3> =
            hull.corners(face).iter().map(|&i| hull.vertices[i as usize]).collect();
        sum.add(prism(&corners, r * hull.normals[face]));
    }
    for edge in &hull.edges {
        let ends = edge.vertices.map(|i| hull.vertices[i as usize]);
        sum.add(wedge(ends, edge.faces.map(|i| hull.normals[i as usize]), r));
    }
    let mut normals: Vec<Vec<Vec3>> = vec![Vec::new(); hull.vertices.len()];
    for face in 0..hull.faces.len() {
        for &corner in hull.corners(face) {
            normals[corner as usize].push(hull.normals[face]);
        }
    }
    for (corner, normals) in hull.vertices.iter().zip(normals) {
        sum.add(ball_sector(normals, r).moved(*corner));
    }
    sum
}

/// Of what a polygon sweeps on its way along `up`.
fn prism(corners: &[Vec3], up: Vec3) -> Moments {
    let n = corners.len() as u32;
    let raised = corners.iter().map(|&c| c + up);
    let vertices: Vec<Vec3> = corners.iter().copied().chain(raised).collect();
    let caps = (1..n.saturating_sub(1)).flat_map(|k| [[0, k + 1, k], [n, n + k, n + k + 1]]);
    let sides = (0..n).flat_map(|k| {
        let next = (k + 1) % n;
        [[k, next, n + next], [k, n + next, n + k]]
    });
    Moments::of(&MassProperties::closed_surface(&vertices, caps.chain(sides)))
}

/// Of the sector of a cylinder about an edge between the normals of its two faces.
fn wedge([p, q]: [Vec3; 2], [a, b]: [Vec3; 2], r: f64) -> Moments {
    let none = Moments { volume: 0.0, first: Vec3::ZERO, second: Mat3::ZERO };
    let (Some(middle), Some(along)) = ((a + b).try_normalize(), (q - p).try_normalize()) else {
        return none;
    };
    let length = (q - p).length();
    let angle = libm::atan2(a.cross(b).length(), a.dot(b));
    let across = along.cross(middle);
    let (sine, cube) = (libm::sin(0.5 * angle), r * r * r);
    let area = 0.5 * angle * r * r;
    let offset = length * (2.0 / 3.0) * cube * sine;
    let spread = 0.125 * cube * r;
    let (up, side) = (spread * (angle + libm::sin(angle)), spread * (angle - libm::sin(angle)));
    let volume = length * area;
    let lengthwise = area * length * length * length / 12.0;
    let about_middle = Moments {
        volume,
        first: offset * middle,
        second: lengthwise * outer(along, along)
            + length * up * outer(middle, middle)
            + length * side * outer(across, across),
    };
    about_middle.moved(0.5 * (p + q))
}

/// Longest side of the triangles that a ball's surface is cut into, rad: their mean of nnᵀ over the middles
/// of their sides is off by the fourth power.
const FINE: f64 = 0.04;

/// Of the sector of a ball about the origin in whose directions all these normals of faces point.
fn ball_sector(mut normals: Vec<Vec3>, r: f64) -> Moments {
    let none = Moments { volume: 0.0, first: Vec3::ZERO, second: Mat3::ZERO };
    let sum = normals.iter().fold(Vec3::ZERO, |sum, n| sum + n);
    let Some(middle) = sum.try_normalize() else { return none };
    let (t, u) = tangents(middle);
    normals.sort_by(|a, b| {
        let turn = |n: &Vec3| libm::atan2(n.dot(u), n.dot(t));
        turn(a).total_cmp(&turn(b))
    });
    let (mut solid_angle, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
    for k in 0..normals.len() {
        let triangle = [middle, normals[k], normals[(k + 1) % normals.len()]];
        cut(triangle, &mut |leaf: [Vec3; 3], angle: f64| {
            solid_angle += angle;
            for k in 0..3 {
                let n = (leaf[k] + leaf[(k + 1) % 3]).normalize_or_zero();
                first += angle / 3.0 * n;
                second += angle / 3.0 * outer(n, n);
            }
        });
    }
    let cube = r * r * r;
    Moments {
        volume: cube / 3.0 * solid_angle,
        first: 0.25 * cube * r * first,
        second: 0.2 * cube * r * r * second,
    }
}

/// Cuts a triangle on the unit sphere into fine ones, with the solid angle of each.
fn cut([a, b, c]: [Vec3; 3], leaf: &mut dyn FnMut([Vec3; 3], f64)) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    if longest <= FINE {
        // van Oosterom and Strackee (1983)
        let volume = a.dot(b.cross(c)).abs();
        let angle = 2.0 * libm::atan2(volume, 1.0 + a.dot(b) + b.dot(c) + c.dot(a));
        return leaf([a, b, c], angle);
    }
    let middle = |p: Vec3, q: Vec3| (p + q).normalize_or(p);
    let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
    for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
        cut(part, leaf);
    }
}
