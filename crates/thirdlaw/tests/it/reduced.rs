//! The engine against an independent implementation in reduced coordinates.

// the study of joints uses the rest of it
#[allow(dead_code)]
#[path = "featherstone.rs"]
mod aba;

use crate::world;
use aba::{Bar, Chain};
use thirdlaw::{Body, Groups, Joint, Shape, Side, Vec3};

const FRAME: f64 = 1.0 / 60.0;

#[test]
fn chains_of_hinges_move_as_the_articulated_body_algorithm_says_to_second_order() {
    let half = Vec3::new(0.2, 0.05, 0.05);
    // I = m/3 (b² + c²) for half-extents a, b, c
    let square = half * half;
    let inertia = Vec3::new(square.y + square.z, square.z + square.x, square.x + square.y) / 3.0;
    let bar = Bar { length: 0.4, mass: 1.0, inertia };
    let lean = |i: usize| 0.5 * (i % 3) as f64;
    let axes: Vec<Vec3> = (0..6).map(|i| Vec3::new(0.0, lean(i).sin(), lean(i).cos())).collect();

    let mut chain = Chain::new(bar, axes.clone(), Vec3::new(0.0, -9.81, 0.0));
    (0..30 * 64).for_each(|_| chain.runge_kutta(FRAME / 64.0));
    let exact = chain.middles();
    assert!(chain.energy().abs() < 1e-9, "released at rest at the height of its hinge");
    assert!(exact.iter().any(|x| x.z.abs() > 0.05), "it leaves the plane: {exact:?}");

    let off = [4, 8, 16].map(|substeps| {
        let mut world = world(9.81);
        let mut settings = *world.settings();
        settings.substeps = substeps;
        settings.joints.enforcement = thirdlaw::Enforcement::Stabilized;
        world.set_settings(settings).unwrap();
        let (mut before, mut bodies) = (Side::World, Vec::new());
        for (i, &axis) in axes.iter().enumerate() {
            let x = 0.4 * i as f64;
            let mut body =
                Body::dynamic(Shape::cuboid(half).unwrap()).at(x + 0.2, 0.0, 0.0).mass(1.0);
            body.groups = Groups { member: 0, collides: 0 };
            let id = world.add_body(body).unwrap();
            let joint = Joint::hinge(before, id).at(x, 0.0, 0.0).axis(axis);
            world.add_joint(joint).unwrap();
            before = id.into();
            bodies.push(id);
        }
        crate::run(&mut world, 30.0 * FRAME, FRAME);
        let far = |(&id, x): (_, &Vec3)| world.center(id).unwrap().distance(*x);
        bodies.iter().zip(&exact).map(far).fold(0.0, f64::max)
    });
    for pair in off.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.8..2.3).contains(&order), "{order}: {off:?}");
    }
    assert!(off[1] < 1e-4, "{off:?}");
}
