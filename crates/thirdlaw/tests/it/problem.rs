//! The contact problem of the next step, and settings that comparisons of solvers need.

use crate::{cuboid, earth, floor, run};
use thirdlaw::contact::Study;
use thirdlaw::{Body, BodyId, Observer, Precision, Settings, Solver, Stage, StepError, World};

const FRAME: f64 = 1.0 / 60.0;

/// Cubes of a cubic metre and a tonne on top of each other.
fn tower(count: u32) -> (World, Vec<BodyId>) {
    let mut world = earth();
    let settings = Settings { sleeping: false, ..*world.settings() };
    world.set_settings(settings).unwrap();
    world.add_body(floor()).unwrap();
    let cube = |i| Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5 + f64::from(i), 0.0);
    let ids = (0..count).map(|i| world.add_body(cube(i)).unwrap()).collect();
    (world, ids)
}

#[test]
fn it_is_the_problem_of_the_step_and_leaves_the_world_alone() {
    let (mut world, ids) = tower(3);
    run(&mut world, 1.0, FRAME);
    let before = world.hash();
    let next = world.contact_problem(FRAME).unwrap();
    assert_eq!(world.hash(), before);
    assert_eq!(next.problem.validate(), Ok(()));
    assert_eq!(next.bodies[..3], ids);
    assert_eq!(next.problem.blocks.len(), 3, "a block for every pair");
    // velocities are those after gravity
    let h = FRAME / f64::from(world.settings().substeps);
    for (id, v) in ids.iter().zip(&next.velocities.bodies) {
        let now = world.velocity(*id).unwrap().linear;
        assert!((v.linear - now - h * world.settings().gravity).length() < 1e-15);
    }
    // at rest each contact carries what is above it, and last step's impulses say so already
    let rigid = next.without_push();
    let mut study = Study::warm(&rigid, &next.velocities, &next.impulses, Solver::Pgs);
    assert!(study.violation().largest < 1e-6, "{:?}", study.violation());
    (0..2000).for_each(|_| study.iterate());
    for (block, above) in rigid.blocks.iter().zip([3.0, 2.0, 1.0]) {
        let load: f64 = block.rows().step_by(3).map(|i| study.impulses()[i]).sum();
        assert!((load / (above * 1000.0 * 9.81 * h) - 1.0).abs() < 1e-6, "{load}");
    }
}

#[test]
fn bad_steps_are_refused_and_empty_worlds_have_empty_problems() {
    let world = earth();
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(world.contact_problem(dt), Err(StepError::TimeStep(_))));
    }
    let next = world.contact_problem(FRAME).unwrap();
    assert!(next.problem.rows.is_empty() && next.bodies.is_empty());
    let mut study = Study::cold(&next.problem, &next.velocities, Solver::ColoredPgs);
    study.iterate();
    assert_eq!(study.violation().largest, 0.0);
}

#[test]
fn without_patience_every_island_gets_what_was_asked_for() {
    let iterations = |patience: bool| {
        let (mut world, _) = tower(6);
        let mut settings = *world.settings();
        settings.contact.converge = patience;
        settings.contact.direct_rows = 0;
        settings.contact.tolerance = 0.0;
        world.set_settings(settings).unwrap();
        run(&mut world, 0.2, FRAME);
        world.step(FRAME).unwrap().contact_iterations
    };
    assert_eq!(iterations(false), 8 * (2 + 1));
    assert!(iterations(true) > 8 * (2 + 1));
}

#[test]
fn precision_is_what_was_asked_for() {
    let rest = |solver: Solver, precision: Precision| {
        let (mut world, ids) = tower(60);
        let mut settings = *world.settings();
        settings.contact.solver = solver;
        settings.contact.precision = precision;
        settings.contact.converge = false;
        world.set_settings(settings).unwrap();
        run(&mut world, 0.1, FRAME);
        let contacts = &world.state().contacts;
        let single = |z: f64| f64::from(z as f32) == z;
        let all = contacts.iter().flat_map(|c| c.points()).all(|p| single(p.normal_impulse));
        (all, world.pose(ids[59]).unwrap().translation.y)
    };
    let [(auto, a), (double, b)] =
        [Precision::Auto, Precision::Double].map(|p| rest(Solver::ColoredPgs, p));
    assert!(auto && !double, "the pile is solved in single precision unless told not to");
    assert!((a - b).abs() < 1e-3, "{a} {b}");
    let [(auto, a), (single, b)] =
        [Precision::Auto, Precision::Single].map(|p| rest(Solver::Pgs, p));
    assert!(!auto && single, "Gauss–Seidel is solved in double precision unless told not to");
    assert!((a - b).abs() < 1e-3, "{a} {b}");
}

/// Counts up by one at every reading.
#[derive(Default)]
struct Counting {
    stages: Vec<Stage>,
    shares: Vec<f64>,
}

fn tick() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static TICKS: AtomicU64 = AtomicU64::new(0);
    TICKS.fetch_add(1, Ordering::Relaxed)
}

impl Observer for Counting {
    fn begin(&mut self, stage: Stage) {
        self.stages.push(stage);
    }
    fn end(&mut self, _: Stage) {}
    fn clock(&self) -> Option<fn() -> u64> {
        Some(tick)
    }
    fn divide(&mut self, part: Stage, share: f64) {
        assert_eq!((part, self.stages.last()), (Stage::Integrate, Some(&Stage::Solve)));
        self.shares.push(share);
    }
}

#[test]
fn integrating_is_told_from_solving_and_watching_changes_no_bit() {
    // one island of many contacts, which goes to the pile, and one of few
    for count in [60, 3] {
        let (mut world, _) = tower(count);
        let mut other = world.clone();
        let mut counting = Counting::default();
        for _ in 0..5 {
            world.step_observed(FRAME, &mut counting).unwrap();
            other.step(FRAME).unwrap();
        }
        assert_eq!(world.hash(), other.hash());
        assert_eq!(counting.shares.len(), 5);
        assert!(counting.shares.iter().all(|s| *s > 0.2 && *s < 0.9), "{:?}", counting.shares);
    }
    // a body that touches nothing is integrated and nothing else
    let mut world = earth();
    world.add_body(Body::dynamic(cuboid(0.5, 0.5, 0.5))).unwrap();
    let mut counting = Counting::default();
    world.step_observed(FRAME, &mut counting).unwrap();
    assert_eq!(counting.shares, [1.0]);
}
