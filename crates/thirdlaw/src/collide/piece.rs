//! One convex piece placed in the frame of a pair: its core, the radius around the core, and the
//! features that face a direction.
//!
//! Spheres are points and capsules segments with a radius; boxes, hulls and triangles are polyhedra;
//! cylinders and cones are one family, a disc at either end of an axis. What is rounded is a sharp core with a
//! radius; shapes of the user's own are asked for their farthest points.

use parry3d_f64::shape::SupportMap;

use crate::math::{Pose, Quat, Vec3, tangents};
use crate::shape::own::turned;
use crate::shape::{Convex, HullEdge, MeshEdge, OwnShape, box_corners};

/// Corners of the polygon that stands for a flat round end.
const RIM: usize = 8;

/// Memory for the corners and normals of one placed piece.
#[derive(Debug, Default)]
pub(super) struct PieceBuffer {
    vertices: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// A convex piece in the frame of the pair.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub kind: Kind<'a>,
    /// Distance of the surface from the core, m.
    pub radius: f64,
    /// A point well inside.
    pub center: Vec3,
    /// A length that is small for the piece, the yardstick for "nearly", m.
    pub scale: f64,
    /// For a triangle of a mesh: which normals its surroundings leave it.
    pub guard: Option<Guard>,
}

#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    Poly(Poly<'a>),
    Round(Round),
    Own(Own<'a>),
}

/// A shape of the user's own, known by its farthest points.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub shape: &'a OwnShape,
    pub origin: Vec3,
    pub rotation: Quat,
}

/// A polyhedron, or a triangle, segment or point.
#[derive(Clone, Copy)]
pub(super) struct Poly<'a> {
    pub vertices: &'a [Vec3],
    pub normals: &'a [Vec3],
    pub faces: &'a [[u32; 2]],
    pub loops: &'a [u32],
    pub edges: &'a [HullEdge],
    /// Axes and half extents, for a box.
    pub cuboid: Option<([Vec3; 3], Vec3)>,
}

/// Discs of two radii around the ends of an axis.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub bottom: Vec3,
    pub top: Vec3,
    pub axis: Vec3,
    pub side: [Vec3; 2],
    pub radii: [f64; 2],
}

/// A triangle of a mesh with what lies beyond its edges.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    pub corners: [Vec3; 3],
    pub normal: Vec3,
    pub edges: [MeshEdge; 3],
}

/// A point on the surface of a feature.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FeaturePoint {
    pub position: Vec3,
    /// How far below the surface, against the outward direction, the core lies.
    pub radius: f64,
    pub id: u32,
}

/// The part of a surface that faces a direction: polygon, line or point.
#[derive(Debug, Default)]
pub(super) struct Feature {
    pub points: Vec<FeaturePoint>,
    /// Outward normal if it is a polygon.
    pub normal: Vec3,
}

const fn edge(a: u32, b: u32, left: u32, right: u32) -> HullEdge {
    HullEdge { vertices: [a, b], faces: [left, right] }
}

// faces −x +x −y +y −z +z; corners by sign bits
const BOX_FACES: [[u32; 2]; 6] = [[0, 4], [4, 4], [8, 4], [12, 4], [16, 4], [20, 4]];
pub(super) const BOX_LOOPS: [u32; 24] =
    [0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6];
const BOX_EDGES: [HullEdge; 12] = [
    edge(0, 1, 2, 4),
    edge(2, 3, 4, 3),
    edge(4, 5, 5, 2),
    edge(6, 7, 3, 5),
    edge(0, 2, 4, 0),
    edge(1, 3, 1, 4),
    edge(4, 6, 0, 5),
    edge(5, 7, 5, 1),
    edge(0, 4, 0, 2),
    edge(1, 5, 2, 1),
    edge(2, 6, 3, 0),
    edge(3, 7, 1, 3),
];
const TRIANGLE_FACES: [[u32; 2]; 1] = [[0, 3]];
const TRIANGLE_LOOPS: [u32; 3] = [0, 1, 2];
const TRIANGLE_EDGES: [HullEdge; 3] = [edge(0, 1, 0, 0), edge(1, 2, 0, 0), edge(2, 0, 0, 0)];
const SEGMENT_EDGES: [HullEdge; 1] = [edge(0, 1, 0, 0)];

