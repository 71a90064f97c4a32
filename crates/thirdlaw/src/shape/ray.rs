//! Where rays meet shapes.
//!
//! A line meets a convex solid in one interval of its length. Planes, quadrics and their
//! intersections give both ends in closed form; a polyhedron clips the line by its faces (Cyrus and
//! Beck 1978). Triangles are met by the watertight test of Woop, Benthin and Wald (2013): a ray
//! through an edge or a corner meets at least one of the triangles that share it.

use super::distance::{Surface, convex_distance};
use super::tree::{BoxTree, TreeRay};
use super::{Aabb, Convex, Geometry, Hull, Mesh, OwnShape, Shape};
use crate::math::{Pose, Vec3};

/// Where a line is inside a convex solid: two places along it (m), and the outward normals there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chord {
    pub enter: (f64, Vec3),
    pub leave: (f64, Vec3),
}

/// Where a ray meets a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SurfaceHit {
    /// Along the ray, m.
    pub distance: f64,
    /// Outward unit normal of the surface.
    pub normal: Vec3,
    /// Which triangle of a mesh, which part of a compound.
    pub piece: u32,
    /// Whether the surface was met from behind.
    pub back: bool,
}

impl Chord {
    const ALL: Chord =
        Chord { enter: (f64::NEG_INFINITY, Vec3::ZERO), leave: (f64::INFINITY, Vec3::ZERO) };

    /// What is in both; nothing if that is empty.
    fn and(mut self, other: Chord) -> Option<Chord> {
        if other.enter.0 > self.enter.0 {
            self.enter = other.enter;
        }
        if other.leave.0 < self.leave.0 {
            self.leave = other.leave;
        }
        (self.enter.0 <= self.leave.0).then_some(self)
    }

    /// What is in one of two that belong to a convex whole.
    fn or(mut self, other: Chord) -> Chord {
        if other.enter.0 < self.enter.0 {
            self.enter = other.enter;
        }
        if other.leave.0 > self.leave.0 {
            self.leave = other.leave;
        }
        self
    }
}

/// Of everything with n·x ≤ offset.
fn half_space(normal: Vec3, offset: f64, o: Vec3, d: Vec3) -> Option<Chord> {
    let (speed, gap) = (normal.dot(d), normal.dot(o) - offset);
    if speed == 0.0 {
        return (gap <= 0.0).then_some(Chord::ALL);
    }
    let at = (-gap / speed, normal);
    Some(if speed < 0.0 {
        Chord { enter: at, ..Chord::ALL }
    } else {
        Chord { leave: at, ..Chord::ALL }
    })
}

fn sphere(center: Vec3, radius: f64, o: Vec3, d: Vec3) -> Option<Chord> {
    // from the point of the line that is nearest to the centre: nothing cancels far away
    let along = d.dot(center - o);
    let nearest = o + along * d - center;
    let square = radius * radius - nearest.length_squared();
    if square < 0.0 {
        return None;
    }
    let half = square.sqrt();
    let end = |t: f64| (along + t, (nearest + t * d) / radius);
    Some(Chord { enter: end(-half), leave: end(half) })
}

fn cuboid(half: Vec3, o: Vec3, d: Vec3) -> Option<Chord> {
    let mut chord = Chord::ALL;
    for axis in 0..3 {
        if d[axis] == 0.0 {
            if o[axis].abs() > half[axis] {
                return None;
            }
            continue;
        }
        let mut normal = Vec3::ZERO;
        normal[axis] = 1.0_f64.copysign(d[axis]);
        let h = half[axis] * normal[axis];
        let slab = Chord {
            enter: ((-h - o[axis]) / d[axis], -normal),
            leave: ((h - o[axis]) / d[axis], normal),
        };
        chord = chord.and(slab)?;
    }
    Some(chord)
}

/// Of the endless cylinder along y.
fn tube(radius: f64, o: Vec3, d: Vec3) -> Option<Chord> {
    let (flat_o, flat_d) = (Vec3::new(o.x, 0.0, o.z), Vec3::new(d.x, 0.0, d.z));
    let speed = flat_d.length();
    if speed < 1e-150 {
        return (flat_o.length_squared() <= radius * radius).then_some(Chord::ALL);
    }
    let chord = sphere(Vec3::ZERO, radius, flat_o, flat_d / speed)?;
    let back = |(t, n): (f64, Vec3)| (t / speed, n);
    Some(Chord { enter: back(chord.enter), leave: back(chord.leave) })
}

