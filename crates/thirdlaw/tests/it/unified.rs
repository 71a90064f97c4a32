//! The unified scheme: analytic answers, conservation laws, both schemes against each other, determinism.

use crate::{cuboid, sphere};
use thirdlaw::measure::{energy, joint_error, momentum, penetration};
use thirdlaw::{
    Axis, Body, BodyId, BodyKind, Deformable, Drive, Hold, Joint, Mass, Material, Pose, Quat,
    Scheme, Settings, Shape, Side, SolidLaw, SolidMaterial, SolidMesh, SurfaceMaterial, Twist,
    Vec3, VelocityRule, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn unified(gravity: Vec3) -> World {
    let settings = Settings { gravity, scheme: Scheme::Unified, ..Settings::default() };
    World::new(settings).unwrap()
}

fn earth() -> World {
    unified(Vec3::new(0.0, -9.81, 0.0))
}

/// Gravity as a slope of so many degrees feels it, falling along x.
fn slope(degrees: f64) -> Vec3 {
    let angle = degrees.to_radians();
    9.81 * Vec3::new(libm::sin(angle), -libm::cos(angle), 0.0)
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), Quat::IDENTITY)
}

fn rough(friction: f64, restitution: f64) -> Material {
    Material { friction, restitution, ..Material::default() }
}

fn floor(world: &mut World, friction: f64) {
    let shape = Shape::half_space(Vec3::Y).unwrap();
    let material = rough(friction, 0.0);
    world.add_body(Body { kind: BodyKind::Fixed, material, ..Body::dynamic(shape) }).unwrap();
}

fn put(world: &mut World, shape: Shape, pose: Pose, mass: f64, material: Material) -> BodyId {
    world
        .add_body(Body { pose, mass: Mass::Total(mass), material, ..Body::dynamic(shape) })
        .unwrap()
}

fn steps(world: &mut World, count: u32, dt: f64) {
    for _ in 0..count {
        world.step(dt).unwrap();
    }
}

fn soft(law: SolidLaw, young: f64, damping: f64) -> SolidMaterial {
    SolidMaterial { law, young, poisson: 0.3, density: 500.0, damping }
}

fn block(size: f64, cells: u32) -> SolidMesh {
    SolidMesh::block(Vec3::splat(size), [cells; 3]).unwrap()
}

