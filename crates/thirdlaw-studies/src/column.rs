//! A column of six cubes on a slope stands while the slope is flatter than one in six; steeper, its weight
//! passes beside its base. Prints when the top has gone by half a cube, here and in Rapier, and when an
//! ideal column that turns about its edge as one piece has.
//!
//! `cargo run --release -p thirdlaw-studies -- column`

use thirdlaw::simulator::Simulator;
use thirdlaw::{Body, Settings, Shape, Vec3, World};
use thirdlaw_rapier::RapierWorld;

const CUBES: u32 = 6;
const HALF: f64 = 0.25;
const FRICTION: f64 = 0.6;
const SECONDS: f64 = 20.0;
const DT: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// The slope is level, and gravity is turned instead.
fn world(slope: f64) -> Fallible<World> {
    let gravity = G * Vec3::new(slope.sin(), -slope.cos(), 0.0);
    let mut world = World::new(Settings { gravity, sleeping: false, ..Settings::default() })?;
    let ground = Body::fixed(Shape::cuboid(Vec3::new(20.0, 0.5, 20.0))?);
    world.add_body(ground.at(0.0, -0.5, 0.0).friction(FRICTION))?;
    for i in 0..CUBES {
        let y = HALF * f64::from(2 * i + 1);
        let cube = Body::dynamic(Shape::cuboid(Vec3::splat(HALF))?).density(1000.0);
        world.add_body(cube.at(0.0, y, 0.0).friction(FRICTION))?;
    }
    Ok(world)
}

/// When the top cube has gone by half its size, s.
fn falls(simulator: &mut dyn Simulator) -> Fallible<Option<f64>> {
    let top = simulator.handle_count() - 1;
    let start = simulator.read(top).position;
    for frame in 1..=(SECONDS / DT) as u32 {
        simulator.step(DT).map_err(|failure| failure.to_string())?;
        if simulator.read(top).position.distance(start) > HALF {
            return Ok(Some(f64::from(frame) * DT));
        }
    }
    Ok(None)
}

/// The same of one stiff block, by small steps of its equation of motion.
fn ideal(slope: f64) -> Option<f64> {
    let tall = HALF * f64::from(CUBES);
    let (arm, top) = (HALF.hypot(tall), HALF.hypot(2.0 * tall - HALF));
    // about its edge; before it turns, its middle lies by the angle `rest` behind where it would balance
    let inertia = 4.0 / 3.0 * arm * arm;
    let (mut turned, mut rate, mut time): (f64, f64, f64) = (0.0, 0.0, 0.0);
    let rest = (HALF / tall).atan() - slope;
    if rest >= 0.0 {
        return None;
    }
    while 2.0 * top * (0.5 * turned).sin() < HALF {
        rate += 1e-5 * G * arm * (turned - rest).sin() / inertia;
        turned += 1e-5 * rate;
        time += 1e-5;
    }
    Some(time)
}

pub fn main() -> Fallible<()> {
    let say = |time: Option<f64>| time.map_or("stands".to_string(), |t| format!("{t:.2} s"));
    println!("slope     ideal   Thirdlaw  Rapier");
    for degrees in [8.0_f64, 9.0, 9.4, 9.6, 10.0, 11.0, 12.0, 14.0, 16.0] {
        let slope = degrees.to_radians();
        let mut ours = world(slope)?;
        let mut rapier = RapierWorld::from_world(&ours)?;
        let (ours, theirs) = (falls(&mut ours)?, falls(&mut rapier)?);
        println!("{degrees:>4}°  {:>8}  {:>8}  {:>8}", say(ideal(slope)), say(ours), say(theirs));
    }
    Ok(())
}
