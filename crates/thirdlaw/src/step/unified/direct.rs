//! A sparse factor of A + JᵀDJ, the matrix of Newton's method in `coupled.rs`.
//!
//! Ties are thousands of times stiffer than what they hold, joints have no softness at all, and thin elements
//! are stiff along and soft across: conjugate gradients need thousands of iterations where many of them meet. What
//! is coupled by elements and ties is a sparse graph all the same, which nested dissection orders (`linalg/sparse`).
//! Nodes that nothing moves are left out. Bodies are unknowns y with v = L y, M⁻¹ = LLᵀ, so that locked axes drop
//! out and mass ratios do no harm.
//!
//! The order follows from the pairs that are coupled. It goes on serving for the substeps of a step as long as it has
//! a place for every pair; a step begins with an order of its own, so that no bit depends on steps before.

use super::rows::Rows;
use super::solve::System;
use crate::linalg::block::matrix;
use crate::linalg::bodies::{Mat6, root};
use crate::linalg::sparse::Groups;
use crate::linalg::sparse::factor::Numbers;
use crate::linalg::sparse::plan::{Entry, Plan};
use crate::math::mass::BodyMass;
use crate::math::{Mat3, Twist, Vec3};

/// Multiplications of a factorization above which conjugate gradients are left to it.
const WORK: u64 = 2_000_000_000;
/// A node coupled with more others than this is eliminated late: a bone, say, with all that it holds.
const FAR_REACHING: u32 = 48;

const NONE: u32 = u32::MAX;

/// The factor, and what it is made from.
#[derive(Debug, Default)]
pub struct Direct {
    plan: Plan,
    groups: Groups,
    numbers: Numbers,
    /// Block of each node; `NONE` of what nothing moves.
    block: Vec<u32>,
    /// L of bodies, and 1 + h·damping along and about axes.
    roots: Vec<Mat6>,
    own: Vec<[f64; 2]>,
    /// Lᵀg of each part of each row; of particles g itself.
    parts: Vec<[f64; 6]>,
    /// Of pairs of particles that elements couple, in the order of the pattern's lower half.
    elements: Vec<Entry>,
    /// Of pairs of nodes of each tie, and where those of each begin.
    ties: Vec<Entry>,
    starts: Vec<u32>,
    /// D of the factor.
    slopes: Vec<[f64; 4]>,
    made: bool,
    /// Whether the plan was made in this step.
    fresh: bool,
    x: Vec<f64>,
    touched: Vec<u32>,
}

impl Direct {
    /// At the beginning of a step.
    pub fn forget(&mut self) {
        self.fresh = false;
    }

    /// Looks at what is coupled; whether a factor is worth while.
    pub fn begin(&mut self, system: &System, mass: &[BodyMass], rows: &Rows) -> bool {
        self.made = false;
        self.number(system, mass);
        if !self.find_entries(system, rows) {
            self.group(system, rows);
            self.plan.build(&self.groups);
            self.fresh = true;
            if !self.find_entries(system, rows) {
                return false;
            }
        }
        if self.plan.work[0] > WORK {
            return false;
        }
        self.transform(system, rows);
        true
    }

    fn number(&mut self, system: &System, mass: &[BodyMass]) {
        let mut next = 0;
        self.block.clear();
        for m in mass {
            self.block.push(if m.is_fixed() { NONE } else { next });
            next += u32::from(!m.is_fixed());
        }
        self.roots.clear();
        self.own.clear();
        for (m, (weight, inertia)) in mass.iter().zip(system.bodies) {
            self.roots.push(root(m));
            let product = *inertia * m.inv_inertia;
            let turn = product.x_axis.x.max(product.y_axis.y).max(product.z_axis.z);
            let linear = weight * m.inv_mass.max_element();
            let plain = |x: f64| if x > 0.0 { x } else { 1.0 };
            self.own.push([plain(linear), plain(turn)]);
        }
    }