fn total(world: &World) -> f64 {
    let energy = energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

/// A body in the air follows its parabola to rounding, for any step, and keeps its energy.
#[test]
fn a_parabola_is_exact() {
    let mut world = earth();
    let ball = put(&mut world, sphere(0.1), at(0.0, 50.0, 0.0), 1.0, rough(0.5, 0.0));
    world
        .set_velocity(ball, Twist { linear: Vec3::new(3.0, 4.0, 0.0), angular: Vec3::ZERO })
        .unwrap();
    let before = total(&world);
    steps(&mut world, 60, FRAME);
    let y = world.center(ball).unwrap().y;
    assert!((y - (50.0 + 4.0 - 0.5 * 9.81)).abs() < 1e-9, "{y}");
    assert!((total(&world) - before).abs() < 1e-9);
}

/// What slides on a slope is at ½g(sin θ − μ cos θ)t², what sticks does not move; nothing tumbles.
#[test]
fn slopes_are_analytic() {
    for (degrees, mu) in [(20.0, 0.5), (30.0, 0.3), (45.0, 0.3), (60.0, 0.9)] {
        let gravity = slope(degrees);
        let (s, c) = (libm::sin(f64::to_radians(degrees)), libm::cos(f64::to_radians(degrees)));
        let pull = (9.81 * (s - mu * c)).max(0.0);
        let exact = 0.5 * pull * 4.0;
        let mut world = unified(gravity);
        floor(&mut world, mu);
        let wide = cuboid(0.2, 0.1, 0.2);
        let box_id = put(&mut world, wide, at(0.0, 0.1, 0.0), 2.0, rough(mu, 0.0));
        let locks = thirdlaw::AxisLocks { translation: [false; 3], rotation: [true; 3] };
        let grain = world
            .add_body(Body {
                pose: at(0.0, 0.01, 2.0),
                mass: Mass::Total(0.1),
                material: rough(mu, 0.0),
                locks,
                ..Body::dynamic(sphere(0.01))
            })
            .unwrap();
        let surface =
            SurfaceMaterial { friction: mu, thickness: 2e-3, ..SurfaceMaterial::default() };
        let point = Deformable::new(vec![Vec3::new(0.0, 1e-3, 4.0)])
            .masses(vec![0.1])
            .surface(Vec::new(), surface);
        let point = world.add_deformable(point).unwrap();
        steps(&mut world, 120, FRAME);
        let found = [
            world.center(box_id).unwrap().x,
            world.center(grain).unwrap().x,
            world.vertices(point).unwrap()[0].x,
        ];
        println!(
            "slope {degrees}°, μ {mu}: exact {exact:.4} m, box, ball that does not turn, vertex {found:.4?}"
        );
        for x in found {
            assert!(
                (x - exact).abs() <= 0.01 * exact + 1e-3,
                "{degrees}° μ {mu}: {found:?}, {exact}"
            );
        }
        let turned = world.velocity(box_id).unwrap().angular.length();
        assert!(turned < 1e-6, "tumbles: {turned}");
    }
}

/// Bounce heights are e²h, and no energy is made.
#[test]
fn balls_bounce_as_newton_says() {
    for e in [0.0, 0.5, 0.8, 1.0] {
        let mut world = earth();
        floor(&mut world, 0.5);
        let ball = put(&mut world, sphere(0.1), at(0.0, 1.1, 0.0), 1.0, rough(0.5, e));
        let before = total(&world);
        let (mut top, mut landed): (f64, bool) = (0.0, false);
        for _ in 0..70 {
            world.step(FRAME).unwrap();
            let v = world.velocity(ball).unwrap().linear.y;
            let y = world.center(ball).unwrap().y - 0.1;
            landed |= v > 0.0 || y < 1e-3;
            if landed {
                top = top.max(y + 0.5 * v * v / 9.81);
            }
            assert!(total(&world) < before + 1e-9);
        }
        println!("e {e}: top {top:.4}, Newton {:.4}", e * e);
        assert!((top - e * e).abs() < 0.04, "e {e}: {top}");
    }
}

/// In a row of equal balls the blow goes through.
#[test]
fn a_cradle_passes_the_blow_on() {
    let mut world = unified(Vec3::ZERO);
    let ball = |i: u32| at(0.2 * f64::from(i) + 1e-4 * f64::from(i), 0.0, 0.0);
    let balls: Vec<_> =
        (0..5).map(|i| put(&mut world, sphere(0.1), ball(i), 1.0, rough(0.0, 1.0))).collect();
    let push = Twist { linear: Vec3::X, angular: Vec3::ZERO };
    world.set_velocity(balls[0], push).unwrap();
    steps(&mut world, 30, FRAME);
    let speeds: Vec<f64> = balls.iter().map(|b| world.velocity(*b).unwrap().linear.x).collect();
    println!("cradle {speeds:.3?}");
    assert!(
        (speeds[4] - 1.0).abs() < 1e-6 && speeds[..4].iter().all(|v| v.abs() < 1e-6),
        "{speeds:?}"
    );
}

/// Boxes that stand on each other go on standing.
#[test]
fn stacks_stand() {
    for count in [5, 10] {
        let mut world = earth();
        floor(&mut world, 0.5);
        let boxes: Vec<_> = (0..count)
            .map(|i| {
                put(
                    &mut world,
                    cuboid(0.1, 0.1, 0.1),
                    at(0.0, 0.1 + 0.2 * f64::from(i), 0.0),
                    1.0,
                    rough(0.5, 0.3),
                )
            })
            .collect();
        let mut report = world.step(FRAME).unwrap();
        for _ in 0..180 {
            report = world.step(FRAME).unwrap();
        }
        let top = world.center(boxes[count as usize - 1]).unwrap();
        let speed =
            boxes.iter().map(|b| world.velocity(*b).unwrap().linear.length()).fold(0.0, f64::max);
        println!(
            "stack of {count}: top at {top:.6}, speed {speed:.2e}, overlap {:.2e}, {report:?}",
            penetration(&world)
        );
        let exact = 0.2 * f64::from(count) - 0.1;
        assert!((top.y - exact).abs() < 1e-3 && top.x.abs() < 1e-3, "{top}");
        assert!(speed < 1e-2, "{speed}");
        assert!(penetration(&world) < 1e-4);
    }
}

/// A swarm of boxes and balls that fly into each other keeps momentum and angular momentum, and never gains
/// energy.
#[test]
fn a_swarm_keeps_momentum() {
    for e in [0.0, 0.6, 1.0] {
        let mut world = unified(Vec3::ZERO);
        for i in 0..24_u32 {
            let f = f64::from(i);
            let place = 0.9 * Vec3::new(libm::sin(2.3 * f), libm::cos(1.7 * f), libm::sin(5.1 * f));
            let shape = if i % 2 == 0 { cuboid(0.12, 0.08, 0.1) } else { sphere(0.1) };
            let body = put(
                &mut world,
                shape,
                Pose::from_parts(place, Quat::IDENTITY),
                0.5 + f,
                rough(0.4, e),
            );
            let spin = Vec3::new(libm::cos(f), libm::sin(3.0 * f), 0.5);
            let velocity = Twist { linear: -2.0 * place, angular: spin };
            world.set_velocity(body, velocity).unwrap();
        }
        let (p0, l0) = momentum(&world);
        let mut last = total(&world);
        let mut worst = [0.0_f64; 3];
        for _ in 0..90 {
            let report = world.step(FRAME).unwrap();
            let now = total(&world);
            worst[2] = worst[2].max(now - last - report.resolved_energy);
            last = now;
        }
        let (p, l) = momentum(&world);
        (worst[0], worst[1]) = (p.distance(p0), l.distance(l0));
        println!(
            "swarm e {e}: momentum {:.1e}, angular {:.1e}, energy gained at most {:.1e} of {last:.1}",
            worst[0], worst[1], worst[2]
        );
        assert!(worst[0] < 1e-9, "{worst:?}");
        assert!(worst[2] < 1e-6 * last.max(1.0), "{worst:?}");
    }
}

/// Free oscillations of a soft block converge with the square of the step, and backward Euler with the step.
#[test]
fn free_motion_is_of_second_order() {
    let run = |substeps: u32, velocity: VelocityRule| {
        let mut world = unified(Vec3::ZERO);
        let mut settings = *world.settings();
        settings.substeps = substeps;
        settings.unified.velocity = velocity;
        settings.cloth.strain_step = 10.0;
        world.set_settings(settings).unwrap();
        let mesh = block(0.4, 2);
        let mut body = mesh.deformable(soft(SolidLaw::StVenantKirchhoff, 2e4, 0.0)).unwrap();
        body.positions.iter_mut().for_each(|x| x.x *= 1.1);
        let id = world.add_deformable(body).unwrap();
        let before = total(&world);
        steps(&mut world, 12, FRAME);
        (world.vertices(id).unwrap().to_vec(), (total(&world) - before) / before)
    };
    let (exact, _) = run(512, VelocityRule::Trapezoidal);
    // backward Euler takes most of the oscillation in coarse steps: its order shows where it does not
    for (rule, order, coarse) in
        [(VelocityRule::Trapezoidal, 2.0, 16), (VelocityRule::BackwardEuler, 1.0, 256)]
    {
        let error = |substeps: u32| {
            let (x, gained) = run(substeps, rule);
            let far = x.iter().zip(&exact).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            (far, gained)
        };
        let (coarse, fine) = (error(coarse), error(2 * coarse));
        let found = libm::log2(coarse.0 / fine.0);
        println!("{rule:?}: errors {:.2e} {:.2e}, order {found:.2}", coarse.0, fine.0);
        assert!(found > order - 0.25, "{rule:?}: order {found}");
    }
}

/// A soft box comes to rest on the floor, and carries a rigid one; a rigid one carries a soft one.
#[test]
fn soft_and_rigid_rest_on_each_other() {
    let mut world = earth();
    floor(&mut world, 0.5);
    let mesh = block(0.3, 3);
    let lower =
        mesh.deformable(soft(SolidLaw::Corotated, 2e5, 0.02)).unwrap().pose(at(0.0, 0.152, 0.0));
    let lower = world.add_deformable(lower).unwrap();
    let middle = put(&mut world, cuboid(0.1, 0.1, 0.1), at(0.0, 0.41, 0.0), 5.0, rough(0.5, 0.0));
    let upper = block(0.2, 2).deformable(soft(SolidLaw::Corotated, 2e5, 0.02)).unwrap();
    let upper = world.add_deformable(upper.pose(at(0.0, 0.62, 0.0))).unwrap();
    for frame in 0..180 {
        let report = world.step(FRAME).unwrap();
        if frame % 30 == 0 {
            println!(
                "{frame}: {} {} {:?}",
                world.center(middle).unwrap(),
                energy(&world).kinetic,
                report
            );
        }
    }
    let center = world.center(middle).unwrap();
    let mean = |id| {
        let x = world.vertices(id).unwrap();
        x.iter().sum::<Vec3>() / x.len() as f64
    };
    let (low, high) = (mean(lower), mean(upper));
    let speed = world.velocity(middle).unwrap().linear.length();
    println!(
        "soft, rigid, soft: {low:.4}, {center:.4}, {high:.4}; speed {speed:.1e}, kinetic {:.1e}",
        energy(&world).kinetic
    );
    assert!((0.36..0.42).contains(&center.y) && center.x.abs() < 0.02, "{center}");
    assert!(high.y > center.y + 0.18 && low.y > 0.13, "{low} {high}");
    assert!(speed < 1e-3, "{speed}");
}

/// A ball that flies into a soft block, and a soft block into a ball: momentum is kept.
#[test]
fn soft_collisions_keep_momentum() {
    for mass in [0.05, 5.0, 5000.0] {
        let mut world = unified(Vec3::ZERO);
        let body = block(0.3, 3).deformable(soft(SolidLaw::Corotated, 1e5, 0.01)).unwrap();
        world.add_deformable(body).unwrap();
        let ball = put(&mut world, sphere(0.1), at(0.0, 0.35, 0.03), mass, rough(0.5, 0.0));
        let down = Twist { linear: Vec3::new(0.0, -2.0, 0.0), angular: Vec3::ZERO };
        world.set_velocity(ball, down).unwrap();
        let ((p0, l0), mut last) = (momentum(&world), total(&world));
        let (mut gained, mut resolved): (f64, f64) = (0.0, 0.0);
        for _ in 0..40 {
            let report = world.step(FRAME).unwrap();
            let now = total(&world);
            gained = gained.max(now - last - report.resolved_energy);
            resolved += report.resolved_energy;
            last = now;
        }
        let (p, l) = momentum(&world);
        println!(
            "ball of {mass} kg on 13.5 kg: momentum {:.1e}, angular {:.1e}, energy gained in a frame {gained:.1e}, resolved {resolved:.1e}, at the end {last:.2}, {}",
            p.distance(p0) / mass,
            l.distance(l0) / mass,
            world.velocity(ball).unwrap().linear
        );
        assert!(p.distance(p0) < 1e-9 * p0.length().max(1.0), "{} {}", p, p0);
        assert!(
            world.velocity(ball).unwrap().linear.y > -2.0
                && world.velocity(ball).unwrap().linear.is_finite()
        );
    }
}

/// The same bits after a save, and for any number of threads.
#[test]
fn bits_are_those_of_the_state() {
    let build = || {
        let mut world = earth();
        floor(&mut world, 0.5);
        for i in 0..4 {
            put(
                &mut world,
                cuboid(0.1, 0.1, 0.1),
                at(0.02 * f64::from(i), 0.15 + 0.25 * f64::from(i), 0.0),
                1.0,
                rough(0.5, 0.3),
            );
        }
        let body = block(0.2, 2).deformable(soft(SolidLaw::Corotated, 5e4, 0.02)).unwrap();
        world.add_deformable(body.pose(at(0.05, 1.4, 0.0))).unwrap();
        world
    };
    let mut world = build();
    steps(&mut world, 20, FRAME);
    let saved = world.save();
    steps(&mut world, 20, FRAME);
    let hash = world.hash();
    world.restore(&saved).unwrap();
    world.drop_scratch();
    steps(&mut world, 20, FRAME);
    assert_eq!(world.hash(), hash);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut world = build();
        pool.install(|| steps(&mut world, 40, FRAME));
        assert_eq!(world.hash(), hash, "{threads} threads");
    }
}

