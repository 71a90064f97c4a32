//! Particles from scene file to statistics, pictures and exports.

use super::*;

const JET: &str = r#"version = 1
title = "A jet on a plate"

[settings]
frames = 12

[bodies.plate]
kind = "fixed"
shape = { box = { size = [0.1, 1, 1] } }
position = [0.5, 0, 0]

[emitters.jet]
direction = [1, 0, 0]
rate = 600
speed = 6
life = 0.095
radius = 0.02

[expect]
"plate.struck_x" = { above = 3, from = 0.15 }
"jet.count" = { above = 40, from = 0.15 }
particles = { above = 40, from = 0.15 }
"#;

#[test]
fn a_run_of_particles_counts_them_and_resumes_to_the_same_bits() {
    let workplace = Workplace::new();
    workplace.write("jet.toml", JET);
    workplace.thirdlaw("run jet.toml --out whole").expect_code(0);
    let whole = Run::read(&workplace.path("whole"));
    assert_eq!(whole.column("particles").first().map(String::as_str), Some("0"));
    // 600 a second that live for 0.095 s
    let last: u32 = whole.column("particles").last().unwrap().parse().unwrap();
    assert!((56..=58).contains(&last), "{last}");
    workplace.thirdlaw("run jet.toml --out cut").expect_code(0);
    let record = workplace.path("cut/run.json");
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("\"outcome\": \"done\"", "\"outcome\": \"running\""))
        .unwrap();
    for frame in 5..=12 {
        std::fs::remove_file(workplace.path(&format!("cut/frames/frame-{frame:06}.3l"))).unwrap();
    }
    workplace.thirdlaw("resume cut --threads 1").expect_code(0);
    assert_eq!(Run::read(&workplace.path("cut")).final_hash(), whole.final_hash());
}

#[test]
fn particles_are_drawn_and_exported() {
    let workplace = Workplace::new();
    workplace.write("jet.toml", JET);
    workplace.thirdlaw("run jet.toml --out out/jet --quiet").expect_code(0);
    let read = |name: &str| std::fs::read_to_string(workplace.path("out/jet/export").join(name));
    for format in ["usd", "vtk", "obj", "gltf"] {
        workplace.thirdlaw(&format!("export --to {format}")).expect_code(0);
    }
    let usd = read("scene.usda").unwrap();
    let jet = usd.split("def Points \"jet\"").nth(1).unwrap();
    assert!(jet.contains("int64[] ids.timeSamples") && jet.contains("velocities"), "{jet}");
    assert!(jet.contains("float[] widths = [0.04]"), "{jet}");
    assert!(jet.contains("            0: [],\n            1: [("), "{jet}");
    let last = read("obj/frame-000012.obj").unwrap();
    let points = last.lines().filter(|l| l.starts_with("p ")).count();
    let counted = Run::read(&workplace.path("out/jet")).column("particles");
    assert_eq!(Some(&points.to_string()), counted.last());
}
