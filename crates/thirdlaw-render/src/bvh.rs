//! A bounding volume hierarchy of four children a node.
//!
//! Built top-down with binned surface-area splits (wald2007); a node keeps
//! splitting its largest child until it has four, so that one SIMD slab test
//! decides on all of them. The same structure serves the triangles of a mesh
//! (leaves of up to four, tested together) and the bodies of a picture (leaves
//! of one).

use glamx::Vec3;
use wide::f32x4;

/// Box from `min` to `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aabb {
    pub min: Vec3,
    pub max: Vec3,
}

impl Aabb {
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    pub fn include(&mut self, p: Vec3) {
        self.min = self.min.min(p);
        self.max = self.max.max(p);
    }

    pub fn union(&mut self, other: &Aabb) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Half the surface; zero when empty.
    fn half_area(&self) -> f32 {
        let d = (self.max - self.min).max(Vec3::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

/// A ray with what the slab test needs, computed once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub origin: Vec3,
    pub direction: Vec3,
    inverse: Vec3,
    /// 1 on axes where the direction is negative.
    sign: [usize; 3],
}

impl Ray {
    #[inline]
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        // A huge finite inverse in place of infinity: 0 · ∞ would be NaN.
        let inverse_of = |d: f32| if d.abs() > 1e-18 { 1.0 / d } else { 1e18f32.copysign(d) };
        Self {
            origin,
            direction,
            inverse: Vec3::new(
                inverse_of(direction.x),
                inverse_of(direction.y),
                inverse_of(direction.z),
            ),
            sign: [
                usize::from(direction.x.is_sign_negative()),
                usize::from(direction.y.is_sign_negative()),
                usize::from(direction.z.is_sign_negative()),
            ],
        }
    }
}

const EMPTY: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    /// `[axis][min, max]` of the four children.
    planes: [[f32x4; 2]; 3],
    /// Node index of an inner child, first position in `order` of a leaf.
    first: [u32; 4],
    /// 0 for an inner child, `EMPTY` for none, else the leaf's size.
    count: [u32; 4],
}

/// The hierarchy over items that the caller keeps; see [`Bvh::order`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    /// Items in leaf order: a leaf is a range of positions in this list.
    pub order: Vec<u32>,
}

const BINS: usize = 16;
/// From here on splits halve the item count, which bounds the depth and with it
/// the traversal stack for any input.
const SAH_DEPTH: usize = 20;
const STACK: usize = 3 * (SAH_DEPTH + 32) + 4;

/// What a traversal has still to visit. Kept by the caller from ray to ray:
/// clearing it each time would cost as much as the traversal of a small mesh.
pub(crate) struct Stack([(u32, u32, f32); STACK]);

impl Stack {
    pub fn new() -> Self {
        Self([(0, 0, 0.0); STACK])
    }
}

impl Bvh {
    /// Builds over `boxes`; leaves hold up to `leaf_size` items. Boxes must be finite.
    pub fn build(boxes: &[Aabb], leaf_size: usize) -> Self {
        let mut builder = Builder {
            boxes,
            centers: boxes.iter().map(|b| 0.5 * (b.min + b.max)).collect(),
            order: (0..boxes.len() as u32).collect(),
            nodes: Vec::new(),
            leaf_size,
        };
        if !boxes.is_empty() {
            builder.add_node(0, boxes.len(), 0);
        }
        Self { nodes: builder.nodes, order: builder.order }
    }

    /// Replaces each leaf's first position by `leaf(first, count)`, for callers
    /// that keep something of their own per leaf.
    pub fn map_leaves(&mut self, mut leaf: impl FnMut(u32, u32) -> u32) {
        for node in &mut self.nodes {
            for k in 0..4 {
                if node.count[k] != 0 && node.count[k] != EMPTY {
                    node.first[k] = leaf(node.first[k], node.count[k]);
                }
            }
        }
    }

