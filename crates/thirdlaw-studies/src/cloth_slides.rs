//! Cloth that slides round solids, against what is known: strips that friction holds on a fixed cylinder and lets
//! slip, a strip over a pulley with weights, a reel that unrolls.
//!
//! `cargo run --release -p thirdlaw-studies -- cloth-slides [capstan|atwood|yo-yo]... [before]`
//!
//! *Capstan.* A strip of mass λ a length hangs a and b down the two sides of a fixed cylinder of radius R. With
//! T(θ) its tension, N = T − λv² + λgR sin θ what presses it on, and c g its acceleration,
//!
//!   dT/dθ = λgR cos θ + λgRc + μN,   T(0) = λga (1 + c),   T(π) = λgb (1 − c),
//!
//! so that with E = exp μπ
//!
//!   c = (b − b₀ + (E − 1) v²/g) / (b + aE + R (E − 1)/μ),   b₀ = aE + 2μR (1 + E)/(1 + μ²).
//!
//! At c = 0 and v = 0, b₀ is the longest side that friction holds.
//!
//! Motion is compared with that of backward Euler at the steps taken, s and v being those at the end of a step.

use thirdlaw::{
    AxisLocks, Body, BodyId, Cloth, ClothForces, ClothMesh, Fabric, Hold, Settings, Shape,
    StepReport, Vec3, World,
};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const G: f64 = 9.81;
const PI: f64 = std::f64::consts::PI;
const RADIUS: f64 = 0.1;
const THICKNESS: f64 = 5e-4;
const WIDTH: f64 = 0.06;

pub fn main() -> Fallible<()> {
    let words: Vec<String> = crate::words().collect();
    let names = ["capstan", "atwood", "yo-yo"];
    let some = words.iter().any(|w| names.contains(&w.as_str()));
    let asked = |what: &str| !some || words.iter().any(|w| w == what);
    let mut settings = Settings::default();
    if words.iter().any(|w| w == "before") {
        settings.cloth.forces = ClothForces::Followed;
    }
    if words.iter().any(|w| w == "solved") {
        settings.cloth.forces = ClothForces::Solved;
    }
    settings.cloth.iterations = 2000;
    let rate = words.iter().find_map(|w| w.parse().ok()).unwrap_or(60);
    let way = &Way { settings, rate };
    let mut missed = 0;
    if asked("capstan") {
        missed += capstans(way)?;
    }
    if asked("atwood") {
        missed += atwoods(way)?;
    }
    if asked("yo-yo") {
        missed += yo_yos(way)?;
    }
    if missed > 0 { Err(format!("{missed} missed").into()) } else { Ok(()) }
}

/// How scenes are run.
struct Way {
    settings: Settings,
    /// Frames a second.
    rate: u32,
}

impl Way {
    /// Runs for this part of a second; prints what it took.
    fn run(&self, world: &mut World, seconds: f64) -> Fallible<()> {
        let frames = (seconds * f64::from(self.rate)).round() as u32;
        let mut sum = StepReport::default();
        for _ in 0..frames {
            let report = world.step(1.0 / f64::from(self.rate))?;
            sum.cloth_solves += report.cloth_solves;
            sum.cg_iterations += report.cg_iterations;
            sum.unfinished += report.unfinished;
            sum.cloth_steps += report.cloth_steps;
            sum.rejected += report.rejected;
        }
        print!(
            "[{} steps {} rejected {} unfinished {} solves {} its] ",
            sum.cloth_steps, sum.rejected, sum.unfinished, sum.cloth_solves, sum.cg_iterations
        );
        Ok(())
    }

    fn world(&self) -> Fallible<World> {
        let mut settings = self.settings;
        settings.gravity = Vec3::new(0.0, -G, 0.0);
        Ok(World::new(settings)?)
    }

    /// Steps of so many seconds, and their length, s.
    fn steps(&self, seconds: f64) -> (u32, f64) {
        ((seconds * f64::from(self.rate)).round() as u32, 1.0 / f64::from(self.rate))
    }
}

/// A figure beside the known one; 1 if it is off by more than this part.
fn held_to(what: &str, found: f64, known: f64, within: f64) -> u32 {
    let off = found / known - 1.0;
    let missed = off.is_nan() || off.abs() > within;
    let word = if missed { "MISSED" } else { "" };
    println!("{what}: {found:8.4} for {known:8.4} ({:+5.1} %) {word}", 100.0 * off);
    u32::from(missed)
}

fn fabric(density: f64, friction: f64) -> Fabric {
    Fabric {
        density,
        stretch: [20_000.0; 2],
        bend: [1e-7; 2],
        friction,
        thickness: THICKNESS,
        drag: 0.0,
        lift: 0.0,
        ..Fabric::silk()
    }
}

