//! Pairs of particle and triangle, and of two edges, that are near each other.
//!
//! Each place is reported once: a particle nearest to an edge or corner of a triangle is reported for
//! the one triangle that speaks for it, and edges only where they pass each other between their ends.

use super::tree::{Chunk, Tree};
use super::{Hit, NO_BODY};
use crate::math::closest::{point_triangle, segment_segment};
use crate::math::{Vec3, tangents};
use crate::state::cloth::HitKind;

/// Share of a triangle or edge below which two features count as touching, where the direction
/// between their nearest points is rounding.
const TOUCHING: f64 = 1e-9;

/// Squared sine of the angle between edges that count as parallel.
const PARALLEL: f64 = 1e-14;

impl Tree {
    /// Finds all pairs nearer than the sum of their radii (half the thickness, m) and `margin` (m).
    /// A negative radius leaves a particle out. Replaces what was in `out`.
    ///
    /// Pairs that share a particle are left out, and so are those of one piece of cloth that are
    /// nearer than the sum of their radii at rest already. Other pairs of one piece count only once
    /// they come nearer than half their distance at rest, or than their radii: neighbours in flat
    /// cloth do not, whatever the margin. (Where a smooth part of a piece keeps half of all its
    /// distances at rest, none count.) The normal points to the side where things are now.
    ///
    /// `ahead` is where particles are likely to go, but for a motion that all have in common; what it
    /// says only makes [`Tree::crossings`] from `x` on faster.
    pub fn proximity(
        &mut self,
        (x, ahead): (&[Vec3], &[Vec3]),
        radius: &[f64],
        margin: f64,
        out: &mut Vec<Hit>,
    ) {
        let of = |i: usize| radius.get(i).copied().unwrap_or(-1.0);
        self.refit(x, ahead, |i| if of(i) >= 0.0 { of(i) + 0.5 * margin } else { -1.0 });
        self.patches.prove(&self.triangles, x, None, 0.5);
        self.gather(self.vertex_and_edge_leaves(), out, |tree, leaves, edges, chunk| {
            let near = Near { tree, x, radius, margin };
            let Chunk { hits, pairs } = chunk;
            pairs.clear();
            if edges {
                tree.edge_pairs(leaves, |e, f| {
                    pairs.push([e, f]);
                    hits.extend(near.edges(e, f));
                });
            } else {
                tree.vertex_triangle_pairs(leaves, |v, t| {
                    pairs.push([v, t]);
                    hits.extend(near.vertex_triangle(v, t));
                });
            }
        });
        self.known.fresh = true;
        self.known.x.clear();
        self.known.x.extend_from_slice(x);
        self.known.boxes.clone_from(&self.boxes);
    }
}

struct Near<'a> {
    tree: &'a Tree,
    x: &'a [Vec3],
    radius: &'a [f64],
    margin: f64,
}

