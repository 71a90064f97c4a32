//! A tree of boxes for questions: rays, regions, nearest points.
//!
//! Every node holds the boxes of four children side by side, so that one pass of plain arithmetic over
//! arrays tests all of them. It is built from the top by the surface area heuristic over bins
//! (Wald 2007), and refitted from the bottom when its boxes have moved. What a question answers never
//! depends on how the tree was built: callers break ties by what was hit.

use super::Aabb;
use crate::math::Vec3;

/// Children of a node.
const WIDE: usize = 4;
/// Bins of a split.
const BINS: usize = 12;
/// Below this depth boxes are halved by number, which bounds the stack.
const SAH_DEPTH: usize = 24;
/// Waiting nodes of a traversal: three for each of at most 24 + 32 levels.
const STACK: usize = 3 * (SAH_DEPTH + 32) + 4;
/// No child.
const NOTHING: u32 = u32::MAX;
/// Room for the rounding of three products and sums.
const ROUNDING: f64 = 1.0 + 1e-14;

/// Boxes in a tree; see the head of this file.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxTree {
    nodes: Vec<Node>,
    /// Numbers of the boxes, leaf by leaf.
    order: Vec<u32>,
    /// Sum of the surface areas of all children when it was built.
    built: f64,
}

#[derive(Clone, Debug)]
struct Node {
    /// Least and largest coordinates of the children: axis, then child.
    bounds: [[[f64; WIDE]; 3]; 2],
    /// Index of an inner node, or where a leaf begins in `order`.
    child: [u32; WIDE],
    /// Boxes of a leaf; 0: an inner node.
    count: [u32; WIDE],
}

/// A ray as a tree reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeRay {
    origin: Vec3,
    inverse: Vec3,
}

impl TreeRay {
    pub fn new(origin: Vec3, direction: Vec3) -> TreeRay {
        // a component of zero must not make 0·∞
        let safe = |d: f64| if d.abs() < 1e-200 { 1e200_f64.copysign(d) } else { 1.0 / d };
        let inverse = Vec3::new(safe(direction.x), safe(direction.y), safe(direction.z));
        TreeRay { origin, inverse }
    }
}

impl Node {
    const EMPTY: Node = Node {
        bounds: [[[f64::INFINITY; WIDE]; 3], [[f64::NEG_INFINITY; WIDE]; 3]],
        child: [NOTHING; WIDE],
        count: [0; WIDE],
    };

    fn set(&mut self, lane: usize, bounds: &Aabb) {
        for axis in 0..3 {
            self.bounds[0][axis][lane] = bounds.mins[axis];
            self.bounds[1][axis][lane] = bounds.maxs[axis];
        }
    }

    fn lane(&self, lane: usize) -> Aabb {
        let corner = |side: usize| {
            let b = &self.bounds[side];
            Vec3::new(b[0][lane], b[1][lane], b[2][lane])
        };
        Aabb { mins: corner(0), maxs: corner(1) }
    }

    fn whole(&self) -> Aabb {
        (0..WIDE).filter(|&i| self.child[i] != NOTHING).fold(nowhere(), |sum, i| {
            let b = self.lane(i);
            Aabb { mins: sum.mins.min(b.mins), maxs: sum.maxs.max(b.maxs) }
        })
    }

    /// Where a ray enters each child; infinite where it does not before `most`.
    #[inline(always)]
    fn enter(&self, ray: &TreeRay, most: f64) -> [f64; WIDE] {
        let (mut near, mut far) = ([0.0_f64; WIDE], [most; WIDE]);
        for axis in 0..3 {
            let (o, inverse) = (ray.origin[axis], ray.inverse[axis]);
            let back = usize::from(inverse < 0.0);
            let (low, high) = (&self.bounds[back][axis], &self.bounds[1 - back][axis]);
            for i in 0..WIDE {
                let (t0, t1) = ((low[i] - o) * inverse, (high[i] - o) * inverse);
                near[i] = if t0 > near[i] { t0 } else { near[i] };
                far[i] = if t1 < far[i] { t1 } else { far[i] };
            }
        }
        std::array::from_fn(|i| if near[i] <= far[i] * ROUNDING { near[i] } else { f64::INFINITY })
    }

    /// Square of the distance from a point to each child.
    #[inline(always)]
    fn apart(&self, point: Vec3) -> [f64; WIDE] {
        let mut sum = [0.0; WIDE];
        for axis in 0..3 {
            let p = point[axis];
            for (i, sum) in sum.iter_mut().enumerate() {
                let d = (self.bounds[0][axis][i] - p).max(p - self.bounds[1][axis][i]).max(0.0);
                *sum += d * d;
            }
        }
        sum
    }
}

