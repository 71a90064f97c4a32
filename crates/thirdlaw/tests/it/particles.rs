//! Facts about streams of particles: jets, books of momentum, walls that hold, friction, drag.

use crate::{cuboid, earth, floor, run, sphere, world};
use thirdlaw::{
    Body, Cloth, ClothMesh, Emitter, Keyframe, Keyframes, Pose, Quat, Shape, Vec3, World, measure,
};

const FRAME: f64 = 1.0 / 60.0;

/// A jet along +x from the origin: 1,000 particles a second of a gram each at 10 m/s.
fn jet(restitution: f64) -> Emitter {
    Emitter::disc(0.05, 1000.0, 10.0).toward(Vec3::X).mass(1e-3).material(0.5, restitution)
}

/// Validation case P9.
#[test]
fn a_jet_pushes_a_plate_with_ten_times_one_plus_e_newtons() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = world(0.0);
        let plate = Body::fixed(cuboid(0.01, 1.0, 1.0)).at(1.0, 0.0, 0.0).restitution(0.0);
        let plate = world.add_body(plate).unwrap();
        world.add_emitter(jet(e)).unwrap();
        run(&mut world, 0.5, FRAME);
        let mut sum = Vec3::ZERO;
        let steps = 120;
        for _ in 0..steps {
            world.step(FRAME).unwrap();
            sum += world.struck(plate).unwrap().force;
        }
        let mean = sum / f64::from(steps);
        assert!((mean.x - 10.0 * (1.0 + e)).abs() < 0.02, "e = {e}: {mean}");
        assert!(mean.y.abs() < 1e-9 && mean.z.abs() < 1e-9, "e = {e}: {mean}");
    }
}

/// Everything that the particles lose, the bodies get: a spray against boxes that fly freely, with
/// friction and spin, steps of different lengths, and no gravity.
#[test]
fn books_of_momentum_balance() {
    let mut world = world(0.0);
    let spray = jet(0.4).spread(0.3).life(100.0).during(0.0, 0.1);
    world.add_emitter(Emitter { speed_spread: 0.2, rate: 5000.0, ..spray }).unwrap();
    for i in 0..6 {
        let (y, z) = (0.3 * f64::from(i % 3) - 0.3, 0.35 * f64::from(i / 3) - 0.2);
        let body = Body::dynamic(cuboid(0.1, 0.12, 0.14)).at(1.0, y, z).mass(0.5);
        world.add_body(body.spinning(Vec3::new(1.0, 2.0, 3.0 * y)).friction(0.3)).unwrap();
    }
    while world.time() < 0.1 {
        world.step(FRAME).unwrap();
    }
    let (start, turn) = measure::momentum(&world);
    let mut bounces = 0;
    for k in 0..60 {
        bounces += world.step([FRAME, 0.004, 0.011][k % 3]).unwrap().bounces;
        let (now, turned) = measure::momentum(&world);
        assert!((now - start).length() < 1e-12 * start.length(), "{now} {start}");
        // to first order in the step: centres move while they are pushed
        assert!((turned - turn).length() < 0.02 * start.length(), "{turned} {turn}");
    }
    assert!(bounces > 50, "{bounces}");
}

/// The record of a bounce is exact about angular momentum too, for a body that cannot move on.
#[test]
fn the_reading_of_torque_is_the_angular_momentum_that_particles_lost() {
    let mut world = world(0.0);
    let plate =
        Body::fixed(cuboid(0.3, 0.4, 0.01)).at(0.2, -0.1, 1.0).rotated(Vec3::new(0.3, 0.2, 0.0));
    let plate = world.add_body(plate).unwrap();
    let spray = Emitter::point(2000.0, 5.0).toward(Vec3::Z).spread(0.2).during(0.0, 0.15);
    world.add_emitter(spray.life(9.0)).unwrap();
    run(&mut world, 0.16, 0.01);
    let center = world.center(plate).unwrap();
    let mut count = 0;
    for _ in 0..40 {
        let before = measure::momentum(&world);
        count += world.step(0.01).unwrap().bounces;
        let after = measure::momentum(&world);
        let push = world.struck(plate).unwrap();
        assert!((push.force * 0.01 + after.0 - before.0).length() < 1e-12);
        let turned = push.torque * 0.01 + center.cross(push.force * 0.01) + after.1 - before.1;
        assert!(turned.length() < 1e-12, "{turned}");
    }
    assert!(count > 100, "{count}");
}

