//! Characters on floors, stairs, slopes, lifts, rafts, planks and trampolines.

use crate::{cuboid, floor};
use thirdlaw::prelude::*;

const FRAME: f64 = 1.0 / 60.0;

fn world_with(bodies: impl IntoIterator<Item = Body>) -> World {
    let mut world = World::new(Settings::default()).unwrap();
    for body in bodies {
        world.add_body(body).unwrap();
    }
    world
}

fn walker(world: &mut World, feet: Vec3) -> Character {
    Character::add(world, CharacterSettings::default(), feet).unwrap()
}

fn walk(world: &mut World, walker: &mut Character, wish: Vec3, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as u32 {
        walker.walk(world, wish, false, dt).unwrap();
        let _report = world.step(dt).unwrap();
    }
}

fn velocity(world: &World, walker: &Character) -> Vec3 {
    world.velocity(walker.body()).unwrap().linear
}

fn stairs(height: f64) -> impl Iterator<Item = Body> {
    (0..10).map(move |i| {
        let top = height * f64::from(i + 1);
        Body::fixed(cuboid(0.2, 0.5 * top, 2.0)).at(2.2 + 0.4 * f64::from(i), 0.5 * top, 0.0)
    })
}

/// A fixed slope that rises along x from the origin.
fn slope(angle: f64) -> Body {
    let normal = Vec3::new(-angle.sin(), angle.cos(), 0.0);
    Body::fixed(Shape::half_space(normal).unwrap())
}

#[test]
fn it_stands_still_at_any_step() {
    for dt in [1.0 / 24.0, FRAME, 1.0 / 240.0, 0.1] {
        let mut world = world_with([floor()]);
        let mut walker = walker(&mut world, 0.5 * Vec3::Y);
        walk(&mut world, &mut walker, Vec3::ZERO, 3.0, dt);
        let feet = walker.feet(&world).unwrap();
        assert!(feet.length() < 1e-5, "{feet} {dt}");
        let footing = walker.footing(&world).unwrap().unwrap();
        assert!(!footing.steep && footing.gap.abs() < 1e-5);
    }
}

/// It takes the speed that is wished for, and stops within v²/2a.
#[test]
fn it_walks_and_stops_as_its_muscles_allow() {
    let mut world = world_with([floor()]);
    let mut walker = walker(&mut world, Vec3::ZERO);
    let wish = Vec3::new(3.0, 7.0, -4.0);
    walk(&mut world, &mut walker, wish, 1.0, FRAME);
    let v = velocity(&world, &walker);
    assert!((v - Vec3::new(3.0, 0.0, -4.0)).length() < 1e-6, "{v}");
    let start = walker.feet(&world).unwrap();
    walk(&mut world, &mut walker, Vec3::ZERO, 1.0, FRAME);
    let way = walker.feet(&world).unwrap().distance(start);
    let known = 5.0 * 5.0 / (2.0 * walker.settings().acceleration);
    assert!((way - known).abs() < 5.0 * FRAME, "{way} {known}");
    assert!(velocity(&world, &walker).length() < 1e-9);
}

/// A jump rises by v²/2g above where it began, and counts from the ground's own speed.
#[test]
fn a_jump_is_as_high_as_its_speed() {
    for (dt, lift) in [(FRAME, 0.0), (1.0 / 240.0, 0.0), (FRAME, 2.0)] {
        let platform = Body::kinematic(cuboid(2.0, 0.1, 2.0)).at(0.0, -0.1, 0.0);
        let mut world = world_with([platform.moving(lift * Vec3::Y)]);
        let mut walker = walker(&mut world, Vec3::ZERO);
        walk(&mut world, &mut walker, Vec3::ZERO, 2.0, dt);
        let start = walker.feet(&world).unwrap().y;
        let mut highest = start;
        let v = walker.settings().jump + lift;
        for i in 0..(1.2 * v / 9.81 / dt) as u32 {
            walker.walk(&mut world, Vec3::ZERO, i == 0, dt).unwrap();
            let _report = world.step(dt).unwrap();
            highest = highest.max(walker.feet(&world).unwrap().y);
        }
        let known = v * v / (2.0 * 9.81);
        // the muscles take one step to give it
        assert!(
            (highest - start - known).abs() < (0.5 * v + lift) * dt + 0.01,
            "{highest} {start} {known}"
        );
    }
}

#[test]
fn it_climbs_stairs_up_to_its_step() {
    for (height, climbs) in [(0.15, true), (0.3, true), (0.6, false)] {
        for speed in [1.0, 3.0, 6.0] {
            let mut world = world_with(stairs(height).chain([floor()]));
            let mut walker = walker(&mut world, Vec3::ZERO);
            walk(&mut world, &mut walker, speed * Vec3::X, 5.8 / speed, FRAME);
            walk(&mut world, &mut walker, Vec3::ZERO, 1.0, FRAME);
            let feet = walker.feet(&world).unwrap();
            let up = feet.y > 6.0 * height;
            assert_eq!(up, climbs, "{feet} {height} {speed}");
        }
    }
}

