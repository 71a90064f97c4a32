//! Robots from URDF: a small arm by hand, and files that mean harm.

use thirdlaw::math::Vec3;
use thirdlaw::{Axis, BodyKind, Joint};
use thirdlaw_scene::{Scene, load};

/// Three links along x in a file whose z points up; the last carries a fixed tool.
const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>
    <collision><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.1"/></geometry></collision>
  </link>
  <link name="fore">
    <inertial><origin xyz="0.25 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial>
    <collision><origin xyz="0.25 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.05" length="0.5"/></geometry></collision>
  </link>
  <link name="hand">
    <inertial><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
    <visual><geometry><sphere radius="0.1"/></geometry><material name="red"><color rgba="1 0 0 1"/></material></visual>
  </link>
  <link name="tool">
    <inertial><mass value="0.5"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="500" velocity="2"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="fore"/><child link="hand"/><origin xyz="0.5 0 0"/>
    <limit lower="0" upper="0.3" effort="100" velocity="1"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="hand"/><child link="tool"/><origin xyz="0.2 0 0"/>
  </joint>
  <transmission name="t"/>
</robot>
"#;

fn robot(text: &str, rest: &str) -> Result<Scene, String> {
    let scene = format!("version = 1\n[urdf.arm]\ntext = '''\n{text}'''\n{rest}");
    load("t.toml", &scene, None, &[]).map_err(|e| e.to_string())
}

fn joint<'a>(scene: &'a Scene, name: &str) -> &'a Joint {
    let found = scene.joints.iter().find(|j| j.name == name);
    &scene.world.joint(found.expect(name).id).unwrap().joint
}

#[test]
fn links_and_joints_arrive() {
    let scene = robot(ARM, "[urdf.arm.joints.shoulder]\nposition = 0.5\n").unwrap();
    let names: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(
        names,
        ["arm.upper", "arm.fore", "arm.hand"],
        "the base is the world, the tool part of the hand"
    );
    let names: Vec<&str> = scene.joints.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["arm.shoulder", "arm.elbow", "arm.slide"]);
    // z of the file is y of the scene; a turn about its y, scene -z, dips the arm
    let elbow = scene.world.pose(scene.bodies[1].id).unwrap().translation;
    let wanted = Vec3::new(0.5_f64.cos(), 1.0 - 0.5_f64.sin(), 0.0);
    assert!(elbow.distance(wanted) < 1e-12, "{elbow}");
    let reading = scene.world.joint_reading(scene.joints[0].id).unwrap();
    assert!((reading.coordinate(Axis::TurnX) - 0.5).abs() < 1e-12);
    let limits = joint(&scene, "arm.shoulder").axes[3].limits.unwrap();
    assert_eq!((limits.lower, limits.upper), (-1.0, 1.0));
    let elbow = &joint(&scene, "arm.elbow").axes[3];
    assert_eq!((elbow.friction, elbow.spring.unwrap().damping, elbow.limits), (0.2, 0.1, None));
    assert_eq!(joint(&scene, "arm.slide").axes[0].limits.unwrap().upper, 0.3);
    // hand and tool, 0.5 kg each, 0.2 m apart
    let hand = scene.world.body(scene.bodies[2].id).unwrap();
    assert_eq!(hand.kind, BodyKind::Dynamic);
    assert!((hand.mass - 1.0).abs() < 1e-12);
    assert!(hand.center.distance(Vec3::new(0.1, 0.0, 0.0)) < 1e-12, "{}", hand.center);
    assert_eq!(scene.bodies[2].color, Some([1.0, 0.0, 0.0]));
    for part in
        ["<robot> <transmission> is not read", "velocity limits", "`tool` is fixed to `hand`"]
    {
        assert!(scene.notes.iter().any(|n| n.contains(part)), "{part}: {:?}", scene.notes);
    }
}