/// The box that holds nothing.
fn nowhere() -> Aabb {
    Aabb { mins: Vec3::splat(f64::INFINITY), maxs: Vec3::splat(f64::NEG_INFINITY) }
}

fn area(b: &Aabb) -> f64 {
    let e = (b.maxs - b.mins).max(Vec3::ZERO);
    e.x * e.y + e.y * e.z + e.z * e.x
}

fn around(boxes: &[Aabb], order: &[u32]) -> Aabb {
    order.iter().fold(nowhere(), |sum, &i| {
        let b = &boxes[i as usize];
        Aabb { mins: sum.mins.min(b.mins), maxs: sum.maxs.max(b.maxs) }
    })
}

impl BoxTree {
    /// A tree of boxes with at most `leaf` of them in a leaf. `members` are the numbers of those that
    /// count.
    pub fn build(boxes: &[Aabb], members: impl Iterator<Item = u32>, leaf: usize) -> BoxTree {
        let mut tree = BoxTree { nodes: Vec::new(), order: members.collect(), built: 0.0 };
        if !tree.order.is_empty() {
            let mut order = std::mem::take(&mut tree.order);
            let count = order.len();
            tree.node(boxes, &mut order, (0, count), (leaf.max(1), 0));
            tree.order = order;
            tree.built = tree.area();
        }
        tree
    }

    fn node(
        &mut self,
        boxes: &[Aabb],
        order: &mut [u32],
        all: (usize, usize),
        (leaf, depth): (usize, usize),
    ) -> u32 {
        let index = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        let mut parts = vec![all];
        while parts.len() < WIDE {
            // the part that costs most is split next
            let cost = |&(from, to): &(usize, usize)| {
                if to - from <= leaf {
                    -1.0
                } else {
                    area(&around(boxes, &order[from..to])) * (to - from) as f64
                }
            };
            let costs: Vec<f64> = parts.iter().map(cost).collect();
            let (worst, most) = costs
                .iter()
                .enumerate()
                .fold((0, -1.0), |w, (i, &c)| if c > w.1 { (i, c) } else { w });
            if most < 0.0 {
                break;
            }
            let (from, to) = parts[worst];
            let middle = from + split(boxes, &mut order[from..to], depth < SAH_DEPTH);
            parts[worst] = (from, middle);
            parts.insert(worst + 1, (middle, to));
        }
        for (lane, (from, to)) in parts.into_iter().enumerate() {
            let bounds = around(boxes, &order[from..to]);
            let (child, count) = if to - from <= leaf {
                (from as u32, (to - from) as u32)
            } else {
                (self.node(boxes, order, (from, to), (leaf, depth + 1)), 0)
            };
            let node = &mut self.nodes[index];
            node.set(lane, &bounds);
            (node.child[lane], node.count[lane]) = (child, count);
        }
        index as u32
    }

    /// Takes over where its boxes are now. Says whether it has become so bad that it should be built anew.
    pub fn refit(&mut self, boxes: &[Aabb]) -> bool {
        for index in (0..self.nodes.len()).rev() {
            for lane in 0..WIDE {
                let (child, count) = (self.nodes[index].child[lane], self.nodes[index].count[lane]);
                if child == NOTHING {
                    continue;
                }
                let bounds = match count {
                    0 => self.nodes[child as usize].whole(),
                    _ => around(boxes, &self.order[child as usize..(child + count) as usize]),
                };
                self.nodes[index].set(lane, &bounds);
            }
        }
        self.area() > 1.5 * self.built
    }

    fn area(&self) -> f64 {
        let lanes = |node: &Node| -> f64 {
            (0..WIDE).filter(|&i| node.child[i] != NOTHING).map(|i| area(&node.lane(i))).sum()
        };
        self.nodes.iter().map(lanes).sum()
    }

    /// Calls `test` with boxes that a ray meets, near ones first, and how far it goes still; it returns
    /// how far the ray goes from now on. A negative way ends the search.
    #[inline]
    pub fn ray(&self, ray: &TreeRay, most: f64, mut test: impl FnMut(u32, f64) -> f64) {
        let mut most = most;
        self.descend(
            |node, most| node.enter(ray, most),
            &mut most,
            |number, most| *most = test(number, *most),
        );
    }