#[test]
fn it_stands_on_slopes_and_slides_off_steep_ones() {
    for degrees in [10.0f64, 30.0, 45.0] {
        let mut world = world_with([slope(degrees.to_radians())]);
        let mut walker = walker(&mut world, 0.3 * Vec3::Y);
        walk(&mut world, &mut walker, Vec3::ZERO, 2.0, FRAME);
        let start = walker.feet(&world).unwrap();
        walk(&mut world, &mut walker, Vec3::ZERO, 5.0, FRAME);
        let drift = walker.feet(&world).unwrap().distance(start);
        assert!(drift < 1e-3, "{drift} {degrees}");
        // up and down at the speed of the wish, without leaving the ground
        for way in [1.0, -1.0] {
            walk(&mut world, &mut walker, 3.0 * way * Vec3::X, 1.5, FRAME);
            let v = velocity(&world, &walker);
            let climb = 3.0 * way * degrees.to_radians().tan();
            assert!((v - Vec3::new(3.0 * way, climb, 0.0)).length() < 0.05, "{v} {degrees}");
        }
    }
    for degrees in [55.0f64, 70.0] {
        let mut world = world_with([slope(degrees.to_radians())]);
        let mut walker = walker(&mut world, 0.8 * Vec3::Y);
        walk(&mut world, &mut walker, 4.0 * Vec3::X, 2.0, FRAME);
        let v = velocity(&world, &walker);
        // as without friction, less what it takes to turn round
        let (sin, cos) = degrees.to_radians().sin_cos();
        let speed = v.dot(Vec3::new(-cos, -sin, 0.0));
        assert!(speed > 0.8 * 9.81 * sin * 1.5, "{v} {degrees}");
    }
}

/// Lifts, trains and carousels take it along.
#[test]
fn moving_ground_takes_it_along() {
    for v in [Vec3::new(2.0, 0.0, 1.0), Vec3::new(0.0, 3.0, 0.0), Vec3::new(1.0, -3.0, 0.0)] {
        let ground = Body::kinematic(cuboid(3.0, 0.1, 3.0)).at(0.0, -0.1, 0.0);
        let mut world = world_with([ground.moving(v)]);
        let mut walker = walker(&mut world, Vec3::ZERO);
        walk(&mut world, &mut walker, Vec3::ZERO, 2.0, FRAME);
        let feet = walker.feet(&world).unwrap() - 2.0 * v;
        assert!((velocity(&world, &walker) - v).length() < 1e-3);
        assert!(feet.length() < 0.5 && feet.y.abs() < 0.01, "{feet}");
    }
    let disk = Body::kinematic(Shape::cylinder(0.1, 5.0).unwrap()).at(0.0, -0.1, 0.0);
    let mut world = world_with([disk.spinning(Vec3::Y)]);
    let mut walker = walker(&mut world, 2.0 * Vec3::X);
    walk(&mut world, &mut walker, Vec3::ZERO, 0.5, FRAME);
    let start = walker.feet(&world).unwrap().with_y(0.0).length();
    walk(&mut world, &mut walker, Vec3::ZERO, std::f64::consts::TAU, FRAME);
    let feet = walker.feet(&world).unwrap().with_y(0.0).length();
    assert!((feet - start).abs() < 0.02, "{start} {feet}");
}

/// Whatever it stands on carries its weight: a scale shows both.
#[test]
fn a_scale_shows_its_weight() {
    let mut world = World::new(Settings::default()).unwrap();
    let ground = world.add_body(floor()).unwrap();
    let plate = Body::dynamic(cuboid(1.0, 0.05, 1.0)).mass(25.0).at(0.0, 0.05, 0.0);
    let plate = world.add_body(plate).unwrap();
    let mut walker = walker(&mut world, 0.1 * Vec3::Y);
    walk(&mut world, &mut walker, Vec3::ZERO, 3.0, FRAME);
    let shown = world.contact_force_between(plate, ground).unwrap().length();
    assert!((shown - 100.0 * 9.81).abs() < 1.0, "{shown}");
    // stepping off its edge tips it
    walk(&mut world, &mut walker, Vec3::X, 1.1, FRAME);
    let tilt = world.pose(plate).unwrap().rotation;
    assert!(tilt.z.abs() > 0.0, "{tilt}");
}