impl<'a> Piece<'a> {
    /// Places a bounded convex solid; none for a half-space.
    pub fn place(
        convex: &'a Convex,
        pose: &Pose,
        buffer: &'a mut PieceBuffer,
    ) -> Option<Piece<'a>> {
        let center = pose.translation;
        let axis = pose.rotation * Vec3::Y;
        buffer.vertices.clear();
        buffer.normals.clear();
        let piece = |kind, radius, scale| Some(Piece { kind, radius, center, scale, guard: None });
        match convex {
            Convex::HalfSpace { .. } => None,
            Convex::Sphere { radius } => {
                buffer.vertices.push(center);
                piece(Kind::Poly(Poly::bare(&buffer.vertices, &[])), *radius, *radius)
            }
            Convex::Capsule { half_height, radius } => {
                buffer.vertices.push(center - axis * *half_height);
                buffer.vertices.push(center + axis * *half_height);
                piece(Kind::Poly(Poly::bare(&buffer.vertices, &SEGMENT_EDGES)), *radius, *radius)
            }
            Convex::Cuboid { half_extents } => {
                let axes = [pose.rotation * Vec3::X, axis, pose.rotation * Vec3::Z];
                let place = |c: Vec3| center + axes[0] * c.x + axes[1] * c.y + axes[2] * c.z;
                buffer.vertices.extend(box_corners(*half_extents).map(place));
                buffer.normals.extend(axes.iter().flat_map(|&x| [-x, x]));
                let poly = Poly {
                    vertices: &buffer.vertices,
                    normals: &buffer.normals,
                    faces: &BOX_FACES,
                    loops: &BOX_LOOPS,
                    edges: &BOX_EDGES,
                    cuboid: Some((axes, *half_extents)),
                };
                piece(Kind::Poly(poly), 0.0, half_extents.min_element())
            }
            Convex::Hull(hull) => {
                buffer.vertices.extend(hull.vertices.iter().map(|&v| pose.rotation * v + center));
                buffer.normals.extend(hull.normals.iter().map(|&n| pose.rotation * n));
                let sum = buffer.vertices.iter().fold(Vec3::ZERO, |s, &v| s + v);
                let mean = sum / buffer.vertices.len() as f64;
                let first = hull.loops[hull.faces[0][0] as usize] as usize;
                let mut scale = (buffer.vertices[first] - mean).dot(buffer.normals[0]);
                for (face, normal) in hull.faces.iter().zip(&buffer.normals) {
                    let corner = buffer.vertices[hull.loops[face[0] as usize] as usize];
                    scale = scale.min((corner - mean).dot(*normal));
                }
                let poly = Poly {
                    vertices: &buffer.vertices,
                    normals: &buffer.normals,
                    faces: &hull.faces,
                    loops: &hull.loops,
                    edges: &hull.edges,
                    cuboid: None,
                };
                let kind = Kind::Poly(poly);
                Some(Piece { kind, radius: 0.0, center: mean, scale: scale.max(0.0), guard: None })
            }
            Convex::Cylinder { half_height, radius } => {
                let round = Round::new(center, axis, pose, *half_height, [*radius, *radius]);
                piece(Kind::Round(round), 0.0, radius.min(*half_height))
            }
            Convex::Cone { half_height, radius } => {
                let round = Round::new(center, axis, pose, *half_height, [*radius, 0.0]);
                piece(Kind::Round(round), 0.0, 0.3 * radius.min(*half_height))
            }
            Convex::Rounded(rounded) => {
                let core = Piece::place(&rounded.core, pose, buffer)?;
                let scale = core.scale + rounded.radius;
                Some(Piece { radius: rounded.radius, scale, ..core })
            }
            Convex::Own(shape) => {
                let own = Own { shape, origin: center, rotation: pose.rotation };
                let center = *pose * shape.mass.center_of_mass;
                Some(Piece { center, ..piece(Kind::Own(own), 0.0, shape.inner)? })
            }
        }
    }

    /// Places a triangle of a mesh.
    pub fn triangle(guard: Guard, buffer: &'a mut PieceBuffer) -> Piece<'a> {
        buffer.vertices.clear();
        buffer.normals.clear();
        buffer.vertices.extend(guard.corners);
        buffer.normals.push(guard.normal);
        let poly = Poly {
            vertices: &buffer.vertices,
            normals: &buffer.normals,
            faces: &TRIANGLE_FACES,
            loops: &TRIANGLE_LOOPS,
            edges: &TRIANGLE_EDGES,
            cuboid: None,
        };
        let [a, b, c] = guard.corners;
        let center = (a + b + c) / 3.0;
        let scale = f64::INFINITY;
        Piece { kind: Kind::Poly(poly), radius: 0.0, center, scale, guard: Some(guard) }
    }

    /// The point of the core farthest along `d`.
    pub fn support(&self, d: Vec3) -> Vec3 {
        match &self.kind {
            Kind::Poly(poly) => poly.support(d).0,
            Kind::Round(round) => round.support(d),
            Kind::Own(own) => own.support(d),
        }
    }

    /// Largest coordinate of the surface along the unit vector `n`.
    pub fn reach(&self, n: Vec3) -> f64 {
        self.radius
            + match &self.kind {
                Kind::Poly(poly) => poly.reach(n),
                Kind::Round(round) => n.dot(round.support(n)),
                Kind::Own(own) => n.dot(own.support(n)),
            }
    }

    /// The feature of the surface that faces the unit vector `n`.
    pub fn feature(&self, n: Vec3, out: &mut Feature) {
        out.points.clear();
        out.normal = n;
        match &self.kind {
            Kind::Poly(poly) if poly.faces.is_empty() => {
                for (id, &position) in poly.vertices.iter().enumerate() {
                    out.points.push(FeaturePoint { position, radius: 0.0, id: id as u32 });
                }
            }
            Kind::Poly(poly) => {
                let face = poly.face_toward(n);
                out.normal = poly.normals[face];
                let [start, len] = poly.faces[face];
                for &id in &poly.loops[start as usize..(start + len) as usize] {
                    let position = poly.vertices[id as usize];
                    out.points.push(FeaturePoint { position, radius: 0.0, id });
                }
            }
            Kind::Round(round) => round.feature(n, out),
            Kind::Own(own) => own.feature(n, out),
        }
        if self.radius > 0.0 {
            for point in &mut out.points {
                point.position += n * self.radius;
                point.radius += self.radius;
            }
        }
    }

    /// The flat or straight part of the surface that is best aligned with `n`: its exact normal.
    pub fn exact_normals(&self, n: Vec3) -> [Option<Vec3>; 2] {
        match &self.kind {
            Kind::Poly(poly) if poly.faces.is_empty() => [None, None],
            Kind::Poly(poly) => [Some(poly.normals[poly.face_toward(n)]), None],
            Kind::Own(_) => [None, None],
            Kind::Round(round) => {
                let up = n.dot(round.axis);
                let cap = if up > 0.0 { round.axis } else { -round.axis };
                let cap = (up < 0.0 || round.radii[1] > 0.0).then_some(cap);
                let side = (n - round.axis * up).try_normalize().map(|across| {
                    let height = (round.top - round.bottom).dot(round.axis);
                    let drop = round.radii[0] - round.radii[1];
                    (across * height + round.axis * drop).normalize_or_zero()
                });
                [cap, side]
            }
        }
    }
}

