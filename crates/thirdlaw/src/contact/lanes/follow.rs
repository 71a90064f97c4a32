//! Contact points that follow their bodies through the substeps of a step without rows in between:
//! arms, gaps, responses and the push of overlaps are worked out in the lanes themselves, and impulses
//! stay there from substep to substep.

use super::{Group, Input, Lanes, NOBODY, Nodes, Point, dot, scaled};
use crate::contact::problem::ContactProblem;
use crate::contact::solvers::colored_pgs::Plain;
use crate::contact::sweep::Part;
use crate::math::{Mat3, Twist, Vec3, worse};
use crate::simd::f64x4::{LANES, Vector, Wide, Wide3};

/// A contact point on its two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// The bodies, by their index among the poses.
    pub bodies: [u32; 2],
    /// Cores on a and b, in axes that turn with them, from their centres of mass, m.
    pub arms: [Vec3; 2],
    /// Distances from the cores to the surfaces, m.
    pub radii: [f64; 2],
    /// Gap up to which it counts as closed, m.
    pub skin: f64,
    /// Share of it at which what lands is aimed.
    pub inside: f64,
    /// What pushes it apart.
    pub soft: Softness,
    /// Whether the point travels with b, else with a.
    pub with_b: bool,
}

/// Where a body is: its centre of mass and its axes.
pub type Pose = (Vec3, Mat3);

/// What pushes overlaps of a point apart.
#[derive(Clone, Copy, Debug)]
pub struct Softness {
    /// Speed per overlap, 1/s.
    pub rate: f64,
    /// Compliance over response.
    pub softness: f64,
    /// Overlap that is left alone, m.
    pub slop: f64,
    /// Load that the spring carries, in speed, m/s.
    pub carried: f64,
    /// Fastest push, m/s.
    pub speed: f64,
}

/// One contact point of each lane on its bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Foot {
    arms: [Wide3; 2],
    radii: [Wide; 2],
    /// 0 where the point travels with b, 1 where with a.
    with_a: Wide,
    /// Gap up to which it counts as closed, m.
    skin: Wide,
    /// Gap at which what lands is aimed, m.
    inside: Wide,
    /// What pushes it apart, as in [`Softness`]; the fastest push is negative.
    rate: Wide,
    softness: Wide,
    slop: Wide,
    carried: Wide,
    least: Wide,
    /// Gap in this substep, m, and the way that is left until it is closed.
    gap: Wide,
    room: Wide,
}

/// Both bodies of a group's blocks, those of the world included.
pub(super) type Footing = [[u32; 2]; LANES];

impl Lanes {
    /// Takes over where the points are on their bodies: three rows of the problem to each of `anchors`.
    pub fn fix(&mut self, anchors: &[Anchor]) {
        self.feet.clear();
        self.feet.resize(self.points.len(), Foot::default());
        self.footing.clear();
        for group in &self.groups {
            let mut footing = [[NOBODY; 2]; LANES];
            let feet = &mut self.feet[group.start as usize..group.end as usize];
            for (lane, bodies) in footing.iter_mut().enumerate() {
                let rows = group.rows(lane);
                for (anchor, foot) in anchors[rows.start / 3..rows.end / 3].iter().zip(&mut *feet) {
                    *bodies = anchor.bodies;
                    for k in 0..2 {
                        foot.arms[k].set(lane, anchor.arms[k]);
                        foot.radii[k].0[lane] = anchor.radii[k];
                    }
                    foot.skin.0[lane] = anchor.skin;
                    foot.inside.0[lane] = anchor.inside * anchor.skin;
                    foot.rate.0[lane] = anchor.soft.rate;
                    foot.softness.0[lane] = anchor.soft.softness;
                    foot.slop.0[lane] = anchor.soft.slop;
                    foot.carried.0[lane] = anchor.soft.carried;
                    foot.least.0[lane] = -anchor.soft.speed;
                    foot.with_a.0[lane] = if anchor.with_b { 0.0 } else { 1.0 };
                }
            }
            self.footing.push(footing);
        }
    }

    /// Masses of bodies that have turned.
    pub fn weigh(&mut self, problem: &ContactProblem) {
        for group in &mut self.groups {
            group.weigh(problem);
        }
    }