    /// Which blocks are coupled.
    fn group(&mut self, system: &System, rows: &Rows) {
        let Direct { groups, block, .. } = self;
        let count = system.bodies.len();
        groups.clear();
        groups.far_reaching = FAR_REACHING;
        for (node, &b) in block.iter().enumerate() {
            if b != NONE {
                groups.sizes.push(if node < count { 6 } else { 3 });
            }
        }
        for (i, &b) in block[count..].iter().enumerate() {
            let columns = &system.pattern.column[system.pattern.range(i)];
            for &j in columns.iter().take_while(|&&j| (j as usize) < i) {
                let other = block[count + j as usize];
                if b != NONE && other != NONE {
                    groups.members.extend([other, b]);
                    groups.end_group();
                }
            }
        }
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for tie in &rows.ties {
            let parts = rows.parts_of(&rows.list[tie.row as usize]);
            let mut set: Vec<u32> = parts.iter().map(|(node, _)| block[*node as usize]).collect();
            set.retain(|&b| b != NONE);
            set.sort_unstable();
            set.dedup();
            if set.len() > 1 {
                sets.push(set);
            }
        }
        sets.sort_unstable();
        sets.dedup();
        for set in sets {
            groups.members.extend(set);
            groups.end_group();
        }
        // what nothing is coupled with
        let mut seen = vec![false; groups.sizes.len()];
        groups.members.iter().for_each(|&b| seen[b as usize] = true);
        for (b, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
            groups.members.push(b as u32);
            groups.end_group();
        }
    }

    /// Where all blocks lie; false if the plan has no place for one.
    fn find_entries(&mut self, system: &System, rows: &Rows) -> bool {
        let Direct { plan, block, elements, ties, starts, .. } = self;
        let free = block.iter().filter(|&&b| b != NONE).count();
        if !self.fresh || plan.sizes().len() != free {
            return false;
        }
        let count = system.bodies.len();
        elements.clear();
        for i in 0..system.pattern.rows() {
            let columns = &system.pattern.column[system.pattern.range(i)];
            for &j in columns.iter().take_while(|&&j| j as usize <= i) {
                let (b, other) = (block[count + i], block[count + j as usize]);
                if b == NONE || other == NONE {
                    continue;
                }
                let Some(entry) = plan.find(b, other) else { return false };
                elements.push(entry);
            }
        }
        ties.clear();
        starts.clear();
        for tie in &rows.ties {
            starts.push(ties.len() as u32);
            let parts = rows.parts_of(&rows.list[tie.row as usize]);
            for (k, (node, _)) in parts.iter().enumerate() {
                for (other, _) in &parts[..=k] {
                    let (a, b) = (block[*node as usize], block[*other as usize]);
                    if a == NONE || b == NONE {
                        ties.push(Entry::default());
                        continue;
                    }
                    let Some(entry) = plan.find(a, b) else { return false };
                    ties.push(entry);
                }
            }
        }
        true
    }

    /// Lᵀg of all parts.
    fn transform(&mut self, system: &System, rows: &Rows) {
        let count = system.bodies.len();
        self.parts.clear();
        for (node, g) in &rows.parts {
            let (l, a) = (g.linear, g.angular);
            let flat = [l.x, l.y, l.z, a.x, a.y, a.z];
            let node = *node as usize;
            self.parts.push(match self.roots.get(node).filter(|_| node < count) {
                Some(root) => transposed(root, &flat),
                None => flat,
            });
        }
    }

    /// way ← −(A + JᵀDJ)⁻¹ gradient; D are the slopes of ties. Whether D was that of the last time.
    pub fn solve(
        &mut self,
        system: &System,
        rows: &Rows,
        slopes: &[[f64; 4]],
        gradient: &[Twist],
        way: &mut Vec<Twist>,
    ) -> bool {
        let same = self.made && self.slopes == slopes;
        if !same {
            self.fill(system, rows, slopes);
            self.numbers.factor(&self.plan);
            self.slopes.clear();
            self.slopes.extend_from_slice(slopes);
            self.made = true;
        }
        let count = system.bodies.len();
        self.x.clear();
        self.x.resize(self.plan.width(), 0.0);
        for (node, (g, &b)) in gradient.iter().zip(&self.block).enumerate() {
            if b == NONE {
                continue;
            }
            let (l, a) = (g.linear, g.angular);
            let mut flat = [-l.x, -l.y, -l.z, -a.x, -a.y, -a.z];
            if node < count {
                flat = transposed(&self.roots[node], &flat);
            }
            let place = self.plan.unknowns(b);
            let length = place.len();
            self.x[place].copy_from_slice(&flat[..length]);
        }
        self.numbers.solve(&self.plan, &mut self.x, &mut self.touched);
        way.clear();
        for (node, &b) in self.block.iter().enumerate() {
            if b == NONE {
                way.push(Twist::default());
                continue;
            }
            let x = &self.x[self.plan.unknowns(b)];
            let mut v = [0.0; 6];
            if node < count {
                for (v, row) in v.iter_mut().zip(&self.roots[node]) {
                    *v = row.iter().zip(x).map(|(a, b)| a * b).sum();
                }
            } else {
                v[..3].copy_from_slice(x);
            }
            let (linear, angular) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
            way.push(Twist { linear, angular });
        }
        same
    }

