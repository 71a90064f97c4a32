//! Singular values of a 3×3 matrix with rotations on both sides.
//!
//! F = U diag(σ) Vᵀ with σ₀ ≥ σ₁ ≥ |σ₂|, det U = det V = 1. The last value is negative where F mirrors:
//! an element turned inside out comes back the way of its smallest stretch [irving2004 §4].
//!
//! One-sided Jacobi: columns of F are turned against each other, and V with them, until they are
//! orthogonal. Small values keep their digits, which eigenvalues of FᵀF would lose.

use super::{Mat3, Vec3, outer, tangents};

/// F = U diag(σ) Vᵀ.
#[derive(Clone, Copy, Debug)]
pub struct SignedSvd {
    /// A rotation.
    pub u: Mat3,
    /// σ, in falling order; the last one may be negative.
    pub values: Vec3,
    /// A rotation.
    pub v: Mat3,
}

/// Sweeps over the three pairs of columns; four are enough for any matrix.
const SWEEPS: u32 = 8;
/// Cosine of the angle between columns that counts as right.
const RIGHT: f64 = 1e-15;
/// Part of the largest value below which a column has no direction of its own.
const FLAT: f64 = 1e-12;

/// The factors of `f`, which must be finite.
pub fn signed_svd(f: &Mat3) -> SignedSvd {
    let mut b = [f.x_axis, f.y_axis, f.z_axis];
    let mut v = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..SWEEPS {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            turned |= turn(&mut b, &mut v, p, q);
        }
        if !turned {
            break;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| b[j].length_squared().total_cmp(&b[i].length_squared()));
    let (b, mut v) = (order.map(|i| b[i]), order.map(|i| v[i]));
    v[2] = v[0].cross(v[1]);
    let largest = b[0].length();
    if largest == 0.0 {
        // a point: no direction is better than the one at rest
        return SignedSvd { u: Mat3::IDENTITY, values: Vec3::ZERO, v: Mat3::IDENTITY };
    }
    let u0 = b[0] / largest;
    let across = b[1] - u0 * u0.dot(b[1]);
    let middle = across.length();
    let u1 = if middle > FLAT * largest {
        across / middle
    } else {
        // a line: as near to the rest shape as can be
        let near = v[1] - u0 * u0.dot(v[1]);
        if near.length() > 0.1 { near.normalize() } else { tangents(u0).0 }
    };
    let u2 = u0.cross(u1);
    // v₂ completes a right-handed frame, so that this product is that of f itself
    let last = u2.dot(*f * v[2]);
    SignedSvd {
        u: Mat3::from_cols(u0, u1, u2),
        values: Vec3::new(largest, u1.dot(b[1]), last),
        v: Mat3::from_cols(v[0], v[1], v[2]),
    }
}

/// Turns two columns until they are orthogonal; false if they were.
fn turn(b: &mut [Vec3; 3], v: &mut [Vec3; 3], p: usize, q: usize) -> bool {
    let (first, second, between) = (b[p].length_squared(), b[q].length_squared(), b[p].dot(b[q]));
    if between == 0.0 || between.abs() <= RIGHT * (first * second).sqrt() {
        return false;
    }
    let zeta = (second - first) / (2.0 * between);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for m in [b, v] {
        (m[p], m[q]) = (cosine * m[p] - sine * m[q], sine * m[p] + cosine * m[q]);
    }
    true
}

/// The nearest matrix to a symmetric one (by its lower triangle) that has no negative eigenvalue.
pub fn without_negative(m: &Mat3) -> Mat3 {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    // Sylvester: definite already
    let minor = a.x * b.y - a.y * a.y;
    if a.x > 0.0 && minor > 0.0 && m.determinant() > 0.0 {
        return *m;
    }
    // shifted by more than its norm its singular values are its eigenvalues, shifted
    let shift = 1.0 + a.length() + b.length() + c.length();
    let found = signed_svd(&(*m + Mat3::from_diagonal(Vec3::splat(shift))));
    let mut sum = Mat3::ZERO;
    for k in 0..3 {
        let direction = found.v.col(k);
        let value = (found.values[k] - shift).max(0.0);
        sum += outer(direction * value, direction);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random::unit;

    /// Components in −1…1.
    fn vector(seed: u64, item: u64, lane: u32) -> Vec3 {
        Vec3::from_array([0, 1, 2].map(|k| 2.0 * unit(seed, item, lane + k) - 1.0))
    }

    fn check(f: Mat3) {
        let SignedSvd { u, values, v } = signed_svd(&f);
        let again = u * Mat3::from_diagonal(values) * v.transpose();
        let size = f.to_cols_array().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let off = (again - f).to_cols_array().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        assert!(off <= 4e-14 * size, "{f:?}: {off:e}");
        for r in [u, v] {
            let one = r * r.transpose() - Mat3::IDENTITY;
            assert!(one.to_cols_array().iter().all(|x| x.abs() < 1e-13), "{f:?}");
            assert!((r.determinant() - 1.0).abs() < 1e-13);
        }
        let slack = 1e-12 * size;
        assert!(values.x >= values.y - slack && values.y >= values.z.abs() - slack, "{values}");
    }

    #[test]
    fn factors_of_any_matrix_multiply_to_it() {
        for i in 0..2000 {
            let [a, b, c] = [vector(5, i, 0), vector(5, i, 3), vector(5, i, 6)];
            check(Mat3::from_cols(a, b, c));
            check(Mat3::from_cols(a, b, c) * 1e-9);
            // flat, mirrored, a line, nearly so, and of two equal values
            check(Mat3::from_cols(a, b, a + b));
            check(Mat3::from_cols(a, b, -a - b + 1e-13 * c));
            check(outer(a, b));
            check(Mat3::from_cols(a, a, a));
            let even = signed_svd(&Mat3::from_cols(a, b, c));
            check(even.u * Mat3::from_diagonal(Vec3::new(2.0, 2.0, -2.0)) * even.v);
            check(even.u * Mat3::from_diagonal(Vec3::new(1.0, 1e-8, 1e-16)) * even.v);
        }
        for f in [Mat3::IDENTITY, Mat3::ZERO, -Mat3::IDENTITY] {
            check(f);
        }
    }

    #[test]
    fn negative_eigenvalues_are_removed_and_nothing_else() {
        for i in 0..1000 {
            let [a, b, c] = [vector(9, i, 0), vector(9, i, 3), vector(9, i, 6)];
            let turn = signed_svd(&Mat3::from_cols(a, b, c)).u;
            let values = 3.0 * vector(9, i, 9);
            let of = |d: Vec3| turn * Mat3::from_diagonal(d) * turn.transpose();
            let off = without_negative(&of(values)) - of(values.max(Vec3::ZERO));
            assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-12), "{values}");
        }
    }
}