#[test]
fn held_by_its_drives_an_arm_rests_on_its_base() {
    let drive = "[urdf.arm.drive]\nstiffness = 1e5\ndamping = 1e3\n[settings]\nsleeping = false\n";
    let mut scene = robot(ARM, drive).unwrap();
    for _ in 0..120 {
        scene.world.step(1.0 / 60.0).unwrap();
    }
    let reading = |name: &str| {
        let found = scene.joints.iter().find(|j| j.name == name).unwrap();
        scene.world.joint_reading(found.id).unwrap()
    };
    // weights 2 kg at 0.5 m, 1 kg at 1.25 m, 1 kg at 1.6 m
    let shoulder = reading("arm.shoulder");
    assert!((shoulder.force.y - 4.0 * 9.81).abs() < 1e-2, "{:?}", shoulder.force);
    let moment = 9.81 * (2.0 * 0.5 + 1.0 * 1.25 + 1.0 * 1.6);
    assert!((shoulder.torque.z - moment).abs() < 0.01 * moment, "{:?}, {moment}", shoulder.torque);
    assert!((reading("arm.elbow").force.y - 2.0 * 9.81).abs() < 1e-2);
    assert!(shoulder.coordinate(Axis::TurnX).abs() < 1e-3);
}

#[test]
fn a_mimic_follows_and_a_free_base_falls() {
    let text = ARM.replace(
        "<dynamics damping=\"0.1\" friction=\"0.2\"/>",
        "<mimic joint=\"shoulder\" multiplier=\"-2\" offset=\"0.1\"/>",
    );
    let mut scene = robot(&text, "[urdf.arm.joints.shoulder]\nposition = 0.3\n").unwrap();
    for _ in 0..30 {
        scene.world.step(1.0 / 60.0).unwrap();
        let angle = |i: usize| {
            scene.world.joint_reading(scene.joints[i].id).unwrap().coordinate(Axis::TurnX)
        };
        assert!((angle(1) - (-2.0 * angle(0) + 0.1)).abs() < 1e-6, "{} {}", angle(0), angle(1));
    }
    let told = robot(ARM, "base = \"free\"\n").unwrap_err();
    assert!(told.contains("link `base` can move but has no mass"), "{told}");
    let heavy = ARM.replace(
        "<link name=\"base\"/>",
        "<link name=\"base\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>",
    );
    let mut scene = robot(&heavy, "base = \"free\"\nposition = [0, 9, 0]\n").unwrap();
    for _ in 0..60 {
        scene.world.step(1.0 / 60.0).unwrap();
    }
    let (momentum, _) = thirdlaw::measure::momentum(&scene.world);
    assert!((momentum.y + 5.0 * 9.81).abs() < 1e-9, "nothing but gravity acts: {momentum}");
}

#[test]
fn wrong_files_are_refused_with_line_and_column() {
    for (from, to, message) in [
        ("<robot name", "<sdf name", "arm.urdf:36:1: this is not XML: expected 'sdf' tag"),
        ("</robot>", "", "this is not XML"),
        (
            "link=\"fore\"/><origin",
            "link=\"forr\"/><origin",
            "joint `elbow`: there is no link `forr`; did you mean `fore`?",
        ),
        (
            "<parent link=\"base\"/>",
            "<parent link=\"hand\"/>",
            "links hang on each other in a circle",
        ),
        (
            "<child link=\"tool\"/>",
            "<child link=\"fore\"/>",
            "link `fore` hangs on joint `elbow` already",
        ),
        ("<child link=\"tool\"/>", "<child link=\"hand\"/>", "joins link `hand` with itself"),
        (
            "<link name=\"tool\">",
            "<link name=\"spare\"/><link name=\"tool\">",
            "only one link may hang on nothing, not `base`, `spare`",
        ),
        ("<link name=\"tool\">", "<link name=\"hand\">", "there is a link `hand` already"),
        ("<mass value=\"2\"/>", "<mass value=\"nan\"/>", "`value`: `nan` is not a finite number"),
        (
            "<mass value=\"2\"/>",
            "<mass value=\"-2\"/>",
            "link `upper`: mass must be positive, not -2",
        ),
        ("<mass value=\"2\"/>", "", "the <inertial> of link `upper` needs mass and inertia"),
        (
            "ixx=\"0.01\" ixy=\"0\" ixz=\"0\" iyy=\"0.2\"",
            "ixx=\"-1\" ixy=\"0\" ixz=\"0\" iyy=\"0.2\"",
            "link `upper`: mass.inertia",
        ),
        ("xyz=\"0 1 0\"", "xyz=\"0 0 0\"", "joint `shoulder`: its axis needs a direction"),
        ("xyz=\"0 1 0\"", "xyz=\"0 1\"", "`xyz` must be three numbers"),
        (
            "lower=\"-1\" upper=\"1\"",
            "lower=\"1\" upper=\"-1\"",
            "joint `shoulder`: the lower limit 1 exceeds the upper limit -1",
        ),
        ("type=\"continuous\"", "type=\"revolute\"", "joint `elbow`: revolute needs <limit>"),
        (
            "type=\"continuous\"",
            "type=\"continous\"",
            "there is no type `continous`; did you mean continuous?",
        ),
        (
            "radius=\"0.05\" length=\"0.5\"",
            "radius=\"0\" length=\"0.5\"",
            "`radius` must be greater than 0, not 0",
        ),
        ("<sphere radius=\"0.05\"/>", "<torus radius=\"1\"/>", "<torus> is no shape that is read"),
        (
            "<sphere radius=\"0.05\"/>",
            "<mesh filename=\"package://p/m.obj\"/>",
            "package://p/m.obj is not found",
        ),
        (
            "<dynamics damping=\"0.1\" friction=\"0.2\"/>",
            "<mimic joint=\"elbow\"/>",
            "joint `elbow` follows itself",
        ),
        (
            "<dynamics damping=\"0.1\" friction=\"0.2\"/>",
            "<mimic joint=\"knee\"/>",
            "there is no joint `knee` to mimic",
        ),
        (
            "<dynamics damping=\"0.1\"",
            "<dynamics damping=\"-1\"",
            "damping and friction cannot be negative",
        ),
    ] {
        assert!(ARM.contains(from), "{from}");
        match robot(&ARM.replacen(from, to, 1), "") {
            Ok(_) => panic!("{to} should be refused"),
            Err(told) => {
                assert!(told.contains(message), "{to}\nshould tell: {message}\nbut tells:\n{told}")
            }
        }
    }
    let told = robot(ARM, "[urdf.arm.joints.shoulder]\nposition = 2\n").unwrap_err();
    assert!(told.contains("joint `shoulder` goes from -1 to 1, not to 2"), "{told}");
    let told = robot(ARM, "[urdf.arm.joints.sholder]\n").unwrap_err();
    assert!(told.contains("did you mean `shoulder`?"), "{told}");
}

