//! Trees in coordinates at the ends of what can be asked for: all of it stays finite, closed and sane, in
//! coordinates or by impulses.

use crate::coordinates::{apart, bar, every_kind, held, places, reduced, total};
use crate::{cuboid, run, sphere};
use thirdlaw::{
    Axis, Body, Drive, Enforcement, Groups, Joint, Mass, Mat3, Side, Twist, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;

fn all_finite(world: &World) -> bool {
    world.bodies().all(|id| {
        let v = world.velocity(id).unwrap();
        let pose = world.pose(id).unwrap();
        v.linear.is_finite() && v.angular.is_finite() && pose.translation.is_finite()
    })
}

#[test]
fn bodies_without_inertia_about_an_axis_stay_finite() {
    for least in [1e-6, 1e-9, 1e-12] {
        for hinge in [true, false] {
            let mut world = reduced(9.81, 8);
            let mut before = Side::World;
            for i in 0..3 {
                let x = 0.5 + f64::from(i);
                let mut body = Body::dynamic(sphere(0.01)).at(x, 0.0, 0.0);
                let inertia = Mat3::from_diagonal(Vec3::new(least, 1e-3 + least, 1e-3 + least));
                body.mass = Mass::Explicit { mass: 1.0, center: Vec3::ZERO, inertia };
                body.groups = Groups { member: 0, collides: 0 };
                let id = world.add_body(body).unwrap();
                let joint = if hinge {
                    Joint::hinge(before, id).axis(Vec3::Z)
                } else {
                    Joint::ball(before, id)
                };
                world.add_joint(joint.at(x - 0.5, 0.0, 0.0)).unwrap();
                before = id.into();
            }
            let start = total(&world);
            let mut most = f64::NEG_INFINITY;
            for _ in 0..120 {
                world.step(FRAME).unwrap();
                most = most.max(total(&world) - start);
            }
            assert!(all_finite(&world));
            assert!(most < 0.05, "{least} {hinge}: gains {most} J");
            assert!(measure::joint_error(&world) < 1e-6, "{}", measure::joint_error(&world));
        }
    }
}

#[test]
fn steps_of_any_length_stay_finite_and_gain_nothing() {
    for dt in [0.1, 1.0, 10.0] {
        let mut world = reduced(9.81, 8);
        let mut before = Side::World;
        for i in 0..5 {
            let x = 0.4 * f64::from(i);
            let id = bar(&mut world, x + 0.2, 0.0, 0.0);
            let drive = Drive::pd(100.0, 1.0);
            let joint = Joint::hinge(before, id).axis(Vec3::Z).at(x, 0.0, 0.0);
            world.add_joint(joint.driven(Axis::TurnX, drive)).unwrap();
            before = id.into();
        }
        for _ in 0..50 {
            world.step(dt).unwrap();
        }
        assert!(all_finite(&world));
        let kinetic = measure::energy(&world).kinetic;
        assert!(kinetic < 5.0 * 9.81 * 4.0, "{dt}: {kinetic}");
    }
}

#[test]
fn far_from_the_origin_a_tree_moves_alike() {
    let moved = |far: Vec3| {
        let mut world = reduced(0.0, 8);
        let bodies = every_kind(&mut world, false);
        for &id in &bodies {
            let mut pose = world.pose(id).unwrap();
            pose.translation += far;
            world.set_pose(id, pose).unwrap();
        }
        let mut taken = 0;
        for _ in 0..30 {
            taken += world.step(FRAME).unwrap().reduced_substeps;
        }
        let first = world.center(bodies[0]).unwrap();
        let places = places(&world, &bodies);
        (places.into_iter().map(|x| x - first).collect::<Vec<_>>(), taken)
    };
    let (near, taken) = moved(Vec3::ZERO);
    assert_eq!(taken, 240);
    for far in [1e4, 1e7] {
        let (there, taken) = moved(far * Vec3::new(1.0, -0.5, 0.3));
        assert!(apart(&near, &there) < 1e-6, "{far}: {}", apart(&near, &there));
        assert_eq!(taken, 240, "{far}");
    }
}

#[test]
fn a_tree_beside_another_one_changes_no_bit_of_it() {
    let alone = {
        let mut world = reduced(9.81, 8);
        let bodies = every_kind(&mut world, true);
        run(&mut world, 0.3, FRAME);
        places(&world, &bodies)
    };
    let mut world = reduced(9.81, 8);
    let bodies = every_kind(&mut world, true);
    for i in 0..4 {
        let mut body = Body::dynamic(cuboid(0.1, 0.1, 0.1)).at(50.0 + f64::from(i), 0.0, 0.0);
        body.groups = Groups { member: 0, collides: 0 };
        let id = world.add_body(body).unwrap();
        world.add_joint(Joint::ball(Side::World, id).at(50.3 + f64::from(i), 0.0, 0.0)).unwrap();
    }
    run(&mut world, 0.3, FRAME);
    assert_eq!(alone, places(&world, &bodies));
}

#[test]
fn going_over_from_impulses_to_coordinates_and_back_moves_no_energy() {
    // every other frame by impulses, fine enough for their own error to be small
    let mut world = held(9.81, 64, Enforcement::Reduced);
    let mut before = Side::World;
    for i in 0..4 {
        let x = 0.4 * f64::from(i);
        let id = bar(&mut world, x + 0.2, 0.0, 0.0);
        world.add_joint(Joint::ball(before, id).at(x, 0.0, 0.0)).unwrap();
        before = id.into();
    }
    let start = total(&world);
    let mut worst = 0.0_f64;
    for i in 0..120 {
        let mut settings = *world.settings();
        settings.joints.enforcement =
            if i % 2 == 0 { Enforcement::Reduced } else { Enforcement::Stabilized };
        world.set_settings(settings).unwrap();
        world.step(FRAME).unwrap();
        worst = worst.max((total(&world) - start).abs());
    }
    println!("{worst:.1e} J");
    assert!(worst < 2e-3, "{worst}");
    // and nothing at all at the change itself
    let mut settings = *world.settings();
    settings.joints.enforcement = Enforcement::Reduced;
    world.set_settings(settings).unwrap();
    let before = total(&world);
    world.step(1e-9).unwrap();
    assert!((total(&world) - before).abs() < 1e-8, "{}", total(&world) - before);
}

#[test]
fn a_body_kicked_to_any_speed_is_followed_or_handed_over() {
    for speed in [1e2, 1e4, 1e6] {
        let mut world = reduced(9.81, 8);
        let bodies = every_kind(&mut world, true);
        let angular = Vec3::new(speed, 0.3 * speed, 0.0);
        world.set_velocity(bodies[3], Twist { angular, ..Twist::default() }).unwrap();
        for _ in 0..20 {
            world.step(FRAME).unwrap();
        }
        assert!(all_finite(&world), "{speed}");
    }
}