impl Own<'_> {
    fn support(&self, d: Vec3) -> Vec3 {
        self.origin + turned(self.shape, self.rotation, d)
    }

    /// How far below the surface a point lies that moves little as the body rolls, m.
    pub fn curvature(&self, n: Vec3) -> f64 {
        self.shape.curvature(self.rotation.conjugate() * n)
    }

    /// A flat side that faces this way, by its farthest points a little to all sides; else one point.
    fn feature(&self, n: Vec3, out: &mut Feature) {
        /// Tilt, and the least size of a flat side over that of a ball that is tilted so.
        const TILT: f64 = 0.01;
        const FLAT: f64 = 8.0;
        let (t, u) = tangents(n);
        const C: f64 = std::f64::consts::FRAC_1_SQRT_2;
        const WAYS: [[f64; 2]; RIM] =
            [[1.0, 0.0], [C, C], [0.0, 1.0], [-C, C], [-1.0, 0.0], [-C, -C], [0.0, -1.0], [C, -C]];
        let middle = self.support(n);
        let size = n.dot(middle - (self.origin + self.rotation * self.shape.mass.center_of_mass));
        let mut apart: f64 = 0.0;
        for (id, [a, b]) in (0..).zip(WAYS) {
            let position = self.support(n + TILT * (a * t + b * u));
            apart = apart.max((position - middle).length());
            out.points.push(FeaturePoint { position, radius: 0.0, id });
        }
        let area = |k: usize| {
            let corner = |i: usize| out.points[i % RIM].position - middle;
            n.dot(corner(k).cross(corner(k + 1)))
        };
        let polygon = (0..RIM).map(area).sum::<f64>() > TILT * apart * apart;
        if apart <= FLAT * TILT * size || !polygon {
            out.points.clear();
            let radius = self.curvature(n);
            out.points.push(FeaturePoint { position: middle, radius, id: RIM as u32 });
        }
    }
}

