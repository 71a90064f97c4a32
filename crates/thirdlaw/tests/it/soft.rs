//! Soft bodies in a world: analytic answers, the way back from any shape, momentum and energy.

use crate::{cuboid, earth, floor, sphere, world};
use thirdlaw::measure::{energy, momentum, volume_error};
use thirdlaw::{
    Body, Deformable, DeformableId, ParticleId, Pose, Quat, SolidLaw, SolidMaterial, SolidMesh,
    Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), Quat::IDENTITY)
}

/// Tight solves, so that what is left is the scheme's.
fn exactly(world: World) -> World {
    solved_to(1e-12, world)
}

fn solved_to(tolerance: f64, mut world: World) -> World {
    let mut settings = *world.settings();
    settings.cloth.tolerance = tolerance;
    settings.cloth.iterations = 5000;
    settings.sleeping = false;
    world.set_settings(settings).unwrap();
    world
}

fn laws() -> [SolidLaw; 3] {
    [SolidLaw::Corotated, SolidLaw::StVenantKirchhoff, SolidLaw::NeoHookean]
}

fn material(law: SolidLaw, young: f64, poisson: f64) -> SolidMaterial {
    SolidMaterial { law, young, poisson, density: 1000.0, damping: 0.0 }
}

fn steps(world: &mut World, count: u32, dt: f64) {
    for _ in 0..count {
        world.step(dt).unwrap();
    }
}

/// Vertices of a mesh that fulfil a condition.
fn those(mesh: &SolidMesh, fits: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..).zip(&mesh.positions).filter(|(_, p)| fits(p)).map(|(i, _)| i).collect()
}

/// A column on its foot is shorter by ρgL²/2E.
#[test]
fn a_column_sinks_under_its_own_weight() {
    for law in laws() {
        let mut world = exactly(earth());
        let mesh = SolidMesh::block(Vec3::new(0.2, 1.0, 0.2), [2, 10, 2]).unwrap();
        let foot = those(&mesh, |p| p.y < -0.499);
        let top = those(&mesh, |p| p.y > 0.499);
        let column = mesh.deformable(material(law.clone(), 1e7, 0.0)).unwrap().pin(foot);
        let id = world.add_deformable(column).unwrap();
        steps(&mut world, 60, 0.1);
        let x = world.vertices(id).unwrap();
        let sunk = top.iter().map(|&i| 0.5 - x[i as usize].y).sum::<f64>() / top.len() as f64;
        assert!((sunk / 4.905e-4 - 1.0).abs() < 0.01, "{law:?}: {sunk}");
        let carried: Vec3 = world.pin_forces(id).unwrap().iter().map(|p| p.1).sum();
        assert!((carried.y / (40.0 * 9.81) - 1.0).abs() < 1e-5, "{carried}");
    }
}

/// How far the free end of a beam of 1 × 0.1 × 0.1 m bends under 0.1 N, with so many cells through its
/// depth, E = 1e6 and ν = 0.
fn cantilever(cells: u32) -> f64 {
    let mut world = exactly(self::world(0.0));
    let mesh = SolidMesh::block(Vec3::new(1.0, 0.1, 0.1), [10 * cells, cells, cells]).unwrap();
    let (held, end) = (those(&mesh, |p| p.x < -0.499), those(&mesh, |p| p.x > 0.499));
    let beam = mesh.deformable(material(SolidLaw::Corotated, 1e6, 0.0)).unwrap();
    let id = world.add_deformable(beam.pin(held)).unwrap();
    for _ in 0..30 {
        for &i in &end {
            let force = Vec3::new(0.0, -0.1 / end.len() as f64, 0.0);
            world.push_particle(ParticleId::vertex(id, i), force).unwrap();
        }
        world.step(10.0).unwrap();
    }
    let x = world.vertices(id).unwrap();
    end.iter().map(|&i| mesh.positions[i as usize].y - x[i as usize].y).sum::<f64>()
        / end.len() as f64
}