fn slab(half_height: f64, o: Vec3, d: Vec3) -> Option<Chord> {
    half_space(Vec3::Y, half_height, o, d)?.and(half_space(-Vec3::Y, half_height, o, d)?)
}

fn capsule(half_height: f64, radius: f64, o: Vec3, d: Vec3) -> Option<Chord> {
    let ball = |y: f64| sphere(y * Vec3::Y, radius, o, d);
    let side = tube(radius, o, d).and_then(|tube| tube.and(slab(half_height, o, d)?));
    let parts = [side, ball(half_height), ball(-half_height)].into_iter().flatten();
    parts.reduce(Chord::or)
}

/// x² + z² ≤ k²·y² with y downwards from the tip, and y from 0 to the base.
fn cone(half_height: f64, radius: f64, o: Vec3, d: Vec3) -> Option<Chord> {
    let k = radius / (2.0 * half_height);
    let inside = slab(half_height, o, d)?;
    // measured from the middle of the slab, where numbers are small
    let shift = if inside.enter.0.is_finite() {
        0.5 * (inside.enter.0 + inside.leave.0)
    } else {
        -o.dot(d)
    };
    let p = o + shift * d;
    let (y, dy) = (half_height - p.y, -d.y);
    let a = d.x * d.x + d.z * d.z - k * k * dy * dy;
    let b = p.x * d.x + p.z * d.z - k * k * y * dy;
    let c = p.x * p.x + p.z * p.z - k * k * y * y;
    let normal = |t: f64| {
        let at = p + t * d;
        Vec3::new(at.x, k * k * (half_height - at.y), at.z).normalize_or(Vec3::Y)
    };
    let end = |t: f64| (t + shift, normal(t));
    let square = b * b - a * c;
    let round = if a.abs() < 1e-14 {
        if b == 0.0 {
            (c <= 0.0).then_some(Chord::ALL)
        } else {
            let at = end(-c / (2.0 * b));
            Some(if b < 0.0 {
                Chord { enter: at, ..Chord::ALL }
            } else {
                Chord { leave: at, ..Chord::ALL }
            })
        }
    } else if square < 0.0 {
        (a < 0.0).then_some(Chord::ALL)
    } else {
        let root = square.sqrt();
        // the root that does not cancel, and the other from the product of both
        let q = -(b + root.copysign(b));
        let (t0, t1) = if q == 0.0 { (0.0, 0.0) } else { (q / a, c / q) };
        let (t0, t1) = (t0.min(t1), t0.max(t1));
        if a > 0.0 {
            Some(Chord { enter: end(t0), leave: end(t1) })
        } else {
            // inside before the first and after the second: one of these is this cone, not its twin
            let before = Chord { leave: end(t0), ..Chord::ALL };
            let after = Chord { enter: end(t1), ..Chord::ALL };
            return match (before.and(inside), after.and(inside)) {
                (Some(one), Some(other)) => {
                    let length = |c: &Chord| c.leave.0 - c.enter.0;
                    Some(if length(&one) >= length(&other) { one } else { other })
                }
                (one, other) => one.or(other),
            };
        }
    };
    round?.and(inside)
}

fn hull(hull: &Hull, o: Vec3, d: Vec3) -> Option<Chord> {
    let mut chord = Chord::ALL;
    for (face, &normal) in hull.normals.iter().enumerate() {
        let at = hull.vertices[hull.corners(face)[0] as usize];
        chord = chord.and(half_space(normal, 0.0, o - at, d)?)?;
    }
    Some(chord)
}

/// Steps of Newton's method along a line; it takes some ten, and more where the line only grazes.
const STEPS: usize = 64;

