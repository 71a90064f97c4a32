//! Joints by each enforcement and each way to solve them, and point masses.

use super::{Case, Subject, hold};
use crate::{cuboid, floor};
use thirdlaw::{
    Axis, Body, BodyId, Drive, Enforcement, Joint, JointSolve, Point, Precision, Settings, Shape,
    Target, Vec3, World,
};

fn with(change: impl FnOnce(&mut Settings)) -> World {
    let mut settings = Settings::default();
    change(&mut settings);
    World::new(settings).unwrap()
}

/// A chain from the sky, of links of different sizes.
fn chain(world: &mut World, links: usize, at: Vec3) -> BodyId {
    let anchor =
        world.add_body(Body::fixed(cuboid(0.05, 0.05, 0.05)).at(at.x, at.y, at.z)).unwrap();
    let mut before = anchor;
    for i in 0..links {
        let x = at.x + 0.4 * i as f64;
        let link = Body::dynamic(cuboid(0.18, 0.05, 0.04 + 0.01 * (i % 3) as f64)).mass(1.0);
        let link = world.add_body(link.at(x + 0.2, at.y, at.z)).unwrap();
        let joint = match i % 3 {
            0 => Joint::ball(before, link),
            1 => Joint::hinge(before, link).axis(Vec3::Z),
            _ => Joint::universal(before, link),
        };
        world.add_joint(joint.at(x, at.y, at.z)).unwrap();
        before = link;
    }
    before
}

fn swinging(change: impl FnOnce(&mut Settings)) -> Subject {
    let mut world = with(change);
    chain(&mut world, 6, Vec3::new(0.0, 5.0, 0.0));
    world.into()
}

fn held_by(enforcement: Enforcement) -> Subject {
    swinging(|s| s.joints.enforcement = enforcement)
}

/// A chain that comes down on a floor and a block.
fn landing(change: impl FnOnce(&mut Settings)) -> Subject {
    let mut world = with(change);
    world.add_body(floor()).unwrap();
    world.add_body(Body::fixed(cuboid(0.3, 0.3, 0.3)).at(1.0, 0.3, 0.0)).unwrap();
    chain(&mut world, 5, Vec3::new(0.0, 1.2, 0.0));
    world.into()
}

/// A trunk with limbs driven to and fro, limits, friction and a motor, on the ground.
fn creature() -> Subject {
    let mut world = with(|_| {});
    world.add_body(floor()).unwrap();
    let trunk = Body::dynamic(cuboid(0.3, 0.2, 0.2)).at(0.0, 0.8, 0.0).mass(10.0);
    let trunk = world.add_body(trunk).unwrap();
    for (i, x) in [0.3, -0.3].into_iter().enumerate() {
        for (k, z) in [0.15, -0.15].into_iter().enumerate() {
            let leg = Body::dynamic(Shape::capsule(0.15, 0.06).unwrap()).at(x, 0.4, z).mass(2.0);
            let leg = world.add_body(leg).unwrap();
            let phase = (2 * i + k) as f64;
            let target = Target::Sine { center: 0.0, amplitude: 0.5, frequency: 1.5, phase };
            let joint = match k {
                0 => Joint::hinge(trunk, leg)
                    .axis(Vec3::Z)
                    .driven(Axis::TurnX, Drive::pd(40.0, 2.0).toward(target).limited(30.0))
                    .limit(Axis::TurnX, -0.3, 0.3),
                _ => Joint::ball(trunk, leg)
                    .friction(Axis::TurnY, 0.5)
                    .limit(Axis::TurnX, -0.5, 0.5)
                    .driven(Axis::TurnZ, Drive::motor(2.0, 5.0)),
            };
            world.add_joint(joint.at(x, 0.62, z)).unwrap();
        }
    }
    world.into()
}

/// A heap of short chains: many contacts, which take turns with the joints.
fn heap_of_chains(change: impl FnOnce(&mut Settings)) -> Subject {
    let mut world = with(change);
    world.add_body(floor()).unwrap();
    for i in 0..9 {
        let (x, z) = (0.5 * (i % 3) as f64, 0.25 * (i / 3) as f64);
        let mut before: Option<BodyId> = None;
        for k in 0..4 {
            let at = Vec3::new(x + 0.3 * k as f64, 0.2 + 0.25 * i as f64, z);
            let link = Body::dynamic(cuboid(0.13, 0.08, 0.08)).at(at.x, at.y, at.z);
            let link = world.add_body(link).unwrap();
            if let Some(before) = before.replace(link) {
                world.add_joint(Joint::ball(before, link).at(at.x - 0.15, at.y, at.z)).unwrap();
            }
        }
    }
    world.into()
}

