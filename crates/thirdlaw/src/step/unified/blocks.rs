//! The preconditioner of `coupled.rs`: what nodes put up, with bodies and the particles tied to them together.
//!
//! A particle has the diagonal block P of its elements, a body its mass; both have what ties add, g d gᵀ, and ties
//! between a body and particles add C = Σ g_b d g_pᵀ. Contacts are thousands of times stiffer than what
//! they hold, so that conjugate gradients would need hundreds of iterations for C alone; with the particles
//! taken out of a body's block, K − Σ C P⁻¹Cᵀ, it is solved exactly:
//!
//!   t = P⁻¹r_p,   y_b = S⁻¹(r_b − Σ C t),   y_p = t − P⁻¹Σ Cᵀy_b.
//!
//! Ties to several particles at once (the inside of a triangle) stay out of C: P has nothing between particles, and
//! S would not be positive.
//!
//! With M⁻¹ = LLᵀ of a body, which leaves locked axes out, S⁻¹ = L(1 + LᵀKL)⁻¹Lᵀ.

use super::rows::Rows;
use super::solve::System;
use crate::linalg::block::matrix;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3, outer};

/// The inverse of each node's block; zero where nothing moves it.
#[derive(Debug, Default)]
pub struct Blocks {
    bodies: Vec<[[f64; 6]; 6]>,
    particles: Vec<Mat3>,
    /// C of a body and a particle, as columns, in order.
    between: Vec<Between>,
    found: Vec<Between>,
}

/// What ties add between a body and a particle: how much momentum of the body a velocity of the particle takes.
#[derive(Clone, Copy, Debug)]
struct Between {
    body: u32,
    particle: u32,
    linear: Mat3,
    angular: Mat3,
}

/// Inverses of the blocks of nodes of A + JᵀDJ; D are the slopes of ties.
pub fn invert(
    (system, mass): (&System, &[BodyMass]),
    rows: &Rows,
    slopes: &[[f64; 4]],
    blocks: &mut Blocks,
) {
    let count = system.bodies.len();
    let mut bodies = vec![[[0.0; 6]; 6]; count];
    let mut particles: Vec<Mat3> = (0..mass.len() - count)
        .map(|i| matrix(&system.blocks[system.pattern.diagonal[i] as usize]))
        .collect();
    blocks.found.clear();
    for (tie, d) in rows.ties.iter().zip(slopes) {
        if *d == [0.0; 4] {
            continue;
        }
        let list: Vec<&[(u32, Twist)]> = tie.rows().map(|i| rows.parts_of(&rows.list[i])).collect();
        let particles_of = list[0].iter().filter(|(i, _)| *i as usize >= count);
        let alone = particles_of.count() == 1;
        let at = |k: usize, l: usize| match (k, l) {
            (0, 0) => d[0],
            (1, 1) => d[1],
            (2, 2) => d[3],
            (1, 2) | (2, 1) => d[2],
            _ => 0.0,
        };
        for (k, one) in list.iter().enumerate() {
            for (l, other) in list.iter().enumerate() {
                let d = at(k, l);
                if d == 0.0 {
                    continue;
                }
                if alone {
                    blocks.note_between(d, (one, other), count);
                }
                for (i, g) in *one {
                    for (_, h) in other.iter().filter(|(j, _)| j == i) {
                        let node = *i as usize;
                        if node < count {
                            add_square(&mut bodies[node], d, g, h);
                        } else {
                            particles[node - count] += outer(d * g.linear, h.linear);
                        }
                    }
                }
            }
        }
    }
    blocks.particles.clear();
    for (m, k) in mass[count..].iter().zip(&particles) {
        blocks.particles.push(if m.is_fixed() { Mat3::ZERO } else { k.inverse() });
    }
    blocks.gather_between();
    for c in &blocks.between {
        let p = blocks.particles[c.particle as usize];
        take_out(&mut bodies[c.body as usize], [c.linear, c.angular], p);
    }
    blocks.bodies.clear();
    for ((m, own), k) in mass.iter().zip(system.bodies).zip(&bodies) {
        let zero = [[0.0; 6]; 6];
        blocks.bodies.push(if m.is_fixed() { zero } else { body_inverse(m, *own, k) });
    }
}

/// Nodes of a contact, and what it does to each.
type Moved<'a> = &'a [(u32, Twist)];

impl Blocks {
    /// Notes g_b d g_pᵀ of all bodies in `one` and particles in `other`.
    fn note_between(&mut self, d: f64, (one, other): (Moved, Moved), count: usize) {
        let is_body = |i: &u32| (*i as usize) < count;
        for (body, g) in one.iter().filter(|(i, _)| is_body(i)) {
            for (node, h) in other.iter().filter(|(i, _)| !is_body(i)) {
                self.found.push(Between {
                    body: *body,
                    particle: node - count as u32,
                    linear: outer(d * g.linear, h.linear),
                    angular: outer(d * g.angular, h.linear),
                });
            }
        }
    }

    /// One for each body and particle.
    fn gather_between(&mut self) {
        self.found.sort_by_key(|c| (c.body, c.particle));
        self.between.clear();
        for c in &self.found {
            match self.between.last_mut() {
                Some(last) if (last.body, last.particle) == (c.body, c.particle) => {
                    last.linear += c.linear;
                    last.angular += c.angular;
                }
                _ => self.between.push(*c),
            }
        }
    }

