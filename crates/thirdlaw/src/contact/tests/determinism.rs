//! Colours, and the same bits for any number of threads.

use super::*;
use crate::contact::colors::Colors;
use crate::contact::wrench::PARALLEL_ROWS;
use crate::math::Vec3;

const LARGE: Recipe = Recipe {
    bodies: 900,
    particles: 1200,
    blocks: 1800,
    points: 2,
    friction: Some(0.5),
    softness: 0.0,
};

/// Movable nodes of a block: bodies, then particles after them.
fn nodes(problem: &ContactProblem, block: &Block) -> Vec<usize> {
    let mut out = Vec::new();
    for side in [block.a, block.b] {
        match side {
            ContactSide::World => {}
            ContactSide::Body(i) => {
                if problem.bodies[i as usize].inv_mass != Vec3::ZERO {
                    out.push(i as usize);
                }
            }
            ContactSide::Particles { index, weight } => {
                for (i, w) in index.into_iter().zip(weight) {
                    if w != 0.0 {
                        out.push(problem.bodies.len() + i as usize);
                    }
                }
            }
        }
    }
    out
}

#[test]
fn a_colour_touches_a_node_once_and_colours_are_few() {
    for seed in 0..30 {
        let bodies = 3 + (seed as usize * 7) % 40;
        let recipe = Recipe {
            bodies,
            particles: if seed % 3 == 0 { 40 } else { 0 },
            blocks: 120,
            points: 1,
            friction: None,
            softness: 0.0,
        };
        let problem = random_case(seed, recipe).problem;
        let mut colors = Colors::default();
        colors.build(&problem);
        let mut degree = vec![0; problem.bodies.len() + problem.particles.len()];
        for block in &problem.blocks {
            nodes(&problem, block).into_iter().for_each(|i| degree[i] += 1);
        }
        let most = degree.iter().copied().max().unwrap();
        if recipe.particles == 0 {
            assert!(colors.count() < 2 * most, "{} colours, Δ = {most}", colors.count());
        }
        let mut seen = vec![false; problem.blocks.len()];
        for c in 0..colors.count() {
            let mut touched = vec![false; degree.len()];
            for &b in colors.blocks(c) {
                assert!(!std::mem::replace(&mut seen[b as usize], true));
                for i in nodes(&problem, &problem.blocks[b as usize]) {
                    let again = std::mem::replace(&mut touched[i], true);
                    assert!(!again || (colors.overflow && c + 1 == colors.count()));
                }
            }
        }
        assert!(seen.into_iter().all(|s| s));
    }
}

#[test]
fn a_crowded_body_overflows_the_colours() {
    let recipe =
        Recipe { bodies: 2, particles: 0, blocks: 200, points: 1, friction: None, softness: 0.5 };
    let mut case = random_case(0, recipe);
    let mut colors = Colors::default();
    colors.build(&case.problem);
    assert!(colors.overflow && colors.count() == 65);
    assert!(case.converge(Solver::ColoredPgs, 1e-9, 20_000) < 20_000);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for solver in Solver::ALL {
        let mut first: Option<(Vec<u64>, Vec<u64>)> = None;
        for threads in [1, 2, 3, 7, 16] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut case = random_case(77, LARGE);
            assert!(case.problem.rows.len() >= PARALLEL_ROWS);
            pool.install(|| {
                for _ in 0..3 {
                    case.iterate(solver, Part::Both);
                }
            });
            let z: Vec<u64> = case.impulses.iter().map(|z| z.to_bits()).collect();
            let bits = (case.velocity_bits(), z);
            match &first {
                None => first = Some(bits),
                Some(first) => assert!(*first == bits, "{} with {threads}", solver.name()),
            }
        }
    }
}

#[test]
fn dropping_scratch_changes_no_bit() {
    let recipe = Recipe { blocks: 60, bodies: 20, particles: 24, ..LARGE };
    for solver in Solver::ALL {
        let mut case = random_case(5, recipe);
        let mut other = random_case(5, recipe);
        for _ in 0..5 {
            case.iterate(solver, Part::Both);
            other.scratch = Scratch::default();
            prepare(&other.problem, &mut other.scratch);
            other.iterate(solver, Part::Both);
        }
        assert_eq!(case.velocity_bits(), other.velocity_bits(), "{}", solver.name());
    }
}

#[test]
fn refresh_is_prepare_when_only_numbers_changed() {
    let recipe = Recipe { blocks: 60, bodies: 20, particles: 24, ..LARGE };
    for solver in Solver::ALL {
        let mut case = random_case(6, recipe);
        case.iterate(solver, Part::Both);
        let random = &mut Random(3);
        for row in &mut case.problem.rows {
            row.arm_b += random.vector() * 0.1;
            row.bias += 0.01;
        }
        for block in &mut case.problem.blocks {
            if let ContactSide::Particles { weight, .. } = &mut block.b {
                *weight = weight.map(|w| w * 0.9);
            }
        }
        let mut other = Case::new(case.problem.clone(), case.velocities.clone());
        other.impulses.clone_from(&case.impulses);
        refresh(&case.problem, &mut case.scratch);
        case.iterate(solver, Part::Both);
        other.iterate(solver, Part::Both);
        assert_eq!(case.velocity_bits(), other.velocity_bits(), "{}", solver.name());
    }
}
