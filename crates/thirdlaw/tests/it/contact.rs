//! Contact and friction: the known answers of textbook mechanics, at the default settings.

use crate::{cuboid, earth, floor, run, sphere, world};
use thirdlaw::{Body, BodyId, Material, Settings, Shape, Vec3, World};

const FRAME: f64 = 1.0 / 60.0;

/// A block on a plane inclined by `degrees` about z; returns the world, the block and the direction
/// down the slope.
fn incline(degrees: f64, friction: f64, g: f64) -> (World, BodyId, Vec3) {
    let mut world = world(g);
    let angle = degrees.to_radians();
    let normal = Vec3::new(angle.sin(), angle.cos(), 0.0);
    let plane = Shape::half_space(normal).unwrap();
    world.add_body(Body::fixed(plane).friction(friction)).unwrap();
    let center = 0.25 * normal;
    let block = Body::dynamic(cuboid(0.5, 0.25, 0.5))
        .at(center.x, center.y, center.z)
        .rotated(Vec3::new(0.0, 0.0, -angle))
        .friction(friction);
    let id = world.add_body(block).unwrap();
    (world, id, Vec3::new(angle.cos(), -angle.sin(), 0.0))
}

fn down_speed(world: &World, id: BodyId, down: Vec3) -> f64 {
    world.velocity(id).unwrap().linear.dot(down)
}

#[test]
fn c1_block_sticks_up_to_the_friction_angle() {
    let (mut world, id, down) = incline(26.565, 0.5, 9.8);
    run(&mut world, 1.0, FRAME);
    let start = world.pose(id).unwrap().translation;
    run(&mut world, 2.0, FRAME);
    let creep = (world.pose(id).unwrap().translation - start).dot(down) / 2.0;
    assert!(creep.abs() <= 1e-5, "creeps at {creep} m/s");
}

#[test]
fn c1_block_slides_at_the_known_acceleration() {
    for (degrees, friction, g, expected) in
        [(26.565, 0.49, 9.8, 0.08764), (30.0, 0.3, 9.81, 2.356287)]
    {
        let (mut world, id, down) = incline(degrees, friction, g);
        run(&mut world, 0.5, FRAME);
        let before = down_speed(&world, id, down);
        run(&mut world, 1.0, FRAME);
        let acceleration = down_speed(&world, id, down) - before;
        let error = (acceleration / expected - 1.0).abs();
        assert!(error < 2e-3, "{degrees}°, μ = {friction}: {acceleration}, not {expected}");
    }
}

#[test]
fn c2_brick_stops_after_the_same_way_in_every_direction() {
    for degrees in [0.0_f64, 30.0, 45.0, 60.0] {
        let mut world = earth();
        world.add_body(floor().friction(0.4)).unwrap();
        let (s, c) = degrees.to_radians().sin_cos();
        let brick = Body::dynamic(cuboid(0.2, 0.05, 0.1))
            .at(0.0, 0.05, 0.0)
            .friction(0.4)
            .moving(3.0 * Vec3::new(c, 0.0, s));
        let id = world.add_body(brick).unwrap();
        let mut stop = 0.0;
        for step in 1..=90 {
            world.step(FRAME).unwrap();
            if stop == 0.0 && world.velocity(id).unwrap().linear.length() < 1e-3 {
                stop = f64::from(step) * FRAME;
            }
        }
        let p = world.pose(id).unwrap().translation;
        let way = p.x.hypot(p.z);
        assert!((way / 1.146789 - 1.0).abs() < 0.01, "{degrees}°: stops after {way} m");
        assert!((stop - 0.764526).abs() < 1.5 * FRAME, "{degrees}°: stops after {stop} s");
        assert!((p.z.atan2(p.x).to_degrees() - degrees).abs() < 0.1, "{degrees}°: veers off");
    }
}

