//! Simulators that are stepped at the same time, and what of them others may touch.

use crate::{earth, floor, sphere, with_threads};
use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Tie};
use thirdlaw::simulator::Simulator;
use thirdlaw::{Body, Groups, World};

/// Twenty balls that fall on a floor, one of them lifted.
fn balls(lift: f64) -> World {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..20 {
        let high = if i == 0 { lift } else { 0.0 };
        let (x, z) = (f64::from(i % 5), f64::from(i / 5));
        let ball = Body::dynamic(sphere(0.3)).at(0.55 * x, 0.4 + high, 0.55 * z);
        world.add_body(ball).unwrap();
    }
    world
}

#[test]
fn simulators_stepped_at_the_same_time_give_the_same_bits() {
    let run = |threads: usize| {
        with_threads(threads, || {
            let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
            for i in 0..3 {
                coupling.add(format!("world {i}"), balls(0.5 + 0.7 * f64::from(i))).unwrap();
            }
            coupling.tie(Tie::spring(Anchor::new(0, 1), Anchor::new(1, 1), 50.0)).unwrap();
            coupling.tie(Tie::spring(Anchor::new(1, 1), Anchor::new(2, 1), 80.0)).unwrap();
            for _ in 0..20 {
                coupling.step(1.0 / 60.0).unwrap();
            }
            [0, 1, 2].map(|i| coupling.get::<World>(i).unwrap().hash())
        })
    };
    let one = run(1);
    assert!([2, 3, 7].map(run).iter().all(|many| *many == one));
}

#[test]
fn what_collides_with_nothing_is_no_obstacle_of_others() {
    let mut world = earth();
    let ball = || Body::dynamic(sphere(0.3));
    let ghost = Groups { member: 1, collides: 0 };
    world.add_body(ball().groups(ghost)).unwrap();
    world.add_body(ball().at(1.0, 0.0, 0.0)).unwrap();
    let surfaces = Simulator::surfaces(&world);
    assert_eq!(surfaces.iter().map(|s| s.handle).collect::<Vec<_>>(), [1]);
}
