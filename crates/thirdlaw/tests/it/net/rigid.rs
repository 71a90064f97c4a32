//! The ways of a rigid step without joints.

use super::{Case, Subject, hold};
use crate::{cuboid, floor, sphere};
use thirdlaw::{
    Body, FrictionModel, Keyframe, Keyframes, Precision, Quat, Settings, Shape, Solver, Vec3, World,
};

/// A number from −½ to ½, fixed for each i.
fn r(i: usize) -> f64 {
    (i * 7919 % 1000) as f64 / 1000.0 - 0.5
}

fn with(change: impl FnOnce(&mut Settings)) -> World {
    let mut settings = Settings::default();
    change(&mut settings);
    let mut world = World::new(settings).unwrap();
    world.add_body(floor()).unwrap();
    world
}

/// Bodies of several shapes that tumble apart from each other: no contact but with the floor.
fn flying() -> Subject {
    let mut world = with(|_| {});
    for i in 0..20 {
        let shape = if i % 2 == 0 { cuboid(0.1, 0.2, 0.3) } else { sphere(0.2) };
        let at = Vec3::new(2.0 * i as f64, 30.0, 0.0);
        let body = Body::dynamic(shape).at(at.x, at.y, at.z).spinning(Vec3::new(1.0, r(i), 3.0));
        world.add_body(body.moving(Vec3::new(r(i + 1), 4.0, r(i + 2)))).unwrap();
    }
    world.into()
}

/// Fast clusters of five with a paddle, far apart.
fn clusters() -> Subject {
    let mut world = with(|_| {});
    for number in 0..9 {
        let (x, z) = (30.0 * (number % 3) as f64, 30.0 * (number / 3) as f64);
        let paddle = Body::kinematic(cuboid(0.2, 0.5, 1.0)).at(x - 1.0, 0.5, z).moving(Vec3::X);
        world.add_body(paddle).unwrap();
        for i in 0..5 {
            let k = 13 * number + i;
            let shape = if i == 2 { sphere(0.2) } else { cuboid(0.1 + 0.05 * i as f64, 0.2, 0.2) };
            let body = Body::dynamic(shape)
                .at(x + 0.45 * i as f64 - 0.5, 0.3 + 0.1 * r(k), z + 0.2 * r(k + 5))
                .moving(Vec3::new(1.0 - 1.5 * i as f64, -2.0, r(k + 9)))
                .spinning(Vec3::new(3.0 * r(k), 4.0 * r(k + 1), 5.0 * r(k + 2)));
            world.add_body(body.friction(0.5)).unwrap();
        }
    }
    world.into()
}

fn rain(world: &mut World, count: usize, restitution: f64) {
    for i in 0..count {
        let (column, layer) = (i % 25, i / 25);
        let (x, z) = (0.6 * (column % 5) as f64, 0.6 * (column / 5) as f64);
        let shape = if i % 3 == 0 { cuboid(0.4, 0.15, 0.2) } else { cuboid(0.25, 0.25, 0.25) };
        let body = Body::dynamic(shape)
            .at(x + 0.1 * r(7 * i), 0.5 + 0.6 * layer as f64, z + 0.1 * r(7 * i + 1))
            .friction(0.6)
            .restitution(restitution);
        world.add_body(body).unwrap();
    }
}

/// A pile that takes the lanes, cut into blocks.
fn pile() -> Subject {
    let mut world = with(|_| {});
    rain(&mut world, 400, 0.0);
    world.into()
}

