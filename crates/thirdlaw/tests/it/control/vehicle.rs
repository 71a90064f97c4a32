//! Vehicles against what tyres, springs and momentum say.

use crate::{cuboid, floor};
use thirdlaw::prelude::*;

const FRAME: f64 = 1.0 / 60.0;
const MASS: f64 = 1200.0;

fn chassis() -> Body {
    let shape = cuboid(2.0, 0.3, 0.8);
    Body::dynamic(shape).mass(MASS).at(0.0, 0.85, 0.0)
}

/// A car with four wheels; front ones first.
fn car(world: &mut World, body: Body, change: impl Fn(&mut WheelSettings)) -> Vehicle {
    let mut car = Vehicle::new(world.add_body(body).unwrap());
    for (x, z) in [(1.25, -0.8), (1.25, 0.8), (-1.25, -0.8), (-1.25, 0.8)] {
        let mut wheel = WheelSettings::at(Vec3::new(x, -0.3, z));
        change(&mut wheel);
        car.add_wheel(wheel).unwrap();
    }
    car
}

fn drive(world: &mut World, car: &mut Vehicle, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as u32 {
        car.act(world, dt).unwrap();
        let _report = world.step(dt).unwrap();
    }
}

fn world_with(ground: Body) -> World {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(ground).unwrap();
    world
}

fn speed(world: &World, car: &Vehicle) -> f64 {
    world.velocity(car.chassis()).unwrap().linear.x
}

/// Springs carry the weight, pushed in by what Hooke says, at any step.
#[test]
fn a_parked_car_weighs_what_it_weighs() {
    for dt in [1.0 / 24.0, FRAME, 1.0 / 240.0] {
        let mut world = world_with(floor());
        let mut car = car(&mut world, chassis(), |_| {});
        drive(&mut world, &mut car, 5.0, dt);
        let loads: f64 = car.wheels().iter().map(Wheel::load).sum();
        assert!((loads - MASS * 9.81).abs() < 1e-6 * MASS * 9.81, "{loads}");
        for wheel in car.wheels() {
            let pushed = wheel.settings().rest - wheel.length();
            let hooke = 0.25 * MASS * 9.81 / wheel.settings().stiffness;
            assert!((pushed - hooke).abs() < 1e-6, "{pushed} {hooke}");
        }
        assert!(world.velocity(car.chassis()).unwrap().linear.length() < 1e-6);
    }
}

/// Nothing drives, nothing brakes: speed stays, and wheels turn with it.
#[test]
fn a_coasting_car_keeps_its_speed() {
    let mut world = world_with(floor());
    let mut car = car(&mut world, chassis(), |_| {});
    drive(&mut world, &mut car, 3.0, FRAME);
    world
        .set_velocity(car.chassis(), Twist { linear: 20.0 * Vec3::X, ..Default::default() })
        .unwrap();
    drive(&mut world, &mut car, 0.5, FRAME);
    // spinning up the wheels took momentum: m v = (m + Σ I/R²) v'
    let settings = *car.wheels()[0].settings();
    let heavier = MASS + 4.0 * settings.inertia / settings.radius.powi(2);
    let expected = 20.0 * MASS / heavier;
    let now = speed(&world, &car);
    assert!((now - expected).abs() < 0.02 * expected, "{now} {expected}");
    drive(&mut world, &mut car, 5.0, FRAME);
    assert!((speed(&world, &car) - now).abs() < 1e-3 * now, "{} {now}", speed(&world, &car));
    for wheel in car.wheels() {
        let rolled = wheel.spin() * settings.radius;
        assert!((rolled - now).abs() < 1e-3 * now, "{rolled} {now}");
    }
}

/// Locked wheels stop in v²/2μg, whatever the road is and at any step.
#[test]
fn brakes_stop_within_the_distance_of_friction() {
    for (grip, dt) in [(1.0, FRAME), (0.3, FRAME), (0.8, 1.0 / 240.0), (0.8, 1.0 / 30.0)] {
        let mut world = world_with(floor());
        let mut car = car(&mut world, chassis(), |wheel| wheel.grip = grip);
        drive(&mut world, &mut car, 3.0, dt);
        let v = 20.0;
        world
            .set_velocity(car.chassis(), Twist { linear: v * Vec3::X, ..Default::default() })
            .unwrap();
        for wheel in car.wheels_mut() {
            wheel.brake = 1e5;
        }
        let start = world.center(car.chassis()).unwrap().x;
        drive(&mut world, &mut car, 1.5 * v / (grip * 9.81), dt);
        let way = world.center(car.chassis()).unwrap().x - start;
        let known = v * v / (2.0 * grip * 9.81);
        assert!((way - known).abs() < 0.03 * known, "{way} {known} {grip} {dt}");
        // it has rocked back on its springs
        drive(&mut world, &mut car, 4.0, dt);
        assert!(speed(&world, &car).abs() < 1e-4, "{}", speed(&world, &car));
    }
}