/// A strip that hangs `sides` down both sides of a cylinder about the z axis.
fn wrapped(cells: usize, sides: [f64; 2]) -> Fallible<ClothMesh> {
    let round = RADIUS + 0.5 * THICKNESS;
    let around = PI * round;
    let length = sides[0] + sides[1] + around;
    let flat = ClothMesh::grid(cells + 1, 3, [length, WIDTH])?;
    let uv: Vec<[f64; 2]> = flat.positions.iter().map(|p| [p.x, p.z]).collect();
    let place = |p: &Vec3| {
        let s = p.x + 0.5 * length;
        let angle = PI - (s - sides[0]).clamp(0.0, around) / round;
        let below = (s - sides[0]).min(0.0) - (s - sides[0] - around).max(0.0);
        Vec3::new(round * libm::cos(angle), round * libm::sin(angle) + below, p.z)
    };
    let positions = flat.positions.iter().map(place).collect();
    Ok(ClothMesh::with_coordinates(positions, flat.triangles, &uv)?)
}

fn lying_cylinder() -> Fallible<Shape> {
    Ok(Shape::cylinder(0.2, RADIUS)?)
}

fn lowest(world: &World, side: f64) -> f64 {
    let x = world.state().particles.x.iter().filter(|x| x.x * side > 0.0);
    x.map(|x| x.y).fold(f64::INFINITY, f64::min)
}

/// How far a strip goes in so many seconds.
fn capstan(way: &Way, mu: f64, sides: [f64; 2], cells: usize) -> Fallible<f64> {
    let mut world = way.world()?;
    let about = Vec3::new(0.5 * PI, 0.0, 0.0);
    world.add_body(Body::fixed(lying_cylinder()?).friction(mu).rotated(about))?;
    let mesh = wrapped(cells, sides)?;
    world.add_cloth(Cloth::new(mesh).fabric(fabric(0.2, mu)).self_collision(false))?;
    let start = lowest(&world, 1.0);
    way.run(&mut world, 0.5)?;
    Ok(start - lowest(&world, 1.0))
}

/// What backward Euler makes of the balance.
fn capstan_known(way: &Way, mu: f64, [a, b]: [f64; 2]) -> f64 {
    let (mut s, mut v) = (0.0, 0.0);
    let (frames, h) = way.steps(0.5);
    let round = RADIUS + 0.5 * THICKNESS;
    let e = libm::exp(mu * PI);
    for _ in 0..frames {
        let (mut s1, mut v1) = (s, v);
        for _ in 0..50 {
            let (a, b) = (a - s1, b + s1);
            let least = a * e + 2.0 * mu * round * (1.0 + e) / (1.0 + mu * mu);
            let c = (b - least + (e - 1.0) * v1 * v1 / G) / (b + a * e + round * (e - 1.0) / mu);
            v1 = v + h * G * c.max(0.0);
            s1 = s + h * v1;
        }
        (s, v) = (s1, v1);
    }
    s
}

fn capstans(way: &Way) -> Fallible<u32> {
    println!(
        "known:  friction holds up to a·E + 2μR(1 + E)/(1 + μ²), E = exp μπ; beyond that it slips as the balance says"
    );
    let mut missed = 0;
    let round = RADIUS + 0.5 * THICKNESS;
    for mu in [0.1, 0.3, 0.5] {
        let e = libm::exp(mu * PI);
        let a = 0.2;
        let limit = a * e + 2.0 * mu * round * (1.0 + e) / (1.0 + mu * mu);
        for part in [0.95, 1.05, 1.25] {
            let sides = [a, part * limit];
            let length = sides[0] + sides[1] + PI * round;
            let cells = (length / 0.0157) as usize;
            let found = capstan(way, mu, sides, cells)?;
            print!("μ = {mu}, {part:4.2} of the limit, ");
            if part < 1.0 {
                let word = if found.abs() > 0.002 { "MISSED" } else { "" };
                println!("m in .5 s: {found:8.4}, holds {word}");
                missed += u32::from(found.abs() > 0.002);
            } else {
                let known = capstan_known(way, mu, sides);
                missed += held_to("m in .5 s", found, known, 0.05);
            }
        }
    }
    Ok(missed)
}

/// A weight that cannot turn and touches nothing.
fn weight(world: &mut World, at: [f64; 2], mass: f64) -> Fallible<BodyId> {
    let mut body =
        Body::dynamic(Shape::cuboid(Vec3::splat(0.02))?).at(at[0], at[1], 0.0).mass(mass);
    body.locks.rotation = [true; 3];
    body.groups.collides = 0;
    Ok(world.add_body(body)?)
}