/// What the scheme does not know is refused by name.
#[test]
fn what_is_not_simulated_is_named() {
    let mut world = earth();
    let sliding = Hold::Directions(vec![Vec3::X]);
    let body = block(0.1, 1).deformable(soft(SolidLaw::NeoHookean, 1e5, 0.0)).unwrap();
    world.add_deformable(body.hold([0], sliding)).unwrap();
    let error = world.step(FRAME).unwrap_err().to_string();
    assert!(error.contains("some directions") && error.contains("unified"), "{error}");
}

/// A soft block, and a ball that flies into it; energies step by step.
fn impact(mass: f64, young: f64, rate: f64, velocity: VelocityRule) -> Impact {
    let mut world = unified(Vec3::ZERO);
    let mut settings = *world.settings();
    settings.unified.velocity = velocity;
    world.set_settings(settings).unwrap();
    let body = block(0.3, 3).deformable(soft(SolidLaw::Corotated, young, 0.0)).unwrap();
    world.add_deformable(body).unwrap();
    let ball = put(&mut world, sphere(0.1), at(0.0, 0.35, 0.03), mass, rough(0.5, 0.0));
    let down = Twist { linear: Vec3::new(0.0, -2.0, 0.0), angular: Vec3::ZERO };
    world.set_velocity(ball, down).unwrap();
    let ((p0, l0), first) = (momentum(&world), total(&world));
    let mut impact = Impact { first, ..Impact::default() };
    let mut last = first;
    for _ in 0..(0.4 * rate) as u32 {
        let report = world.step(1.0 / rate).unwrap();
        let now = total(&world);
        impact.gained = impact.gained.max(now - last - report.resolved_energy.max(0.0));
        impact.resolved += report.resolved_energy.max(0.0);
        last = now;
    }
    let (p, l) = momentum(&world);
    (impact.momentum, impact.angular) = (p.distance(p0), l.distance(l0));
    impact.last = last;
    impact
}

