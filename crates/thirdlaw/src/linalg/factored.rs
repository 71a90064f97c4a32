//! A sparse factor of the whole system as its preconditioner.
//!
//! Block Jacobi and coarse levels take the more iterations the stiffer cloth is and the more it is curved: a
//! sheet that bends without stretching has soft motions that no coarse sheet of straight threads knows. A
//! factor of
//!
//!   TᵀAT = [ S A S + I − S    B ]
//!          [ Bᵀ               D ]
//!
//! knows them all. T is the map of free unknowns to velocities (filter.rs), the second row belongs to bodies that
//! are unknowns. The first block is factored with nested dissection (sparse/); bodies come last, as a dense
//! border: with Y = L⁻¹B their own system is D − Yᵀ Δ⁻¹ Y, Δ being the pivots.
//!
//! Terms between particles that no element connects (layers of cloth) are taken apart, so that what is
//! factored stays definite; conjugate gradients find the rest. The same where a factor of an earlier
//! round goes on serving: it turns with the cloth (turning.rs), and particles held then and free now have
//! their own block besides.

use super::block::{Block, Lane, Pattern, block_of, dot, lane, matrix, multiply_add, vector};
use super::bodies::{Mat6, carried, root};
use super::cholesky::Cholesky;
use super::filter::{Filter, Hold, NONE};
use super::precondition::Precondition;
use super::sparse::Groups;
use super::sparse::factor::Numbers;
use super::sparse::plan::{Entry, Plan};
use super::stencil::{Stencil, Stencils};
use super::turning::rotations;
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Vec3};
use std::collections::HashSet;

/// Most bodies that a factor takes in.
pub const BODIES_MAX: usize = 24;

/// Order and places of a factor, which follow from the elements alone.
#[derive(Clone, Debug, Default)]
pub struct FactorPlan {
    plan: Plan,
    /// Place of each block of the pattern on or below the diagonal, row by row.
    entries: Vec<Entry>,
}

impl FactorPlan {
    /// For a matrix whose blocks are the pairs of these sets of particles.
    pub fn new(pattern: &Pattern, mut sets: Vec<Vec<u32>>) -> FactorPlan {
        let mut groups = Groups::default();
        groups.clear();
        groups.far_reaching = u32::MAX;
        groups.sizes.resize(pattern.rows(), 3);
        // the largest first: sets within them add nothing
        sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
        let mut covered = HashSet::new();
        for set in &sets {
            let pairs = || set.iter().flat_map(|&a| set.iter().map(move |&b| (a, b)));
            let mut new = false;
            pairs().filter(|(a, b)| a < b).for_each(|pair| new |= covered.insert(pair));
            if new {
                groups.members.extend_from_slice(set);
                groups.end_group();
            }
        }
        let mut plan = Plan::default();
        plan.build(&groups);
        let mut entries = Vec::with_capacity(pattern.column.len() / 2 + pattern.rows());
        for i in 0..pattern.rows() {
            let columns = pattern.column[pattern.range(i)].iter().filter(|&&j| j <= i as u32);
            entries.extend(columns.map(|&j| plan.entry(i as u32, j)));
        }
        FactorPlan { plan, entries }
    }

    /// Multiplications of a factorization, and of one application.
    pub fn work(&self) -> [u64; 2] {
        [self.plan.work[0], 2 * self.plan.work[1]]
    }
}

/// The numbers of a factor.
#[derive(Clone, Debug, Default)]
pub struct Factored {
    numbers: Numbers,
    holds: Vec<Hold>,
    /// Where particles were, and how their surroundings have turned since.
    places: Vec<Vec3>,
    turns: Vec<Mat3>,
    /// Y, row by row of the plan's order, and its number of columns.
    border: Vec<f64>,
    width: usize,
    /// L of all bodies, and I + Lᵀ (D − Yᵀ Δ⁻¹ Y) L without their masses.
    roots: Vec<Mat6>,
    bodies: Cholesky,
    /// Whether nothing of the matrix was left out.
    pub exact: bool,
    /// Particles held then and free now, with the inverse of their own blocks.
    released: Vec<(u32, Block<f64>)>,
    x: Vec<f64>,
    body: Vec<f64>,
    touched: Vec<u32>,
}

