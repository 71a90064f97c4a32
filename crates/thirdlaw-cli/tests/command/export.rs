//! Runs in the formats of other programs. What is in the files is checked by scripts/check-exports.

use super::*;

fn box_run() -> Workplace {
    let workplace = Workplace::new();
    let scene = box_on_floor(&workplace);
    workplace.thirdlaw(&format!("run {scene} --frames 6 --quiet --out out/a")).expect_code(0);
    workplace
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_latest_run_is_exported_in_every_format() {
    let workplace = box_run();
    for format in ["usd", "vtk", "obj", "gltf"] {
        let done = workplace.thirdlaw(&format!("export --to {format}")).expect_code(0);
        assert!(done.stdout.contains("7 frames"), "{}", done.stdout);
    }
    let folder = workplace.path("out/a/export");
    assert_eq!(names(&folder), ["obj", "scene.glb", "scene.usda", "vtk"]);
    assert_eq!(names(&folder.join("obj")).len(), 7 + 1);
    assert_eq!(names(&folder.join("vtk")).len(), 2 * 7 + 2);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let workplace = box_run();
    for format in ["usd", "gltf"] {
        let read = |name: &str| {
            workplace.thirdlaw(&format!("export out/a --to {format} --out {name}")).expect_code(0);
            std::fs::read(workplace.path(name)).unwrap()
        };
        assert!(read(&format!("one.{format}")) == read(&format!("two.{format}")));
    }
}

#[test]
fn frames_can_be_chosen() {
    let workplace = box_run();
    workplace.thirdlaw("export --to obj --frames 1..5:2 --out some").expect_code(0);
    let wanted = ["frame-000001.obj", "frame-000003.obj", "frame-000005.obj", "scene.mtl"];
    assert_eq!(names(&workplace.path("some")), wanted);
    let done = workplace.thirdlaw("export --to obj --frames 9 --out none").expect_code(2);
    assert!(done.stderr.contains("the last frame of the run is 6"), "{}", done.stderr);
    assert!(!workplace.path("none").exists());
}

#[test]
fn nothing_is_replaced_without_force_and_nothing_foreign_ever() {
    let workplace = box_run();
    for (format, name) in [("usd", "export/scene.usda"), ("vtk", "export/vtk/scene.pvd")] {
        let path = workplace.path("out/a").join(name);
        workplace.thirdlaw(&format!("export --to {format}")).expect_code(0);
        std::fs::write(&path, "old").unwrap();
        let done = workplace.thirdlaw(&format!("export --to {format}")).expect_code(2);
        assert!(done.stderr.contains("--force"), "{}", done.stderr);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        workplace.thirdlaw(&format!("export --to {format} --force")).expect_code(0);
        assert_ne!(std::fs::read(&path).unwrap(), b"old");
    }
    std::fs::create_dir(workplace.path("mine")).unwrap();
    std::fs::write(workplace.path("mine/thesis.txt"), "years of work").unwrap();
    workplace.thirdlaw("export --to obj --out mine --force").expect_code(2);
    assert_eq!(names(&workplace.path("mine")), ["thesis.txt"]);
}

#[test]
fn a_new_run_takes_the_exports_of_the_old_one_away() {
    let workplace = box_run();
    for format in ["usd", "vtk", "obj", "gltf"] {
        workplace.thirdlaw(&format!("export --to {format}")).expect_code(0);
    }
    workplace.thirdlaw("run boxes.toml --frames 2 --quiet --out out/a --force").expect_code(0);
    assert!(!workplace.path("out/a/export").exists());
}

#[test]
fn what_cannot_be_exported_says_why() {
    let workplace = box_run();
    workplace.thirdlaw("export --to fbx").expect_code(2);
    workplace.thirdlaw("export").expect_code(2);
    workplace.thirdlaw("export no/such/folder --to usd").expect_code(4);
    std::fs::write(workplace.path("file"), "").unwrap();
    workplace.thirdlaw("export --to usd --out file/scene.usda").expect_code(4);
    let frame = workplace.path("out/a/frames/frame-000004.3l");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() / 2]).unwrap();
    for format in ["usd", "vtk", "obj", "gltf"] {
        let done = workplace.thirdlaw(&format!("export --to {format}")).expect_code(4);
        assert!(done.stderr.contains("frame-000004.3l"), "{}", done.stderr);
    }
    assert!(names(&workplace.path("out/a/export")).is_empty(), "no half export is left");
}
