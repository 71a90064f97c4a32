//! Joints in scene files: what is written is what the engine gets, and what is wrong is told.

use thirdlaw::math::Vec3;
use thirdlaw::{Axis, AxisMode, Enforcement, JointKind, JointSolve, Side, Target};
use thirdlaw_scene::{ExpectTracker, FrameStats, Scene, load};

const BODIES: &str = r#"version = 1
settings = { joints = { enforcement = "projection", solve = "rows", iterations = 5, tolerance = 1e-6, closing = 0.02 } }
[bodies.arm]
shape = { box = { size = [1, 0.1, 0.1] } }
position = [0.5, 0, 0]
[bodies.link]
shape = { box = { size = [1, 0.1, 0.1] } }
position = [0.5, 5, 0]
copies.grid = { count = [3, 1, 1], spacing = [1, 0, 0] }
[bodies.cart]
shape = { box = { size = [1, 0.1, 0.1] } }
position = [0, 8, 0]
[points.dot]
mass = 2
position = [0, 3, 0]
velocity = [1, 0, 0]
[points.bead]
mass = 1
position = [0, 9, 0]
copies.grid = { count = [2, 1, 1], spacing = [1, 0, 0] }
"#;

fn scene(joints: &str) -> Scene {
    load("t.toml", &format!("{BODIES}{joints}"), None, &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(joints: &str) -> String {
    match load("t.toml", &format!("{BODIES}{joints}"), None, &[]) {
        Ok(_) => panic!("this should be refused:\n{joints}"),
        Err(errors) => errors.to_string(),
    }
}

/// The description of a joint by its name.
fn joint<'a>(scene: &'a Scene, name: &str) -> &'a thirdlaw::Joint {
    let found = scene.joints.iter().find(|j| j.name == name);
    &scene.world.joint(found.expect(name).id).unwrap().joint
}

#[test]
fn numbers_of_joints_arrive() {
    let scene = scene(
        r#"[joints.pivot]
kind = "hinge"
between = ["world", "arm"]
at = [0, 0, 0]
axis = [0, 0, 2]
limits = { lower = -1, upper = 2, restitution = 0.5 }
friction = 0.25
spring = { stiffness = 3, damping = 4, rest = 0.1 }
drive = { stiffness = 10, damping = 1, target = 0.5, velocity = 0.2, effort = 0.3, limit = 7 }
breaking = { force = 100, torque = 50 }
enforcement = { soft = { stiffness = 1e5, damping = 10 } }
collide = true
[joints.six]
kind = { six_axis = { free = ["y", "turn_x"] } }
between = ["world", "cart"]
enforcement = "reduced"
axes.y = { limits = [-1, 1], drive = { motor = 2, limit = 3 } }
axes.turn_x.drive.target.sine = { amplitude = 0.3, frequency = 2, center = 0.1, phase = 1 }
[joints.tie]
kind = { rope = { length = 4 } }
between = ["dot", "arm"]
[joints.wire]
kind = { curve = { points = [[0, 9, 0], [1, 8, 0], [2, 9, 0]], closed = true } }
between = ["world", "bead.0"]
[joints.coil]
kind = { spring = { stiffness = 5, damping = 0.5, length = 1 } }
between = ["bead.0", "bead.1"]
"#,
    );
    let settings = scene.world.settings().joints;
    assert_eq!(settings.enforcement, Enforcement::Projection);
    assert_eq!(settings.solve, JointSolve::Rows);
    assert_eq!((settings.iterations, settings.tolerance, settings.closing), (5, 1e-6, 0.02));
    let pivot = joint(&scene, "pivot");
    assert_eq!((&pivot.kind, pivot.a), (&JointKind::Hinge, Side::World));
    let axis = &pivot.axes[Axis::TurnX.index()];
    let limits = axis.limits.unwrap();
    assert_eq!((limits.lower, limits.upper, limits.restitution), (-1.0, 2.0, 0.5));
    assert_eq!(axis.friction, 0.25);
    let spring = axis.spring.unwrap();
    assert_eq!((spring.stiffness, spring.damping, spring.rest), (3.0, 4.0, 0.1));
    let drive = axis.drive.as_ref().unwrap();
    assert_eq!(drive.target, Target::Constant { position: 0.5, velocity: 0.2 });
    assert_eq!((drive.effort, drive.limit), (0.3, 7.0));
    assert_eq!((pivot.break_force, pivot.break_torque, pivot.collide), (100.0, 50.0, true));
    assert_eq!(pivot.enforcement, Some(Enforcement::Soft { stiffness: 1e5, damping: 10.0 }));
    let six = joint(&scene, "six");
    assert_eq!(six.enforcement, Some(Enforcement::Reduced));
    let free: Vec<bool> = six.axes.iter().map(|a| a.mode == AxisMode::Free).collect();
    assert_eq!(free, [false, true, false, true, false, false]);
    assert_eq!(six.axes[1].drive.as_ref().unwrap().damping, f64::INFINITY);
    let target = &six.axes[3].drive.as_ref().unwrap().target;
    let wanted = Target::Sine { center: 0.1, amplitude: 0.3, frequency: 2.0, phase: 1.0 };
    assert_eq!(*target, wanted);
    assert_eq!(joint(&scene, "tie").kind, JointKind::Distance { min: 0.0, max: 4.0 });
    assert!(joint(&scene, "coil").collide, "springs let their bodies touch");
    let dot = scene.world.point(scene.points[0].id).unwrap();
    assert_eq!((dot.position.y, dot.velocity.x), (3.0, 1.0));
}

