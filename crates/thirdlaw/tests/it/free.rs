//! Bodies that touch nothing.

use crate::{cuboid, run, sphere, world};
use thirdlaw::{Body, BodyId, Force, Mass, Mat3, Quat, Vec3, World};

fn body_omega(world: &World, id: BodyId) -> Vec3 {
    let pose = world.pose(id).unwrap();
    pose.rotation.inverse() * world.velocity(id).unwrap().angular
}

/// R1: torque-free box; reference values from an independent high-order integration.
fn torque_free(dt: f64, seconds: f64) -> (Vec3, Quat, f64, f64) {
    let mut world = world(0.0);
    let body = Body::dynamic(cuboid(0.1, 0.2, 0.3)).mass(1.0).spinning(Vec3::new(1.0, 2.0, 3.0));
    let id = world.add_body(body).unwrap();
    run(&mut world, seconds, dt);
    let energy = thirdlaw::measure::energy(&world).kinetic;
    let momentum = thirdlaw::measure::momentum(&world).1.length();
    (body_omega(&world, id), world.pose(id).unwrap().rotation, energy, momentum)
}

#[test]
fn torque_free_box_follows_euler_at_second_order() {
    let reference = Vec3::new(1.086100443, -1.904311561, 3.046341758);
    let turned = Quat::from_xyzw(0.777715431, 0.025857360, 0.600109065, -0.185362390);
    let error = |dt| {
        let (omega, rotation, energy, momentum) = torque_free(dt, 1.0);
        assert!((momentum - 0.093926685).abs() < 1e-9, "|L| = {momentum}");
        assert!((energy - 0.163333333).abs() < 20.0 * dt * dt, "E = {energy}");
        (omega.distance(reference), 1.0 - rotation.dot(turned).abs().min(1.0))
    };
    let (coarse, _) = error(0.02);
    let (fine, attitude) = error(0.01);
    assert!(attitude < 1e-6, "orientation off by {attitude}");
    let order = (coarse / fine).log2();
    assert!((1.8..2.3).contains(&order), "order {order}, errors {coarse} and {fine}");
    let (omega, ..) = torque_free(0.001, 5.0);
    let late = Vec3::new(0.280861941, -2.432266940, 2.750101480);
    assert!(omega.distance(late) < 1e-4, "ω(5) = {omega}");
}

#[test]
fn axisymmetric_top_precesses_as_known() {
    let mut world = world(0.0);
    let mut body = Body::dynamic(sphere(0.1)).spinning(Vec3::new(2.0, 4.0, 6.0));
    body.mass = Mass::Explicit {
        mass: 1.0,
        center: Vec3::ZERO,
        inertia: Mat3::from_diagonal(Vec3::new(0.04, 0.04, 0.02)),
    };
    let id = world.add_body(body).unwrap();
    for step in 1..=1000 {
        world.step(0.002).unwrap();
        if step % 100 == 0 {
            let t = 0.002 * f64::from(step);
            let (s, c) = (3.0 * t).sin_cos();
            let expected = Vec3::new(2.0 * c + 4.0 * s, -2.0 * s + 4.0 * c, 6.0);
            let error = body_omega(&world, id).distance(expected);
            assert!(error < 1e-4, "t = {t}: off by {error}");
        }
    }
}

#[test]
fn free_fall_has_the_exact_discrete_form() {
    let mut world = world(9.81);
    let start = Vec3::new(1.0, 20.0, -3.0);
    let v0 = Vec3::new(0.5, 2.0, -1.0);
    let id = world
        .add_body(Body::dynamic(cuboid(0.5, 0.3, 0.2)).at(start.x, start.y, start.z).moving(v0))
        .unwrap();
    let (dt, substeps) = (1.0 / 60.0, world.settings().substeps);
    let h = dt / f64::from(substeps);
    for step in 1..=100 {
        world.step(dt).unwrap();
        let n = f64::from(step * substeps);
        let y = start.y + n * h * v0.y - 9.81 * h * h * n * (n + 1.0) / 2.0;
        let expected = Vec3::new(start.x + n * h * v0.x, y, start.z + n * h * v0.z);
        let error = world.pose(id).unwrap().translation.distance(expected);
        assert!(error < 1e-11, "step {step}: off by {error}");
    }
}

