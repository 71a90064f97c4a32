//! Contact points side by side do what the sweep of one block after the other does.

use super::*;
use crate::contact::colors::Colors;
use crate::contact::lanes::{Anchor, Lanes, Pose, Softness};
use crate::contact::solvers::colored_pgs::Plain;
use crate::contact::solvers::pgs;
use crate::math::{Mat3, rotation_from_vector};
use crate::simd::f64x4::Wide;

const MIXED: Recipe =
    Recipe { bodies: 30, particles: 0, blocks: 90, points: 3, friction: Some(0.4), softness: 0.05 };

/// A problem whose blocks have one to four points.
fn uneven_case(seed: u64, recipe: Recipe) -> Case {
    let Case { mut problem, velocities, .. } = random_case(seed, recipe);
    let random = &mut Random(seed);
    let mut rows = Vec::new();
    for block in &mut problem.blocks {
        let row_start = rows.len() as u32;
        let keep = 3 * (1 + random.below(recipe.points));
        for (i, mut row) in problem.rows[block.rows()].iter().copied().take(keep).enumerate() {
            if let Bound::Friction { normal, .. } = &mut row.bound {
                *normal = row_start + (i - i % 3) as u32;
                row.bias = random.between(-0.1, 0.1);
            }
            rows.push(row);
        }
        (block.row_start, block.row_count) = (row_start, rows.len() as u32 - row_start);
    }
    problem.rows = rows;
    Case::new(problem, velocities)
}

fn apart(a: &Case, b: &Case) -> f64 {
    let bodies = a.velocities.bodies.iter().zip(&b.velocities.bodies);
    let v = bodies
        .map(|(a, b)| (a.linear - b.linear).abs().max((a.angular - b.angular).abs()).max_element());
    let z = a.impulses.iter().zip(&b.impulses).map(|(a, b)| (a - b).abs());
    v.chain(z).fold(0.0, f64::max)
}

#[test]
fn the_general_path_gives_the_same_to_round_off() {
    for seed in 0..20 {
        let particles = if seed % 4 == 3 { 24 } else { 0 };
        let mut case = uneven_case(seed, Recipe { particles, points: 4, ..MIXED });
        let mut other = Case::new(case.problem.clone(), case.velocities.clone());
        let mut colors = Colors::default();
        colors.build(&other.problem);
        let parts = [Part::Both, Part::Both, Part::Normal, Part::Friction, Part::Both];
        for part in parts {
            case.iterate(Solver::ColoredPgs, part);
            other.scratch.update_whole(&other.problem);
            let mut met: f64 = 0.0;
            for &i in &colors.order {
                let Case { problem, velocities, impulses, scratch } = &mut other;
                met = met.max(pgs::sweep_block(
                    problem, part, i as usize, velocities, impulses, scratch,
                ));
            }
            assert!((case.scratch.met - met).abs() < 1e-11 * met, "seed {seed}");
            if part == Part::Normal {
                for case in [&mut case, &mut other] {
                    case.problem.rows.iter_mut().for_each(|row| row.arm_b *= 1.1);
                    refresh(&case.problem, &mut case.scratch);
                }
            }
            // as a caller does between solves
            for row in case.problem.rows.iter_mut().chain(&mut other.problem.rows) {
                row.bias *= 0.5;
                row.compliance *= 0.5;
            }
        }
        assert!(apart(&case, &other) < 1e-11, "seed {seed}: {:e}", apart(&case, &other));
    }
}

