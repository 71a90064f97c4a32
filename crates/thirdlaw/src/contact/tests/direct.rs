//! The direct solver against long iteration, and where iteration gets nowhere.

use super::*;
use crate::contact::direct;
use crate::math::{Mat3, Twist, Vec3};
use crate::model::settings::FrictionModel;

const RECIPE: Recipe =
    Recipe { bodies: 5, particles: 12, blocks: 6, points: 2, friction: Some(0.4), softness: 0.02 };

fn solve_direct(case: &mut Case) -> bool {
    let Case { problem, velocities, impulses, scratch } = case;
    direct::solve(problem, velocities, impulses, scratch)
}

#[test]
fn agrees_with_long_gauss_seidel() {
    let mut solved = 0;
    for model in [FrictionModel::Cone, FrictionModel::Pyramid] {
        for seed in 0..40 {
            let mut case = random_case(seed, RECIPE);
            case.problem.friction = model;
            let mut other = Case::new(case.problem.clone(), case.velocities.clone());
            if other.converge(Solver::Pgs, 1e-11, 50_000) == 50_000 {
                continue;
            }
            for _ in 0..3 {
                case.iterate(Solver::Pgs, Part::Both);
            }
            if !solve_direct(&mut case) {
                continue;
            }
            solved += 1;
            assert!(case.residual() < 1e-11, "seed {seed}: {:e}", case.residual());
            for (a, b) in case.impulses.iter().zip(&other.impulses) {
                assert!((a - b).abs() < 1e-7, "{model:?} seed {seed}: {a} {b}");
            }
        }
    }

    assert!(solved >= 76, "only {solved} of 80");
}

#[test]
fn frictionless_problems_are_always_solved() {
    for seed in 0..60 {
        let recipe = Recipe { friction: None, blocks: 12, points: 4, softness: 1e-4, ..RECIPE };
        let mut case = random_case(seed, recipe);
        assert!(solve_direct(&mut case), "seed {seed}");
        let size = case.impulses.iter().fold(1.0, |m: f64, z| m.max(z.abs()));
        assert!(case.residual() < 1e-11 * size, "seed {seed}: {:e}", case.residual());
    }
}

/// Boxes of half-size 0.5 on each other with four redundant contact points each, the masses from
/// below, pressed down by one step of gravity and pulled sideways at `pull` m/s.
pub(super) fn stack(masses: &[f64], pull: f64) -> Case {
    let mut problem = ContactProblem::default();
    for &mass in masses {
        problem.bodies.push(BodyMass {
            inv_mass: Vec3::splat(1.0 / mass),
            inv_inertia: Mat3::from_diagonal(Vec3::splat(6.0 / mass)),
        });
    }
    for i in 0..masses.len() as u32 {
        let row_start = problem.rows.len() as u32;
        for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let arms = [Vec3::new(x, 0.5, z), Vec3::new(x, -0.5, z)];
            contact_rows(&mut problem.rows, Vec3::Y, arms, 0.0, Some(0.6));
        }
        let a = if i == 0 { ContactSide::World } else { ContactSide::Body(i - 1) };
        problem.blocks.push(Block {
            a,
            b: ContactSide::Body(i),
            row_start,
            row_count: 12,
            key: u64::from(i),
        });
    }
    let linear = Vec3::new(pull, -9.81 / 60.0, 0.5 * pull);
    let bodies = vec![Twist { linear, angular: Vec3::ZERO }; masses.len()];
    Case::new(problem, Velocities { bodies, particles: Vec::new() })
}

#[test]
fn heavy_on_light_is_solved_where_iteration_is_not() {
    for ratio in [1e3, 1e6, 1e8] {
        for masses in [vec![1.0, ratio], vec![1.0, 1.0, 1.0, ratio], vec![1.0, ratio, 1.0, ratio]] {
            for pull in [0.0, 0.02, 0.5] {
                // beyond the method (see `interior`): rolling over an edge under more than this, and
                // friction through several light boxes under the heaviest
                if pull > 0.1 && ratio > 1e3 || pull > 0.0 && ratio > 1e6 && masses.len() > 2 {
                    continue;
                }
                let mut case = stack(&masses, pull);
                let settings = SolveSettings {
                    iterations: 10,
                    tolerance: 1e-9 * ratio.max(1e6) / 1e6,
                    direct: DirectUse::Auto { rows_max: 60, above: 1e-4 },
                    ..Default::default()
                };
                let iterative = stack(&masses, pull)
                    .solve(&SolveSettings { direct: DirectUse::Never, ..settings });
                assert!(iterative.residual > 1e-4, "{ratio:e} {pull}: {iterative:?}");
                let report = case.solve(&settings);
                assert!(report.direct, "{masses:?} {pull}: {report:?}");
                // 1e-9 m/s, or the round-off of impulses of this size on the light body
                let size = case.impulses.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
                let most = f64::max(1e-9, 16.0 * f64::EPSILON * size);
                assert!(report.residual <= most, "{ratio:e} {pull}: {report:?}");
                // the ground carries everything, unless friction rolls the light box over its edge
                if pull > 0.1 {
                    continue;
                }
                let carried: f64 = (0..4).map(|k| case.impulses[3 * k]).sum();
                let weight = masses.iter().sum::<f64>() * 9.81 / 60.0;
                assert!((carried / weight - 1.0).abs() < 1e-6, "{carried} {weight}");
            }
        }
    }
}

#[test]
fn redundant_points_share_the_load() {
    let mut case = stack(&[1.0], 0.0);
    assert!(solve_direct(&mut case));
    for k in 1..4 {
        assert!((case.impulses[3 * k] / case.impulses[0] - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_refused_problem_is_untouched() {
    let mut case = stack(&[1.0, 10.0], 0.1);
    case.velocities.bodies[0].linear.x = f64::NAN;
    let before = case.velocity_bits();
    assert!(!solve_direct(&mut case));
    assert_eq!(before, case.velocity_bits());
    assert!(case.impulses.iter().all(|&z| z == 0.0));
}
