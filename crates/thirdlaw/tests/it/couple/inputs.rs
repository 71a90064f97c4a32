//! What others ask of a world for one step leaves no trace in its model, however the step ends.

use super::constrained::{pinned, towed};
use crate::{cuboid, earth, floor, sphere};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use thirdlaw::couple::{Coupling, CouplingSettings, Method};
use thirdlaw::simulator::{ContactSurface, HandleResponse, Motion, ObstacleMotion, Simulator};
use thirdlaw::{Body, BodyId, Constraint, Mat3, Material, Member, MemberState, Point, Vec3, World};

const DT: f64 = 1.0 / 60.0;

/// Keeps a point at its height, until it is told to fail.
#[derive(Debug)]
struct Fails {
    members: [Member; 1],
    how: Arc<AtomicU8>,
}

impl Constraint for Fails {
    fn members(&self) -> &[Member] {
        &self.members
    }
    fn rows(&self) -> usize {
        1
    }
    fn evaluate(&self, states: &[MemberState], out: &mut [f64]) {
        assert!(self.how.load(Ordering::Relaxed) != 2, "asked to");
        out[0] = states[0].position.y;
    }
    fn position_derivative(&self, _: &[MemberState], out: &mut [f64]) {
        out[1] = if self.how.load(Ordering::Relaxed) == 1 { f64::NAN } else { 1.0 };
    }
}

/// A world in which a step can be made to fail, with a body of its own and an obstacle.
fn fragile() -> (World, BodyId, usize, Arc<AtomicU8>) {
    let mut world = earth();
    world.add_body(floor().at(0.0, -1.0, 0.0)).unwrap();
    let body = Body::dynamic(cuboid(0.1, 0.1, 0.1)).mass(2.0).at(0.0, 0.3, 0.0);
    let body = world.add_body(body).unwrap();
    let point = world.add_point(Point::new(1.0, Vec3::new(3.0, 0.0, 0.0))).unwrap();
    let how = Arc::new(AtomicU8::new(0));
    let fails = Fails { members: [Member::Point(point)], how: how.clone() };
    world.add_constraint(Arc::new(fails)).unwrap();
    let surface = ContactSurface {
        handle: 0,
        shape: sphere(0.1),
        center: Vec3::ZERO,
        material: Material::default(),
        dynamic: true,
    };
    let obstacle = world.add_obstacle(&surface).unwrap();
    (world, body, obstacle, how)
}

/// Asks for all that can be asked for: an obstacle, a prescribed body or a constraint on it.
fn ask(world: &mut World, body: BodyId, obstacle: usize, constrain: bool) {
    let at = |x: f64| Motion::point(Vec3::new(x, 0.35, 0.0), Vec3::ZERO);
    let response =
        HandleResponse { mass: 0.5, inertia: Mat3::from_diagonal(Vec3::splat(1e-3)), reach: 0.5 };
    let (start, end) = (at(0.19), at(0.18));
    let counted = Default::default();
    let motion = ObstacleMotion { start, end, counted, response: Some(response) };
    world.move_obstacle(obstacle, &motion);
    let handle = world.body_handle(body).unwrap();
    let now = world.read(handle);
    if constrain {
        assert!(world.constrain(&pinned(handle, &now)));
    } else {
        let end = Motion { position: now.position + Vec3::new(0.001, 0.0, 0.0), ..now };
        assert!(world.prescribe(handle, &end));
        // twice is once too often, and no reason to be another body afterwards
        assert!(world.prescribe(handle, &end));
    }
}

#[test]
fn a_step_that_fails_or_panics_leaves_the_model_as_it_was() {
    for constrain in [false, true] {
        let (mut world, body, obstacle, how) = fragile();
        let (mut sound, ..) = fragile();
        let fingerprint = world.model().fingerprint();
        let same = |world: &World| world.model().fingerprint() == fingerprint;
        for step in 0..12 {
            Simulator::save(&mut world);
            for failure in [1, 2] {
                ask(&mut world, body, obstacle, constrain);
                how.store(failure, Ordering::Relaxed);
                let ended = catch_unwind(AssertUnwindSafe(|| World::step(&mut world, DT)));
                assert!(!matches!(ended, Ok(Ok(_))), "step {step} did not fail");
                assert!(same(&world), "after failure {failure} in step {step}");
                Simulator::restore(&mut world);
            }
            how.store(0, Ordering::Relaxed);
            for world in [&mut world, &mut sound] {
                // now and then nobody asks for anything
                if step % 4 != 3 {
                    ask(world, body, obstacle, constrain);
                }
                World::step(world, DT).unwrap();
                assert!(same(world), "after step {step}");
            }
            assert_eq!(world.reaction(obstacle), sound.reaction(obstacle), "step {step}");
            assert_eq!(world.hash(), sound.hash(), "failures leave no trace: step {step}");
        }
        // what is edited between steps is seen by the next one
        for world in [&mut world, &mut sound] {
            let body = Body::dynamic(sphere(0.1)).at(0.05, 0.6, 0.0);
            world.add_body(body).unwrap();
        }
        world.drop_scratch();
        for _ in 0..20 {
            for world in [&mut world, &mut sound] {
                ask(world, body, obstacle, constrain);
                World::step(world, DT).unwrap();
            }
            assert_eq!(world.hash(), sound.hash());
        }
    }
}

#[test]
fn coupled_steps_leave_the_models_as_they_are() {
    let touching = || {
        let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
        let mut balls = earth();
        balls.add_body(Body::dynamic(sphere(0.2)).mass(0.2).at(0.01, 0.22, 0.02)).unwrap();
        coupling.add("cloth", super::sheet(9)).unwrap();
        coupling.add("balls", balls).unwrap();
        coupling.touch(0, 1).unwrap();
        coupling
    };
    let leading = || {
        let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
        for name in ["leader", "follower"] {
            let mut world = earth();
            world.add_body(Body::dynamic(sphere(0.1)).moving(Vec3::X)).unwrap();
            coupling.add(name, world).unwrap();
        }
        coupling.lead((0, 0), (1, 0)).unwrap();
        coupling
    };
    let couplings = [
        touching(),
        leading(),
        towed(Method::Iterated).0,
        towed(Method::Interleaved).0,
        towed(Method::Repaired).0,
    ];
    for mut coupling in couplings {
        let fingerprints = |c: &Coupling| {
            let all = 0..c.simulator_count();
            all.map(|i| c.get::<World>(i).unwrap().model().fingerprint()).collect::<Vec<_>>()
        };
        let before = fingerprints(&coupling);
        for _ in 0..20 {
            coupling.step(DT).unwrap();
            assert_eq!(fingerprints(&coupling), before);
        }
    }
}

#[test]
fn a_motion_that_is_refused_is_not_made() {
    let (mut world, body, ..) = fragile();
    let handle = world.body_handle(body).unwrap();
    let nowhere = Motion::point(Vec3::NAN, Vec3::ZERO);
    assert!(!world.prescribe(handle, &nowhere));
    World::step(&mut world, DT).unwrap();
    assert!(world.read(handle).is_finite());
}
