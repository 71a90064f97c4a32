//! Pairs of particle and triangle, and of two edges, that meet on straight ways from `x0` to `x1`.
//!
//! Time goes on in steps that cannot miss a meeting: the plane square to the shortest way between the
//! features keeps them apart until the first corner of one reaches it, and so long nothing needs to
//! be looked at; then there is a new shortest way, and so on. (The additive steps of Li, Kaufman and
//! Jiang 2021 bound the same time from the greatest relative motion; the plane gives longer steps and
//! lets go of features that slide past each other.) A pair that comes within a millionth of its size
//! counts as meeting.

use super::bvh::Box32;
use super::tree::{Chunk, Tree};
use super::{Hit, NO_BODY};
use crate::math::closest::{point_triangle, segment_segment};
use crate::math::{Vec3, tangents};
use crate::state::cloth::HitKind;

/// Distance at which features meet, as a share of their size.
const MEETING: f64 = 1e-6;

/// Steps after which a pair that still comes nearer counts as meeting.
const STEPS: usize = 512;

/// Share of all distances at rest that a smooth part keeps in which nothing can meet.
const PROVEN: f64 = 0.05;

impl Tree {
    /// Finds all pairs that meet while every particle moves straight from `x0` to `x1`, the first time
    /// each. Pairs that share a particle are left out. Replaces what was in `out`.
    ///
    /// The normal points to the side where things were at `x0`; `time` is the share of the way at
    /// which they meet, and `distance` the one along the normal at `x1`, negative for those that went
    /// through. A pair that touches at `x0` already is reported if it comes nearer.
    pub fn crossings(&mut self, x0: &[Vec3], x1: &[Vec3], out: &mut Vec<Hit>) {
        if self.knows_ways(x0, x1) {
            return self.crossings_of_known(x0, x1, out);
        }
        self.known.fresh = false;
        self.refit(x0, x1, |_| 0.0);
        self.patches.prove(&self.triangles, x0, Some(x1), PROVEN);
        self.gather(self.vertex_and_edge_leaves(), out, |tree, leaves, edges, chunk| {
            let ways = Ways { tree, x0, x1 };
            let hits = &mut chunk.hits;
            if edges {
                tree.edge_pairs(leaves, |e, f| hits.extend(ways.edges(e, f)));
            } else {
                tree.vertex_triangle_pairs(leaves, |v, t| hits.extend(ways.vertex_triangle(v, t)));
            }
        });
    }

    /// Whether the last search for near pairs began at `x0` and went over everything that can meet:
    /// no particle leaves the box it had there, but for what all have in common, and what was proven
    /// smooth stays so. Puts the boxes of the ways in place.
    fn knows_ways(&mut self, x0: &[Vec3], x1: &[Vec3]) -> bool {
        let count = x0.len();
        if !self.known.fresh || self.known.x != x0 || x1.len() != count || self.rest.len() != count
        {
            return false;
        }
        let common =
            x0.iter().zip(x1).fold(Vec3::ZERO, |sum, (a, b)| sum + (*b - *a)) / count.max(1) as f64;
        self.boxes.resize(count, Box32::EMPTY);
        let ends = x0.iter().zip(x1);
        for ((way, known), (a, b)) in self.boxes.iter_mut().zip(&self.known.boxes).zip(ends) {
            *way = Box32::around(*a, *b - common, 0.0);
            // what was left out then, or is nowhere now, is in no box
            if *known == Box32::EMPTY || *way == Box32::EMPTY || !known.holds(way) {
                return false;
            }
        }
        self.patches.still_hold(&self.triangles, x1, PROVEN)
    }

    /// [`Tree::crossings`] among the pairs that are known, in the same order.
    fn crossings_of_known(&mut self, x0: &[Vec3], x1: &[Vec3], out: &mut Vec<Hit>) {
        self.gather(self.vertex_and_edge_leaves(), out, |tree, _, edges, chunk| {
            let ways = Ways { tree, x0, x1 };
            let of = |i: u32| tree.boxes[i as usize];
            let Chunk { hits, pairs } = chunk;
            for &[a, b] in &*pairs {
                if edges {
                    let [e, f] = [a, b].map(|e| {
                        let [i, j] = tree.edges[e as usize];
                        of(i).join(&of(j))
                    });
                    if e.meets(&f) {
                        hits.extend(ways.edges(a, b));
                    }
                } else {
                    let [i, j, k] = tree.triangles[b as usize];
                    if of(i).join(&of(j)).join(&of(k)).meets(&of(a)) {
                        hits.extend(ways.vertex_triangle(a, b));
                    }
                }
            }
        });
    }
}

struct Ways<'a> {
    tree: &'a Tree,
    x0: &'a [Vec3],
    x1: &'a [Vec3],
}

/// Four moving points: the first one or two against the others.
#[derive(Clone, Copy)]
struct Four {
    x0: [Vec3; 4],
    x1: [Vec3; 4],
    /// Two edges, or a point and a triangle.
    edges: bool,
}

