//! A minute of random input on a playground: stairs, slopes gentle and steep, a lift, a carousel, loose crates,
//! a plank on a log, a trampoline, walls all round.

use crate::query::Random;
use crate::{cuboid, floor};
use thirdlaw::prelude::*;

const FRAME: f64 = 1.0 / 60.0;
/// From the middle to the walls, m.
const YARD: f64 = 9.0;

fn playground(random: &mut Random) -> (World, BodyId) {
    let mut world = World::new(Settings::default()).unwrap();
    let mut add = |body: Body| world.add_body(body).unwrap();
    add(floor());
    for side in [-1.0, 1.0] {
        add(Body::fixed(cuboid(0.5, 10.0, YARD + 1.0)).at(side * (YARD + 0.5), 10.0, 0.0));
        add(Body::fixed(cuboid(YARD + 1.0, 10.0, 0.5)).at(0.0, 10.0, side * (YARD + 0.5)));
    }
    for i in 0..8 {
        let top = 0.25 * f64::from(i + 1);
        let x = -7.0 + 0.35 * f64::from(i);
        add(Body::fixed(cuboid(0.175, 0.5 * top, 1.0)).at(x, 0.5 * top, -6.0));
    }
    for (x, z, angle) in [(5.0, -6.0, 0.5), (5.0, 6.0, 1.1)] {
        add(Body::fixed(cuboid(2.0, 0.5, 1.5)).at(x, 0.3, z).rotated(angle * Vec3::Z));
    }
    // a column out of the floor: nobody can be crushed beneath
    let lift = add(Body::kinematic(cuboid(1.0, 2.0, 1.0)).at(-6.0, -1.8, 5.0));
    let disk = Body::kinematic(Shape::cylinder(0.1, 1.5).unwrap()).at(6.5, 0.1, 0.0);
    add(disk.spinning(1.5 * Vec3::Y));
    for _ in 0..12 {
        let size = random.between(0.1, 0.5);
        let place = [random.between(-3.0, 3.0), random.between(-3.0, 3.0)];
        let mass = random.between(2.0, 100.0);
        add(Body::dynamic(cuboid(size, size, size)).mass(mass).at(place[0], 2.0, place[1]));
    }
    let log = Shape::cylinder(1.0, 0.2).unwrap();
    add(Body::dynamic(log)
        .mass(60.0)
        .at(0.0, 0.2, 6.0)
        .rotated(std::f64::consts::FRAC_PI_2 * Vec3::X));
    add(Body::dynamic(cuboid(2.0, 0.03, 0.4)).mass(15.0).at(0.0, 0.45, 6.0));
    let mesh = ClothMesh::grid(17, 17, [3.0, 3.0]).unwrap();
    let edge = (0..289).filter(|i| [0, 16].contains(&(i % 17)) || [0, 16].contains(&(i / 17)));
    let pose = Pose::from_translation(Vec3::new(-6.0, 1.0, 0.0));
    world.add_cloth(Cloth::new(mesh).fabric(Fabric::canvas()).pose(pose).pin(edge)).unwrap();
    (world, lift)
}

/// Plays for so many seconds; says what broke.
fn play(seed: u64, seconds: f64) -> Result<[f64; 2], String> {
    let mut random = Random(seed);
    let (mut world, lift) = playground(&mut random);
    let mut walker =
        Character::add(&mut world, CharacterSettings::default(), Vec3::new(0.0, 0.5, -4.5))
            .unwrap();
    let settings = *walker.settings();
    let (mut wish, mut highest, mut fastest) = (Vec3::ZERO, 0.0f64, 0.0f64);
    let mut seen: Vec<Vec3> = Vec::new();
    for frame in 0..(seconds / FRAME) as usize {
        if frame % 40 == 0 {
            let (angle, speed) =
                (random.between(0.0, std::f64::consts::TAU), random.between(0.0, 6.0));
            wish = speed * Vec3::new(angle.cos(), 0.0, angle.sin());
        }
        let rises = (frame / 240) % 2 == 0;
        let linear = if rises { 0.5 * Vec3::Y } else { -0.5 * Vec3::Y };
        world.set_velocity(lift, Twist { linear, ..Twist::default() }).unwrap();
        walker.walk(&mut world, wish, random.unit() < 0.03, FRAME).map_err(|e| e.to_string())?;
        let _report = world.step(FRAME).map_err(|e| e.to_string())?;
        let feet = walker.feet(&world).unwrap();
        let at =
            |what: &str| format!("seed {seed}, {:.2} s, {feet:.3}: {what}", frame as f64 * FRAME);
        // a leg can be bent no further than its length
        if feet.y < -settings.step - 0.02 {
            return Err(at("through the floor"));
        }
        if feet.x.abs().max(feet.z.abs()) > YARD - 0.9 * settings.radius {
            return Err(at("through a wall"));
        }
        let v = world.velocity(walker.body()).unwrap().linear.length();
        (highest, fastest) = (highest.max(feet.y), fastest.max(v));
        if v > 25.0 {
            return Err(at("thrown"));
        }
        seen.push(feet);
        if let Some(&then) = seen.len().checked_sub(600).and_then(|i| seen.get(i)) {
            let far = seen[seen.len() - 600..].iter().map(|x| x.distance(then));
            if far.fold(0.0, f64::max) < 1.0 {
                return Err(at("stuck for ten seconds"));
            }
        }
    }
    Ok([highest, fastest])
}

#[test]
fn a_random_walk_ends_well() {
    play(1, 15.0).unwrap();
}

/// Never through anything, never stuck, whatever is pressed.
#[test]
#[ignore = "twenty minutes of play; scripts/show/controllers"]
fn a_minute_of_any_input() {
    let played: Vec<_> = (0..20).map(|seed| play(seed, 60.0)).collect();
    for (seed, end) in played.iter().enumerate() {
        match end {
            Ok([highest, fastest]) => {
                println!("seed {seed:2}: well, up to {highest:.1} m and {fastest:.1} m/s");
            }
            Err(problem) => println!("{problem}"),
        }
    }
    let well = played.iter().filter(|end| end.is_ok()).count();
    println!("known: all of 20 minutes end well; now: {well}");
    assert_eq!(well, 20);
}
