//! Small problems of fixed size, for counting the instructions of a step: `scripts/check-instructions`
//! runs them under callgrind, which counts inside of `measured` alone.
//!
//! `cargo run --release -p thirdlaw-studies -- instructions wall|drape|chain|pile|ragdoll|stream|coupling`

use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Tie};
use thirdlaw::{
    Axis, Body, BodyId, Cloth, ClothMesh, Emitter, Fabric, Joint, Pose, Quat, Settings, Shape,
    Vec3, World,
};

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

/// Three hundred cubes that have just landed on each other.
fn pile() -> Result<World, Failure> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let cube = Shape::cuboid(Vec3::splat(0.25))?;
    for i in 0..300 {
        let (x, y, z) = (i % 6, i / 36, i / 6 % 6);
        let lean = 0.03 * f64::from(i % 7) - 0.09;
        let at = [0.55 * f64::from(x) + lean, 0.26 + 0.51 * f64::from(y), 0.55 * f64::from(z)];
        world.add_body(Body::dynamic(cube.clone()).at(at[0], at[1], at[2]).friction(0.6))?;
    }
    Ok(world)
}

/// A trunk, a head and four limbs of two parts that lie on the floor, with limits.
fn ragdoll() -> Result<World, Failure> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let mut part = |shape: Shape, x: f64, z: f64, mass: f64| {
        let lying = Vec3::Z * std::f64::consts::FRAC_PI_2;
        world.add_body(Body::dynamic(shape).at(x, 0.12, z).rotated(lying).mass(mass))
    };
    let trunk = part(Shape::cuboid(Vec3::new(0.1, 0.3, 0.2))?, 0.0, 0.0, 20.0)?;
    let head = part(Shape::sphere(0.1)?, 0.42, 0.0, 5.0)?;
    let mut joints: Vec<(BodyId, BodyId, [f64; 2])> = vec![(trunk, head, [0.31, 0.0])];
    for (x, side) in [(0.25, 1.0), (-0.3, 1.0), (0.25, -1.0), (-0.3, -1.0)] {
        let along = if x > 0.0 { 1.0 } else { -1.0 };
        let z = if x > 0.0 { 0.28 * side } else { 0.12 * side };
        let upper = part(Shape::capsule(0.1, 0.05)?, x + 0.16 * along, z, 3.0)?;
        let lower = part(Shape::capsule(0.1, 0.05)?, x + 0.48 * along, z, 2.0)?;
        joints.push((trunk, upper, [x, z]));
        joints.push((upper, lower, [x + 0.32 * along, z]));
    }
    for (a, b, [x, z]) in joints {
        let joint = Joint::ball(a, b).at(x, 0.12, z);
        let joint = Axis::ALL[3..].iter().fold(joint, |joint, &axis| joint.limit(axis, -0.8, 0.8));
        world.add_joint(joint)?;
    }
    Ok(world)
}

/// A jet of some thousand particles on a column of crates.
fn stream() -> Result<World, Failure> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?))?;
    let cube = Shape::cuboid(Vec3::splat(0.2))?;
    for i in 0..4 {
        let y = 0.2 + 0.4 * f64::from(i);
        world.add_body(Body::dynamic(cube.clone()).at(0.5, y, 0.0).mass(30.0))?;
    }
    let jet = Emitter::disc(0.1, 20_000.0, 9.0).toward(Vec3::X).spread(0.2).mass(1e-4);
    world.add_emitter(jet.life(1.0).at(-0.1, 0.6, 0.0).seed(5))?;
    Ok(world)
}

/// Two boxes in two worlds, tied corner to corner.
fn coupling() -> Result<Coupling, Failure> {
    let mut coupling = Coupling::new(CouplingSettings::default())?;
    let cube = Shape::cuboid(Vec3::splat(0.1))?;
    for (name, x) in [("a", 0.0), ("b", 0.2)] {
        let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
        let spin = Vec3::new(0.5, 1.0, 0.2);
        world.add_body(Body::dynamic(cube.clone()).at(x, x, x).spinning(spin))?;
        coupling.add(name, world)?;
    }
    let corner = Vec3::splat(0.1);
    let ends = (Anchor::new(0, 0).at(corner), Anchor::new(1, 0).at(-corner));
    coupling.tie(Tie::point(ends.0, ends.1))?;
    Ok(coupling)
}

/// What is stepped.
enum Problem {
    World(Box<World>),
    Coupling(Box<Coupling>),
}

impl Problem {
    fn step(&mut self) -> Result<(), Failure> {
        match self {
            Problem::World(world) => drop(world.step(1.0 / 60.0)?),
            Problem::Coupling(coupling) => drop(coupling.step(1.0 / 60.0)?),
        }
        Ok(())
    }
}

#[inline(never)]
fn measured(problem: &mut Problem) -> Result<(), Failure> {
    for _ in 0..COUNTED {
        problem.step()?;
    }
    Ok(())
}

pub fn main() -> Result<(), Failure> {
    let name = crate::words().next().unwrap_or_default();
    let world = |world: World| Problem::World(Box::new(world));
    let mut problem = match name.as_str() {
        "wall" => world(wall()?),
        "drape" => world(drape()?),
        "chain" => world(chain()?),
        "pile" => world(pile()?),
        "ragdoll" => world(ragdoll()?),
        "stream" => world(stream()?),
        "coupling" => Problem::Coupling(Box::new(coupling()?)),
        _ => return Err("which of wall, drape, chain, pile, ragdoll, stream and coupling?".into()),
    };
    // one thread: waiting for others is not work
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for _ in 0..BEFORE {
            problem.step()?;
        }
        measured(&mut problem)
    })?;
    println!("{COUNTED} steps");
    Ok(())
}
