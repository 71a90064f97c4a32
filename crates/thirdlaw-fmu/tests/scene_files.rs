//! FMUs in scene files.

use std::path::{Path, PathBuf};
use thirdlaw::Vec3;
use thirdlaw::simulator::Simulator;
use thirdlaw_fmu::{Fmu, FmuExport, scene};
use thirdlaw_scene::coupled::SceneSimulator;
use thirdlaw_scene::{SimulatorKind, load};

/// A folder that goes with whoever holds it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("thirdlaw-fmu-test-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The library of exported worlds, as this source has it; `THIRDLAW_FMU_LIBRARY` names another.
fn library() -> PathBuf {
    if let Some(named) = std::env::var_os("THIRDLAW_FMU_LIBRARY") {
        return named.into();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut build = std::process::Command::new(cargo);
    build.args(["build", "--quiet", "-p", "thirdlaw-fmu-binary"]);
    let program = std::env::current_exe().unwrap();
    // what the tests were built with is built already
    let release = program.components().any(|part| part.as_os_str() == "release");
    build.args(["--profile", if release { "release" } else { "test" }]);
    assert!(build.status().unwrap().success(), "the library does not build");
    FmuExport::library_beside_program().expect("it was just built")
}

const HEAD: &str =
    "version = 1\ntitle = \"pendulum\"\n[settings]\nduration = 2\nsleeping = false\n";

const BOB: &str = "[bodies.bob]\nshape = { sphere = { radius = 0.1 } }\nmass = 1\n\
    position = [0.3, -0.4, 0]\n";

const CART: &str = "[bodies.cart]\nshape = { sphere = { radius = 0.1 } }\nmass = 2\n\
    groups = { collides = [] }\n\
    [joints.rail]\nkind = \"slider\"\nbetween = [\"world\", \"cart\"]\nat = [0, 0, 0]\naxis = [1, 0, 0]\n\
    [simulators.carts]\nobjects = [\"cart\"]\n";

const TIE: &str = "[couplings.arm]\nbetween = [\"carts\", \"bobs\"]\n\
    ties = [{ between = [\"cart\", \"bob\"], at = [0, 0, 0] }]\n";

fn coupled(bobs: &str, folder: &Path) -> Result<thirdlaw_scene::Coupled, String> {
    let text = [HEAD, BOB, CART, bobs, TIE].concat();
    let read = load("pendulum", &text, Some(folder), &[]).map_err(|errors| errors.to_string())?;
    let mut make = |simulator: &SceneSimulator| -> Result<Box<dyn Simulator>, String> {
        match simulator.kind {
            SimulatorKind::Fmu => Ok(Box::new(Fmu::of_scene(simulator)?)),
            _ => Ok(Box::new(simulator.world.clone())),
        }
    };
    let coupled = read.couple(&mut make).map_err(|errors| errors.to_string())?;
    Ok(coupled.expect("it has simulators"))
}

fn ends(mut coupled: thirdlaw_scene::Coupled) -> Vec<Vec3> {
    let step = |_| {
        coupled.step(1.0 / 60.0).unwrap();
        coupled.coupling.simulator(1).unwrap().read(0).position
    };
    (0..120).map(step).collect()
}

#[test]
fn a_scene_couples_an_fmu_by_its_names_as_it_couples_the_world() {
    let folder = Folder::new("scene_files-0");
    let alone = load("bob", &[HEAD, BOB].concat(), None, &[]).unwrap();
    let file = folder.path().join("bob.fmu");
    scene::write_scene(&alone, true, &library(), &file).unwrap();
    let plain = "[simulators.bobs]\nobjects = [\"bob\"]\n";
    let named = "kind = \"fmu\"\nfile = \"bob.fmu\"\n";
    let all = "handles = [{ body = \"bob\", position = [\"bob.position\"], velocity = [\"bob.velocity\"], \
               rotation = [\"bob.rotation\"], angular_velocity = [\"bob.angular_velocity\"], \
               force = [\"bob.force\"], torque = [\"bob.torque\"] }]\n";
    let direct = ends(coupled(plain, folder.path()).unwrap());
    for more in [named.to_string(), [named, all].concat()] {
        let outside = ends(coupled(&[plain, &more].concat(), folder.path()).unwrap());
        let apart = direct.iter().zip(&outside).map(|(a, b)| (*a - *b).length());
        let apart = apart.fold(0.0, f64::max);
        println!("scene file with an FMU: {apart:.1e} m from the same with a world, over 2 s");
        assert!(apart < 1e-6, "{apart} with {more}");
    }
}

#[test]
fn what_a_scene_says_wrong_of_an_fmu_is_an_error_at_its_place() {
    let folder = Folder::new("scene_files-1");
    let plain = "[simulators.bobs]\nobjects = [\"bob\"]\n";
    let cases = [
        ("kind = \"fmu\"\n", "an FMU needs its file"),
        ("file = \"bob.fmu\"\n", "only an FMU is a file"),
        ("kind = \"fmu\"\nfile = \"none.fmu\"\n", "none.fmu"),
        ("kind = \"fmu\"\nfile = \"x\"\nhandles = [{ body = \"bib\" }]\n", "no body \"bib\""),
    ];
    for (more, says) in cases {
        let error = coupled(&[plain, more].concat(), folder.path()).err().expect(more);
        assert!(error.contains(says), "{error}");
    }
    // a bob that stands elsewhere than the one in the FMU
    let moved = BOB.replace("0.3", "0.31");
    let alone = load("bob", &[HEAD, &moved].concat(), None, &[]).unwrap();
    scene::write_scene(&alone, true, &library(), &folder.path().join("bob.fmu")).unwrap();
    let more = [plain, "kind = \"fmu\"\nfile = \"bob.fmu\"\n"].concat();
    let error = coupled(&more, folder.path()).err().unwrap();
    assert!(error.contains("stands at"), "{error}");
}
