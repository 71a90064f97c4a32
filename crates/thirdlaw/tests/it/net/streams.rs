//! Particles of emitters, at a size where they are shared out among threads.

use super::{Case, Subject, hold};
use crate::{cuboid, earth, floor, sphere};
use thirdlaw::{Body, Cloth, ClothMesh, Emitter, Pose, Vec3, World};

/// Twenty thousand particles a second among crates, on a cloth and off a turning wheel.
fn at_size() -> Subject {
    let mut world = earth();
    world.add_body(floor()).unwrap();
    for i in 0..30 {
        let (x, z) = (0.5 + 0.42 * (i / 9) as f64, 0.42 * ((i % 3) as f64 - 1.0));
        let body = Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(x, 0.2 + 0.4 * (i / 3 % 3) as f64, z);
        world.add_body(body.mass(1.0)).unwrap();
    }
    let wheel = Body::kinematic(cuboid(0.5, 0.05, 0.3)).at(-1.0, 0.9, 0.0);
    world.add_body(wheel.spinning(Vec3::new(0.0, 0.0, 6.0))).unwrap();
    let mesh = ClothMesh::grid(9, 9, [1.0, 1.0]).unwrap();
    let place = Pose::from_translation(Vec3::new(-1.5, 0.4, 0.0));
    world.add_cloth(Cloth::new(mesh).pin([0, 8, 72, 80]).pose(place)).unwrap();
    let jet = Emitter::disc(0.1, 10_000.0, 9.0).toward(Vec3::new(1.0, 0.3, 0.0)).spread(0.2);
    let jet = Emitter { life_spread: 0.5, drag: 0.1, drag_quadratic: 0.02, ..jet.life(0.8) };
    world.add_emitter(jet.clone().at(-0.4, 0.4, 0.0).seed(1)).unwrap();
    world.add_emitter(jet.toward(-Vec3::Y).at(-1.3, 2.0, 0.0).seed(2)).unwrap();
    world.into()
}

/// Particles between a falling plate and the floor: crushed, their momentum given away.
fn crushed() -> Subject {
    let mut world: World = earth();
    world.add_body(floor()).unwrap();
    let plate = Body::dynamic(cuboid(0.5, 0.05, 0.5)).at(0.0, 0.6, 0.0).mass(20.0);
    world.add_body(plate.moving(Vec3::new(0.0, -3.0, 0.0))).unwrap();
    world.add_body(Body::dynamic(sphere(0.1)).at(1.0, 0.1, 0.0)).unwrap();
    let spray = Emitter::disc(0.4, 2_000.0, 1.0).toward(Vec3::Y).spread(0.5).life(2.0);
    world.add_emitter(spray.at(0.0, 0.02, 0.0).radius(0.01).seed(3)).unwrap();
    world.into()
}

const CASES: &[Case] = &[
    Case { name: "streams/at-size", frames: 50, build: at_size },
    Case { name: "streams/crushed", frames: 50, build: crushed },
];

#[test]
fn streams_move_as_recorded() {
    hold(CASES);
}
