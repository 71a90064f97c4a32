//! Vertices bound to bodies, triangles and tetrahedra: forces both ways, momentum, typed errors.

use crate::{cuboid, earth, world};
use thirdlaw::measure::{energy, momentum};
use thirdlaw::{
    Axis, Body, Bond, BondPlace, Cloth, ClothMesh, Deformable, DeformableError, DeformableId,
    Drive, Frame, Groups, Hold, Joint, ParticleId, Pose, Quat, Scheme, Settings, Side,
    SolidMaterial, SolidMesh, Target, Vec3, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), Quat::IDENTITY)
}

fn solved_to(tolerance: f64, mut world: World) -> World {
    let mut settings = *world.settings();
    settings.cloth.tolerance = tolerance;
    settings.cloth.iterations = 5000;
    settings.sleeping = false;
    world.set_settings(settings).unwrap();
    world
}

fn block(young: f64) -> (SolidMesh, Deformable) {
    let mesh = SolidMesh::block(Vec3::splat(0.2), [3, 3, 3]).unwrap();
    let material = SolidMaterial { young, poisson: 0.3, damping: 0.02, ..Default::default() };
    let body = mesh.deformable(material).unwrap();
    (mesh, body)
}

/// Where a weighted place is.
fn place(world: &World, id: DeformableId, corners: &[u32], weights: &[f64]) -> Vec3 {
    let x = world.vertices(id).unwrap();
    corners.iter().zip(weights).map(|(i, w)| *w * x[*i as usize]).sum()
}

/// A weight hung on a tetrahedron stretches the body as forces at its corners do, by their shares.
#[test]
fn a_weight_on_a_tetrahedron_pulls_as_a_force_there() {
    let mut lengths = Vec::new();
    for hung in [true, false] {
        let mut world = solved_to(1e-10, earth());
        let (mesh, body) = block(2e4);
        let top = (0..).zip(&mesh.positions).filter(|(_, p)| p.y > 0.099).map(|(i, _)| i);
        let top: Vec<u32> = top.collect();
        let id = world.add_deformable(body.pin(top)).unwrap();
        let corners = *mesh
            .tetrahedra
            .iter()
            .min_by(|a, b| {
                let low =
                    |t: &[u32; 4]| t.iter().map(|i| mesh.positions[*i as usize].y).sum::<f64>();
                low(a).total_cmp(&low(b))
            })
            .unwrap();
        let weights = [0.4, 0.3, 0.2, 0.1];
        let start = place(&world, id, &corners, &weights);
        let weight = 3.0;
        let mut hanging = None;
        if hung {
            let to = BondPlace::At { object: id, corners: corners.into(), weights: weights.into() };
            let bond = Bond { to, spring: None };
            let mass =
                Deformable::new(vec![start]).masses(vec![weight]).hold([0], Hold::Bond(bond));
            hanging = Some(world.add_deformable(mass).unwrap());
        }
        for _ in 0..300 {
            if !hung {
                for (corner, share) in corners.iter().zip(weights) {
                    let force = -9.81 * weight * share * Vec3::Y;
                    world.push_particle(ParticleId::vertex(id, *corner), force).unwrap();
                }
            }
            world.step(FRAME).unwrap();
        }
        let end = place(&world, id, &corners, &weights);
        if let Some(hanging) = hanging {
            let gap = (world.vertices(hanging).unwrap()[0] - end).length();
            println!("gap {gap:.2e} m of {:.3e} m", (end - start).length());
            assert!(gap < 0.01 * (end - start).length());
        }
        let carried: Vec3 = world.pin_forces(id).unwrap().iter().map(|p| p.1).sum();
        let own: f64 = world.deformable(id).unwrap().elements.mass.iter().sum();
        assert!((carried.y / (9.81 * (own + weight)) - 1.0).abs() < 1e-4, "{carried}");
        lengths.push((start - end).y);
    }
    println!("sunk by {lengths:?} m");
    assert!((lengths[0] / lengths[1] - 1.0).abs() < 1e-4 && lengths[0] > 0.005, "{lengths:?}");
}

