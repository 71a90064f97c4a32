//! Columns of six cubes are tilted onto an edge and let go: how far they lean at each swing from edge to edge,
//! over how far they leant at first. Here, in Rapier, in Rapier without what it calls contact recycling,
//! and of one stiff block, which loses at each impact what its angular momentum about the new edge says
//! [Housner 1963: The behavior of inverted pendulum structures during earthquakes].
//!
//! `cargo run --release -p thirdlaw-studies -- rocking`

use thirdlaw::simulator::Simulator;
use thirdlaw::{Body, Settings, Shape, Vec3, World};
use thirdlaw_rapier::RapierWorld;

const CUBES: usize = 6;
/// So many on one slab are a pile, and take its way.
const COLUMNS: usize = 10;
const HALF: f64 = 0.25;
const SWINGS: usize = 4;
const DT: f64 = 1.0 / 60.0;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// The columns stand on a heavy slab, their far edges `gap` above it; the first cubes are those of one column.
fn world(gap: f64) -> Fallible<World> {
    let mut world = World::new(Settings { sleeping: false, ..Settings::default() })?;
    world.add_body(Body::fixed(Shape::half_space(Vec3::Y)?).at(0.0, -0.5, 0.0))?;
    let slab = Shape::cuboid(Vec3::new(1.0, 0.25, 30.0))?;
    world.add_body(Body::dynamic(slab).at(0.0, -0.25, 0.0).density(1000.0))?;
    let tilt = (gap / (2.0 * HALF)).asin();
    let (sin, cos) = tilt.sin_cos();
    for i in 0..COLUMNS * CUBES {
        let (x, y, z) = (HALF, HALF * (2 * (i % CUBES) + 1) as f64, 2.0 * (i / CUBES) as f64);
        let cube = Body::dynamic(Shape::cuboid(Vec3::splat(HALF))?).density(1000.0);
        let cube = cube.rotated(tilt * Vec3::Z).at(x * cos - y * sin, x * sin + y * cos, z);
        world.add_body(cube.friction(0.6))?;
    }
    Ok(world)
}

/// How far the first column leans at each swing over how far it leant at first.
fn swings(simulator: &mut dyn Simulator) -> Fallible<Vec<f64>> {
    // behind the floor and the slab
    let first = 2;
    let leans = |simulator: &dyn Simulator| {
        let place = |handle| simulator.read(handle).position.x;
        place(first) - place(first + CUBES - 1)
    };
    let start = leans(simulator);
    let (mut all, mut most, mut side) = (Vec::new(), 0.0_f64, -1.0);
    for _ in 0..1200 {
        simulator.step(DT).map_err(|failure| failure.to_string())?;
        let lean = side * leans(simulator) / start;
        if lean < 0.0 && most > 0.0 {
            all.push(most);
            (most, side) = (0.0, -side);
        }
        most = most.max(lean);
        if all.len() == SWINGS {
            break;
        }
    }
    Ok(all)
}

/// The same of one stiff block.
fn ideal(gap: f64) -> Vec<f64> {
    let balance = (1.0 / CUBES as f64).atan();
    let start = (gap / (2.0 * HALF)).asin();
    let kept = 1.0 - 1.5 * balance.sin().powi(2);
    // weight times height above the place of rest, over weight and arm
    let mut energy = (balance - start).cos() - balance.cos();
    let swing = |_| {
        energy *= kept * kept;
        (balance - (energy + balance.cos()).acos()) / start
    };
    (0..SWINGS).map(swing).collect()
}

pub fn main() -> Fallible<()> {
    println!("how far the column leans at each swing, over how far it leant at first");
    for gap in [0.01, 0.04, 0.06] {
        let mut ours = world(gap)?;
        let mut rapier = RapierWorld::from_world(&ours)?;
        let mut plain = RapierWorld::from_world(&ours)?;
        plain.world.integration_parameters.contact_recycling = false;
        println!("edge {:.0} mm up", 1e3 * gap);
        let all = [
            ("one stiff block", ideal(gap)),
            ("Thirdlaw", swings(&mut ours)?),
            ("Rapier, no recycling", swings(&mut plain)?),
            ("Rapier", swings(&mut rapier)?),
        ];
        for (name, swings) in all {
            let text: Vec<String> = swings.iter().map(|swing| format!("{swing:.2}")).collect();
            println!("  {name:<21} {}", text.join("  "));
        }
    }
    Ok(())
}
