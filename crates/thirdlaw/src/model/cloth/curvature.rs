//! The curvature of a triangle from the angles at its three edges.
//!
//! A quadratic height over the triangle's plane that is zero at its corners is Σ c_i λ_j λ_k, with λ
//! the barycentric coordinates and (i, j, k) cyclic. The three vertices beyond its edges rise θ h
//! above the plane, θ being the angle and h the height of the triangle beyond; three heights fix the
//! three c, and with them the curvature Σ c_i (∇λ_j ∇λ_kᵀ + ∇λ_k ∇λ_jᵀ). It is exact for every
//! quadratic surface over every mesh, so bending is as stiff in one direction as in another. Where
//! six vertices lie (nearly) on a conic the heights do not fix the curvature; there half of each
//! angle is taken for the turn of the normal between the triangle and the middle of its edge, which
//! is exact for triangles that are point reflections of their neighbours.

use crate::math::{Mat3, Vec3};

/// κ_uu, κ_vv and κ_uv per angle of each edge, 1/(m·rad). `beyond[k]` is the vertex beyond edge k
/// as (share along that edge in its own triangle's direction, height); none at a border.
pub fn per_angle(uv: &[[f64; 2]; 3], beyond: &[Option<[f64; 2]>; 3]) -> [[f64; 3]; 3] {
    let gradients = barycentric_gradients(uv);
    let half = half_angles(uv, &gradients);
    fitted(uv, &gradients, beyond).filter(|f| size(f) <= 6.0 * size(&half)).unwrap_or(half)
}

fn size(shares: &[[f64; 3]; 3]) -> f64 {
    shares.iter().flatten().map(|x| x * x).sum::<f64>().sqrt()
}

fn barycentric_gradients(uv: &[[f64; 2]; 3]) -> [[f64; 2]; 3] {
    let [a, b, c] = uv;
    let det = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    let g = |p: &[f64; 2], q: &[f64; 2]| [(p[1] - q[1]) / det, (q[0] - p[0]) / det];
    [g(b, c), g(c, a), g(a, b)]
}

/// Σ θ_i l_i/2A t_i t_iᵀ, with t_i the unit vector across edge i.
fn half_angles(uv: &[[f64; 2]; 3], gradients: &[[f64; 2]; 3]) -> [[f64; 3]; 3] {
    let mut shares = [[0.0; 3]; 3];
    for (k, g) in gradients.iter().enumerate() {
        let d = [uv[(k + 2) % 3][0] - uv[(k + 1) % 3][0], uv[(k + 2) % 3][1] - uv[(k + 1) % 3][1]];
        let l2 = d[0] * d[0] + d[1] * d[1];
        // |∇λ| = l/2A
        let scale = (g[0] * g[0] + g[1] * g[1]).sqrt() / l2;
        shares[k] = [d[1] * d[1] * scale, d[0] * d[0] * scale, -d[0] * d[1] * scale];
    }
    shares
}

fn fitted(
    uv: &[[f64; 2]; 3],
    gradients: &[[f64; 2]; 3],
    beyond: &[Option<[f64; 2]>; 3],
) -> Option<[[f64; 3]; 3]> {
    // heights of the three vertices per c, and per angle
    let mut rows = [Vec3::ZERO; 3];
    let mut rise = [0.0; 3];
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let g = gradients[k];
        let height = 1.0 / (g[0] * g[0] + g[1] * g[1]).sqrt();
        let (a, b) = (uv[i], uv[j]);
        let d = [b[0] - a[0], b[1] - a[1]];
        let own = [uv[k][0] - a[0], uv[k][1] - a[1]];
        let own_share = (own[0] * d[0] + own[1] * d[1]) / (d[0] * d[0] + d[1] * d[1]);
        // the neighbour runs through the edge the other way; a border is continued by reflection
        let [share, rise_k] = match beyond[k] {
            Some([share, height]) => [1.0 - share, height],
            None => [1.0 - own_share, height],
        };
        // barycentric coordinates of the vertex beyond: −rise/height at corner k, the rest along
        // the edge so that it stands over `share`
        let mut lambda = [0.0; 3];
        lambda[k] = -rise_k / height;
        lambda[j] = share - own_share * lambda[k];
        lambda[i] = 1.0 - lambda[k] - lambda[j];
        rows[k] = Vec3::new(lambda[1] * lambda[2], lambda[2] * lambda[0], lambda[0] * lambda[1]);
        rise[k] = rise_k;
    }
    // `rows` as rows of the matrix
    let matrix = Mat3::from_cols(rows[0], rows[1], rows[2]).transpose();
    if matrix.determinant().abs() < 1e-9 {
        return None;
    }
    let inverse = matrix.inverse();
    let mut shares = [[0.0; 3]; 3];
    for (k, share) in shares.iter_mut().enumerate() {
        let c = inverse.col(k) * rise[k];
        for (i, c) in c.to_array().into_iter().enumerate() {
            let (p, q) = (gradients[(i + 1) % 3], gradients[(i + 2) % 3]);
            share[0] += 2.0 * c * p[0] * q[0];
            share[1] += 2.0 * c * p[1] * q[1];
            share[2] += c * (p[0] * q[1] + p[1] * q[0]);
        }
    }
    Some(shares)
}