    /// Calls `test` with boxes that are near a point, near ones first, and the square of the distance up
    /// to which they matter; it returns that square from now on.
    pub fn near(&self, point: Vec3, most: f64, mut test: impl FnMut(u32, f64) -> f64) {
        let mut most = most;
        self.descend(
            |node, _| node.apart(point),
            &mut most,
            |number, most| *most = test(number, *most),
        );
    }

    #[inline(always)]
    fn descend(
        &self,
        measure: impl Fn(&Node, f64) -> [f64; WIDE],
        most: &mut f64,
        mut test: impl FnMut(u32, &mut f64),
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [(0.0_f64, 0_u32, 0_u32); STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (near, child, count) = stack[height];
            if near > *most {
                continue;
            }
            if count > 0 {
                for &number in &self.order[child as usize..(child + count) as usize] {
                    test(number, most);
                }
                continue;
            }
            let node = &self.nodes[child as usize];
            let at = measure(node, *most);
            let base = height;
            for (lane, &near) in at.iter().enumerate() {
                if near <= *most && node.child[lane] != NOTHING {
                    // the nearest on top
                    let mut place = height;
                    while place > base && stack[place - 1].0 < near {
                        stack[place] = stack[place - 1];
                        place -= 1;
                    }
                    stack[place] = (near, node.child[lane], node.count[lane]);
                    height += 1;
                }
            }
        }
    }

    /// Calls `test` with every box that meets `region`, until it says false.
    pub fn region(&self, region: &Aabb, mut test: impl FnMut(u32) -> bool) {
        let mut stack = [0_u32; STACK];
        let mut height = usize::from(!self.nodes.is_empty());
        while height > 0 {
            height -= 1;
            let node = &self.nodes[stack[height] as usize];
            for lane in 0..WIDE {
                let b = node.lane(lane);
                let apart = b.mins.cmpgt(region.maxs).any() || b.maxs.cmplt(region.mins).any();
                if apart || node.child[lane] == NOTHING {
                    continue;
                }
                let (child, count) = (node.child[lane] as usize, node.count[lane] as usize);
                if count == 0 {
                    stack[height] = child as u32;
                    height += 1;
                } else if !self.order[child..child + count].iter().all(|&number| test(number)) {
                    return;
                }
            }
        }
    }
}

/// Parts boxes in two and says where the second part begins; neither is empty.
fn split(boxes: &[Aabb], order: &mut [u32], heuristic: bool) -> usize {
    let center = |i: u32| boxes[i as usize].mins + boxes[i as usize].maxs;
    let (low, high) = order
        .iter()
        .fold((Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY)), |(low, high), &i| {
            (low.min(center(i)), high.max(center(i)))
        });
    let extent = high - low;
    let axis = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
    let half = order.len() / 2;
    if extent[axis] > 0.0 && extent[axis].is_finite() && heuristic {
        let scale = BINS as f64 / extent[axis];
        let bin = |i: u32| (((center(i)[axis] - low[axis]) * scale) as usize).min(BINS - 1);
        let mut bins = [(nowhere(), 0_usize); BINS];
        for &i in order.iter() {
            let (b, slot) = (&boxes[i as usize], &mut bins[bin(i)]);
            slot.0 = Aabb { mins: slot.0.mins.min(b.mins), maxs: slot.0.maxs.max(b.maxs) };
            slot.1 += 1;
        }
        let mut left = [0.0; BINS];
        let (mut sum, mut count) = (nowhere(), 0);
        for (k, (b, n)) in bins.iter().enumerate() {
            sum = Aabb { mins: sum.mins.min(b.mins), maxs: sum.maxs.max(b.maxs) };
            count += n;
            left[k] = if count == 0 { 0.0 } else { area(&sum) * count as f64 };
        }
        let (mut best, mut at) = (f64::INFINITY, 0);
        (sum, count) = (nowhere(), 0);
        for k in (1..BINS).rev() {
            let (b, n) = &bins[k];
            sum = Aabb { mins: sum.mins.min(b.mins), maxs: sum.maxs.max(b.maxs) };
            count += n;
            let cost = left[k - 1] + if count == 0 { 0.0 } else { area(&sum) * count as f64 };
            if cost < best && count > 0 && count < order.len() {
                (best, at) = (cost, k);
            }
        }
        if at > 0 {
            let mut first = 0;
            for k in 0..order.len() {
                if bin(order[k]) < at {
                    order.swap(first, k);
                    first += 1;
                }
            }
            if first > 0 && first < order.len() {
                return first;
            }
        }
    }
    order.select_nth_unstable_by(half, |&i, &j| {
        center(i)[axis].total_cmp(&center(j)[axis]).then(i.cmp(&j))
    });
    half
}