/// The matrix with its constraints.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    pub pattern: &'a Pattern,
    pub blocks: &'a [Block<f64>],
    pub stencils: &'a Stencils<f64>,
    pub filter: &'a Filter<f64>,
    pub masses: &'a [BodyMass],
    /// Where the elements are linearized, m.
    pub places: &'a [Vec3],
}

impl Factored {
    /// Factors a matrix; false if it is not positive definite.
    pub fn factor(&mut self, plan: &FactorPlan, whole: &Whole) -> bool {
        self.holds.clone_from(&whole.filter.holds);
        self.places.clear();
        self.places.extend_from_slice(whole.places);
        self.turns.clear();
        self.released.clear();
        self.exact = true;
        self.numbers.clear(&plan.plan);
        self.add_matrix(plan, whole);
        self.add_stencils(&plan.plan, whole);
        self.numbers.factor(&plan.plan);
        if self.numbers.without > 0 {
            return false;
        }
        self.width = 6 * whole.masses.len();
        if self.width > 0 {
            self.take_in_bodies(&plan.plan, whole);
        }
        true
    }

    fn add_block(&mut self, entry: &Entry, block: &Mat3, own: bool) {
        for column in 0..3 {
            for row in if own { column } else { 0 }..3 {
                self.numbers.add(entry, row, column, block.col(column)[row]);
            }
        }
    }

    /// S A S + I − S, with held directions as stiff as the free ones.
    fn add_matrix(&mut self, plan: &FactorPlan, whole: &Whole) {
        let Whole { pattern, blocks, filter, .. } = *whole;
        let mut entries = plan.entries.iter();
        for i in 0..pattern.rows() {
            let mine = filter.held(i).map(|hold| filter.holds[hold].free);
            for place in pattern.range(i) {
                let j = pattern.column[place] as usize;
                if j > i {
                    continue;
                }
                let Some(entry) = entries.next() else { return };
                let mut block = matrix(&blocks[place]);
                let scale = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
                if let Some(free) = mine {
                    block = free * block;
                }
                if let Some(hold) = filter.held(j) {
                    block *= filter.holds[hold].free;
                }
                if let Some(free) = mine.filter(|_| i == j) {
                    block += scale * (Mat3::IDENTITY - free);
                }
                self.add_block(entry, &block, i == j);
            }
        }
    }

    fn add_stencils(&mut self, plan: &Plan, whole: &Whole) {
        for stencil in &whole.stencils.list {
            let gradient = filtered(stencil, whole.filter);
            let mut side = [usize::MAX; 4];
            for a in 0..4 {
                if gradient[a] == Vec3::ZERO {
                    continue;
                }
                // with the first particles all of which the factor couples with it
                let fits = |s: usize| {
                    (0..a).filter(|&b| side[b] == s).all(|b| {
                        let pair = (stencil.particles[a], stencil.particles[b]);
                        plan.find(pair.0, pair.1).is_some()
                    })
                };
                side[a] = (0..4).find(|&s| fits(s)).unwrap_or(a);
                self.exact &= side[a] == 0;
                for b in (0..=a).filter(|&b| side[b] == side[a]) {
                    let (i, j) = (stencil.particles[a], stencil.particles[b]);
                    let Some(entry) = plan.find(i, j) else { continue };
                    let block = stencil.stiffness * crate::math::outer(gradient[a], gradient[b]);
                    if a != b && i == j {
                        self.add_block(&entry, &(block + block.transpose()), true);
                    } else {
                        self.add_block(&entry, &block, a == b);
                    }
                }
            }
        }
    }

