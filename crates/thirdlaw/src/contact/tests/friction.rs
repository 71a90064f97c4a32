//! Coulomb's law at the fixed points.

use super::*;
use crate::math::{Twist, Vec3};
use crate::model::settings::FrictionModel;

/// A box of mass 1 at the height of its contact with the ground, sliding at `velocity` while pressed
/// down at 0.2 m/s.
fn sliding(velocity: Vec3, friction: f64, model: FrictionModel) -> Case {
    let random = &mut Random(8);
    let mut problem =
        ContactProblem { bodies: vec![body(random, 1.0)], friction: model, ..Default::default() };
    // the arm is small: the box hardly tips
    let arms = [Vec3::ZERO, Vec3::new(0.02, -0.05, 0.01)];
    contact_rows(&mut problem.rows, Vec3::Y, arms, 0.0, Some(friction));
    problem.blocks.push(Block {
        a: ContactSide::World,
        b: ContactSide::Body(0),
        row_start: 0,
        row_count: 3,
        key: 0,
    });
    let twist = Twist { linear: velocity - 0.2 * Vec3::Y, angular: Vec3::ZERO };
    Case::new(problem, Velocities { bodies: vec![twist], particles: Vec::new() })
}

fn slip(case: &Case) -> [f64; 2] {
    let block = &case.problem.blocks[0];
    let pair = row::Pair::gather(&case.problem, block, &case.velocities);
    [1, 2].map(|i| row::row_velocity(&case.problem.rows[i], &pair))
}

const FRICTIONAL: [Solver; 6] = [
    Solver::Pgs,
    Solver::ColoredPgs,
    Solver::JacobiLineSearch,
    Solver::JacobiScaled,
    Solver::MassSplitting,
    Solver::BlockMassSplitting,
];

#[test]
fn sliding_friction_is_antiparallel_to_slip_and_as_large_as_the_cone_allows() {
    for solver in FRICTIONAL {
        for angle in 0..8 {
            let angle = f64::from(angle) * 0.8;
            let along = Vec3::new(libm::cos(angle), 0.0, libm::sin(angle));
            let mut case = sliding(3.0 * along, 0.5, FrictionModel::Cone);
            assert!(case.converge(solver, 1e-12, 5000) < 5000, "{}", solver.name());
            let (z, w) = (&case.impulses, slip(&case));
            let size = z[1].hypot(z[2]);
            assert!((size - 0.5 * z[0]).abs() < 1e-11, "{}", solver.name());
            let cosine = (z[1] * w[0] + z[2] * w[1]) / (size * w[0].hypot(w[1]));
            assert!((cosine + 1.0).abs() < 1e-12, "{}: {cosine}", solver.name());
        }
    }
}

#[test]
fn slow_contacts_stick_inside_the_cone() {
    for solver in FRICTIONAL {
        let mut case = sliding(Vec3::new(0.02, 0.0, 0.03), 0.8, FrictionModel::Cone);
        assert!(case.converge(solver, 1e-13, 5000) < 5000);
        let w = slip(&case);
        assert!(w[0].hypot(w[1]) < 1e-12);
        assert!(case.impulses[1].hypot(case.impulses[2]) < 0.8 * case.impulses[0]);
    }
}

#[test]
fn a_pyramid_is_stronger_on_the_diagonal() {
    // tangents of +y are along x and z, up to sign
    let along = Vec3::new(3.0, 0.0, 3.0);
    let mut case = sliding(along, 0.5, FrictionModel::Pyramid);
    assert!(case.converge(Solver::Pgs, 1e-12, 5000) < 5000);
    let z = &case.impulses;
    for k in 1..3 {
        assert!((z[k].abs() - 0.5 * z[0]).abs() < 1e-12);
    }
}

const RECIPE: Recipe =
    Recipe { bodies: 4, particles: 12, blocks: 6, points: 1, friction: Some(0.3), softness: 0.02 };

#[test]
fn staggering_to_convergence_reaches_the_alternating_solution() {
    for seed in 0..6 {
        for solver in FRICTIONAL {
            let settings = SolveSettings {
                solver,
                iterations: 50_000,
                tolerance: 1e-10,
                friction: Staggering::Alternating,
                direct: DirectUse::Never,
                ..SolveSettings::default()
            };
            let mut case = random_case(seed, RECIPE);
            let report = case.solve(&settings);
            assert!(report.residual <= 1e-10, "{} seed {seed}: {report:?}", solver.name());
            let friction = Staggering::Converged { rounds: 400, inner: 5000 };
            let mut other = random_case(seed, RECIPE);
            let report = other.solve(&SolveSettings { friction, ..settings });
            assert!(report.residual <= 2e-10, "{} seed {seed}: {report:?}", solver.name());
            for (a, b) in case.impulses.iter().zip(&other.impulses) {
                assert!((a - b).abs() < 1e-7, "{} seed {seed}: {a} {b}", solver.name());
            }
        }
    }
}

#[test]
fn a_loose_tolerance_stops_early_and_zero_never_does() {
    let mut case = random_case(2, RECIPE);
    let mut settings = SolveSettings {
        iterations: 300,
        tolerance: 1e-3,
        direct: DirectUse::Never,
        ..Default::default()
    };
    let report = case.solve(&settings);
    assert!(report.iterations < 300 && report.residual <= 1e-3);
    settings.tolerance = 0.0;
    assert_eq!(random_case(2, RECIPE).solve(&settings).iterations, 300);
}

#[test]
fn names_lead_back_to_solvers() {
    for solver in Solver::ALL {
        assert_eq!(Solver::from_name(solver.name()), Some(solver));
    }
    assert_eq!(Solver::from_name("colored-pgs"), Some(Solver::ColoredPgs));
    assert_eq!(Solver::from_name("magic"), None);
}