/// Of a solid whose distance from a point is known. Along a line it is a convex function, of which Newton's
/// method, begun outside, finds the first root from one side.
fn by_distance(convex: &Convex, o: Vec3, d: Vec3) -> Option<Chord> {
    let radius = convex.outer_radius(&Pose::IDENTITY);
    let around = sphere(Vec3::ZERO, radius * (1.0 + 1e-6), o, d)?;
    let distance = |t: f64| convex_distance(convex, o + t * d, f64::INFINITY);
    let end = |start: f64, sign: f64| -> Option<(f64, Vec3)> {
        let mut t = start;
        let mut last: Option<Surface> = None;
        for _ in 0..STEPS {
            let here = distance(t)?;
            let slope = sign * here.normal.dot(d);
            // a distance that is not quite exact may lead a little too far, and back
            let there = here.distance.abs() <= 1e-12 * radius;
            if there || (here.distance < 0.0 && slope >= 0.0) {
                // what is on the surface may not know its normal
                return Some((t, last.map_or(here.normal, |last| last.normal)));
            }
            if slope >= 0.0 {
                return None;
            }
            if here.distance > 0.0 {
                last = Some(here);
            }
            t -= sign * here.distance / slope;
        }
        last.filter(|last| last.distance < 1e-6 * radius).map(|last| (t, last.normal))
    };
    let (enter, leave) = (end(around.enter.0, 1.0)?, end(around.leave.0, -1.0)?);
    Some(Chord { enter, leave })
}

/// Of a shape of the user's own, from both sides of a ball around it.
fn through_own(own: &OwnShape, o: Vec3, d: Vec3) -> Option<Chord> {
    let half = 0.5 * (own.bounds.maxs - own.bounds.mins).length();
    let middle = 0.5 * (own.bounds.maxs + own.bounds.mins);
    let around = sphere(middle, 1.1 * half, o, d)?;
    let (from, to) = (around.enter.0, around.leave.0);
    let enter = own.met_from_outside(o + from * d, d, to - from)?;
    let leave = own.met_from_outside(o + to * d, -d, to - from)?;
    Some(Chord { enter: (from + enter.0, enter.1), leave: (to - leave.0, leave.1) })
}

/// Where the line through `o` along the unit vector `d` is inside a solid.
pub(crate) fn chord(convex: &Convex, o: Vec3, d: Vec3) -> Option<Chord> {
    match convex {
        Convex::Sphere { radius } => sphere(Vec3::ZERO, *radius, o, d),
        Convex::Cuboid { half_extents } => cuboid(*half_extents, o, d),
        Convex::Capsule { half_height, radius } => capsule(*half_height, *radius, o, d),
        Convex::Cylinder { half_height, radius } => {
            tube(*radius, o, d)?.and(slab(*half_height, o, d)?)
        }
        Convex::Cone { half_height, radius } => cone(*half_height, *radius, o, d),
        Convex::HalfSpace { normal } => half_space(*normal, 0.0, o, d),
        Convex::Hull(polyhedron) => hull(polyhedron, o, d),
        Convex::Rounded(_) => by_distance(convex, o, d),
        Convex::Own(own) => through_own(own, o, d).or_else(|| by_distance(convex, o, d)),
    }
}

/// A ray as triangles read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleRay {
    origin: Vec3,
    axes: [usize; 3],
    shear: Vec3,
}

impl TriangleRay {
    pub fn new(origin: Vec3, direction: Vec3) -> TriangleRay {
        let size = direction.abs();
        let z = if size.x > size.y && size.x > size.z {
            0
        } else if size.y > size.z {
            1
        } else {
            2
        };
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            std::mem::swap(&mut x, &mut y);
        }
        let s = 1.0 / direction[z];
        TriangleRay {
            origin,
            axes: [x, y, z],
            shear: Vec3::new(direction[x] * s, direction[y] * s, s),
        }
    }

    /// Distance to a triangle, and whether the ray comes from behind it.
    #[inline]
    pub fn meet(&self, corners: [Vec3; 3]) -> Option<(f64, bool)> {
        let [x, y, z] = self.axes;
        let flat = corners.map(|corner| {
            let p = corner - self.origin;
            (p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z], self.shear.z * p[z])
        });
        let [a, b, c] = flat;
        let u = c.0 * b.1 - c.1 * b.0;
        let v = a.0 * c.1 - a.1 * c.0;
        let w = b.0 * a.1 - b.1 * a.0;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let det = u + v + w;
        if det == 0.0 {
            return None;
        }
        let t = (u * a.2 + v * b.2 + w * c.2) / det;
        (t >= 0.0).then_some((t, det < 0.0))
    }
}