/// Two soft bodies, a cloth and a rigid body bound to each other, hard and soft: momentum stays.
#[test]
fn momentum_goes_through_bonds() {
    for soft in [false, true] {
        let mut world = solved_to(1e-12, world(0.0));
        let mut settings = *world.settings();
        settings.cloth.air = false;
        world.set_settings(settings).unwrap();
        let spring = |bond: Bond| if soft { bond.soft(500.0, 0.01) } else { bond };
        let (mesh, first) = block(3e4);
        let a = world.add_deformable(first.velocity(Vec3::new(0.3, 1.0, 0.2))).unwrap();
        let left = |mesh: &SolidMesh| -> Vec<u32> {
            let at = (0..).zip(&mesh.positions).filter(|(_, p)| p.x < -0.099);
            at.map(|(i, _)| i).collect()
        };
        let (_, second) = block(3e4);
        let second = second.pose(at(0.2, 0.0, 0.0));
        let b = world
            .add_deformable(second.hold(left(&mesh), Hold::Bond(spring(Bond::inside(a)))))
            .unwrap();
        // nothing touches, so that all that is given goes through bonds
        let apart = Groups { member: 2, collides: 0 };
        let body = Body::dynamic(cuboid(0.1, 0.1, 0.1)).density(2000.0).groups(apart);
        let body = world.add_body(body.at(0.401, 0.0, 0.0)).unwrap();
        let sheet = ClothMesh::grid(6, 6, [0.2, 0.2]).unwrap();
        let edge: Vec<u32> = (0..6).collect();
        let cloth = Cloth::new(sheet).pose(at(0.2, 0.101, 0.0));
        let mut cloth = cloth.hold(edge, Hold::Bond(spring(Bond::surface(b))));
        cloth.self_collision = false;
        let cloth = cloth.hold([35], Hold::Bond(spring(Bond::body(body))));
        world.add_cloth(cloth).unwrap();
        let before = momentum(&world).0;
        let start = energy(&world);
        let mut most = 0.0_f64;
        for _ in 0..60 {
            world.step(FRAME).unwrap();
            let now = energy(&world);
            most = most.max((now.kinetic + now.elastic) / (start.kinetic + start.elastic));
        }
        // what is pushed by the bond in the last step arrives in the next one
        let error = (momentum(&world).0 - before).length() / before.length();
        let speed = world.velocity(body).unwrap().linear.length();
        println!(
            "soft {soft}: momentum {error:.1e}, energy at most {most:.6}, body {speed:.3} m/s"
        );
        assert!(error < 1e-9, "{error:e}");
        assert!(most < 1.0 + 1e-9 && speed > 0.01, "{most} {speed}");
    }
}

/// A bone turned by a joint moves the flesh around it, and flesh that is held holds it back.
#[test]
fn a_bone_moves_flesh_and_is_held_by_it() {
    let turned = |flesh: bool, held: bool| {
        let mut world = solved_to(1e-4, world(0.0));
        // joints and what deforms in one solve
        let settings = Settings { scheme: Scheme::Unified, ..*world.settings() };
        world.set_settings(settings).unwrap();
        let apart = Groups { member: 2, collides: 0 };
        let bone = Body::dynamic(cuboid(0.05, 0.01, 0.01)).density(3000.0).groups(apart);
        let bone = world.add_body(bone).unwrap();
        let frame = Pose::from_parts(Vec3::ZERO, Quat::from_rotation_arc(Vec3::X, Vec3::Z));
        let mut drive = Drive::pd(2.0, 0.5);
        drive.target = Target::Constant { position: 0.5, velocity: 0.0 };
        let mut joint = Joint::hinge(Side::World, bone).driven(Axis::TurnX, drive);
        (joint.frame_a, joint.frame_b) = (Frame::Local(frame), Frame::Local(frame));
        world.add_joint(joint).unwrap();
        let mut id = None;
        if flesh {
            let mesh = SolidMesh::block(Vec3::new(0.2, 0.1, 0.1), [4, 2, 2]).unwrap();
            let material = SolidMaterial { young: 2e4, damping: 0.02, ..Default::default() };
            let within = |p: &Vec3| p.x.abs() < 0.051 && p.y.abs() < 0.011 && p.z.abs() < 0.011;
            let inner: Vec<u32> =
                (0..).zip(&mesh.positions).filter(|(_, p)| within(p)).map(|(i, _)| i).collect();
            let outer: Vec<u32> = (0..)
                .zip(&mesh.positions)
                .filter(|(_, p)| p.x.abs() > 0.099)
                .map(|(i, _)| i)
                .collect();
            let mut body = mesh.deformable(material).unwrap();
            body = body.hold(inner, Hold::Bond(Bond::body(bone)));
            if held {
                body = body.pin(outer);
            }
            id = Some(world.add_deformable(body).unwrap());
        }
        for _ in 0..120 {
            world.step(FRAME).unwrap();
        }
        let angle = |q: Quat| 2.0 * libm::atan2(q.z, q.w);
        let bone = angle(world.pose(bone).unwrap().rotation);
        let end = id.map(|id| world.vertices(id).unwrap().last().unwrap().y);
        (bone, end)
    };
    let (alone, _) = turned(false, false);
    let (free, end) = turned(true, false);
    let (held, _) = turned(true, true);
    println!("bone alone {alone:.4}, in flesh {free:.4} ({end:?}), in held flesh {held:.4} rad");
    assert!((alone - 0.5).abs() < 0.01 && (free - 0.5).abs() < 0.05);
    assert!(end.unwrap() > 0.08, "the flesh has turned: {end:?}");
    assert!(held > 0.01 && held < 0.8 * free, "{held}");
}