/// A thousand times lighter plate than what hits it per second must not outrun the jet.
#[test]
fn a_light_plate_never_gets_faster_than_the_jet() {
    for (mass, e) in [(1e-3, 1.0), (0.05, 0.0), (0.05, 1.0), (1.0, 0.5)] {
        let mut world = world(0.0);
        let plate = Body::dynamic(cuboid(0.01, 0.3, 0.3)).at(0.5, 0.0, 0.0).mass(mass);
        let plate = world.add_body(plate).unwrap();
        world.add_emitter(jet(e).life(20.0)).unwrap();
        let mut fastest = 0.0_f64;
        for _ in 0..120 {
            world.step(FRAME).unwrap();
            fastest = fastest.max(world.velocity(plate).unwrap().linear.x);
        }
        // an elastic bounce of a heavy lump throws a light body at twice its own speed; a tenth more,
        // because the body answers one step late
        let limit = 11.0 * (1.0 + e);
        assert!(fastest <= limit && fastest > 2.0, "mass {mass}, e {e}: {fastest} m/s");
    }
}

/// Particles of every kind of speed against thin plates that move and turn fast: none passes.
#[test]
fn no_particle_passes_a_thin_fast_plate() {
    for seed in 0..6_u64 {
        let mut world = world(if seed % 2 == 0 { 0.0 } else { 9.81 });
        // a closed room whose walls are thin and shake, and a fan inside it
        let shake = |axis: Vec3| Keyframes {
            keys: vec![
                Keyframe { time: 0.0, position: axis, rotation: Quat::IDENTITY },
                Keyframe { time: 0.05, position: axis * 1.4, rotation: Quat::IDENTITY },
                Keyframe { time: 0.1, position: axis, rotation: Quat::IDENTITY },
            ],
            repeat: true,
            smooth: seed % 3 == 0,
        };
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            for side in [-1.0, 1.0] {
                let half = Vec3::splat(3.0) * (Vec3::ONE - axis) + axis * 1e-4;
                let wall = Body::kinematic(Shape::cuboid(half).unwrap());
                world.add_body(wall.keyframes(shake(axis * side))).unwrap();
            }
        }
        let fan = Body::kinematic(cuboid(0.6, 0.3, 1e-3)).spinning(Vec3::new(3.0, 25.0, 1.0));
        world.add_body(fan).unwrap();
        let e = 0.2 * seed as f64;
        let source = Emitter::surface(sphere(0.7), 20_000.0, 15.0).material(0.4, e.min(1.0));
        let source = Emitter { speed_spread: 1.0, radius: 0.002, ..source };
        let id = world.add_emitter(source.seed(seed).life(100.0).during(0.0, 0.1)).unwrap();
        let mut crushed = 0;
        for _ in 0..60 {
            crushed += world.step(FRAME).unwrap().crushed;
        }
        let stream = world.stream(id).unwrap();
        assert_eq!(stream.len() + crushed as usize, 2000, "seed {seed}");
        assert!(crushed < 20, "seed {seed}: {crushed} crushed");
        let far = stream.particles.x.iter().map(|x| x.abs().max_element()).fold(0.0, f64::max);
        assert!(far < 1.4, "seed {seed}: a particle is {far} m away");
    }
}

/// The same for every kind of solid that falls through a rain, and for cloth.
#[test]
fn no_particle_ends_inside_a_solid() {
    let mut world = earth();
    let (vertices, triangles) = sphere(0.2).surface(16);
    let shapes = [
        sphere(0.2),
        cuboid(0.2, 0.1, 0.15),
        Shape::capsule(0.2, 0.1).unwrap(),
        Shape::cylinder(0.15, 0.15).unwrap(),
        Shape::cone(0.2, 0.15).unwrap(),
        Shape::convex_hull(&vertices).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
        Shape::compound(&[
            (Pose::from_translation(Vec3::new(0.1, 0.0, 0.0)), sphere(0.12)),
            (Pose::from_translation(Vec3::new(-0.1, 0.0, 0.0)), cuboid(0.1, 0.05, 0.2)),
        ])
        .unwrap(),
    ];
    for (i, shape) in shapes.iter().enumerate() {
        let body = Body::dynamic(shape.clone()).at(0.6 * i as f64 - 2.1, 1.0, 0.0);
        let spin = Vec3::new(2.0, 5.0 * (i as f64 - 3.0), 3.0);
        world.add_body(body.moving(Vec3::Y * 3.0).spinning(spin)).unwrap();
    }
    world.add_body(floor()).unwrap();
    let sheet = cuboid(2.4, 0.01, 0.3);
    let rain = Emitter { gravity_scale: 1.5, ..Emitter::surface(sheet, 20_000.0, 6.0) };
    let rain = rain.at(0.0, 3.0, 0.0).radius(0.004).life(0.8);
    let id = world.add_emitter(rain).unwrap();
    for _ in 0..60 {
        world.step(FRAME).unwrap();
        let bodies: Vec<_> = world.bodies().collect();
        for &x in &world.stream(id).unwrap().particles.x {
            for &body in &bodies {
                let (pose, shape) = (world.pose(body).unwrap(), &world.body(body).unwrap().shape);
                let local = pose.rotation.inverse() * (x - pose.translation);
                let found = thirdlaw::collide::deformable::signed_distance(shape, local, 0.01);
                let depth = found.map_or(0.0, |s| 0.004 - s.distance);
                assert!(depth < 1e-5, "{depth} m deep in {body}");
            }
        }
    }
}

