//! Systems of two simulators with the ratio of their masses as a parameter.

use super::systems::{O, System, Z, ball, head, joint, simulator, system, tie};

/// Two bobs on arms of a metre, the second held by the first.
pub fn two_bobs(ratio: f64) -> System {
    let scene = head("bobs")
        + &ball("a", 1.0, 0.01, [0.5, -0.866, 0.0])
        + &ball("b", ratio, 0.01 * ratio, [1.0, -1.732, 0.0])
        + &joint("top", "ball", ["world", "a"], O, Z)
        + &simulator("first", &["a"])
        + &simulator("second", &["b"])
        + &tie(["first", "second"], ["a", "b"], [0.5, -0.866, 0.0], "");
    System { seconds: 1, ..system("two bobs", scene, &["a", "b"]) }
}

fn sheet(at: [f64; 3], more: &str) -> String {
    format!(
        "[cloths.s]\nmesh = {{ grid = {{ columns = 9, rows = 9, size = [0.4, 0.4] }} }}\n\
         fabric = {{ density = 0.625, stretch = 2500.0, shear = 50, bend = 1e-5, thickness = 0.002 }}\n\
         position = {at:?}\nself_collision = false\n{more}"
    )
}

/// A free sheet of 100 g that a body draws behind itself by its middle; no weight.
pub fn towed_cloth(ratio: f64) -> System {
    let mass = 0.1 * ratio;
    let weightless = head("towed") + "gravity = [0, 0, 0]\n";
    let body = ball("m", mass, 0.001 * mass, O) + "velocity = [0.3, 1, 0.1]\n";
    let alone = "groups = { collides = [] }\n";
    let scene = weightless.clone()
        + &body
        + &sheet(O, alone)
        + &simulator("c", &["s"])
        + &simulator("r", &["m"])
        + &tie(["c", "r"], ["s.40", "m"], O, "");
    let pin = format!("{alone}pins = [{{ vertices = [40], body = \"m\" }}]\n");
    let whole = Some(weightless + &body + &sheet(O, &pin));
    System { whole, seconds: 1, ..system("towed cloth", scene, &["m"]) }
}

fn block(name: &str, length: f64, mass: f64, at: [f64; 3], more: &str) -> String {
    format!(
        "[bodies.{name}]\nshape = {{ box = {{ size = [{length:?}, 0.2, 0.2] }} }}\nmass = {mass:?}\n\
         position = {at:?}\nmaterial = {{ friction = 0.4, restitution = 0 }}\n{more}"
    )
}

fn touch(kind: &str, between: [&str; 2]) -> String {
    format!("[couplings.touch]\nbetween = {between:?}\ncontact = \"{kind}\"\n")
}

const FLOOR: &str = "[bodies.floor]\nkind = \"fixed\"\nshape = { half_space = {} }\n\
                     material = { friction = 0.4, restitution = 0 }\n";

/// A cube that slides to rest on a beam which lies on a floor.
pub fn stack(kind: &str, ratio: f64) -> System {
    let scene = head("stack")
        + FLOOR
        + &block("a", 1.0, 1.0, [0.0, 0.1, 0.0], "")
        + &block("b", 0.2, ratio, [-0.2, 0.3, 0.0], "velocity = [1, 0, 0]\n")
        + &simulator("first", &["floor", "a"])
        + &simulator("second", &["b"])
        + &touch(kind, ["first", "second"]);
    System { seconds: 1, ..system("stack", scene, &["a", "b"]) }
}

/// Two balls without weight, of which one strikes the other aside.
pub fn struck(kind: &str, ratio: f64) -> System {
    let sphere = |name: &str, mass: f64, at: [f64; 3]| {
        format!(
            "[bodies.{name}]\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = {mass:?}\n\
             position = {at:?}\nmaterial = {{ friction = 0, restitution = 0 }}\n"
        )
    };
    let scene = head("struck")
        + "gravity = [0, 0, 0]\n"
        + &sphere("a", 1.0, O)
        + &sphere("b", ratio, [-0.35, 0.06, 0.0])
        + "velocity = [1, 0, 0]\n"
        + &simulator("first", &["a"])
        + &simulator("second", &["b"])
        + &touch(kind, ["first", "second"]);
    System { seconds: 1, ..system("struck", scene, &["a", "b"]) }
}

/// A ball that flies into a free sheet of 100 g; no weight.
pub fn struck_cloth(ratio: f64) -> System {
    let mass = 0.1 * ratio;
    let scene = head("cloth")
        + "gravity = [0, 0, 0]\n"
        + &format!(
            "[bodies.m]\nshape = {{ sphere = {{ radius = 0.08 }} }}\nmass = {mass:?}\n\
             position = [0, 0.12, 0]\nvelocity = [0, -1, 0]\n"
        )
        + &sheet(O, "")
        + &simulator("c", &["s"])
        + &simulator("r", &["m"])
        + &touch("follow", ["c", "r"]);
    System { seconds: 1, ..system("struck cloth", scene, &["m"]) }
}