impl Near<'_> {
    fn radius(&self, particles: &[u32]) -> f64 {
        particles.iter().map(|&i| self.radius[i as usize]).fold(0.0, f64::max)
    }

    /// Whether a pair at `distance` counts, given its thickness and, where it is of one piece, its
    /// distance at rest.
    fn counts(&self, distance: f64, thickness: f64, at_rest: impl FnOnce() -> Option<f64>) -> bool {
        distance < thickness + self.margin
            && at_rest()
                .is_none_or(|rest| rest >= thickness && distance < thickness.max(0.5 * rest))
    }

    fn vertex_triangle(&self, v: u32, t: u32) -> Option<Hit> {
        let corners = self.tree.triangles[t as usize];
        let p = self.x[v as usize];
        let [a, b, c] = corners.map(|i| self.x[i as usize]);
        let reach = self.radius(&[v]) + self.radius(&corners) + self.margin;
        // most pairs are beside each other: far from the plane, or from the middle
        let ap = p - a;
        let area = (b - a).cross(c - a);
        let height = ap.dot(area);
        if height * height > reach * reach * area.length_squared() * (1.0 + 1e-9) {
            return None;
        }
        let w = point_triangle(p, [a, b, c]);
        let d = ap - (b - a) * w[1] - (c - a) * w[2];
        let distance = d.length();
        if distance.is_nan() || distance >= reach || !self.speaks(v, t, w) {
            return None;
        }
        let thickness = reach - self.margin;
        let one = self.tree.piece[v as usize] == self.tree.piece[corners[0] as usize];
        let at_rest = || {
            let p = self.tree.rest[v as usize];
            let r = corners.map(|i| self.tree.rest[i as usize]);
            let w = point_triangle(p, r);
            one.then(|| (p - r[0] * w[0] - r[1] * w[1] - r[2] * w[2]).length())
        };
        if !self.counts(distance, thickness, at_rest) {
            return None;
        }
        let size = (b - a).length().max((c - a).length());
        let normal = if distance > TOUCHING * size {
            d / distance
        } else {
            let n = area.try_normalize().unwrap_or(Vec3::Y);
            if d.dot(n) < 0.0 { -n } else { n }
        };
        Some(Hit {
            kind: HitKind::VertexTriangle,
            particles: [v, corners[0], corners[1], corners[2]],
            weights: [1.0, -w[0], -w[1], -w[2]],
            count: 4,
            body: NO_BODY,
            point: Vec3::ZERO,
            normal,
            distance: normal.dot(d),
            time: 0.0,
            feature: [v, t, 0],
        })
    }

    /// Whether this triangle reports the place with these weights.
    fn speaks(&self, v: u32, t: u32, w: [f64; 3]) -> bool {
        let speaks = self.tree.speaks[t as usize];
        match [w[0] > 0.0, w[1] > 0.0, w[2] > 0.0] {
            [true, true, true] => true,
            [true, true, false] => speaks & 8 != 0,
            [false, true, true] => speaks & 16 != 0,
            [true, false, true] => speaks & 32 != 0,
            on => {
                let k = on.iter().position(|&on| on).unwrap_or(0);
                // two particles: once for the two of them
                speaks & (1 << k) != 0 && v < self.tree.triangles[t as usize][k]
            }
        }
    }

    fn edges(&self, e: u32, f: u32) -> Option<Hit> {
        let ([i, j], [k, l]) = (self.tree.edges[e as usize], self.tree.edges[f as usize]);
        let at = |i: u32| self.x[i as usize];
        let (a, b, c, d) = (at(i), at(j), at(k), at(l));
        let (u, v, w) = (b - a, d - c, a - c);
        // Where the lines pass each other: s = (v×w)·n/n², t = (u×w)·n/n² with n = u×v. Most pairs
        // are beside each other: passed beyond an end. Of parallel edges an end is as near as any.
        let cross = u.cross(v);
        let det = cross.length_squared();
        let (s, t) = (v.cross(w).dot(cross), u.cross(w).dot(cross));
        let inside = |s: f64| s > 0.0 && s < det;
        if !(inside(s) && inside(t)) || det <= PARALLEL * u.length_squared() * v.length_squared() {
            return None;
        }
        let (s, t) = (s / det, t / det);
        let between = w + u * s - v * t;
        let distance = between.length();
        let reach = self.radius(&[i, j]) + self.radius(&[k, l]) + self.margin;
        if distance.is_nan() || distance >= reach {
            return None;
        }
        let one = self.tree.piece[i as usize] == self.tree.piece[k as usize];
        let at_rest = || {
            let [a, b, c, d] = [i, j, k, l].map(|i| self.tree.rest[i as usize]);
            let [s, t] = segment_segment([a, b], [c, d]);
            one.then(|| (a + (b - a) * s - c - (d - c) * t).length())
        };
        if !self.counts(distance, reach - self.margin, at_rest) {
            return None;
        }
        let size = u.length().max(v.length());
        let normal = if distance > TOUCHING * size {
            between / distance
        } else {
            let any = || tangents(u.try_normalize().unwrap_or(Vec3::Y)).0;
            let n = cross.try_normalize().unwrap_or_else(any);
            if between.dot(n) < 0.0 { -n } else { n }
        };
        Some(Hit {
            kind: HitKind::EdgeEdge,
            particles: [i, j, k, l],
            weights: [1.0 - s, s, t - 1.0, -t],
            count: 4,
            body: NO_BODY,
            point: Vec3::ZERO,
            normal,
            distance: normal.dot(between),
            time: 0.0,
            feature: [e, f, 0],
        })
    }
}
