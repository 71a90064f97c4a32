//! Pieces of two moving shapes that may meet in a window of time, found tree against tree.
//!
//! The boxes of two nodes that are d apart along n at the start of the window, whose points approach along
//! n by at most μ per unit of time, hold nothing that touches before d/μ (see `time_of_impact.rs`). Boxes
//! are compared in the axes of the second shape.

use parry3d_f64::partitioning::BvhNode;

use super::narrow::tree;
use super::time_of_impact::Path;
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::{Aabb, Shape};

/// A part of the time of a step, and the distance at which shapes touch, m.
pub(super) struct Window {
    pub from: f64,
    pub to: f64,
    pub target: f64,
}

/// Pairs of pieces, and memory for them.
#[derive(Default)]
pub(super) struct MeetingPieces {
    /// A time before which they do not touch, and the two pieces; the soonest first.
    pub pairs: Vec<(f64, u32, u32)>,
}

impl MeetingPieces {
    /// Finds all pairs of pieces that may touch in the window.
    pub fn find(&mut self, [(a, path_a), (b, path_b)]: [(&Shape, &Path); 2], window: &Window) {
        let bound = Bound::new([path_a, path_b], window);
        let whole = |shape: &Shape| shape.aabb(&Pose::IDENTITY);
        let may = |a: &Aabb, b: &Aabb| bound.soonest(a, b) < window.to;
        self.pairs.clear();
        match (tree(a), tree(b)) {
            (None, None) => self.pairs.push((window.from, 0, 0)),
            (Some(tree), None) => {
                let other = whole(b);
                let leaves = tree.leaves(|node: &BvhNode| may(&node.aabb(), &other));
                let boxes = leaves.filter_map(|i| Some((i, tree.leaf_node(i)?.aabb())));
                self.pairs.extend(boxes.map(|(i, leaf)| (bound.soonest(&leaf, &other), i, 0)));
            }
            (None, Some(tree)) => {
                let other = whole(a);
                let leaves = tree.leaves(|node: &BvhNode| may(&other, &node.aabb()));
                let boxes = leaves.filter_map(|j| Some((j, tree.leaf_node(j)?.aabb())));
                self.pairs.extend(boxes.map(|(j, leaf)| (bound.soonest(&other, &leaf), 0, j)));
            }
            (Some(tree_a), Some(tree_b)) => {
                let met = tree_a.leaf_pairs(tree_b, |a, b| may(&a.aabb(), &b.aabb()));
                self.pairs.extend(met.filter_map(|(i, j)| {
                    let (a, b) = (tree_a.leaf_node(i)?.aabb(), tree_b.leaf_node(j)?.aabb());
                    Some((bound.soonest(&a, &b), i, j))
                }));
            }
        }
        let order = |x: &(f64, u32, u32), y: &(f64, u32, u32)| {
            x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2)))
        };
        self.pairs.sort_unstable_by(order);
    }
}

/// How soon boxes of two shapes can touch.
struct Bound {
    from: f64,
    target: f64,
    /// From the axes and origin of a to those of b, and the absolute values of the rotation.
    turn: Mat3,
    size: Mat3,
    offset: Vec3,
    /// Velocity of a from b, and what turns both, in axes of b.
    velocity: Vec3,
    turns: [Vec3; 2],
    centers: [Vec3; 2],
}

impl Bound {
    fn new([a, b]: [&Path; 2], window: &Window) -> Bound {
        let (pose_a, pose_b) = (a.at(window.from), b.at(window.from));
        let to_b = pose_b.rotation.inverse();
        let turn = Mat3::from_quat(to_b * pose_a.rotation);
        Bound {
            from: window.from,
            target: window.target,
            turn,
            size: Mat3::from_cols(turn.x_axis.abs(), turn.y_axis.abs(), turn.z_axis.abs()),
            offset: to_b * (pose_a.translation - pose_b.translation),
            velocity: to_b * (a.velocity - b.velocity),
            turns: [to_b * a.turn, to_b * b.turn],
            centers: [a.center_local, b.center_local],
        }
    }

    /// A time before which nothing in two boxes touches; infinite if it never does.
    fn soonest(&self, a: &Aabb, b: &Aabb) -> f64 {
        let middle = self.turn * a.center() + self.offset;
        let half = self.size * a.half_extents();
        let between = b.center() - middle;
        let beyond = (between.abs() - half - b.half_extents()).max(Vec3::ZERO);
        let distance = beyond.length();
        let ahead = distance - self.target;
        if ahead <= 0.0 {
            return self.from;
        }
        let n = beyond.copysign(between) / distance;
        let reach = |bounds: &Aabb, center: Vec3| {
            ((bounds.center() - center).abs() + bounds.half_extents()).length()
        };
        let approach = n.dot(self.velocity)
            + self.turns[0].cross(n).length() * reach(a, self.centers[0])
            + self.turns[1].cross(n).length() * reach(b, self.centers[1]);
        if approach <= 0.0 { f64::INFINITY } else { self.from + ahead / approach }
    }
}