    /// Y and the system of the bodies.
    fn take_in_bodies(&mut self, plan: &Plan, whole: &Whole) {
        let (width, unknowns) = (self.width, plan.width());
        let mut stiffness = vec![0.0; width * width];
        let mut columns = vec![0.0; width * unknowns];
        couple(plan, whole, &mut columns, &mut stiffness);
        let inverse = self.numbers.inverse().to_vec();
        let mut all_touched: Vec<Vec<u32>> = Vec::with_capacity(width);
        for column in columns.chunks_exact_mut(unknowns) {
            self.numbers.forward(plan, column, &mut self.touched);
            all_touched.push(self.touched.clone());
        }
        for (i, touched) in all_touched.iter().enumerate() {
            for j in 0..=i {
                let (a, b) = (&columns[i * unknowns..], &columns[j * unknowns..]);
                let mut sum = 0.0;
                for &panel in touched {
                    for k in plan.panel_unknowns(panel) {
                        sum += a[k] * inverse[k] * b[k];
                    }
                }
                stiffness[i * width + j] -= sum;
                if i != j {
                    stiffness[j * width + i] = stiffness[i * width + j];
                }
            }
        }
        self.border.clear();
        self.border.resize(width * unknowns, 0.0);
        for (c, column) in columns.chunks_exact(unknowns).enumerate() {
            for (k, x) in column.iter().enumerate() {
                self.border[k * width + c] = *x;
            }
        }
        self.roots.clear();
        self.roots.extend(whole.masses.iter().map(root));
        self.bodies.reset(width);
        for (i, row) in scaled(&self.roots, &stiffness, width).chunks_exact(width).enumerate() {
            for (j, x) in row.iter().enumerate().take(i + 1) {
                self.bodies.add(i, j, *x + if i == j { 1.0 } else { 0.0 });
            }
        }
        self.bodies.factor();
    }

    /// Goes on with an earlier factor under another filter.
    pub fn follow(&mut self, whole: &Whole) {
        let Whole { pattern, blocks, filter, .. } = *whole;
        rotations(pattern, &self.places, whole.places, &mut self.turns);
        self.released.clear();
        for hold in &self.holds {
            let i = hold.particle as usize;
            let now = filter.held(i).map_or(Mat3::IDENTITY, |at| filter.holds[at].free);
            let trace = |m: &Mat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
            if trace(&now) > trace(&hold.free) + 0.5 {
                let own = matrix(&blocks[pattern.diagonal[i] as usize]);
                let inverse = super::precondition::filtered_inverse(&own, filter, i);
                self.released.push((hold.particle, block_of(&inverse)));
            }
        }
    }

