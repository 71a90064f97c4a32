//! Small things move as large ones do: lengths times s, times √s, the frame with them.

use crate::{cuboid, earth, floor, sphere};
use thirdlaw::math::rotation_from_vector;
use thirdlaw::{Body, BodyId, Mass, Shape, Vec3, World, measure};

/// Sizes of bodies, m: times four from half a millimetre to eight metres, so that roots and products are exact
/// and all that differs is what does not scale.
const SIZES: [f64; 7] = [0.5 / 1024.0, 0.5 / 256.0, 0.5 / 64.0, 0.5 / 16.0, 0.125, 2.0, 8.0];

type Scene = fn(&mut World, f64) -> Vec<BodyId>;

/// Twenty-seven dice fall between walls, each turned another way.
fn dice(world: &mut World, s: f64) -> Vec<BodyId> {
    for (x, z, turned) in [(2.5, 0.0, 1.0), (-2.5, 0.0, 1.0), (0.0, 2.5, 0.0), (0.0, -2.5, 0.0)] {
        let wall = cuboid(s * (0.5 + 2.0 * (1.0 - turned)), 4.0 * s, s * (0.5 + 2.0 * turned));
        world.add_body(Body::fixed(wall).at(s * x, 4.0 * s, s * z)).unwrap();
    }
    let mut ids = Vec::new();
    for i in 0..27 {
        let [x, y, z] = [i % 3, i / 9, (i / 3) % 3].map(f64::from);
        let turn = Vec3::new(0.3 * f64::from(i), 0.5, -0.2 * f64::from(i));
        let die = Body::dynamic(cuboid(0.5 * s, 0.5 * s, 0.5 * s)).rotated(turn);
        let place = s * Vec3::new(1.1 * x - 1.1, 1.2 + 1.5 * y, 1.1 * z - 1.1);
        ids.push(world.add_body(die.at(place.x, place.y, place.z)).unwrap());
    }
    ids
}

/// A coin that rolls and leans.
fn coin(world: &mut World, s: f64) -> Vec<BodyId> {
    let turn = rotation_from_vector(0.25 * Vec3::Z)
        * rotation_from_vector(std::f64::consts::FRAC_PI_2 * Vec3::Z);
    let mut coin = Body::dynamic(Shape::cylinder(0.05 * s, s).unwrap()).friction(1.0);
    coin.pose.rotation = turn;
    coin.pose.translation = Vec3::new(0.0, 1.01 * s, 0.0);
    let speed = 2.0 * s.sqrt();
    coin.linear_velocity = speed * Vec3::NEG_Z;
    coin.angular_velocity = speed / s * Vec3::NEG_X;
    vec![world.add_body(coin).unwrap()]
}

/// Six boxes on each other, and a light ball on top.
fn stack(world: &mut World, s: f64) -> Vec<BodyId> {
    let boxes = (0..6).map(|i| {
        let f = f64::from(i);
        let place = s * Vec3::new(0.03 * f, 0.5 + 1.01 * f, -0.02 * f);
        Body::dynamic(cuboid(0.5 * s, 0.5 * s, 0.5 * s)).at(place.x, place.y, place.z)
    });
    let ball = Body::dynamic(sphere(0.25 * s)).restitution(0.5).at(0.1 * s, 7.0 * s, 0.0);
    let all = boxes.chain([ball]).collect::<Vec<_>>();
    all.into_iter().map(|body| world.add_body(body).unwrap()).collect()
}

/// A block that slides, and one that tips over.
fn blocks(world: &mut World, s: f64) -> Vec<BodyId> {
    let block = Body::dynamic(cuboid(s, 0.25 * s, 0.5 * s)).at(0.0, 0.25 * s, 0.0);
    let tall = Body::dynamic(cuboid(0.2 * s, s, 0.2 * s)).friction(1.0).at(0.0, s, 5.0 * s);
    [block, tall]
        .map(|body| world.add_body(body.moving(2.5 * s.sqrt() * Vec3::X)).unwrap())
        .to_vec()
}

/// Where bodies are after every tenth frame, over their size.
fn places(scene: Scene, size: f64) -> Vec<Vec<Vec3>> {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    let ids = scene(&mut world, size);
    let frame = (size / 0.5).sqrt() / 60.0;
    let mut out = Vec::new();
    for i in 1..=90 {
        world.step(frame).unwrap();
        if i % 10 == 0 {
            out.push(ids.iter().map(|&id| world.pose(id).unwrap().translation / size).collect());
        }
    }
    out
}

