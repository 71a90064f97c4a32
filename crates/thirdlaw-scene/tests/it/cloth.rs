//! Cloth in scenes: what is written is what the engine gets, and mistakes are told in their place.

use thirdlaw::math::Vec3;
use thirdlaw::model::cloth::PRESETS;
use thirdlaw::{Bending, ClothSolver, Precision, SelfCollision};
use thirdlaw_scene::{Scene, load};

const EVERYTHING: &str = r##"
version = 1
title = "Cloth"
parameters = { n = 5 }
[settings]
frames = 3
cloth = { solver = "direct", tolerance = 1e-6, iterations = 77, rounds = 3, strain_step = 0.02, wind = [1, 2, 3], air = false, precision = "single", self_collision = "robust" }

[bodies.bar]
kind = "kinematic"
shape = { capsule = { radius = 0.1, length = 1 } }
position = [0, 2, 0]
[generate.person]
make = { figure = { motion = "walk", duration = 1, begin = 0.1 } }
position = [3, 0, 0]

[cloths.sheet]
mesh = { grid = { columns = "n", rows = "n - 1", size = [2, 1] } }
fabric = { preset = "silk", density = 0.3, stretch = [1000, 2000], rest_scale = 0.5, shear = 7, bend = 1e-5, bending = "hinge", damping = [1e-3, 2e-3, 3e-3], friction = 0.1, thickness = 2e-3, drag = 2, lift = 1 }
position = [0, 1, 0]
rotation = { axis = [1, 0, 0], degrees = 90 }
velocity = [0, 0, 1]
groups = { member = [2] }
self_collision = false
gravity_scale = 0.5
color = "#ff0000"
pins = [
  { group = "corner.top-left" },
  { vertices = [7], body = "bar" },
  { nearest = [[0.9, 0, 0.6]], directions = [[1, 0, 0]] },
  { box = { min = [-0.1, -1, -0.6], max = [0.1, 1, -0.4] }, keyframes = { keys = [{ time = 0 }, { time = 2, position = [0, 2, 0] }], smooth = true } },
]
[cloths.flag]
mesh = { disc = { rings = 2, radius = 1 } }
fabric = "denim"
position = [10, 0, 0]
pins = "border"
copies.grid = { count = [2, 1, 1], spacing = [3, 0, 0] }
[cloths.tube]
mesh = { tube = { around = 6, along = 3, radius = 1, height = 2 } }
position = [20, 0, 0]
pins = { group = "edge.top" }
[cloths.patch]
mesh = { surface = { vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles = [[0, 1, 2]], coordinates = [[0, 0], [2, 0], [0, 2]], scale = 2 } }
position = [30, 0, 0]

[expect]
"sheet.0.y" = { near = 1.5, within = 1e-9 }
"flag.1.3.speed" = { below = 100 }
"flag.*.lowest" = { above = -9 }
"tube.strain" = { below = 1 }
"##;