    /// Arms, gaps and wanted velocities at these poses, in a substep of `h` seconds; then gives the velocities what the impulses of the
    /// substep before do.
    pub fn follow(&mut self, poses: &[Pose], h: f64, velocities: &mut [Twist]) {
        let nodes = &mut Plain(velocities);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has what the function was compiled for
            return unsafe { self.follow_avx2(poses, h, nodes) };
        }
        self.follow_with::<Wide>(poses, h, nodes);
    }

    /// The same operations in the same order, four lanes to a register.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn follow_avx2(&mut self, poses: &[Pose], h: f64, nodes: &mut Plain) {
        self.follow_with::<crate::simd::f64x4::avx2::Register>(poses, h, nodes);
    }

    #[inline(always)]
    pub(in crate::contact) fn follow_with<V: Vector>(
        &mut self,
        poses: &[Pose],
        h: f64,
        nodes: &mut impl Nodes,
    ) {
        for (group, footing) in self.groups.iter().zip(&self.footing) {
            let range = group.start as usize..group.end as usize;
            let stand = Stand::<V>::gather(poses, footing);
            let (mut push, mut turns) = ([V::splat(0.0); 3], [[V::splat(0.0); 3]; 2]);
            let records = self.points[range.clone()].iter_mut().zip(&mut self.feet[range.clone()]);
            let held = self.inputs[range.clone()].iter_mut().zip(&self.impulses[range]);
            for ((point, foot), (input, z)) in records.zip(held) {
                stand.place(point, foot);
                point.answer(group, foot, V::load(&z[0]), V::splat(h), input);
                for (k, z) in z.iter().enumerate() {
                    let z = V::load(z);
                    push = sum(push, scaled(&point.direction[k], z));
                    turns[0] = sum(turns[0], scaled(&point.arm_a[k], z));
                    turns[1] = sum(turns[1], scaled(&point.arm_b[k], z));
                }
            }
            let mut sides = group.gather::<V>(nodes);
            sides.apply(push, turns[0], turns[1]);
            group.scatter(&sides, nodes);
        }
    }

    /// Wanted velocities without the push, for the second solve of a substep of `h` seconds. Contacts that are
    /// `rigid` do not give way in it: with N + Γ for N, a share Γ/(N + Γ) of the push stays, and what lands comes
    /// back.
    pub fn relax(&mut self, h: f64, rigid: bool) {
        let rows = self.inputs.iter_mut().zip(&mut self.points);
        for ((input, point), foot) in rows.zip(&self.feet) {
            input.bias[0] = Wide(foot.room.0.map(|room| room / h));
            for (lane, gives) in input.compliance[0].0.into_iter().enumerate().filter(|_| rigid) {
                let n = point.response.0[lane] - gives;
                point.response.0[lane] = n;
                point.inverse.0[lane] = if n > 0.0 { 1.0 / n } else { 0.0 };
            }
            input.compliance[0] = Wide::default();
        }
    }

    /// One iteration on rows of `part` of all points, colour after colour. Returns the largest natural-map residual
    /// met, m/s.
    pub fn iterate(&mut self, part: Part, velocities: &mut [Twist]) -> f64 {
        let mut residual = 0.0;
        for color in 0..self.starts.len().saturating_sub(1) {
            let (mut chunk, _) = self.color(color);
            residual = worse(residual, chunk.sweep(part, &mut Plain(velocities)));
        }
        residual
    }
}

impl Point {
    /// Responses, and what the normal row wants: to close a gap no farther, or to push an overlap apart
    /// under the load of the substep before (see `step/rigid/restitution.rs`).
    #[inline(always)]
    fn answer<V: Vector>(
        &mut self,
        group: &Group,
        foot: &mut Foot,
        load: V,
        h: V,
        input: &mut Input,
    ) {
        let masses = &group.masses;
        let n = self.response_of::<V>(masses, 0, 0);
        let (zero, gap, skin) = (V::splat(0.0), V::load(&foot.gap), V::load(&foot.skin));
        let room = gap.select_le(skin, zero, gap - V::load(&foot.inside));
        room.store(&mut foot.room);
        let beyond = gap + V::load(&foot.slop);
        let overlap = beyond.select_le(zero, beyond, zero);
        let give = V::load(&foot.softness) * n;
        let excess = (give * load - V::load(&foot.carried)).or_zero();
        let (speed, least) = (V::load(&foot.rate) * overlap, V::load(&foot.least));
        let push = speed.select_le(least, least, speed) - excess;
        let compliance = gap.select_le(skin, give, zero);
        gap.select_le(skin, push, room / h).store(&mut input.bias[0]);
        compliance.store(&mut input.compliance[0]);
        self.set_responses(
            n + compliance,
            self.response_of::<V>(masses, 1, 1),
            self.response_of::<V>(masses, 1, 2),
            self.response_of::<V>(masses, 2, 2),
        );
    }
}

