//! Every path through a step against the general one, on the same islands: a step from the same state, with
//! the path chosen for it and with [`Paths::General`] or as many iterations as it takes, must end alike.
//!
//! What may differ is stated with each: nothing, rounding of `f64` or of `f32`, or what a tolerance left.

use crate::{cuboid, floor, sphere};
use thirdlaw::{
    Body, BodyId, Enforcement, Joint, JointSolve, Paths, Precision, Settings, SolvePath, Vec3,
    World,
};

const FRAME: f64 = 1.0 / 60.0;

fn with(change: impl FnOnce(&mut Settings)) -> World {
    let mut settings = Settings { sleeping: false, ..Settings::default() };
    change(&mut settings);
    let mut world = World::new(settings).unwrap();
    world.add_body(floor()).unwrap();
    world
}

/// The largest difference of places (m) and of speeds (m/s) after a step of both.
fn apart(a: &mut World, b: &mut World) -> (f64, f64) {
    a.step(FRAME).unwrap();
    b.step(FRAME).unwrap();
    let mut most = (0.0_f64, 0.0_f64);
    for id in a.bodies() {
        let (p, q) = (a.pose(id).unwrap(), b.pose(id).unwrap());
        let (v, w) = (a.velocity(id).unwrap(), b.velocity(id).unwrap());
        most.0 = most.0.max(p.translation.distance(q.translation));
        let turned = v.linear.distance(w.linear) + v.angular.distance(w.angular);
        most.1 = most.1.max(turned);
    }
    most
}

/// Steps `world` and lets a copy of it, changed by `reference`, take the same step in every frame. Returns the
/// worst difference over the frames in which `path` was taken, and how many those were.
fn compare(
    world: &mut World,
    path: SolvePath,
    frames: usize,
    reference: impl Fn(&mut Settings),
) -> ((f64, f64), u32) {
    let (mut worst, mut taken) = ((0.0_f64, 0.0_f64), 0);
    for _ in 0..frames {
        let mut other = world.clone();
        let mut settings = *world.settings();
        reference(&mut settings);
        other.set_settings(settings).unwrap();
        let counted = world.clone().step(FRAME).unwrap().paths.of(path);
        let (place, speed) = apart(world, &mut other);
        if counted > 0 {
            taken += counted;
            worst = (worst.0.max(place), worst.1.max(speed));
        }
    }
    println!("{path:?}: {:.1e} m, {:.1e} m/s over {taken}", worst.0, worst.1);
    (worst, taken)
}

fn general(settings: &mut Settings) {
    settings.contact.paths = Paths::General;
}

#[test]
fn a_free_body_moves_to_the_last_bit_as_by_the_general_path() {
    let mut world = with(|_| {});
    let shapes = [cuboid(0.1, 0.2, 0.3), sphere(0.2), cuboid(0.5, 0.01, 0.02)];
    for (i, shape) in shapes.into_iter().enumerate() {
        let body = Body::dynamic(shape).at(3.0 * i as f64, 20.0, 0.0);
        world.add_body(body.spinning(Vec3::new(1.0, 7.0, -2.0))).unwrap();
    }
    let (worst, taken) = compare(&mut world, SolvePath::Free, 40, general);
    assert!(taken >= 100 && worst == (0.0, 0.0), "{worst:?}");
}

/// Fast clusters, with a fixed number of iterations: the same equations in another order of sums.
#[test]
fn batched_islands_move_as_by_the_general_path_but_for_rounding() {
    let mut world = with(|s| {
        (s.contact.converge, s.contact.direct_rows, s.contact.tolerance) = (false, 0, 0.0);
        s.contact.precision = Precision::Double;
    });
    for number in 0..6 {
        for i in 0..4 {
            let k = (13 * number + i) as f64;
            let at =
                (10.0 * number as f64 + 0.42 * i as f64, 0.3 + 0.01 * k % 0.1, 0.05 * i as f64);
            let body = Body::dynamic(cuboid(0.2, 0.15, 0.2)).at(at.0, at.1, at.2);
            world.add_body(body.moving(Vec3::new(2.0 - i as f64, -2.0, 0.3))).unwrap();
        }
    }
    let (worst, taken) = compare(&mut world, SolvePath::Batched, 20, general);
    assert!(taken > 60, "{taken}");
    assert!(worst.0 < 1e-10 && worst.1 < 1e-8, "{worst:?}");
}

/// Small towers that iterate until they have converged, in `f32` and in `f64`; friction of a pile acts once per
/// contact, which a tower that is not yet at rest sees.
#[test]
fn converged_piles_stand_as_by_the_general_path() {
    let mut world = with(|_| {});
    for tower in 0..5 {
        for i in 0..=tower {
            let at = (3.0 * tower as f64 + 0.01 * i as f64, 0.2 + 0.4 * i as f64);
            world.add_body(Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(at.0, at.1, 0.0)).unwrap();
        }
    }
    let (worst, taken) = compare(&mut world, SolvePath::ConvergedPile, 15, general);
    assert!(taken > 40, "{taken}");
    assert!(worst.0 < 2e-5 && worst.1 < 3e-3, "{worst:?}");
}

