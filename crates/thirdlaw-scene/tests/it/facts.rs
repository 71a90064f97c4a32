//! What is written in a scene is what the engine gets.

use thirdlaw::math::Vec3;
use thirdlaw::{BodyKind, Combine};
use thirdlaw_scene::{Scene, load};

const EVERYTHING: &str = r##"
version = 1
title = "Everything"
settings = { fps = 50, frames = 75, steps_per_frame = 2, substeps = 3, gravity = [0, -1, 0], sleeping = false, continuous = false }
solver = { kind = "mass-splitting", iterations = 7, relax_iterations = 3, tolerance = 1e-5, friction = "pyramid", staggered = true, direct_rows = 9, slop = 2e-4, push_speed = 2, stiffness = 0.3, damping = 2, sag = 0.002, bounce_speed = 0.1, converge = false, precision = "double", paths = "general" }
parameters = { n = 3, half = "n/2" }

[materials.base]
friction = 0.3
density = 500
color = [0.25, 0.5, 1]
[materials.ice]
base = "base"
friction = 0.05
friction_combine = "minimum"
restitution_combine = "average"

[bodies.block]
shape = { box = { size = ["n", 2, 1] } }
position = ["half", 0, "-n^2"]
rotation = { axis = [0, 0, 2], degrees = 90 }
velocity = [1, 2, 3]
angular_velocity = [4, 5, 6]
material = { base = "ice", restitution = 0.5 }
groups = { member = [0, 3], collides = [1, 31] }
damping = { linear = 0.1, angular = 0.2 }
gravity_scale = 0.5
locks = { translation = ["x"], rotation = ["y", "z"] }
forces = [{ force = [1, 0, 0], torque = [0, 1, 0], point = [0, 0, 1], local = true, from = 1, until = 2 }]
can_sleep = false
color = "#ff0080"

[bodies.lump]
shape = { sphere = { radius = 1 } }
mass = 4
inertia = { center = [0, 0.1, 0], moments = [1, 2, 2.5], products = [0.1, 0, 0] }
copies.scatter = { count = 4, size = [10, 0, 10], seed = 5, turn = true }

[bodies.lift]
kind = "kinematic"
shape = { cylinder = { radius = 1, height = 2 } }
position = [0, 5, 0]
keyframes = { keys = [{ time = 0 }, { time = 2, position = [0, 9, 0], rotation = { euler = [0, 90, 0] } }], repeat = true, smooth = true }
copies.list = [{}, { position = [20, 0, 0] }]

[bodies.tower]
shape = { compound = { parts = [{ shape = { capsule = { radius = 0.2, length = 1 } } }, { shape = { cone = { radius = 0.3, height = 1 } }, position = [0, 2, 0], rotation = { quaternion = [1, 0, 0, 1] } }] } }
copies.grid = { count = [2, 3, 1], spacing = [2, 3, 4], center = true }

[bodies.tetra]
shape = { mesh = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], scale = [2, 1, 1] } }
[bodies.hill]
kind = "fixed"
shape = { height_field = { heights = [[0, 1], [0, 2], [1, 1]], size = [4, 4] } }
[bodies.queen]
shape = { chess_piece = { piece = "queen", king_height = 2 } }
[bodies.ring]
shape = { chain_link = { length = 0.8, width = 0.5, wire = 0.05, segments = 6 } }

[generate.wall]
make = { pyramid = { base = 3, size = 0.5 } }
position = [0, 0, 50]
rotation = { axis = [0, 1, 0], degrees = 90 }
density = 100

[camera]
eye = [0, 1, 2]
target = [0, 0, 0]
fov = 30
keyframes = [{ time = 0 }, { time = 2, eye = [0, 3, 2] }]

[expect]
contacts = { above = -1, until = 1 }
"tower.*.y" = { above = -1 }
"wall.2.qw" = { near = 0.7, within = 0.1, at = 0 }
"##;