impl Ways<'_> {
    fn vertex_triangle(&self, v: u32, t: u32) -> Option<Hit> {
        let [a, b, c] = self.tree.triangles[t as usize];
        self.meet([v, a, b, c], false, [v, t, 0])
    }

    fn edges(&self, e: u32, f: u32) -> Option<Hit> {
        let ([a, b], [c, d]) = (self.tree.edges[e as usize], self.tree.edges[f as usize]);
        self.meet([a, b, c, d], true, [e, f, 0])
    }

    fn meet(&self, particles: [u32; 4], edges: bool, feature: [u32; 3]) -> Option<Hit> {
        let four = Four {
            x0: particles.map(|i| self.x0[i as usize]),
            x1: particles.map(|i| self.x1[i as usize]),
            edges,
        };
        let meeting = four.meeting()?;
        let distance = meeting.normal.dot(combine(&four.x1, meeting.weights));
        Some(Hit {
            kind: if edges { HitKind::EdgeEdge } else { HitKind::VertexTriangle },
            particles,
            weights: meeting.weights,
            count: 4,
            body: NO_BODY,
            point: Vec3::ZERO,
            normal: meeting.normal,
            distance,
            time: meeting.time,
            feature,
        })
    }
}

struct Meeting {
    time: f64,
    weights: [f64; 4],
    normal: Vec3,
}

fn combine(x: &[Vec3; 4], w: [f64; 4]) -> Vec3 {
    x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
}

impl Four {
    /// Weights of the nearest points of the two sides.
    fn nearest(&self, x: &[Vec3; 4]) -> [f64; 4] {
        if self.edges {
            let [s, t] = segment_segment([x[0], x[1]], [x[2], x[3]]);
            [1.0 - s, s, t - 1.0, -t]
        } else {
            let w = point_triangle(x[0], [x[1], x[2], x[3]]);
            [1.0, -w[0], -w[1], -w[2]]
        }
    }

    /// Unit normal of the plane that the features span; none where they are parallel or flat.
    fn plane(&self, x: &[Vec3; 4]) -> Option<Vec3> {
        let n = if self.edges {
            (x[1] - x[0]).cross(x[3] - x[2])
        } else {
            (x[2] - x[1]).cross(x[3] - x[1])
        };
        n.try_normalize()
    }

    /// How long (a share of the way) a plane square to `axis` keeps more than `touch` between the
    /// sides at `x` and on: the difference of a point of either side moves straight, within the hull
    /// of the differences of the corners. 0 where it does not at `x`.
    fn apart_along(&self, axis: Vec3, x: &[Vec3; 4], touch: f64) -> f64 {
        let at = x.map(|p| axis.dot(p));
        let rate: [f64; 4] = std::array::from_fn(|k| axis.dot(self.x1[k] - self.x0[k]));
        let split = if self.edges { 2 } else { 1 };
        let mut time = f64::INFINITY;
        for i in 0..split {
            for j in split..4 {
                let (gap, rate) = (at[i] - at[j] - touch, rate[i] - rate[j]);
                if gap.is_nan() || gap <= 0.0 {
                    return 0.0;
                }
                if rate < 0.0 {
                    time = time.min(gap / -rate);
                }
            }
        }
        time
    }

    /// Size of the features and of their ways.
    fn size(&self) -> f64 {
        let x = &self.x0;
        let longest = if self.edges {
            (x[1] - x[0]).length_squared().max((x[3] - x[2]).length_squared())
        } else {
            (x[2] - x[1]).length_squared().max((x[3] - x[1]).length_squared())
        };
        longest.sqrt()
    }

    fn meeting(&self) -> Option<Meeting> {
        let touch = MEETING * self.size();
        // most pairs pass on either side of the plane of their features; by half the touching distance, so that
        // rounding does not miss those that meet just at the end
        if let Some(n) = self.plane(&self.x0)
            && (self.apart_along(n, &self.x0, 0.5 * touch) > 1.0
                || self.apart_along(-n, &self.x0, 0.5 * touch) > 1.0)
        {
            return None;
        }
        let mut time = 0.0;
        let mut x = self.x0;
        let mut weights = self.nearest(&x);
        for _ in 0..STEPS {
            let between = combine(&x, weights);
            let distance = between.length();
            if distance.is_nan() {
                return None;
            }
            if distance <= touch {
                break;
            }
            // half the touching distance is kept, so that a step never ends beyond the meeting
            let step = self.apart_along(between / distance, &x, 0.5 * touch);
            time += step;
            if time > 1.0 {
                return None;
            }
            x = std::array::from_fn(|k| self.x0[k] + (self.x1[k] - self.x0[k]) * time);
            weights = self.nearest(&x);
        }
        let normal = self.side(&x, weights, touch);
        let ends = normal.dot(combine(&self.x1, weights));
        // touching from the start and leaving
        if time == 0.0 && ends >= normal.dot(combine(&self.x0, weights)) {
            return None;
        }
        Some(Meeting { time, weights, normal })
    }

    /// The normal at the meeting, to the side of the start.
    fn side(&self, x: &[Vec3; 4], weights: [f64; 4], touch: f64) -> Vec3 {
        let before = combine(&self.x0, weights);
        let any = || tangents((x[1] - x[0]).try_normalize().unwrap_or(Vec3::Y)).0;
        let inner = weights.iter().all(|&w| w != 0.0);
        // between corners and ends the way they come is as good as any normal
        let come = before.try_normalize().filter(|_| before.length() > touch);
        let normal = match (self.plane(x), come) {
            (Some(n), Some(_)) if inner && n.dot(before).abs() > touch => n,
            (_, Some(come)) => come,
            (Some(n), None) => n,
            (None, None) => any(),
        };
        if normal.dot(before) < 0.0 { -normal } else { normal }
    }
}