/// Coulomb's law on an incline, cases C1: sliding at g (sin − μ cos), sticking above tan.
#[test]
fn particles_slide_down_an_incline_like_blocks() {
    for (angle, friction) in [(30.0_f64, 0.3), (30.0, 0.0), (26.565, 0.6)] {
        let angle = angle.to_radians();
        let mut world = earth();
        let normal = Vec3::new(angle.sin(), angle.cos(), 0.0);
        let slope = Body::fixed(Shape::half_space(normal).unwrap()).friction(friction);
        world.add_body(slope).unwrap();
        let drop = Emitter::point(60.0, 0.0).radius(0.01).material(friction, 0.0).life(9.0);
        let at = normal * 0.010001;
        let drop = drop.at(at.x, at.y, at.z).during(0.0, 1.5 * FRAME);
        let id = world.add_emitter(drop).unwrap();
        run(&mut world, 0.1, FRAME);
        assert_eq!(world.stream(id).unwrap().len(), 1);
        let before = world.stream(id).unwrap().particles.v[0];
        run(&mut world, 0.5, FRAME);
        let change = (world.stream(id).unwrap().particles.v[0] - before).length() / 0.5;
        let wanted = (9.81 * (angle.sin() - friction * angle.cos())).max(0.0);
        assert!((change - wanted).abs() < 1e-6, "{change} {wanted}");
    }
}

/// Falling through air: the exact velocity for linear drag at any time, and the terminal velocity
/// for quadratic drag; wind carries along.
#[test]
fn drag_gives_the_analytic_velocities() {
    let drop = |linear: f64, square: f64, wind: Vec3| {
        let mut world = earth();
        let drop = Emitter::point(60.0, 0.0).during(0.0, 1.5 * FRAME).life(100.0);
        let drop = Emitter { drag: linear, drag_quadratic: square, wind: Some(wind), ..drop };
        let id = world.add_emitter(drop).unwrap();
        (world, id)
    };
    let (mut world, id) = drop(2.0, 0.0, Vec3::X * 3.0);
    run(&mut world, 1.0, FRAME);
    let (v, age) = (world.stream(id).unwrap().particles.v[0], world.stream(id).unwrap().age[0]);
    let decayed = 1.0 - (-2.0 * age).exp();
    assert!((v.x - 3.0 * decayed).abs() < 1e-9, "{v}");
    assert!((v.y + 9.81 / 2.0 * decayed).abs() < 1e-9, "{v}");
    let (mut world, id) = drop(0.0, 0.4, Vec3::ZERO);
    run(&mut world, 20.0, FRAME);
    let terminal = (9.81_f64 / 0.4).sqrt();
    assert!((world.stream(id).unwrap().particles.v[0].y + terminal).abs() < 1e-9);
}

/// Rate and life: so many per second in the mean, never more alive than rate × life, evenly spaced.
#[test]
fn births_follow_the_rate_whatever_the_step() {
    for dt in [1.0 / 60.0, 0.00371, 0.1] {
        let mut world = world(0.0);
        let id = world.add_emitter(Emitter::point(333.3, 2.0).life(0.5)).unwrap();
        let mut born = 0;
        for _ in 0..(3.0 / dt) as usize {
            born += world.step(dt).unwrap().emitted;
        }
        assert_eq!(born, (333.3 * world.time() + 1e-9) as u32);
        let stream = world.stream(id).unwrap();
        assert!((stream.len() as f64 - 333.3 * 0.5).abs() < 2.0 + 333.3 * dt, "{}", stream.len());
        let mut y: Vec<f64> = stream.particles.x.iter().map(|x| x.y).collect();
        y.sort_by(f64::total_cmp);
        for pair in y.windows(2) {
            assert!((pair[1] - pair[0] - 2.0 / 333.3).abs() < 1e-9);
        }
    }
}

