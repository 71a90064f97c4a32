//! Moving triangle meshes: solids that only their surfaces describe.

use crate::{cuboid, earth};
use thirdlaw::{Body, BodyId, Shape, Vec3, World, measure};

/// An L, drawn out along z; the outline is counter-clockwise.
fn angle_iron(size: f64, thickness: f64) -> Shape {
    let outline = [[-0.4, -0.4], [0.6, -0.4], [0.6, 0.0], [0.0, 0.0], [0.0, 0.6], [-0.4, 0.6]];
    let side = |z: f64| outline.map(|[x, y]| Vec3::new(size * x, size * y, z));
    let vertices: Vec<Vec3> =
        side(0.5 * thickness).into_iter().chain(side(-0.5 * thickness)).collect();
    let mut triangles = Vec::new();
    for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]] {
        triangles.push([a, b, c]);
        triangles.push([a + 6, c + 6, b + 6]);
    }
    for k in 0..6 {
        let next = (k + 1) % 6;
        triangles.push([k, k + 6, next]);
        triangles.push([next, k + 6, next + 6]);
    }
    Shape::mesh(&vertices, &triangles).unwrap()
}

/// Two triangles.
fn sheet(half: f64) -> Shape {
    let corner = |x: f64, z: f64| Vec3::new(half * x, 0.0, half * z);
    let corners = [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)];
    Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap()
}

fn total(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity
}

/// Twelve angle irons turned every way, some of which begin in the ground.
fn heap(ground: Body, lift: f64) -> (World, Vec<BodyId>) {
    let mut world = earth();
    world.add_body(ground).unwrap();
    let ids = (0..12).map(|i| {
        let f = f64::from(i);
        let turn = Vec3::new(0.7 * f, 1.3 - 0.4 * f, 0.2 * f * f);
        let body = Body::dynamic(angle_iron(1.0, 0.5)).mass(100.0).rotated(turn);
        let place = Vec3::new(
            1.6 * f64::from(i % 4),
            lift + 0.2 * f64::from(i / 4),
            1.6 * f64::from(i / 4),
        );
        world.add_body(body.at(place.x, place.y, place.z)).unwrap()
    });
    let ids = ids.collect();
    (world, ids)
}

#[test]
fn angle_irons_on_a_sheet_are_not_thrown() {
    println!(
        "known:  contacts that push only take energy; before: 600 times as much after two frames"
    );
    for lift in [0.3, 0.6, 1.0] {
        let slab = Body::fixed(cuboid(20.0, 0.5, 20.0)).at(0.0, -0.5, 0.0);
        for (name, ground) in [("sheet", Body::fixed(sheet(20.0))), ("slab", slab)] {
            let (mut world, ids) = heap(ground, lift);
            // overlaps at the start are lifted out: by their depth at most, a metre each
            let most = total(&world) + 1200.0 * 9.81;
            let mut highest: f64 = 0.0;
            for frame in 0..240 {
                world.step(1.0 / 60.0).unwrap();
                let now = total(&world);
                assert!(now < most, "{name}, lift {lift}, frame {frame}: {now} J of {most}");
                for &id in &ids {
                    highest = highest.max(world.center(id).unwrap().y);
                }
            }
            println!("after:  {name}, lift {lift}: highest {highest:.2} m");
            assert!(highest < 2.5, "{name}, lift {lift}: {highest} m high");
        }
    }
}

#[test]
fn a_plate_that_a_block_has_passed_pushes_it_to_one_side() {
    println!(
        "known:  out on the nearer side, at no more than push speed; before: to both sides at once"
    );
    for (offset, up) in [(0.3, true), (-0.3, false)] {
        let mut world = earth();
        let mut settings = *world.settings();
        settings.gravity = Vec3::ZERO;
        world.set_settings(settings).unwrap();
        let corner = |x: f64, y: f64, z: f64| Vec3::new(5.0 * x, 0.01 * y, 5.0 * z);
        let corners: Vec<Vec3> = (0..8)
            .map(|i| {
                let sign = |bit: i32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                corner(sign(0), sign(1), sign(2))
            })
            .collect();
        let faces: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles: Vec<[u32; 3]> =
            faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        world.add_body(Body::fixed(Shape::mesh(&corners, &triangles).unwrap())).unwrap();
        let block = Body::dynamic(cuboid(0.5, 0.5, 0.5)).mass(10.0).at(0.1, offset, -0.2);
        let block = world.add_body(block).unwrap();
        let mut fastest: f64 = 0.0;
        for _ in 0..300 {
            world.step(1.0 / 60.0).unwrap();
            fastest = fastest.max(world.velocity(block).unwrap().linear.length());
        }
        let y = world.center(block).unwrap().y;
        println!("after:  from {offset} m it ends at {y:.3} m, {fastest:.2} m/s at most");
        assert!(if up { y > 0.5 } else { y < -0.5 }, "from {offset}: {y}");
        assert!(fastest < 0.1, "from {offset}: {fastest} m/s");
    }
}
