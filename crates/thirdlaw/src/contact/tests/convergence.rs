//! Which solvers reach the solution of the complementarity problem, and which do not.

use super::reference::{Dense, flatten, murty};
use super::*;
use crate::math::{Twist, Vec3};

const CONVERGENT: [Solver; 6] = [
    Solver::Pgs,
    Solver::ColoredPgs,
    Solver::JacobiLineSearch,
    Solver::JacobiScaled,
    Solver::MassSplitting,
    Solver::BlockMassSplitting,
];

const SMALL: Recipe =
    Recipe { bodies: 4, particles: 12, blocks: 7, points: 2, friction: None, softness: 0.05 };

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn convergent_solvers_reach_the_pivoting_solution() {
    for seed in 0..12 {
        let start = random_case(seed, SMALL);
        let dense = Dense::new(&start.problem, &start.velocities);
        let z = murty(&dense.matrix, &dense.q);
        assert!(z.iter().any(|&z| z > 0.0));
        let v = dense.velocities(&z);
        for solver in CONVERGENT {
            let mut case = random_case(seed, SMALL);
            let count = case.converge(solver, 1e-11, 20_000);
            assert!(count < 20_000, "{} seed {seed}: {:e}", solver.name(), case.residual());
            let dz = largest_difference(&case.impulses, &z);
            let dv = largest_difference(&flatten(&case.velocities), &v);
            assert!(dz < 1e-8 && dv < 1e-8, "{} seed {seed}: {dz:e} {dv:e}", solver.name());
        }
    }
}

/// Six bilateral rows on one body, each a block of its own.
fn many_on_one(rows: usize) -> Case {
    let random = &mut Random(5);
    let mut problem = ContactProblem { bodies: vec![body(random, 1.0)], ..Default::default() };
    for key in 0..rows as u32 {
        let arm = [Vec3::ZERO, random.vector() * 0.1];
        contact_rows(&mut problem.rows, Vec3::Y, arm, 0.0, None);
        problem.rows[key as usize].bound =
            Bound::Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        problem.blocks.push(Block {
            a: ContactSide::World,
            b: ContactSide::Body(0),
            row_start: key,
            row_count: 1,
            key: u64::from(key),
        });
    }
    let twist = Twist { linear: -Vec3::Y, angular: Vec3::ZERO };
    Case::new(problem, Velocities { bodies: vec![twist], particles: Vec::new() })
}

#[test]
fn jacobi_diverges_where_2d_minus_n_is_indefinite_and_the_others_do_not() {
    let mut case = many_on_one(6);
    let n = Dense::new(&case.problem, &case.velocities).matrix;
    // 1ᵀ(2D − N)1 < 0 shows a negative eigenvalue
    let quotient: f64 = (0..6).map(|i| 2.0 * n[i][i] - n[i].iter().sum::<f64>()).sum();
    assert!(quotient < 0.0);
    let before = case.residual();
    for _ in 0..30 {
        case.iterate(Solver::Jacobi, Part::Both);
    }
    assert!(case.residual() > 1e6 * before);
    for solver in CONVERGENT.into_iter().chain([Solver::JacobiBridson]) {
        let mut case = many_on_one(6);
        let count = case.converge(solver, 1e-11, 20_000);
        assert!(count < 20_000, "{}: {:e}", solver.name(), case.residual());
    }
}

#[test]
fn jacobi_converges_where_2d_minus_n_is_definite() {
    let mut case = many_on_one(1);
    assert!(case.converge(Solver::Jacobi, 1e-14, 5) < 5);
}

#[test]
fn bridson_solves_the_problem_of_heavier_bodies() {
    let recipe = Recipe { particles: 0, points: 1, ..SMALL };
    for seed in 20..26 {
        let mut case = random_case(seed, recipe);
        let mut heavy = random_case(seed, recipe);
        let mut count = vec![0.0; recipe.bodies];
        for block in &case.problem.blocks {
            for side in [block.a, block.b] {
                if let ContactSide::Body(i) = side {
                    count[i as usize] += 1.0;
                }
            }
        }
        for (mass, n) in heavy.problem.bodies.iter_mut().zip(count) {
            mass.inv_mass /= f64::max(n, 1.0);
            mass.inv_inertia *= 1.0 / f64::max(n, 1.0);
        }
        let dense = Dense::new(&heavy.problem, &heavy.velocities);
        let z = murty(&dense.matrix, &dense.q);
        assert!(case.converge(Solver::JacobiBridson, 1e-12, 20_000) < 20_000);
        assert!(largest_difference(&case.impulses, &z) < 1e-8);
    }
}

