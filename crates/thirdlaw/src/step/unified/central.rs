//! Central bodies: one body or particle exchanges impulses with everything that meets it at once
//! [shinar2008 §6.1, Eq. 1–2, and §7.3, Eq. 3–4], which takes a message two links at a time through a row.
//!
//! With y = (Δv, Δω) of the central body, D_o = Δv + r*ᵀ Δω its change at the point, and a wanted change w_o of
//! the relative velocity (outer less central),
//!
//!   j_o = B_o (w_o + D_o),   B = K_o⁻¹, or along the normal alone L_o = n nᵀ (nᵀK_o n)⁻¹,
//!   (m + ΣB) Δv + ΣB r*ᵀ Δω = −ΣB w,   Σr*B Δv + (I + Σr*B r*ᵀ) Δω = −Σr*B w.
//!
//! The print's Eq. 4 has r*ᵀ for r* in three places and does not follow from Eq. 3. Outer bodies that nothing
//! moves prescribe D_o = −w_o instead: y is split into what they determine, along normals first and across
//! where that is still free, and the null space of their equations, in which the system above is solved.

use super::pairs::cross;
use crate::math::{Mat3, Vec3, tangents};

/// A body that meets the central one.
#[derive(Clone, Copy, Debug)]
pub struct Outer {
    /// From the centre of mass of the central body to the point, m.
    pub arm: Vec3,
    /// B, or `None` where nothing moves the outer body.
    pub block: Option<Mat3>,
    /// Unit vector along which it is pushed.
    pub normal: Vec3,
    /// Wanted change of the relative velocity, outer less central.
    pub wanted: Vec3,
}

/// Change of the linear and angular velocity.
pub type Change = [Vec3; 2];

type Vector = [f64; 6];
type Matrix = [Vector; 6];

/// What a central body puts up: kg, and inertia in world axes; a particle has none.
#[derive(Clone, Copy, Debug)]
pub struct Central {
    /// kg.
    pub mass: f64,
    /// kg·m²; `None` does not turn.
    pub inertia: Option<Mat3>,
}

impl Central {
    fn size(&self) -> usize {
        if self.inertia.is_some() { 6 } else { 3 }
    }

    /// The change that gives every outer body what it wants.
    pub fn solve(&self, outers: &[Outer]) -> Change {
        let n = self.size();
        let (mut matrix, mut right) = self.system(outers);
        let (basis, held) = self.held(outers);
        if held == 0 {
            cholesky(matrix, n, &mut right);
            return change(&right, 1.0);
        }
        let unit = |i: usize| if i < 3 { 1.0 } else { 1.0 / self.gyration() };
        for (i, row) in matrix.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(j, entry)| *entry *= unit(i) * unit(j));
            right[i] *= unit(i);
        }
        change(&split(&matrix, &right, (&basis, held), n), unit(3))
    }

    /// The matrix and right side of all outer bodies that move.
    pub fn system(&self, outers: &[Outer]) -> (Matrix, Vector) {
        let (mut top, mut side) = (Mat3::from_diagonal(Vec3::splat(self.mass)), Mat3::ZERO);
        let mut low = self.inertia.unwrap_or(Mat3::IDENTITY);
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for outer in outers {
            let Some(b) = outer.block else { continue };
            let r = cross(outer.arm);
            top += b;
            side += r * b;
            low += r * b * r.transpose();
            force -= b * outer.wanted;
            torque -= r * (b * outer.wanted);
        }
        let mut matrix = Matrix::default();
        for (i, row) in matrix.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = match (i < 3, j < 3) {
                    (true, true) => top.col(j)[i],
                    (false, true) => side.col(j)[i - 3],
                    (true, false) => side.col(i)[j - 3],
                    (false, false) => low.col(j - 3)[i - 3],
                };
            }
        }
        let right = [force.x, force.y, force.z, torque.x, torque.y, torque.z];
        (matrix, right)
    }

    /// Orthonormal rows of what outer bodies that do not move determine, each with its value.
    fn held(&self, outers: &[Outer]) -> ([(Vector, f64); 6], usize) {
        let (mut basis, mut count) = ([(Vector::default(), 0.0); 6], 0);
        let fixed = || outers.iter().filter(|outer| outer.block.is_none());
        for outer in fixed() {
            self.hold(outer, outer.normal, &mut basis, &mut count);
        }
        for outer in fixed() {
            let (s, t) = tangents(outer.normal);
            self.hold(outer, s, &mut basis, &mut count);
            self.hold(outer, t, &mut basis, &mut count);
        }
        (basis, count)
    }

    /// Adds the row axis · D = −axis · w, unless those before determine it.
    fn hold(&self, outer: &Outer, axis: Vec3, basis: &mut [(Vector, f64); 6], count: &mut usize) {
        if *count == self.size() {
            return;
        }
        // lengths in units of the radius of gyration, so that turns weigh as much as shifts
        let turn = if self.inertia.is_some() { outer.arm.cross(axis) } else { Vec3::ZERO };
        let scale = self.gyration();
        let mut row = [axis.x, axis.y, axis.z, turn.x / scale, turn.y / scale, turn.z / scale];
        let mut value = -axis.dot(outer.wanted);
        let whole = dot(&row, &row).sqrt();
        for (known, held) in &basis[..*count] {
            let share = dot(&row, known);
            row.iter_mut().zip(known).for_each(|(x, k)| *x -= share * k);
            value -= share * held;
        }
        let left = dot(&row, &row).sqrt();
        if left > DEPENDENT * whole {
            row.iter_mut().for_each(|x| *x /= left);
            basis[*count] = (row, value / left);
            *count += 1;
        }
    }

    fn gyration(&self) -> f64 {
        let Some(inertia) = self.inertia else { return 1.0 };
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        (trace / (3.0 * self.mass)).sqrt()
    }
}