/// The engine pushes with torque over radius, and never more than the tyres hold.
#[test]
fn a_car_speeds_up_by_its_engine_or_by_its_tyres() {
    for (torque, grip) in [(200.0, 1.0), (1000.0, 0.3)] {
        let mut world = world_with(floor());
        let mut car = car(&mut world, chassis(), |wheel| wheel.grip = grip);
        drive(&mut world, &mut car, 3.0, FRAME);
        for wheel in car.wheels_mut() {
            wheel.drive = torque;
        }
        drive(&mut world, &mut car, 1.0, FRAME);
        let first = speed(&world, &car);
        drive(&mut world, &mut car, 1.0, FRAME);
        let gained = speed(&world, &car) - first;
        let settings = *car.wheels()[0].settings();
        let heavier = MASS + 4.0 * settings.inertia / settings.radius.powi(2);
        let engine = 4.0 * torque / settings.radius / heavier;
        let known = engine.min(grip * 9.81);
        assert!((gained - known).abs() < 0.01 * known, "{gained} {known}");
    }
}

/// Rolling slowly, a car follows the circle on which all its wheels roll (Ackermann's).
#[test]
fn a_slow_car_turns_about_the_point_its_axles_meet_in() {
    let mut world = world_with(floor());
    let mut car = car(&mut world, chassis(), |_| {});
    drive(&mut world, &mut car, 3.0, FRAME);
    let (base, half, radius) = (2.5f64, 0.8, 8.0);
    let inner = (base / (radius - half)).atan();
    let outer = (base / (radius + half)).atan();
    car.wheels_mut()[0].steer = inner;
    car.wheels_mut()[1].steer = outer;
    world
        .set_velocity(car.chassis(), Twist { linear: 2.0 * Vec3::X, ..Default::default() })
        .unwrap();
    drive(&mut world, &mut car, 1.0, FRAME);
    let motion = world.velocity(car.chassis()).unwrap();
    // the middle of the rear axle runs on the circle
    let pose = world.pose(car.chassis()).unwrap();
    let rear = pose.rotation * Vec3::new(-1.25, 0.0, 0.0);
    let v = motion.linear + motion.angular.cross(rear);
    let turned = v.length() / motion.angular.y;
    assert!((turned - radius).abs() < 0.02 * radius, "{turned}");
}

/// With its brakes on a car stands on a slope for as long as it likes; on one steeper than its grip it slides.
#[test]
fn brakes_hold_on_a_slope_up_to_the_grip() {
    for (angle, holds) in [(0.3f64, true), (0.6, false)] {
        let settings = Settings {
            gravity: 9.81 * Vec3::new(angle.sin(), -angle.cos(), 0.0),
            ..Settings::default()
        };
        let mut world = World::new(settings).unwrap();
        world.add_body(floor()).unwrap();
        let mut car = car(&mut world, chassis(), |wheel| wheel.grip = 0.5);
        for wheel in car.wheels_mut() {
            wheel.brake = 1e5;
        }
        drive(&mut world, &mut car, 4.0, FRAME);
        let before = world.center(car.chassis()).unwrap().x;
        drive(&mut world, &mut car, 10.0, FRAME);
        let way = world.center(car.chassis()).unwrap().x - before;
        assert_eq!(way.abs() < 1e-3, holds, "{way}");
    }
}

/// A car that speeds up on a raft pushes the raft back: what one gains the other gives.
#[test]
fn car_and_raft_keep_their_momentum() {
    let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let raft = Body::dynamic(cuboid(10.0, 0.2, 3.0)).mass(3000.0).at(0.0, -0.2, 0.0);
    let raft = world.add_body(raft).unwrap();
    let mut car = car(&mut world, chassis(), |_| {});
    let masses = [(raft, 3000.0), (car.chassis(), MASS)];
    let momentum = |world: &World| -> Vec3 {
        masses.iter().map(|&(id, mass)| mass * world.velocity(id).unwrap().linear).sum()
    };
    for wheel in car.wheels_mut() {
        wheel.drive = 200.0;
    }
    for _ in 0..120 {
        // pressed together, since nothing falls
        let place = world.center(car.chassis()).unwrap();
        world.push(car.chassis(), -1e4 * Vec3::Y, place).unwrap();
        world.push(raft, 1e4 * Vec3::Y, place).unwrap();
        car.act(&mut world, FRAME).unwrap();
        let _report = world.step(FRAME).unwrap();
    }
    let [back, ahead] = [raft, car.chassis()].map(|id| world.velocity(id).unwrap().linear.x);
    assert!(ahead > 1.0 && back < -0.3, "{ahead} {back}");
    assert!(momentum(&world).length() < 1e-9 * MASS * ahead, "{}", momentum(&world));
}

