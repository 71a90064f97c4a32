//! Block mass splitting is Gauss–Seidel on split bodies, joined again after every sweep.

use super::reference::{flatten, inverse_mass, jacobian_row, multiply};
use super::*;
use crate::model::settings::FrictionModel;

const RECIPE: Recipe =
    Recipe { bodies: 5, particles: 12, blocks: 9, points: 3, friction: None, softness: 0.0 };

/// The system of [tonge2012, Eq. 17–24] in dense algebra: one whole set of nodes per block, of which
/// only those of the block are used, each with n times the inverse mass.
pub struct SplitSystem {
    /// Per block: rows of J.
    jacobian: Vec<Vec<Vec<f64>>>,
    /// Inverse mass of the split nodes.
    pub inv_mass: Vec<Vec<f64>>,
    /// Per coordinate: the blocks that have a copy.
    pub copies: Vec<Vec<usize>>,
    bias: Vec<f64>,
}

impl SplitSystem {
    pub fn new(problem: &ContactProblem) -> SplitSystem {
        let jacobian: Vec<Vec<Vec<f64>>> = problem
            .blocks
            .iter()
            .map(|b| b.rows().map(|i| jacobian_row(problem, b, &problem.rows[i])).collect())
            .collect();
        let mut inv_mass = inverse_mass(problem);
        let nodes = (0..problem.bodies.len()).map(|b| 6 * b..6 * b + 6).chain(
            (0..problem.particles.len()).map(|p| {
                let start = 6 * problem.bodies.len() + 3 * p;
                start..start + 3
            }),
        );
        let mut copies = vec![Vec::new(); inv_mass.len()];
        for node in nodes {
            let touching: Vec<usize> = (0..jacobian.len())
                .filter(|&b| jacobian[b].iter().any(|r| r[node.clone()].iter().any(|x| *x != 0.0)))
                .collect();
            for k in node {
                for x in &mut inv_mass[k] {
                    *x *= touching.len() as f64;
                }
                copies[k] = touching.clone();
            }
        }
        let bias = problem.rows.iter().map(|r| r.bias).collect();
        SplitSystem { jacobian, inv_mass, copies, bias }
    }

    /// One sweep over all rows (Eq. 35–36): what it leaves the copies that each block has.
    pub fn sweep(&self, velocity: &[f64], impulses: &mut [f64]) -> Vec<Vec<f64>> {
        let mut i = 0;
        let mut after = Vec::new();
        for rows in &self.jacobian {
            let mut v = velocity.to_vec();
            for row in rows {
                let response = multiply(&self.inv_mass, row);
                let d: f64 = row.iter().zip(&response).map(|(a, b)| a * b).sum();
                let w: f64 = row.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>() + self.bias[i];
                if d > 0.0 {
                    let z = f64::max(0.0, impulses[i] - w / d);
                    for (v, r) in v.iter_mut().zip(&response) {
                        *v += r * (z - impulses[i]);
                    }
                    impulses[i] = z;
                }
                i += 1;
            }
            after.push(v);
        }
        after
    }

    /// One sweep, then the average (Eq. 38).
    fn iterate(&self, velocity: &mut [f64], impulses: &mut [f64]) {
        let after = self.sweep(velocity, impulses);
        for (k, copies) in self.copies.iter().enumerate() {
            if !copies.is_empty() {
                let sum: f64 = copies.iter().map(|&b| after[b][k]).sum();
                velocity[k] = sum / copies.len() as f64;
            }
        }
    }
}

#[test]
fn block_splitting_is_gauss_seidel_on_split_bodies() {
    for seed in 0..8 {
        let mut case = random_case(seed, RECIPE);
        let split = SplitSystem::new(&case.problem);
        let mut velocity = flatten(&case.velocities);
        let mut impulses = case.impulses.clone();
        for iteration in 0..40 {
            split.iterate(&mut velocity, &mut impulses);
            case.iterate(Solver::BlockMassSplitting, Part::Normal);
            for (a, b) in flatten(&case.velocities).iter().zip(&velocity) {
                assert!((a - b).abs() < 1e-12, "seed {seed} iteration {iteration}: {a} {b}");
            }
            for (a, b) in case.impulses.iter().zip(&impulses) {
                assert!((a - b).abs() < 1e-12, "seed {seed} iteration {iteration}: {a} {b}");
            }
        }
        assert!(impulses.iter().any(|&z| z > 0.0));
    }
}

/// The same problem with its blocks in another order.
pub(super) fn permuted(case: &Case, random: &mut Random) -> (Case, Vec<usize>) {
    let mut order: Vec<usize> = (0..case.problem.blocks.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let old = &case.problem;
    let mut problem = ContactProblem { blocks: Vec::new(), rows: Vec::new(), ..old.clone() };
    let mut row_of = Vec::new();
    for &b in &order {
        let block = old.blocks[b];
        let row_start = problem.rows.len() as u32;
        for i in block.rows() {
            let mut row = old.rows[i];
            if let Bound::Friction { normal, .. } = &mut row.bound {
                *normal = *normal - block.row_start + row_start;
            }
            problem.rows.push(row);
            row_of.push(i);
        }
        problem.blocks.push(Block { row_start, ..block });
    }
    (Case::new(problem, case.velocities.clone()), row_of)
}

#[test]
fn the_order_of_blocks_changes_no_bit_of_mass_splitting() {
    let recipe = Recipe { friction: Some(0.5), blocks: 30, ..RECIPE };
    for model in [FrictionModel::Cone, FrictionModel::Pyramid] {
        for solver in [Solver::MassSplitting, Solver::BlockMassSplitting, Solver::JacobiLineSearch]
        {
            for seed in 0..4 {
                let mut case = random_case(seed, recipe);
                case.problem.friction = model;
                let (mut other, row_of) = permuted(&case, &mut Random(seed + 100));
                for _ in 0..20 {
                    case.iterate(solver, Part::Both);
                    other.iterate(solver, Part::Both);
                }
                assert_eq!(case.velocity_bits(), other.velocity_bits(), "{}", solver.name());
                for (z, &i) in other.impulses.iter().zip(&row_of) {
                    assert_eq!(z.to_bits(), case.impulses[i].to_bits());
                }
                assert!(case.impulses.iter().filter(|z| **z != 0.0).count() > 30);
            }
        }
    }
}

#[test]
fn the_order_of_blocks_matters_to_gauss_seidel() {
    // otherwise the test above shows nothing
    let mut case = random_case(1, Recipe { friction: Some(0.5), blocks: 30, ..RECIPE });
    let (mut other, _) = permuted(&case, &mut Random(7));
    case.iterate(Solver::Pgs, Part::Both);
    other.iterate(Solver::Pgs, Part::Both);
    assert_ne!(case.velocity_bits(), other.velocity_bits());
}