    /// Calls `leaf(first, count, &mut limit)` for every leaf whose box the ray
    /// meets before `limit`, near boxes first. The leaf lowers `limit` to its hit.
    #[inline]
    pub fn closest(
        &self,
        ray: &Ray,
        limit: &mut f32,
        stack: &mut Stack,
        mut leaf: impl FnMut(u32, u32, &mut f32),
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let stack = &mut stack.0;
        stack[0] = (0, 0, 0.0);
        let mut depth = 1;
        let slabs = Slabs::new(ray);
        while depth > 0 {
            depth -= 1;
            let (mut first, mut count, near) = stack[depth];
            if near > *limit {
                continue;
            }
            let (node, mut mask, nears) = loop {
                if count > 0 {
                    break (None, 0, [0.0; 4]);
                }
                let node = &self.nodes[first as usize];
                let (mask, nears) = slabs.test(node, *limit);
                if mask == 0 || mask & (mask - 1) != 0 {
                    break (Some(node), mask, nears);
                }
                // A single child needs no stack.
                let k = mask.trailing_zeros() as usize & 3;
                (first, count) = (node.first[k], node.count[k]);
            };
            let Some(node) = node else {
                leaf(first, count, limit);
                continue;
            };
            let bottom = depth;
            while mask != 0 {
                let k = mask.trailing_zeros() as usize & 3;
                mask &= mask - 1;
                // Insertion keeps the nearest on top of the stack.
                let entry = (node.first[k], node.count[k], nears[k]);
                let mut at = depth;
                while at > bottom && stack[at - 1].2 < entry.2 {
                    stack[at] = stack[at - 1];
                    at -= 1;
                }
                stack[at] = entry;
                depth += 1;
            }
        }
    }

    /// Whether `leaf(first, count)` is true for any leaf the ray meets before `limit`.
    #[inline]
    pub fn any(
        &self,
        ray: &Ray,
        limit: f32,
        stack: &mut Stack,
        mut leaf: impl FnMut(u32, u32) -> bool,
    ) -> bool {
        if self.nodes.is_empty() {
            return false;
        }
        let stack = &mut stack.0;
        stack[0].0 = 0;
        let mut depth = 1;
        let slabs = Slabs::new(ray);
        while depth > 0 {
            depth -= 1;
            let node = &self.nodes[stack[depth].0 as usize];
            let (mut mask, _) = slabs.test(node, limit);
            while mask != 0 {
                let k = mask.trailing_zeros() as usize & 3;
                mask &= mask - 1;
                if node.count[k] > 0 {
                    if leaf(node.first[k], node.count[k]) {
                        return true;
                    }
                } else {
                    stack[depth].0 = node.first[k];
                    depth += 1;
                }
            }
        }
        false
    }
}

/// A vector, the same in every lane.
#[inline]
pub(crate) fn splat(v: Vec3) -> [f32x4; 3] {
    [f32x4::splat(v.x), f32x4::splat(v.y), f32x4::splat(v.z)]
}

/// The ray, spread over SIMD lanes.
struct Slabs {
    origin: [f32x4; 3],
    inverse: [f32x4; 3],
    /// A little more, so that rays along a shared face miss nothing by rounding.
    inverse_far: [f32x4; 3],
    sign: [usize; 3],
}

impl Slabs {
    #[inline]
    fn new(ray: &Ray) -> Self {
        Self {
            origin: splat(ray.origin),
            inverse: splat(ray.inverse),
            inverse_far: splat(ray.inverse * 1.000_001),
            sign: ray.sign,
        }
    }

    /// Mask of children met before `limit`, and where the ray enters them.
    #[inline]
    fn test(&self, node: &Node, limit: f32) -> (u32, [f32; 4]) {
        let plane = |axis: usize, side: usize, inverse: &[f32x4; 3]| {
            (node.planes[axis][side & 1] - self.origin[axis]) * inverse[axis]
        };
        let (entry, exit) = (&self.inverse, &self.inverse_far);
        let [sx, sy, sz] = self.sign;
        let near = plane(0, sx, entry)
            .fast_max(plane(1, sy, entry))
            .fast_max(plane(2, sz, entry).fast_max(f32x4::ZERO));
        let far = plane(0, sx ^ 1, exit).fast_min(plane(1, sy ^ 1, exit)).fast_min(plane(
            2,
            sz ^ 1,
            exit,
        ));
        let far = far.fast_min(f32x4::splat(limit));
        (near.simd_le(far).to_bitmask(), near.to_array())
    }
}

struct Builder<'a> {
    boxes: &'a [Aabb],
    centers: Vec<Vec3>,
    order: Vec<u32>,
    nodes: Vec<Node>,
    leaf_size: usize,
}