#[test]
fn chains_and_copies_make_a_joint_each() {
    let scene = scene(
        r#"[joints.pin]
kind = "ball"
chain = ["world", "link", "link.1"]
at = [0, 5, 0]
step = [1, 0, 0]
assemble = true
[joints.hang]
kind = "rod"
between = ["world", "link.*"]
[joints.pair]
kind = "rope"
between = ["bead.*", "arm"]
"#,
    );
    let names: Vec<&str> = scene.joints.iter().map(|j| j.name.as_str()).collect();
    let wanted =
        ["pin.0", "pin.1", "pin.2", "pin.3", "hang.0", "hang.1", "hang.2", "pair.0", "pair.1"];
    assert_eq!(names, wanted);
    // rods without a length keep the distance at the start
    let length = Vec3::new(1.5, 5.0, 0.0).length();
    assert_eq!(joint(&scene, "hang.1").kind, JointKind::Distance { min: length, max: length });
    let pin = scene.world.joint_reading(scene.joints[2].id).unwrap();
    assert!(pin.error < 1e-12, "anchors step along the chain: {}", pin.error);
}

#[test]
fn frames_decide_where_an_angle_is_zero() {
    let scene = load(
        "t",
        "version = 1\n[bodies.a]\nshape = { box = { size = [1, 1, 1] } }\n\
         rotation = { axis = [0, 0, 1], degrees = 90 }\n\
         [joints.in_world]\nkind = \"hinge\"\nbetween = [\"world\", \"a\"]\naxis = [0, 0, 1]\n\
         [joints.own]\nkind = \"hinge\"\nbetween = [\"world\", \"a\"]\n\
         frames = [{ axis = [0, 0, 1] }, { axis = [0, 0, 1] }]\n",
        None,
        &[],
    )
    .unwrap();
    let angle =
        |i: usize| scene.world.joint_reading(scene.joints[i].id).unwrap().coordinate(Axis::TurnX);
    assert!(angle(0).abs() < 1e-12, "placed in the world it starts at zero");
    assert!((angle(1) - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
}

#[test]
fn errors_name_the_joint_and_its_place() {
    for (text, message) in [
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"arn\"]\naxis = [0, 0, 1]",
            "joint `j`: there is no body or point \"arn\"",
        ),
        (
            "kind = \"ball\"\nbetween = [\"arm\", \"arm\"]",
            "joint `j`: a joint needs two different sides",
        ),
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"arm\"]\naxis = [0, 0, 0]",
            "joint `j`: its axis needs a direction",
        ),
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"arm\"]",
            "joint `j`: a hinge joint needs `axis`",
        ),
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"arm\"]\naxis = [0, 0, 1]\nlimits = [1, -1]",
            "joint `j`: the lower limit 1 must not exceed the upper limit -1",
        ),
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"arm\"]\naxis = [0, 0, 1]\ndrive = { stiffness = nan }",
            "`stiffness` must be at least 0, not NaN",
        ),
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"arm\"]\naxis = [0, 0, 1]\ndrive = { stiffness = -1 }",
            "`stiffness` must be at least 0, not -1",
        ),
        (
            "kind = \"ball\"\nbetween = [\"arm\", \"cart\"]\nanchors = [[0, 0, 0], [0, 0, 0]]",
            "joint `j`: the joint does not close",
        ),
        (
            "kind = \"ball\"\nbetween = [\"world\", \"link\"]",
            "joint `j`: \"link\" stands for 3 copies",
        ),
        (
            "kind = \"ball\"\nbetween = [\"bead.*\", \"link.*\"]",
            "joint `j`: 2 copies on one side and 3 on the other do not pair",
        ),
        ("kind = \"ball\"", "joint `j`: what does it join?"),
        (
            "kind = \"ball\"\nbetween = [\"world\", \"arm\"]\nlimits = [0, 1]",
            "joint `j`: `limits` of which coordinate?",
        ),
        (
            "kind = \"hinge\"\nbetween = [\"world\", \"dot\"]\naxis = [0, 0, 1]",
            "joint `j`: a point mass has no rotation",
        ),
        (
            "kind = { gear = { first = \"a\", second = \"b\", ratio = 2 } }",
            "joint `j`: there is no joint \"a\" to join",
        ),
        (
            "kind = { gear = { first = \"a\", second = \"b\", ratio = 2 } }\nat = [0, 0, 0]",
            "a gear has no `at`: it joins two joints",
        ),
        ("kind = \"hing\"\nbetween = [\"world\", \"arm\"]", "`kind` cannot be \"hing\""),
        (
            "kind = { distance = { min = 2, max = 1 } }\nbetween = [\"world\", \"arm\"]",
            "joint `j`: must be at least the least distance 2, not 1",
        ),
        (
            "kind = { curve = { points = [[0, 0, 0], [0, 0, 0]] } }\nbetween = [\"world\", \"dot\"]",
            "joint `j`: two neighbouring points of a curve coincide",
        ),
        (
            "kind = \"ball\"\nbetween = [\"world\", \"arm\"]\naxes = { x = { friction = 1 } }",
            "joint `j`: X is not a free coordinate",
        ),
        (
            "kind = \"ball\"\nbetween = [\"world\", \"arm\"]\nat = [0, 0, 0]\nanchor = [0, 0, 0]",
            "takes only one of `at` and `anchor`",
        ),
    ] {
        let told = refused(&format!("[joints.j]\n{text}\n"));
        assert!(told.contains(message), "{text}\nshould tell: {message}\nbut tells:\n{told}");
        let first = told.lines().next().unwrap_or("");
        assert!(first.starts_with("t.toml:"), "{told}");
    }
}

