//! Three small problems of fixed size, for counting the instructions of a step: `scripts/check-instructions`
//! runs them under callgrind, which counts inside of `measured` alone.
//!
//! `cargo run --release -p thirdlaw --example instructions -- wall|drape|chain`

use thirdlaw::{Body, Cloth, ClothMesh, Fabric, Joint, Pose, Quat, Settings, Shape, Vec3, World};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Steps before counting begins, and counted ones; the script divides by the latter.
const BEFORE: u32 = 5;
const COUNTED: u32 = 5;

/// A wall of 24 × 12 bricks, each on two others.
fn wall() -> Result<World, Failure> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let brick = Shape::cuboid(Vec3::new(0.5, 0.25, 0.25))?;
    for row in 0..12 {
        for i in 0..24 {
            let x = 1.01 * f64::from(i) + 0.5 * f64::from(row % 2);
            world.add_body(Body::dynamic(brick.clone()).at(x, 0.25 + 0.5 * f64::from(row), 0.0))?;
        }
    }
    Ok(world)
}

/// A sheet of 25 × 25 particles that lands on a ball.
fn drape() -> Result<World, Failure> {
    let mut world = World::new(Settings::default())?;
    world.add_body(Body::fixed(Shape::sphere(0.5)?))?;
    let fabric = Fabric::preset("cotton").ok_or("there is cotton")?;
    let place = Pose::from_parts(Vec3::new(0.0, 0.52, 0.0), Quat::IDENTITY);
    let mesh = ClothMesh::grid(25, 25, [1.5, 1.5])?;
    world.add_cloth(Cloth::new(mesh).fabric(fabric).pose(place))?;
    Ok(world)
}

/// A chain of eight bars that lies on a floor.
fn chain() -> Result<World, Failure> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let bar = Shape::cuboid(Vec3::new(0.18, 0.05, 0.05))?;
    let mut before = None;
    for i in 0..8 {
        let x = 0.4 * f64::from(i);
        let id = world.add_body(Body::dynamic(bar.clone()).at(x + 0.2, 0.08, 0.0).mass(1.0))?;
        if let Some(before) = before.replace(id) {
            world.add_joint(Joint::ball(before, id).at(x, 0.08, 0.0))?;
        }
    }
    Ok(world)
}

#[inline(never)]
fn measured(world: &mut World) -> Result<(), Failure> {
    for _ in 0..COUNTED {
        world.step(1.0 / 60.0)?;
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let mut world = match name.as_str() {
        "wall" => wall()?,
        "drape" => drape()?,
        "chain" => chain()?,
        _ => return Err("which of wall, drape and chain?".into()),
    };
    // one thread: waiting for others is not work
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for _ in 0..BEFORE {
            world.step(1.0 / 60.0)?;
        }
        measured(&mut world)
    })?;
    println!("{COUNTED} {:016x}", world.hash());
    Ok(())
}