fn everything() -> Scene {
    load("cloth", EVERYTHING, None, &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn settings_and_fabric_reach_the_engine() {
    let scene = everything();
    let cloth = &scene.world.settings().cloth;
    assert_eq!((cloth.solver, cloth.precision), (ClothSolver::Direct, Precision::Single));
    assert_eq!((cloth.tolerance, cloth.iterations, cloth.rounds), (1e-6, 77, 3));
    assert_eq!((cloth.strain_step, cloth.air), (0.02, false));
    assert_eq!(cloth.self_collision, SelfCollision::Robust);
    assert_eq!(cloth.wind, Vec3::new(1.0, 2.0, 3.0));
    let model = scene.world.cloth(scene.cloths[0].id).unwrap();
    let f = model.fabric();
    assert_eq!((f.density, f.stretch, f.rest_scale), (0.3, [1000.0, 2000.0], [0.5, 0.5]));
    assert_eq!((f.shear, f.bend, f.bending), (7.0, [1e-5, 1e-5], Bending::Hinge));
    assert_eq!((f.damping, f.friction), ([1e-3, 2e-3, 3e-3], 0.1));
    assert_eq!((f.thickness, f.drag, f.lift), (2e-3, 2.0, 1.0));
    assert_eq!((model.groups.member, model.gravity_scale, model.self_collision), (4, 0.5, false));
    assert_eq!(scene.cloths[0].color, Some([1.0, 0.0, 0.0]));
    assert_eq!(scene.world.cloth(scene.cloths[1].id).unwrap().fabric().density, 0.4, "denim");
}

#[test]
fn meshes_pins_and_copies_are_placed() {
    let scene = everything();
    let names: Vec<&str> = scene.cloths.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["sheet", "flag.0", "flag.1", "tube", "patch"]);
    let id = |name: &str| scene.cloths.iter().find(|c| c.name == name).unwrap().id;
    let sheet = scene.world.vertices(id("sheet")).unwrap();
    assert_eq!(sheet.len(), 20);
    assert!(sheet[0].distance(Vec3::new(-1.0, 1.5, 0.0)) < 1e-12, "the first row is the top");
    let pins = |name: &str| -> Vec<u32> {
        scene.world.cloth(id(name)).unwrap().pins.iter().map(|p| p.vertex).collect()
    };
    assert_eq!(pins("sheet"), [0, 2, 7, 19]);
    assert_eq!(pins("flag.1"), (7..19).collect::<Vec<_>>(), "the outer ring of a disc");
    assert_eq!(pins("tube"), (12..18).collect::<Vec<_>>());
    let tube = scene.world.vertices(id("tube")).unwrap();
    assert!(tube[12].y > 0.9);
    let offset = scene.world.vertices(id("flag.1")).unwrap()[0]
        - scene.world.vertices(id("flag.0")).unwrap()[0];
    assert_eq!(offset, Vec3::new(3.0, 0.0, 0.0));
    let v = scene.world.vertex_velocities(id("sheet")).unwrap()[4];
    assert_eq!(v, Vec3::new(0.0, 0.0, 1.0));
    assert_eq!(scene.world.vertices(id("patch")).unwrap()[1], Vec3::new(32.0, 0.0, 0.0));
}

#[test]
fn figures_have_named_parts_that_move() {
    let scene = everything();
    let hips = scene.bodies.iter().find(|b| b.name == "person.hips").unwrap();
    assert!(scene.world.pose(hips.id).unwrap().translation.x > 2.9);
    assert!(scene.bodies.iter().any(|b| b.name == "person.left_arm"));
}

#[test]
fn moving_pins_carry_their_vertices() {
    let mut scene = everything();
    for _ in 0..60 {
        scene.world.step(1.0 / 60.0).unwrap();
    }
    // half of the way is done after half of the time, eased or not
    let y = scene.world.vertices(scene.cloths[0].id).unwrap()[2].y;
    assert!((y - 2.0).abs() < 0.01, "{y}");
}

#[test]
fn presets_are_known_to_the_checker() {
    for preset in PRESETS {
        let text = EVERYTHING.replace("\"denim\"", &format!("\"{preset}\""));
        assert!(load("cloth", &text, None, &[]).is_ok(), "{preset}");
    }
}

#[test]
fn mistakes_are_told_in_their_place() {
    for (from, to, message, hint) in [
        ("\"denim\"", "\"denm\"", "`fabric` cannot be \"denm\"", "did you mean \"denim\"?"),
        (
            "\"corner.top-left\"",
            "\"corner.topleft\"",
            "this mesh has no vertices \"corner.topleft\"",
            "did you mean \"corner.top-left\"?",
        ),
        ("body = \"bar\"", "body = \"baz\"", "there is no body \"baz\"", "did you mean \"bar\"?"),
        (
            "\"tube.strain\"",
            "\"tube.strian\"",
            "a cloth has no quantity `strian`",
            "did you mean `tube.strain`?",
        ),
        ("sheet.0.y", "sheet.99.y", "the cloth `sheet` has no vertex `99`", "0 to 19"),
        ("sheet.0.y", "sheet.0.mass", "a vertex has no quantity `mass`", "x, y, z"),
        ("flag.*.lowest", "flag.lowest", "`flag` stands for several cloths", "flag.0"),
        ("[cloths.tube]", "[cloths.bar]", "`bar` is a name already (bodies.bar)", ""),
        (
            "max = [0.1, 1, -0.4]",
            "max = [-0.2, 1, -0.4]",
            "no vertex of the mesh is in this box",
            "",
        ),
        ("vertices = [7]", "vertices = [70]", "vertex 70 is not one of the 20 vertices", ""),
        ("density = 0.3", "density = 1e9", "fabric.density", ""),
        ("triangles = [[0, 1, 2]]", "triangles = [[0, 1, 3]]", "names vertex 3", ""),
        ("wind = [1, 2, 3]", "wind = [1, 2, 1e9]", "`wind` must be slower", ""),
        ("columns = \"n\"", "columns = 1", "`columns` must be", ""),
    ] {
        let text = EVERYTHING.replacen(from, to, 1);
        assert_ne!(text, EVERYTHING, "{from}");
        let errors = load("cloth", &text, None, &[]).expect_err(to);
        let told = errors.to_string();
        assert!(told.contains(message), "{to}: {told}");
        assert!(told.contains(hint), "{to}: {told}");
        let place = &errors.errors[0].span;
        let line = text[..place.start].lines().count();
        assert!(line > 1, "{to} points at line {line}");
    }
}

#[test]
fn texture_coordinates_of_a_file_are_rest_coordinates() {
    let folder = std::env::temp_dir().join(format!("thirdlaw-cloth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n";
    std::fs::write(folder.join("patch.obj"), obj).unwrap();
    let text = "version = 1\n[cloths.patch]\nfabric = { density = 1 }\n\
                mesh = { surface = { file = \"patch.obj\", texture_size = [2, 3] } }\n";
    let scene = load("patch", text, Some(&folder), &[]).unwrap_or_else(|e| panic!("{e}"));
    let mass: f64 = scene.world.cloth(scene.cloths[0].id).unwrap().elements.mass.iter().sum();
    assert!((mass - 3.0).abs() < 1e-12, "half of 2 m by 3 m at 1 kg/m²: {mass}");
    std::fs::write(folder.join("patch.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let told = load("patch", text, Some(&folder), &[]).expect_err("no coordinates").to_string();
    assert!(told.contains("no texture coordinates"), "{told}");
    std::fs::remove_dir_all(&folder).unwrap();
}
