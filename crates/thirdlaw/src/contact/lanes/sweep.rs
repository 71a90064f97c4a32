//! The sweep over packed records: every lane goes through the operations of [`crate::contact::sweep`].

use super::{Chunk, Group, Impulse, Input, Masses, NOBODY, Nodes, Point, dot, scaled};
use crate::contact::sweep::{FAST, LANDED, LANDINGS, Part};
use crate::math::{Twist, worse};
use crate::simd::f64x4::{ONE, Vector, Wide, Wide3};

/// Both sides of a group while it is worked on.
pub(super) struct Sides<'a, V> {
    linear: [[V; 3]; 2],
    angular: [[V; 3]; 2],
    masses: &'a [Masses; 2],
}

#[inline(always)]
fn scaled2<V: Vector>(records: &[Wide3; 3], k1: V, k2: V) -> [V; 3] {
    let ([x1, y1, z1], [x2, y2, z2]) = (scaled(&records[1], k1), scaled(&records[2], k2));
    [x1 + x2, y1 + y2, z1 + z2]
}

impl<V: Vector> Sides<'_, V> {
    #[inline(always)]
    fn velocity(&self, point: &Point, k: usize) -> V {
        let [a, b] = &self.linear;
        let relative = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        dot(&point.direction[k], &relative)
            + (dot(&point.arm_b[k], &self.angular[1]) - dot(&point.arm_a[k], &self.angular[0]))
    }

    #[inline(always)]
    pub(super) fn apply(&mut self, push: [V; 3], turn_a: [V; 3], turn_b: [V; 3]) {
        let [a, b] = self.masses;
        let (spin_a, spin_b) = (a.spin(&turn_a), b.spin(&turn_b));
        for x in 0..3 {
            self.linear[0][x] = self.linear[0][x] - V::load(&a.inv_mass.0[x]) * push[x];
            self.linear[1][x] = self.linear[1][x] + V::load(&b.inv_mass.0[x]) * push[x];
            self.angular[0][x] = self.angular[0][x] - spin_a[x];
            self.angular[1][x] = self.angular[1][x] + spin_b[x];
        }
    }

    /// w of row `k` and its impulse.
    #[inline(always)]
    fn defect(&self, point: &Point, input: &Input, z: &Impulse, k: usize) -> (V, V) {
        let z = V::load(&z[k]);
        let soft = V::load(&input.bias[k]) + V::load(&input.compliance[k]) * z;
        (self.velocity(point, k) + soft, z)
    }

    /// Another pass over the normals of lanes in which the last one met more than is `enough`.
    #[inline(always)]
    fn land(&mut self, (points, inputs): (&[Point], &[Input]), impulses: &mut [Impulse], met: V) {
        let (share, least) = (V::splat(LANDED), V::splat(FAST));
        let enough = (share * met).select_le(least, least, share * met);
        let mut last = met;
        for _ in 0..LANDINGS {
            if last.all_le(enough) {
                break;
            }
            let mut now = V::splat(0.0);
            for ((point, input), z) in points.iter().zip(inputs).zip(&mut *impulses) {
                now = now.worse(self.normal_where(point, input, z, (last, enough)));
            }
            last = now;
        }
    }

    #[inline(always)]
    fn normal(&mut self, point: &Point, input: &Input, z: &mut Impulse) -> V {
        self.normal_where(point, input, z, (V::load(&ONE), V::splat(0.0)))
    }

    /// The next impulse of a normal row in lanes in which `met` is more than `enough`.
    #[inline(always)]
    fn normal_where(
        &mut self,
        point: &Point,
        input: &Input,
        z: &mut Impulse,
        (met, enough): (V, V),
    ) -> V {
        let (w, z0) = self.defect(point, input, z, 0);
        let mut z1 = (z0 - V::load(&point.inverse) * w).or_zero();
        let (most, compliance) = (V::load(&input.most), V::load(&input.compliance[0]));
        let give = compliance * z1;
        if !give.all_le(most) {
            // a spring that is pressed as far as it may be is held by a row that gives no more
            let held = self.velocity(point, 0) + V::load(&input.bias[0]) + most;
            let hard = (z0 - held / (V::load(&point.response) - compliance)).or_zero();
            z1 = give.select_le(most, z1, hard);
        }
        let z1 = met.select_le(enough, z0, z1);
        let dz = z1 - z0;
        z1.store(&mut z[0]);
        self.apply(
            scaled(&point.direction[0], dz),
            scaled(&point.arm_a[0], dz),
            scaled(&point.arm_b[0], dz),
        );
        dz.abs() * V::load(&point.response)
    }

    #[inline(always)]
    fn friction(&mut self, point: &Point, input: &Input, z: &mut Impulse) -> V {
        let radius = V::load(&point.coefficient) * V::load(&z[0]).or_zero();
        let (w1, z1) = self.defect(point, input, z, 1);
        let (w2, z2) = self.defect(point, input, z, 2);
        let [p, q, r] = [0, 1, 2].map(|k| V::load(&point.friction_inverse[k]));
        let stuck = [z1 - (p * w1 + q * w2), z2 - (q * w1 + r * w2)];
        let size = stuck[0] * stuck[0] + stuck[1] * stuck[1];
        let limit = radius * radius;
        let [mut next1, mut next2] = stuck;
        // the root and the quotient are long to wait for, and most contacts at rest stick
        if !size.all_le(limit) {
            let k = V::load(&point.largest_inverse);
            let slid = [z1 - k * w1, z2 - k * w2];
            let length = (slid[0] * slid[0] + slid[1] * slid[1]).sqrt();
            let shrink = length.select_le(radius, V::load(&ONE), radius / length);
            next1 = size.select_le(limit, next1, slid[0] * shrink);
            next2 = size.select_le(limit, next2, slid[1] * shrink);
        }
        let (d1, d2) = (next1 - z1, next2 - z2);
        next1.store(&mut z[1]);
        next2.store(&mut z[2]);
        self.apply(
            scaled2(&point.direction, d1, d2),
            scaled2(&point.arm_a, d1, d2),
            scaled2(&point.arm_b, d1, d2),
        );
        d1.abs().worse(d2.abs()) * V::load(&point.largest)
    }
}