impl Builder<'_> {
    fn add_node(&mut self, start: usize, end: usize, depth: usize) -> u32 {
        let mut children = vec![(start, end, self.bounds(start, end))];
        while children.len() < 4 {
            let splittable = |c: &(usize, usize, Aabb)| c.1 - c.0 > self.leaf_size;
            let widest =
                (0..children.len()).filter(|&k| splittable(&children[k])).max_by(|&a, &b| {
                    let area = |k: usize| children[k].2.half_area();
                    area(a).total_cmp(&area(b))
                });
            let Some(k) = widest else { break };
            let (start, end, _) = children[k];
            let middle = self.split(start, end, depth);
            children[k] = (start, middle, self.bounds(start, middle));
            children.push((middle, end, self.bounds(middle, end)));
        }

        let index = self.nodes.len();
        let mut planes = [[[f32::INFINITY; 4], [f32::NEG_INFINITY; 4]]; 3];
        let mut node = Node { planes: [[f32x4::ZERO; 2]; 3], first: [0; 4], count: [EMPTY; 4] };
        for (k, (start, end, bounds)) in children.iter().enumerate() {
            for (axis, plane) in planes.iter_mut().enumerate() {
                plane[0][k] = bounds.min[axis];
                plane[1][k] = bounds.max[axis];
            }
            node.first[k] = *start as u32;
            node.count[k] = (end - start) as u32;
        }
        node.planes = planes.map(|axis| axis.map(f32x4::from));
        self.nodes.push(node);
        for (k, &(start, end, _)) in children.iter().enumerate() {
            if end - start > self.leaf_size {
                let child = self.add_node(start, end, depth + 1);
                self.nodes[index].first[k] = child;
                self.nodes[index].count[k] = 0;
            }
        }
        index as u32
    }

    fn bounds(&self, start: usize, end: usize) -> Aabb {
        let mut bounds = Aabb::EMPTY;
        for &item in &self.order[start..end] {
            bounds.union(&self.boxes[item as usize]);
        }
        bounds
    }

    /// Orders `start..end` into two halves and returns where the second begins.
    fn split(&mut self, start: usize, end: usize, depth: usize) -> usize {
        let mut span = Aabb::EMPTY;
        for &item in &self.order[start..end] {
            span.include(self.centers[item as usize]);
        }
        let extent = span.max - span.min;
        let best = (0..3)
            .filter(|&axis| extent[axis] > 0.0)
            .filter_map(|axis| self.best_plane(start, end, axis, &span))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some((_, axis, bin)), true) = (best, depth < SAH_DEPTH) {
            let centers = &self.centers;
            let side = |item: u32| bin_of(centers[item as usize][axis], axis, &span) <= bin;
            let middle = start + partition(&mut self.order[start..end], side);
            if middle > start && middle < end {
                return middle;
            }
        }
        let axis = extent.max_position();
        let middle = start + (end - start) / 2;
        let centers = &self.centers;
        self.order[start..end].select_nth_unstable_by(middle - start, |&a, &b| {
            let key = |item: u32| centers[item as usize][axis];
            key(a).total_cmp(&key(b)).then(a.cmp(&b))
        });
        middle
    }

    /// Cheapest split along `axis`: its cost, the axis, and the last bin of the first half.
    fn best_plane(
        &self,
        start: usize,
        end: usize,
        axis: usize,
        span: &Aabb,
    ) -> Option<(f32, usize, usize)> {
        let mut bins = [(Aabb::EMPTY, 0u32); BINS];
        for &item in &self.order[start..end] {
            let bin = &mut bins[bin_of(self.centers[item as usize][axis], axis, span)];
            bin.0.union(&self.boxes[item as usize]);
            bin.1 += 1;
        }
        let mut cost_above = [f32::INFINITY; BINS];
        let (mut bounds, mut count) = (Aabb::EMPTY, 0);
        for k in (1..BINS).rev() {
            bounds.union(&bins[k].0);
            count += bins[k].1;
            if count > 0 {
                cost_above[k] = bounds.half_area() * count as f32;
            }
        }
        let (mut bounds, mut count) = (Aabb::EMPTY, 0);
        let mut best = None;
        for k in 0..BINS - 1 {
            bounds.union(&bins[k].0);
            count += bins[k].1;
            let cost = bounds.half_area() * count as f32 + cost_above[k + 1];
            if count > 0 && cost < best.map_or(f32::INFINITY, |b: (f32, usize, usize)| b.0) {
                best = Some((cost, axis, k));
            }
        }
        best
    }
}

fn bin_of(center: f32, axis: usize, span: &Aabb) -> usize {
    let scale = BINS as f32 / (span.max[axis] - span.min[axis]);
    (((center - span.min[axis]) * scale) as usize).min(BINS - 1)
}

/// Moves the items for which `first` holds to the front, and counts them.
fn partition(items: &mut [u32], first: impl Fn(u32) -> bool) -> usize {
    let mut count = 0;
    for k in 0..items.len() {
        if first(items[k]) {
            items.swap(k, count);
            count += 1;
        }
    }
    count
}