impl SupportMap for Piece<'_> {
    fn local_support_point(&self, dir: Vec3) -> Vec3 {
        self.support(dir)
    }
}

impl<'a> Poly<'a> {
    pub fn bare(vertices: &'a [Vec3], edges: &'a [HullEdge]) -> Poly<'a> {
        Poly { vertices, normals: &[], faces: &[], loops: &[], edges, cuboid: None }
    }

    /// The vertex farthest along `d` and its coordinate.
    pub fn support(&self, d: Vec3) -> (Vec3, f64) {
        let mut best = self.vertices[0];
        let mut reach = d.dot(best);
        for &v in &self.vertices[1..] {
            let r = d.dot(v);
            if r > reach {
                (best, reach) = (v, r);
            }
        }
        (best, reach)
    }

    /// Largest coordinate along `d`.
    pub fn reach(&self, d: Vec3) -> f64 {
        let Some((axes, half)) = self.cuboid else { return self.support(d).1 };
        let center = 0.5 * (self.vertices[0] + self.vertices[7]);
        let [x, y, z] = axes.map(|axis| axis.dot(d));
        center.dot(d) + half.dot(Vec3::new(x, y, z).abs())
    }

    /// Smallest and largest coordinate along `d`.
    pub fn range(&self, d: Vec3) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &v in self.vertices {
            let x = d.dot(v);
            low = low.min(x);
            high = high.max(x);
        }
        (low, high)
    }

    fn face_toward(&self, n: Vec3) -> usize {
        let mut best = 0;
        let mut reach = f64::NEG_INFINITY;
        for (k, normal) in self.normals.iter().enumerate() {
            // a clear lead is needed, so that rounding does not choose between equals
            let r = n.dot(*normal);
            if r > reach + 1e-9 {
                (best, reach) = (k, r);
            }
        }
        best
    }
}

impl Round {
    fn new(center: Vec3, axis: Vec3, pose: &Pose, half_height: f64, radii: [f64; 2]) -> Round {
        Round {
            bottom: center - axis * half_height,
            top: center + axis * half_height,
            axis,
            side: [pose.rotation * Vec3::X, pose.rotation * Vec3::Z],
            radii,
        }
    }

    /// Unit vector across the axis toward `n`; any one where `n` is along the axis.
    fn across(&self, n: Vec3) -> Vec3 {
        let flat = n - self.axis * n.dot(self.axis);
        if flat.length_squared() <= 1e-24 * n.length_squared() {
            return self.side[0];
        }
        // what is left of a long vector along the axis is mostly rounding; once more for the digits
        let across = flat.normalize_or_zero();
        (across - self.axis * across.dot(self.axis)).try_normalize().unwrap_or(self.side[0])
    }

    fn support(&self, d: Vec3) -> Vec3 {
        let across = self.across(d);
        let low = self.bottom + across * self.radii[0];
        let high = self.top + across * self.radii[1];
        if d.dot(high) > d.dot(low) { high } else { low }
    }