    /// Whether the factor is that with these slopes.
    pub fn is_of(&self, slopes: &[[f64; 4]]) -> bool {
        self.made && self.slopes == slopes
    }

    /// The numbers of the matrix.
    fn fill(&mut self, system: &System, rows: &Rows, slopes: &[[f64; 4]]) {
        let Direct { plan, numbers, block, own, elements, .. } = self;
        let count = system.bodies.len();
        numbers.clear(plan);
        for (&b, own) in block[..count].iter().zip(&*own) {
            if b != NONE {
                let entry = plan.entry(b, b);
                (0..6).for_each(|k| numbers.add(&entry, k, k, own[usize::from(k > 2)]));
            }
        }
        let mut entries = elements.iter();
        for i in 0..system.pattern.rows() {
            for place in system.pattern.range(i) {
                let j = system.pattern.column[place] as usize;
                if j > i || block[count + i] == NONE || block[count + j] == NONE {
                    continue;
                }
                let Some(entry) = entries.next() else { return };
                add_block(numbers, entry, &matrix(&system.blocks[place]), i == j);
            }
        }
        for (t, d) in slopes.iter().enumerate().filter(|(_, d)| **d != [0.0; 4]) {
            self.add_tie(t, d, rows, count);
        }
    }

    fn add_tie(&mut self, t: usize, d: &[f64; 4], rows: &Rows, count: usize) {
        let Direct { numbers, block, parts, ties, starts, .. } = self;
        let tie = &rows.ties[t];
        let list = tie.rows();
        let first = &rows.list[tie.row as usize];
        let length = (first.end - first.start) as usize;
        let node = |k: usize| rows.parts[first.start as usize + k].0 as usize;
        // parts of row r: rows of a tie have the same nodes
        let part = |r: usize, k: usize| &parts[rows.list[list.start + r].start as usize + k];
        let contact = list.len() == 3;
        let mut entries = ties[starts[t] as usize..].iter();
        for k in 0..length {
            for l in 0..=k {
                let Some(entry) = entries.next() else { return };
                if block[node(k)] == NONE || block[node(l)] == NONE {
                    continue;
                }
                let size = |node: usize| if node < count { 6 } else { 3 };
                for row in 0..size(node(k)) {
                    let g = |r: usize| part(r, k)[row];
                    let image = if contact {
                        [d[0] * g(0), d[1] * g(1) + d[2] * g(2), d[2] * g(1) + d[3] * g(2)]
                    } else {
                        [d[0] * g(0), 0.0, 0.0]
                    };
                    // of a block with itself the lower half
                    let end = if k == l { row + 1 } else { size(node(l)) };
                    let lower = |column: usize| node(k) != node(l) || column <= row;
                    for column in 0..end {
                        let mut x = image[0] * part(0, l)[column];
                        if contact {
                            x += image[1] * part(1, l)[column] + image[2] * part(2, l)[column];
                        }
                        if lower(column) {
                            numbers.add(entry, row, column, x);
                        }
                        // a node that is on both sides
                        if k != l && node(k) == node(l) && column >= row {
                            numbers.add(entry, column, row, x);
                        }
                    }
                }
            }
        }
    }
}

fn add_block(numbers: &mut Numbers, entry: &Entry, block: &Mat3, own: bool) {
    for column in 0..3 {
        for row in if own { column } else { 0 }..3 {
            numbers.add(entry, row, column, block.col(column)[row]);
        }
    }
}

/// Lᵀ x.
fn transposed(root: &Mat6, x: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|j| (0..6).map(|i| root[i][j] * x[i]).sum())
}