fn everything() -> Scene {
    load("folder/everything.toml", EVERYTHING, Some(std::path::Path::new(".")), &[])
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn settings_reach_the_world() {
    let scene = everything();
    assert_eq!((scene.name.as_str(), scene.title.as_str()), ("everything", "Everything"));
    assert_eq!((scene.fps, scene.frames, scene.steps_per_frame), (50.0, 75, 2));
    assert_eq!(scene.dt(), 0.01);
    let settings = scene.world.settings();
    assert_eq!((settings.gravity, settings.substeps), (Vec3::new(0.0, -1.0, 0.0), 3));
    assert!(!settings.sleeping && !settings.continuous && settings.contact.staggered);
    let contact = &settings.contact;
    assert_eq!((contact.iterations, contact.relax_iterations, contact.direct_rows), (7, 3, 9));
    assert_eq!(format!("{:?} {:?}", contact.solver, contact.friction), "MassSplitting Pyramid");
    assert_eq!(contact.paths, thirdlaw::Paths::General);
    assert_eq!((contact.converge, format!("{:?}", contact.precision).as_str()), (false, "Double"));
    let camera = scene.camera.unwrap();
    assert_eq!((camera.fov, camera.at(1.0).0), (30.0, Vec3::new(0.0, 2.0, 2.0)));
}

#[test]
fn bodies_are_as_described() {
    let scene = everything();
    let id = |name: &str| scene.bodies.iter().find(|b| b.name == name).unwrap().id;
    let block = scene.world.body(id("block")).unwrap();
    assert_eq!(block.mass, 500.0 * 6.0);
    assert_eq!((block.material.friction, block.material.restitution), (0.05, 0.5));
    assert_eq!(block.material.friction_combine, Combine::Minimum);
    assert_eq!((block.groups.member, block.groups.collides), (0b1001, 1 << 31 | 2));
    assert_eq!((block.linear_damping, block.angular_damping, block.gravity_scale), (0.1, 0.2, 0.5));
    assert_eq!(block.locks.translation, [true, false, false]);
    assert_eq!(block.locks.rotation, [false, true, true]);
    assert_eq!((block.forces[0].until, block.forces[0].local, block.can_sleep), (2.0, true, false));
    let pose = scene.world.pose(id("block")).unwrap();
    assert_eq!(pose.translation, Vec3::new(1.5, 0.0, -9.0));
    assert!((pose.rotation * Vec3::X).distance(Vec3::Y) < 1e-15);
    assert_eq!(scene.world.velocity(id("block")).unwrap().linear, Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(scene.bodies[0].color, Some([1.0, 0.0, 128.0 / 255.0]));
    let lump = scene.world.body(id("lump.3")).unwrap();
    assert_eq!((lump.mass, lump.center.y, lump.inertia.x_axis.y), (4.0, 0.1, 0.1));
    let lift = scene.world.body(id("lift.1")).unwrap();
    assert_eq!(lift.kind, BodyKind::Kinematic);
    assert_eq!(
        lift.motion.keys[1].position,
        Vec3::new(20.0, 9.0, 0.0),
        "a path goes with its copy"
    );
    let tetra = scene.world.body(id("tetra")).unwrap();
    assert!((tetra.mass - 1000.0 / 3.0).abs() < 1e-9);
}

#[test]
fn copies_are_named_and_placed() {
    let scene = everything();
    let at = |name: &str| {
        let body = scene.bodies.iter().find(|b| b.name == name).unwrap();
        scene.world.pose(body.id).unwrap().translation
    };
    assert_eq!(at("tower.0"), Vec3::new(-1.0, 0.0, 0.0));
    assert!(at("tower.5").distance(Vec3::new(1.0, 6.0, 0.0)) < 1e-12);
    assert!(scene.bodies.iter().any(|b| b.name == "wall.5"));
    // the wall runs along its own x axis, which was turned to −z
    assert!(at("wall.0").distance(Vec3::new(0.0, 0.25, 50.525)) < 1e-12);
    for i in 0..4 {
        let p = at(&format!("lump.{i}"));
        assert!(p.x.abs() <= 5.0 && p.y == 0.0 && p.z.abs() <= 5.0);
    }
}

#[test]
fn the_hash_knows_text_and_overrides() {
    let with = |overrides: &[(String, String)]| load("x", EVERYTHING, None, overrides).unwrap();
    let set = [("parameters.n".to_string(), "4".to_string())];
    assert_eq!(with(&[]).hash, everything().hash);
    assert_ne!(with(&[]).hash, with(&set).hash);
    let block = with(&set).bodies[0].id;
    assert_eq!(with(&set).world.body(block).unwrap().mass, 4000.0);
}