    /// Cap polygon, or the line on the side. Points on a rim have their core where turning about
    /// the axis moves it least: a distance r·sin(angle of n to the axis) below the surface, on the
    /// axis itself when the normal is square to it.
    fn feature(&self, n: Vec3, out: &mut Feature) {
        let up = n.dot(self.axis);
        let lean = (1.0 - up * up).max(0.0).sqrt();
        let across = self.across(n);
        let flat = up.abs() > std::f64::consts::FRAC_1_SQRT_2;
        if flat && (up < 0.0 || self.radii[1] > 0.0) {
            let (center, radius, normal) = if up > 0.0 {
                (self.top, self.radii[1], self.axis)
            } else {
                (self.bottom, self.radii[0], -self.axis)
            };
            out.normal = normal;
            self.cap(center, radius, normal, (lean > 1e-9).then_some((across, lean)), out);
            return;
        }
        for (id, (center, radius)) in
            [(self.bottom, self.radii[0]), (self.top, self.radii[1])].iter().enumerate()
        {
            out.points.push(FeaturePoint {
                position: *center + across * *radius,
                radius: *radius * lean,
                id: id as u32,
            });
        }
        if self.radii[1] == 0.0 && up > 0.95 {
            // the tip alone, unless the cone is so flat that its side faces this way
            let tip = self.top.dot(n) - n.dot(self.bottom + across * self.radii[0]);
            if tip > 0.2 * self.radii[0] {
                out.points.remove(0);
            }
        }
    }

    /// A polygon around a flat end, counter-clockwise about its outward normal, with the lowest
    /// point of the rim among its corners when the end is tilted.
    fn cap(
        &self,
        center: Vec3,
        radius: f64,
        normal: Vec3,
        low: Option<(Vec3, f64)>,
        out: &mut Feature,
    ) {
        // side[0] = x, side[1] = z: x → z turns about −y
        let (x, z) = (self.side[0], self.side[1]);
        let y = if normal.dot(self.axis) > 0.0 { -z } else { z };
        const C: f64 = std::f64::consts::FRAC_1_SQRT_2;
        const ANGLES: [[f64; 2]; RIM] =
            [[1.0, 0.0], [C, C], [0.0, 1.0], [-C, C], [-1.0, 0.0], [-C, -C], [0.0, -1.0], [C, -C]];
        for (k, [c, s]) in ANGLES.iter().enumerate() {
            let here = x * *c + y * *s;
            out.points.push(FeaturePoint {
                position: center + here * radius,
                radius: 0.0,
                id: k as u32,
            });
            if let Some((across, lean)) = low {
                let next = ANGLES[(k + 1) % RIM];
                let next = x * next[0] + y * next[1];
                // between this corner and the next, and clearly apart from both
                let after = normal.dot(here.cross(across));
                let before = normal.dot(across.cross(next));
                if after > 1e-3 && before > 1e-3 && across.dot(here) > 0.0 {
                    out.points.push(FeaturePoint {
                        position: center + across * radius,
                        radius: radius * lean,
                        id: RIM as u32,
                    });
                }
            }
        }
    }
}

impl Guard {
    /// Whether a contact normal (pointing away from the surface) can come from this triangle: it
    /// must be the face's own, or lie between it and what the neighbour across an outer edge has.
    pub fn admits(&self, n: Vec3) -> bool {
        if n.dot(self.normal) > 1.0 - 1e-12 {
            return true;
        }
        let reach = self.corners.map(|c| n.dot(c - self.corners[0]));
        let size = (self.corners[1] - self.corners[0]).length()
            + (self.corners[2] - self.corners[0]).length();
        let top = reach[0].max(reach[1]).max(reach[2]) - 1e-9 * size;
        let mut leans = false;
        for k in 0..3 {
            let next = (k + 1) % 3;
            if reach[k] < top && reach[next] < top {
                continue;
            }
            // not of unit length, as roots take long
            let outward = (self.corners[next] - self.corners[k]).cross(self.normal);
            let across = n.dot(outward);
            if across <= 0.0 || across * across <= 1e-14 * outward.length_squared() {
                continue;
            }
            leans = true;
            match self.edges[k] {
                MeshEdge::Boundary => {}
                MeshEdge::Hidden => return false,
                MeshEdge::Convex { inward, .. } => {
                    if n.dot(inward) > 1e-7 {
                        return false;
                    }
                }
            }
        }
        leans
    }

    /// Normals that are always among the best: the face's and those of its outer neighbours.
    pub fn normals(&self) -> [Option<Vec3>; 4] {
        let beyond = |k: usize| match self.edges[k] {
            MeshEdge::Convex { normal, .. } => Some(normal),
            _ => None,
        };
        [Some(self.normal), beyond(0), beyond(1), beyond(2)]
    }
}

/// Any unit vector square to `n`.
pub(super) fn square_to(n: Vec3) -> Vec3 {
    tangents(n).0
}
