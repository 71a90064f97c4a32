//! Soft bodies that keep the volume around every vertex.

use crate::{cuboid, earth, floor, sphere, world};
use thirdlaw::measure::{energy, momentum, volume_error};
use thirdlaw::{
    Body, Deformable, DeformableError, Pose, Quat, Scheme, Settings, SolidMaterial, SolidMesh,
    Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), Quat::IDENTITY)
}

fn ball(young: f64) -> Deformable {
    let material = SolidMaterial { young, poisson: 0.3, density: 1000.0, ..Default::default() };
    SolidMesh::ball(0.2, 0.06).unwrap().deformable(material).unwrap().incompressible(true)
}

fn solved_to(tolerance: f64, mut world: World) -> World {
    let mut settings = *world.settings();
    settings.cloth.tolerance = tolerance;
    settings.cloth.iterations = 5000;
    settings.sleeping = false;
    world.set_settings(settings).unwrap();
    world
}

/// A ball of ν = .3 falls on the floor and is struck by a rigid one of ten times its mass.
fn struck(incompressible: bool) -> (f64, f64, f64) {
    let mut world = solved_to(1e-4, earth());
    world.add_body(floor()).unwrap();
    let soft = ball(3e5).pose(at(0.0, 0.4, 0.0)).incompressible(incompressible);
    let id = world.add_deformable(soft).unwrap();
    let mass: f64 = world.deformable(id).unwrap().elements.mass.iter().sum();
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.15_f64.powi(3);
    let heavy = Body::dynamic(sphere(0.15)).density(10.0 * mass / volume).at(0.0, 1.1, 0.0);
    world.add_body(heavy).unwrap();
    let total = |world: &World| {
        let now = energy(world);
        now.kinetic + now.gravity + now.elastic
    };
    let (mut worst, mut rise, mut least) = (0.0_f64, 0.0_f64, f64::INFINITY);
    let start = total(&world);
    let mut before = start;
    for frame in 0..90 {
        let report = world.step(FRAME).unwrap();
        worst = worst.max(volume_error(&world));
        let now = total(&world);
        if std::env::var("PRINT").is_ok() {
            println!("{frame} {:.5} {now:.4} {report:?}", volume_error(&world));
        }
        rise = rise.max((now - before) / start);
        before = now;
        let x = world.vertices(id).unwrap();
        least = least.min(x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min));
    }
    (worst, rise, least)
}

#[test]
fn volumes_stay_through_an_impact() {
    let (plain, _, _) = struck(false);
    let (worst, rise, least) = struck(true);
    println!("volume error {worst:.2e} ({plain:.2e} without), energy rises by {rise:.1e}, {least}");
    assert!(plain > 0.1, "the impact is none: {plain}");
    assert!(worst < 0.01, "{worst}");
    assert!(rise < 1e-6, "{rise}");
    assert!(least > -1e-3, "{least}");
}

/// A cube that falls on the floor in the unified scheme, which projects alone.
#[test]
fn volumes_stay_in_the_unified_scheme() {
    let mut world = solved_to(1e-4, earth());
    world.set_settings(Settings { scheme: Scheme::Unified, ..*world.settings() }).unwrap();
    world.add_body(floor()).unwrap();
    let mesh = SolidMesh::block(Vec3::splat(0.2), [2, 2, 2]).unwrap();
    let material = SolidMaterial { young: 5e4, poisson: 0.3, ..Default::default() };
    let cube = mesh.deformable(material).unwrap().incompressible(true).pose(at(0.0, 0.12, 0.0));
    let id = world.add_deformable(cube.velocity(-1.0 * Vec3::Y)).unwrap();
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        world.step(FRAME).unwrap();
        worst = worst.max(volume_error(&world));
    }
    let low = world.vertices(id).unwrap().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    println!("unified: volume error {worst:.2e}, lowest vertex at {low:.5}");
    assert!(worst < 0.01 && low > -1e-3, "{worst} {low}");
}

/// Momentum through impacts with rigid and soft bodies.
#[test]
fn momentum_stays_through_impacts() {
    for rigid in [true, false] {
        let mut world = solved_to(1e-10, world(0.0));
        world.add_deformable(ball(1e5).pose(at(-0.25, 0.0, 0.0)).velocity(2.0 * Vec3::X)).unwrap();
        if rigid {
            let body = Body::dynamic(cuboid(0.1, 0.1, 0.1)).density(3000.0).at(0.1, 0.05, 0.0);
            world.add_body(body).unwrap();
        } else {
            world.add_deformable(ball(1e5).pose(at(0.2, 0.05, 0.02))).unwrap();
        }
        let before = momentum(&world).0;
        let sum = |world: &World| energy(world).kinetic + energy(world).elastic;
        let start = sum(&world);
        let (mut worst, mut most) = (0.0_f64, 0.0_f64);
        for _ in 0..60 {
            world.step(FRAME).unwrap();
            worst = worst.max(volume_error(&world));
            most = most.max(sum(&world) / start);
        }
        let error = (momentum(&world).0 - before).length() / before.length();
        println!("rigid {rigid}: momentum {error:.1e}, energy {most:.6}, volume {worst:.1e}");
        assert!(error < 1e-9 && most < 1.0 + 1e-6 && worst < 0.01, "{error} {most} {worst}");
    }
}

/// Hung by one face, a block gets longer and thinner by Poisson's ratio of one half.
#[test]
fn a_hanging_block_keeps_its_volume() {
    let mut world = solved_to(1e-8, earth());
    let mesh = SolidMesh::block(Vec3::new(0.2, 0.4, 0.2), [4, 8, 4]).unwrap();
    let top = (0..).zip(&mesh.positions).filter(|(_, p)| p.y > 0.199).map(|(i, _)| i);
    let top: Vec<u32> = top.collect();
    let material = SolidMaterial { young: 3e4, poisson: 0.3, damping: 0.05, ..Default::default() };
    let block = mesh.deformable(material).unwrap().pin(top.clone()).incompressible(true);
    let id = world.add_deformable(block).unwrap();
    for _ in 0..400 {
        world.step(FRAME).unwrap();
        assert!(volume_error(&world) < 0.01, "{}", volume_error(&world));
    }
    let x = world.vertices(id).unwrap();
    let low = x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let carried: Vec3 = world.pin_forces(id).unwrap().iter().map(|p| p.1).sum();
    let weight = 9.81 * world.deformable(id).unwrap().elements.mass.iter().sum::<f64>();
    println!("longer by {:.5} m, pins carry {:.6} of the weight", -0.2 - low, carried.y / weight);
    assert!((carried.y / weight - 1.0).abs() < 1e-4 && low < -0.205);
}

#[test]
fn springs_have_no_volume_to_keep() {
    let mesh = SolidMesh::block(Vec3::splat(0.2), [1, 1, 1]).unwrap();
    let body = mesh.springs(&SolidMaterial::default()).unwrap().incompressible(true);
    let error = earth().add_deformable(body).unwrap_err();
    assert!(matches!(error, DeformableError::Value { field: "incompressible", .. }), "{error:?}");
}