#[derive(Clone, Copy, Debug, Default)]
struct Impact {
    first: f64,
    last: f64,
    gained: f64,
    resolved: f64,
    momentum: f64,
    angular: f64,
}

/// An impact on something soft makes no energy: none at all by backward Euler; by the trapezoidal rule no more
/// than its error on free oscillations, which falls with the square of the step.
#[test]
fn soft_impacts_make_no_energy() {
    let mut worst: f64 = 0.0;
    let cases = [
        (0.135, 1e5, 60.0),
        (5.0, 1e5, 24.0),
        (5.0, 1e5, 60.0),
        (5.0, 1e5, 240.0),
        (5.0, 1e4, 60.0),
        (5.0, 1e7, 60.0),
        (1350.0, 1e5, 60.0),
    ];
    for (mass, young, rate) in cases {
        for rule in [VelocityRule::Trapezoidal, VelocityRule::BackwardEuler] {
            let found = impact(mass, young, rate, rule);
            println!("{mass} kg on 13.5 kg of {young:.0e} Pa, {rate}/s, {rule:?}: {found:?}");
            let part = found.gained / found.first;
            let bar = match rule {
                VelocityRule::Trapezoidal => 1e-3 * (60.0 / rate) * (60.0 / rate),
                VelocityRule::BackwardEuler => 1e-9,
            };
            assert!(part < bar, "{part:e} of the energy, {bar:e}");
            assert!(found.last < found.first + found.resolved);
            assert!(found.momentum < 1e-9 * (2.0 * mass).max(1.0), "{found:?}");
            if rule == VelocityRule::Trapezoidal {
                worst = worst.max(found.angular / found.first);
            }
        }
    }
    println!("angular momentum lost at most {worst:.1e} N·m·s of each J");
}

