//! Worlds written as FMUs and read again: what they do is what the worlds do.

use std::path::{Path, PathBuf};
use thirdlaw::couple::{Anchor, Coupling, CouplingSettings, Method, Tie, TieKind};
use thirdlaw::simulator::{Motion, Simulator, Wrench};
use thirdlaw::{Body, BodyId, Joint, Settings, Shape, Side, Vec3, World};
use thirdlaw_fmu::{Fmu, FmuExport, HandleVariables, NamedBody};

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

fn world() -> World {
    World::new(Settings { sleeping: false, ..Settings::default() }).unwrap()
}

fn body(world: &mut World, mass: f64, at: [f64; 3]) -> BodyId {
    let shape = Shape::sphere(0.1).unwrap();
    world.add_body(Body::dynamic(shape).mass(mass).at(at[0], at[1], at[2])).unwrap()
}

fn export(world: &World, name: &str, id: BodyId, restores: bool, folder: &Path) -> PathBuf {
    let out = folder.join(format!("{name}.fmu"));
    let bodies = [NamedBody { name: name.into(), id }];
    let (step, duration) = (1.0 / 60.0, 2.0);
    let export = FmuExport { name, world, bodies: &bodies, step, duration, restores };
    export.write(&library(), &out).unwrap();
    out
}

fn open(path: &Path, name: &str) -> Fmu {
    Fmu::open(path, &[HandleVariables::of_body(name)]).unwrap()
}

/// A cart on a rail.
fn cart() -> (World, BodyId) {
    let mut world = world();
    let cart = body(&mut world, 2.0, [0.0; 3]);
    let rail = Joint::slider(Side::World, Side::Body(cart)).at(0.0, 0.0, 0.0).axis(Vec3::X);
    world.add_joint(rail).unwrap();
    (world, cart)
}

/// A bob that is to hang on the cart by an arm of half a metre.
fn bob() -> (World, BodyId) {
    let mut world = world();
    let id = body(&mut world, 1.0, [0.3, -0.4, 0.0]);
    (world, id)
}

fn path_of(coupling: &mut Coupling, which: usize, seconds: f64) -> Vec<Motion> {
    let step = |_| {
        coupling.step(1.0 / 60.0).unwrap();
        coupling.simulator(which).unwrap().read(0)
    };
    (0..(60.0 * seconds) as u32).map(step).collect()
}

fn farthest(a: &[Motion], b: &[Motion]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a.position - b.position).length()).fold(0.0, f64::max)
}

fn pendulum(bobs: impl Simulator) -> Coupling {
    let (carts, cart) = cart();
    let cart = carts.body_handle(cart).unwrap();
    let mut coupling = Coupling::new(CouplingSettings::default()).unwrap();
    let a = coupling.add("cart", carts).unwrap();
    let b = coupling.add("bob", bobs).unwrap();
    let arm = Vec3::new(-0.3, 0.4, 0.0);
    coupling.tie(Tie::point(Anchor::new(a, cart), Anchor::new(b, 0).at(arm))).unwrap();
    coupling
}

#[test]
fn a_tied_fmu_moves_as_the_world_in_it() {
    let folder = Folder::new("round_trip-0");
    let (bobs, id) = bob();
    let file = export(&bobs, "bob", id, true, folder.path());
    let direct = path_of(&mut pendulum(bobs), 1, 2.0);
    let outside = path_of(&mut pendulum(open(&file, "bob")), 1, 2.0);
    let apart = farthest(&direct, &outside);
    println!("pendulum on a cart, bob in an FMU: {apart:.1e} m from the direct coupling over 2 s");
    assert!(apart < 1e-7, "{apart}");
    let way = farthest(&direct, &vec![direct[0]; direct.len()]);
    assert!(way > 0.3, "it swings by {way} m");
}

#[test]
fn a_coupling_with_an_fmu_goes_on_to_the_same_bits_from_its_bytes() {
    let folder = Folder::new("round_trip-1");
    let (bobs, id) = bob();
    let file = export(&bobs, "bob", id, true, folder.path());
    let mut first = pendulum(open(&file, "bob"));
    path_of(&mut first, 1, 0.5);
    let bytes = first.to_bytes().unwrap();
    let mut second = pendulum(open(&file, "bob"));
    second.load(&bytes).unwrap();
    assert_eq!(path_of(&mut first, 1, 0.5), path_of(&mut second, 1, 0.5));
}

