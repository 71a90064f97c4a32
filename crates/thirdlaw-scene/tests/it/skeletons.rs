//! Skeletons in soft bodies, loops of rods, rings, and paths that turn more than half around.

use thirdlaw::math::Vec3;
use thirdlaw_scene::{Scene, load};

fn scene(text: &str) -> Scene {
    load("test", &format!("version = 1\n{text}"), None, &[]).unwrap_or_else(|e| panic!("{e}"))
}

const WORM: &str = r##"
[soft_bodies.worm]
mesh = { lathe = { profile = [[-0.2, 0], [-0.12, 0.06], [0.12, 0.06], [0.2, 0]], spacing = 0.04 } }
copies = { grid = { count = [2, 1, 1], spacing = [1, 0, 0] } }

[soft_bodies.worm.bones]
points = [[-0.15, 0, 0], [0, 0, 0], [0.15, 0, 0]]
hold = 0.04
kind = "hinge"
axis = [0, 0, 1]
drive = { stiffness = 10, damping = 1, target = { sine = { amplitude = 0.5, frequency = 1 } } }
"##;

/// Each copy has bones of its own, where its points are, and vertices that these hold.
#[test]
fn every_copy_gets_its_own_bones() {
    let scene = scene(WORM);
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["worm-bones.0.0", "worm-bones.0.1", "worm-bones.1.0", "worm-bones.1.1"]);
    let joints: Vec<&str> = scene.joints.iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(joints, ["worm-joints.0.0", "worm-joints.1.0"]);
    for (i, x) in [(0, -0.075), (1, 0.075), (2, 0.925), (3, 1.075)] {
        let at = scene.world.center(scene.bodies[i].id).unwrap();
        assert!(at.distance(Vec3::new(x, 0.0, 0.0)) < 1e-12, "{at}");
    }
    let held = |i: usize| scene.world.deformable(scene.cloths[i].id).unwrap().pins.len();
    assert!(held(0) > 4 && held(0) == held(1), "{} {}", held(0), held(1));
}

/// Two turns in two seconds are one turn a second, the long way.
#[test]
fn a_path_turns_as_often_as_it_says() {
    let mut scene = scene(
        r#"
[settings]
fps = 24
[bodies.wheel]
kind = "kinematic"
shape = { torus = { radius = 0.3, tube = 0.1 } }
keyframes.keys = [{ time = 0 }, { time = 2, turn = { axis = [0, 3, 0], degrees = 720 } }]
"#,
    );
    let id = scene.bodies[0].id;
    for frame in 1..=24 {
        scene.world.step(scene.dt()).unwrap();
        let spin = scene.world.velocity(id).unwrap().angular;
        let wanted = Vec3::Y * std::f64::consts::TAU;
        assert!(spin.distance(wanted) < 1e-6, "frame {frame}: {spin}");
        let turned = scene.world.pose(id).unwrap().rotation * Vec3::X;
        let angle = std::f64::consts::TAU * f64::from(frame) / 24.0;
        let wanted = Vec3::new(libm::cos(angle), 0.0, -libm::sin(angle));
        assert!(turned.distance(wanted) < 1e-9, "frame {frame}: {turned}");
    }
}

/// A loop is closed: each of its rods is in two joints, and none is open at the start.
#[test]
fn loops_are_closed() {
    let scene = scene(
        "[generate.loop]\nmake = { loops = { links = 5, grid = { count = [2, 1, 1], spacing = [1, 0, 0] } } }",
    );
    assert_eq!((scene.bodies.len(), scene.joints.len()), (10, 10));
    assert!(thirdlaw::measure::joint_error(&scene.world) < 1e-12);
}

#[test]
fn what_cannot_be_is_refused() {
    let error = |text: &str| {
        load("test", &format!("version = 1\n{text}"), None, &[]).err().unwrap().to_string()
    };
    let smooth = "[bodies.a]\nkind = \"kinematic\"\nshape = { sphere = { radius = 1 } }\n\
        keyframes = { smooth = true, keys = [{ time = 0 }, { time = 1, turn = { axis = [0, 1, 0], degrees = 720 } }] }";
    assert!(error(smooth).contains("without `smooth`"));
    let full = "[bodies.a]\nshape = { torus = { radius = 1, tube = 1 } }";
    assert!(error(full).contains("fills a ring"));
    // beside the vertices that lie on the axis
    let bare = WORM.replace("hold = 0.04", "hold = 1e-6");
    let bare = bare
        .replace("0, 0], [0, 0, 0], [0.15, 0, 0]]", "0.003, 0], [0, 0.003, 0], [0.15, 0.003, 0]]");
    assert!(error(&bare).contains("no vertex of the mesh"), "{}", error(&bare));
}
