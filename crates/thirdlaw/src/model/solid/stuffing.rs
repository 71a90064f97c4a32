//! Isosurface stuffing: tetrahedra that fill any shape with a signed distance \[labelle2007\].
//!
//! A body-centred cubic lattice is laid over the shape. Where the surface cuts an edge near to a lattice
//! point, the point is moved onto the surface; tetrahedra that are still cut are clipped by a few
//! patterns. No tetrahedron is thin: angles between faces stay between 10.7° and 164.8° on smooth shapes
//! that the lattice is fine enough for. Edges and corners sharper than the lattice are rounded off.

use super::{SolidMesh, volume};
use crate::math::Vec3;
use crate::model::deformable::DeformableError;
use std::collections::BTreeMap;

/// Part of an edge within which a cut moves the lattice point: of edges along the axes, and of those to
/// the middle of a cell [labelle2007, Table 1].
const NEAR_LONG: f64 = 0.24999;
const NEAR_SHORT: f64 = 0.41189;
/// More lattice points than this are a slip of the keyboard.
const POINTS_MAX: f64 = 2e7;
/// Bisections of an edge, after which a straight line is as good.
const BISECTIONS: u32 = 10;

/// Neighbours of a lattice point, in half cells: along the axes, and to the points in between.
const AXES: [[i32; 3]; 6] = [[2, 0, 0], [-2, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 2], [0, 0, -2]];
const DIAGONALS: [[i32; 3]; 8] = [
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [1, -1, -1],
    [-1, 1, 1],
    [-1, 1, -1],
    [-1, -1, 1],
    [-1, -1, -1],
];

/// A point of the lattice, or where the surface cuts one of its edges, counted from the first.
type Node = u32;

/// The lattice, dense, in half cells; of every 8 places 2 are points of it.
struct Lattice<'a> {
    distance: &'a dyn Fn(Vec3) -> f64,
    /// Half cells along each axis.
    size: [i32; 3],
    /// Of place 0, m.
    origin: Vec3,
    /// Half a cell, m.
    half: f64,
    /// Where each point is, m.
    at: Vec<Vec3>,
    /// How deep each point is inside, m: 0 once it lies on the surface.
    depth: Vec<f64>,
    /// Where edges are cut, by their ends.
    cuts: BTreeMap<[Node; 2], Vec3>,
}

/// Tetrahedra that fill the shape where `distance` (m) is negative, which lies within ±`reach` of the
/// origin. Cells of the lattice are `spacing` (m) wide.
pub fn stuff(
    distance: &dyn Fn(Vec3) -> f64,
    reach: Vec3,
    spacing: f64,
) -> Result<SolidMesh, DeformableError> {
    stuff_between(distance, (-reach, reach), spacing)
}

/// The same for a shape between two corners.
pub fn stuff_between(
    distance: &dyn Fn(Vec3) -> f64,
    (low, high): (Vec3, Vec3),
    spacing: f64,
) -> Result<SolidMesh, DeformableError> {
    let value = |problem: String| Err(DeformableError::Value { field: "spacing", problem });
    let extent = high - low;
    if !(spacing > 0.0 && spacing.is_finite() && extent.is_finite()) {
        return value(format!("must be above 0, not {spacing}"));
    }
    let cells = (extent / spacing).ceil() + Vec3::splat(3.0);
    if cells.x * cells.y * cells.z > POINTS_MAX {
        return value(format!("{spacing} makes more than {POINTS_MAX:e} lattice points"));
    }
    let size = cells.to_array().map(|n| 2 * n as i32 + 1);
    let half = 0.5 * spacing;
    let origin = 0.5 * (low + high) - half * Vec3::from_array(size.map(|n| 0.5 * f64::from(n - 1)));
    let mut lattice = Lattice {
        distance,
        size,
        origin,
        half,
        at: Vec::new(),
        depth: Vec::new(),
        cuts: BTreeMap::new(),
    };
    lattice.sample();
    lattice.cut();
    lattice.warp();
    let mesh = lattice.fill();
    if mesh.tetrahedra.is_empty() {
        return value(format!("{spacing} is too coarse: no tetrahedron fits into the shape"));
    }
    Ok(mesh)
}

