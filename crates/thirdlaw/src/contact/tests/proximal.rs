//! Newton's method in the velocities against long iteration, and where iteration gets nowhere.

use super::direct::stack;
use super::*;
use crate::model::settings::FrictionModel;

fn at_once() -> SolveSettings {
    SolveSettings {
        iterations: 1,
        tolerance: 1e-9,
        direct: DirectUse::Chain { above: 0.0 },
        ..SolveSettings::default()
    }
}

#[test]
fn agrees_with_long_gauss_seidel() {
    let mut solved = 0;
    for model in [FrictionModel::Cone, FrictionModel::Pyramid] {
        for seed in 0..40 {
            let recipe = Recipe {
                bodies: 6,
                particles: 0,
                blocks: 7,
                points: 2,
                friction: Some(0.4),
                softness: 0.02,
            };
            let mut case = random_case(seed, recipe);
            case.problem.friction = model;
            let mut other = Case::new(case.problem.clone(), case.velocities.clone());
            if other.converge(Solver::Pgs, 1e-12, 50_000) == 50_000 {
                continue;
            }
            let report = case.solve(&at_once());
            if report.residual > 1e-9 {
                continue;
            }
            solved += 1;
            assert!(case.residual() < 2e-9, "seed {seed}: {:e}", case.residual());
            for (a, b) in case.velocities.bodies.iter().zip(&other.velocities.bodies) {
                let off = a.linear.distance(b.linear) + a.angular.distance(b.angular);
                assert!(off < 1e-6, "{model:?} seed {seed}: off by {off}");
            }
        }
    }
    // around loops of sliding contacts discs and loads follow each other slowly: the rest is left for others
    assert!(solved >= 40, "only {solved} of 80");
}

#[test]
fn a_tower_of_forty_is_solved_at_once() {
    for (count, load) in [(40, 1.0)] {
        let mut masses = vec![1.0; count];
        masses[count - 1] = load;
        for pull in [0.0, 1e-3] {
            let mut case = stack(&masses, pull);
            let report = case.solve(&at_once());
            assert!(report.direct, "{count} under {load}");
            assert!(case.residual() < 1e-8, "{count} under {load}: {:e}", case.residual());
            // nothing slides or sinks, but for what the residual lets eighty contacts do together
            for v in &case.velocities.bodies {
                assert!(v.linear.length() < 5e-6, "{count} under {load}: {}", v.linear);
            }
            let mut swept = stack(&masses, pull);
            let swept = swept.solve(&SolveSettings { direct: DirectUse::Never, ..at_once() });
            assert!(swept.residual > 1e-4, "sweeps do as well: {:e}", swept.residual);
        }
    }
}