    /// y ← the preconditioner times r.
    pub fn apply(&self, r: &[Twist], y: &mut Vec<Twist>) {
        let count = self.bodies.len();
        y.clear();
        y.extend_from_slice(&r[..count]);
        let particles = r[count..].iter().zip(&self.particles);
        y.extend(particles.map(|(r, p)| Twist { linear: *p * r.linear, angular: Vec3::ZERO }));
        for c in &self.between {
            let t = y[count + c.particle as usize].linear;
            let y = &mut y[c.body as usize];
            y.linear -= c.linear * t;
            y.angular -= c.angular * t;
        }
        for (body, y) in y[..count].iter_mut().enumerate() {
            *y = self.times(body, y);
        }
        for c in &self.between {
            let b = y[c.body as usize];
            let back = c.linear.transpose() * b.linear + c.angular.transpose() * b.angular;
            y[count + c.particle as usize].linear -= self.particles[c.particle as usize] * back;
        }
    }

    /// The inverse of a node's block times r.
    pub fn times(&self, node: usize, r: &Twist) -> Twist {
        let Some(m) = self.bodies.get(node) else {
            let linear = self.particles[node - self.bodies.len()] * r.linear;
            return Twist { linear, angular: Vec3::ZERO };
        };
        let r = flat(r);
        let y: [f64; 6] = std::array::from_fn(|i| (0..6).map(|j| m[i][j] * r[j]).sum());
        Twist { linear: Vec3::new(y[0], y[1], y[2]), angular: Vec3::new(y[3], y[4], y[5]) }
    }
}

fn add_square(k: &mut [[f64; 6]; 6], d: f64, g: &Twist, h: &Twist) {
    let (g, h) = (flat(g), flat(h));
    for (row, g) in k.iter_mut().zip(g) {
        row.iter_mut().zip(h).for_each(|(k, h)| *k += d * g * h);
    }
}

/// K ← K − C P⁻¹Cᵀ.
fn take_out(k: &mut [[f64; 6]; 6], c: [Mat3; 2], inverse: Mat3) {
    for (m, one) in c.iter().enumerate() {
        for (n, other) in c.iter().enumerate() {
            let product = *one * inverse * other.transpose();
            for i in 0..3 {
                for j in 0..3 {
                    k[3 * m + i][3 * n + j] -= product.col(j)[i];
                }
            }
        }
    }
}

fn flat(t: &Twist) -> [f64; 6] {
    let (l, a) = (t.linear, t.angular);
    [l.x, l.y, l.z, a.x, a.y, a.z]
}

/// L (A' + LᵀKL)⁻¹Lᵀ with M⁻¹ = LLᵀ, which leaves locked axes alone; A' is 1 + h·damping.
fn body_inverse(mass: &BodyMass, own: (f64, Mat3), k: &[[f64; 6]; 6]) -> [[f64; 6]; 6] {
    let mut root = [[0.0; 6]; 6];
    for (axis, inverse) in mass.inv_mass.to_array().into_iter().enumerate() {
        root[axis][axis] = inverse.sqrt();
    }
    let w = mass.inv_inertia;
    for i in 0..3 {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|m| root[3 + i][3 + m] * root[3 + j][3 + m]).sum();
            let left = w.col(j)[i] - sum;
            let floor = 1e-12 * w.col(i)[i];
            root[3 + i][3 + j] = if i == j {
                if left > floor { left.sqrt() } else { 0.0 }
            } else if root[3 + j][3 + j] > 0.0 {
                left / root[3 + j][3 + j]
            } else {
                0.0
            };
        }
    }
    let most = mass.inv_mass.max_element();
    let linear = if most > 0.0 { own.0 * most } else { 1.0 };
    let turn = {
        let product = own.1 * w;
        let trace = product.x_axis.x.max(product.y_axis.y).max(product.z_axis.z);
        if trace > 0.0 { trace } else { 1.0 }
    };
    // B = A' + LᵀKL, factored in place
    let mut inner = [[0.0; 6]; 6];
    let mut image = [[0.0; 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            image[i][j] = (0..6).map(|m| k[i][m] * root[m][j]).sum();
        }
    }
    for i in 0..6 {
        for j in 0..6 {
            inner[i][j] = (0..6).map(|m| root[m][i] * image[m][j]).sum();
        }
        inner[i][i] += if i < 3 { linear } else { turn };
    }
    for i in 0..6 {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|m| inner[i][m] * inner[j][m]).sum();
            let left = inner[i][j] - sum;
            inner[i][j] =
                if i == j { left.max(f64::MIN_POSITIVE).sqrt() } else { left / inner[j][j] };
        }
    }
    // X = C⁻¹Lᵀ, and the inverse XᵀX
    let mut x = [[0.0; 6]; 6];
    for column in 0..6 {
        for i in 0..6 {
            let sum: f64 = (0..i).map(|m| inner[i][m] * x[m][column]).sum();
            x[i][column] = (root[column][i] - sum) / inner[i][i];
        }
    }
    std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|m| x[m][i] * x[m][j]).sum()))
}
