//! What deforms does not pass through anything that deforms, where settings ask for that.

use crate::with_threads;
use thirdlaw::collide::deformable::intersections_brute_force;
use thirdlaw::measure::{energy, momentum};
use thirdlaw::{
    Cloth, ClothMesh, Pose, Quat, SelfCollision, Settings, SolidLaw, SolidMaterial, SolidMesh,
    Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn settings(self_collision: SelfCollision) -> Settings {
    let mut settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    settings.cloth.self_collision = self_collision;
    settings.cloth.air = false;
    settings.cloth.tolerance = 1e-12;
    settings.cloth.iterations = 5000;
    settings
}

/// Two soft balls fly at each other with a speed, a cloth between them; nothing is held.
fn pressed(speed: f64, self_collision: SelfCollision) -> World {
    let mut world = World::new(settings(self_collision)).unwrap();
    let ball = SolidMesh::ball(0.15, 0.075).unwrap();
    let material = SolidMaterial {
        law: SolidLaw::NeoHookean,
        young: 2e4,
        poisson: 0.4,
        density: 1000.0,
        damping: 0.0,
    };
    for side in [-1.0, 1.0] {
        let at = Pose::from_parts(Vec3::new(0.01 * side, 0.18 * side, 0.0), Quat::IDENTITY);
        let flying = ball.deformable(material.clone()).unwrap().pose(at);
        world.add_deformable(flying.velocity(Vec3::new(0.0, -speed * side, 0.0))).unwrap();
    }
    let cloth = Cloth::new(ClothMesh::grid(9, 9, [0.5, 0.5]).unwrap());
    world.add_cloth(cloth).unwrap();
    world
}

fn stored(world: &World) -> f64 {
    let energy = energy(world);
    energy.kinetic + energy.elastic
}

/// Pairs of an edge and a triangle of all surfaces that cross, looked at one by one.
fn crossings(world: &World) -> usize {
    let (mut x, mut triangles, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    for id in world.deformables() {
        let body = world.deformable(id).unwrap();
        let first = x.len() as u32;
        triangles.extend(body.triangles().map(|t| t.map(|i| i + first)));
        edges.extend(body.elements.edges.iter().map(|e| e.map(|i| i + first)));
        x.extend_from_slice(world.vertices(id).unwrap());
    }
    intersections_brute_force(&x, &triangles, &edges)
}

#[test]
fn nothing_passes_and_momentum_stays() {
    let (mut impacts, mut zones) = (0, 0);
    for speed in [1.0, 5.0, 25.0] {
        let mut world = pressed(speed, SelfCollision::Robust);
        let before = (momentum(&world).0, stored(&world));
        let mass_speed = 2.0 * speed * 14.0;
        for frame in 0..20 {
            let report = world.step(FRAME).unwrap();
            impacts += report.impacts;
            zones = zones.max(report.in_zones);
            let count = crossings(&world);
            assert_eq!(count, 0, "at {speed} m/s in frame {frame}: {report:?}");
        }
        let change = (momentum(&world).0 - before.0).length() / mass_speed;
        println!(
            "  {speed} m/s: momentum kept to {change:.1e}, {impacts} impacts, {zones} in zones"
        );
        assert!(change < 1e-9, "{change:.1e}");
        let energy = stored(&world) / before.1;
        assert!(energy <= 1.0 + 1e-9, "{energy} of the energy is left");
    }
    assert!(impacts > 0, "springs did everything");
}

#[test]
fn robust_soft_bodies_give_the_same_bits_for_any_threads_and_after_restore() {
    let hashes = |threads: usize| {
        with_threads(threads, || {
            let mut world = pressed(10.0, SelfCollision::Robust);
            let mut all = Vec::new();
            for _ in 0..6 {
                world.step(FRAME).unwrap();
                all.push(world.hash());
            }
            all
        })
    };
    let reference = hashes(1);
    for threads in [2, 5] {
        assert!(hashes(threads) == reference, "{threads} threads differ");
    }
    let mut world = pressed(10.0, SelfCollision::Robust);
    for hash in &reference {
        let saved = world.save();
        world.step(FRAME).unwrap();
        world.restore(&saved).unwrap();
        world.drop_scratch();
        world.step(FRAME).unwrap();
        assert_eq!(world.hash(), *hash);
    }
}