/// The same on triangles: a bowl of a terrain under all sorts of shapes.
fn pile_on_terrain() -> Subject {
    let mut world = with(|_| {});
    let n = 16;
    let height = |x: f64, z: f64| 0.05 * (x * x + z * z) + 0.1 * (2.0 * x).sin();
    let mut vertices = Vec::new();
    for i in 0..=n {
        for k in 0..=n {
            let (x, z) = (0.6 * (i as f64 - 8.0), 0.6 * (k as f64 - 8.0));
            vertices.push(Vec3::new(x, 0.3 + height(x, z), z));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..n {
        for k in 0..n {
            let at = |i: u32, k: u32| i * (n + 1) + k;
            triangles.push([at(i, k), at(i, k + 1), at(i + 1, k)]);
            triangles.push([at(i + 1, k), at(i, k + 1), at(i + 1, k + 1)]);
        }
    }
    world.add_body(Body::fixed(Shape::mesh(&vertices, &triangles).unwrap())).unwrap();
    for i in 0..120 {
        let shape = match i % 5 {
            0 | 1 => cuboid(0.2, 0.2, 0.2),
            2 => sphere(0.2),
            3 => Shape::capsule(0.15, 0.15).unwrap(),
            _ => Shape::cylinder(0.2, 0.15).unwrap(),
        };
        let (x, z) = (0.5 * ((i % 6) as f64 - 2.5), 0.5 * ((i / 6 % 6) as f64 - 2.5));
        let body = Body::dynamic(shape).at(x + 0.1 * r(i), 1.2 + 0.5 * (i / 36) as f64, z);
        world.add_body(body.rotated(Vec3::new(r(i), r(i + 3), 0.0))).unwrap();
    }
    world.into()
}

/// Small things about to come to rest: they iterate until they have converged.
fn resting() -> Subject {
    let mut world = with(|s| s.sleeping = false);
    for tower in 0..6 {
        for i in 0..tower + 1 {
            let at = (3.0 * tower as f64, 0.2 + 0.4 * i as f64, 0.02 * r(tower + i));
            world.add_body(Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(at.0, at.1, at.2)).unwrap();
        }
    }
    world.into()
}

/// Extreme mass ratios in small islands: the direct solver.
fn heavy_on_light() -> Subject {
    let mut world = with(|_| {});
    for (k, ratio) in [50.0, 1e3, 1e5].into_iter().enumerate() {
        let x = 3.0 * k as f64;
        world.add_body(Body::dynamic(cuboid(0.2, 0.2, 0.2)).at(x, 0.21, 0.0).mass(1.0)).unwrap();
        let heavy = Body::dynamic(cuboid(0.3, 0.3, 0.3)).at(x + 0.05, 0.72, 0.0);
        world.add_body(heavy.mass(ratio)).unwrap();
    }
    world.into()
}

/// Bounces: a heap that is solved alone.
fn bouncing() -> Subject {
    let mut world = with(|_| {});
    rain(&mut world, 50, 0.4);
    world.add_body(Body::dynamic(sphere(0.3)).at(8.0, 2.0, 0.0).restitution(0.8)).unwrap();
    world.into()
}

/// Sleep, and waking by what falls on the sleepers.
fn sleeping() -> Subject {
    let mut world = with(|_| {});
    for i in 0..4 {
        world.add_body(Body::dynamic(cuboid(0.3, 0.3, 0.3)).at(2.0 * i as f64, 0.3, 0.0)).unwrap();
    }
    let late = Body::dynamic(sphere(0.1)).at(2.0, 0.8, 0.0).moving(Vec3::new(0.0, 7.0, 0.0));
    world.add_body(late).unwrap();
    world.into()
}

/// Bullets against thin walls, swept.
fn bullets() -> Subject {
    let mut world = with(|_| {});
    for i in 0..6 {
        let z = 2.0 * i as f64;
        world.add_body(Body::fixed(cuboid(0.02, 1.0, 0.5)).at(3.0, 1.0, z)).unwrap();
        let body = Body::dynamic(if i % 2 == 0 { cuboid(0.1, 0.1, 0.1) } else { sphere(0.1) });
        let body = body.at(-1.0, 1.0, z).moving(Vec3::new(100.0 * (i + 1) as f64, 0.0, 0.0));
        world.add_body(body.spinning(Vec3::new(0.0, 3.0, 20.0))).unwrap();
    }
    world.into()
}

/// A platform on keyframes that carries boxes and turns.
fn kinematic() -> Subject {
    let mut world = with(|_| {});
    let key = |time: f64, x: f64, y: f64, turn: f64| Keyframe {
        time,
        position: Vec3::new(x, y, 0.0),
        rotation: Quat::from_rotation_y(turn),
    };
    let keys = vec![key(0.0, 0.0, 1.0, 0.0), key(0.5, 1.0, 1.2, 0.3), key(1.0, 0.0, 0.8, 0.0)];
    let platform = Body::kinematic(cuboid(1.0, 0.1, 1.0)).friction(0.8);
    world.add_body(platform.keyframes(Keyframes { keys, ..Keyframes::default() })).unwrap();
    for i in 0..9 {
        let (x, z) = (0.5 * ((i % 3) as f64 - 1.0), 0.5 * ((i / 3) as f64 - 1.0));
        world.add_body(Body::dynamic(cuboid(0.15, 0.15, 0.15)).at(x, 1.3, z)).unwrap();
    }
    world.into()
}

/// A small heap by one of the solvers that are not the default, in double precision.
fn by(solver: Solver, change: impl FnOnce(&mut Settings)) -> Subject {
    let mut world = with(|s| {
        s.contact.solver = solver;
        s.contact.iterations = 8;
        change(s);
    });
    rain(&mut world, 40, 0.0);
    world.into()
}

pub const CASES: &[Case] = &[
    Case { name: "rigid/flying", frames: 60, build: flying },
    Case { name: "rigid/clusters", frames: 50, build: clusters },
    Case { name: "rigid/pile", frames: 80, build: pile },
    Case { name: "rigid/pile-on-terrain", frames: 80, build: pile_on_terrain },
    Case { name: "rigid/resting", frames: 60, build: resting },
    Case { name: "rigid/heavy-on-light", frames: 60, build: heavy_on_light },
    Case { name: "rigid/bouncing", frames: 70, build: bouncing },
    Case { name: "rigid/sleeping", frames: 140, build: sleeping },
    Case { name: "rigid/bullets", frames: 20, build: bullets },
    Case { name: "rigid/kinematic", frames: 60, build: kinematic },
    Case {
        name: "rigid/double-precision",
        frames: 50,
        build: || by(Solver::ColoredPgs, |s| s.contact.precision = Precision::Double),
    },
    Case {
        name: "rigid/pyramid-friction",
        frames: 50,
        build: || by(Solver::ColoredPgs, |s| s.contact.friction = FrictionModel::Pyramid),
    },
    Case {
        name: "rigid/staggered",
        frames: 30,
        build: || by(Solver::ColoredPgs, |s| s.contact.staggered = true),
    },
    Case { name: "rigid/pgs", frames: 40, build: || by(Solver::Pgs, |_| {}) },
    Case {
        name: "rigid/pgs-single",
        frames: 40,
        build: || by(Solver::Pgs, |s| s.contact.precision = Precision::Single),
    },
    Case { name: "rigid/shuffled-pgs", frames: 40, build: || by(Solver::ShuffledPgs, |_| {}) },
    Case {
        name: "rigid/jacobi-line-search",
        frames: 30,
        build: || by(Solver::JacobiLineSearch, |_| {}),
    },
    Case { name: "rigid/jacobi-scaled", frames: 30, build: || by(Solver::JacobiScaled, |_| {}) },
    // a heap makes it diverge after 18 frames: it is here to be compared with
    Case { name: "rigid/jacobi-bridson", frames: 15, build: || by(Solver::JacobiBridson, |_| {}) },
    Case { name: "rigid/mass-splitting", frames: 30, build: || by(Solver::MassSplitting, |_| {}) },
    Case {
        name: "rigid/block-mass-splitting",
        frames: 30,
        build: || by(Solver::BlockMassSplitting, |_| {}),
    },
    Case {
        name: "rigid/block-mass-splitting-single",
        frames: 30,
        build: || by(Solver::BlockMassSplitting, |s| s.contact.precision = Precision::Single),
    },
];

#[test]
fn rigid_bodies_move_as_recorded() {
    hold(CASES);
}
