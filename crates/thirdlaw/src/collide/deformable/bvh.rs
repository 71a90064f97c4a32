//! A tree of boxes, four to a node, over primitives that move but keep their neighbours.
//!
//! It is built once, from where the primitives are at rest; a step only fits the boxes anew. Boxes
//! are `f32`, rounded outward, so that four of them are tested at a time.

use super::patches::Region;
use crate::math::Vec3;
use crate::parallel::pool::prelude::*;

/// A box in `f32` that holds what it was made from in `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Box32 {
    pub lo: [f32; 3],
    pub hi: [f32; 3],
}

impl Box32 {
    pub const EMPTY: Box32 = Box32 { lo: [f32::INFINITY; 3], hi: [f32::NEG_INFINITY; 3] };

    /// All within `r` of the box of two points; empty where a coordinate is not finite.
    pub fn around(a: Vec3, b: Vec3, r: f64) -> Box32 {
        let (lo, hi) = (a.min(b) - Vec3::splat(r), a.max(b) + Vec3::splat(r));
        if !(a + b + lo + hi).is_finite() {
            return Box32::EMPTY;
        }
        // half a unit in the last place is lost at most; the small number is for those near zero
        let pad = |x: f64| x.abs() * 1.2e-7 + 1e-37;
        Box32 {
            lo: lo.to_array().map(|x| (x - pad(x)) as f32),
            hi: hi.to_array().map(|x| (x + pad(x)) as f32),
        }
    }

    pub fn meets(&self, other: &Box32) -> bool {
        (0..3).all(|k| self.lo[k] <= other.hi[k] && other.lo[k] <= self.hi[k])
    }

    /// Whether `other` is inside.
    pub fn holds(&self, other: &Box32) -> bool {
        (0..3).all(|k| self.lo[k] <= other.lo[k] && other.hi[k] <= self.hi[k])
    }

    #[inline]
    pub fn join(&self, other: &Box32) -> Box32 {
        Box32 {
            lo: std::array::from_fn(|k| least(self.lo[k], other.lo[k])),
            hi: std::array::from_fn(|k| most(self.hi[k], other.hi[k])),
        }
    }
}

// plain comparisons, which are one instruction each; nothing here is NaN
#[inline]
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline]
fn most(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Four boxes side by side and what they hold: nodes below, or primitives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    lo: [[f32; 4]; 3],
    hi: [[f32; 4]; 3],
    /// Of a leaf: primitives. Else nodes or, with [`LEAF`], leaves. [`NOTHING`] beyond the last.
    pub child: [u32; 4],
    /// Of an inner node: one past the last leaf below each child.
    end: [u32; 4],
}

const LEAF: u32 = 1 << 31;
/// Where a node holds fewer than four.
pub(super) const NOTHING: u32 = u32::MAX;

impl Node {
    const EMPTY: Node = Node {
        lo: [[f32::INFINITY; 4]; 3],
        hi: [[f32::NEG_INFINITY; 4]; 3],
        child: [NOTHING; 4],
        end: [0; 4],
    };

    /// Which of the four boxes meet `b`, one bit each.
    #[inline]
    pub fn meets(&self, b: &Box32) -> u32 {
        // axis by axis over all four, which compiles to four comparisons at a time
        let mut apart = [0u32; 4];
        for axis in 0..3 {
            let (lo, hi) = (b.lo[axis], b.hi[axis]);
            let (from, to) = (&self.lo[axis], &self.hi[axis]);
            for k in 0..4 {
                apart[k] |= u32::from(from[k] > hi) | u32::from(to[k] < lo);
            }
        }
        (apart[0] | apart[1] << 1 | apart[2] << 2 | apart[3] << 3) ^ 15
    }

    fn set(&mut self, k: usize, b: &Box32) {
        for axis in 0..3 {
            self.lo[axis][k] = b.lo[axis];
            self.hi[axis][k] = b.hi[axis];
        }
    }

    #[inline]
    pub fn get(&self, k: usize) -> Box32 {
        Box32 {
            lo: std::array::from_fn(|axis| self.lo[axis][k]),
            hi: std::array::from_fn(|axis| self.hi[axis][k]),
        }
    }

    /// The box of all four.
    pub fn whole(&self) -> Box32 {
        self.get(0).join(&self.get(1)).join(&self.get(2).join(&self.get(3)))
    }
}

/// The tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Bvh {
    /// Parents before children.
    inner: Vec<Node>,
    /// Four primitives each, neighbours together.
    pub leaves: Vec<Node>,
    /// The boxes of the leaves once more, one by one.
    pub boxes: Vec<[Box32; 4]>,
    /// Where the primitives of leaves, and all below the children of inner nodes, are at rest.
    pub regions: Vec<[Region; 4]>,
    inner_regions: Vec<[Region; 4]>,
}

impl Bvh {
    /// Over primitives with these centres.
    pub fn new(centers: &[Vec3]) -> Bvh {
        let mut order: Vec<u32> = (0..centers.len() as u32).collect();
        let mut bvh = Bvh::default();
        if !order.is_empty() {
            bvh.build(&mut order, centers);
        }
        bvh.boxes = vec![[Box32::EMPTY; 4]; bvh.leaves.len()];
        bvh
    }

