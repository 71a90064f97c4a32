//! Joints: their table, their error, and what is told about robots.

use super::*;

const CHAIN: &str = r#"version = 1
settings = { frames = 40, sleeping = false }

[bodies.link]
shape = { box = { size = [0.4, 0.1, 0.1] } }
position = [0.2, 0, 0]
mass = 1
copies = { grid = { count = [5, 1, 1], spacing = [0.4, 0, 0] } }

[points.end]
mass = 2
position = [3, 0, 0]

[joints.pin]
kind = "ball"
chain = ["world", "link"]
at = [0, 0, 0]
step = [0.4, 0, 0]

[joints.rope]
kind = "rope"
between = ["link.4", "end"]
anchors = [[0.2, 0, 0], [0, 0, 0]]

[expect]
joint_error = { below = 1e-6 }
"pin.0.force" = { above = 1, from = 0.1 }
"end.y" = { below = -0.1, at = 0.5 }
"#;

#[test]
fn every_joint_has_a_row_in_every_frame() {
    let workplace = Workplace::new();
    workplace.write("chain.toml", CHAIN);
    let done = workplace.thirdlaw("run chain.toml --joints --out here").expect_code(0);
    assert!(done.stdout.contains("joints.csv"), "{}", done.stdout);
    let run = Run::read(&workplace.path("here"));
    assert!(run.column("joint_error").iter().any(|e| e.parse::<f64>().unwrap() > 0.0));
    let table = std::fs::read_to_string(workplace.path("here/joints.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some(
            "frame,time,joint,x,y,z,turn_x,turn_y,turn_z,x_rate,y_rate,z_rate,turn_x_rate,\
             turn_y_rate,turn_z_rate,fx,fy,fz,tx,ty,tz,error,turn_error,broken"
        )
    );
    assert_eq!(lines.clone().count(), 41 * 6);
    let last = lines.next_back().unwrap();
    assert!(last.starts_with("40,") && last.contains(",rope,") && last.ends_with(",0"), "{last}");
}

#[test]
fn a_killed_run_of_joints_ends_in_the_same_bits() {
    let workplace = Workplace::new();
    workplace.write("chain.toml", CHAIN);
    workplace.thirdlaw("run chain.toml --joints --out whole").expect_code(0);
    let read = |folder: &str| std::fs::read(workplace.path(folder).join("joints.csv")).unwrap();
    workplace.thirdlaw("run chain.toml --joints --out cut").expect_code(0);
    // as a kill in frame 21 leaves it: a row cut short, no cache files from there on
    let text = String::from_utf8(read("cut")).unwrap();
    let row = text.lines().position(|l| l.starts_with("21,") && l.contains("pin.3")).unwrap();
    let kept: Vec<&str> = text.lines().take(row).collect();
    std::fs::write(workplace.path("cut/joints.csv"), kept.join("\n") + "\n21,0.35,pin").unwrap();
    for frame in 21..=40 {
        std::fs::remove_file(workplace.path(&format!("cut/frames/frame-{frame:06}.3l"))).unwrap();
    }
    let record = std::fs::read_to_string(workplace.path("cut/run.json")).unwrap();
    let record = record.replace("\"outcome\": \"done\"", "\"outcome\": \"running\"");
    std::fs::write(workplace.path("cut/run.json"), record).unwrap();
    workplace.thirdlaw("resume cut").expect_code(0);
    assert!(read("cut") == read("whole"), "joints differ");
    let (cut, whole) = (Run::read(&workplace.path("cut")), Run::read(&workplace.path("whole")));
    assert_eq!(cut.column("hash"), whole.column("hash"));
}

#[test]
fn what_of_a_robot_is_not_used_is_told() {
    let workplace = Workplace::new();
    workplace.write(
        "arm.urdf",
        "<robot><link name='base'/><link name='arm'><inertial><mass value='1'/>\
         <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>\
         <joint name='j' type='continuous'><parent link='base'/><child link='arm'/></joint>\
         <gazebo/></robot>",
    );
    workplace.write("arm.toml", "version = 1\n[urdf.arm]\nfile = \"arm.urdf\"\n");
    for command in ["check arm.toml", "run arm.toml --frames 1"] {
        let done = workplace.thirdlaw(command).expect_code(0);
        assert!(done.stderr.contains("<robot> <gazebo> is not read"), "{}", done.stderr);
        assert!(done.stderr.contains("touches nothing"), "{}", done.stderr);
    }
}
