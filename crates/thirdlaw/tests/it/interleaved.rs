//! Joints held exactly after every iteration of the contact solver, in whole worlds.

use crate::{cuboid, floor};
use thirdlaw::{Body, BodyId, Joint, JointSolve, Settings, Solver, World, measure};

const FRAME: f64 = 1.0 / 60.0;

/// Five boxes on ball joints, dropped aslant onto the floor.
fn dropped(solver: Solver, solve: JointSolve, iterations: u32) -> (World, Vec<BodyId>) {
    let mut settings = Settings { sleeping: false, ..Settings::default() };
    (settings.contact.solver, settings.joints.solve) = (solver, solve);
    (settings.contact.iterations, settings.contact.relax_iterations) = (iterations, iterations);
    let mut world = World::new(settings).unwrap();
    world.add_body(floor()).unwrap();
    let mut links: Vec<BodyId> = Vec::new();
    for i in 0..5 {
        let (x, y) = (0.5 * f64::from(i), 0.2 + 0.1 * f64::from(i));
        let link = Body::dynamic(cuboid(0.2, 0.1, 0.1)).at(x, y, 0.0).mass(1.0);
        let link = world.add_body(link).unwrap();
        if let Some(&before) = links.last() {
            let joint = Joint::ball(before, link).at(x - 0.25, y - 0.05, 0.0);
            world.add_joint(joint).unwrap();
        }
        links.push(link);
    }
    (world, links)
}

#[test]
fn joints_hold_however_few_the_iterations() {
    for solver in [Solver::MassSplitting, Solver::BlockMassSplitting, Solver::ColoredPgs] {
        let (mut world, _) = dropped(solver, JointSolve::Interleaved, 1);
        for _ in 0..120 {
            world.step(FRAME).unwrap();
            let gap = measure::joint_error(&world);
            assert!(gap < 1e-8, "{}: {gap:e}", solver.name());
        }
    }
}

#[test]
fn interleaved_and_exact_come_to_the_same_rest() {
    let (mut exact, links) = dropped(Solver::ColoredPgs, JointSolve::Exact, 8);
    crate::run(&mut exact, 3.0, FRAME);
    for solver in [Solver::MassSplitting, Solver::BlockMassSplitting, Solver::Pgs] {
        let (mut world, _) = dropped(solver, JointSolve::Interleaved, 40);
        crate::run(&mut world, 3.0, FRAME);
        let overlap = measure::penetration(&world);
        assert!(overlap < 2e-3, "{}: {overlap:e}", solver.name());
        let jitter = measure::jitter(&world);
        assert!(jitter < 1e-6, "{}: {jitter:e}", solver.name());
        for &link in &links {
            let (a, b) = (exact.center(link).unwrap(), world.center(link).unwrap());
            assert!((a.y - b.y).abs() < 2e-3, "{}: {a} {b}", solver.name());
            assert!((a - b).length() < 0.05, "{}: {a} {b}", solver.name());
        }
    }
}
