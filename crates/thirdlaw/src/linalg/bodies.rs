//! The preconditioner of bodies that are unknowns: the inverse of each body's own 6×6 block of TᵀAT.
//!
//! Particles that a body carries make it as stiff as the cloth around them, and stiff terms between
//! the two as stiff as those, where no cluster has them; its mass alone says nothing of either. With K what both add and
//! M⁻¹ = L Lᵀ, which may leave out axes that cannot move, the inverse of M + K is
//! L (I + Lᵀ K L)⁻¹ Lᵀ.

use super::block::{Block, Pattern, Scalar, matrix};
use super::clusters::Clusters;
use super::filter::{Filter, Hold, NONE};
use super::stencil::Stencils;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};

pub(crate) type Mat6 = [[f64; 6]; 6];

/// Inverses for all bodies.
#[derive(Clone, Debug, Default)]
pub struct BodyPrecondition {
    stiffness: Vec<Mat6>,
    inverse: Vec<Mat6>,
}

impl BodyPrecondition {
    /// For bodies of these masses.
    pub fn update<T: Scalar>(
        &mut self,
        masses: &[BodyMass],
        (pattern, blocks): (&Pattern, &[Block<T>]),
        filter: &Filter<T>,
        (stencils, clusters): (&Stencils<T>, &Clusters),
    ) {
        self.stiffness.clear();
        self.stiffness.resize(masses.len(), [[0.0; 6]; 6]);
        for hold in filter.holds.iter().filter(|h| h.body != NONE) {
            let sum = &mut self.stiffness[hold.body as usize];
            let own = carried(hold);
            for place in pattern.range(hold.particle as usize) {
                let other = filter.index[pattern.column[place] as usize];
                let Some(other) = filter.holds.get(other as usize) else { continue };
                if other.body != hold.body {
                    continue;
                }
                let block = matrix(&blocks[place]);
                let other = carried(other).map(|column| block * column);
                for (row, a) in sum.iter_mut().zip(&own) {
                    for (x, b) in row.iter_mut().zip(&other) {
                        *x += a.dot(*b);
                    }
                }
            }
        }
        for (s, stencil) in stencils.list.iter().enumerate() {
            if stencil.body == NONE || !clusters.is_loose(s) {
                continue;
            }
            let sum = &mut self.stiffness[stencil.body as usize];
            let [d, a] = stencil.wrench;
            let g = [d.x, d.y, d.z, a.x, a.y, a.z];
            for (row, x) in sum.iter_mut().zip(g) {
                for (sum, y) in row.iter_mut().zip(g) {
                    *sum += stencil.stiffness * x * y;
                }
            }
        }
        self.inverse.clear();
        let pairs = masses.iter().zip(&self.stiffness);
        self.inverse.extend(pairs.map(|(mass, stiffness)| inverse(mass, stiffness)));
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.inverse.is_empty()
    }

    /// The answer of a body to a wrench.
    pub fn apply(&self, body: usize, wrench: &[Vec3; 2]) -> [Vec3; 2] {
        times(&self.inverse[body], wrench)
    }
}

/// What a body does where its inverse is this.
pub(crate) fn times(inverse: &Mat6, [f, t]: &[Vec3; 2]) -> [Vec3; 2] {
    let w = [f.x, f.y, f.z, t.x, t.y, t.z];
    let row = |i: usize| inverse[i].iter().zip(w).map(|(a, b)| a * b).sum::<f64>();
    [Vec3::new(row(0), row(1), row(2)), Vec3::new(row(3), row(4), row(5))]
}

/// What each of the six motions of its body makes a held particle do.
pub(super) fn carried(hold: &Hold) -> [Vec3; 6] {
    let held = hold.held();
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let moved = axes.map(|axis| held * axis);
    let turned = axes.map(|axis| held * axis.cross(hold.arm));
    [moved[0], moved[1], moved[2], turned[0], turned[1], turned[2]]
}

/// L with M⁻¹ = L Lᵀ, which is symmetric.
pub(crate) fn root(mass: &BodyMass) -> Mat6 {
    let root = |x: f64| x.max(0.0).sqrt();
    let eigen = glamx::DSymmetricEigen3::new(mass.inv_inertia);
    let roots = Vec3::from_array(eigen.eigenvalues.to_array().map(root));
    let v = eigen.eigenvectors;
    let angular: Mat3 = v * Mat3::from_diagonal(roots) * v.transpose();
    let linear = Mat3::from_diagonal(Vec3::from_array(mass.inv_mass.to_array().map(root)));
    let mut l = [[0.0; 6]; 6];
    for i in 0..3 {
        for j in 0..3 {
            l[i][j] = linear.col(j)[i];
            l[3 + i][3 + j] = angular.col(j)[i];
        }
    }
    l
}

/// L (I + Lᵀ K L)⁻¹ Lᵀ.
pub(crate) fn inverse(mass: &BodyMass, k: &Mat6) -> Mat6 {
    let l = root(mass);
    let mut inner = product(&product(&l, k), &l);
    for (i, row) in inner.iter_mut().enumerate() {
        row[i] += 1.0;
    }
    // columns of (I + LKL)⁻¹ L by Cholesky; its eigenvalues are at least one
    let mut factor = inner;
    for i in 0..6 {
        for j in 0..=i {
            let known: f64 = (0..j).map(|m| factor[i][m] * factor[j][m]).sum();
            let rest = factor[i][j] - known;
            factor[i][j] = if i == j { rest.max(1e-300).sqrt() } else { rest / factor[j][j] };
        }
    }
    let mut solved = [[0.0; 6]; 6];
    for column in 0..6 {
        let mut x: [f64; 6] = std::array::from_fn(|i| l[i][column]);
        for i in 0..6 {
            let known: f64 = (0..i).map(|m| factor[i][m] * x[m]).sum();
            x[i] = (x[i] - known) / factor[i][i];
        }
        for i in (0..6).rev() {
            let known: f64 = (i + 1..6).map(|m| factor[m][i] * x[m]).sum();
            x[i] = (x[i] - known) / factor[i][i];
        }
        for i in 0..6 {
            solved[i][column] = x[i];
        }
    }
    product(&l, &solved)
}

fn product(a: &Mat6, b: &Mat6) -> Mat6 {
    let mut out = [[0.0; 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            out[i][j] = (0..6).map(|m| a[i][m] * b[m][j]).sum();
        }
    }
    out
}
