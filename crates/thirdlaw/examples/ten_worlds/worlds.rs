//! Ten small worlds, one of each kind of thing, and what a second of each ends in.

use thirdlaw::prelude::*;

type Made = Result<World, Box<dyn std::error::Error>>;

/// Names of the worlds, in order.
pub(crate) const NAMES: [&str; 10] =
    ["boxes", "balls", "mesh", "chain", "ragdoll", "car", "cloth", "jelly", "stream", "walker"];

fn earth() -> Made {
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    Ok(world)
}

fn boxes() -> Made {
    let mut world = earth()?;
    for i in 0..60 {
        let (x, y) = (0.31 * f64::from(i % 6), 0.3 + 0.55 * f64::from(i / 6));
        let body = Body::dynamic(Shape::cuboid(Vec3::new(0.2, 0.25, 0.3))?);
        world.add_body(body.at(x, y, 0.1 * libm::sin(f64::from(i))))?;
    }
    Ok(world)
}

fn balls() -> Made {
    let mut world = earth()?;
    for i in 0..20 {
        let (x, y) = (0.11 * libm::cos(f64::from(i)), 0.3 + 0.5 * f64::from(i));
        let ball = Body::dynamic(Shape::sphere(0.2)?).restitution(0.8);
        world.add_body(ball.at(x, y, 0.0).spinning(Vec3::new(0.0, 3.0, 9.0)))?;
    }
    Ok(world)
}

fn mesh() -> Made {
    let mut world = World::new(Settings::default())?;
    let heights: Vec<f64> = (0..400)
        .map(|i| 0.3 * libm::sin(0.7 * f64::from(i % 20)) * libm::cos(0.5 * f64::from(i / 20)))
        .collect();
    world.add_body(Body::fixed(Shape::height_field(
        20,
        20,
        &heights,
        Vec3::new(9.0, 1.0, 9.0),
    )?))?;
    for i in 0..15 {
        let body = match i % 3 {
            0 => Shape::capsule(0.3, 0.1)?,
            1 => Shape::cylinder(0.1, 0.3)?,
            _ => Shape::cone(0.2, 0.2)?,
        };
        let (x, z) = (0.5 * f64::from(i % 5) - 1.0, 0.5 * f64::from(i / 5) - 0.5);
        world.add_body(Body::dynamic(body).at(x, 1.0 + 0.1 * f64::from(i), z))?;
    }
    Ok(world)
}

fn chain() -> Made {
    let mut world = World::new(Settings::default())?;
    let link = Shape::capsule(0.1, 0.03)?;
    let mut last = Side::World;
    for i in 0..12 {
        let x = 0.26 * f64::from(i);
        let body = Body::dynamic(link.clone()).rotated(std::f64::consts::FRAC_PI_2 * Vec3::Z);
        let body = world.add_body(body.at(x + 0.13, 2.0, 0.0))?;
        world.add_joint(Joint::ball(last, body).at(x, 2.0, 0.0))?;
        last = body.into();
    }
    Ok(world)
}

fn ragdoll() -> Made {
    let mut world = earth()?;
    let chest = Body::dynamic(Shape::capsule(0.15, 0.14)?).mass(30.0).at(0.0, 1.7, 0.0);
    let chest = world.add_body(chest.moving(2.0 * Vec3::X))?;
    for (x, y) in [(-0.1, 1.1), (0.1, 1.1), (-0.24, 1.75), (0.24, 1.75)] {
        let part = Body::dynamic(Shape::capsule(0.18, 0.07)?).mass(5.0).at(0.0, y, x);
        let part = world.add_body(part)?;
        world.add_joint(Joint::ball(chest, part).at(0.0, y + 0.22, x))?;
    }
    Ok(world)
}

fn cloth() -> Made {
    let mut world = earth()?;
    world.add_body(Body::fixed(Shape::sphere(0.4)?).at(0.0, 0.6, 0.0))?;
    let pose = Pose::from_translation(1.1 * Vec3::Y);
    world.add_cloth(Cloth::new(ClothMesh::grid(15, 15, [1.2, 1.2])?).pose(pose))?;
    Ok(world)
}

fn jelly() -> Made {
    let mut world = earth()?;
    let jelly = SolidMaterial::preset("jelly").ok_or("no such material")?;
    let cube = SolidMesh::block(Vec3::splat(0.4), [3; 3])?.deformable(jelly)?;
    world.add_deformable(cube.pose(Pose::from_translation(0.5 * Vec3::Y)))?;
    Ok(world)
}

fn stream() -> Made {
    let mut world = earth()?;
    world.add_body(Body::dynamic(Shape::cuboid(Vec3::splat(0.2))?).at(0.6, 0.2, 0.0))?;
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let sideways = Quat::from_xyzw(0.0, 0.0, -half, half);
    let pose = Pose::from_parts(Vec3::new(-0.5, 0.3, 0.0), sideways);
    let emitter = Emitter { mass: 0.01, pose, ..Emitter::disc(0.1, 300.0, 4.0) };
    world.add_emitter(emitter)?;
    Ok(world)
}

/// The worlds with a car and a walker are steered.
pub(crate) fn run(number: usize) -> Result<u64, Box<dyn std::error::Error>> {
    const FRAME: f64 = 1.0 / 60.0;
    let makers = [boxes, balls, mesh, chain, ragdoll, earth, cloth, jelly, stream, boxes];
    let mut world = makers[number]()?;
    let (mut car, mut walker) = (None, None);
    if NAMES[number] == "car" {
        let chassis = Body::dynamic(Shape::cuboid(Vec3::new(2.0, 0.3, 0.8))?).mass(1200.0);
        let mut vehicle = Vehicle::new(world.add_body(chassis.at(0.0, 0.85, 0.0))?);
        for (x, z) in [(1.25, -0.8), (1.25, 0.8), (-1.25, -0.8), (-1.25, 0.8)] {
            vehicle.add_wheel(WheelSettings::at(Vec3::new(x, -0.3, z)))?;
        }
        vehicle.wheels_mut()[2].drive = 500.0;
        vehicle.wheels_mut()[0].steer = 0.1;
        car = Some(vehicle);
    }
    if NAMES[number] == "walker" {
        let feet = Vec3::new(-1.0, 0.0, 0.0);
        walker = Some(Character::add(&mut world, CharacterSettings::default(), feet)?);
    }
    for frame in 0..60 {
        if let Some(car) = &mut car {
            car.act(&mut world, FRAME)?;
        }
        if let Some(walker) = &mut walker {
            walker.walk(&mut world, 3.0 * Vec3::X, frame == 30, FRAME)?;
        }
        let _report = world.step(FRAME)?;
    }
    Ok(world.hash())
}