impl<'a> Chunk<'a> {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Two halves.
    pub fn halves(self) -> (Chunk<'a>, Chunk<'a>) {
        let (left, right) = self.groups.split_at(self.groups.len() / 2);
        let cut = right.first().map_or(0, |g| g.start as usize - self.base);
        let (points, inputs) = (self.points.split_at(cut), self.inputs.split_at(cut));
        let impulses = self.impulses.split_at_mut(cut);
        let base = self.base + cut;
        (
            Chunk {
                groups: left,
                points: points.0,
                inputs: inputs.0,
                impulses: impulses.0,
                base: self.base,
            },
            Chunk { groups: right, points: points.1, inputs: inputs.1, impulses: impulses.1, base },
        )
    }

    /// One pass over the rows of `part`. Returns the largest natural-map residual met, m/s.
    pub fn sweep(&mut self, part: Part, nodes: &mut impl Nodes) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has what the function was compiled for
            return unsafe { self.sweep_avx2(part, nodes) };
        }
        self.sweep_with::<Wide>(part, nodes)
    }

    /// The same operations in the same order, four lanes to a register.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn sweep_avx2(&mut self, part: Part, nodes: &mut impl Nodes) -> f64 {
        self.sweep_with::<crate::simd::f64x4::avx2::Register>(part, nodes)
    }

    /// The pass with one kind of vectors.
    #[inline(always)]
    pub fn sweep_with<V: Vector>(&mut self, part: Part, nodes: &mut impl Nodes) -> f64 {
        let mut residual = V::load(&Wide::default());
        for group in self.groups {
            let range = group.start as usize - self.base..group.end as usize - self.base;
            let points = &self.points[range.clone()];
            let inputs = &self.inputs[range.clone()];
            let impulses = &mut self.impulses[range];
            let mut sides = group.gather::<V>(nodes);
            let [before, normals, after] = part.order();
            if before {
                for ((point, input), z) in points.iter().zip(inputs).zip(&mut *impulses) {
                    residual = residual.worse(sides.friction(point, input, z));
                }
            }
            if normals {
                let mut met = V::splat(0.0);
                for ((point, input), z) in points.iter().zip(inputs).zip(&mut *impulses) {
                    met = met.worse(sides.normal(point, input, z));
                }
                residual = residual.worse(met);
                if (before || after) && points.len() > 1 {
                    sides.land((points, inputs), impulses, met);
                }
            }
            if after {
                for ((point, input), z) in points.iter().zip(inputs).zip(&mut *impulses) {
                    residual = residual.worse(sides.friction(point, input, z));
                }
            }
            group.scatter(&sides, nodes);
        }
        let mut out = Wide::default();
        residual.store(&mut out);
        out.0.into_iter().fold(0.0, worse)
    }
}

impl Group {
    #[inline(always)]
    pub(super) fn gather<V: Vector>(&self, nodes: &impl Nodes) -> Sides<'_, V> {
        let mut twists = [[Wide3::default(); 2]; 2];
        for (twist, read) in twists.iter_mut().zip(&self.read) {
            for (lane, &body) in read.iter().enumerate() {
                if body != NOBODY {
                    let v = nodes.read(body as usize);
                    twist[0].set(lane, v.linear);
                    twist[1].set(lane, v.angular);
                }
            }
        }
        let load = |v: &Wide3| [V::load(&v.0[0]), V::load(&v.0[1]), V::load(&v.0[2])];
        let [a, b] = &twists;
        Sides {
            linear: [load(&a[0]), load(&b[0])],
            angular: [load(&a[1]), load(&b[1])],
            masses: &self.masses,
        }
    }

    #[inline(always)]
    pub(super) fn scatter<V: Vector>(&self, sides: &Sides<V>, nodes: &mut impl Nodes) {
        for k in 0..2 {
            let mut twist = [Wide3::default(); 2];
            for x in 0..3 {
                sides.linear[k][x].store(&mut twist[0].0[x]);
                sides.angular[k][x].store(&mut twist[1].0[x]);
            }
            for (lane, &body) in self.write[k].iter().enumerate() {
                if body != NOBODY {
                    let (linear, angular) = (twist[0].get(lane), twist[1].get(lane));
                    nodes.write(body as usize, Twist { linear, angular });
                }
            }
        }
    }
}
