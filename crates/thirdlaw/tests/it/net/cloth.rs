//! Cloth: at rest, sliding, carrying bodies, folded on itself, held by bodies, by each solver.

use super::{Case, Subject, hold};
use crate::{cuboid, floor, sphere};
use thirdlaw::{
    Body, Cloth, ClothForces, ClothMesh, ClothSolver, Fabric, Hold, Pose, Precision,
    Preconditioner, Quat, Settings, Vec3, World,
};

fn with(change: impl FnOnce(&mut Settings)) -> World {
    let mut settings = Settings::default();
    change(&mut settings);
    World::new(settings).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_parts(Vec3::new(x, y, z), Quat::IDENTITY)
}

fn sheet(side: usize, size: f64, fabric: Fabric) -> Cloth {
    Cloth::new(ClothMesh::grid(side, side, [size, size]).unwrap()).fabric(fabric)
}

/// Hung by two corners and left alone.
fn hanging(change: impl FnOnce(&mut Settings)) -> Subject {
    let mut world = with(change);
    let cloth = sheet(13, 1.0, Fabric::cotton()).pin([0, 12]);
    world.add_cloth(cloth.pose(at(0.0, 2.0, 0.0))).unwrap();
    world.into()
}

/// Over a ball, until it slips down one side.
fn draping(change: impl FnOnce(&mut Settings)) -> Subject {
    let mut world = with(change);
    world.add_body(Body::fixed(sphere(0.4)).friction(0.1)).unwrap();
    let cloth = sheet(17, 1.2, Fabric::silk());
    world.add_cloth(cloth.pose(at(0.15, 0.45, 0.05))).unwrap();
    world.into()
}

/// On a floor that tilts: it lies, then slides.
fn lying() -> Subject {
    let mut world = with(|s| s.gravity = Vec3::new(2.5, -9.0, 0.0));
    world.add_body(floor().friction(0.2)).unwrap();
    world.add_cloth(sheet(9, 0.8, Fabric::cotton()).pose(at(0.0, 0.01, 0.0))).unwrap();
    world.into()
}

/// A sheet held by its rim with balls and a cube on it.
fn carrying() -> Subject {
    let mut world = with(|_| {});
    let side = 13;
    let rim = (0..side * side).filter(|i| {
        let (row, column) = (i / side, i % side);
        row == 0 || column == 0 || row == side - 1 || column == side - 1
    });
    let cloth = sheet(side, 1.0, Fabric::canvas()).pin(rim.map(|i| i as u32));
    world.add_cloth(cloth).unwrap();
    for i in 0..3 {
        let shape = if i == 1 { cuboid(0.08, 0.08, 0.08) } else { sphere(0.1) };
        let body = Body::dynamic(shape).at(0.25 * (i as f64 - 1.0), 0.25 + 0.1 * i as f64, 0.03);
        world.add_body(body.mass(0.3)).unwrap();
    }
    world.into()
}

/// A strip let down on the floor, where it folds on itself, and a second sheet on top.
fn folding() -> Subject {
    let mut world = with(|_| {});
    world.add_body(floor()).unwrap();
    let mesh = ClothMesh::grid(5, 17, [0.2, 0.8]).unwrap();
    let upright = Pose::from_parts(Vec3::new(0.0, 0.45, 0.0), Quat::from_rotation_x(1.5));
    world.add_cloth(Cloth::new(mesh).fabric(Fabric::silk()).pose(upright)).unwrap();
    world.add_cloth(sheet(7, 0.4, Fabric::cotton()).pose(at(0.0, 1.0, 0.05))).unwrap();
    world.into()
}

/// Held by a body that moves and one that falls.
fn held() -> Subject {
    let mut world = with(|_| {});
    let bar = Body::kinematic(cuboid(0.5, 0.02, 0.02)).at(0.0, 1.0, -0.5).moving(Vec3::X);
    let bar = world.add_body(bar).unwrap();
    let weight = world.add_body(Body::dynamic(sphere(0.05)).at(0.5, 1.0, 0.5).mass(0.2)).unwrap();
    let cloth = sheet(9, 1.0, Fabric::cotton()).pose(at(0.0, 1.0, 0.0));
    let cloth = cloth.hold(0..9, Hold::Body(bar)).hold([80], Hold::Body(weight));
    world.add_cloth(cloth).unwrap();
    world.into()
}

/// Large enough for levels of the preconditioner.
fn large() -> Subject {
    let mut world = with(|s| s.cloth.preconditioner = Preconditioner::Multilevel);
    world.add_body(Body::fixed(sphere(0.5))).unwrap();
    world.add_cloth(sheet(33, 1.6, Fabric::cotton()).pose(at(0.0, 0.52, 0.0))).unwrap();
    world.into()
}

const CASES: &[Case] = &[
    Case { name: "cloth/hanging", frames: 60, build: || hanging(|_| {}) },
    Case { name: "cloth/draping", frames: 50, build: || draping(|_| {}) },
    Case { name: "cloth/lying-and-sliding", frames: 50, build: lying },
    Case { name: "cloth/carrying", frames: 60, build: carrying },
    Case { name: "cloth/folding", frames: 50, build: folding },
    Case { name: "cloth/held-by-bodies", frames: 40, build: held },
    Case { name: "cloth/multilevel", frames: 15, build: large },
    Case {
        name: "cloth/linear-forces",
        frames: 30,
        build: || draping(|s| s.cloth.forces = ClothForces::Linear),
    },
    Case {
        name: "cloth/penalty",
        frames: 20,
        build: || draping(|s| s.cloth.solver = ClothSolver::Penalty),
    },
    Case {
        name: "cloth/direct",
        frames: 10,
        build: || hanging(|s| s.cloth.solver = ClothSolver::Direct),
    },
    Case {
        name: "cloth/double-precision",
        frames: 30,
        build: || draping(|s| s.cloth.precision = Precision::Double),
    },
    Case {
        name: "cloth/wind",
        frames: 40,
        build: || hanging(|s| s.cloth.wind = Vec3::new(0.0, 0.5, 6.0)),
    },
];

#[test]
fn cloth_moves_as_recorded() {
    hold(CASES);
}
