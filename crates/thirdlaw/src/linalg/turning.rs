//! How far the surroundings of each particle have turned.
//!
//! A stiff matrix turns with what it belongs to: A_ij becomes R_i A_ij R_jᵀ where the elements around turn by R and
//! keep their shape. A factor of the one, between these rotations, is one of the other, as far as
//! neighbours turn alike. R_i is the rotation nearest to Σ_j d_j D_jᵀ over the neighbours, D before and d
//! now, found by turning axes towards its columns (Müller et al., "A robust method to extract the
//! rotational part of deformations", 2016). That begins at no rotation, so that what a flat patch or a
//! thread leaves open stays as it was. A few steps find it to about a hundredth, which is enough here.

use super::block::Pattern;
use crate::math::{Mat3, Quat, Vec3, outer, rotation_from_vector};
use crate::parallel::loops::each;

/// Most steps for one particle.
const STEPS: usize = 12;
/// Turns smaller than this are nothing, rad.
const SETTLED: f64 = 1e-4;

/// The rotations from `before` to `now`.
pub fn rotations(pattern: &Pattern, before: &[Vec3], now: &[Vec3], out: &mut Vec<Mat3>) {
    out.resize(before.len(), Mat3::IDENTITY);
    each(before.len(), &mut out[..], &|rows, out: &mut [Mat3]| {
        for (i, out) in rows.zip(out) {
            let mut sum = Mat3::ZERO;
            for &j in &pattern.column[pattern.range(i)] {
                let j = j as usize;
                sum += outer(now[j] - now[i], before[j] - before[i]);
            }
            *out = nearest(&sum);
        }
    });
}

/// The rotation nearest to a matrix, from no rotation on.
fn nearest(m: &Mat3) -> Mat3 {
    let mut turned = Quat::IDENTITY;
    let mut r = Mat3::IDENTITY;
    for _ in 0..STEPS {
        let pull = r.x_axis.cross(m.x_axis) + r.y_axis.cross(m.y_axis) + r.z_axis.cross(m.z_axis);
        let hold = r.x_axis.dot(m.x_axis) + r.y_axis.dot(m.y_axis) + r.z_axis.dot(m.z_axis);
        let step = pull / hold.abs().max(1e-300);
        if !step.is_finite() {
            return Mat3::IDENTITY;
        }
        let step = step.clamp_length_max(1.0);
        turned = (rotation_from_vector(step) * turned).normalize();
        r = Mat3::from_quat(turned);
        if step.length_squared() < SETTLED * SETTLED {
            break;
        }
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_that_turn_give_their_rotation_and_what_is_open_stays() {
        let turn = Mat3::from_quat(rotation_from_vector(Vec3::new(0.2, -0.35, 0.1)));
        let full = [Vec3::X, Vec3::Y, 0.3 * Vec3::Z, Vec3::new(1.0, 1.0, 0.0)];
        for used in [4, 2] {
            let sum: Mat3 =
                full[..used].iter().map(|d| outer(turn * *d, *d)).fold(Mat3::ZERO, |a, b| a + b);
            let found = nearest(&sum);
            let off = (found.x_axis - turn.x_axis).length() + (found.z_axis - turn.z_axis).length();
            assert!(off < 1e-2, "{used} directions: off by {off}");
        }
        // a thread that turns about z tells nothing of a twist
        let swung = Mat3::from_rotation_z(0.5);
        let found = nearest(&outer(swung.x_axis, Vec3::X));
        assert!((found.z_axis - Vec3::Z).length() < 1e-9);
        assert!((found.x_axis - swung.x_axis).length() < 1e-3);
        assert_eq!(nearest(&Mat3::ZERO), Mat3::IDENTITY);
    }
}
