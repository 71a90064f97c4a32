//! What is told about solvers at work: violations, orders, single precision.

use super::*;
use crate::math::{Mat3, Twist, Vec3};
use crate::model::settings::FrictionModel;

const PILE: Recipe =
    Recipe { bodies: 12, particles: 24, blocks: 30, points: 2, friction: Some(0.5), softness: 0.0 };

/// A point of mass 2 kg that moves down and sideways onto the world, friction ½.
fn falling() -> Case {
    let mut rows = Vec::new();
    contact_rows(&mut rows, Vec3::Y, [Vec3::ZERO; 2], 0.0, Some(0.5));
    let block = Block {
        a: ContactSide::World,
        b: ContactSide::Body(0),
        row_start: 0,
        row_count: 3,
        key: 0,
    };
    let mass = BodyMass { inv_mass: Vec3::splat(0.5), inv_inertia: Mat3::ZERO };
    let problem = ContactProblem {
        bodies: vec![mass],
        blocks: vec![block],
        rows,
        ..ContactProblem::default()
    };
    let twist = Twist { linear: Vec3::new(0.4, -3.0, 0.3), angular: Vec3::ZERO };
    Case::new(problem, Velocities { bodies: vec![twist], particles: Vec::new() })
}

#[test]
fn violation_is_the_speed_of_closing_and_the_distance_from_the_solution() {
    let mut case = falling();
    let of = |case: &mut Case| {
        violation(&case.problem, &case.velocities, &case.impulses, &mut case.scratch)
    };
    // without an impulse nothing is owed by friction yet: its disc is a point
    let now = of(&mut case);
    assert_eq!((now.closing, now.normal, now.friction), (3.0, 3.0, 0.0));
    // stopped exactly: 6 N·s, of which friction may take 3, more than the 1 N·s of sliding
    case.impulses[0] = 6.0;
    case.velocities.bodies[0].linear.y = 0.0;
    let now = of(&mut case);
    assert!(now.closing == 0.0 && now.normal == 0.0, "{now:?}");
    assert!((now.friction - 0.5).abs() < 1e-15 && now.largest == now.friction, "{now:?}");
    // thrown back as fast: nothing closes, and yet it is as wrong as before
    case.impulses[0] = 12.0;
    case.velocities.bodies[0].linear.y = 3.0;
    let now = of(&mut case);
    assert_eq!((now.closing, now.normal), (0.0, 3.0));
    // what is no number is no solution
    case.velocities.bodies[0].linear.y = f64::NAN;
    assert!(of(&mut case).closing.is_nan());
}

#[test]
fn the_largest_violation_is_the_residual() {
    let mut case = random_case(4, PILE);
    for _ in 0..3 {
        case.iterate(Solver::Pgs, Part::Both);
        let told = violation(&case.problem, &case.velocities, &case.impulses, &mut case.scratch);
        assert_eq!(told.largest, case.residual());
        assert!(told.normal <= told.largest && told.friction <= told.largest);
    }
}

#[test]
fn a_study_iterates_as_a_solve_does() {
    for solver in Solver::ALL {
        let mut case = random_case(9, PILE);
        let (problem, velocities) = (case.problem.clone(), case.velocities.clone());
        let mut study = Study::cold(&problem, &velocities, solver);
        for _ in 0..5 {
            study.iterate();
            // looking does not change what follows
            study.violation();
        }
        let settings = SolveSettings {
            solver,
            iterations: 5,
            tolerance: 0.0,
            direct: DirectUse::Never,
            ..SolveSettings::default()
        };
        case.solve(&settings);
        assert_eq!(study.velocities(), &case.velocities, "{}", solver.name());
        assert_eq!(study.impulses(), &case.impulses, "{}", solver.name());
    }
}

#[test]
fn a_warm_study_starts_where_another_ended() {
    let case = random_case(9, PILE);
    let mut cold = Study::cold(&case.problem, &case.velocities, Solver::Pgs);
    (0..300).for_each(|_| cold.iterate());
    let left = cold.violation().largest;
    let z = cold.impulses().to_vec();
    let mut warm = Study::warm(&case.problem, &case.velocities, &z, Solver::Pgs);
    assert!((warm.violation().largest - left).abs() < 1e-12);
}

#[test]
fn a_shuffled_order_follows_from_the_seed_alone() {
    let after = |seed: u64, permute: Option<u64>| {
        let mut case = random_case(2, PILE);
        case.problem.seed = seed;
        let mut case = match permute {
            Some(random) => super::splitting::permuted(&case, &mut Random(random)).0,
            None => Case::new(case.problem, case.velocities),
        };
        case.iterate(Solver::ShuffledPgs, Part::Both);
        case.velocity_bits()
    };
    assert_eq!(after(5, None), after(5, Some(1)), "the order of blocks changes no bit");
    assert_eq!(after(5, None), after(5, Some(2)));
    assert_ne!(after(5, None), after(6, None), "another step has another order");
}

#[test]
fn single_precision_follows_double_to_seven_digits() {
    for solver in [Solver::Pgs, Solver::BlockMassSplitting] {
        for (model, seed) in [(FrictionModel::Cone, 3), (FrictionModel::Pyramid, 4)] {
            let mut case = random_case(seed, PILE);
            case.problem.friction = model;
            let mut double = Study::cold(&case.problem, &case.velocities, solver);
            let study = Study::cold(&case.problem, &case.velocities, solver);
            let mut single = study.single().expect("it has a sibling");
            for _ in 0..20 {
                double.iterate();
                single.iterate();
            }
            let (a, b) = (double.velocities().clone(), single.velocities().clone());
            let far = |a: Vec3, b: Vec3| (a - b).length() / (1.0 + a.length());
            let bodies = a.bodies.iter().zip(&b.bodies);
            let bodies =
                bodies.map(|(a, b)| far(a.linear, b.linear).max(far(a.angular, b.angular)));
            let particles = a.particles.iter().zip(&b.particles).map(|(a, b)| far(*a, *b));
            let most = bodies.chain(particles).fold(0.0, f64::max);
            assert!(most < 2e-4, "{}: {most:e}", solver.name());
            assert!(most > 1e-9, "{}: {most:e} is not single precision", solver.name());
            let rounded = |v: Vec3| v.as_vec3().as_dvec3() == v;
            assert!(b.bodies.iter().all(|v| rounded(v.linear) && rounded(v.angular)));
            assert!(single.impulses().iter().all(|z| f64::from(*z as f32) == *z));
        }
    }
}