impl Lattice<'_> {
    fn index(&self, p: [i32; 3]) -> Option<Node> {
        let inside = (0..3).all(|a| p[a] >= 0 && p[a] < self.size[a]);
        inside.then(|| (p[0] + self.size[0] * (p[1] + self.size[1] * p[2])) as Node)
    }

    /// Calls `visit` with every point of the lattice.
    fn each_point(&self, mut visit: impl FnMut([i32; 3])) {
        for z in 0..self.size[2] {
            for y in 0..self.size[1] {
                for x in (0..self.size[0]).filter(|x| x % 2 == y % 2 && y % 2 == z % 2) {
                    visit([x, y, z]);
                }
            }
        }
    }

    fn sample(&mut self) {
        let count = self.size.iter().map(|&n| n as usize).product();
        self.at = vec![Vec3::ZERO; count];
        self.depth = vec![f64::NEG_INFINITY; count];
        let mut points = Vec::new();
        self.each_point(|p| points.push(p));
        for p in points {
            let Some(i) = self.index(p) else { continue };
            let at = self.origin + self.half * Vec3::from_array(p.map(f64::from));
            self.at[i as usize] = at;
            self.depth[i as usize] = -(self.distance)(at);
        }
    }

    /// Neighbours of a point, and how near a cut may be to it.
    fn neighbours(&self, p: [i32; 3]) -> impl Iterator<Item = (Node, f64)> + '_ {
        let long = AXES.iter().map(|d| (d, NEAR_LONG));
        let short = DIAGONALS.iter().map(|d| (d, NEAR_SHORT));
        long.chain(short).filter_map(move |(d, near)| {
            let there = self.index([p[0] + d[0], p[1] + d[1], p[2] + d[2]])?;
            Some((there, near))
        })
    }

    /// Finds where the surface cuts edges.
    fn cut(&mut self) {
        let mut found = BTreeMap::new();
        self.each_point(|p| {
            let Some(i) = self.index(p) else { return };
            if self.depth[i as usize] <= 0.0 {
                return;
            }
            for (j, _) in self.neighbours(p) {
                if self.depth[j as usize] < 0.0 {
                    found.insert([i.min(j), i.max(j)], self.cut_between(i, j));
                }
            }
        });
        self.cuts = found;
    }

    /// Where the surface is between a point inside and one outside.
    fn cut_between(&self, inside: Node, outside: Node) -> Vec3 {
        let (mut a, mut b) = (self.at[inside as usize], self.at[outside as usize]);
        let (mut deep, mut off) = (self.depth[inside as usize], self.depth[outside as usize]);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (a + b);
            let depth = -(self.distance)(middle);
            if depth > 0.0 {
                (a, deep) = (middle, depth);
            } else {
                (b, off) = (middle, depth);
            }
        }
        a + (b - a) * (deep / (deep - off)).clamp(0.0, 1.0)
    }

    /// Moves points onto the surface where it cuts their edges too near to them.
    fn warp(&mut self) {
        let mut points = Vec::new();
        self.each_point(|p| points.push(p));
        for p in points {
            let Some(i) = self.index(p) else { continue };
            if self.cuts.is_empty() {
                return;
            }
            let around: Vec<(Node, f64)> = self.neighbours(p).collect();
            let from = self.at[i as usize];
            let mut nearest: Option<(f64, Vec3)> = None;
            for &(j, near) in &around {
                let Some(cut) = self.cuts.get(&[i.min(j), i.max(j)]) else { continue };
                // as the lattice was: ends may have moved since
                let length = self.half * if near == NEAR_LONG { 2.0 } else { 3.0_f64.sqrt() };
                let part = cut.distance(from) / length;
                if part < near && nearest.is_none_or(|n| part < n.0) {
                    nearest = Some((part, *cut));
                }
            }
            let Some((_, place)) = nearest else { continue };
            self.at[i as usize] = place;
            self.depth[i as usize] = 0.0;
            for (j, _) in around {
                self.cuts.remove(&[i.min(j), i.max(j)]);
            }
        }
    }

    /// Tetrahedra of the lattice, clipped.
    fn fill(&self) -> SolidMesh {
        let mut output =
            Output { lattice: self, mesh: SolidMesh::default(), known: BTreeMap::new() };
        self.each_point(|p| {
            // from the middle of each cell to the next one along every axis
            if p[0] % 2 == 0 {
                return;
            }
            for axis in 0..3 {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut next = p;
                next[axis] += 2;
                let corner = |du: i32, dv: i32| {
                    let mut corner = p;
                    corner[axis] += 1;
                    corner[u] += du;
                    corner[v] += dv;
                    corner
                };
                let ring = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
                for k in 0..4 {
                    let ends = [p, next, ring[k], ring[(k + 1) % 4]].map(|q| self.index(q));
                    if let [Some(a), Some(b), Some(c), Some(d)] = ends {
                        output.clip([a, b, c, d]);
                    }
                }
            }
        });
        output.mesh
    }
}