/// The bodies of a group as they stand.
struct Stand<V> {
    /// Columns.
    axes: [[[V; 3]; 3]; 2],
    /// From the centre of a to that of b.
    between: [V; 3],
}

impl<V: Vector> Stand<V> {
    #[inline(always)]
    fn gather(poses: &[Pose], footing: &Footing) -> Stand<V> {
        let mut axes = [[Wide3::default(); 3]; 2];
        let mut between = Wide3::default();
        for (lane, &[a, b]) in footing.iter().enumerate() {
            if a == NOBODY {
                continue;
            }
            let (a, b) = (&poses[a as usize], &poses[b as usize]);
            for (axes, pose) in axes.iter_mut().zip([a, b]) {
                let Mat3 { x_axis, y_axis, z_axis } = pose.1;
                for (to, axis) in axes.iter_mut().zip([x_axis, y_axis, z_axis]) {
                    to.set(lane, axis);
                }
            }
            between.set(lane, b.0 - a.0);
        }
        let load = |v: &Wide3| [0, 1, 2].map(|x| V::load(&v.0[x]));
        let [a, b] = &axes;
        Stand {
            axes: [
                [load(&a[0]), load(&a[1]), load(&a[2])],
                [load(&b[0]), load(&b[1]), load(&b[2])],
            ],
            between: load(&between),
        }
    }

    /// An arm in axes of the world.
    #[inline(always)]
    fn turned(&self, k: usize, arm: &Wide3) -> [V; 3] {
        let [x, y, z] = &self.axes[k];
        let [i, j, l] = [0, 1, 2].map(|c| V::load(&arm.0[c]));
        [0, 1, 2].map(|c| x[c] * i + y[c] * j + z[c] * l)
    }

    /// Gap and arms of a point.
    #[inline(always)]
    fn place(&self, point: &mut Point, foot: &mut Foot) {
        let (core_a, core_b) = (self.turned(0, &foot.arms[0]), self.turned(1, &foot.arms[1]));
        let [radius_a, radius_b] = [V::load(&foot.radii[0]), V::load(&foot.radii[1])];
        let apart = [0, 1, 2].map(|c| self.between[c] + (core_b[c] - core_a[c]));
        let gap = dot(&point.direction[0], &apart) - radius_a - radius_b;
        gap.store(&mut foot.gap);
        let half = V::splat(0.5) * gap;
        let on_a = scaled(&point.direction[0], radius_a + half);
        let on_b = scaled(&point.direction[0], radius_b + half);
        let (with_a, zero) = (V::load(&foot.with_a), V::splat(0.0));
        let (mut r_a, mut r_b) = (core_a, core_b);
        for c in 0..3 {
            let (a, b) = (core_a[c] + on_a[c], core_b[c] - on_b[c]);
            r_a[c] = with_a.select_le(zero, b + self.between[c], a);
            r_b[c] = with_a.select_le(zero, b, a - self.between[c]);
        }
        for k in 0..3 {
            cross(&r_a, &point.direction[k], &mut point.arm_a[k]);
            cross(&r_b, &point.direction[k], &mut point.arm_b[k]);
        }
    }
}

#[inline(always)]
fn sum<V: Vector>(a: [V; 3], b: [V; 3]) -> [V; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn cross<V: Vector>(r: &[V; 3], direction: &Wide3, out: &mut Wide3) {
    let [x, y, z] = [0, 1, 2].map(|c| V::load(&direction.0[c]));
    (r[1] * z - y * r[2]).store(&mut out.0[0]);
    (r[2] * x - z * r[0]).store(&mut out.0[1]);
    (r[0] * y - x * r[1]).store(&mut out.0[2]);
}