#[test]
fn energy_never_rises_in_gauss_seidel_and_splitting() {
    for seed in 40..48 {
        for solver in [
            Solver::Pgs,
            Solver::ColoredPgs,
            Solver::JacobiLineSearch,
            Solver::MassSplitting,
            Solver::BlockMassSplitting,
        ] {
            let mut case = random_case(seed, Recipe { softness: 0.0, points: 3, ..SMALL });
            let dense = Dense::new(&case.problem, &case.velocities);
            let mut energy = 0.0;
            for _ in 0..60 {
                case.iterate(solver, Part::Normal);
                let next = dense.energy(&case.impulses);
                assert!(next <= energy + 1e-13, "{} seed {seed}", solver.name());
                energy = next;
            }
            assert!(energy < -1e-3);
        }
    }
}

#[test]
fn velocities_stay_those_of_the_impulses() {
    let recipe = Recipe { friction: Some(0.6), softness: 0.0, ..SMALL };
    for solver in Solver::ALL {
        if solver == Solver::JacobiBridson || solver == Solver::Jacobi {
            continue;
        }
        let mut case = random_case(3, recipe);
        let dense = Dense::new(&case.problem, &case.velocities);
        for _ in 0..50 {
            case.iterate(solver, Part::Both);
        }
        let expected = dense.velocities(&case.impulses);
        let off = largest_difference(&flatten(&case.velocities), &expected);
        assert!(off < 1e-12, "{}: {off:e}", solver.name());
        // warm starting is the same sum
        let mut again = random_case(3, recipe);
        warm_start(&again.problem, &mut again.velocities, &case.impulses);
        assert!(largest_difference(&flatten(&again.velocities), &expected) < 1e-12);
    }
}

/// Linear momentum, and angular momentum about the origin.
fn momentum(problem: &ContactProblem, velocities: &Velocities, places: &[Vec3]) -> [Vec3; 2] {
    let mut sum = [Vec3::ZERO; 2];
    for ((mass, v), x) in problem.bodies.iter().zip(&velocities.bodies).zip(places) {
        let p = v.linear / mass.inv_mass;
        sum[0] += p;
        sum[1] += x.cross(p) + mass.inv_inertia.inverse() * v.angular;
    }
    sum
}

/// Bodies at `places` that touch only each other.
fn free_bodies(random: &mut Random, places: &[Vec3]) -> Case {
    let count = places.len();
    let mut problem = ContactProblem::default();
    for _ in 0..count {
        let mass = random.between(0.5, 2.0);
        problem.bodies.push(body(random, mass));
    }
    for key in 0..2 * count {
        let (a, b) = (key % count, (key % count + 1 + random.below(count - 1)) % count);
        let row_start = problem.rows.len() as u32;
        let point = random.vector();
        let arms = [point - places[a], point - places[b]];
        contact_rows(&mut problem.rows, random.unit(), arms, 0.0, Some(0.4));
        problem.blocks.push(Block {
            a: ContactSide::Body(a as u32),
            b: ContactSide::Body(b as u32),
            row_start,
            row_count: 3,
            key: key as u64,
        });
    }
    let bodies =
        (0..count).map(|_| Twist { linear: random.vector(), angular: random.vector() }).collect();
    Case::new(problem, Velocities { bodies, particles: Vec::new() })
}

#[test]
fn impulses_keep_momentum() {
    for solver in Solver::ALL {
        if solver == Solver::JacobiBridson {
            continue;
        }
        let random = &mut Random(1);
        let places: Vec<Vec3> = (0..5).map(|_| random.vector()).collect();
        let mut case = free_bodies(random, &places);
        let before = momentum(&case.problem, &case.velocities, &places);
        for _ in 0..10 {
            case.iterate(solver, Part::Both);
        }
        let size = case.impulses.iter().fold(1.0, |m: f64, z| m.max(z.abs()));
        let after = momentum(&case.problem, &case.velocities, &places);
        for k in 0..2 {
            let lost = (after[k] - before[k]).length();
            assert!(lost < 1e-13 * size, "{}: {lost:e}", solver.name());
        }
    }
}