#[test]
fn timed_force_gives_its_whole_impulse() {
    // 3 N for 0.1234 s, which begins and ends within substeps
    let mut world = world(0.0);
    let mut body = Body::dynamic(sphere(0.5)).mass(2.0);
    body.forces.push(Force {
        force: Vec3::new(3.0, 0.0, 0.0),
        torque: Vec3::new(0.0, 0.2, 0.0),
        from: 0.0501,
        until: 0.1735,
        ..Force::default()
    });
    let id = world.add_body(body).unwrap();
    run(&mut world, 0.5, 0.01);
    let v = world.velocity(id).unwrap();
    assert!((v.linear.x - 3.0 * 0.1234 / 2.0).abs() < 1e-12);
    let inertia = 0.4 * 2.0 * 0.25;
    assert!((v.angular.y - 0.2 * 0.1234 / inertia).abs() < 1e-12);
}

#[test]
fn locked_axes_do_not_move() {
    let mut world = world(9.81);
    let mut body = Body::dynamic(cuboid(0.1, 0.2, 0.4)).at(0.0, 5.0, 0.0);
    body.locks.translation = [true, false, false];
    body.locks.rotation = [true, false, true];
    body.forces.push(Force {
        force: Vec3::new(50.0, 0.0, 3.0),
        torque: Vec3::new(4.0, 2.0, 3.0),
        ..Force::default()
    });
    let id = world.add_body(body).unwrap();
    run(&mut world, 1.0, 1.0 / 60.0);
    let (pose, v) = (world.pose(id).unwrap(), world.velocity(id).unwrap());
    assert_eq!((pose.translation.x, v.linear.x, v.angular.x, v.angular.z), (0.0, 0.0, 0.0, 0.0));
    // about the free axis it turns as if pinned on it: ω = τ t / I_yy
    let mass = 8.0 * 0.1 * 0.2 * 0.4 * 1000.0;
    let i_yy = mass / 3.0 * (0.1 * 0.1 + 0.4 * 0.4);
    assert!((v.angular.y - 2.0 / i_yy).abs() < 1e-9 * v.angular.y);
    assert!(v.linear.z > 0.0 && pose.translation.y < 1.0);
}

/// A body with a list of forces takes the general way, and a force of nothing changes nothing.
#[test]
fn the_short_way_of_free_bodies_has_the_bits_of_the_general_one() {
    for shape in [cuboid(0.1, 0.2, 0.3), sphere(0.2)] {
        let fly = |general: bool| {
            let mut world = world(9.81);
            let mut body = Body::dynamic(shape.clone())
                .at(0.1, 0.2, 0.3)
                .moving(Vec3::new(0.3, 5.0, -0.7))
                .spinning(Vec3::new(1.0, 12.0, 3.0));
            (body.linear_damping, body.angular_damping) = (0.1, 0.0);
            if general {
                body.forces.push(Force::default());
            }
            let id = world.add_body(body).unwrap();
            let mut motion = Vec::new();
            for step in 0..60 {
                if step % 7 == 3 {
                    let at = world.pose(id).unwrap().translation + Vec3::new(0.1, 0.05, 0.0);
                    world.push(id, Vec3::new(0.0, 3.0, 20.0), at).unwrap();
                }
                world.step(1.0 / 60.0).unwrap();
                let (pose, v) = (world.pose(id).unwrap(), world.velocity(id).unwrap());
                motion.push((pose.translation, pose.rotation, v));
            }
            motion
        };
        assert!(fly(true) == fly(false));
    }
}
