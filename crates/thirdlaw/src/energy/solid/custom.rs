//! A user's own energy density.
//!
//! One function is enough: Ψ(F). Stress and stiffness then come from differences of it; who knows the
//! stress gives it too, which is faster and more exact.

use super::principal::{Blocks, PAIRS};
use crate::math::{Mat3, Vec3};
use std::array::from_fn;
use std::fmt::Debug;

/// An energy density Ψ(F). It must not depend on rotations from the left, Ψ(RF) = Ψ(F), or bodies that
/// turn will push themselves; it must be finite for every finite F, inverted ones among them.
pub trait EnergyDensity: Debug + Send + Sync {
    /// Its name with every number that defines it: worlds that differ in it refuse each other's
    /// snapshots.
    fn name(&self) -> String;

    /// Ψ, J/m³.
    fn density(&self, f: &Mat3) -> f64;

    /// P = ∂Ψ/∂F, Pa; by differences unless given.
    fn stress(&self, f: &Mat3) -> Mat3 {
        let mut p = Mat3::ZERO;
        for k in 0..9 {
            let at = |d: f64| self.density(&moved(f, k, d));
            let (d, e) = (STEP, 2.0 * STEP);
            // fourth order, so that the step may be long enough for digits to be left
            let slope = (8.0 * (at(d) - at(-d)) - (at(e) - at(-e))) / (12.0 * d);
            p.col_mut(k / 3)[k % 3] = slope;
        }
        p
    }
}

/// Change of F by which Ψ is differentiated.
const STEP: f64 = 1e-3;
/// Change of F by which the stress is differentiated.
const STRESS_STEP: f64 = 1e-4;
/// Sweeps of Jacobi's method; eigenvalues of 9×9 need about six.
const SWEEPS: u32 = 12;

fn moved(f: &Mat3, entry: usize, d: f64) -> Mat3 {
    let mut f = *f;
    f.col_mut(entry / 3)[entry % 3] += d;
    f
}

/// P, and the blocks of the stiffness between corners with these gradients, added.
pub fn respond(
    law: &dyn EnergyDensity,
    f: &Mat3,
    gradients: &[Vec3; 3],
    blocks: &mut Blocks,
) -> Mat3 {
    let stress = law.stress(f);
    if gradients.iter().all(|g| *g == Vec3::ZERO) {
        return stress;
    }
    let mut h = [[0.0; 9]; 9];
    for (k, row) in h.iter_mut().enumerate() {
        let d = STRESS_STEP;
        let change = law.stress(&moved(f, k, d)) - law.stress(&moved(f, k, -d));
        *row = change.to_cols_array().map(|x| x / (2.0 * d));
    }
    let h = without_negative(&h);
    for (block, (i, j)) in blocks.iter_mut().zip(PAIRS) {
        let (g, l) = (gradients[i], gradients[j]);
        for row in 0..3 {
            for column in 0..3 {
                let mut sum = 0.0;
                for b in 0..3 {
                    for d in 0..3 {
                        sum += h[3 * b + row][3 * d + column] * g[b] * l[d];
                    }
                }
                block.col_mut(column)[row] += sum;
            }
        }
    }
    stress
}

/// The nearest symmetric matrix without negative eigenvalues, by Jacobi's rotations.
fn without_negative(h: &[[f64; 9]; 9]) -> [[f64; 9]; 9] {
    let mut a: [[f64; 9]; 9] = from_fn(|i| from_fn(|j| 0.5 * (h[i][j] + h[j][i])));
    let mut v: [[f64; 9]; 9] = from_fn(|i| from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    for _ in 0..SWEEPS {
        for p in 0..9 {
            for q in p + 1..9 {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    let entry =
        |i: usize, j: usize| -> f64 { (0..9).map(|k| a[k][k].max(0.0) * v[i][k] * v[j][k]).sum() };
    from_fn(|i| from_fn(|j| entry(i, j)))
}

fn rotate(a: &mut [[f64; 9]; 9], v: &mut [[f64; 9]; 9], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let zeta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for row in a.iter_mut().chain(v.iter_mut()) {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    let (first, second) = (a[p], a[q]);
    a[p] = from_fn(|k| cosine * first[k] - sine * second[k]);
    a[q] = from_fn(|k| sine * first[k] + cosine * second[k]);
}

/// A user's own law is written as its name, and read as one that stands for the name until the law is
/// attached.
pub(super) mod by_name {
    use super::{Debug, EnergyDensity, Mat3};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    #[derive(Debug)]
    struct Named(String);

    impl EnergyDensity for Named {
        fn name(&self) -> String {
            self.0.clone()
        }

        fn density(&self, _: &Mat3) -> f64 {
            0.0
        }
    }

    pub fn serialize<S: Serializer>(
        law: &Arc<dyn EnergyDensity>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        law.name().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<dyn EnergyDensity>, D::Error> {
        Ok(Arc::new(Named(String::deserialize(deserializer)?)))
    }
}
