//! Twelve kinds of tied systems as scene files, each with what is watched of it.

/// A tied system.
pub struct System {
    pub name: String,
    /// The scene, in several simulators.
    pub scene: String,
    /// The same in one world, where ties cannot be turned into joints.
    pub whole: Option<String>,
    /// Bodies whose places are compared.
    pub watched: Vec<String>,
    /// Whether the motion is regular, so that two good answers stay together for 2 s.
    pub regular: bool,
    /// How long it is watched, s.
    pub seconds: u32,
}

pub fn head(name: &str) -> String {
    format!(
        "version = 1\ntitle = \"{name}\"\n[settings]\nduration = 2\nsleeping = false\n\
         cloth = {{ air = false }}\n"
    )
}

pub fn ball(name: &str, mass: f64, moment: f64, at: [f64; 3]) -> String {
    format!(
        "[bodies.{name}]\nshape = {{ sphere = {{ radius = 0.05 }} }}\nmass = {mass:?}\n\
         inertia = {{ moments = [{moment:?}, {moment:?}, {moment:?}] }}\nposition = {at:?}\n\
         groups = {{ collides = [] }}\n"
    )
}

fn bar(name: &str, size: [f64; 3], mass: f64, at: [f64; 3], degrees: f64) -> String {
    format!(
        "[bodies.{name}]\nshape = {{ box = {{ size = {size:?} }} }}\nmass = {mass:?}\n\
         position = {at:?}\nrotation = {{ axis = [0, 0, 1], degrees = {degrees:?} }}\n\
         groups = {{ collides = [] }}\n"
    )
}

pub fn joint(name: &str, kind: &str, between: [&str; 2], at: [f64; 3], axis: [f64; 3]) -> String {
    format!(
        "[joints.{name}]\nkind = \"{kind}\"\nbetween = {between:?}\nat = {at:?}\naxis = {axis:?}\n"
    )
}

pub fn simulator(name: &str, objects: &[&str]) -> String {
    format!("[simulators.{name}]\nobjects = {objects:?}\n")
}

pub fn tie(worlds: [&str; 2], bodies: [&str; 2], at: [f64; 3], more: &str) -> String {
    let name = format!("{}-{}", worlds[0], worlds[1]);
    format!(
        "[couplings.{name}]\nbetween = {worlds:?}\n\
         ties = [{{ between = {bodies:?}, at = {at:?}{more} }}]\n"
    )
}

pub fn system(name: impl Into<String>, scene: String, watched: &[&str]) -> System {
    let watched = watched.iter().map(|s| s.to_string()).collect();
    System { name: name.into(), scene, whole: None, watched, regular: true, seconds: 2 }
}

pub const Z: [f64; 3] = [0.0, 0.0, 1.0];
pub const O: [f64; 3] = [0.0, 0.0, 0.0];

/// A bob on an arm of a metre, pinned to a cart on a rail.
fn cart(moment: f64) -> System {
    let angle: f64 = 0.6;
    let at = [angle.sin(), -angle.cos(), 0.0];
    let scene = head("cart")
        + &bar("cart", [0.4, 0.1, 0.2], 2.0, O, 0.0)
        + &joint("rail", "slider", ["world", "cart"], O, [1.0, 0.0, 0.0])
        + &ball("bob", 1.0, moment, at)
        + &simulator("carts", &["cart"])
        + &simulator("bobs", &["bob"])
        + &tie(["carts", "bobs"], ["cart", "bob"], O, "");
    system(format!("pendulum on cart, I = {moment:.0e}"), scene, &["cart", "bob"])
}

/// Balls of these masses, each held at the centre of the one before by an arm of a metre.
fn triple(masses: [f64; 3]) -> System {
    let mut scene = head("triple");
    let angle: f64 = 0.5;
    let at = |i: usize| [i as f64 * angle.sin(), -(i as f64) * angle.cos(), 0.0];
    for (i, mass) in masses.into_iter().enumerate() {
        scene += &ball(&format!("b{i}"), mass, 0.4 * mass * 0.0025, at(i + 1));
    }
    scene += &joint("top", "ball", ["world", "b0"], O, Z);
    for i in 0..3 {
        scene += &simulator(&format!("s{i}"), &[&format!("b{i}")]);
    }
    for i in 0..2 {
        let (s, b) = ([format!("s{i}"), format!("s{}", i + 1)], [i, i + 1]);
        let bodies = b.map(|k| format!("b{k}"));
        scene += &tie([&s[0], &s[1]], [&bodies[0], &bodies[1]], at(i + 1), "");
    }
    let [a, b, c] = masses;
    system(format!("triple pendulum {a}-{b}-{c}"), scene, &["b0", "b1", "b2"])
}