/// Walking on a raft pushes the raft back.
#[test]
fn a_raft_drifts_back_under_it() {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    let raft = Body::dynamic(cuboid(5.0, 0.2, 5.0)).mass(300.0).at(0.0, -0.2, 0.0);
    let raft = world.add_body(raft).unwrap();
    let mut walker = walker(&mut world, Vec3::ZERO);
    let momentum = |world: &World| {
        75.0 * velocity(world, &walker) + 300.0 * world.velocity(raft).unwrap().linear
    };
    let mut walking = walker;
    for i in 0..60 {
        // in the air it would steer by nothing
        let wish = if i <= 50 { Vec3::new(2.0, 0.0, f64::from(i / 30)) } else { Vec3::ZERO };
        walking.walk(&mut world, wish, i == 50, FRAME).unwrap();
        let _report = world.step(FRAME).unwrap();
        assert!(momentum(&world).length() < 1e-9, "{}", momentum(&world));
    }
    assert!(world.velocity(raft).unwrap().linear.x < -0.3);
    walker = walking;
    assert!(velocity(&world, &walker).y > 3.0);
}

/// A crate is pushed as far as friction lets; one too heavy stops it.
#[test]
fn it_pushes_what_it_walks_into() {
    for (mass, moves) in [(40.0, true), (4000.0, false)] {
        let mut world = world_with([floor()]);
        let shape = Body::dynamic(cuboid(0.5, 0.5, 0.5)).mass(mass).at(1.5, 0.5, 0.0);
        let crate_ = world.add_body(shape).unwrap();
        let mut walker = walker(&mut world, Vec3::ZERO);
        walk(&mut world, &mut walker, 2.0 * Vec3::X, 3.0, FRAME);
        let way = world.center(crate_).unwrap().x - 1.5;
        assert_eq!(way > 2.0, moves, "{way}");
        assert!(moves || way < 1e-3, "{way}");
        let gap = world.center(crate_).unwrap().x - walker.feet(&world).unwrap().x;
        assert!(gap > 0.79, "{gap}");
    }
}

/// A canvas of 3 m, held all round.
fn trampoline(y: f64) -> Cloth {
    let mesh = ClothMesh::grid(21, 21, [3.0, 3.0]).unwrap();
    let edge = (0..441).filter(|i| [0, 20].contains(&(i % 21)) || [0, 20].contains(&(i / 21)));
    let pose = Pose::from_translation(y * Vec3::Y);
    Cloth::new(mesh).fabric(Fabric::canvas()).pose(pose).pin(edge)
}

/// Cloth sags under it and throws it up; it never falls through.
#[test]
fn a_trampoline_carries_it() {
    let mut world = World::new(Settings::default()).unwrap();
    world.add_body(floor()).unwrap();
    let cloth = world.add_cloth(trampoline(2.0)).unwrap();
    let mut walker = walker(&mut world, 3.0 * Vec3::Y);
    let (mut lowest, mut sag) = (f64::INFINITY, 0.0f64);
    for i in 0..300 {
        walker.walk(&mut world, Vec3::ZERO, i % 60 == 59, FRAME).unwrap();
        let _report = world.step(FRAME).unwrap();
        lowest = lowest.min(walker.feet(&world).unwrap().y);
        let low = world.vertices(cloth).unwrap().iter().map(|x| x.y);
        sag = sag.max(2.0 - low.fold(f64::INFINITY, f64::min));
    }
    assert!(lowest > 1.0 && sag > 0.05, "{lowest} {sag}");
}

/// A copy goes back with the world.
#[test]
fn a_copy_and_a_snapshot_replay_the_same_bits() {
    let mut world = world_with(stairs(0.2).chain([floor()]));
    let mut walker = walker(&mut world, Vec3::ZERO);
    let run = |world: &mut World, walker: &mut Character| {
        for i in 0..90u32 {
            let wish = Vec3::new(2.0, 0.0, f64::from(i % 7) - 3.0);
            walker.walk(world, wish, i % 40 == 11, FRAME).unwrap();
            let _report = world.step(FRAME).unwrap();
        }
        world.hash()
    };
    run(&mut world, &mut walker);
    let saved = (world.save(), walker);
    let first = run(&mut world, &mut walker);
    world.restore(&saved.0).unwrap();
    walker = saved.1;
    assert_eq!(run(&mut world, &mut walker), first);
}

#[test]
fn bad_characters_are_refused() {
    let mut world = world_with([floor()]);
    for (field, change) in [
        ("height", (|s| s.height = 0.5) as fn(&mut CharacterSettings)),
        ("radius", |s| s.radius = f64::NAN),
        ("mass", |s| s.mass = 0.0),
        ("steepest", |s| s.steepest = 4.0),
        ("jump", |s| s.jump = -1.0),
    ] {
        let mut settings = CharacterSettings::default();
        change(&mut settings);
        assert_eq!(Character::add(&mut world, settings, Vec3::ZERO).unwrap_err().field, field);
    }
    let mut walker = walker(&mut world, Vec3::ZERO);
    assert!(walker.walk(&mut world, f64::NAN * Vec3::X, false, FRAME).is_err());
    assert!(walker.walk(&mut world, Vec3::X, false, -1.0).is_err());
    world.remove_body(walker.body()).unwrap();
    assert!(matches!(walker.walk(&mut world, Vec3::X, false, FRAME), Err(EditError::Stale(_))));
}