#[test]
fn the_underline_is_under_what_is_wrong() {
    let told = refused(
        "[joints.door]\nkind = \"hinge\"\nbetween = [\"world\", \"carrt\"]\naxis = [0, 1, 0]\n",
    );
    assert_eq!(
        told,
        "t.toml:23:21: joint `door`: there is no body or point \"carrt\"\n \
         23 | between = [\"world\", \"carrt\"]\n    |                     ^^^^^^^\n    = did you mean \"cart\"?\n"
    );
}

#[test]
fn names_are_unique_and_the_world_is_taken() {
    let told = refused("[joints.arm]\nkind = \"ball\"\nbetween = [\"world\", \"arm\"]\n");
    assert!(told.contains("`arm` is a name already (bodies.arm)"), "{told}");
    let told = refused("[bodies.world]\nshape = { sphere = { radius = 1 } }\n");
    assert!(told.contains("`world` cannot be the name of a body"), "{told}");
}

#[test]
fn readings_of_joints_and_points_are_checked() {
    let good = "[joints.j]\nkind = \"hinge\"\nbetween = [\"world\", \"arm\"]\naxis = [0, 0, 1]\n[expect]\n";
    for (key, hint) in [
        ("j.angel", "did you mean `j.angle`?"),
        ("j.position", "its quantities: angle, rate, x"),
        ("dot.mass", "a point has no quantity `mass`"),
        ("bead.x", "`bead` stands for several points"),
        ("k.angle", "a body has no quantity `angle`"),
        ("jj.x", "did you mean"),
    ] {
        let told = refused(&format!("{good}\"{key}\" = {{ below = 1 }}\n"));
        assert!(told.contains(hint), "{key}: {told}");
    }
    let text = "\"j.angle\" = { equals = 0 }\n\"j.rate\" = { equals = 0 }\n\"j.force\" = { equals = 0 }\n\
                \"dot.distance\" = { equals = 3 }\n\"bead.*.y\" = { equals = 9 }\n\"arm.distance\" = { equals = 0.5 }\n";
    let scene = scene(&format!("{good}{text}"));
    let mut tracker = ExpectTracker::new(&scene);
    tracker.observe(0.0, &FrameStats::default(), &scene.world, &scene.bodies);
    for verdict in tracker.verdicts() {
        assert!(verdict.passed, "{verdict:?}");
    }
}