/// What lies on something soft comes to rest, whatever its weight and the frame rate.
#[test]
fn boxes_come_to_rest_on_soft_blocks() {
    for (mass, rate, rule) in [
        (5.0, 60.0, VelocityRule::Trapezoidal),
        (0.5, 24.0, VelocityRule::Trapezoidal),
        (40.0, 60.0, VelocityRule::BackwardEuler),
    ] {
        let mut world = earth();
        let mut settings = *world.settings();
        settings.unified.velocity = rule;
        world.set_settings(settings).unwrap();
        floor(&mut world, 0.5);
        let body = block(0.3, 3).deformable(soft(SolidLaw::Corotated, 2e5, 0.02)).unwrap();
        world.add_deformable(body.pose(at(0.0, 0.152, 0.0))).unwrap();
        let shape = cuboid(0.1, 0.1, 0.1);
        let top = put(&mut world, shape, at(0.0, 0.41, 0.0), mass, rough(0.5, 0.0));
        steps(&mut world, (3.0 * rate) as u32, 1.0 / rate);
        let speed = world.velocity(top).unwrap().linear.length();
        println!("{mass} kg at rest on 13.5 kg, {rate}/s, {rule:?}: {speed:.1e} m/s");
        assert!(speed < 1e-4, "{speed}");
    }
}