/// A strip of cloth hung at its top.
fn strip(rows: usize, pins: &str) -> String {
    let (mut vertices, mut coordinates, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    for column in 0..3 {
        for row in 0..rows {
            let (x, y) = (0.05 * (column as f64 - 1.0), 0.05 * row as f64);
            vertices.push(format!("[{x:?}, {:?}, 0.0]", -y));
            coordinates.push(format!("[{y:?}, {:?}]", x + 0.05));
            if column < 2 && row + 1 < rows {
                let (a, b) = (column * rows + row, (column + 1) * rows + row);
                triangles.push(format!("[{a}, {b}, {}], [{}, {b}, {}]", a + 1, a + 1, b + 1));
            }
        }
    }
    format!(
        "[cloths.s]\nmesh = {{ surface = {{ vertices = [{}], triangles = [{}], coordinates = [{}] }} }}\n\
         fabric = {{ density = 0.01, stretch = 2500.0, shear = 50, bend = 1e-8 }}\n\
         self_collision = false\ngroups = {{ collides = [] }}\n\
         pins = [{{ vertices = [0, {rows}, {}] }}{pins}]\n",
        vertices.join(", "),
        triangles.join(", "),
        coordinates.join(", "),
        2 * rows
    )
}

/// A kilogram at the end of the strip.
fn strip_and_mass() -> System {
    let mass = ball("m", 1.0, 0.001, [0.0, -0.5, 0.0]);
    let scene = head("strip")
        + &mass
        + &strip(11, "")
        + &simulator("c", &["s"])
        + &simulator("r", &["m"])
        + &tie(["c", "r"], ["s.21", "m"], [0.0, -0.5, 0.0], "");
    let pin = ", { vertices = [21], body = \"m\" }";
    let whole = head("strip") + &mass + &strip(11, pin);
    System { whole: Some(whole), ..system("strip and mass", scene, &["m"]) }
}

/// The strip with a spring from its end to a ball on a rail.
fn vertex_and_spring() -> System {
    let mass = ball("m", 0.2, 0.001, [0.0, -0.55, 0.0])
        + &ball("k", 0.01, 0.001, [0.0, -0.5, 0.0])
        + "[joints.coil]\nkind = { spring = { stiffness = 200, damping = 0, length = 0.05 } }\n\
           between = [\"k\", \"m\"]\n";
    let scene = head("vertex")
        + &mass
        + &strip(11, "")
        + &simulator("c", &["s"])
        + &simulator("r", &["k", "m"])
        + &tie(["c", "r"], ["s.21", "k"], [0.0, -0.5, 0.0], "");
    let pin = ", { vertices = [21], body = \"k\" }";
    let whole = head("vertex") + &mass + &strip(11, pin);
    System { whole: Some(whole), ..system("cloth vertex and spring", scene, &["m", "k"]) }
}

/// A door that swings in a frame which rocks on a hinge below, held at both edges of the door.
fn door() -> System {
    let scene = head("door")
        + &bar("frame", [0.1, 2.0, 0.1], 20.0, [0.0, 1.0, 0.0], 0.0)
        + &joint("sill", "hinge", ["world", "frame"], O, Z)
        + "spring = { stiffness = 3000, damping = 0 }\n"
        + &bar("door", [0.8, 1.8, 0.04], 15.0, [0.45, 1.0, 0.0], 0.0)
        + "angular_velocity = [0, 1.5, 0]\nvelocity = [0, 0, -0.6]\n"
        + &simulator("house", &["frame"])
        + &simulator("doors", &["door"])
        + "[couplings.hinges]\nbetween = [\"house\", \"doors\"]\nties = [\
           { between = [\"frame\", \"door\"], at = [0.05, 0.2, 0] }, \
           { between = [\"frame\", \"door\"], at = [0.05, 1.8, 0] }]\n";
    system("door on a frame", scene, &["frame", "door"])
}

/// A crank, a coupler and a rocker; the coupler is in another world.
fn four_bar() -> System {
    let (a, b, c, d) = ([0.0, 0.0], [0.4, 0.3], [1.4, 0.9], [1.2, 0.0]);
    let link = |name: &str, p: [f64; 2], q: [f64; 2], mass: f64| {
        let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
        let length = dx.hypot(dy);
        let at = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.0];
        bar(name, [length, 0.05, 0.05], mass, at, dy.atan2(dx).to_degrees())
    };
    let at = |p: [f64; 2]| [p[0], p[1], 0.0];
    let scene = head("four-bar")
        + &link("crank", a, b, 1.0)
        + &link("coupler", b, c, 2.0)
        + &link("rocker", c, d, 1.5)
        + &joint("left", "hinge", ["world", "crank"], at(a), Z)
        + &joint("right", "hinge", ["world", "rocker"], at(d), Z)
        + &simulator("ends", &["crank", "rocker"])
        + &simulator("middle", &["coupler"])
        + "[couplings.pins]\nbetween = [\"ends\", \"middle\"]\nties = [\
           { between = [\"crank\", \"coupler\"], at = [0.4, 0.3, 0] }, \
           { between = [\"rocker\", \"coupler\"], at = [1.4, 0.9, 0] }]\n";
    system("four-bar cut in two", scene, &["crank", "coupler", "rocker"])
}

