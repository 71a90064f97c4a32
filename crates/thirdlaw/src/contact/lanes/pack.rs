//! Directions, arms, masses and responses of points, from the rows of a problem into the lanes.

use super::{Group, Masses, NOBODY, Point, dot};
use crate::contact::problem::{Bound, ContactProblem};
use crate::math::{Mat3, Vec3};
use crate::parallel::pool;
use crate::simd::f64x4::{LANES, Vector, Wide, Wide3};

/// `points` starts at record `base`.
pub(super) fn pack_groups(
    problem: &ContactProblem,
    groups: &mut [Group],
    points: &mut [Point],
    base: usize,
    leaf: usize,
) {
    if groups.len() > leaf {
        let (left, right) = groups.split_at_mut(groups.len() / 2);
        let middle = right[0].start as usize;
        let (points_left, points_right) = points.split_at_mut(middle - base);
        pool::join(
            || pack_groups(problem, left, points_left, base, leaf),
            || pack_groups(problem, right, points_right, middle, leaf),
        );
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what the function was compiled for
        return unsafe { pack_avx2(problem, groups, points, base) };
    }
    pack_with::<Wide>(problem, groups, points, base);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pack_avx2(problem: &ContactProblem, groups: &mut [Group], points: &mut [Point], base: usize) {
    pack_with::<crate::simd::f64x4::avx2::Register>(problem, groups, points, base);
}

#[inline(always)]
fn pack_with<V: Vector>(
    problem: &ContactProblem,
    groups: &mut [Group],
    points: &mut [Point],
    base: usize,
) {
    for group in groups {
        let range = group.start as usize - base..group.end as usize - base;
        group.pack::<V>(problem, &mut points[range]);
    }
}

impl Group {
    /// Takes over the masses.
    #[inline(always)]
    pub(super) fn weigh(&mut self, problem: &ContactProblem) {
        for (masses, write) in self.masses.iter_mut().zip(&self.write) {
            for (lane, &body) in write.iter().enumerate() {
                if body != NOBODY {
                    let mass = &problem.bodies[body as usize];
                    masses.inv_mass.set(lane, mass.inv_mass);
                    let Mat3 { x_axis, y_axis, z_axis } = mass.inv_inertia;
                    for (to, axis) in masses.inv_inertia.iter_mut().zip([x_axis, y_axis, z_axis]) {
                        to.set(lane, axis);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn pack<V: Vector>(&mut self, problem: &ContactProblem, points: &mut [Point]) {
        // a lane without a point has no compliance, nor what an earlier `measure` left there
        for point in &mut *points {
            point.response = Wide::default();
            point.friction_inverse = Default::default();
        }
        self.weigh(problem);
        for lane in 0..LANES {
            // arms on the world are not to be read
            let [a, b] = [self.read[0][lane] != NOBODY, self.read[1][lane] != NOBODY];
            let rows = problem.rows[self.rows(lane)].chunks_exact(3);
            for (rows, point) in rows.zip(&mut *points) {
                for (k, row) in rows.iter().enumerate() {
                    point.direction[k].set(lane, row.direction);
                    point.arm_a[k].set(lane, if a { row.arm_a } else { Vec3::ZERO });
                    point.arm_b[k].set(lane, if b { row.arm_b } else { Vec3::ZERO });
                }
                if let Bound::Friction { coefficient, .. } = rows[1].bound {
                    point.coefficient.0[lane] = coefficient;
                }
                // for `measure`
                point.response.0[lane] = rows[0].compliance;
                point.friction_inverse[0].0[lane] = rows[1].compliance;
                point.friction_inverse[2].0[lane] = rows[2].compliance;
            }
        }
        for point in points {
            point.measure::<V>(&self.masses);
        }
    }
}

impl Point {
    /// The responses; where they go lie the compliances.
    #[inline(always)]
    fn measure<V: Vector>(&mut self, masses: &[Masses; 2]) {
        let n = self.response_of::<V>(masses, 0, 0) + V::load(&self.response);
        let p = self.response_of::<V>(masses, 1, 1) + V::load(&self.friction_inverse[0]);
        let q = self.response_of::<V>(masses, 1, 2);
        let r = self.response_of::<V>(masses, 2, 2) + V::load(&self.friction_inverse[2]);
        self.set_responses(n, p, q, r);
    }

    /// What the sweep reads of the response n of the normal row and of [[p, q], [q, r]] of the others.
    #[inline(always)]
    pub(super) fn set_responses<V: Vector>(&mut self, n: V, p: V, q: V, r: V) {
        let [zero, one, half] = [0.0, 1.0, 0.5].map(V::splat);
        n.store(&mut self.response);
        n.select_le(zero, zero, one / n).store(&mut self.inverse);
        let apart = half * (p - r);
        let largest = half * (p + r) + (apart * apart + q * q).sqrt();
        largest.store(&mut self.largest);
        largest.select_le(zero, zero, one / largest).store(&mut self.largest_inverse);
        let determinant = p * r - q * q;
        let least = V::splat(1e-12) * p * r;
        // what nothing can move sticks
        let none = (p + r).select_le(zero, zero, V::splat(f64::NAN));
        let k = determinant.select_le(least, none, one / determinant);
        (k * r).store(&mut self.friction_inverse[0]);
        (k * (zero - q)).store(&mut self.friction_inverse[1]);
        (k * p).store(&mut self.friction_inverse[2]);
    }

    /// J_i M⁻¹ J_kᵀ.
    #[inline(always)]
    pub(super) fn response_of<V: Vector>(&self, [a, b]: &[Masses; 2], i: usize, k: usize) -> V {
        let load = |v: &Wide3| [V::load(&v.0[0]), V::load(&v.0[1]), V::load(&v.0[2])];
        let (mass_a, mass_b) = (load(&a.inv_mass), load(&b.inv_mass));
        let d = load(&self.direction[k]);
        let push = [0, 1, 2].map(|x| (mass_a[x] + mass_b[x]) * d[x]);
        dot(&self.direction[i], &push)
            + dot(&self.arm_a[i], &a.spin(&load(&self.arm_a[k])))
            + dot(&self.arm_b[i], &b.spin(&load(&self.arm_b[k])))
    }
}
