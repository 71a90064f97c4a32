//! What materials ask of contacts beside friction and restitution, against known answers.

use crate::{cuboid, earth, floor, sphere, world};
use thirdlaw::{Body, BodyId, Material, Vec3, World, measure};

const FRAME: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

fn with(material: Material, mut body: Body) -> Body {
    body.material = material;
    body
}

fn sum(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

/// Steps, and checks that energy does not grow but for what the integrator itself puts in.
fn fall(world: &mut World, frames: usize) {
    let mut before = sum(world);
    let mass: f64 = world.model().bodies.iter().map(|b| b.mass).filter(|m| m.is_finite()).sum();
    for i in 0..frames {
        world.step(FRAME).unwrap();
        let now = sum(world);
        assert!(now < before + 1e-6 * mass, "frame {i}: energy grows by {:.3e}", now - before);
        before = now;
    }
}

fn x(world: &World, id: BodyId) -> f64 {
    world.pose(id).unwrap().translation.x
}

#[test]
fn a_rolling_ball_stops_after_the_way_that_rolling_friction_leaves_it() {
    for (radius, lever) in [(0.2, 0.01), (0.2, 0.002), (0.02, 0.001)] {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        let rough = Material { rolling_friction: lever, friction: 0.8, ..Material::default() };
        let speed = (4.0 * G * radius).sqrt() * (lever / radius).sqrt() * 2.0;
        let ball = Body::dynamic(sphere(radius)).at(0.0, radius, 0.0).moving(speed * Vec3::X);
        let ball = ball.spinning(-speed / radius * Vec3::Z);
        let id = world.add_body(with(rough, ball)).unwrap();
        // m a = F − ..., I α = ρN − F r, I = 2/5 m r²
        let slowing = 5.0 / 7.0 * lever * G / radius;
        let (way, time) = (0.5 * speed * speed / slowing, speed / slowing);
        fall(&mut world, (1.3 * time / FRAME) as usize + 10);
        let found = x(&world, id);
        println!("ball of {radius} m, lever {lever} m: rolls {found:.4} m, known {way:.4}");
        assert!((found - way).abs() < 0.01 * way, "{found} instead of {way}");
        let rest = world.velocity(id).unwrap().linear.length();
        assert!(rest < 1e-4 * speed, "still rolls at {rest}");
    }
}

#[test]
fn a_ball_on_a_slope_stays_while_it_is_flatter_than_its_lever_over_its_radius() {
    for (slope, stays) in [(0.045_f64, true), (0.055, false)] {
        let mut world = earth();
        let mut settings = *world.settings();
        settings.gravity = G * Vec3::new(slope.sin(), -slope.cos(), 0.0);
        settings.sleeping = false;
        world.set_settings(settings).unwrap();
        world.add_body(floor()).unwrap();
        let rough = Material { rolling_friction: 0.01, ..Material::default() };
        let ball = Body::dynamic(sphere(0.2)).at(0.0, 0.2, 0.0);
        let id = world.add_body(with(rough, ball)).unwrap();
        for _ in 0..240 {
            world.step(FRAME).unwrap();
        }
        let way = x(&world, id);
        let slope_free = 5.0 / 7.0 * G * (slope.sin() - 0.05 * slope.cos());
        let known = if stays { 0.0 } else { 0.5 * slope_free * 16.0 };
        println!("ball on a slope of {slope}: goes {way:.5} m, known {known:.5}");
        assert!((way - known).abs() < 1e-3 + 0.02 * known, "{slope}: {way} instead of {known}");
    }
}

#[test]
fn a_spinning_ball_stops_by_torsional_friction_when_it_should() {
    let (radius, lever, spin) = (0.2, 0.005, 10.0);
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let rough = Material { torsional_friction: lever, ..Material::default() };
    let ball = Body::dynamic(sphere(radius)).at(0.0, radius, 0.0).spinning(spin * Vec3::Y);
    let id = world.add_body(with(rough, ball)).unwrap();
    let slowing = lever * G / (0.4 * radius * radius);
    let time = spin / slowing;
    let half = (0.5 * time / FRAME).round() as usize;
    fall(&mut world, half);
    let found = world.velocity(id).unwrap().angular.y;
    let known = spin - slowing * half as f64 * FRAME;
    println!("spin after half the time: {found:.5} rad/s, known {known:.5}");
    assert!((found - known).abs() < 0.01 * spin, "{found} instead of {known}");
    fall(&mut world, half + 4);
    assert!(world.velocity(id).unwrap().angular.length() < 1e-6);
}

#[test]
fn a_block_on_a_belt_is_carried_along() {
    let mut world = earth();
    let run = Material { surface_velocity: 2.0 * Vec3::X, ..Material::default() };
    world.add_body(with(run, Body::fixed(cuboid(20.0, 0.25, 1.0)).at(0.0, -0.25, 0.0))).unwrap();
    let block = Body::dynamic(cuboid(0.25, 0.25, 0.25)).at(0.0, 0.25, 0.0);
    let id = world.add_body(block).unwrap();
    for i in 1..=120 {
        world.step(FRAME).unwrap();
        let speed = world.velocity(id).unwrap().linear.x;
        let known = (0.5 * G * f64::from(i) * FRAME).min(2.0);
        assert!((speed - known).abs() < 0.03, "frame {i}: {speed} instead of {known}");
    }
    println!("block on a belt at 2 m/s: {:.6} m/s", world.velocity(id).unwrap().linear.x);
    // nothing on a belt that runs sleeps
    let before = x(&world, id);
    for _ in 0..60 {
        world.step(FRAME).unwrap();
    }
    assert!((x(&world, id) - before - 2.0).abs() < 1e-3);
}

#[test]
fn a_belt_that_moves_itself_carries_at_the_sum() {
    let mut world = earth();
    let run = Material { surface_velocity: Vec3::Z, ..Material::default() };
    let belt = Body::kinematic(cuboid(20.0, 0.25, 20.0)).at(0.0, -0.25, 0.0).moving(Vec3::X);
    world.add_body(with(run, belt)).unwrap();
    let id = world.add_body(Body::dynamic(cuboid(0.25, 0.25, 0.25)).at(0.0, 0.25, 0.0)).unwrap();
    for _ in 0..120 {
        world.step(FRAME).unwrap();
    }
    let v = world.velocity(id).unwrap().linear;
    assert!(v.distance(Vec3::new(1.0, 0.0, 1.0)) < 1e-3, "{v}");
}

/// How far a block goes in four seconds on a slope of this tangent, and how fast it is at the end, if it
/// starts at `speed`.
fn on_slope(tangent: f64, speed: f64) -> (f64, f64) {
    let slope = tangent.atan();
    let mut world = world(G);
    let mut settings = *world.settings();
    settings.gravity = G * Vec3::new(slope.sin(), -slope.cos(), 0.0);
    settings.sleeping = false;
    world.set_settings(settings).unwrap();
    world.add_body(floor().friction(0.3)).unwrap();
    let material = Material { friction: 0.3, static_friction: Some(0.5), ..Material::default() };
    let floor_too = Body::dynamic(cuboid(0.25, 0.1, 0.25)).at(0.0, 0.1, 0.0);
    let id = world.add_body(with(material, floor_too).moving(speed * Vec3::X)).unwrap();
    for _ in 0..240 {
        world.step(FRAME).unwrap();
    }
    (x(&world, id), world.velocity(id).unwrap().linear.x)
}

#[test]
fn what_sticks_is_held_by_static_friction_and_what_slides_by_the_other() {
    // μ_s is √(.3·.5) = .387 with a floor of .3 that says nothing of sticking
    let (held, speed) = on_slope(0.36, 0.0);
    println!("at rest on tan φ = .36: goes {held:.2e} m");
    // before the first substep nobody knows what presses: it may fall through that one
    let once = G * (FRAME / 8.0).powi(2);
    assert!(held.abs() < once && speed.abs() < 1e-9, "{held} {speed}");
    let (_, speed) = on_slope(0.36, 0.5);
    let cos = 0.36_f64.atan().cos();
    let known = 0.5 + 4.0 * G * cos * (0.36 - 0.3);
    println!("sliding on tan φ = .36: {speed:.4} m/s, known {known:.4}");
    assert!((speed - known).abs() < 0.02 * known);
    let (_, speed) = on_slope(0.4, 0.0);
    let known = 4.0 * G * 0.4_f64.atan().cos() * (0.4 - 0.3);
    println!("at rest on tan φ = .40: {speed:.4} m/s, known {known:.4}");
    assert!((speed - known).abs() < 0.03 * known);
    // flatter than the sliding friction: it stops, and stays
    let (way, speed) = on_slope(0.2, 1.0);
    let known = 0.5 / (G * 0.2_f64.atan().cos() * 0.1);
    println!("stopping on tan φ = .20: {way:.4} m, known {known:.4}");
    assert!((way - known).abs() < 0.02 * known && speed.abs() < 1e-9, "{way} {speed}");
}

#[test]
fn what_comes_more_slowly_than_the_threshold_does_not_bounce() {
    for (threshold, bounces) in [(Some(0.5), true), (Some(1.5), false), (None, true)] {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        let height = 1.0 / (2.0 * G);
        let material =
            Material { restitution: 0.8, restitution_threshold: threshold, ..Material::default() };
        let ball = Body::dynamic(sphere(0.1)).at(0.0, 0.1 + height, 0.0);
        let id = world.add_body(with(material, ball)).unwrap();
        let mut fastest = 0.0_f64;
        for _ in 0..30 {
            world.step(FRAME).unwrap();
            fastest = fastest.max(world.velocity(id).unwrap().linear.y);
        }
        assert_eq!(fastest > 0.5, bounces, "{threshold:?}: leaves at {fastest}");
    }
}

#[test]
fn impossible_materials_are_refused_by_name() {
    let mut world = earth();
    let mut refused = |material: Material| {
        let body = with(material, Body::dynamic(sphere(0.1)));
        world.add_body(body).unwrap_err().to_string()
    };
    let plain = Material::default();
    assert!(refused(Material { static_friction: Some(0.1), ..plain }).contains("static_friction"));
    assert!(refused(Material { rolling_friction: -1.0, ..plain }).contains("rolling_friction"));
    let endless = Vec3::new(f64::NAN, 0.0, 0.0);
    assert!(refused(Material { surface_velocity: endless, ..plain }).contains("surface_velocity"));
}
