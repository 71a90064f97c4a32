//! Small islands that move fast: solved several at a time, each as if it were alone.

use crate::{cuboid, earth, floor, sphere};
use thirdlaw::{Body, Paths, Pose, Precision, Settings, Twist, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

/// Five bodies that tumble over the floor and into each other: flat and round, long and compact, a paddle
/// that moves by itself.
fn add_cluster(world: &mut World, number: usize, restitution: f64) {
    let (x, z) = (30.0 * (number % 6) as f64, 30.0 * (number / 6) as f64);
    let r = |k: usize| ((number * 13 + k) * 7919 % 1000) as f64 / 1000.0 - 0.5;
    let shapes = [
        cuboid(0.25, 0.25, 0.25),
        cuboid(0.4, 0.15, 0.2),
        sphere(0.2),
        cuboid(0.2, 0.2, 0.2),
        cuboid(0.1, 0.3, 0.2),
    ];
    let paddle = Body::kinematic(cuboid(0.2, 0.5, 1.0)).at(x - 1.0, 0.5, z);
    world.add_body(paddle.moving(Vec3::X).restitution(restitution)).unwrap();
    for (i, shape) in shapes.into_iter().enumerate() {
        let body = Body::dynamic(shape)
            .at(x + 0.45 * i as f64 - 0.5, 0.3 + 0.1 * r(i), z + 0.2 * r(i + 5))
            .moving(Vec3::new(1.0 - 1.5 * i as f64, -2.0, r(i + 9)))
            .spinning(Vec3::new(3.0 * r(i), 4.0 * r(i + 1), 5.0 * r(i + 2)));
        world.add_body(body.friction(0.5).restitution(restitution)).unwrap();
    }
}

fn motion(world: &World, count: usize) -> Vec<(Pose, Twist)> {
    let bodies = world.bodies().skip(1).take(count);
    bodies.map(|id| (world.pose(id).unwrap(), world.velocity(id).unwrap())).collect()
}

/// The general path takes islands one by one, and the equations are the same.
#[test]
fn islands_abreast_move_as_islands_alone() {
    let clusters = |paths: Paths| {
        let mut settings = Settings::default();
        let contact = &mut settings.contact;
        (contact.precision, contact.converge) = (Precision::Double, false);
        (contact.direct_rows, contact.tolerance, contact.paths) = (0, 0.0, paths);
        let mut world = World::new(settings).unwrap();
        world.add_body(floor()).unwrap();
        (0..12).for_each(|number| add_cluster(&mut world, number, 0.0));
        world
    };
    let (mut abreast, mut alone) = (clusters(Paths::Auto), clusters(Paths::General));
    let mut most: f64 = 0.0;
    let mut contacts = 0;
    // from the third frame on changes of 1e-12 let one of the clusters take another course, either way
    for _ in 0..2 {
        let report = abreast.step(FRAME).unwrap();
        alone.step(FRAME).unwrap();
        assert!(report.islands >= 12);
        contacts += report.contacts;
        for (a, b) in motion(&abreast, 72).into_iter().zip(motion(&alone, 72)) {
            let off = a.0.translation.distance(b.0.translation)
                + a.1.linear.distance(b.1.linear)
                + a.1.angular.distance(b.1.angular);
            most = most.max(off);
        }
    }
    assert!(contacts > 350, "{contacts}");
    assert!(most < 1e-9, "{most:e}");
}

#[test]
fn company_changes_no_bit() {
    let world = |others: usize| {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        (0..1 + others).for_each(|number| add_cluster(&mut world, number, 0.0));
        world
    };
    for others in [1, 2, 5, 17] {
        let (mut alone, mut beside) = (world(0), world(others));
        for frame in 0..40 {
            alone.step(FRAME).unwrap();
            beside.step(FRAME).unwrap();
            assert!(motion(&alone, 6) == motion(&beside, 6), "{others} others, frame {frame}");
        }
    }
}
