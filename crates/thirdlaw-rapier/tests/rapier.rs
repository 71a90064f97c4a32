//! Rapier as a black box: bits, surfaces, cloth on its bodies.

use rapier3d::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector};
use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Tie};
use thirdlaw::simulator::{Simulator, Wrench};
use thirdlaw::{Body, Cloth, ClothMesh, Fabric, Mat3, Settings, Shape, Vec3, World};
use thirdlaw_rapier::{RapierWorld, rapier3d};

const DT: f64 = 1.0 / 60.0;

/// A pile of boxes and balls on a floor.
fn pile() -> RapierWorld {
    let mut world = PhysicsWorld::default();
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(5.0, 0.1, 5.0));
    for i in 0..12 {
        let at = Vector::new(0.03 * i as f32, 0.4 + 0.3 * i as f32, 0.02 * i as f32);
        let body = RigidBodyBuilder::dynamic().translation(at);
        let collider = if i % 2 == 0 {
            ColliderBuilder::cuboid(0.1, 0.12, 0.14)
        } else {
            ColliderBuilder::ball(0.12)
        };
        world.insert(body, collider);
    }
    RapierWorld::new(world)
}

fn bits(world: &RapierWorld) -> Vec<u64> {
    let motions = (0..world.handle_count()).map(|i| world.read(i));
    let numbers = motions.flat_map(|m| {
        let (x, v, w) = (m.position, m.velocity.linear, m.velocity.angular);
        [x.to_array(), v.to_array(), w.to_array()].concat()
    });
    numbers.map(f64::to_bits).collect()
}

#[test]
fn rapier_restored_steps_to_the_same_bits() {
    let mut world = pile();
    let mut plain = pile();
    for _ in 0..60 {
        world.step(DT).unwrap();
        plain.step(DT).unwrap();
    }
    world.save();
    let bytes = world.to_bytes();
    let go = |world: &mut RapierWorld| {
        world.push(3, Wrench { force: Vec3::new(5.0, 1.0, 0.0), torque: Vec3::Y });
        for _ in 0..40 {
            world.step(DT).unwrap();
        }
        bits(world)
    };
    let first = go(&mut world);
    assert_eq!(go(&mut plain), first, "saving changes nothing");
    for _ in 0..2 {
        world.push(4, Wrench { force: Vec3::X, torque: Vec3::ZERO });
        world.restore();
        assert_eq!(go(&mut world), first, "in memory");
    }
    world.load(&bytes).unwrap();
    assert_eq!(go(&mut world), first, "from bytes");
    let mut fresh = pile();
    fresh.load(&bytes).unwrap();
    assert_eq!(go(&mut fresh), first, "from bytes in another world");
    assert!(fresh.load(&bytes[..bytes.len() / 2]).is_err());
}

#[test]
fn with_nothing_coupled_rapier_keeps_its_bits() {
    let mut alone = pile();
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("rapier", pile()).unwrap();
    coupling.add("world", World::new(Settings::default()).unwrap()).unwrap();
    for _ in 0..50 {
        alone.step(DT).unwrap();
        coupling.step(DT).unwrap();
    }
    assert_eq!(bits(coupling.get(0).unwrap()), bits(&alone));
}

#[test]
fn what_rapier_says_of_its_response_is_how_it_answers() {
    let mut world = World::new(Settings::default()).unwrap();
    let shape = Shape::cuboid(Vec3::new(0.1, 0.2, 0.3)).unwrap();
    world.add_body(Body::dynamic(shape).mass(2.5).at(1.0, 2.0, 3.0)).unwrap();
    let mut rapier = RapierWorld::from_world(&world).unwrap();
    let said = rapier.response(0).unwrap();
    assert!((said.mass - 2.5).abs() < 1e-5);
    let exact = 2.5 / 3.0 * Vec3::new(0.13, 0.10, 0.05);
    let off = said.inertia - Mat3::from_diagonal(exact);
    assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-5), "{:?}", said.inertia);
    rapier.save();
    rapier.step(DT).unwrap();
    let free = rapier.read(0);
    rapier.restore();
    rapier.push(0, Wrench { force: 100.0 * Vec3::X, torque: 2.0 * Vec3::Z });
    rapier.step(DT).unwrap();
    let pushed = rapier.read(0);
    let change = pushed.velocity.linear.x - free.velocity.linear.x;
    assert!((change - 100.0 * DT / said.mass).abs() < 1e-5 * change);
    let shift = pushed.position.x - free.position.x;
    assert!((shift / (DT * change) - said.reach).abs() < 1e-3, "{}", shift / (DT * change));
    let spin = pushed.velocity.angular.z;
    assert!((spin - 2.0 * DT / exact.z).abs() < 1e-4 * spin, "{spin}");
}