    /// Adds the primitives of `order` and returns the reference to their node.
    fn build(&mut self, order: &mut [u32], centers: &[Vec3]) -> u32 {
        if order.len() <= 4 {
            let mut leaf = Node::EMPTY;
            leaf.child[..order.len()].copy_from_slice(order);
            self.leaves.push(leaf);
            return (self.leaves.len() as u32 - 1) | LEAF;
        }
        let index = self.inner.len();
        self.inner.push(Node::EMPTY);
        // as few full children as hold everything
        let mut room = 4;
        while room * 4 < order.len() {
            room *= 4;
        }
        let children = order.len().div_ceil(room);
        let mut at = 0;
        self.share(order, centers, children, index, &mut at);
        index as u32
    }

    /// Splits `order` across its longest side into `children` parts of about equal size, each but the
    /// last of full leaves, and builds them below node `index`.
    fn share(
        &mut self,
        order: &mut [u32],
        centers: &[Vec3],
        children: usize,
        index: usize,
        at: &mut usize,
    ) {
        let n = order.len();
        let left = children.div_ceil(2);
        let cut = (n * left / children).next_multiple_of(4);
        if children == 1 || cut >= n {
            self.inner[index].child[*at] = self.build(order, centers);
            self.inner[index].end[*at] = self.leaves.len() as u32;
            *at += 1;
            return;
        }
        let (mut lo, mut hi) = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
        for &i in order.iter() {
            lo = lo.min(centers[i as usize]);
            hi = hi.max(centers[i as usize]);
        }
        let size = hi - lo;
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let key = |i: &u32| centers[*i as usize][axis];
        order.select_nth_unstable_by(cut, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        let (first, second) = order.split_at_mut(cut);
        self.share(first, centers, left, index, at);
        self.share(second, centers, children - left, index, at);
    }

    /// Fits every box anew; `bounds` gives the box of a primitive.
    pub fn refit(&mut self, bounds: impl Fn(u32) -> Box32 + Sync) {
        let leaves = self.leaves.par_iter_mut().zip(&mut self.boxes);
        leaves.with_min_len(256).for_each(|(leaf, boxes)| {
            *boxes = leaf.child.map(|p| if p == NOTHING { Box32::EMPTY } else { bounds(p) });
            boxes.iter().enumerate().for_each(|(k, b)| leaf.set(k, b));
        });
        for index in (0..self.inner.len()).rev() {
            for k in 0..4 {
                let whole = match self.inner[index].child[k] {
                    NOTHING => Box32::EMPTY,
                    c if c & LEAF != 0 => self.leaves[(c & !LEAF) as usize].whole(),
                    c => self.inner[c as usize].whole(),
                };
                self.inner[index].set(k, &whole);
            }
        }
    }

    /// Takes over where each primitive is at rest.
    pub fn set_regions(&mut self, region: impl Fn(u32) -> Region) {
        let of = |p: u32| if p == NOTHING { None } else { Some(region(p)) };
        let leaf = |leaf: &Node| leaf.child.map(|p| of(p).unwrap_or(Region::NOWHERE));
        self.regions = self.leaves.iter().map(leaf).collect();
        self.inner_regions = vec![[Region::NOWHERE; 4]; self.inner.len()];
        for index in (0..self.inner.len()).rev() {
            self.inner_regions[index] = self.inner[index].child.map(|c| match c {
                NOTHING => Region::NOWHERE,
                c if c & LEAF != 0 => self.leaf_region(c & !LEAF),
                c => {
                    let below = &self.inner[c as usize].child;
                    let used = below.iter().zip(&self.inner_regions[c as usize]);
                    let used = used.filter(|(c, _)| **c != NOTHING).map(|(_, r)| *r);
                    used.reduce(|a, b| a.join(&b)).unwrap_or(Region::NOWHERE)
                }
            });
        }
    }

    /// Where all primitives of a leaf are at rest.
    pub fn leaf_region(&self, leaf: u32) -> Region {
        let used = self.leaves[leaf as usize].child.iter().zip(&self.regions[leaf as usize]);
        let used = used.filter(|(c, _)| **c != NOTHING).map(|(_, r)| *r);
        used.reduce(|a, b| a.join(&b)).unwrap_or(Region::NOWHERE)
    }

    /// Which primitives of a leaf are not within `proven`, one bit each.
    #[inline]
    pub fn outside(&self, leaf: u32, proven: Option<&Region>) -> u32 {
        let Some(proven) = proven else { return 15 };
        let regions = &self.regions[leaf as usize];
        (0..4).filter(|&k| !regions[k].within(proven)).fold(0, |bits, k| bits | 1 << k)
    }

    /// Calls `found` with every leaf from number `first` on that meets `query` and is not `proven` to
    /// stay away from it, in their order.
    #[inline]
    pub fn leaves_near(
        &self,
        query: &Box32,
        first: u32,
        proven: Option<&Region>,
        mut found: impl FnMut(u32),
    ) {
        if self.inner.is_empty() {
            if first == 0 && !self.leaves.is_empty() && self.leaves[0].meets(query) != 0 {
                found(0);
            }
            return;
        }
        // a tree over u32 primitives is at most 16 nodes deep, and leaves three behind at each
        let mut stack = [0u32; 64];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let c = stack[top];
            if c & LEAF != 0 {
                found(c & !LEAF);
                continue;
            }
            let node = &self.inner[c as usize];
            let bits = node.meets(query);
            for k in (0..4).rev() {
                let apart = || proven.is_some_and(|p| self.inner_regions[c as usize][k].within(p));
                if bits & (1 << k) != 0 && node.end[k] > first && top < stack.len() && !apart() {
                    stack[top] = node.child[k];
                    top += 1;
                }
            }
        }
    }
}