/// Bending and shear give 0.004 + 2.4e-5 m; linear tetrahedra are too stiff and converge to it with the
/// square of their size.
#[test]
fn a_cantilever_bends_as_beam_theory_says() {
    let known = 0.004 + 2.4e-5;
    let parts = [1, 2, 4].map(|cells| cantilever(cells) / known);
    println!("deflection over beam theory at 1, 2 and 4 cells through the depth: {parts:.4?}");
    let missing = parts.map(|p| 1.0 - p);
    assert!(missing.iter().all(|m| *m > 0.0), "{parts:?}");
    assert!(missing[2] < 0.2 && missing[0] > missing[1] && missing[1] > missing[2], "{parts:?}");
    // what the mesh adds to the stiffness falls by four when it is halved
    let stiffer = parts.map(|p| 1.0 / p - 1.0);
    for pair in stiffer.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.6..2.4).contains(&order), "order {order}: {parts:?}");
    }
}

/// Crushed to a plane, a line, a point, mirrored or with vertices anywhere, a cube comes back.
#[test]
fn a_crushed_cube_comes_back() {
    for law in laws() {
        for case in 0..5 {
            let mut world = solved_to(1e-6, world(0.0));
            let mesh = SolidMesh::block(Vec3::splat(0.2), [3, 3, 3]).unwrap();
            let solid = SolidMaterial { damping: 0.02, ..material(law.clone(), 1e4, 0.4) };
            let mut cube = mesh.deformable(solid).unwrap();
            cube.self_collision = false;
            for (i, p) in cube.positions.iter_mut().enumerate() {
                let random = |k: u32| {
                    let word =
                        (3 * i as u64 + u64::from(k) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    (word >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
                };
                *p = match case {
                    0 => Vec3::new(p.x, 0.0, p.z),
                    1 => Vec3::new(p.x, 0.0, 0.0),
                    2 => Vec3::ZERO,
                    3 => Vec3::new(p.x, -p.y, p.z),
                    _ => 0.2 * Vec3::new(random(0), random(1), random(2)),
                };
            }
            let id = world.add_deformable(cube).unwrap();
            steps(&mut world, 200, FRAME);
            let x = world.vertices(id).unwrap();
            let least = mesh.tetrahedra.iter().map(|t| {
                let [a, b, c, d] = t.map(|i| x[i as usize]);
                let rest = t.map(|i| mesh.positions[i as usize]);
                let volume = |[a, b, c, d]: [Vec3; 4]| (b - a).dot((c - a).cross(d - a));
                volume([a, b, c, d]) / volume(rest)
            });
            let least = least.fold(f64::INFINITY, f64::min);
            let stored = energy(&world).elastic;
            println!("{law:?}, case {case}: smallest J {least:.4}, {stored:.2e} J left");
            assert!(least > 0.9, "{law:?}, case {case}: J = {least}");
        }
    }
}

/// A ball at rest on a soft block on the floor: what the block carries is its weight.
#[test]
fn a_resting_ball_weighs_what_it_weighs() {
    let mut world = exactly(earth());
    let mesh = SolidMesh::block(Vec3::new(0.5, 0.2, 0.5), [8, 4, 8]).unwrap();
    let foot = those(&mesh, |p| p.y < -0.0999);
    let solid = SolidMaterial { damping: 0.05, ..material(SolidLaw::NeoHookean, 1e5, 0.4) };
    let block = mesh.deformable(solid).unwrap().pin(foot);
    let id = world.add_deformable(block).unwrap();
    let ball = Body::dynamic(sphere(0.1)).at(0.0, 0.21, 0.0);
    let ball = world.add_body(ball).unwrap();
    steps(&mut world, 600, FRAME);
    let (mass, own) = (world.body(ball).unwrap().mass, 0.05 * 1000.0);
    let carried: Vec3 = world.pin_forces(id).unwrap().iter().map(|p| p.1).sum();
    let contact = carried.y - own * 9.81;
    println!("contact force over weight: {:.8}", contact / (mass * 9.81));
    assert!((contact / (mass * 9.81) - 1.0).abs() < 1e-4, "{contact}");
}

fn soft_cube(young: f64, pose: Pose, velocity: Vec3) -> Deformable {
    let mesh = SolidMesh::block(Vec3::splat(0.2), [4, 4, 4]).unwrap();
    let cube = mesh.deformable(material(SolidLaw::NeoHookean, young, 0.4)).unwrap();
    cube.pose(pose).velocity(velocity)
}

/// Largest change of momentum over an impact, over what is there.
fn momentum_error(world: &mut World, count: u32) -> (f64, f64) {
    let before = momentum(world).0;
    let start = energy(world);
    let (mut worst, mut most) = (0.0_f64, 0.0_f64);
    for _ in 0..count {
        world.step(FRAME).unwrap();
        worst = worst.max((momentum(world).0 - before).length() / before.length());
        let now = energy(world);
        most = most.max((now.kinetic + now.elastic) / (start.kinetic + start.elastic));
    }
    (worst, most)
}

/// Two soft bodies that strike each other keep their momentum and gain no energy.
#[test]
fn soft_bodies_that_collide_keep_their_momentum() {
    for young in [1e4, 1e5, 1e6] {
        let mut world = exactly(world(0.0));
        world.add_deformable(soft_cube(young, at(-0.15, 0.0, 0.0), Vec3::X)).unwrap();
        world.add_deformable(soft_cube(young, at(0.15, 0.03, 0.02), Vec3::ZERO)).unwrap();
        let (error, most) = momentum_error(&mut world, 60);
        println!("soft on soft, E = {young:e}: momentum {error:.1e}, energy at most {most:.6}");
        assert!(error < 1e-9 && most < 1.0 + 1e-9, "E = {young:e}: {error:e} {most}");
        let mean = |id: DeformableId| {
            let x = world.vertices(id).unwrap();
            x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64
        };
        let ids: Vec<_> = world.deformables().collect();
        assert!(mean(ids[0]) < mean(ids[1]), "they have not passed through each other");
    }
}

/// The same with a rigid body, lighter, as heavy and heavier.
#[test]
fn soft_and_rigid_bodies_that_collide_keep_their_momentum() {
    for density in [100.0, 1000.0, 10_000.0] {
        let mut world = exactly(world(0.0));
        let id = world.add_deformable(soft_cube(1e5, at(-0.15, 0.0, 0.0), Vec3::X)).unwrap();
        let body = Body::dynamic(cuboid(0.1, 0.1, 0.1)).density(density).at(0.1, 0.0, 0.0);
        let body = world.add_body(body).unwrap();
        let before = momentum(&world).0;
        let start = energy(&world).kinetic;
        let mut most = 0.0_f64;
        for _ in 0..60 {
            world.step(FRAME).unwrap();
            let now = energy(&world);
            most = most.max((now.kinetic + now.elastic) / start);
        }
        // forces of the last step reach a body in the next one: apart again, all has arrived
        let error = (momentum(&world).0 - before).length() / before.length();
        println!("soft on rigid, {density} kg/m³: momentum {error:.1e}, energy at most {most:.6}");
        assert!(error < 1e-9, "{density}: {error:e}");
        assert!(most < 1.0 + 1e-6, "{density}: {most}");
        assert!(world.pose(body).unwrap().translation.x > world.vertices(id).unwrap()[0].x);
    }
}

/// Falling on the floor a body loses little volume, and none after the rebound.
#[test]
fn a_falling_cube_rests_on_the_floor() {
    for law in laws() {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        let mesh = SolidMesh::block(Vec3::splat(0.2), [4, 4, 4]).unwrap();
        let solid = SolidMaterial { damping: 0.01, ..material(law.clone(), 1e5, 0.3) };
        let cube = mesh.deformable(solid).unwrap().pose(at(0.0, 0.4, 0.0));
        let id = world.add_deformable(cube).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..180 {
            world.step(FRAME).unwrap();
            worst = worst.max(volume_error(&world));
        }
        let x = world.vertices(id).unwrap();
        let lowest = x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        let speed = world.vertex_velocities(id).unwrap().iter().map(|v| v.length());
        let speed = speed.fold(0.0, f64::max);
        println!("{law:?}: largest volume error {worst:.4}, fastest vertex {speed:.1e} m/s");
        assert!(lowest > -1e-3 && speed < 0.01 && volume_error(&world) < 0.03, "{lowest} {speed}");
        assert!(worst < 0.5, "{worst}");
    }
}