/// A ball on a spring of a coupling to a ball of another world, for ten seconds.
fn on_a_spring(balls: impl Simulator) -> Coupling {
    let mut anchors = world();
    let hook = anchors.add_body(Body::dynamic(Shape::sphere(0.1).unwrap()).mass(3.0)).unwrap();
    let hold = Joint::spring(Side::World, Side::Body(hook), 2000.0, 0.0);
    anchors.add_joint(hold).unwrap();
    let hook = anchors.body_handle(hook).unwrap();
    let settings = CouplingSettings { method: Method::Interleaved, ..Default::default() };
    let mut coupling = Coupling::new(settings).unwrap();
    let a = coupling.add("hook", anchors).unwrap();
    let b = coupling.add("ball", balls).unwrap();
    let kind = TieKind::Spring { stiffness: 300.0, damping: 0.0, rest: 0.5 };
    let anchors = [Anchor::new(a, hook), Anchor::new(b, 0)];
    coupling.tie(Tie { kind, anchors, roles: Default::default() }).unwrap();
    coupling
}

#[test]
fn an_fmu_without_rollback_is_held_by_a_spring_for_ten_seconds() {
    let folder = Folder::new("round_trip-2");
    let mut balls = world();
    let id = body(&mut balls, 1.0, [0.0, -0.6, 0.0]);
    let file = export(&balls, "ball", id, false, folder.path());
    let fmu = open(&file, "ball");
    assert!(!fmu.can_restore());
    let mut coupling = on_a_spring(fmu);
    let path = path_of(&mut coupling, 1, 10.0);
    let lengths = path.iter().map(|motion| motion.position.length());
    let (least, most) = lengths.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    let contraction = coupling.contraction(0).unwrap();
    println!(
        "FMU without rollback on a spring: {least:.3} to {most:.3} m over 10 s, contraction {contraction:.4}"
    );
    assert!(contraction < 1.02 && most < 0.75 && least > 0.4, "{least} to {most}, {contraction}");
    // and a point tie is refused by name
    let anchors = [Anchor::new(0, 0), Anchor::new(1, 0)];
    let error = coupling.tie(Tie::point(anchors[0], anchors[1])).unwrap_err().to_string();
    assert!(error.contains("ball") && error.contains("interleaved"), "{error}");
}

#[test]
fn an_fmu_steps_as_its_world_does_and_goes_back() {
    let folder = Folder::new("round_trip-3");
    let mut balls = world();
    let id = body(&mut balls, 1.0, [0.0; 3]);
    let file = export(&balls, "ball", id, true, folder.path());
    let mut fmu = open(&file, "ball");
    let handle = balls.body_handle(id).unwrap();
    let push = Wrench { force: Vec3::new(1.0, 2.0, 3.0), torque: Vec3::new(0.01, 0.0, 0.02) };
    fmu.save();
    for _ in 0..2 {
        for simulator in [&mut fmu as &mut dyn Simulator, &mut balls] {
            let handle = if simulator.handle_count() == 1 { 0 } else { handle };
            simulator.push(handle, push);
            simulator.step(1.0 / 60.0).unwrap();
            // what was pushed holds for one step
            simulator.step(1.0 / 60.0).unwrap();
        }
        assert_eq!(fmu.read(0), balls.read(handle));
    }
    let once = fmu.read(0);
    fmu.restore();
    assert_eq!(fmu.read(0).position, Vec3::ZERO);
    for _ in 0..2 {
        fmu.push(0, push);
        fmu.step(1.0 / 60.0).unwrap();
        fmu.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(fmu.read(0), once);
    assert_eq!(fmu.response(0), balls.response(handle));
}

#[test]
fn what_cannot_be_used_is_said_by_name() {
    let folder = Folder::new("round_trip-4");
    let (bobs, id) = bob();
    let file = export(&bobs, "bob", id, true, folder.path());
    let cases = [
        (HandleVariables { position: vec!["bib.position".into()], ..Default::default() }, "bib"),
        (
            HandleVariables { position: vec!["bob.rotation".into()], ..Default::default() },
            "3 numbers",
        ),
        (HandleVariables { force: vec!["bob.position".into()], ..Default::default() }, "no input"),
    ];
    for (variables, says) in cases {
        let error = Fmu::open(&file, &[variables]).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let missing = Fmu::open(&folder.path().join("no.fmu"), &[]).unwrap_err().to_string();
    assert!(missing.contains("no.fmu"), "{missing}");
    let text = folder.path().join("text.fmu");
    std::fs::write(&text, "no zip").unwrap();
    let error = Fmu::open(&text, &[]).unwrap_err().to_string();
    assert!(error.contains("text.fmu"), "{error}");
}