#[test]
fn c3_sphere_slips_then_rolls() {
    let mut world = earth();
    world.add_body(floor().friction(0.2)).unwrap();
    let ball = Body::dynamic(sphere(0.5)).at(0.0, 0.5, 0.0).friction(0.2).moving(5.0 * Vec3::X);
    let id = world.add_body(ball).unwrap();
    let mut rolls = 0.0;
    for step in 1..=120 {
        world.step(FRAME).unwrap();
        let v = world.velocity(id).unwrap();
        if rolls == 0.0 && (v.linear.x + 0.5 * v.angular.z).abs() < 1e-3 {
            rolls = f64::from(step) * FRAME;
        }
    }
    let v = world.velocity(id).unwrap();
    assert!((v.linear.x / 3.571429 - 1.0).abs() < 1e-3, "rolls at {}", v.linear.x);
    // what rests overlaps by a tenth of a millimetre, and rolls on that much less of a radius
    assert!((v.linear.x + 0.5 * v.angular.z).abs() < 1e-3, "still slips");
    assert!((rolls - 0.728120).abs() < 1.5 * FRAME, "rolls from {rolls} s");
}

#[test]
fn c7_ball_bounces_to_the_square_of_its_restitution() {
    let peaks = |dt: f64| {
        let mut world = earth();
        world.add_body(floor().restitution(0.8)).unwrap();
        let ball = Body::dynamic(sphere(0.1)).at(0.0, 1.1, 0.0).restitution(0.8);
        let id = world.add_body(ball).unwrap();
        let (mut peaks, mut rising, mut last) = (Vec::new(), false, 1.0);
        let (mut rest, mut t) = (0.0, 0.0);
        while t < 6.0 {
            world.step(dt).unwrap();
            t += dt;
            let y = world.pose(id).unwrap().translation.y - 0.1;
            if rising && y < last {
                peaks.push(last);
            }
            rising = y > last;
            last = y;
            if y > 1e-3 {
                rest = t;
            }
        }
        (peaks, rest)
    };
    let (peaks, rest) = peaks(FRAME);
    for (n, peak) in peaks.iter().take(4).enumerate() {
        let expected = 0.64_f64.powi(n as i32 + 1);
        assert!((peak / expected - 1.0).abs() < 0.03, "peak {n}: {peak}, not {expected}");
    }
    assert!((rest / 4.0637 - 1.0).abs() < 0.05, "at rest after {rest} s");
}

#[test]
fn c7_inelastic_ball_never_bounces() {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let id = world.add_body(Body::dynamic(sphere(0.1)).at(0.0, 1.1, 0.0)).unwrap();
    let mut landed = false;
    for _ in 0..120 {
        world.step(FRAME).unwrap();
        let gap = world.pose(id).unwrap().translation.y - 0.1;
        landed |= gap < 1e-3;
        assert!(!landed || gap < 1e-3, "bounces to {gap}");
        assert!(gap > -1e-3, "sinks to {gap}");
    }
    assert!(landed);
}

#[test]
fn c9_oblique_impact_obeys_newton_and_coulomb() {
    for (v_t, expected_v, expected_rim) in [(3.0, 2.142857, 2.142857), (6.0, 4.92, 2.7)] {
        let mut world = world(0.0);
        world.add_body(floor().friction(0.3).restitution(0.8)).unwrap();
        let ball = Body::dynamic(sphere(0.5))
            .at(0.0, 0.7, 0.0)
            .friction(0.3)
            .restitution(0.8)
            .moving(Vec3::new(v_t, -2.0, 0.0));
        let id = world.add_body(ball).unwrap();
        run(&mut world, 0.5, FRAME);
        let v = world.velocity(id).unwrap();
        assert!((v.linear.y - 1.6).abs() < 1e-6, "leaves at {}", v.linear.y);
        assert!((v.linear.x - expected_v).abs() < 1e-5, "v_t = {v_t}: {}", v.linear.x);
        assert!((-v.angular.z * 0.5 - expected_rim).abs() < 1e-5, "ωR = {}", -v.angular.z * 0.5);
    }
}

/// Two cards leaning on each other, `degrees` from the vertical.
fn card_tent(friction: f64, degrees: f64) -> f64 {
    let mut world = earth();
    world.add_body(floor().friction(friction)).unwrap();
    let (half_height, half_thickness) = (0.5, 0.01);
    let (s, c) = degrees.to_radians().sin_cos();
    // the inner upper edges meet at x = 0, the outer lower edges stand on the floor
    let x = half_height * s + half_thickness * c;
    let y = half_height * c + half_thickness * s;
    let mut ids = Vec::new();
    for side in [-1.0, 1.0] {
        let card = Body::dynamic(cuboid(half_thickness, half_height, 0.3))
            .at(side * x, y, 0.0)
            .rotated(Vec3::new(0.0, 0.0, side * degrees.to_radians()))
            .friction(friction);
        ids.push(world.add_body(card).unwrap());
    }
    let start = world.pose(ids[0]).unwrap().translation.y;
    run(&mut world, 5.0, FRAME);
    start - world.pose(ids[0]).unwrap().translation.y
}