/// A stepped wall at rest, iterated to the end either way. Friction of a pile acts once per contact and arms
/// are those of the beginning of the step: at rest neither is seen.
#[test]
fn a_pile_at_rest_stays_as_by_the_general_path() {
    let mut world = with(|s| (s.contact.iterations, s.contact.relax_iterations) = (60, 60));
    for row in 0..5 {
        for i in 0..8 - row {
            let at = (0.51 * f64::from(i) + 0.255 * f64::from(row), 0.125 + 0.25 * f64::from(row));
            world.add_body(Body::dynamic(cuboid(0.25, 0.125, 0.125)).at(at.0, at.1, 0.0)).unwrap();
        }
    }
    crate::run(&mut world, 1.0, FRAME);
    let (worst, taken) = compare(&mut world, SolvePath::Pile, 20, general);
    assert!(taken >= 20, "{taken}");
    assert!(worst.0 < 1e-7 && worst.1 < 2e-5, "{worst:?}");
}

/// A heavy box on a light one by the direct solver, and by iterations without end. Velocities are the same; the
/// spring that pushes overlaps apart follows the load during iterations and not in a direct solve, so that
/// positions differ by a part of what it gives way.
#[test]
fn the_direct_solver_ends_where_iterations_lead() {
    let mut world = with(|s| s.contact.tolerance = 1e-12);
    world.add_body(Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.0, 0.2, 0.0).mass(1.0)).unwrap();
    let heavy = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(0.03, 0.6, 0.02).mass(40.0);
    world.add_body(heavy).unwrap();
    let (worst, taken) = compare(&mut world, SolvePath::Direct, 10, |s| {
        (s.contact.direct_rows, s.contact.converge) = (0, false);
        (s.contact.iterations, s.contact.relax_iterations) = (20_000, 20_000);
    });
    assert!(taken > 0, "{taken}");
    let sag = world.settings().contact.sag;
    assert!(worst.0 < 0.5 * sag && worst.1 < 1e-6, "{worst:?}");
}

/// A chain that lies on the floor and a block, by every way to solve contacts and joints together.
fn chain(change: impl FnOnce(&mut Settings)) -> World {
    let mut world = with(|s| {
        s.joints.enforcement = Enforcement::Stabilized;
        s.contact.direct_rows = 0;
        (s.contact.iterations, s.contact.relax_iterations) = (400, 400);
        change(s);
    });
    let mut before: Option<BodyId> = None;
    for k in 0..4 {
        let x = 0.4 * f64::from(k);
        let link = Body::dynamic(cuboid(0.18, 0.05, 0.05)).at(x, 0.05, 0.0).mass(1.0);
        let link = world.add_body(link.moving(Vec3::new(0.3, 0.0, 0.1))).unwrap();
        if let Some(before) = before.replace(link) {
            world.add_joint(Joint::ball(before, link).at(x - 0.2, 0.05, 0.0)).unwrap();
        }
    }
    world
}

#[test]
fn contacts_and_joints_end_alike_whichever_way_they_are_solved_together() {
    let exact = |s: &mut Settings| s.joints.solve = JointSolve::Exact;
    for (solve, path) in [
        (JointSolve::Rows, SolvePath::JointRows),
        (JointSolve::Interleaved, SolvePath::JointsInterleaved),
    ] {
        let mut world = chain(|s| s.joints.solve = solve);
        let (worst, taken) = compare(&mut world, path, 10, exact);
        assert!(taken == 10, "{taken}");
        assert!(worst.0 < 1e-6 && worst.1 < 1e-6, "{path:?}: {worst:?}");
    }
    let mut world = chain(|_| {});
    let interleaved = |s: &mut Settings| s.joints.solve = JointSolve::Interleaved;
    let (worst, taken) = compare(&mut world, SolvePath::ThroughJoints, 10, interleaved);
    assert_eq!(taken, 10);
    assert!(worst.0 < 1e-6 && worst.1 < 1e-6, "{worst:?}");
}

/// A swinging chain in its own coordinates and by impulses: two integrators, of which the second is of second
/// order: four times the substeps, a sixteenth of the difference.
#[test]
fn impulses_converge_to_generalized_coordinates() {
    let swing = |substeps: u32| {
        let mut world = with(|s| s.substeps = substeps);
        let mut before = None;
        for k in 0..3 {
            let x = 0.4 * f64::from(k);
            let link = Body::dynamic(cuboid(0.18, 0.04, 0.06)).at(x + 0.2, 5.0, 0.0).mass(1.0);
            let link = world.add_body(link).unwrap();
            let joint = match before.replace(link) {
                None => Joint::ball(thirdlaw::Side::World, link),
                Some(before) => Joint::hinge(before, link).axis(Vec3::Z),
            };
            world.add_joint(joint.at(x, 5.0, 0.0)).unwrap();
        }
        let (worst, taken) = compare(&mut world, SolvePath::Reduced, 20, |s| {
            s.joints.enforcement = Enforcement::Stabilized;
        });
        assert_eq!(taken, 20);
        worst
    };
    let (coarse, fine) = (swing(4), swing(16));
    assert!(coarse.0 < 1e-4, "{coarse:?}");
    assert!(fine.0 < coarse.0 / 10.0, "{coarse:?} {fine:?}");
}