/// The mesh so far.
struct Output<'a> {
    lattice: &'a Lattice<'a>,
    mesh: SolidMesh,
    /// Vertices by the ends of their edge; lattice points are edges to themselves.
    known: BTreeMap<[Node; 2], u32>,
}

impl Output<'_> {
    /// Adds the part of a tetrahedron that is inside.
    fn clip(&mut self, nodes: [Node; 4]) {
        let depth = |n: Node| self.lattice.depth[n as usize];
        let of = |keep: &dyn Fn(f64) -> bool| -> Vec<Node> {
            nodes.iter().copied().filter(|n| keep(depth(*n))).collect()
        };
        let (mut inside, on, outside) = (of(&|d| d > 0.0), of(&|d| d == 0.0), of(&|d| d < 0.0));
        // the first end of a quadrilateral's diagonal: the same for all tetrahedra around it
        inside.sort_by_key(|&n| self.rank(n));
        match (&inside[..], &on[..], &outside[..]) {
            ([], _, _) => {}
            (_, _, []) => {
                let t = nodes.map(|n| self.point(n));
                self.add(t);
            }
            ([p], _, _) => {
                let p = *p;
                let others: Vec<Node> = nodes.iter().copied().filter(|n| *n != p).collect();
                let ends = [0, 1, 2].map(|k| {
                    let n = others[k];
                    if depth(n) == 0.0 { [n, n] } else { [p, n] }
                });
                let [a, b, c] = ends.map(|e| self.vertex(e));
                let p = self.point(p);
                self.add([p, a, b, c]);
            }
            ([p, q], [z], [n]) => {
                let (cp, cq) = (self.vertex([*p, *n]), self.vertex([*q, *n]));
                let [p, q, z] = [*p, *q, *z].map(|n| self.point(n));
                self.add([p, q, cq, z]);
                self.add([p, cq, cp, z]);
            }
            ([p, q], [], [m, n]) => {
                let [pm, pn] = [*m, *n].map(|n| self.vertex([*p, n]));
                let [qm, qn] = [*m, *n].map(|n| self.vertex([*q, n]));
                let [p, q] = [*p, *q].map(|n| self.point(n));
                self.add([p, q, qm, qn]);
                let x = |i: u32| self.mesh.positions[i as usize];
                // the quadrilateral on the surface belongs to this tetrahedron alone
                if x(pm).distance(x(qn)) < x(pn).distance(x(qm)) {
                    self.add([p, pm, qm, qn]);
                    self.add([p, pm, qn, pn]);
                } else {
                    self.add([p, pm, qm, pn]);
                    self.add([p, pn, qm, qn]);
                }
            }
            ([p, q, r], _, [n]) => {
                let [cp, cq, cr] = [*p, *q, *r].map(|i| self.vertex([i, *n]));
                let [p, q, r] = [*p, *q, *r].map(|n| self.point(n));
                // diagonals p–cq, p–cr, q–cr
                self.add([p, q, r, cr]);
                self.add([p, q, cq, cr]);
                self.add([p, cp, cq, cr]);
            }
            _ => {}
        }
    }

    /// Middles of cells before corners, then alternating along the axes.
    fn rank(&self, n: Node) -> (bool, u32, Node) {
        let size = self.lattice.size;
        let n = n as i32;
        let p = [n % size[0], n / size[0] % size[1], n / (size[0] * size[1])];
        let parity = p.iter().map(|x| x / 2).sum::<i32>() % 2;
        (p[0] % 2 == 0, parity as u32, n as Node)
    }

    fn point(&mut self, n: Node) -> u32 {
        self.vertex([n, n])
    }

    fn vertex(&mut self, [a, b]: [Node; 2]) -> u32 {
        let key = [a.min(b), a.max(b)];
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let place = match self.lattice.cuts.get(&key) {
            Some(cut) => *cut,
            None => self.lattice.at[a as usize],
        };
        let new = self.mesh.positions.len() as u32;
        self.mesh.positions.push(place);
        self.known.insert(key, new);
        new
    }

    fn add(&mut self, t: [u32; 4]) {
        let [a, b, c, d] = t;
        let upright = volume(&self.mesh.positions, &t) > 0.0;
        self.mesh.tetrahedra.push(if upright { t } else { [a, c, b, d] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every inner face belongs to two tetrahedra, the surface is closed, and it encloses the volume.
    fn check(mesh: &SolidMesh, volume: f64, error: f64, angle: f64) {
        let quality = mesh.quality();
        assert!((quality.volume / volume - 1.0).abs() < error, "{quality:?}, {volume}");
        assert!(quality.smallest_angle > angle && quality.smallest_volume > 0.0, "{quality:?}");
        let surface = mesh.surface();
        let x = |i: u32| mesh.positions[i as usize];
        let enclosed: f64 = surface.iter().map(|&[a, b, c]| x(a).dot(x(b).cross(x(c))) / 6.0).sum();
        assert!((enclosed / quality.volume - 1.0).abs() < 1e-12, "{enclosed}");
        let mut edges: Vec<[u32; 2]> =
            surface.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        edges.sort_unstable();
        for [a, b] in &edges {
            assert!(edges.binary_search(&[*b, *a]).is_ok(), "the surface is open");
        }
    }

    #[test]
    fn round_shapes_are_filled_with_good_tetrahedra() {
        let pi = std::f64::consts::PI;
        for spacing in [0.3, 0.25, 0.17, 0.1] {
            let ball = SolidMesh::ball(0.5, spacing).unwrap();
            check(&ball, pi / 6.0, 1.2 * spacing * spacing / 0.25, 10.0);
            let torus = SolidMesh::torus(1.0, 0.4, spacing).unwrap();
            check(&torus, 2.0 * pi * pi * 0.16, 1.2 * spacing * spacing / 0.16, 10.0);
        }
        let cylinder = SolidMesh::cylinder(0.5, 1.0, 0.1).unwrap();
        check(&cylinder, 0.25 * pi, 0.05, 3.0);
        let tube = SolidMesh::tube(0.5, 0.25, 1.0, 0.08).unwrap();
        check(&tube, pi * (0.25 - 0.0625), 0.06, 3.0);
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        for spacing in [0.0, -1.0, f64::NAN, 1e-9] {
            assert!(SolidMesh::ball(0.5, spacing).is_err(), "{spacing}");
        }
        assert!(SolidMesh::ball(-1.0, 0.1).is_err());
        assert!(SolidMesh::tube(0.2, 0.3, 1.0, 0.1).is_err());
        assert!(stuff(&|_| 1.0, Vec3::ONE, 0.5).is_err());
    }
}