#[test]
fn scenes_of_any_size_move_as_those_half_a_metre_across() {
    let scenes: [(&str, Scene); 4] =
        [("dice", dice), ("coin", coin), ("stack", stack), ("blocks", blocks)];
    for (name, scene) in scenes {
        let reference = places(scene, 0.5);
        for size in SIZES {
            let (found, mut most) = (places(scene, size), 0.0_f64);
            for (i, (a, b)) in reference.iter().zip(&found).enumerate() {
                let off = a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
                assert!(off < 1e-3, "{name} of {size} m, frame {}: off by {off:.1e}", 10 * i + 10);
                most = most.max(off);
            }
            println!("{name} of {size} m: off by {most:.1e} of their size (known: 0)");
        }
    }
}

#[test]
fn settings_can_be_lengths_for_all_bodies() {
    let overlap = |reference_size: f64| {
        let mut world = earth();
        let mut settings = *world.settings();
        settings.contact.reference_size = reference_size;
        settings.contact.slop = 2e-4;
        settings.contact.skin = 0.0;
        world.set_settings(settings).unwrap();
        world.add_body(floor()).unwrap();
        let half = 0.005;
        let mut die = Body::dynamic(cuboid(half, half, half)).at(0.0, half - 3e-4, 0.0);
        die.mass = Mass::Total(1.0);
        world.add_body(die).unwrap();
        for _ in 0..120 {
            world.step(1.0 / 60.0).unwrap();
        }
        measure::penetration(&world)
    };
    let (scaled, given) = (overlap(0.5), overlap(0.0));
    // a fiftieth of slop and sag
    assert!(scaled < 0.02 * (2e-4 + 1e-3), "{scaled}");
    assert!((1.5e-4..2.5e-4).contains(&given), "{given}");
}

/// Parts of a step of `dt` seconds with a die on the ground.
fn parts(size: f64, dt: f64) -> u32 {
    let mut world = earth();
    let mut settings = *world.settings();
    settings.substeps = 1;
    world.set_settings(settings).unwrap();
    world.add_body(floor()).unwrap();
    let half = 0.5 * size;
    world.add_body(Body::dynamic(cuboid(half, half, half)).at(0.0, half, 0.0)).unwrap();
    world.step(1e-3 * dt).unwrap();
    world.step(dt).unwrap().substeps
}

#[test]
fn a_step_is_made_in_as_many_parts_as_small_things_are_quick() {
    println!("known:  contacts hold for half the time in which a die falls over, √(r/g)");
    assert_eq!([1.0, 0.05, 0.02].map(|size| parts(size, 1.0 / 60.0)), [1; 3]);
    assert!(parts(1e-3, 1.0 / 60.0) > 2);
    for size in [1e-3, 3e-3, 1e-2] {
        let [small, large] = [parts(size, 0.01), parts(4.0 * size, 0.02)];
        println!("after:  {size} m at 0.01 s: {small} parts, four times as large: {large}");
        assert_eq!(small, large, "{size}");
    }
    assert!(parts(1e-4, 0.1) <= 8, "bounded");
}

#[test]
fn millimetre_things_do_not_fall_through_the_ground_at_ordinary_frame_rates() {
    println!(
        "known:  no centre below the ground; before: up to half a millimetre, in the third frame"
    );
    for fps in [24.0, 30.0, 60.0] {
        for (i, size) in [5e-4, 1e-3, 2e-3, 5e-3, 2e-2].into_iter().enumerate() {
            let mut world = earth();
            world.add_body(floor()).unwrap();
            let shapes = [
                Shape::cylinder(size, 0.25 * size).unwrap(),
                cuboid(0.5 * size, size, 0.3 * size),
                Shape::capsule(0.7 * size, 0.3 * size).unwrap(),
            ];
            let ids = [0, 1, 2].map(|k: usize| {
                let turn = Vec3::new(1.0 + k as f64, 0.4 * i as f64, 0.7);
                let body = Body::dynamic(shapes[k].clone()).rotated(turn);
                let body = body.at(4.0 * size * k as f64, 1.5 * size, 0.0);
                world.add_body(body.moving(10.0 * size * Vec3::X)).unwrap()
            });
            let mut lowest = f64::INFINITY;
            for _ in 0..(fps as usize) {
                world.step(1.0 / fps).unwrap();
                for id in ids {
                    lowest = lowest.min(world.center(id).unwrap().y);
                }
            }
            println!("after:  {size} m at {fps}/s: lowest centre {:.2} of its size", lowest / size);
            assert!(lowest > 0.0, "{size} m at {fps}/s: {lowest}");
        }
    }
}