/// Links of a chain, hung up at one end or closed to a ring.
fn chain(world: &mut World, count: u32, closed: bool) -> Vec<BodyId> {
    let radius = 0.3 * f64::from(count) / std::f64::consts::TAU;
    let mut ids = Vec::new();
    for i in 0..count {
        let pose = if closed {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(count);
            let place = Vec3::new(radius * libm::cos(angle), radius * libm::sin(angle), 0.0);
            let turn = Quat::from_rotation_z(angle + std::f64::consts::FRAC_PI_2);
            Pose::from_parts(place, turn)
        } else {
            at(0.15 + 0.3 * f64::from(i), 0.0, 0.0)
        };
        ids.push(put(world, cuboid(0.1, 0.04, 0.04), pose, 1.0, rough(0.5, 0.0)));
    }
    for i in 0..count as usize {
        let joint = match (closed, i) {
            (false, 0) => Joint::ball(Side::World, ids[0]).at(0.0, 0.0, 0.0),
            (false, _) => {
                Joint::hinge(ids[i - 1], ids[i]).at(0.3 * i as f64, 0.0, 0.0).axis(Vec3::Z)
            }
            (true, _) => {
                let next = ids[(i + 1) % ids.len()];
                let middle = world.center(ids[i]).unwrap().midpoint(world.center(next).unwrap());
                Joint::ball(ids[i], next).at(middle.x, middle.y, middle.z)
            }
        };
        world.add_joint(joint).unwrap();
    }
    ids
}

