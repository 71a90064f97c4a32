//! Facts without a reference value: the same motion seen from elsewhere.

use crate::{cuboid, run, world};
use thirdlaw::math::rotation_from_vector;
use thirdlaw::{Body, BodyId, ContactSettings, Settings, Shape, Vec3, World, measure};

const FRAME: f64 = 1.0 / 60.0;

/// A slanted box and a ball thrown at a slab, placed and thrown by the given functions.
fn throw(
    place: impl Fn(Vec3) -> Vec3,
    turn: Vec3,
    boost: Vec3,
    gravity: Vec3,
    scale: f64,
) -> (World, Vec<BodyId>) {
    let mut settings = Settings { gravity: gravity * scale, ..Settings::default() };
    // times stay, so speeds go with lengths
    let ContactSettings { reference_size, slop, skin, sag, push_speed, bounce_speed, .. } =
        &mut settings.contact;
    for length in [reference_size, slop, skin, sag, push_speed, bounce_speed] {
        *length *= scale;
    }
    let mut world = World::new(settings).unwrap();
    let rotation = rotation_from_vector(turn);
    let mut ids = Vec::new();
    let at = |p: Vec3| place(scale * p);
    let mut slab = Body::kinematic(cuboid(4.0 * scale, 0.5 * scale, 4.0 * scale)).moving(boost);
    slab.pose = thirdlaw::Pose::from_parts(at(Vec3::new(0.0, -0.5, 0.0)), rotation);
    ids.push(world.add_body(slab).unwrap());
    let tilt = rotation * rotation_from_vector(Vec3::new(0.2, 0.4, 0.1));
    let velocity = |v: Vec3| boost + rotation * (scale * v);
    let mut block = Body::dynamic(cuboid(0.5 * scale, 0.3 * scale, 0.4 * scale));
    block.pose = thirdlaw::Pose::from_parts(at(Vec3::new(0.0, 1.0, 0.0)), tilt);
    block.linear_velocity = velocity(Vec3::new(1.0, -1.0, 0.5));
    ids.push(world.add_body(block).unwrap());
    let mut ball = Body::dynamic(Shape::sphere(0.3 * scale).unwrap()).restitution(0.5);
    ball.pose.translation = at(Vec3::new(-1.0, 1.5, 0.0));
    ball.linear_velocity = velocity(Vec3::new(2.0, 0.0, 0.0));
    ids.push(world.add_body(ball).unwrap());
    (world, ids)
}

const G: Vec3 = Vec3::new(0.0, -9.81, 0.0);

fn relative(world: &World, ids: &[BodyId]) -> Vec<Vec3> {
    let origin = world.pose(ids[0]).unwrap();
    let at = |&id: &BodyId| {
        origin.rotation.inverse() * (world.pose(id).unwrap().translation - origin.translation)
    };
    ids.iter().map(at).collect()
}

fn compare(mut moved: World, ids: &[BodyId], scale: f64, tolerance: f64) {
    let (mut still, still_ids) = throw(|p| p, Vec3::ZERO, Vec3::ZERO, G, 1.0);
    run(&mut still, 0.5, FRAME);
    run(&mut moved, 0.5, FRAME);
    let pairs = relative(&still, &still_ids).into_iter().zip(relative(&moved, ids));
    for (i, (a, b)) in pairs.enumerate() {
        let error = (scale * a).distance(b) / scale;
        assert!(error < tolerance, "body {i}: off by {error}");
    }
}

#[test]
fn a_moving_frame_sees_the_same_motion() {
    let (world, ids) = throw(|p| p, Vec3::ZERO, Vec3::new(7.0, 0.0, -3.0), G, 1.0);
    // a face that lands on four points with friction has several solutions; rounding picks one
    compare(world, &ids, 1.0, 1e-3);
}

#[test]
fn a_turned_scene_with_turned_gravity_moves_the_same() {
    let turn = Vec3::new(0.5, -0.8, 1.1);
    let rotation = rotation_from_vector(turn);
    let (world, ids) = throw(|p| rotation * p, turn, Vec3::ZERO, rotation * G, 1.0);
    compare(world, &ids, 1.0, 1e-3);
}

#[test]
fn contacts_between_free_bodies_keep_momentum() {
    let mut world = world(0.0);
    // position correction moves bodies outside the dynamics: Σ m·Δx vanishes, Σ x × mv need not
    let mut settings = *world.settings();
    settings.contact.stiffness = 0.0;
    settings.contact.iterations = 200;
    settings.contact.tolerance = 1e-13;
    world.set_settings(settings).unwrap();
    for i in 0..12 {
        let f = f64::from(i);
        let body = Body::dynamic(cuboid(0.3, 0.2, 0.25))
            .at(2.0 * (f * 2.1).sin(), 2.0 * (f * 1.3).cos(), 2.0 * (f * 0.7).sin())
            .rotated(Vec3::new(f, 0.3 * f, 0.1))
            .moving(Vec3::new(-(f * 2.1).sin(), -(f * 1.3).cos(), -(f * 0.7).sin()))
            .spinning(Vec3::new(0.0, f.cos(), 1.0))
            .density(200.0 * (1.0 + f));
        world.add_body(body).unwrap();
    }
    let (p0, l0) = measure::momentum(&world);
    run(&mut world, 3.0, FRAME);
    let (p1, l1) = measure::momentum(&world);
    let mass: f64 = world.model().bodies.iter().map(|b| b.mass).sum();
    assert!(p0.distance(p1) / mass < 1e-12, "momentum changes by {}", p0.distance(p1));
    assert!(l0.distance(l1) / mass < 1e-10, "angular momentum changes by {}", l0.distance(l1));
}

#[test]
fn a_scene_ten_times_as_large_under_ten_times_the_gravity_moves_alike() {
    // lengths and accelerations times ten: the same times
    let (world, ids) = throw(|p| p, Vec3::ZERO, Vec3::ZERO, G, 10.0);
    compare(world, &ids, 10.0, 5e-3);
}

#[test]
fn the_order_in_which_bodies_are_added_does_not_matter() {
    let stack = |order: [usize; 4]| {
        let mut world = crate::earth();
        let mut ids = [None; 4];
        for i in order {
            let body = match i {
                0 => crate::floor(),
                1 => Body::dynamic(cuboid(0.5, 0.5, 0.5)).at(0.0, 0.5, 0.0),
                2 => Body::dynamic(cuboid(0.4, 0.3, 0.4)).at(0.1, 1.3, 0.0),
                _ => Body::dynamic(Shape::sphere(0.2).unwrap())
                    .at(0.1, 2.5, 0.05)
                    .moving(Vec3::new(0.4, 0.0, 0.0)),
            };
            ids[i] = Some(world.add_body(body).unwrap());
        }
        run(&mut world, 1.0, FRAME);
        ids.map(|id| world.pose(id.unwrap()).unwrap().translation)
    };
    let reference = stack([0, 1, 2, 3]);
    for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]] {
        for (a, b) in reference.iter().zip(stack(order)) {
            assert!(a.distance(b) < 1e-3, "{order:?}: off by {}", a.distance(b));
        }
    }
}