#[test]
fn c10_card_tent_stands_above_the_limit_and_falls_below() {
    let stands = card_tent(0.25, 25.0);
    assert!(stands < 0.01, "sinks by {stands} at μ = 0.25");
    let falls = card_tent(0.22, 25.0);
    assert!(falls > 0.2, "sinks by {falls} at μ = 0.22");
}

/// Five blocks of length 1, each pushed out by `share` of the harmonic limit; the top block's drop.
fn overhang(share: f64) -> f64 {
    let mut world = earth();
    let table = Body::fixed(cuboid(2.0, 0.5, 1.0)).at(-2.0, -0.5, 0.0);
    world.add_body(table).unwrap();
    let limits = [0.5, 0.75, 0.9167, 1.0417, 1.1417];
    let mut top = None;
    for level in 0..5 {
        // the lowest of five hangs over by 1/10, the next 1/8 further, …
        let reach: f64 = (5 - level..=5).map(|k| 0.5 / k as f64).sum();
        let right = share * reach;
        let y = 0.1 + 0.2 * level as f64;
        let block = Body::dynamic(cuboid(0.5, 0.1, 0.25)).at(right - 0.5, y, 0.0);
        top = Some(world.add_body(block).unwrap());
        if level == 4 {
            assert!((reach - limits[4]).abs() < 1e-4);
        }
    }
    let top = top.unwrap();
    let start = world.pose(top).unwrap().translation.y;
    run(&mut world, 6.0, FRAME);
    start - world.pose(top).unwrap().translation.y
}

#[test]
fn c12_harmonic_overhang_stands_at_99_percent_and_falls_at_101() {
    let stands = overhang(0.99);
    assert!(stands < 0.01, "drops by {stands} at 99 %");
    let falls = overhang(1.01);
    assert!(falls > 0.1, "drops by {falls} at 101 %");
}

#[test]
fn materials_combine_by_the_stronger_rule() {
    use thirdlaw::Combine;
    let material =
        |friction, friction_combine| Material { friction, friction_combine, ..Material::default() };
    let mut world = earth();
    let mut ground = floor();
    ground.material = material(0.1, Combine::GeometricMean);
    world.add_body(ground).unwrap();
    // the block's rule is the later one in the list: the larger friction holds, and it stops
    let mut block = Body::dynamic(cuboid(0.2, 0.1, 0.2)).at(0.0, 0.1, 0.0).moving(Vec3::X);
    block.material = material(0.9, Combine::Maximum);
    let id = world.add_body(block).unwrap();
    run(&mut world, 0.5, FRAME);
    let way = world.pose(id).unwrap().translation.x;
    let expected = 1.0 / (2.0 * 0.9 * 9.81);
    assert!((way / expected - 1.0).abs() < 0.05, "slides {way}, not {expected}");
}

/// Bodies at rest are solved without bounces; what strikes them makes them bounce all the same.
#[test]
fn what_has_long_been_at_rest_still_bounces_when_it_is_struck() {
    let e = 0.5;
    for kinematic in [true, false] {
        let mut world = earth();
        world.set_settings(Settings { sleeping: false, ..*world.settings() }).unwrap();
        world.add_body(floor().friction(0.0).restitution(e)).unwrap();
        let plain = |body: Body| body.friction(0.0).restitution(e);
        let ball = world.add_body(plain(Body::dynamic(sphere(0.5))).at(0.0, 0.5, 0.0)).unwrap();
        let striker = if kinematic {
            Body::kinematic(cuboid(0.5, 0.4, 0.5)).at(-3.0, 0.5, 0.0)
        } else {
            Body::dynamic(sphere(0.5)).at(-3.0, 0.5, 0.0)
        };
        world.add_body(plain(striker).moving(Vec3::X)).unwrap();
        run(&mut world, 3.0, FRAME);
        // the striker goes on at 1 m/s, or shares its momentum
        let gained = if kinematic { 1.0 + e } else { 0.5 * (1.0 + e) };
        let speed = world.velocity(ball).unwrap().linear.x;
        assert!((speed - gained).abs() < 1e-6, "kinematic {kinematic}: {speed}");
    }
}