/// Ten rods, each in its own world.
fn rope() -> System {
    let mut scene = head("rope");
    let (angle, length): (f64, f64) = (0.5, 0.2);
    let at = |s: f64| [s * length * angle.sin(), -s * length * angle.cos(), 0.0];
    for i in 0..10 {
        let degrees = angle.to_degrees() - 90.0;
        let size = [length, 0.02, 0.02];
        scene += &bar(&format!("b{i}"), size, 0.1, at(i as f64 + 0.5), degrees);
        scene += &simulator(&format!("s{i}"), &[&format!("b{i}")]);
    }
    scene += &joint("top", "ball", ["world", "b0"], O, Z);
    for i in 0..9 {
        let (s, b) = ([i, i + 1].map(|k| format!("s{k}")), [i, i + 1].map(|k| format!("b{k}")));
        scene += &tie([&s[0], &s[1]], [&b[0], &b[1]], at(i as f64 + 1.0), "");
    }
    system("rope of ten simulators", scene, &["b0", "b4", "b9"])
}

/// One ball that three worlds share, each of which pulls it by a spring of its own.
fn three_worlds() -> System {
    let mut scene = head("three");
    for (i, at) in [[1.0, 0.0, 0.0], [-0.5, 0.0, 0.9], [-0.5, 0.5, -0.9]].iter().enumerate() {
        let name = format!("b{i}");
        scene += &ball(&name, 0.5 + i as f64, 0.01, O);
        scene += &format!("angular_velocity = [0, {i}, 1]\n");
        scene += &format!(
            "[joints.k{i}]\nkind = {{ spring = {{ stiffness = 60, length = 0.4, damping = 0 }} }}\n\
             between = [\"world\", \"{name}\"]\nanchors = [{at:?}, [0, 0, 0]]\n"
        );
        scene += &simulator(&format!("s{i}"), &[&name]);
    }
    scene += &tie(["s0", "s1"], ["b0", "b1"], O, "");
    scene += &tie(["s1", "s2"], ["b1", "b2"], O, "");
    system("ball in three worlds", scene, &["b0", "b1", "b2"])
}

/// Two masses on the ends of a cord over a pulley; the cord's ends are light racks.
fn atwood() -> System {
    let mut scene = head("atwood");
    scene += &ball("pulley", 0.5, 0.01, O);
    scene += &joint("axle", "hinge", ["world", "pulley"], O, Z);
    for (name, x, sign) in [("l", -0.2, 1.0), ("r", 0.2, -1.0)] {
        let (end, at) = (format!("end-{name}"), [x, -1.0, 0.0]);
        scene += &ball(&end, 0.01, 1e-4, at);
        scene += &joint(&format!("way-{name}"), "slider", ["world", &end], at, [0.0, 1.0, 0.0]);
        scene += &format!(
            "[joints.cord-{name}]\nkind = {{ rack = {{ hinge = \"axle\", slider = \"way-{name}\", \
             radius = {:?} }} }}\n",
            0.2 * sign
        );
        let mass = if sign > 0.0 { 1.0 } else { 1.3 };
        scene += &ball(&format!("m-{name}"), mass, 0.001, at);
    }
    scene += &simulator("pulleys", &["pulley", "end-l", "end-r"]);
    for name in ["l", "r"] {
        let (mass, end) = (format!("m-{name}"), format!("end-{name}"));
        scene += &simulator(&format!("world-{name}"), &[&mass]);
        let x = if name == "l" { -0.2 } else { 0.2 };
        let worlds = ["pulleys", &format!("world-{name}")];
        scene += &tie(worlds, [&end, &mass], [x, -1.0, 0.0], "");
    }
    system("Atwood's machine", scene, &["m-l", "m-r"])
}

/// A spool that unwinds from a clip, which a hand on a spring holds in another world.
fn yo_yo() -> System {
    let scene = head("yo-yo")
        + &ball("hand", 2.0, 0.01, O)
        + &joint("guide", "slider", ["world", "hand"], O, [0.0, 1.0, 0.0])
        + "spring = { stiffness = 400, damping = 0 }\n"
        + &ball("clip", 0.01, 1e-4, O)
        + &ball("core", 0.02, 1e-4, [0.0, -0.1, 0.0])
        + &ball("spool", 0.2, 1e-4, [0.0, -0.1, 0.0])
        + &joint("string", "slider", ["clip", "core"], [0.0, -0.1, 0.0], [0.0, -1.0, 0.0])
        + &joint("axle", "hinge", ["core", "spool"], [0.0, -0.1, 0.0], Z)
        + "[joints.unwind]\n\
           kind = { rack = { hinge = \"axle\", slider = \"string\", radius = 0.01 } }\n"
        + &simulator("hands", &["hand"])
        + &simulator("toys", &["clip", "core", "spool"])
        + &tie(["hands", "toys"], ["hand", "clip"], O, ", kind = \"frame\"");
    system("yo-yo", scene, &["hand", "spool"])
}

/// All of them.
pub fn all() -> Vec<System> {
    vec![
        cart(1e-6),
        cart(1e-4),
        cart(1e-3),
        cart(1e-2),
        triple([1.0, 1.0, 1.0]),
        triple([1.0, 10.0, 100.0]),
        triple([100.0, 1.0, 1000.0]),
        strip_and_mass(),
        vertex_and_spring(),
        door(),
        four_bar(),
        rope(),
        three_worlds(),
        atwood(),
        yo_yo(),
    ]
}