/// Two boxes, one in Rapier and one in a world, corner to corner.
#[test]
fn a_body_of_rapier_and_one_of_ours_are_tied_together() {
    let body = || Body::dynamic(Shape::cuboid(Vec3::splat(0.1)).unwrap()).mass(1.0);
    // where nothing falls: a hundred metres from the origin f32 has five digits after the point left
    let settings = Settings { gravity: Vec3::ZERO, ..Settings::default() };
    let mut ours = World::new(settings).unwrap();
    ours.add_body(body()).unwrap();
    let mut theirs = World::new(settings).unwrap();
    theirs.add_body(body().at(0.2, 0.2, 0.2).spinning(Vec3::new(1.0, 2.0, 0.0))).unwrap();
    let theirs = RapierWorld::from_world(&theirs).unwrap();
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("ours", ours).unwrap();
    coupling.add("theirs", theirs).unwrap();
    let corner = Vec3::splat(0.1);
    let tie = Tie::point(Anchor::new(0, 0).at(corner), Anchor::new(1, 0).at(-corner));
    coupling.tie(tie).unwrap();
    for _ in 0..300 {
        let report = coupling.step(DT).unwrap();
        assert!(report.converged, "{report:?}");
        let at = |motion: thirdlaw::simulator::Motion, arm: Vec3| {
            motion.position + motion.rotation * arm
        };
        let a = at(coupling.get::<World>(0).unwrap().read(0), corner);
        let b = at(coupling.get::<RapierWorld>(1).unwrap().read(0), -corner);
        assert!(a.distance(b) < 2e-5, "{:e}", a.distance(b));
    }
}

/// P5 with cloth of ours and a ball of Rapier, equally heavy.
#[test]
fn a_ball_of_rapier_rests_on_our_cloth() {
    let mut cloth = World::new(Settings::default()).unwrap();
    let side = 13;
    let mesh = ClothMesh::grid(side, side, [1.0, 1.0]).unwrap();
    let rim = (0..side * side).filter(|i| {
        let (row, column) = (i / side, i % side);
        row == 0 || column == 0 || row == side - 1 || column == side - 1
    });
    let sheet = Cloth::new(mesh).fabric(Fabric { damping: [0.02; 3], ..Fabric::cotton() });
    cloth.add_cloth(sheet.pin(rim.map(|i| i as u32))).unwrap();
    let mut balls = World::new(Settings::default()).unwrap();
    let ball = Body::dynamic(Shape::sphere(0.2).unwrap()).mass(0.2);
    balls.add_body(ball.at(0.01, 0.22, 0.02)).unwrap();
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    coupling.add("cloth", cloth).unwrap();
    coupling.add("balls", RapierWorld::from_world(&balls).unwrap()).unwrap();
    assert_eq!(coupling.touch(0, 1).unwrap(), (0, 1));
    let mut force = 0.0;
    for step in 0..500 {
        let report = coupling.step(DT).unwrap();
        assert!(report.converged && report.exchanges == 1, "{report:?}");
        assert!(coupling.ledger()[0].crossing_imbalance() < 1e-12);
        if step >= 440 {
            force += coupling.ledger()[0].impulse[0].y / (60.0 * DT);
        }
    }
    assert!((force / (0.2 * 9.81) - 1.0).abs() < 1e-3, "{force}");
}