/// A loop of four bars, a rope that breaks, a slider with a spring.
fn loops() -> Subject {
    let mut world = with(|_| {});
    let bars: Vec<BodyId> = [(0.0, 0.5, false), (0.5, 1.0, true), (1.0, 0.5, false)]
        .into_iter()
        .map(|(x, y, level)| {
            let size = if level { cuboid(0.5, 0.05, 0.05) } else { cuboid(0.05, 0.5, 0.05) };
            world.add_body(Body::dynamic(size).at(x, y, 0.0).mass(1.0)).unwrap()
        })
        .collect();
    let ground = world.add_body(Body::fixed(cuboid(0.1, 0.1, 0.1)).at(0.5, -0.5, 0.0)).unwrap();
    let joints = [
        (ground, bars[0], 0.0, 0.0),
        (bars[0], bars[1], 0.0, 1.0),
        (bars[1], bars[2], 1.0, 1.0),
        (bars[2], ground, 1.0, 0.0),
    ];
    for (i, (a, b, x, y)) in joints.into_iter().enumerate() {
        let joint = Joint::hinge(a, b).axis(Vec3::Z).at(x, y, 0.0);
        let drive = Drive::motor(3.0, 50.0);
        let joint = if i == 0 { joint.driven(Axis::TurnX, drive) } else { joint };
        world.add_joint(joint).unwrap();
    }
    let hung = world.add_body(Body::dynamic(cuboid(0.1, 0.1, 0.1)).at(4.0, 0.0, 0.0)).unwrap();
    let rope = Joint::rope(ground, hung, 4.0).anchors(Vec3::ZERO, Vec3::ZERO);
    world.add_joint(rope.breaking(120.0, f64::INFINITY)).unwrap();
    world.into()
}

/// Point masses on rods and springs.
fn points() -> Subject {
    let mut world = with(|_| {});
    let sky = world.add_body(Body::fixed(cuboid(0.1, 0.1, 0.1)).at(0.0, 3.0, 0.0)).unwrap();
    let mut before: Option<thirdlaw::PointId> = None;
    for i in 0..4 {
        let at = Vec3::new(0.5 * (i + 1) as f64, 3.0, 0.1 * i as f64);
        let point = world.add_point(Point::new(0.2 + 0.1 * i as f64, at)).unwrap();
        let joint = match before.replace(point) {
            None => Joint::rod(sky, point, 0.5).anchors(Vec3::ZERO, Vec3::ZERO),
            Some(last) if i == 2 => Joint::spring(last, point, 200.0, 1.0),
            Some(last) => Joint::rod(last, point, (0.25_f64 + 0.01).sqrt()),
        };
        world.add_joint(joint).unwrap();
    }
    world.into()
}

pub const CASES: &[Case] = &[
    Case { name: "joints/reduced", frames: 60, build: || held_by(Enforcement::Reduced) },
    Case { name: "joints/stabilized", frames: 60, build: || held_by(Enforcement::Stabilized) },
    Case {
        name: "joints/soft",
        frames: 60,
        build: || held_by(Enforcement::Soft { stiffness: 2e4, damping: 50.0 }),
    },
    Case { name: "joints/pseudo-time", frames: 40, build: || held_by(Enforcement::PseudoTime) },
    Case {
        name: "joints/multipliers",
        frames: 60,
        build: || held_by(Enforcement::Multipliers { rate: 20.0 }),
    },
    Case { name: "joints/projection", frames: 60, build: || held_by(Enforcement::Projection) },
    Case {
        name: "joints/rows",
        frames: 60,
        build: || landing(|s| s.joints.solve = JointSolve::Rows),
    },
    Case {
        name: "joints/interleaved",
        frames: 60,
        build: || landing(|s| s.joints.solve = JointSolve::Interleaved),
    },
    Case { name: "joints/landing", frames: 90, build: || landing(|_| {}) },
    Case { name: "joints/creature", frames: 60, build: creature },
    Case { name: "joints/heap-of-chains", frames: 50, build: || heap_of_chains(|_| {}) },
    Case {
        name: "joints/heap-of-chains-double",
        frames: 50,
        build: || heap_of_chains(|s| s.contact.precision = Precision::Double),
    },
    Case {
        name: "joints/heap-of-chains-in-turn",
        frames: 50,
        build: || heap_of_chains(|s| s.joints.enforcement = Enforcement::Stabilized),
    },
    Case { name: "joints/loops", frames: 60, build: loops },
    Case { name: "joints/points", frames: 60, build: points },
];

#[test]
fn joints_move_as_recorded() {
    hold(CASES);
}