/// A chain that falls from the level: its joints stay together and make no energy.
#[test]
fn chains_hold_together() {
    for (count, rate) in [(1, 60.0), (10, 60.0), (10, 240.0)] {
        let mut world = earth();
        chain(&mut world, count, false);
        let (first, mut gap, mut most) = (total(&world), 0.0_f64, f64::NEG_INFINITY);
        for _ in 0..rate as u32 {
            world.step(1.0 / rate).unwrap();
            gap = gap.max(joint_error(&world));
            most = most.max(total(&world) - first);
        }
        let left = total(&world) - first;
        println!(
            "chain of {count} at {rate}/s: gap {gap:.1e} m, energy gained at most {most:.1e} J, at the end {left:.1e} J"
        );
        assert!(gap < 1e-3, "{gap}");
        assert!(most < 0.02 * f64::from(count * count), "{most}");
    }
}

/// A closed loop in the air keeps its momentum and its angular momentum.
#[test]
fn loops_keep_momentum() {
    let mut world = unified(Vec3::ZERO);
    let links = chain(&mut world, 6, true);
    let push = Twist { linear: Vec3::new(1.0, 0.5, 2.0), angular: Vec3::new(1.0, 2.0, 3.0) };
    world.set_velocity(links[0], push).unwrap();
    let (p0, l0) = momentum(&world);
    let (mut gap, mut worst) = (0.0_f64, [0.0_f64; 2]);
    for _ in 0..60 {
        world.step(FRAME).unwrap();
        gap = gap.max(joint_error(&world));
        let (p, l) = momentum(&world);
        worst = [worst[0].max(p.distance(p0)), worst[1].max(l.distance(l0))];
    }
    println!("loop of 6: gap {gap:.1e} m, momentum {:.1e}, angular {:.1e}", worst[0], worst[1]);
    assert!(gap < 1e-3 && worst[0] < 1e-9 && worst[1] < 1e-8, "{gap} {worst:?}");
}

/// A wheel on a hinge: a motor gives it its speed, or its torque while that does not suffice; a spring-damper
/// draws it to its place, and a limit stops it there.
#[test]
fn drives_turn_hinges() {
    let wheel = |change: &dyn Fn(Joint) -> Joint| {
        let mut world = unified(Vec3::ZERO);
        let body = put(&mut world, sphere(0.5), at(0.0, 0.0, 0.0), 10.0, rough(0.5, 0.0));
        let joint = Joint::hinge(Side::World, body).at(0.0, 0.0, 0.0).axis(Vec3::X);
        let joint = world.add_joint(change(joint)).unwrap();
        steps(&mut world, 60, FRAME);
        let reading = world.joint_reading(joint).unwrap();
        (reading.coordinates[3], world.velocity(body).unwrap().angular.x)
    };
    let fast = wheel(&|joint| joint.driven(Axis::TurnX, Drive::motor(5.0, 100.0))).1;
    // ω = τt/I with I = ⅖mr² = 1 kg·m²
    let weak = wheel(&|joint| joint.driven(Axis::TurnX, Drive::motor(5.0, 2.0))).1;
    let held = wheel(&|joint| joint.driven(Axis::TurnX, Drive::pd(400.0, 40.0).at(0.7)));
    let stopped =
        wheel(&|joint| joint.driven(Axis::TurnX, Drive::effort(3.0)).limit(Axis::TurnX, -1.0, 0.5));
    println!(
        "motor {fast:.6} of 5 rad/s, weak {weak:.6} of 2, drive at {held:.5?} of 0.7 rad, limit {stopped:.5?} of 0.5"
    );
    assert!((fast - 5.0).abs() < 1e-6 && (weak - 2.0).abs() < 1e-6, "{fast} {weak}");
    assert!((held.0 - 0.7).abs() < 1e-3 && held.1.abs() < 1e-3, "{held:?}");
    assert!((stopped.0 - 0.5).abs() < 1e-3 && stopped.1.abs() < 1e-3, "{stopped:?}");
}
