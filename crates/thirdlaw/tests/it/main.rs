//! Facts about whole worlds: analytic answers, conservation laws, robustness, determinism.

mod abreast;
mod bonds;
mod cloth;
mod cloth_energy;
mod cloth_world;
mod contact;
mod control;
mod coordinates;
mod coordinates_acted_on;
mod coordinates_extreme;
mod couple;
mod crossings;
mod curve_end;
mod deformable;
mod determinism;
mod examples;
mod fast;
mod free;
mod hooks;
mod impact;
mod incompressible;
mod interleaved;
mod joint;
mod joint_bounds;
mod joint_energy;
mod joint_input;
mod joint_nets;
mod library;
mod materials;
mod measures;
mod mechanism;
mod meshes;
mod net;
mod particles;
mod parts;
mod paths;
mod pile;
mod pile_bounce;
mod problem;
mod push_out;
mod query;
mod record;
mod reduced;
mod robust;
mod scale;
mod shapes;
mod skin;
mod sleep;
mod soft;
mod stack;
mod store;
mod streams;
mod structures;
mod symmetry;
mod taut;
mod unified;
mod unified_points;

use thirdlaw::{Body, Settings, Shape, Vec3, World};

/// A world with the default settings and the given gravity along −y.
pub fn world(g: f64) -> World {
    let settings = Settings { gravity: Vec3::new(0.0, -g, 0.0), ..Settings::default() };
    World::new(settings).expect("default settings are valid")
}

/// The default world under standard gravity.
pub fn earth() -> World {
    world(9.81)
}

/// A cuboid with the given half-extents.
pub fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(Vec3::new(x, y, z)).expect("positive half-extents")
}

/// A sphere.
pub fn sphere(radius: f64) -> Shape {
    Shape::sphere(radius).expect("positive radius")
}

/// A floor through the origin with its normal along +y.
pub fn floor() -> Body {
    Body::fixed(Shape::half_space(Vec3::Y).expect("unit normal"))
}

/// Steps through `seconds` in steps of `dt`.
pub fn run(world: &mut World, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as usize {
        world.step(dt).expect("a finite step");
    }
}

/// The hash of every bit of state after each of so many frames.
pub fn hashes(world: &mut World, steps: usize) -> Vec<u64> {
    let mut one = || {
        world.step(1.0 / 60.0).expect("a step");
        world.hash()
    };
    (0..steps).map(|_| one()).collect()
}

/// Runs `work` with so many threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(work)
}