/// The nearest of triangles in a tree that a ray meets before `most`.
pub(crate) fn nearest_triangle(
    tree: &BoxTree,
    (o, d): (Vec3, Vec3),
    most: f64,
    corners: impl Fn(u32) -> [Vec3; 3],
) -> Option<SurfaceHit> {
    let ray = TriangleRay::new(o, d);
    let mut found: Option<(f64, u32, bool)> = None;
    tree.ray(&TreeRay::new(o, d), most, |triangle, most| {
        let Some((distance, back)) = ray.meet(corners(triangle)) else { return most };
        let better = found.is_none_or(|(t, i, _)| (distance, triangle) < (t, i));
        if distance > most || !better {
            return most;
        }
        found = Some((distance, triangle, back));
        distance
    });
    found.map(|(distance, piece, back)| {
        let [a, b, c] = corners(piece);
        let normal = (b - a).cross(c - a).normalize_or(-d);
        SurfaceHit { distance, normal, piece, back }
    })
}

impl Mesh {
    /// Its triangles in a tree, made when the first question is asked.
    pub(crate) fn tree(&self) -> &BoxTree {
        self.tree.get_or_init(|| {
            let boxes: Vec<Aabb> = (0..self.triangles.len())
                .map(|i| {
                    let [a, b, c] = self.corners(i);
                    Aabb { mins: a.min(b).min(c), maxs: a.max(b).max(c) }
                })
                .collect();
            BoxTree::build(&boxes, 0..boxes.len() as u32, 2)
        })
    }
}

impl Shape {
    /// Where a ray first meets the shape placed at `pose`, before `most` (m). A `solid` one that holds
    /// the origin of the ray is met there.
    pub(crate) fn meet_ray(
        &self,
        pose: &Pose,
        (origin, direction): (Vec3, Vec3),
        most: f64,
        solid: bool,
    ) -> Option<SurfaceHit> {
        let back = pose.rotation.conjugate();
        let (o, d) = (back * (origin - pose.translation), back * direction);
        let mut hit = match self.geometry() {
            Geometry::Convex(convex) => meet_convex(convex, (o, d), 0, solid),
            Geometry::Compound(compound) => {
                let mut best: Option<SurfaceHit> = None;
                for (piece, (placed, convex)) in compound.parts.iter().enumerate() {
                    let back = placed.rotation.conjugate();
                    let local = (back * (o - placed.translation), back * d);
                    let found = meet_convex(convex, local, piece as u32, solid);
                    if let Some(found) =
                        found.filter(|f| best.is_none_or(|b| f.distance < b.distance))
                    {
                        best = Some(SurfaceHit { normal: placed.rotation * found.normal, ..found });
                    }
                }
                best
            }
            Geometry::Mesh(mesh) => {
                // whether it holds the origin is said by the first triangle behind, however far
                let reach = if solid && mesh.closed { f64::INFINITY } else { most };
                let hit =
                    nearest_triangle(mesh.tree(), (o, d), reach, |i| mesh.corners(i as usize));
                match hit {
                    Some(hit) if solid && mesh.closed && hit.back => {
                        Some(SurfaceHit { distance: 0.0, normal: -d, ..hit })
                    }
                    hit => hit,
                }
            }
        }
        .filter(|hit| hit.distance <= most)?;
        hit.normal = pose.rotation * hit.normal;
        Some(hit)
    }
}

#[inline]
fn meet_convex(
    convex: &Convex,
    (o, d): (Vec3, Vec3),
    piece: u32,
    solid: bool,
) -> Option<SurfaceHit> {
    let Chord { enter, leave } = chord(convex, o, d)?;
    if enter.0 >= 0.0 {
        return Some(SurfaceHit { distance: enter.0, normal: enter.1, piece, back: false });
    }
    if leave.0 < 0.0 {
        return None;
    }
    if solid {
        return Some(SurfaceHit { distance: 0.0, normal: -d, piece, back: true });
    }
    leave.0.is_finite().then_some(SurfaceHit {
        distance: leave.0,
        normal: leave.1,
        piece,
        back: true,
    })
}