#[test]
fn hostile_files_are_refused_or_read_but_never_fatal() {
    let deep = format!("<robot>{}{}</robot>", "<a>".repeat(50_000), "</a>".repeat(50_000));
    assert!(robot(&deep, "").is_err());
    let many: String = (0..20_000).map(|i| format!("<link name='l{i}'/>")).collect();
    assert!(robot(&format!("<robot>{many}</robot>"), "").is_err());
    let bomb =
        "<!DOCTYPE r [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><robot>&b;</robot>";
    assert!(robot(bomb, "").is_err());
    // every cut of a good file
    let whole = ARM.find("</robot>").unwrap() + 8;
    for length in (0..whole).step_by(7).filter(|&i| ARM.is_char_boundary(i)) {
        assert!(robot(&ARM[..length], "").is_err(), "{length}");
    }
}

#[test]
fn a_long_chain_of_links_is_no_recursion() {
    let count = 3000;
    let mut text = String::from("<robot><link name='l0'/>");
    for i in 1..=count {
        text += &format!(
            "<link name='l{i}'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>\
             <joint name='j{i}' type='continuous'><parent link='l{}'/><child link='l{i}'/><origin xyz='1 0 0'/></joint>",
            i - 1
        );
    }
    let scene = robot(&(text + "</robot>"), "").unwrap();
    assert_eq!((scene.bodies.len(), scene.joints.len()), (count, count));
}

#[test]
fn files_and_meshes_are_found_beside_the_scene() {
    let folder = std::env::temp_dir().join(format!("thirdlaw-urdf-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("robots")).unwrap();
    std::fs::create_dir_all(folder.join("meshes")).unwrap();
    let text = ARM.replace(
        "<sphere radius=\"0.05\"/>",
        "<mesh filename=\"package://p/meshes/m.obj\" scale=\"2 2 2\"/>",
    );
    std::fs::write(folder.join("robots/arm.urdf"), text).unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.join("meshes/m.obj"), mesh).unwrap();
    let scene = "version = 1\n[urdf.arm]\nfile = \"robots/arm.urdf\"\n";
    let loaded = load("t.toml", scene, Some(&folder), &[]);
    let missing = scene.replace("arm.urdf", "leg.urdf");
    let told = load("t.toml", &missing, Some(&folder), &[]).unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
    assert!(loaded.notes.iter().any(|n| n.contains("convex hull")), "{:?}", loaded.notes);
    assert!(told.contains("cannot read") && told.contains("leg.urdf"), "{told}");
}
