//! The same problems in dense algebra, written without the code under test.

use crate::contact::problem::*;

/// J, M⁻¹, N + Γ and q = J v + b as dense arrays.
pub struct Dense {
    pub jacobian: Vec<Vec<f64>>,
    pub inv_mass: Vec<Vec<f64>>,
    pub matrix: Vec<Vec<f64>>,
    pub q: Vec<f64>,
    pub velocity: Vec<f64>,
}

pub fn flatten(velocities: &Velocities) -> Vec<f64> {
    let vectors = velocities.bodies.iter().flat_map(|t| [t.linear, t.angular]);
    vectors.chain(velocities.particles.iter().copied()).flat_map(|v| v.to_array()).collect()
}

pub fn multiply(a: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

pub fn transpose(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// A row of J as a dense vector.
pub fn jacobian_row(problem: &ContactProblem, block: &Block, row: &Row) -> Vec<f64> {
    let mut out = vec![0.0; 6 * problem.bodies.len() + 3 * problem.particles.len()];
    for (side, arm, sign) in [(block.a, row.arm_a, -1.0), (block.b, row.arm_b, 1.0)] {
        match side {
            ContactSide::World => {}
            ContactSide::Body(b) => {
                for k in 0..3 {
                    out[6 * b as usize + k] += sign * row.direction[k];
                    out[6 * b as usize + 3 + k] += sign * arm[k];
                }
            }
            ContactSide::Particles { index, weight } => {
                for (p, w) in index.into_iter().zip(weight) {
                    for k in 0..3 {
                        let at = 6 * problem.bodies.len() + 3 * p as usize + k;
                        out[at] += sign * w * row.direction[k];
                    }
                }
            }
        }
    }
    out
}

pub fn inverse_mass(problem: &ContactProblem) -> Vec<Vec<f64>> {
    let bodies = problem.bodies.len();
    let n = 6 * bodies + 3 * problem.particles.len();
    let mut out = vec![vec![0.0; n]; n];
    for (b, mass) in problem.bodies.iter().enumerate() {
        for k in 0..3 {
            out[6 * b + k][6 * b + k] = mass.inv_mass[k];
            for l in 0..3 {
                out[6 * b + 3 + k][6 * b + 3 + l] = mass.inv_inertia.col(l)[k];
            }
        }
    }
    for (p, mass) in problem.particles.iter().enumerate() {
        for k in 0..3 {
            out[6 * bodies + 3 * p + k][6 * bodies + 3 * p + k] = *mass;
        }
    }
    out
}

impl Dense {
    pub fn new(problem: &ContactProblem, velocities: &Velocities) -> Dense {
        let jacobian: Vec<Vec<f64>> = problem
            .blocks
            .iter()
            .flat_map(|block| block.rows().map(move |i| (block, i)))
            .map(|(block, i)| jacobian_row(problem, block, &problem.rows[i]))
            .collect();
        let inv_mass = inverse_mass(problem);
        let mut matrix: Vec<Vec<f64>> =
            jacobian.iter().map(|row| multiply(&jacobian, &multiply(&inv_mass, row))).collect();
        for (i, row) in problem.rows.iter().enumerate() {
            matrix[i][i] += row.compliance;
        }
        let velocity = flatten(velocities);
        let q = multiply(&jacobian, &velocity)
            .iter()
            .zip(&problem.rows)
            .map(|(v, row)| v + row.bias)
            .collect();
        Dense { jacobian, inv_mass, matrix, q, velocity }
    }

    /// ½zᵀNz + zᵀq.
    pub fn energy(&self, z: &[f64]) -> f64 {
        let nz = multiply(&self.matrix, z);
        z.iter().zip(nz).zip(&self.q).map(|((z, nz), q)| z * (0.5 * nz + q)).sum()
    }

    /// v⁰ + M⁻¹Jᵀz.
    pub fn velocities(&self, z: &[f64]) -> Vec<f64> {
        let change = multiply(&self.inv_mass, &multiply(&transpose(&self.jacobian), z));
        self.velocity.iter().zip(change).map(|(v, d)| v + d).collect()
    }
}

/// Gaussian elimination with pivoting.
pub fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, p);
        b.swap(k, p);
        let pivot = a[k].clone();
        for i in k + 1..n {
            let f = a[i][k] / pivot[k];
            for (x, p) in a[i].iter_mut().zip(&pivot).skip(k) {
                *x -= f * p;
            }
            b[i] -= f * b[k];
        }
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    b
}

/// Murty's least-index principal pivoting for z ≥ 0 ⟂ Nz + q ≥ 0 with N positive definite.
pub fn murty(matrix: &[Vec<f64>], q: &[f64]) -> Vec<f64> {
    let n = q.len();
    let mut basic = vec![false; n];
    for _ in 0..10_000 {
        let set: Vec<usize> = (0..n).filter(|&i| basic[i]).collect();
        let sub = set.iter().map(|&i| set.iter().map(|&j| matrix[i][j]).collect()).collect();
        let x = linear_solve(sub, set.iter().map(|&i| -q[i]).collect());
        let mut z = vec![0.0; n];
        for (&i, x) in set.iter().zip(x) {
            z[i] = x;
        }
        let w: Vec<f64> = multiply(matrix, &z).iter().zip(q).map(|(a, q)| a + q).collect();
        let wrong = (0..n).find(|&i| if basic[i] { z[i] < -1e-12 } else { w[i] < -1e-12 });
        match wrong {
            Some(i) => basic[i] = !basic[i],
            None => return z,
        }
    }
    panic!("Murty's method did not end");
}