/// Length of what is left of a row that counts as determined by others, relative to the whole.
const DEPENDENT: f64 = 1e-3;

fn change(y: &Vector, unit: f64) -> Change {
    [Vec3::new(y[0], y[1], y[2]), unit * Vec3::new(y[3], y[4], y[5])]
}

/// Solves in the null space of the held rows and adds what these determine. Unknowns are (Δv, ρΔω), ρ the
/// radius of gyration.
fn split(
    matrix: &Matrix,
    right: &Vector,
    (basis, held): (&[(Vector, f64); 6], usize),
    n: usize,
) -> Vector {
    let mut all = [Vector::default(); 6];
    let mut count = held;
    for (row, (known, _)) in all.iter_mut().zip(&basis[..held]) {
        *row = *known;
    }
    for axis in 0..n {
        if count == n {
            break;
        }
        let mut row = Vector::default();
        row[axis] = 1.0;
        for known in &all[..count] {
            let share = dot(&row, known);
            row.iter_mut().zip(known).for_each(|(x, k)| *x -= share * k);
        }
        let left = dot(&row, &row).sqrt();
        if left > 1e-6 {
            row.iter_mut().for_each(|x| *x /= left);
            all[count] = row;
            count += 1;
        }
    }
    let mut y = Vector::default();
    for (known, value) in &basis[..held] {
        y.iter_mut().zip(known).for_each(|(y, k)| *y += value * k);
    }
    let free = &all[held..count];
    let mut small = Matrix::default();
    let mut rest = Vector::default();
    for (i, row) in free.iter().enumerate() {
        let image: Vector = std::array::from_fn(|k| dot(&matrix[k], row));
        for (j, other) in free.iter().enumerate() {
            small[i][j] = dot(&image, other);
        }
        rest[i] = dot(right, row) - dot(&image, &y);
    }
    cholesky(small, free.len(), &mut rest);
    for (row, z) in free.iter().zip(rest) {
        y.iter_mut().zip(row).for_each(|(y, x)| *y += z * x);
    }
    y
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// x ← A⁻¹ x for the leading n unknowns of a positive matrix.
fn cholesky(mut a: Matrix, n: usize, x: &mut Vector) {
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            let left = a[i][j] - sum;
            a[i][j] = if i == j { left.max(f64::MIN_POSITIVE).sqrt() } else { left / a[j][j] };
        }
    }
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| a[i][k] * x[k]).sum();
        x[i] = (x[i] - sum) / a[i][i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k][i] * x[k]).sum();
        x[i] = (x[i] - sum) / a[i][i];
    }
}