/// A wheel that is driven in the air turns the chassis the other way: angular momentum stays zero.
#[test]
fn wheels_in_the_air_turn_the_chassis_back() {
    let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    let mut world = World::new(settings).unwrap();
    let mut car = car(&mut world, chassis().at(0.0, 50.0, 0.0), |_| {});
    for wheel in car.wheels_mut() {
        wheel.drive = 10.0;
    }
    drive(&mut world, &mut car, 0.5, FRAME);
    let spins: f64 = car.wheels().iter().map(|w| w.spin() * w.settings().inertia).sum();
    let inertia = world.body(car.chassis()).unwrap().inertia.z_axis.z;
    let turned = inertia * world.velocity(car.chassis()).unwrap().angular.z;
    // forwards spin is about −z
    assert!(spins > 10.0 && (turned - spins).abs() < 1e-6 * spins, "{turned} {spins}");
}

/// Wheels of any strength and weight over a road in waves: what springs give back is what they took.
#[test]
fn cars_of_any_build_gain_nothing_on_a_wavy_road() {
    let mut random = crate::query::Random(7);
    for _ in 0..30 {
        let (high, long) = (random.between(0.02, 0.15), random.between(4.0, 10.0));
        let wave = |x: f64| high * (std::f64::consts::TAU * x / long).sin();
        let heights: Vec<f64> = (0..1001).flat_map(|i| [wave(0.1 * f64::from(i)); 3]).collect();
        let road = Shape::height_field(3, 1001, &heights, Vec3::new(8.0, 1.0, 100.0)).unwrap();
        let mut world = world_with(Body::fixed(road));
        let stiffness = 10f64.powf(random.between(4.5, 7.0));
        let damping = 10f64.powf(random.between(2.0, 6.0));
        let inertia = 10f64.powf(random.between(-4.0, 2.0));
        let body = chassis().at(0.0, 0.9, -45.0).rotated(-std::f64::consts::FRAC_PI_2 * Vec3::Y);
        let mut car = car(&mut world, body, |wheel| {
            (wheel.stiffness, wheel.damping, wheel.inertia) = (stiffness, damping, inertia);
        });
        drive(&mut world, &mut car, 2.0, FRAME);
        let v = random.between(1.0, 15.0);
        world
            .set_velocity(car.chassis(), Twist { linear: v * Vec3::Z, ..Default::default() })
            .unwrap();
        let energy = |world: &World| {
            let motion = world.velocity(car.chassis()).unwrap();
            0.5 * MASS * motion.linear.length_squared()
                + MASS * 9.81 * world.center(car.chassis()).unwrap().y
        };
        // lifted by no more than the road and its springs can
        let start = energy(&world) + MASS * 9.81 * 2.0 * high;
        let mut driven = car.clone();
        for _ in 0..180 {
            driven.act(&mut world, FRAME).unwrap();
            let _report = world.step(FRAME).unwrap();
            let now = energy(&world);
            assert!(now < 1.02 * start, "{now} {start} {v} {stiffness} {damping} {inertia}");
        }
    }
}

/// What cannot be is refused by name, and a chassis that is gone is said to be.
#[test]
fn bad_wheels_are_refused() {
    let mut world = world_with(floor());
    let mut car = car(&mut world, chassis(), |_| {});
    for (field, change) in [
        ("radius", (|w| w.radius = 0.0) as fn(&mut WheelSettings)),
        ("axle", |w| w.axle = w.down),
        ("grip", |w| w.grip = f64::NAN),
        ("inertia", |w| w.inertia = 0.0),
        ("mount", |w| w.mount.x = f64::INFINITY),
    ] {
        let mut wheel = WheelSettings::at(Vec3::ZERO);
        change(&mut wheel);
        assert_eq!(car.add_wheel(wheel).unwrap_err().field, field);
    }
    car.wheels_mut()[0].drive = f64::NAN;
    assert!(car.act(&mut world, FRAME).unwrap_err().to_string().contains("drive"));
    car.wheels_mut()[0].drive = 0.0;
    assert!(car.act(&mut world, 0.0).is_err());
    world.remove_body(car.chassis()).unwrap();
    assert!(matches!(car.act(&mut world, FRAME), Err(EditError::Stale(_))));
}
