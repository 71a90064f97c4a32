//! Cloth between bodies, pulled and pressed: whatever comes of it, no step makes energy out of nothing, and no
//! frame takes more than its work.

use crate::{cuboid, earth, floor};
use thirdlaw::{
    Body, Cloth, ClothMesh, Fabric, Hold, Keyframe, Keyframes, Pose, Quat, Shape, StepError, Vec3,
    World, measure,
};

fn total(world: &World) -> f64 {
    let energy = measure::energy(world);
    energy.kinetic + energy.gravity + energy.elastic
}

/// A sheet of 0.4 m that lies at this height.
fn sheet(side: usize, height: f64) -> Cloth {
    let mesh = ClothMesh::grid(side, side, [0.4, 0.4]).unwrap();
    Cloth::new(mesh).pose(Pose::from_parts(Vec3::new(0.0, height, 0.0), Quat::IDENTITY))
}

/// Steps until `end` seconds. What nothing drives never has more than a twentieth of `scale` (J) beyond the
/// least it had; what gives up says so, and leaves a state that is sound up to there.
fn never_rises(world: &mut World, (end, fps): (f64, f64), scale: f64, name: &str) {
    let mut least = total(world);
    while world.time() < end - 0.5 / fps {
        match world.step(1.0 / fps) {
            Ok(report) => assert!(report.cg_iterations < 90_000, "{name}: {report:?}"),
            Err(StepError::ClothUnsolved { .. }) => return,
            Err(other) => panic!("{name}: {other}"),
        }
        let now = total(world);
        let time = world.time();
        assert!(now < least + 0.05 * scale, "{name} at {time} s: {least} J became {now} J");
        least = least.min(now);
    }
}

#[test]
fn heavy_boxes_on_cloth_on_the_floor_make_no_energy() {
    for (mass, fps) in
        [(1.0, 60.0), (10.0, 30.0), (100.0, 30.0), (100.0, 60.0), (100.0, 240.0), (500.0, 60.0)]
    {
        let mut world = earth();
        world.add_body(floor()).unwrap();
        world.add_cloth(sheet(13, 0.0005).fabric(Fabric::cotton())).unwrap();
        let tilt = Quat::from_axis_angle(Vec3::new(1.0, 0.3, 0.5).normalize(), 0.35);
        let body = Body::dynamic(cuboid(0.08, 0.08, 0.08)).mass(mass);
        let place = Pose::from_parts(Vec3::new(0.01, 0.3, 0.007), tilt);
        world.add_body(Body { pose: place, ..body }).unwrap();
        let fall = mass * 9.81 * 0.2;
        never_rises(&mut world, (0.8, fps), fall, &format!("{mass} kg at {fps} frames/s"));
    }
}

/// What a cloth that is pulled at this speed may ever have: it and all that lies on it as fast as what pulls, and
/// the work of friction, which holds back no more than weight lets it.
#[test]
fn a_cloth_pulled_from_under_dishes_gets_no_more_than_it_is_given() {
    for (speed, fps) in [(1.0, 60.0), (3.0, 30.0), (3.0, 60.0), (3.0, 240.0), (6.0, 60.0)] {
        let mut world = earth();
        let table = Body::fixed(cuboid(0.8, 0.05, 0.5)).at(0.0, -0.05, 0.0).friction(0.3);
        world.add_body(table).unwrap();
        let dish = Shape::cylinder(0.015, 0.06).unwrap();
        for (x, z) in [(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)] {
            let dish = Body::dynamic(dish.clone()).mass(0.5).at(x, 0.0165, z).friction(0.3);
            world.add_body(dish).unwrap();
        }
        let side = 13_usize;
        let key = |time: f64, x: f64| {
            let position = Vec3::new(x, 0.0, 0.0);
            Keyframe { time, position, rotation: Quat::IDENTITY }
        };
        let gone = 0.1 + 0.6 / speed;
        let keys = vec![key(0.0, 0.0), key(0.1, 0.0), key(gone, 0.6), key(9.0, 0.6)];
        let edge = (0..side as u32).map(|row| row * side as u32 + side as u32 - 1);
        let cloth = sheet(side, 0.0006).fabric(Fabric::silk()).hold(edge, Hold::Path(keys));
        world.add_cloth(cloth).unwrap();
        let before = total(&world);
        let moving = 0.5 * 2.1 * speed * speed;
        let rubbing = 2.0 * 0.3 * 2.1 * 9.81 * 0.6;
        while world.time() < gone + 0.2 {
            match world.step(1.0 / fps) {
                Ok(report) => assert!(report.cg_iterations < 90_000, "{report:?}"),
                Err(StepError::ClothUnsolved { .. }) => break,
                Err(other) => panic!("{speed} m/s: {other}"),
            }
            let made = total(&world) - before;
            let time = world.time();
            let most = 1.5 * (moving + rubbing) + 1.0;
            assert!(made < most, "{speed} m/s, {fps} frames/s at {time} s: {made} J of {most}");
        }
    }
}

#[test]
fn cloth_squeezed_between_plates_gets_what_they_give() {
    // two plates close on a sheet by more than its thickness, and open again
    for fps in [30.0, 60.0, 240.0] {
        let mut world = earth();
        let plate = cuboid(0.1, 0.02, 0.1);
        for side in [-1.0, 1.0] {
            let at = |time: f64, gap: f64| {
                let position = Vec3::new(0.0, side * (0.02 + gap), 0.0);
                Keyframe { time, position, rotation: Quat::IDENTITY }
            };
            let keys = vec![at(0.0, 0.05), at(0.3, -0.002), at(0.5, -0.002), at(0.8, 0.05)];
            let motion = Keyframes { keys, ..Keyframes::default() };
            world.add_body(Body::kinematic(plate.clone()).keyframes(motion)).unwrap();
        }
        let cloth = sheet(13, 0.0).fabric(Fabric::cotton()).pin([0, 12, 156, 168]);
        world.add_cloth(cloth).unwrap();
        let mass: f64 = world.model().sheet.elements.mass.iter().sum();
        while world.time() < 0.9 {
            match world.step(1.0 / fps) {
                Ok(report) => assert!(report.cg_iterations < 90_000, "{report:?}"),
                Err(StepError::ClothUnsolved { .. }) => break,
                Err(other) => panic!("{fps} frames/s: {other}"),
            }
            // no more than the whole sheet lifted by its width and going at ten times the plates' speed
            let energy = measure::energy(&world);
            let most = mass * (9.81 * 0.4 + 0.5 * 2.0 * 2.0);
            let (time, kinetic) = (world.time(), energy.kinetic);
            assert!(kinetic < most, "{fps} frames/s at {time} s: {kinetic} J of {most}");
        }
    }
}