/// Weights at the ends of a strip over a pulley that turns with it: how far they went after .3 s, and how far
/// they must.
fn atwood(way: &Way, cells: usize, masses: [f64; 2], pulley: f64) -> Fallible<[f64; 2]> {
    let mut world = way.world()?;
    let about = Vec3::new(0.5 * PI, 0.0, 0.0);
    let mut wheel = Body::dynamic(lying_cylinder()?).mass(pulley).friction(1.0).rotated(about);
    wheel.locks = AxisLocks { translation: [true; 3], rotation: [true, true, false] };
    world.add_body(wheel)?;
    let hang = 0.4;
    let mesh = wrapped(cells, [hang, hang])?;
    let round = RADIUS + 0.5 * THICKNESS;
    let light = weight(&mut world, [-round, -hang], masses[0])?;
    let heavy = weight(&mut world, [round, -hang], masses[1])?;
    let low = |side: f64| -> Vec<u32> {
        let on = |p: &Vec3| p.x * side > 0.0 && p.y < 1e-3 - hang;
        mesh.positions.iter().zip(0..).filter(|(p, _)| on(p)).map(|(_, i)| i).collect()
    };
    let (left, right) = (low(-1.0), low(1.0));
    let cloth = Cloth::new(mesh).fabric(fabric(0.2, 1.0)).self_collision(false);
    world.add_cloth(cloth.hold(left, Hold::Body(light)).hold(right, Hold::Body(heavy)))?;
    let start = world.pose(heavy)?.translation.y;
    way.run(&mut world, 0.3)?;
    let found = start - world.pose(heavy)?.translation.y;
    // with what the strip weighs going over from one side to the other
    let line = 0.2 * WIDTH;
    let inertia = masses[0]
        + masses[1]
        + line * (2.0 * hang + PI * round)
        + 0.5 * pulley * (RADIUS / round) * (RADIUS / round);
    let (mut s, mut v) = (0.0, 0.0);
    let (frames, h) = way.steps(0.3);
    for _ in 0..frames {
        // v₁ = v + h g (Δm + 2λ (s + h v₁)) / inertia
        let pull = masses[1] - masses[0] + 2.0 * line * s;
        v = (v + h * G * pull / inertia) / (1.0 - 2.0 * h * h * G * line / inertia);
        s += h * v;
    }
    Ok([found, s])
}

fn atwoods(way: &Way) -> Fallible<u32> {
    println!(
        "known:  weights m and M over a pulley of mass P go at (M − m) g / (m + M + P/2), with the strip's own mass"
    );
    let mut missed = 0;
    for (cells, masses, pulley) in [
        (71, [0.2, 0.3], 0.2),
        (71, [0.1, 0.12], 1.0),
        (141, [0.2, 0.3], 0.2),
        (71, [1.0, 1.5], 0.1),
    ] {
        let [found, known] = atwood(way, cells, masses, pulley)?;
        print!("{cells} cells, {masses:?} kg, pulley {pulley} kg, ");
        missed += held_to("m in .3 s", found, known, 0.03);
    }
    Ok(missed)
}

/// A reel that unrolls from a strip which is held at its upper end: how far it fell after .25 s, and how far it must.
fn yo_yo(way: &Way, cells: usize, mass: f64) -> Fallible<[f64; 2]> {
    let mut world = way.world()?;
    let about = Vec3::new(0.5 * PI, 0.0, 0.0);
    let reel = Body::dynamic(lying_cylinder()?).mass(mass).friction(1.0).rotated(about);
    let reel = world.add_body(reel)?;
    let round = RADIUS + 0.5 * THICKNESS;
    let (hang, around) = (0.2, 1.8 * PI * round);
    let length = hang + around;
    let flat = ClothMesh::grid(cells + 1, 3, [length, WIDTH])?;
    let uv: Vec<[f64; 2]> = flat.positions.iter().map(|p| [p.x, p.z]).collect();
    // down on the left, then under the reel and round
    let place = |p: &Vec3| {
        let s = p.x + 0.5 * length;
        let angle = PI + (s - hang).max(0.0) / round;
        let above = (hang - s).max(0.0);
        Vec3::new(round * libm::cos(angle), round * libm::sin(angle) + above, p.z)
    };
    let positions = flat.positions.iter().map(place).collect();
    let mesh = ClothMesh::with_coordinates(positions, flat.triangles, &uv)?;
    let top: Vec<u32> =
        mesh.positions.iter().zip(0..).filter(|(p, _)| p.y > hang - 1e-6).map(|(_, i)| i).collect();
    let cloth = Cloth::new(mesh).fabric(fabric(0.02, 1.0)).self_collision(false);
    world.add_cloth(cloth.pin(top))?;
    way.run(&mut world, 0.25)?;
    let found = -world.pose(reel)?.translation.y;
    // the strip weighs next to nothing: a = g / (1 + I/(m r²)), v(n) = n h a
    let a = G / (1.0 + 0.5 * (RADIUS / round) * (RADIUS / round));
    let (frames, h) = way.steps(0.25);
    let n = f64::from(frames);
    Ok([found, a * h * h * n * (n + 1.0) / 2.0])
}

fn yo_yos(way: &Way) -> Fallible<u32> {
    println!("known:  a reel that unrolls falls at g / (1 + I/mr²)");
    let mut missed = 0;
    for (cells, mass) in [(49, 0.2), (49, 1.0), (98, 0.2), (49, 0.05)] {
        let [found, known] = yo_yo(way, cells, mass)?;
        print!("{cells} cells, {mass} kg, ");
        missed += held_to("m in .25 s", found, known, 0.03);
    }
    Ok(missed)
}
