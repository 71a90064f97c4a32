//! Counting where cloth runs through cloth.

use super::bvh::{Box32, NOTHING, Node};
use super::tree::Tree;
use crate::math::Vec3;
use crate::parallel::pool::prelude::*;

impl Tree {
    /// Number of pairs of an edge and a triangle without common particles that cross.
    pub fn intersections(&mut self, x: &[Vec3]) -> usize {
        self.refit(x, x, |_| 0.0);
        let tree = &*self;
        let count = |(leaf, boxes): (&Node, &[Box32; 4])| {
            let mut count = 0;
            tree.triangle_tree.leaves_near(&leaf.whole(), 0, None, |near| {
                let near = &tree.triangle_tree.leaves[near as usize];
                for k in (0..4).filter(|&k| leaf.child[k] != NOTHING) {
                    let edge = tree.edges[leaf.child[k] as usize];
                    let mut bits = near.meets(&boxes[k]);
                    while bits != 0 {
                        let t = near.child[bits.trailing_zeros() as usize];
                        bits &= bits - 1;
                        count += usize::from(crosses(x, edge, tree.triangles[t as usize]));
                    }
                }
            });
            count
        };
        let leaves = tree.edge_tree.leaves.par_iter().zip(&tree.edge_tree.boxes);
        leaves.with_min_len(64).map(count).sum()
    }
}

/// The same by looking at every pair: slow, for checking.
pub fn intersections_brute_force(x: &[Vec3], triangles: &[[u32; 3]], edges: &[[u32; 2]]) -> usize {
    let known = |i: &u32| (*i as usize) < x.len();
    let triangles: Vec<[u32; 3]> =
        triangles.iter().copied().filter(|t| t.iter().all(known)).collect();
    edges
        .par_iter()
        .filter(|e| e.iter().all(known))
        .map(|&e| triangles.iter().filter(|&&t| crosses(x, e, t)).count())
        .sum()
}

/// Whether an edge runs through a triangle: its ends lie on different sides of the plane, and its
/// line passes all three sides of the triangle the same way round.
fn crosses(x: &[Vec3], [i, j]: [u32; 2], corners: [u32; 3]) -> bool {
    if corners.contains(&i) || corners.contains(&j) {
        return false;
    }
    let (p, q) = (x[i as usize], x[j as usize]);
    let [a, b, c] = corners.map(|k| x[k as usize] - p);
    let d = q - p;
    // six times the volumes that the edge spans with the sides of the triangle
    let (va, vb, vc) = (d.dot(b.cross(c)), d.dot(c.cross(a)), d.dot(a.cross(b)));
    // in flat cloth all of them are zero, and their signs are rounding
    let size = a.length_squared().max(b.length_squared()).max(c.length_squared());
    let least = 1e-12 * size * d.length();
    let one_way =
        (va > least && vb > least && vc > least) || (va < -least && vb < -least && vc < -least);
    if !one_way {
        return false;
    }
    let area = (b - a).cross(c - a);
    let (from, to) = (-area.dot(a), area.dot(d - a));
    (from > 0.0) != (to > 0.0)
}
