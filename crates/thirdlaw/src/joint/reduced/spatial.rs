//! Six-dimensional inertias, about a body's centre of mass in world axes, and small symmetric systems.
//! A motion is a `Twist`; a force is one, too, with the torque for the angular part.

use crate::math::{Mat3, Twist, Vec3};

/// A symmetric inertia: torque = A α + B a, force = Bᵀα + D a.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inertia {
    pub a: Mat3,
    pub b: Mat3,
    pub d: Mat3,
}

impl Inertia {
    pub fn of(mass: f64, inertia: Mat3) -> Inertia {
        Inertia { a: inertia, b: Mat3::ZERO, d: Mat3::from_diagonal(Vec3::splat(mass)) }
    }

    /// Of nothing.
    pub const ZERO: Inertia = Inertia { a: Mat3::ZERO, b: Mat3::ZERO, d: Mat3::ZERO };

    pub fn times(&self, v: &Twist) -> Twist {
        Twist {
            angular: self.a * v.angular + self.b * v.linear,
            linear: self.b.transpose() * v.angular + self.d * v.linear,
        }
    }

    /// Takes away z zᵀ times a factor.
    pub fn reduce(&mut self, z: &Twist, factor: f64) {
        let (turn, line) = (factor * z.angular, factor * z.linear);
        self.a -= outer(turn, z.angular);
        self.b -= outer(turn, z.linear);
        self.d -= outer(line, z.linear);
    }

    /// Adds another one, about a place that is `r` away.
    pub fn add_from(&mut self, other: &Inertia, r: Vec3) {
        let r = cross_matrix(r);
        let (br, rd) = (other.b * r, r * other.d);
        self.a += other.a - br - br.transpose() - rd * r;
        self.b += other.b + rd;
        self.d += other.d;
    }
}

pub(super) fn dot(a: &Twist, b: &Twist) -> f64 {
    a.angular.dot(b.angular) + a.linear.dot(b.linear)
}

pub(super) fn add(a: Twist, b: Twist) -> Twist {
    Twist { linear: a.linear + b.linear, angular: a.angular + b.angular }
}

pub(super) fn scaled(a: &Twist, x: f64) -> Twist {
    Twist { linear: x * a.linear, angular: x * a.angular }
}

/// A motion at a place that is `r` away from where it is given.
pub(super) fn moved(a: &Twist, r: Vec3) -> Twist {
    Twist { linear: a.linear + a.angular.cross(r), angular: a.angular }
}

fn cross_matrix(r: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, r.z, -r.y), Vec3::new(-r.z, 0.0, r.x), Vec3::new(r.y, -r.x, 0.0))
}

/// a bᵀ.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Part of its diagonal that a pivot must be, else nothing resists this freedom and it is left alone.
const PIVOT: f64 = 1e-13;

/// L D Lᵀ of a symmetric matrix of `n` rows, of which the lower half is given: L below the diagonal (its
/// own diagonal is 1), 1/d apart, zero where there is no pivot.
pub(super) fn factor(n: usize, m: &mut [f64], inverse: &mut [f64]) {
    let mut pivots = [0.0; 6];
    for j in 0..n {
        let whole = m[j * n + j];
        let mut d = whole;
        for k in 0..j {
            d -= m[j * n + k] * m[j * n + k] * pivots[k];
        }
        // a NaN has no pivot either
        (pivots[j], inverse[j]) = if d > PIVOT * whole { (d, 1.0 / d) } else { (0.0, 0.0) };
        for i in j + 1..n {
            let mut s = m[i * n + j];
            for k in 0..j {
                s -= m[i * n + k] * m[j * n + k] * pivots[k];
            }
            m[i * n + j] = s * inverse[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_solve_the_system_and_leave_freedoms_without_pivot_alone() {
        let m = [4.0, 2.0, -1.0, 2.0, 5.0, 0.5, -1.0, 0.5, 3.0];
        let (mut l, mut inverse) = (m, [0.0; 3]);
        factor(3, &mut l, &mut inverse);
        for i in 0..3 {
            for j in 0..3 {
                let at = |i: usize, k: usize| if k < i { l[3 * i + k] } else { f64::from(i == k) };
                let sum: f64 = (0..3).map(|k| at(i, k) * at(j, k) / inverse[k]).sum();
                let half = if j <= i { m[3 * i + j] } else { m[3 * j + i] };
                assert!((sum - half).abs() < 1e-14, "{i} {j}: {sum} against {half}");
            }
        }
        let (mut l, mut inverse) = ([1.0, 1.0, 1.0, 1.0], [0.0; 2]);
        factor(2, &mut l, &mut inverse);
        assert_eq!(inverse, [1.0, 0.0]);
    }

    #[test]
    fn an_inertia_seen_from_elsewhere_has_the_same_energy() {
        let inertia = Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0));
        let own = Inertia::of(2.0, inertia);
        let r = Vec3::new(0.3, -0.7, 1.1);
        let mut seen = Inertia::ZERO;
        seen.add_from(&own, r);
        let v = Twist { linear: Vec3::new(1.0, 2.0, -1.0), angular: Vec3::new(0.4, -2.0, 0.7) };
        let there = moved(&v, r);
        let (a, b) = (dot(&v, &seen.times(&v)), dot(&there, &own.times(&there)));
        assert!((a - b).abs() < 1e-13 * a, "{a} {b}");
    }
}