#[test]
fn the_width_of_registers_changes_no_bit() {
    let case = uneven_case(1, MIXED);
    let mut colors = Colors::default();
    colors.build(&case.problem);
    let run = |wide: bool| {
        let mut lanes = Lanes::default();
        lanes.build(&case.problem, &colors);
        lanes.pack(&case.problem);
        lanes.load(&case.problem, &case.impulses);
        let mut bodies = case.velocities.bodies.clone();
        for color in (0..colors.count()).cycle().take(4 * colors.count()) {
            let (mut chunk, _) = lanes.color(color);
            let nodes = &mut Plain(&mut bodies);
            if wide {
                chunk.sweep_with::<Wide>(Part::Both, nodes);
            } else {
                chunk.sweep(Part::Both, nodes);
            }
        }
        let mut impulses = case.impulses.clone();
        lanes.store(&mut impulses);
        (bodies, impulses)
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_solve_reads_what_changed_since_the_one_before() {
    let settings = SolveSettings { iterations: 2, tolerance: 0.0, ..Default::default() };
    let settings = SolveSettings { direct: DirectUse::Never, ..settings };
    let (mut case, mut other) = (uneven_case(2, MIXED), uneven_case(2, MIXED));
    for _ in 0..3 {
        case.solve(&settings);
        for _ in 0..2 {
            other.iterate(Solver::ColoredPgs, Part::Both);
        }
        for row in case.problem.rows.iter_mut().chain(&mut other.problem.rows) {
            row.bias += 0.01;
            row.compliance *= 1.1;
        }
        for z in case.impulses.iter_mut().chain(&mut other.impulses) {
            *z *= 0.75;
        }
    }
    assert_eq!(case.velocity_bits(), other.velocity_bits());
}

#[test]
fn large_colours_give_the_same_bits_on_any_number_of_threads() {
    let recipe = Recipe { bodies: 4000, blocks: 3000, ..MIXED };
    let settings = SolveSettings { direct: DirectUse::Never, iterations: 3, ..Default::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut case = uneven_case(9, recipe);
        pool.install(|| case.solve(&settings));
        assert!(case.scratch.lanes.value.forks);
        (case.velocity_bits(), case.impulses)
    };
    let first = run(1);
    for threads in [2, 3, 8] {
        assert!(run(threads) == first, "{threads} threads");
    }
}

#[test]
fn points_that_follow_have_the_same_bits_in_registers_of_any_width() {
    let case = uneven_case(3, MIXED);
    let mut colors = Colors::default();
    colors.build(&case.problem);
    let random = &mut Random(3);
    let mut vector = |far: f64| [(); 3].map(|()| random.between(-far, far)).into();
    let poses: Vec<Pose> = (0..case.problem.bodies.len())
        .map(|_| (vector(1.0), Mat3::from_quat(rotation_from_vector(vector(2.0)))))
        .collect();
    let mut anchors = Vec::new();
    for block in &case.problem.blocks {
        let bodies =
            [block.a, block.b].map(|side| if let ContactSide::Body(i) = side { i } else { 0 });
        for i in 0..block.row_count / 3 {
            let (radii, with_b) = ([0.0, 0.01 * f64::from(i)], i % 2 == 0);
            let (arms, skin) = ([vector(0.3), vector(0.3)], 1e-4 * f64::from(i));
            let (rate, softness, carried) = (30.0, 2.0, 0.03);
            let soft = Softness { rate, softness, slop: 1e-4, carried, speed: 3.0 };
            anchors.push(Anchor { bodies, arms, radii, skin, inside: 0.99, soft, with_b });
        }
    }
    let h = 0.002;
    let run = |wide: bool| {
        let mut lanes = Lanes::default();
        lanes.build(&case.problem, &colors);
        lanes.pack(&case.problem);
        lanes.load(&case.problem, &case.impulses);
        lanes.fix(&anchors);
        let mut bodies = case.velocities.bodies.clone();
        for _ in 0..3 {
            if wide {
                lanes.follow_with::<Wide>(&poses, h, &mut Plain(&mut bodies));
            } else {
                lanes.follow(&poses, h, &mut bodies);
            }
            lanes.iterate(Part::Both, &mut bodies);
            lanes.relax(h, true);
            lanes.iterate(Part::Normal, &mut bodies);
            lanes.iterate(Part::Friction, &mut bodies);
        }
        let mut impulses = case.impulses.clone();
        lanes.store(&mut impulses);
        (bodies, impulses)
    };
    assert_eq!(run(true), run(false));
}