    /// x and the bodies' part, both in place.
    fn solve(&mut self, plan: &Plan) {
        let Factored { numbers, border, width, roots, bodies, x, body, touched, .. } = self;
        numbers.forward(plan, x, touched);
        let inverse = numbers.inverse();
        if *width > 0 {
            for ((row, x), inverse) in border.chunks_exact(*width).zip(&*x).zip(inverse) {
                let y = x * inverse;
                body.iter_mut().zip(row).for_each(|(b, row)| *b -= row * y);
            }
            turn(roots, body);
            bodies.solve(body);
            turn(roots, body);
            for (row, x) in border.chunks_exact(*width).zip(&mut *x) {
                *x -= row.iter().zip(&*body).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        x.iter_mut().zip(inverse).for_each(|(x, inverse)| *x *= inverse);
        numbers.backward(plan, x);
    }
}

/// S g of all particles.
fn filtered(stencil: &Stencil, filter: &Filter<f64>) -> [Vec3; 4] {
    let mut out = stencil.gradient;
    for (&i, g) in stencil.particles.iter().zip(&mut out) {
        if let Some(hold) = filter.held(i as usize) {
            *g = filter.holds[hold].free * *g;
        }
    }
    out
}

/// L x of all bodies.
fn turn(roots: &[Mat6], x: &mut [f64]) {
    for (root, x) in roots.iter().zip(x.chunks_exact_mut(6)) {
        let old: [f64; 6] = std::array::from_fn(|k| x[k]);
        for (x, row) in x.iter_mut().zip(root) {
            *x = row.iter().zip(old).map(|(a, b)| a * b).sum();
        }
    }
}

/// Lᵀ K L of all bodies.
fn scaled(roots: &[Mat6], stiffness: &[f64], width: usize) -> Vec<f64> {
    let mut out = stiffness.to_vec();
    for _ in 0..2 {
        out.chunks_exact_mut(width).for_each(|row| turn(roots, row));
        let last = out.clone();
        for i in 0..width {
            for j in 0..width {
                out[i * width + j] = last[j * width + i];
            }
        }
    }
    out
}

/// B, column by column in the order of the plan, and D without the masses of bodies.
fn couple(plan: &Plan, whole: &Whole, columns: &mut [f64], stiffness: &mut [f64]) {
    let Whole { pattern, blocks, stencils, filter, masses, .. } = *whole;
    let (width, unknowns) = (6 * masses.len(), plan.width());
    let mut add = |i: usize, column: usize, push: Vec3| {
        let at = plan.unknowns(i as u32).start;
        for k in 0..3 {
            columns[column * unknowns + at + k] += push[k];
        }
    };
    for hold in filter.holds.iter().filter(|hold| hold.body != NONE) {
        let j = hold.particle as usize;
        let (own, first) = (carried(hold), 6 * hold.body as usize);
        for place in pattern.range(j) {
            // the matrix is symmetric: row j has the blocks of column j, turned
            let i = pattern.column[place] as usize;
            let block = matrix(&blocks[place]).transpose();
            let other = filter.held(i).map(|at| &filter.holds[at]);
            let free = other.map_or(Mat3::IDENTITY, |hold| hold.free);
            for (c, way) in own.iter().enumerate() {
                let push = block * *way;
                add(i, first + c, free * push);
                let Some(other) = other.filter(|hold| hold.body != NONE) else { continue };
                for (r, mine) in carried(other).iter().enumerate() {
                    stiffness[(6 * other.body as usize + r) * width + first + c] += mine.dot(push);
                }
            }
        }
    }
    for stencil in &stencils.list {
        let mut pulls: Vec<(usize, f64)> = Vec::new();
        if stencil.body != NONE {
            let [d, a] = stencil.wrench;
            let wrench = [d.x, d.y, d.z, a.x, a.y, a.z];
            let first = 6 * stencil.body as usize;
            pulls.extend(wrench.iter().enumerate().map(|(c, w)| (first + c, -w)));
        }
        for (&i, g) in stencil.particles.iter().zip(&stencil.gradient) {
            let Some(hold) = filter.held(i as usize).map(|at| &filter.holds[at]) else { continue };
            if hold.body != NONE && *g != Vec3::ZERO {
                let first = 6 * hold.body as usize;
                pulls.extend(carried(hold).iter().enumerate().map(|(c, w)| (first + c, w.dot(*g))));
            }
        }
        let gradient = filtered(stencil, filter);
        for &(column, pull) in &pulls {
            for (&i, g) in stencil.particles.iter().zip(&gradient) {
                add(i as usize, column, stencil.stiffness * pull * *g);
            }
            for &(row, other) in &pulls {
                stiffness[row * width + column] += stencil.stiffness * pull * other;
            }
        }
    }
}

/// The numbers with the plan they belong to.
#[derive(Debug)]
pub struct ByFactor<'a> {
    /// Constant part.
    pub plan: &'a FactorPlan,
    /// Numbers.
    pub numbers: &'a mut Factored,
}

impl Precondition<f64> for ByFactor<'_> {
    fn apply(
        &mut self,
        filter: &Filter<f64>,
        (r, r_bodies): (&[Lane<f64>], &[[Vec3; 2]]),
        (z, z_bodies): (&mut [Lane<f64>], &mut [[Vec3; 2]]),
    ) -> f64 {
        let (plan, numbers) = (&self.plan.plan, &mut *self.numbers);
        numbers.x.resize(plan.width(), 0.0);
        for (i, r) in r.iter().enumerate() {
            let at = plan.unknowns(i as u32).start;
            let own = numbers.turns.get(i).map_or(vector(r), |turn| turn.transpose() * vector(r));
            numbers.x[at..at + 3].copy_from_slice(&own.to_array());
        }
        numbers.body.clear();
        numbers.body.extend(r_bodies.iter().flat_map(|[f, t]| [f.x, f.y, f.z, t.x, t.y, t.z]));
        numbers.solve(plan);
        for (i, z) in z.iter_mut().enumerate() {
            let at = plan.unknowns(i as u32).start;
            let own = Vec3::from_slice(&numbers.x[at..at + 3]);
            let x = numbers.turns.get(i).map_or(own, |turn| *turn * own);
            *z = filter.apply(i, &lane(x));
        }
        for (i, inverse) in &numbers.released {
            multiply_add(&mut z[*i as usize], inverse, &r[*i as usize]);
        }
        let mut along: f64 = r.iter().zip(&*z).map(|(r, z)| dot(r, z)).sum();
        for ((x, r), z) in numbers.body.chunks_exact(6).zip(r_bodies).zip(z_bodies) {
            *z = [Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5])];
            along += r[0].dot(z[0]) + r[1].dot(z[1]);
        }
        along
    }

    fn diagonal(&self) -> Option<&[Block<f64>]> {
        None
    }
}