/// What cannot be bound is refused, and what is bound comes free when the other goes.
#[test]
fn bonds_are_checked() {
    let mut world = earth();
    let (_, body) = block(1e4);
    let a = world.add_deformable(body.clone()).unwrap();
    let problem = |world: &mut World, bond: Bond| {
        let far = body.clone().pose(at(0.0, 5.0, 0.0));
        world.add_deformable(far.hold([0], Hold::Bond(bond))).unwrap_err()
    };
    let at_corners = |corners: Vec<u32>, weights: Vec<f64>| Bond {
        to: BondPlace::At { object: a, corners, weights },
        spring: None,
    };
    let refused = [
        Bond::inside(a),
        Bond::surface(a).soft(0.0, 0.0),
        Bond::surface(a).soft(f64::NAN, 0.0),
        at_corners(vec![0, 1], vec![0.5, 0.6]),
        at_corners(vec![0, 0], vec![0.5, 0.5]),
        at_corners(vec![0, 9999], vec![0.5, 0.5]),
        at_corners(vec![], vec![]),
    ];
    for bond in refused {
        let error = problem(&mut world, bond);
        assert!(matches!(error, DeformableError::Value { field: "pins", .. }), "{error:?}");
    }
    let bead = |bond: Bond| {
        Deformable::new(vec![Vec3::ZERO]).masses(vec![0.1]).hold([0], Hold::Bond(bond))
    };
    let bound = world.add_deformable(bead(Bond::inside(a))).unwrap();
    world.remove_deformable(a).unwrap();
    assert!(matches!(world.add_deformable(bead(Bond::inside(a))), Err(DeformableError::Stale(_))));
    for _ in 0..30 {
        world.step(FRAME).unwrap();
    }
    let y = world.vertices(bound).unwrap()[0].y;
    assert!(y < -1.0, "it falls: {y}");
}

/// Saved and read again, a world with bonds goes on to the same bits.
#[test]
fn bonds_are_saved() {
    let mut world = earth();
    let (mesh, body) = block(1e4);
    let body = body.pin(0..16).incompressible(true);
    let a = world.add_deformable(body).unwrap();
    let bead = Deformable::new(vec![mesh.positions[40]]).masses(vec![0.5]);
    world.add_deformable(bead.hold([0], Hold::Bond(Bond::inside(a).soft(100.0, 0.1)))).unwrap();
    for _ in 0..10 {
        world.step(FRAME).unwrap();
    }
    let bytes = world.to_bytes();
    let mut again = World::from_bytes(&bytes, &Default::default()).unwrap();
    for _ in 0..10 {
        world.step(FRAME).unwrap();
        again.step(FRAME).unwrap();
    }
    assert_eq!(world.hash(), again.hash());
}