/// A rocket: what is thrown out pushes back.
#[test]
fn an_emitter_on_a_body_pushes_it_back() {
    let mut world = world(0.0);
    let body = world.add_body(Body::dynamic(cuboid(0.2, 0.2, 0.2)).mass(2.0)).unwrap();
    let nozzle = Emitter::point(500.0, 20.0).on(body).toward(-Vec3::Y).at(0.0, -0.21, 0.0);
    world.add_emitter(nozzle.mass(1e-3).life(9.0)).unwrap();
    run(&mut world, 1.0 + FRAME, FRAME);
    let speed = world.velocity(body).unwrap().linear;
    // 500 × 1 g × 20 m/s = 10 N on 2 kg
    assert!((speed - Vec3::Y * 5.0).length() < 0.02, "{speed}");
}

/// A falling cloth and a rain from below: the cloth is slowed, no drop comes out above.
#[test]
fn cloth_is_pushed_by_what_bounces_off_it() {
    let mut world = world(0.0);
    let mut settings = *world.settings();
    settings.cloth.air = false;
    settings.cloth.tolerance = 1e-10;
    world.set_settings(settings).unwrap();
    let mesh = ClothMesh::grid(16, 16, [1.0, 1.0]).unwrap();
    let cloth = world.add_cloth(Cloth::new(mesh)).unwrap();
    let middle = |world: &World| {
        let x = world.vertices(cloth).unwrap();
        x.iter().fold(Vec3::ZERO, |sum, x| sum + *x) / x.len() as f64
    };
    let at = middle(&world);
    let jet = Emitter::disc(0.2, 3000.0, 5.0).mass(1e-4).at(at.x, at.y - 1.0, at.z);
    let id = world.add_emitter(jet.life(50.0).during(0.0, 0.2)).unwrap();
    run(&mut world, 0.21, FRAME);
    let start = measure::momentum(&world).0;
    assert!((start.y - 600.0 * 1e-4 * 5.0).abs() < 1e-9, "{start}");
    run(&mut world, 0.6, FRAME);
    let end = measure::momentum(&world).0;
    // as well as the iteration is told to solve; the books of bounces themselves are exact
    assert!((end - start).length() < 1e-5 * start.length(), "{end} {start}");
    let up = world.vertex_velocities(cloth).unwrap();
    let speed = up.iter().map(|v| v.y).sum::<f64>() / up.len() as f64;
    assert!(speed > 0.02, "{speed}");
    // every drop that has met the cloth is still below it
    let (cloth_x, stream) = (world.vertices(cloth).unwrap(), world.stream(id).unwrap());
    let top = cloth_x.iter().map(|x| x.y).fold(f64::NEG_INFINITY, f64::max);
    let above = stream.particles.x.iter().filter(|x| x.y > top).count();
    assert_eq!(above, 0);
}

/// A sheet of 36 g before a wall, and a jet of heavy particles that presses it against it: particles that
/// are caught between the two and have no room are taken out, and what they had must not throw vertices of
/// a gram at many times their energy.
#[test]
fn particles_caught_between_cloth_and_a_wall_make_no_energy() {
    let mut settings = thirdlaw::Settings { gravity: Vec3::ZERO, ..Default::default() };
    settings.cloth.air = false;
    let mut world = World::new(settings).unwrap();
    world.add_body(Body::fixed(cuboid(0.2, 1.0, 1.0)).at(0.7, 0.0, 0.0)).unwrap();
    let upright = Quat::from_axis_angle(Vec3::Z, 0.5 * std::f64::consts::PI);
    let mesh = ClothMesh::grid(9, 9, [0.6, 0.6]).unwrap();
    let fabric = thirdlaw::Fabric { density: 0.1, ..thirdlaw::Fabric::cotton() };
    let pose = Pose::from_parts(Vec3::new(0.45, 0.0, 0.0), upright);
    world.add_cloth(Cloth::new(mesh).fabric(fabric).pose(pose)).unwrap();
    let (mass, rate, speed) = (0.02, 1500.0, 30.0);
    let jet = Emitter::disc(0.15, rate, speed).toward(Vec3::X).mass(mass).life(9.0).radius(0.01);
    let between = Emitter::point(300.0, 0.5).toward(Vec3::Y).mass(mass).life(9.0).radius(0.01);
    world.add_emitter(jet.material(0.3, 0.3).seed(3)).unwrap();
    world.add_emitter(between.at(0.475, -0.1, 0.0).spread(0.3).seed(4)).unwrap();
    let frame = FRAME;
    let mut crushed = 0;
    for step in 1..=20 {
        crushed += world.step(frame).unwrap().crushed;
        let emitted = rate * frame * f64::from(step) * 0.5 * mass * speed * speed;
        let kinetic = measure::energy(&world).kinetic;
        assert!(kinetic < 1.01 * emitted + 1.0, "step {step}: {kinetic} of {emitted} J");
    }
    assert!(crushed > 0, "none was caught");
}
